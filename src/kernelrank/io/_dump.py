"""Writer of svmlight files."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from kernelrank._arrays import refuse_mask
from kernelrank._core import format_svmlight
from kernelrank._rules import FLAG, show
from kernelrank._validation import as_numbers, check_matrix
from kernelrank.io._files import PathOrFile, is_path, naming_errors, replace_file

_BLOCK_ELEMENTS = 1 << 18  # elements per write


def dump_svmlight(
    X: Any,
    y: ArrayLike,
    target: PathOrFile,
    *,
    qid: ArrayLike | None = None,
    comments: ArrayLike | None = None,
    zero_based: bool = False,
) -> None:
    r"""Write a file in svmlight (also libsvm, LETOR) format.

    Each row becomes a line ``target [qid:id] index:value ... [# comment]``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Zeros are not written, even if they are stored explicitly.
    y : array-like of shape (n_samples,)
        Targets.
    target : str, path or binary file object
        A file whose name ends with ``.gz``, ``.xz`` or ``.bz2`` is compressed; ``"-"`` is standard output. A path is
        written to a temporary file that replaces it when complete: after a failure the old file is unchanged.
    qid : array-like of shape (n_samples,), optional
        Query of each row: integers, or text without white space and ``#``.
    comments : array-like of shape (n_samples,), optional
        Text of each row, without newlines. Empty comments are not written.
    zero_based : bool, default=False
        Whether indices start at 0. By default they start at 1, as most programs expect.

    See Also
    --------
    kernelrank.io.load_svmlight : Read such a file.

    Notes
    -----
    Numbers are written with the fewest digits that round to the same float64, or float32 if X has
    that type. NaN and infinity are written as ``nan`` and ``inf``.

    The data read back by :func:`~kernelrank.io.load_svmlight` differ in these respects only: zeros are not stored,
    columns after the last nonzero one are missing unless ``n_features`` is set, an id ``"7"`` becomes the number 7, and
    comments have no leading or trailing white space.

    Examples
    --------
    >>> from io import BytesIO
    >>> from kernelrank.io import dump_svmlight
    >>> lines = BytesIO()
    >>> dump_svmlight([[0.5, 0, 1], [0, 4, 0]], [2, 0], lines, qid=[7, 7], comments=["first", ""])
    >>> print(lines.getvalue().decode())
    2 qid:7 1:0.5 3:1 # first
    0 qid:7 2:4
    """
    FLAG("zero_based", zero_based)
    if isinstance(X, str | os.PathLike) or hasattr(X, "write"):
        raise TypeError(f"X must be a matrix, got {X!r}; the arguments are dump_svmlight(X, y, target).")
    X = _check_matrix(X)
    m = X.shape[0]
    targets = _check_targets(y, m)
    queries = None if qid is None else _check_queries(qid, m)
    texts = None if comments is None else _check_comments(comments, m)
    with _open_for_writing(target) as handle:
        for rows in _row_blocks(X):
            block = _as_csr(X[rows])
            handle.write(
                format_svmlight(
                    block.indptr.astype(np.int64),
                    block.indices.astype(np.int64),
                    block.data,
                    targets[rows],
                    None if queries is None else list(_encode(queries[rows], "qid")),
                    None if texts is None else list(_encode(texts[rows], "comments")),
                    int(not zero_based),
                )
            )


def _check_matrix(X: Any) -> Any:
    """Return X as a dense or CSR matrix of float32 or float64."""
    return check_matrix(
        X,
        "An svmlight file",
        accept_sparse="csr",
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        ensure_min_samples=0,
        ensure_min_features=0,
    )


def _check_targets(y: ArrayLike, m: int) -> NDArray[np.float64]:
    targets = as_numbers(y, "y").astype(np.float64)
    if targets.shape != (m,):
        raise ValueError(f"y must have one element for each of the {m} rows of X, got shape {targets.shape}.")
    return np.ascontiguousarray(targets)


def _check_queries(qid: ArrayLike, m: int) -> list[str]:
    ids = _column(qid, "qid", m)
    for each in ids:
        if isinstance(each, bool | np.bool_) or not isinstance(each, str | int | np.integer):
            raise ValueError(f"qid must hold integers or text, got {each!r}.")
    texts = [str(each) for each in ids]
    if len({type(each) for each in ids}) > 1 and len(set(texts)) < len(set(ids)):
        raise ValueError("qid contains a number and a string with the same text, such as 1 and '1'.")
    _reject_pattern(r"^$|[ \t\r\n\v\f#]", texts, "qid must not be empty or contain white space or '#'")
    return texts


def _check_comments(comments: ArrayLike, m: int) -> list[str]:
    column = _column(comments, "comments", m)
    if not all(isinstance(each, str) for each in column):
        raise ValueError("comments must hold text; use an empty string for a row without a comment.")
    texts = [str(each) for each in column]
    _reject_pattern(r"\n", texts, "comments must not contain a newline")
    return texts


def _column(values: ArrayLike, name: str, m: int) -> list[Any]:
    refuse_mask(values, name)
    if isinstance(values, Set | Mapping) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must have one element for each of the {m} rows of X, got {show(values)}.")
    # A list is not converted to an array, which would strip trailing zero bytes from strings.
    column = np.asarray(values).tolist() if hasattr(values, "__array__") else list(values)
    if len(column) != m:
        raise ValueError(f"{name} must have one element for each of the {m} rows of X, got {len(column)}.")
    return column


def _reject_pattern(pattern: str, texts: list[str], problem: str) -> None:
    search = re.compile(pattern).search
    for row, text in enumerate(texts):
        if search(text):
            raise ValueError(f"{problem}, got {text!r} in row {row}.")


def _encode(texts: Iterable[str], name: str) -> Iterator[bytes]:
    for text in texts:
        try:
            yield text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise ValueError(f"{name} must hold text that UTF-8 can encode, got {text!r}.") from None


def _row_blocks(X: Any) -> Iterator[slice]:
    """Yield slices of consecutive rows with about the same number of elements."""
    m, n = X.shape
    mean = max(X.nnz if sp.issparse(X) else n * m, m, 1) / max(m, 1)
    size = max(1, int(_BLOCK_ELEMENTS / mean))
    for start in range(0, m, size):
        yield slice(start, min(m, start + size))


def _as_csr(rows: Any) -> Any:
    """Return rows as a CSR matrix with sorted indices and without duplicates; the argument is not changed."""
    block = rows if sp.issparse(rows) else sp.csr_matrix(rows)
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    return block


@contextmanager
def _open_for_writing(target: Any) -> Iterator[IO[bytes]]:
    if is_path(target):
        with replace_file(target) as handle:
            yield handle
    elif target == "-":
        with naming_errors("<stdout>"):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
    elif hasattr(target, "write"):
        yield target
    else:
        raise TypeError(
            f'target must be a path, "-" or a binary file object, got {type(target).__name__}; the arguments are'
            " dump_svmlight(X, y, target)."
        )
