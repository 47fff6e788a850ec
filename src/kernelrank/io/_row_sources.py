"""Sources of rows for a row store: arrays that come chunk by chunk, and svmlight files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._arrays import canonical
from kernelrank._core import FormatError
from kernelrank._query_ids import as_id_array
from kernelrank._validation import check_matrix, check_vector
from kernelrank.exceptions import DataFormatError
from kernelrank.io._files import is_path, name_of, open_for_reading
from kernelrank.io._load import READERS, describe
from kernelrank.io._row_chunks import Part

_PIECE = 1 << 23  # bytes of text parsed at once


class Source:
    """Rows to be written to a store.

    Attributes
    ----------
    ids : str or None
        Type of the query ids, once the first part was taken; see `Manifest`.
    features : list of str or None
        Names of the features, once the first part was taken.
    zero_based : bool or None
        Whether features of svmlight text count from 0.
    origin : dict or None
        Name, size and time of a file, and how it is read.
    """

    ids: str | None = None
    features: list[str] | None = None
    zero_based: bool | None = None
    origin: dict[str, Any] | None = None

    @property
    def share(self) -> float | None:
        """Share of the source that was read; None if it is not known."""
        return None

    def parts(self) -> Iterator[Part]:
        """Yield the rows."""
        raise NotImplementedError


class Queries:
    """Ids of the queries of a stream of rows, of which each must come in one piece.

    Parameters
    ----------
    name : str
        Of the source, for errors.
    """

    def __init__(self, name: str) -> None:
        self._name, self._seen, self._last = name, set[str](), ""
        self._are_given: bool | None = None

    def runs(self, ids: list[str] | None, starts: NDArray[np.intp], n_rows: int) -> NDArray[np.int64] | None:
        """Return the sizes of runs of rows of the same query, given the id and the first row of each.

        Raises
        ------
        ValueError
            If some rows have no query, or a query comes back after another one.
        """
        if self._are_given not in (None, ids is not None):
            raise ValueError(f"{self._name}: some rows have a qid and others have none; give all of them one, or none.")
        self._are_given = ids is not None
        if ids is None:
            return None
        for number, each in enumerate(ids):
            if number == 0 and each == self._last and each in self._seen:
                continue
            if each in self._seen:
                raise ValueError(
                    f"{self._name}: the rows of query {each!r} are not contiguous: it comes back after another query."
                    " Sort the rows by query first."
                )
            self._seen.add(each)
        self._last = ids[-1] if ids else self._last
        return np.diff(starts, append=n_rows)


def runs_of(ids: NDArray[Any]) -> NDArray[np.intp]:
    """Return the rows in which an id differs from the one before."""
    return np.flatnonzero(np.append(True, ids[1:] != ids[:-1])) if len(ids) else np.empty(0, np.intp)


def name_runs(ids: NDArray[Any], what: str) -> tuple[str, list[str], NDArray[np.intp]]:
    """Return the type of ids, and the id and the first row of each run of rows of the same query.

    Raises
    ------
    ValueError
        If they are neither integers nor text.
    """
    starts = runs_of(ids)
    found = ids[starts].tolist()
    whole = all(isinstance(each, int) and not isinstance(each, bool) for each in found)
    if not whole and not all(isinstance(each, str) for each in found):
        raise ValueError(f"{what} must hold integers or text, got {found[0]!r}.")
    return "integers" if whole else "text", [str(each) for each in found], starts


class Arrays(Source):
    """Chunks ``(X, y)`` or ``(X, y, qid)``.

    Parameters
    ----------
    chunks : iterable
    dtype : dtype or None
        None for that of the first chunk.
    """

    def __init__(self, chunks: Iterable[Any], dtype: np.dtype[Any] | None) -> None:
        self._chunks, self._dtype, self._chosen = chunks, dtype, dtype is not None
        self._queries = Queries("chunks")
        self._first: Any = None

    def parts(self) -> Iterator[Part]:
        """Yield the rows."""
        for number, chunk in enumerate(self._chunks):
            where = f"chunk {number} of chunks"
            if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
                raise ValueError(f"{where} must be (X, y) or (X, y, qid), got {type(chunk).__name__}.")
            X, y, *qid = chunk
            X = self._matrix(X, where)
            targets = check_vector(y, f"y of {where}", X.shape[0])
            ids = qid[0] if qid else None
            if len(targets):
                yield self._part(X, targets, ids, where)

    def _matrix(self, X: Any, where: str) -> Any:
        X = check_matrix(
            X,
            "A row store",
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
        self._dtype = X.dtype if self._dtype is None else self._dtype
        if X.dtype != self._dtype and not self._chosen:
            raise ValueError(f"{where} has dtype {X.dtype}, and those before {self._dtype}; choose one with dtype=...")
        with np.errstate(over="ignore"):
            X = X.astype(self._dtype, copy=False)
        first = self._first = X if self._first is None else self._first
        if sp.issparse(X) != sp.issparse(first):
            raise ValueError(f"{where} is {_form(X)}, and those before are {_form(first)}; convert it.")
        if X.shape[1] != first.shape[1]:
            raise ValueError(f"{where} has {X.shape[1]} columns, and those before have {first.shape[1]}.")
        self._first = first[:0]
        check_finite(X, where)
        return canonical(X) if sp.issparse(X) else X

    def _part(self, X: Any, y: NDArray[np.float64], qid: Any, where: str) -> Part:
        if qid is None:
            return Part(X, y, self._queries.runs(None, np.empty(0, np.intp), len(y)), None)
        ids = as_id_array(qid)
        if ids.shape != (len(y),):
            raise ValueError(f"qid of {where} has shape {ids.shape}, but there are {len(y)} rows.")
        kind, texts, starts = name_runs(ids, f"qid of {where}")
        self.ids = kind if self.ids is None else self.ids
        if kind != self.ids:
            raise ValueError(f"qid of {where} holds {kind}, and those before {self.ids}.")
        return Part(X, y, self._queries.runs(texts, starts, len(y)), texts)


def _form(X: Any) -> str:
    return "sparse" if sp.issparse(X) else "dense"


def check_finite(X: Any, where: str, names: list[str] | None = None) -> None:
    """Raise an error that names the row and the column of the first value that is NaN or infinite."""
    values = X.data if sp.issparse(X) else X
    finite = np.isfinite(values)
    if finite.all():
        return
    at = int(np.argmin(finite))
    if sp.issparse(X):
        row, column = int(np.searchsorted(X.indptr, at, side="right")) - 1, int(X.indices[at])
    else:
        row, column = divmod(at, X.shape[1])
    raise ValueError(
        f"{where} has a value of {values.flat[at]} in row {row}, column {column if names is None else names[column]!r};"
        f" all values must be finite numbers of {values.dtype}."
    )


class SvmlightText(Source):
    """Rows of an svmlight file, parsed piece by piece.

    Parameters
    ----------
    source : path or binary file object
    dtype : dtype
    zero_based : bool
    n_features : int or None
    dense : bool
    n_threads : int
    """

    def __init__(
        self, source: Any, dtype: np.dtype[Any], zero_based: bool, n_features: int | None, dense: bool, n_threads: int
    ) -> None:
        self._source, self._dtype, self._dense, self._n_threads = source, dtype, dense, n_threads
        self._n_features, self.zero_based = n_features, zero_based
        self._name, self._size, self._read = name_of(source), 0, 0
        self._queries = Queries(self._name)
        if is_path(source):
            options = {"zero_based": zero_based, "n_features": n_features, "dense": dense, "dtype": dtype.name}
            self.origin = {**origin_of(source), **options}
            self._size = self.origin["bytes"]

    @property
    def share(self) -> float | None:
        """Share of the file that was read, None if its size is not known."""
        return min(self._read / self._size, 1.0) if self._size else None

    def parts(self) -> Iterator[Part]:
        """Yield the rows."""
        with open_for_reading(self._source) as file:
            place = file.fileno if is_path(self._source) else None
            rest, n_lines = b"", 0
            while True:
                block = file.read(_PIECE)
                if isinstance(block, str):
                    raise TypeError("source must be a file opened in binary mode, but its read() returns text.")
                self._read = os.lseek(place(), 0, os.SEEK_CUR) if place else self._read
                end = block.rfind(b"\n") + 1
                if block and not end:
                    rest += block
                    continue
                text = rest + block[:end]
                if text:
                    part = self._parse(text, n_lines)
                    n_lines += text.count(b"\n")
                    if len(part.y):
                        yield part
                if not block:
                    return
                rest = block[end:]

    def _parse(self, text: bytes, n_lines: int) -> Part:
        reader = READERS[self._dtype.name](self.zero_based, self._n_features)
        try:
            reader.feed(text, self._n_threads)
            parts, n_columns, y, qid, texts, _ = reader.finish()
        except FormatError as error:
            line, *others = error.args
            raise DataFormatError(f"{self._name}:{describe(line + n_lines, *others)}") from None
        X = sp.csr_matrix(parts, shape=(len(y), max(n_columns, 1)), copy=False)
        X.has_canonical_format = True
        where = f"{self._name}: the text after line {n_lines}"
        check_finite(X, where)
        check_vector(y, f"y of {where}")
        X = X.toarray() if self._dense else canonical(X)
        if not len(y):
            return Part(X, y, None, None)
        if qid is None:
            return Part(X, y, self._queries.runs(None, np.empty(0, np.intp), len(y)), None)
        self.ids = "as written"
        starts = runs_of(qid)
        ids = [str(each) if texts is None else texts[each] for each in qid[starts].tolist()]
        return Part(X, y, self._queries.runs(ids, starts, len(y)), ids)


def origin_of(path: Any) -> dict[str, Any]:
    """Return the name, the size and the time of a file, by which it is recognised."""
    status = os.stat(path)
    return {"name": os.path.basename(path), "bytes": status.st_size, "modified_ns": status.st_mtime_ns}
