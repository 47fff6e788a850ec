r"""Two ridge regressions in turn: one along the rows of Y, and one along its columns.

    F = H_1 Y H_2,    H_1 = K (K + row_penalty)^-1,    H_2 = G (G + column_penalty)^-1

If there are constants, both matrices are centred, and ``1 1' / n`` is added. What is held out are rows, columns or
both, by leaving out each element in its regression: with ``W = I - H``, ``y_i - (W y)_i / W_ii``. An entry that is held
out would leave a hole in Y, for which the regression along a side has no solution; it stands for the value that its own
prediction has if it is put there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import matmul
from kernelrank.solvers.kronecker._side import Side

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TwoStepProblem:
    """Two ridge regressions in turn, for any penalties.

    Attributes
    ----------
    rows, columns : Side
        Centred, if the regressions have constants.
    Y : ndarray of shape (q, m)
    """

    rows: Side
    columns: Side
    Y: Array

    def solve(self, row_alpha: float, column_alpha: float) -> Array:
        """Return coefficients of the constant and the coordinates of a row, times those of a column."""
        along = _extend(self.rows, _extend(self.columns, self.Y.T).T)
        row_factors = 1.0 / (self.rows.values + row_alpha * self.rows.n)
        column_factors = 1.0 / (self.columns.values + column_alpha * self.columns.n)
        return np.asarray(np.append(row_factors, 1.0)[:, None] * along * np.append(column_factors, 1.0))

    def without_entry(self, row_alpha: float, column_alpha: float) -> Array:
        """Predict each entry with its own prediction in its place."""
        of_rows, row_weights = _residual(self.rows, self.Y, row_alpha * self.rows.n)
        of_columns, column_weights = _residual(self.columns, self.Y.T, column_alpha * self.columns.n)
        of_both, _ = _residual(self.rows, of_columns.T, row_alpha * self.rows.n)
        weights = row_weights[:, None] + column_weights - np.outer(row_weights, column_weights)
        return np.asarray(self.Y - (of_rows + of_columns.T - of_both) / weights)

    def without_row(self, row_alpha: float, column_alpha: float) -> Array:
        """Predict each row by the model of all other rows."""
        return _smooth(self.columns, _without(self.rows, self.Y, row_alpha).T, column_alpha).T

    def without_column(self, row_alpha: float, column_alpha: float) -> Array:
        """Predict each column by the model of all other columns."""
        return _smooth(self.rows, _without(self.columns, self.Y.T, column_alpha).T, row_alpha)

    def without_both(self, row_alpha: float, column_alpha: float) -> Array:
        """Predict each entry by the model of all entries in other rows and other columns."""
        return _without(self.columns, _without(self.rows, self.Y, row_alpha).T, column_alpha).T


def _residual(side: Side, Y: Array, penalty: float) -> tuple[Array, Array]:
    """Return ``W Y`` and the diagonal of W."""
    centred = Y - Y.mean(axis=0) if side.centred else Y
    factors = penalty / (side.values + penalty)
    along = matmul(side.vectors.T, centred)
    found = matmul(side.vectors, factors[:, None] * along)
    if not side.complete:
        found += centred - matmul(side.vectors, along)
    return found, side.squares @ factors + side.outside


def _smooth(side: Side, Y: Array, alpha: float) -> Array:
    residual, _ = _residual(side, Y, alpha * side.n)
    return np.asarray(Y - residual)


def _without(side: Side, Y: Array, alpha: float) -> Array:
    residual, weights = _residual(side, Y, alpha * (side.n - 1))
    return np.asarray(Y - residual / weights[:, None])


def _extend(side: Side, Y: Array) -> Array:
    """Return Y in the basis of a side, and its mean in one more row, which is zero if there is no constant."""
    mean = Y.mean(axis=0) if side.centred else np.zeros(Y.shape[1])
    return np.vstack([matmul(side.vectors.T, Y - mean), mean])
