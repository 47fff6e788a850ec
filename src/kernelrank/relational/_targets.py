"""The targets of relational data: a matrix whose entries may be unknown."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._arrays import refuse_mask, to_host
from kernelrank._validation import as_numbers
from kernelrank.exceptions import NoComparablePairsError

Array = NDArray[np.float64]
Places = NDArray[np.intp]

_LARGEST = 1e150  # whose square is a number as well


class Targets(NamedTuple):
    """Known entries of Y, row by row.

    Attributes
    ----------
    shape : tuple of int
    rows, columns : ndarray of shape (n_known,)
    values : ndarray of shape (n_known,)
    """

    shape: tuple[int, int]
    rows: Places
    columns: Places
    values: Array

    @property
    def complete(self) -> bool:
        """Whether all entries are known."""
        return len(self.values) == self.shape[0] * self.shape[1]

    @property
    def matrix(self) -> Array:
        """The matrix, with NaN where entries are unknown."""
        found = np.full(self.shape, np.nan)
        found[self.rows, self.columns] = self.values
        return found


def check_targets(Y: Any, n_rows: int, n_columns: int) -> Targets:
    """Return the known entries of a matrix: those that are not NaN, or those that a sparse matrix stores.

    Raises
    ------
    ValueError
        If the shape does not fit, values are not finite, or there is no entry.
    """
    refuse_mask(Y, "Y")
    if sp.issparse(Y):
        stored = Y.tocsr(copy=True)
        stored.sum_duplicates()
        entries = stored.tocoo()
        shape, rows, columns, values = Y.shape, entries.row, entries.col, as_numbers(entries.data, "Y")
        if np.isnan(values).any():
            raise ValueError("Y contains NaN. Entries that are unknown are not stored in a sparse matrix.")
    else:
        dense = as_numbers(to_host(Y), "Y")
        if dense.ndim != 2:
            raise ValueError(f"Y must be a matrix of shape (n_rows, n_columns), got an array of shape {dense.shape}.")
        shape = dense.shape
        rows, columns = np.nonzero(~np.isnan(dense))
        values = dense[rows, columns]
    if shape != (n_rows, n_columns):
        raise ValueError(
            f"Y has shape {shape}, but U has {n_rows} rows and V has {n_columns}: Y must have shape"
            f" ({n_rows}, {n_columns})."
        )
    values = np.asarray(values, np.float64)
    if not np.isfinite(values).all():
        raise ValueError("Y contains infinity. Entries that are unknown are NaN.")
    if len(values) == 0:
        raise NoComparablePairsError("Y has no known entry.")
    if np.max(np.abs(values)) > _LARGEST:
        raise ValueError(
            f"Y has squares that are no float64 numbers, its largest element being {abs(values).max():.1g}."
        )
    return Targets((n_rows, n_columns), rows.astype(np.intp), columns.astype(np.intp), values)


def require_known(targets: Targets) -> None:
    """Raise an error if a row or a column has no known entry."""
    for places, n, side, what in (
        (targets.rows, targets.shape[0], "U", "Row"),
        (targets.columns, targets.shape[1], "V", "Column"),
    ):
        empty = np.flatnonzero(np.bincount(places, minlength=n) == 0)
        if len(empty):
            more = "" if len(empty) == 1 else f" (and {len(empty) - 1} more)"
            raise ValueError(
                f"{what} {empty[0]}{more} of Y has no known entry. Leave it out of {side} and Y: the model predicts it"
                " like any new one."
            )
