"""Rows in a folder of files, for data that do not fit into memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelrank._dense import multiply
from kernelrank._rules import CALLABLE, COUNT, FLAG, NAMES, NONE, PATH, TEXT, Rule, choice, whole
from kernelrank._threads import resolve_threads
from kernelrank._unformed import UnformedRows
from kernelrank.io._files import PathOrFile
from kernelrank.io._load import DTYPE
from kernelrank.io._row_files import RowFiles, StoredRows, codes_of
from kernelrank.io._row_manifest import NAME, check_files, read_manifest
from kernelrank.io._row_sources import Arrays, Source, SvmlightText
from kernelrank.io._row_tables import TableRows
from kernelrank.io._row_writer import Report, write_rows
from kernelrank.io._tables import as_ids

_BLOCK_BYTES = 32 << 20
_CHUNKS = Rule(
    "an iterable of (X, y) or (X, y, qid)",
    lambda value: isinstance(value, Iterable) and not isinstance(value, str | bytes | dict | set | np.ndarray),
)


class RowStore(UnformedRows):
    """Rows, utilities and queries in a folder, for data that do not fit into memory.

    A store is written once, by :meth:`write`, :meth:`write_svmlight` or :meth:`write_table`, and then read in blocks of
    about 32 MB. :class:`~kernelrank.RankSVM` with a linear kernel is fitted to it and ranks its rows; no other
    estimator takes one. A block never splits a query.

    Parameters
    ----------
    path : path
        The folder.

    Attributes
    ----------
    path : Path
        The folder, as an absolute path.
    n_rows, n_features, n_queries : int
        `n_queries` is 0 if there are no queries: all rows are then compared with each other.
    dtype : dtype
        float32 or float64.
    format : {"dense", "csr"}
        How rows are stored.
    feature_names : list of str or None
        The names of the columns of a table.
    zero_based : bool or None
        Whether the features of the svmlight file that the rows come from counted from 0.

    Raises
    ------
    ValueError
        If the store is incomplete or damaged; the message names the file.

    Notes
    -----
    The folder holds files of raw numbers, ``rows-00000000.bin`` and so on, and ``manifest.json`` with their sizes and
    checksums (CRC-32). Sizes are checked when a store is opened, and a checksum when a file is first read;
    :meth:`verify` reads everything. Neither a file nor the manifest can contain code, and no memory is taken by
    sizes that are not those of files. A checksum finds accidental damage, not changes made on purpose.

    Memory is that of two blocks while rows are read, and of the labels while :attr:`y` and :attr:`qid` are computed:
    they are not kept. The rows of a block are read by a thread while those before are used.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from kernelrank import RankSVM
    >>> from kernelrank.io import RowStore
    >>> def chunks():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(4):
    ...         X = rng.normal(size=(500, 3)).astype(np.float32)
    ...         yield X, X @ [1.0, 2.0, 0.0]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = RowStore.write(folder, chunks())
    ...     model = RankSVM().fit(store)
    ...     concordance = model.score(store)
    >>> store
    RowStore(2,000 rows, 3 features, dense float32)
    >>> concordance > 0.99
    True
    """

    takers = (
        "its rows stay in files. Only kernelrank.RankSVM, with a linear kernel, can be fitted to it, in fit, predict,"
        " rank and score. For anything else, load rows that fit into memory."
    )
    alternatives = (
        "For a kernel, transform the rows while they are written, for example with kernelrank.NystromMap fitted to some"
        " of them."
    )

    def __init__(self, path: str | os.PathLike[str]) -> None:
        PATH("path", path)
        self.path = Path(path).absolute()  # also for workers that start in another folder
        try:
            self._manifest = manifest = read_manifest(self.path)
        except (FileNotFoundError, NotADirectoryError):
            raise ValueError(f"{self.path}: this is not a row store: there is no {NAME} in it.") from None
        self.n_rows = sum(each.n_rows for each in manifest.chunks)
        if not manifest.complete:
            raise ValueError(
                f"{self.path}: writing the rows was interrupted after {self.n_rows:,} rows. Write them again with the"
                " same source: it continues there."
            )
        check_files(self.path, manifest)
        self._files = RowFiles(self.path, manifest)
        self.n_features = manifest.n_features
        self.n_queries = sum(each.n_queries for each in manifest.chunks)
        self.dtype, self.format = np.dtype(manifest.dtype), manifest.format
        self.feature_names, self.zero_based = manifest.features, manifest.zero_based

    @classmethod
    def write(
        cls,
        path: str | os.PathLike[str],
        chunks: Iterable[Any],
        *,
        dtype: DTypeLike | None = None,
        block_bytes: int = _BLOCK_BYTES,
        report: Report | None = None,
    ) -> Self:
        """Write rows that come in chunks.

        Parameters
        ----------
        path : path
            The folder. It is made if it does not exist; its parent must exist.
        chunks : iterable of (X, y) or (X, y, qid)
            Arrays of any sizes: X dense or sparse, the same in all of them, with finite numbers. The rows of a query
            must follow each other; ids are integers or text.
        dtype : {float32, float64}, optional
            Type of the features; by default that of the first chunk.
        block_bytes : int, default=2**25
            Size of the blocks that are read at once. A query of more bytes is a block of its own.
        report : callable, optional
            Called after each block with the number of rows so far, and the share of the source, if that is known, or
            None.

        Returns
        -------
        RowStore
            The store.

        Raises
        ------
        ValueError
            If chunks differ in their columns or form, values are not finite, or a query comes back after another one.
            Blocks that are complete stay.

        Notes
        -----
        If writing is interrupted, the same call continues: it compares the blocks that are there with the source, by
        their checksums, and writes those that are missing. The ids of all queries are kept in memory meanwhile.
        """
        _CHUNKS("chunks", chunks)
        (DTYPE | NONE)("dtype", dtype)
        return cls._write(path, Arrays(chunks, None if dtype is None else np.dtype(dtype)), block_bytes, report)

    @classmethod
    def write_svmlight(
        cls,
        path: str | os.PathLike[str],
        source: PathOrFile,
        *,
        n_features: int | None = None,
        zero_based: bool = False,
        dense: bool = False,
        dtype: DTypeLike = np.float64,
        block_bytes: int = _BLOCK_BYTES,
        n_jobs: int | None = None,
        report: Report | None = None,
    ) -> Self:
        """Write the rows of an svmlight file, which is never in memory as a whole.

        Parameters
        ----------
        path : path
            The folder; see :meth:`write`.
        source : path or binary file object
            As for :func:`~kernelrank.io.load_svmlight`.
        n_features : int, optional
            Number of features. By default that of the file; with `dense` it must be given.
        zero_based : bool, default=False
            Whether the indices start at 0.
        dense : bool, default=False
            Whether to store all features of a row, which is smaller and faster where most are not zero.
        dtype : {float64, float32}, default=float64
            Type of the features.
        block_bytes : int, default=2**25
            Size of the blocks that are read at once. A query of more bytes is a block of its own.
        n_jobs : int, optional
            Threads that parse.
        report : callable, optional
            Called after each block with the number of rows so far, and the share of the source, or None.

        Returns
        -------
        RowStore
            The store; at once, if the file has been written to the folder already.

        Raises
        ------
        DataFormatError
            If a line does not follow the format. The message starts with ``file:line:``.
        ValueError
            As for :meth:`write`.
        """
        (COUNT | NONE)("n_features", n_features)
        FLAG("zero_based", zero_based)
        FLAG("dense", dense)
        DTYPE("dtype", dtype)
        if dense and n_features is None:
            raise ValueError("dense=True needs n_features, the number of columns.")
        threads = resolve_threads(n_jobs)
        text = SvmlightText(source, np.dtype(dtype), bool(zero_based), n_features, bool(dense), threads)
        return cls._write(path, text, block_bytes, report)

    @classmethod
    def write_table(
        cls,
        path: str | os.PathLike[str],
        source: str | os.PathLike[str],
        *,
        target: str,
        qid: str | None = None,
        drop: Iterable[str] = (),
        features: Iterable[str] | None = None,
        format: Literal["auto", "csv", "parquet"] = "auto",
        dtype: DTypeLike = np.float64,
        block_bytes: int = _BLOCK_BYTES,
        report: Report | None = None,
    ) -> Self:
        """Write the rows of a CSV or Parquet file, read in batches by polars.

        Parameters
        ----------
        path : path
            The folder; see :meth:`write`.
        source : path
            The file.
        target : str
            Name of the column of utilities.
        qid : str, optional
            Name of the column of queries. By default, a column named "qid" holds them.
        drop : iterable of str, optional
            Columns to ignore.
        features : iterable of str, optional
            Columns to use as features, in this order. By default all remaining columns. All features of a text file
            must be numbers.
        format : {"auto", "csv", "parquet"}, default="auto"
            Format of the file; "auto" infers it from the name.
        dtype : {float64, float32}, default=float64
            Type of the features.
        block_bytes : int, default=2**25
            Size of the blocks that are read at once. A query of more bytes is a block of its own.
        report : callable, optional
            Called after each block with the number of rows so far, and the share of the source, or None.

        Returns
        -------
        RowStore
            The store; at once, if the file has been written to the folder already.

        Raises
        ------
        ValueError
            As for :func:`~kernelrank.io.load_table` and :meth:`write`.
        """
        PATH("source", source)
        TEXT("target", target)
        (TEXT | NONE)("qid", qid)
        NAMES("drop", drop)
        (NAMES | NONE)("features", features)
        choice("auto", "csv", "parquet")("format", format)
        DTYPE("dtype", dtype)
        chosen = None if features is None else list(features)
        return cls._write(
            path, TableRows(source, format, np.dtype(dtype), target, qid, list(drop), chosen), block_bytes, report
        )

    @classmethod
    def _write(cls, path: Any, source: Source, block_bytes: int, report: Report | None) -> Self:
        PATH("path", path)
        COUNT("block_bytes", block_bytes)
        (CALLABLE | NONE)("report", report)
        write_rows(Path(path), source, int(block_bytes), report)
        return cls(path)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and features."""
        return self.n_rows, self.n_features

    @property
    def y(self) -> NDArray[np.float64]:
        """Utilities, read from the files."""
        found = np.empty(self.n_rows)
        for start, labels in self._files.labels():
            found[start : start + len(labels.y)] = labels.y
        return found

    @property
    def qid(self) -> NDArray[Any] | None:
        """Query id of each row, read from the files, as `load_svmlight` returns them; None without queries."""
        if not self.n_queries:
            return None
        texts, sizes = [], []
        for _, labels in self._files.labels():
            texts += labels.ids()
            sizes.append(labels.sizes.copy())
        return np.repeat(as_ids(texts, self._manifest.ids), np.concatenate(sizes))

    def query_codes(self) -> NDArray[np.int32] | None:
        """Return the number of the query of each row, from 0.

        Returns
        -------
        ndarray of int32 of shape (n_rows,) or None
            Numbers of the queries; None without queries.
        """
        if not self.n_queries:
            return None
        return codes_of(np.concatenate(self._files.query_sizes()))

    def blocks(self) -> Iterator[StoredRows]:
        """Read all rows, one block after the other.

        Returns
        -------
        iterator of StoredRows
            Named tuples ``(start, X, queries)``: the first row, the rows, and numbers 0, 1, ... of their queries or
            None. Each X is valid until the next block but one is taken.

        Raises
        ------
        ValueError
            If a file is damaged.
        """
        return self._files.blocks()

    @property
    def block_sizes(self) -> list[int]:
        """Rows of each block."""
        return [int(n_rows) for n_rows in np.diff(self._files.starts)]

    def read_block(self, number: int) -> tuple[Any, NDArray[np.float64], NDArray[np.int32] | None]:
        """Read one block.

        Parameters
        ----------
        number : int
            0, 1, ...

        Returns
        -------
        X : {ndarray, CSR matrix}
            The rows.
        y : ndarray
            Their utilities.
        queries : ndarray of int32 or None
            Numbers of their queries among those of all blocks.

        Raises
        ------
        ValueError
            If a file is damaged.
        """
        whole(0, len(self.block_sizes) - 1)("number", number)
        [X] = self._files.matrices(number, number + 1)
        [(_, labels)] = self._files.labels(number, number + 1)
        if not self.n_queries:
            return X, labels.y, None
        before = sum(each.n_queries for each in self._manifest.chunks[:number])
        return X, labels.y, codes_of(labels.sizes) + np.int32(before)

    def verify(self) -> None:
        """Read all files and compare their checksums with the manifest.

        Raises
        ------
        ValueError
            If a file is damaged; the message names it.
        """
        self._files.forget()
        for _ in self.blocks():
            pass
        for _, labels in self._files.labels():
            labels.ids()

    def __matmul__(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the products of the rows with a vector, or with each column of a matrix; reads all files once."""
        found = np.empty((self.n_rows, *weights.shape[1:]))
        for start, X, _ in self.blocks():
            found[start : start + X.shape[0]] = multiply(X, weights)
        return found

    def __repr__(self) -> str:
        queries = f", {self.n_queries:,} queries" if self.n_queries else ""
        return f"RowStore({self.n_rows:,} rows, {self.n_features:,} features{queries}, {self.format} {self.dtype})"
