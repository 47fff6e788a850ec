r"""Kronecker least squares with all entries of Y known, and exact hold-outs.

    minimise  ||(Y - b - F) C||^2 + penalty * ||f||^2,    f(u, v) = k(u)' A g(v),    F = K A G

with the identity for C, or the centring of the columns if these are ranked within each row; b is 0 then. With
``K = U diag(l) U'`` and ``C G C = V diag(s) V'`` (see ``_side.py``), the residual operator is diagonal:

    W = U V D V' U',    D_kc = penalty / (l_k s_c + penalty);    D = 1 outside of U and V.

What is held out, a set S of directions, leaves the residuals ``e = (W_SS)^-1 (W Y)_S``. An entry is one direction. For
a row i, ``W_SS = V diag(h_i) V'`` with ``h_i = sum_k U_ik^2 D_k``; a column is the transpose. A constant b that is not
penalised turns W into ``W - z z' / tau`` with ``z = W 1`` and ``tau = 1'z``, a change of rank one.

Each hold-out costs O(q m (q + m)), as a fit does after the decompositions; that of rows and columns together is in
``_both_out.py``. `penalty` is that of the refit: alpha times
the number of the entries that remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import matmul
from kernelrank.solvers.kronecker._both_out import without_both
from kernelrank.solvers.kronecker._side import Side

Array = NDArray[np.float64]


@dataclass(frozen=True)
class KroneckerProblem:
    """Kronecker least squares with all entries known, for any alpha.

    Attributes
    ----------
    rows, columns : Side
        The columns may be centred: they are then ranked within each row.
    Y : ndarray of shape (q, m)
    intercept : bool
        Whether there is a constant b; not with centred columns.
    """

    rows: Side
    columns: Side
    Y: Array
    intercept: bool

    @cached_property
    def mean(self) -> float:
        """Mean of Y if there is a constant, which is subtracted first."""
        return float(self.Y.mean()) if self.intercept else 0.0

    @cached_property
    def targets(self) -> Array:
        """Y without its mean; without the mean of each row if the columns are ranked."""
        if self.columns.centred:
            return np.asarray(self.Y - self.Y.mean(axis=1, keepdims=True))
        return np.asarray(self.Y - self.mean)

    @cached_property
    def along(self) -> Array:
        """Targets in the bases of both sides, ``U'Y V``."""
        return np.asarray(matmul(matmul(self.rows.vectors.T, self.targets), self.columns.vectors))

    @cached_property
    def largest(self) -> float:
        """Largest eigenvalue of the Kronecker product."""
        return self.rows.largest * self.columns.largest

    def penalty(self, alpha: float, n_rows: int, n_columns: int, n_less: int = 0) -> float:
        """Return the weight of the squared norm for so many rows and columns, less some entries."""
        if self.columns.centred:  # the mean over pairs within a row, and over rows
            return 0.5 * alpha * n_rows * n_columns
        return alpha * (n_rows * n_columns - n_less)

    def solve(self, alpha: float) -> tuple[Array, float]:
        """Return the coefficients of f in the bases of both sides, of shape (p, t), and the constant."""
        penalty = self.penalty(alpha, self.rows.n, self.columns.n)
        products = np.outer(self.rows.values, self.columns.values) + penalty
        if not self.intercept:
            return self.along / products, 0.0
        of_targets, of_ones = self._residual(penalty), self._residual_of_ones(penalty)
        b = float(of_targets.sum() / of_ones.sum())
        return (self.along - b * np.outer(self.rows.sums, self.columns.sums)) / products, self.mean + b

    def without_entry(self, alpha: float) -> Array:
        """Predict each entry by the model of all others, which know its row and its column."""
        q, m = self.Y.shape
        if self.columns.centred:
            return self._without_entry_of_ranking(alpha)
        penalty = self.penalty(alpha, q, m, 1)
        D, residual = self._factors(penalty), self._residual(penalty)
        # The directions of entries are products of those of rows and columns.
        weights = matmul(matmul(self.rows.squares, D), self.columns.squares.T)
        rows, columns = self.rows.outside[:, None], self.columns.outside
        weights += rows + columns - rows * columns
        if self.intercept:
            ones = self._residual_of_ones(penalty)
            residual -= ones * (residual.sum() / ones.sum())
            weights -= ones**2 / ones.sum()
        return np.asarray(self.Y - residual / weights)

    def without_row(self, alpha: float) -> Array:
        """Predict each row by the model of all other rows."""
        penalty = self.penalty(alpha, self.rows.n - 1, self.columns.n)
        return self._without(self.rows, self.columns, penalty, transposed=False)

    def without_column(self, alpha: float) -> Array:
        """Predict each column by the model of all other columns."""
        penalty = self.penalty(alpha, self.rows.n, self.columns.n - 1)
        return self._without(self.columns, self.rows, penalty, transposed=True).T

    def without_both(self, alpha: float) -> Array:
        """Predict each entry by the model of all entries in other rows and other columns."""
        return without_both(self, self.penalty(alpha, self.rows.n - 1, self.columns.n - 1))

    def _factors(self, penalty: float) -> Array:
        return penalty / (np.outer(self.rows.values, self.columns.values) + penalty)

    @cached_property
    def _unexplained(self) -> Array | None:
        """Targets outside of the span of the vectors; None if there is nothing."""
        if self.rows.complete and self.columns.complete:
            return None
        explained = matmul(matmul(self.rows.vectors, self.along), self.columns.vectors.T)
        return np.asarray(self.targets - explained)

    def _residual(self, penalty: float) -> Array:
        """Return W Y."""
        along = self._factors(penalty) * self.along
        found = matmul(matmul(self.rows.vectors, along), self.columns.vectors.T)
        return np.asarray(found if self._unexplained is None else found + self._unexplained)

    def _residual_of_ones(self, penalty: float) -> Array:
        """Return W 1."""
        of_rows, of_columns = self.rows.sums, self.columns.sums
        along = self._factors(penalty) * np.outer(of_rows, of_columns)
        found = matmul(matmul(self.rows.vectors, along), self.columns.vectors.T)
        if not (self.rows.complete and self.columns.complete):
            # 1 x 1 = (in + out) x (in + out); all but the first product is outside.
            inside = 1.0 - self.rows.constant_outside
            found += np.outer(inside, self.columns.constant_outside) + self.rows.constant_outside[:, None]
        return np.asarray(found)

    def _without(self, out: Side, other: Side, penalty: float, *, transposed: bool) -> Array:
        """Predict each element of a side, for all elements of the other one; shape (out.n, other.n)."""
        D, residual = self._factors(penalty), self._residual(penalty)
        targets = self.targets.T if transposed else self.targets
        D, residual = (D.T, residual.T) if transposed else (D, residual)
        weights = matmul(out.squares, D) + out.outside[:, None]

        def solve(r: Array) -> Array:
            """Divide each row by W_SS."""
            along = matmul(r, other.vectors)
            inside = matmul(along / weights, other.vectors.T)
            rest = 0.0 if other.complete else (r - matmul(along, other.vectors.T)) / out.axis
            return np.asarray(inside + rest)

        if not self.intercept:
            return np.asarray(targets / out.axis - solve(residual))
        ones = self._residual_of_ones(penalty)
        ones = ones.T if transposed else ones
        total = ones.sum()
        residual = residual - ones * (residual.sum() / total)
        left, of_ones = solve(residual), solve(ones)
        share = (ones * left).sum(axis=1) / (total - (ones * of_ones).sum(axis=1))
        return np.asarray(targets + self.mean - left - of_ones * share[:, None])

    def _without_entry_of_ranking(self, alpha: float) -> Array:
        """Predict each entry, relative to the mean of its row.

        A row that has lost an entry has fewer pairs. Their mean weighs m / (m - 1) times as much per entry, which
        changes W in the row: ``h`` becomes ``h / (1 - h / m)``.
        """
        (q, m), rows, columns = self.Y.shape, self.rows, self.columns
        if m == 2:  # the other entry of the row has nothing to be compared with
            return self.without_row(alpha)
        penalty = self.penalty(alpha, q, m)
        residual = self._residual(penalty)
        h = matmul(rows.squares, self._factors(penalty)) + rows.outside[:, None]
        along = matmul(residual, columns.vectors)
        left = matmul(along / (1.0 - h / m), columns.vectors.T)
        weights = matmul(h / (1.0 - h / m), columns.squares.T) + columns.outside / (1.0 - 1.0 / m)
        if not columns.complete:
            left += (residual - matmul(along, columns.vectors.T)) / (1.0 - 1.0 / m)
        return np.asarray(self.targets - columns.axis * left / weights)
