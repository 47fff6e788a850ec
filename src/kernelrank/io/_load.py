"""Reader of svmlight files."""

from __future__ import annotations

from typing import IO, Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from kernelrank._core import FormatError, SvmlightReader32, SvmlightReader64
from kernelrank._memory import require_memory
from kernelrank._rules import FLAG, NONE, Rule, choice, whole
from kernelrank._threads import resolve_threads
from kernelrank.exceptions import DataFormatError
from kernelrank.io._files import PathOrFile, name_of, open_for_reading

_BLOCK_BYTES = 1 << 21  # bytes per thread and block: a block and its parsed values fit into the cache
_MOST_QUOTED = 40
READERS = {"float64": SvmlightReader64, "float32": SvmlightReader32}


def _is_readable(dtype: Any) -> bool:
    try:
        return dtype is not None and np.dtype(dtype).name in READERS  # NumPy interprets None as float64
    except TypeError:
        return False


DTYPE = Rule("float64 or float32", _is_readable)


class SvmlightData(NamedTuple):
    """Contents of an svmlight file.

    Attributes
    ----------
    X : CSR matrix or ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Targets.
    qid : ndarray of shape (n_samples,) or None
        Query ids, integers or text; None if no row has one.
    comments : ndarray of str of shape (n_samples,) or None
        Text after the first ``#`` of each row; None if no row has one.
    """

    X: Any  # a CSR matrix or a dense array
    y: NDArray[np.float64]
    qid: NDArray[Any] | None
    comments: NDArray[np.object_] | None


def load_svmlight(
    source: PathOrFile,
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    dtype: DTypeLike = np.float64,
    dense: bool = False,
    n_jobs: int | None = None,
) -> SvmlightData:
    r"""Read a file in svmlight (also libsvm, LETOR) format.

    Each row is a line ``target [qid:id] index:value ... [# comment]``.

    Parameters
    ----------
    source : str, path or binary file object
        A file whose name ends with ``.gz``, ``.xz`` or ``.bz2`` is decompressed; ``"-"`` is standard input.
    n_features : int, optional
        Number of columns of ``X``, at least the number that occurs in the file, which is the default. Set it to read
        several files of the same data one by one.
    zero_based : bool or "auto", default="auto"
        Whether the indices start at 0 or at 1. With ``"auto"`` they start at 0 if an index 0 occurs.
    dtype : {float64, float32}, default=float64
        Data type of ``X``.
    dense : bool, default=False
        Whether to return ``X`` as a dense array instead of a sparse matrix. Features of LETOR files are dense, and
        transformers that subtract means, such as ``StandardScaler``, need a dense array.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. The result does not depend on it.

    Returns
    -------
    SvmlightData
        Named tuple with

        - ``X``, a CSR matrix with sorted indices. Zeros that are written in the file are stored. With
          ``dense=True``, an array of shape (n_samples, n_features).
        - ``y``, a float64 array.
        - ``qid``, None if no row has one. An int64 array if all ids are integers without leading zeros or a plus
          sign; otherwise an object array of strings.
        - ``comments``, None if no row has one. Otherwise an object array of the texts after the first ``#`` of
          each row, without leading and trailing white space; empty for rows without a comment.

    Raises
    ------
    DataFormatError
        If a line does not follow the format. The message starts with ``file:line:``.
    MemoryError
        If a dense array would not fit into memory. The message states the required memory.

    See Also
    --------
    kernelrank.io.dump_svmlight : Write such a file.

    Notes
    -----
    Fields are separated by spaces and tabs; lines end with LF or CRLF. Empty lines, lines with only a comment, and a
    byte-order mark are skipped. Features may come in any order, but an index must not occur twice in a row. Either all
    rows have a ``qid`` or none. Several targets, ``sid:`` and ``cost:`` raise an error.

    Numbers are decimal, ``nan`` or ``inf``, and are rounded to the nearest float64 or float32. Numbers below the
    smallest subnormal become zero or that subnormal; numbers that would overflow raise an error. Comments and ids are
    decoded as UTF-8 with ``surrogateescape``, so :func:`~kernelrank.io.dump_svmlight` writes the original bytes.

    Peak memory is close to the size of the result: numbers are appended to the arrays that are returned.

    Examples
    --------
    >>> from io import BytesIO
    >>> from kernelrank.io import load_svmlight
    >>> X, y, qid, comments = load_svmlight(BytesIO(b"2 qid:7 1:0.5 3:1  # first\n0 qid:7 2:4\n"))
    >>> X.toarray()
    array([[0.5, 0. , 1. ],
           [0. , 4. , 0. ]])
    >>> y, qid, comments
    (array([2., 0.]), array([7, 7]), array(['first', ''], dtype=object))

    Scikit-learn's ``StandardScaler`` needs a dense array, or ``with_mean=False``:

    >>> from sklearn.preprocessing import StandardScaler
    >>> rows = load_svmlight(BytesIO(b"2 1:0.5 2:1\n0 1:1.5 2:4\n"), dense=True)
    >>> StandardScaler().fit_transform(rows.X)
    array([[-1., -1.],
           [ 1.,  1.]])
    >>> StandardScaler(with_mean=False).fit_transform(X).shape  # remains sparse
    (2, 3)
    """
    DTYPE("dtype", dtype)
    (whole(0) | NONE)("n_features", n_features)
    FLAG("dense", dense)
    (FLAG | choice("auto"))("zero_based", zero_based)
    make_reader = READERS[np.dtype(dtype).name]
    reader = make_reader(
        None if zero_based == "auto" else bool(zero_based), None if n_features is None else int(n_features)
    )
    n_threads = resolve_threads(n_jobs)
    try:
        with open_for_reading(source) as handle:
            while block := _read(handle, _BLOCK_BYTES * n_threads):
                reader.feed(block, n_threads)
        parts, n_columns, y, qid, qid_texts, comments = reader.finish()
    except FormatError as error:
        raise DataFormatError(f"{name_of(source)}:{describe(*error.args)}") from None
    X = sp.csr_matrix(parts, shape=(len(y), n_columns), copy=False)
    X.has_canonical_format = True  # so that SciPy does not check every index later
    if dense:
        X = as_dense(X, name_of(source))
    queries: NDArray[Any] | None = qid if qid_texts is None else _as_objects(qid_texts)[qid]
    return SvmlightData(X, y, queries, None if comments is None else _as_objects(comments))


def as_dense(X: Any, name: str) -> NDArray[Any]:
    """Return a sparse matrix as an array, if that fits into memory; `name` is that of the file, for the error."""
    size = float(X.dtype.itemsize) * X.shape[0] * X.shape[1]
    require_memory(size, f"{name}: a dense array of shape {X.shape}", "Use dense=False.")
    return np.asarray(X.toarray())


def _read(handle: IO[bytes], size: int) -> bytes:
    block = handle.read(size)
    if isinstance(block, str):
        raise TypeError("source must be a file opened in binary mode, but its read() returns text.")
    return bytes(block)


def _as_objects(texts: list[str]) -> NDArray[np.object_]:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def describe(line: int, problem: str, text: bytes) -> str:
    """Describe a defect of a line, for an error."""
    if not text:
        return f"{line}: {problem}"
    shown = text.decode("utf-8", "backslashreplace")
    shown = shown if len(shown) <= _MOST_QUOTED else shown[:_MOST_QUOTED] + "..."
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
    return f'{line}: {problem} "{printable}"'
