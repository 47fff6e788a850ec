"""Layout of a file of a row store: raw arrays, one after the other.

A file has two sections, each with a checksum. The rows come first: X in C order, or the values, column indices and row
starts of a CSR matrix. The labels follow: the utilities and, if there are queries, the number of rows, the length of
the id and the id of each query. Every array begins at a multiple of 64 bytes. Numbers are little-endian.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_ALIGNMENT = 64


class Part(NamedTuple):
    """Consecutive rows with their utilities and queries, after all checks.

    Attributes
    ----------
    X : {ndarray, sparse matrix} of shape (n_rows, n_features)
        Dense, or CSR in canonical form.
    y : ndarray of shape (n_rows,)
    sizes : ndarray of shape (n_queries,) or None
        Numbers of rows of the queries, whose rows are contiguous.
    ids : list of str or None
        Ids of the queries.
    """

    X: Any
    y: NDArray[np.float64]
    sizes: NDArray[np.int64] | None
    ids: list[str] | None


class Chunk(NamedTuple):
    """Sizes and checksums of a file, as in the manifest.

    Attributes
    ----------
    n_rows, n_queries : int
    n_stored : int
        Stored elements of X.
    index_bytes : int
        Size of an index of a CSR matrix, 4 or 8; 0 for a dense matrix.
    id_bytes : int
        Length of all ids together.
    checksums : tuple of int
        CRC-32 of the rows and of the labels.
    """

    n_rows: int
    n_stored: int
    n_queries: int
    index_bytes: int
    id_bytes: int
    checksums: tuple[int, int]


class Shape(NamedTuple):
    """Number of elements and type of an array in a file."""

    size: int
    dtype: np.dtype[Any]


def row_arrays(chunk: Chunk, dtype: np.dtype[Any]) -> list[Shape]:
    """Return the arrays of the first section."""
    values = Shape(chunk.n_stored, dtype.newbyteorder("<"))
    if not chunk.index_bytes:
        return [values]
    index = np.dtype(f"<i{chunk.index_bytes}")
    return [values, Shape(chunk.n_stored, index), Shape(chunk.n_rows + 1, index)]


def label_arrays(chunk: Chunk) -> list[Shape]:
    """Return the arrays of the second section."""
    sizes = Shape(chunk.n_queries, np.dtype("<i4"))
    return [Shape(chunk.n_rows, np.dtype("<f8")), sizes, sizes, Shape(chunk.id_bytes, np.dtype("u1"))]


def ends(arrays: Iterable[Shape]) -> list[int]:
    """Return where each array begins, and where the section ends."""
    found = [0]
    for each in arrays:
        found.append(found[-1] + -(-each.size * each.dtype.itemsize // _ALIGNMENT) * _ALIGNMENT)
    return found


def split(memory: NDArray[np.uint8], arrays: Sequence[Shape]) -> list[NDArray[Any]]:
    """Return the arrays of a section; they share its memory."""
    return [
        memory[start : start + each.size * each.dtype.itemsize].view(each.dtype)
        for each, (start, _) in zip(arrays, pairwise(ends(arrays)), strict=True)
    ]


def encode(part: Part) -> tuple[Chunk, list[memoryview]]:
    """Return the sizes, the checksums and the content of a file."""
    X, ids = part.X, [each.encode("utf-8", "surrogateescape") for each in part.ids or ()]
    if sp.issparse(X):
        wide = max(X.nnz, X.indices.max(initial=0)) >= 2**31
        index = np.dtype("<i8" if wide else "<i4")
        rows = [X.data, X.indices.astype(index, copy=False), X.indptr.astype(index, copy=False)]
        n_stored, index_bytes = X.nnz, index.itemsize
    else:
        rows, n_stored, index_bytes = [np.ascontiguousarray(X).ravel()], X.size, 0
    sizes = np.empty(0, np.int32) if part.sizes is None else part.sizes.astype("<i4")
    text = b"".join(ids)
    labels = [part.y, sizes, np.array([len(each) for each in ids], "<i4"), np.frombuffer(text, np.uint8)]
    sections = [_padded(rows), _padded(labels)]
    checksums = _checksum(sections[0]), _checksum(sections[1])
    chunk = Chunk(X.shape[0], int(n_stored), len(ids), index_bytes, len(text), checksums)
    return chunk, [*sections[0], *sections[1]]


def _padded(arrays: Iterable[NDArray[Any]]) -> list[memoryview]:
    pieces = []
    for each in arrays:
        little = np.ascontiguousarray(each, each.dtype.newbyteorder("<"))
        pieces += [memoryview(little.view(np.uint8).data), memoryview(bytes(-little.nbytes % _ALIGNMENT))]
    return pieces


def _checksum(pieces: Iterable[memoryview]) -> int:
    found = 0
    for piece in pieces:
        found = zlib.crc32(piece, found)
    return found


def decode_rows(memory: NDArray[np.uint8], chunk: Chunk, dtype: np.dtype[Any], n_features: int) -> Any:
    """Return the matrix of a file; it shares the memory of the section."""
    values, *indices = split(memory, row_arrays(chunk, dtype))
    if not indices:
        return values.reshape(chunk.n_rows, n_features)
    return sp.csr_matrix((values, *indices), shape=(chunk.n_rows, n_features), copy=False)


def check_rows_of(X: Any, n_stored: int) -> None:
    """Check a matrix of so many stored elements that was read for the first time.

    Raises
    ------
    ValueError
        If the indices of a CSR matrix are out of range, not sorted or repeated, or zeros or other elements are stored.
    """
    if sp.issparse(X):
        X.check_format(full_check=True)
        if X.nnz != n_stored:
            raise ValueError("the rows do not end where the stored elements end")
        if not X.has_canonical_format or np.count_nonzero(X.data) < len(X.data):
            raise ValueError("the matrix is not in canonical form")


def decode_ids(memory: NDArray[np.uint8], lengths: NDArray[Any]) -> list[str]:
    """Return ids from their bytes and lengths."""
    text, stops = memory.tobytes(), np.cumsum(lengths, dtype=np.int64).tolist()
    return [text[start:stop].decode("utf-8", "surrogateescape") for start, stop in pairwise([0, *stops])]


def check_labels_of(y: NDArray[Any], sizes: NDArray[Any], lengths: NDArray[Any], n_bytes: int) -> None:
    """Check labels that were read.

    Raises
    ------
    ValueError
        If utilities are not finite, or sizes and ids of queries do not fit the rows.
    """
    if not np.isfinite(y).all():
        raise ValueError("utilities are not finite")
    if len(sizes) and (sizes.min() < 1 or sizes.sum(dtype=np.int64) != len(y)):
        raise ValueError("the sizes of the queries do not add up to the number of rows")
    if len(lengths) and (lengths.min() < 0 or lengths.sum(dtype=np.int64) != n_bytes):
        raise ValueError("the lengths of the ids do not add up")
