"""Columns of X that need care before they are multiplied: those far from zero, and those that are constant.

A column whose values are far from zero compared with their spread would drown its
differences, all that ranking depends on, in rounding. Such columns are shifted: all rows by the same, or, where the
values of different queries are far from each other, by the value of the first row of each query. A column
that is constant, or constant in every query, gets no weight at all: what it gets otherwise is
rounding, divided by alpha. Neither changes the order of the scores in any query.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._arrays import slices, take, take_both, to_host

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

_SEARCH_ELEMENTS = 1 << 17  # looked at at once to find columns that are constant: one MiB
_SAMPLE_ROWS = 512  # looked at to find columns that may need a shift
_SAMPLE_ELEMENTS = 1 << 24  # of a sample that several matrices make together
_SEARCH_ROWS = 4096  # looked at at once to find columns that are stored in every row
_FAR = 1e3  # times its spread from zero: a column loses three digits or more


class Columns(NamedTuple):
    """Columns that are shifted, and columns that get no weight.

    Attributes
    ----------
    full : ndarray of shape (k,)
        Columns of which the next two attributes are: those with a stored element in every row, all of a dense matrix.
    shift : ndarray of shape (k,)
        Subtracted from all rows.
    drifts : ndarray of shape (k,)
        Whether the value in the first row of its query is subtracted instead.
    constant : ndarray
        Columns that are constant in every query.
    """

    full: Indices
    shift: Vector
    drifts: NDArray[np.bool_]
    constant: Indices

    @property
    def shifts(self) -> bool:
        """Whether any column is shifted."""
        return bool(self.shift.any() or self.drifts.any())


class RowSource(Protocol):
    """Rows of a matrix, in memory or elsewhere."""

    n_rows: int

    def full_columns(self) -> Indices:
        """Return the columns with a stored element in every row.

        Returns
        -------
        ndarray of int
            Column indices.
        """

    def sample(self, columns: Indices, n_rows: int) -> Vector:
        """Return some of the rows.

        The first row of all is the first of them.

        Parameters
        ----------
        columns : ndarray of int of shape (k,)
            Columns to return.
        n_rows : int
            Number of rows, approximately; all rows are returned if there are fewer.

        Returns
        -------
        ndarray of shape (n_sampled, k)
            Rows, in their order.
        """

    def are_constant(self, columns: Indices, values: Vector) -> NDArray[np.bool_]:
        """Find the columns in which all rows have a given value.

        Parameters
        ----------
        columns : ndarray of int of shape (k,)
            Columns to look at.
        values : ndarray of shape (k,)
            Value of each column.

        Returns
        -------
        ndarray of bool of shape (k,)
            Whether all rows have the value.
        """


class Rows:
    """Rows of one matrix, dense or CSR or CSC.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_rows, n_columns)
    """

    def __init__(self, X: Any) -> None:
        self._X, self.n_rows = X, X.shape[0]

    def full_columns(self) -> Indices:
        """Return the columns with a stored element in every row."""
        return full_columns(self._X) if sp.issparse(self._X) else np.arange(self._X.shape[1])

    def sample(self, columns: Indices, n_rows: int) -> Vector:
        """Return about so many rows, or all there are, of some columns; the first row of all is the first of them."""
        some = np.arange(0, self.n_rows, -(-self.n_rows // n_rows))
        return dense_part(self._X, some, columns)

    def are_constant(self, columns: Indices, values: Vector) -> NDArray[np.bool_]:
        """Return in which of the columns all rows have the value given for the column."""
        kept = np.ones(len(columns), np.bool_)
        for rows in slices(self.n_rows, _SEARCH_ELEMENTS // max(1, len(columns))):
            kept[kept] = (dense_part(self._X, rows, columns[kept]) == values[kept]).all(axis=0)
            if not kept.any():
                break
        return kept


def find_common_columns(source: RowSource) -> Columns:
    """Find columns to be shifted, and constant columns, where all rows are compared with each other.

    The source is asked for a sample of its rows, and then for the columns that are constant in all of them.

    Parameters
    ----------
    source : RowSource
        Rows of the matrix.

    Returns
    -------
    Columns
        Columns to shift, and constant columns.
    """
    full = source.full_columns()
    if len(full) == 0 or source.n_rows == 1:
        return Columns(full, np.zeros(len(full)), np.zeros(len(full), np.bool_), full)
    sample = source.sample(full, min(_SAMPLE_ROWS, max(16, _SAMPLE_ELEMENTS // len(full))))
    shift, first = _shift(sample), sample[0]
    constant = np.flatnonzero((sample == first).all(axis=0))
    if len(constant):
        constant = constant[source.are_constant(full[constant], first[constant])]
    shift[constant] = 0.0
    return Columns(full, shift, np.zeros(len(full), np.bool_), full[constant])


def find_columns(X: Any, first: NDArray[np.int32]) -> Columns:
    """Find columns to be shifted, and full columns that are constant, of a matrix; `first` is as in `first_rows`."""
    if not sp.issparse(X):
        return Columns(np.arange(X.shape[1]), *_dense_columns(X, first))
    full = full_columns(X)
    shift, drifts, constant = _dense_columns(dense_part(X, None, full), first)
    return Columns(full, shift, drifts, full[constant])


def first_rows(queries: NDArray[np.int32] | None, n_rows: int) -> NDArray[np.int32]:
    """Return for each row the first row of its query."""
    if queries is None:
        return np.broadcast_to(np.int32(0), n_rows)
    first = np.empty(int(queries.max()) + 1, np.int32)
    first[queries[::-1]] = np.arange(n_rows - 1, -1, -1, dtype=np.int32)  # of several, the last one stays
    return first[queries]


def dense_part(X: Any, rows: Any, columns: Indices) -> Vector:
    """Return some columns of some rows, or of all for None, as a dense matrix of float64."""
    X = X if rows is None else X[rows]
    X = X if len(columns) == X.shape[1] else X[:, columns]
    return np.asarray(X.toarray() if sp.issparse(X) else X, np.float64)


def shift_full_columns(X: Any, first: NDArray[np.int32], columns: Columns) -> Any:
    """Return a sparse matrix whose full columns are shifted.

    Only such a matrix is copied, and only its values: a shift leaves no zero to stay unstored.
    """
    if not columns.shifts:
        return X
    full = dense_part(X, None, columns.full)
    full[:, columns.drifts] -= full[first][:, columns.drifts]
    full[:, ~columns.drifts] -= columns.shift[~columns.drifts]
    by_row = X.format == "csr"
    of_stored = X.indices if by_row else np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    values = X.data.astype(np.float64)
    values[np.isin(of_stored, columns.full)] = (full if by_row else full.T).ravel()
    return type(X)((values, X.indices, X.indptr), shape=X.shape)


class _Found(NamedTuple):
    """Shifts and constant columns of a dense matrix, as in `Columns`."""

    shift: Vector
    drifts: NDArray[np.bool_]
    constant: Indices


def _dense_columns(X: NDArray[Any], first: NDArray[np.int32]) -> _Found:
    """Find columns to be shifted, and constant columns, from a sample of rows.

    Columns that are constant in the sample are checked in all rows. The first row of each query is left out of the
    sample: its difference from itself says nothing about the spread.
    """
    n = X.shape[1]
    others = np.flatnonzero(first != np.arange(len(first)))
    if len(others) == 0 or n == 0:
        return _Found(np.zeros(n), np.zeros(n, np.bool_), np.arange(n))
    some = others[:: -(-len(others) // _SAMPLE_ROWS)]
    blocks = list(slices(n, _SEARCH_ELEMENTS // len(some)))  # wide rows would need several copies of themselves
    if len(blocks) == 1:
        return _sampled_columns(X, first, some)
    found = [_sampled_columns(X[:, block], first, some) for block in blocks]
    shift, drifts = (np.concatenate(parts) for parts in list(zip(*found, strict=True))[:2])
    constant = [block.start + part.constant for block, part in zip(blocks, found, strict=True)]
    return _Found(shift, drifts, np.concatenate(constant))


def _sampled_columns(X: NDArray[Any], first: NDArray[np.int32], some: NDArray[np.intp]) -> _Found:
    """Find columns to be shifted, and constant columns, with `some` as the sample of rows."""
    sample = np.asarray(to_host(take(X, some)), np.float64)
    shift = _shift(sample)
    with np.errstate(over="ignore", invalid="ignore"):
        inside = np.abs(sample - to_host(take(X, first[some]))).mean(axis=0)
        size = np.abs(sample - shift).mean(axis=0)
        suspects = np.flatnonzero(inside == 0)
        constant = _constant_columns(X, first, suspects)
        unknown = np.setdiff1d(suspects[size[suspects] > 0], constant)
        inside[unknown] = _differences(X, first, unknown)
        drifts = _are_far(size, inside)
    shift[constant], drifts[constant] = 0.0, False
    return _Found(shift, drifts, constant)


def _shift(sample: Vector) -> Vector:
    """Return the centre of each column that is far from zero, 0 of the others."""
    with np.errstate(over="ignore", invalid="ignore"):
        centre = sample[0] + (sample - sample[0]).mean(axis=0)
        return np.where(_are_far(centre, np.abs(sample - centre).mean(axis=0)), centre, 0.0)


def _are_far(distance: Vector, spread: Vector) -> NDArray[np.bool_]:
    """Return which columns are so far from zero that their differences lose digits."""
    return np.isfinite(spread) & (np.abs(distance) > _FAR * spread)


def _constant_columns(X: NDArray[Any], first: NDArray[np.int32], columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return those columns in which no row differs from the first of its query."""
    for rows in slices(X.shape[0], _SEARCH_ELEMENTS // max(1, len(columns))):
        if len(columns) == 0:
            break
        values, firsts = _with_first(X, rows, first, columns)
        columns = columns[(values == firsts).all(axis=0)]
    return columns


def _differences(X: NDArray[Any], first: NDArray[np.int32], columns: NDArray[np.intp]) -> Vector:
    """Return the mean difference of rows from the first of their query, over rows that differ from it."""
    total, n_different = np.zeros(len(columns)), np.zeros(len(columns), np.intp)
    for rows in slices(X.shape[0] if len(columns) else 0, _SEARCH_ELEMENTS // max(1, len(columns))):
        values, firsts = _with_first(X, rows, first, columns)
        found = np.abs(np.subtract(values, firsts, dtype=np.float64))
        total += found.sum(axis=0)
        n_different += np.count_nonzero(found, axis=0)
    return total / np.maximum(n_different, 1)


def _with_first(X: Any, rows: slice, first: NDArray[np.int32], columns: Indices) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return some columns of rows, and of the first rows of their queries, as NumPy arrays."""
    return to_host(take(X[rows, :], columns, axis=1)), to_host(take_both(X, first[rows], columns))


def full_columns(X: Any) -> NDArray[np.intp]:
    """Return the columns with a stored element in every row."""
    m = X.shape[0]
    if X.format == "csc":
        columns: NDArray[np.intp] = np.flatnonzero(np.diff(X.indptr) == m)
    else:
        # A full column is stored in the first row, and in every block of rows: the first block mostly rules all out.
        columns = np.unique(X.indices[: X.indptr[1]])
        for start in range(0, m, _SEARCH_ROWS):
            if len(columns) == 0:
                break
            stop = min(m, start + _SEARCH_ROWS)
            stored = X.indices[X.indptr[start] : X.indptr[stop]]
            at = np.minimum(np.searchsorted(columns, stored), len(columns) - 1)
            counts = np.bincount(at[columns[at] == stored], minlength=len(columns))
            columns = columns[counts == stop - start]
    return columns
