r"""Local search for the labels that least squares fits best.

For labels y of -1 and 1, ridge regression with a mean reaches the objective ``J(y) = y' W y / m``, where W is the
residual operator (``least_squares/_residual.py``): it does not depend on y (Gieseke, Pahikkala and Kramer 2009).

========= ================================================================= ================
symbol    meaning                                                           here
========= ================================================================= ================
g         W y, the residuals                                                ``residuals``
c_i       4 (W_ii - y_i g_i), the change of m J if label i is turned        ``changes``
h_i       1 - W_ii, the leverage of row i                                   ``_leverages``
========= ================================================================= ================

Turning the labels of two rows i and j with different labels changes m J by ``c_i + c_j - 8 W_ij``. I - W is positive
semidefinite, so ``W_ij <= sqrt(h_i h_j)``, which excludes most pairs without a look at W_ij.

A turned label changes g by a column of W. W is stored unless its r eigenvectors are few: O(m) per column. Otherwise
columns are computed from the eigenvectors: O(m r) per column, and no matrix of m x m numbers.

No single label can be turned for the better if ``y_i g_i / W_ii <= 1`` for all rows. Since ``g_i / W_ii`` is the
residual of row i when it is held out and the penalty ``alpha * m`` of the sum of squared errors stays the same, its
held-out prediction then has the sign of its label.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import slices
from kernelrank.solvers.least_squares import Residual

Vector = NDArray[np.float64]

_LARGEST = 4  # size of W, compared with that of its eigenvectors, up to which it is stored
_LEADING = 3  # starts from eigenvectors
_BLOCK_ELEMENTS = 1 << 20  # of rows of W that are computed at once
_SAME = 1e-10  # share of the largest diagonal element of W: smaller changes may be rounding errors


class Labels(NamedTuple):
    """A local optimum: no label, and no two different labels, can be turned for the better."""

    y: Vector
    objective: float
    n_steps: int


class LabelSearch:
    """Local search for two clusters.

    Parameters
    ----------
    W : Residual
        With a mean; its targets are not used.
    alpha : float
        Weight of the squared norm.
    smallest : int
        Least number of rows per cluster.
    """

    def __init__(self, W: Residual, alpha: float, smallest: int) -> None:
        self._W, self._alpha, self._smallest = W, alpha, smallest
        self._diagonal, self._factors = W.diagonal(alpha), W.factors(alpha)
        self._leverages = np.maximum(1.0 - self._diagonal, 0.0)
        self._tolerance = _SAME * float(np.max(self._diagonal))
        self._matrix = self._all() if W.n_rows <= _LARGEST * W.rank else None

    def best(self, n_starts: int, generator: np.random.RandomState) -> Labels:
        """Return the best of several local optima; of equals, the first.

        Parameters
        ----------
        n_starts : int
            Number of local searches.
        generator : RandomState
            Random number generator of the starts.

        Returns
        -------
        Labels
            Labels, their objective, and the steps taken.
        """
        best = self.descend(self.start(0, generator))
        for number in range(1, n_starts):
            found = self.descend(self.start(number, generator))
            if found.objective < best.objective - self._tolerance / self._W.n_rows:
                best = found
        return best

    def start(self, number: int, generator: np.random.RandomState) -> Vector:
        """Return labels in equal numbers: of leading eigenvectors first, then of random functions and random ones.

        Parameters
        ----------
        number : int
            Number of the start, from 0.
        generator : RandomState
            Random number generator.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels, -1 or 1.
        """
        m, spectrum = self._W.n_rows, self._W.spectrum
        if number < min(_LEADING, self._W.rank):
            values = spectrum.vectors[:, np.argsort(-spectrum.values, kind="stable")[number]]
        else:
            values = generator.normal(size=m)
            if number % 2 == 0:
                values = spectrum.vectors @ (spectrum.values * (spectrum.vectors.T @ values))
        y = np.full(m, -1.0)
        y[np.argsort(values, kind="stable")[m // 2 :]] = 1.0
        return y

    def descend(self, y: Vector) -> Labels:
        """Lower the objective by turning labels, one or two at a time, until no turn helps.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            Labels, -1 or 1, to start from.

        Returns
        -------
        Labels
            The local optimum.
        """
        y, n_steps, before = y.copy(), 0, -1
        while n_steps > before:  # the last pass confirms the optimum without the rounding errors of updates
            residuals, before = self.residuals(y), n_steps
            while rows := self._next(y, residuals):
                for i in rows:
                    residuals -= 2.0 * y[i] * self.column(i)
                    y[i] = -y[i]
                n_steps += 1
        return Labels(y, float(y @ residuals) / len(y), n_steps)

    def residuals(self, y: Vector) -> Vector:
        """Return W y.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            Labels, -1 or 1.

        Returns
        -------
        ndarray of shape (n_rows,)
            Residuals of the model fitted to them.
        """
        return np.asarray(replace(self._W, targets=y[:, None]).apply(self._alpha)[:, 0])

    def changes(self, y: Vector, residuals: Vector) -> Vector:
        """Return by how much m J changes if a label is turned, for each row.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            Labels, -1 or 1.
        residuals : ndarray of shape (n_rows,)
            Their residuals.

        Returns
        -------
        ndarray of shape (n_rows,)
            Changes of the objective times m.
        """
        return np.asarray(4.0 * (self._diagonal - y * residuals))

    def column(self, i: int) -> Vector:
        """Return a column of W, which must not be changed.

        Parameters
        ----------
        i : int
            Number of the column.

        Returns
        -------
        ndarray of shape (n_rows,)
            The column.
        """
        return np.asarray(self._rows(np.array([i]))[0] if self._matrix is None else self._matrix[i])

    def _all(self) -> Vector:
        """Return W, of which no second copy is made."""
        m = self._W.n_rows
        matrix = np.empty((m, m))
        for part in slices(m, _BLOCK_ELEMENTS // m):
            matrix[part] = self._rows(np.arange(m)[part])
        return matrix

    def _rows(self, rows: NDArray[np.intp]) -> Vector:
        """Return rows of W, which are its columns as well."""
        vectors = self._W.spectrum.vectors
        found = (vectors[rows] * self._factors) @ vectors.T
        found += self._W.constant
        found[np.arange(len(rows)), rows] = self._diagonal[rows]
        return np.asarray(found)

    def _next(self, y: Vector, residuals: Vector) -> tuple[int, ...]:
        """Return the row, or the two rows, to turn next; none at a local optimum."""
        changes, ones = self.changes(y, residuals), y > 0
        n_ones = np.count_nonzero(ones)
        allowed = np.where(ones, n_ones, len(y) - n_ones) > self._smallest
        single = np.where(allowed, changes, np.inf)
        best = int(np.argmin(single))
        if single[best] < -self._tolerance:
            return (best,)
        return self._next_two(changes, np.flatnonzero(ones), np.flatnonzero(~ones))

    def _next_two(self, changes: Vector, ones: NDArray[Any], others: NDArray[Any]) -> tuple[int, ...]:
        """Return two rows with different labels; for the first row that has such a partner, the best one."""
        most = 8.0 * np.sqrt(self._leverages[ones] * np.max(self._leverages[others]))
        possible = ones[changes[ones] + np.min(changes[others]) - most < -self._tolerance]
        for i in possible[np.argsort(changes[possible], kind="stable")]:
            together = changes[i] + changes[others] - 8.0 * self.column(i)[others]
            j = int(np.argmin(together))
            if together[j] < -self._tolerance:
                return int(i), int(others[j])
        return ()
