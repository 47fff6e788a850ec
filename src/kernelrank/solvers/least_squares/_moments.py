r"""Linear least squares over pairs, from sums that can be updated and downdated.

A linear model needs ``Z'Z`` and ``Z'u`` only (``_problem.py``), with contrasts Z inside queries. Whole queries add
their own contrasts. Rows that join one ranking add the contrasts among themselves, and one more, between their mean and
that of the rows before them (Chan, Golub and LeVeque 1979). So no digits are lost to differences of sums of squares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kernelrank.losses import PairwiseSquares
from kernelrank.solvers.least_squares._spectrum import solve_moments

Array = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
_NOT_LEARNT = (
    "The remaining sums are impossible: pass forget the same rows, or whole queries, that were learnt, and once."
)


@dataclass(frozen=True)
class Moments:
    """Sums over the contrasts of all queries so far.

    Attributes
    ----------
    gram, right : ndarray of shape (n, n) and (n, p)
        ``Z'Z`` and ``Z'u``, before the average is taken.
    total : float
        The normaliser.
    largest : float
        The largest trace that `gram` ever had: contrasts that were removed leave rounding errors of that size.
    """

    gram: Array
    right: Array
    total: float
    largest: float

    @classmethod
    def empty(cls, n: int, p: int) -> Self:
        """Return empty sums."""
        return cls(np.zeros((n, n)), np.zeros((n, p)), 0.0, 0.0)

    def change(self, Z: Array, u: Array, total: float, sign: int) -> Self:
        """Add contrasts, or remove them: O(k n^2)."""
        gram = self.gram + sign * (Z.T @ Z)
        largest = max(self.largest, float(np.trace(gram)))
        return replace(
            self, gram=gram, right=self.right + sign * (Z.T @ u), total=self.total + sign * total, largest=largest
        )

    def change_queries(self, X: Array, loss: PairwiseSquares, sign: int) -> Self:
        """Add rows of whole queries, or remove them."""
        root = np.sqrt(loss.weights)[:, None]
        return self.change(root * loss.laplacian.project(X - X.mean(axis=0)), root * loss.targets, loss.total, sign)

    def merge(self, other: Self) -> Self:
        """Return the sums over the contrasts of both; a query must be in one of them."""
        gram = self.gram + other.gram
        largest = max(self.largest, other.largest, float(np.trace(gram)))
        return replace(self, gram=gram, right=self.right + other.right, total=self.total + other.total, largest=largest)

    def without(self, other: Moments) -> Moments:
        """Return the sums without some of the queries."""
        return Moments(self.gram - other.gram, self.right - other.right, self.total - other.total, self.largest)

    def level(self, weights: Array) -> Array:
        """Return the intercepts: zero, because only rows of the same query are compared."""
        return np.zeros(weights.shape[1])

    def solve(self, alpha: float) -> Array:
        """Return the weights of the features, of shape (n, p): O(n^3)."""
        if self.total <= 0:
            return np.zeros_like(self.right)
        noise = len(self.gram) * _EPS * self.largest / self.total
        gram = self.gram / self.total
        if np.min(np.diagonal(gram), initial=0.0) < -noise:
            raise ValueError(_NOT_LEARNT)
        try:
            return np.asarray(solve_moments(gram, self.right / self.total, alpha, noise))
        except np.linalg.LinAlgError:
            raise ValueError(_NOT_LEARNT) from None


class HeldOutMoments:
    """Solutions without the contrasts of one query after the other, from one decomposition (P09, section 3.3).

    Parameters
    ----------
    moments : Moments
        Of all queries.
    """

    def __init__(self, moments: Moments) -> None:
        values, self._vectors = np.linalg.eigh(moments.gram)
        self._values = np.where(values > len(values) * _EPS * moments.largest, values, 0.0)
        self._right, self._total = self._vectors.T @ moments.right, moments.total

    def weights_without(self, Z: Array, u: Array, total: float, alpha: float) -> Array:
        """Return the weights of the features without contrasts Z, targets u and their share of the normaliser.

        O(n k min(n, k)) for k contrasts. With ``Q = Z C^-1 Z'`` and w the solution of all contrasts at the alpha of the
        refit, the residuals of the contrasts are ``e = (I - Q)^-1 (u - Z w)``, and the weights ``w - C^-1 Z' e``.
        """
        remaining = self._total - total
        if remaining <= 0:
            raise ValueError("leave_query_out needs two queries with pairs at least.")
        shifted, along = self._values + alpha * remaining, Z @ self._vectors
        if len(Z) < Z.shape[1]:
            scaled = along / shifted
            e = np.linalg.solve(np.eye(len(Z)) - scaled @ along.T, u - scaled @ self._right)
            found = self._right / shifted[:, None] - scaled.T @ e
        else:
            found = np.linalg.solve(np.diag(shifted) - along.T @ along, self._right - along.T @ u)
        return np.asarray(self._vectors @ found)


@dataclass(frozen=True)
class MomentsOfRows(Moments):
    """Sums over the rows of one ranking, centred at their mean.

    Attributes
    ----------
    weight : float
        Of all rows.
    mean : ndarray of shape (n + p,)
        Of features and targets.
    """

    weight: float = 0.0
    mean: Array | float = 0.0

    def level(self, weights: Array) -> Array:
        """Return the intercepts, for which the mean row has the mean target."""
        mean, n = np.asarray(self.mean), len(weights)
        return np.asarray(mean[n:] - mean[:n] @ weights)

    def merge(self, other: Self) -> Self:
        """Return the sums over the rows of both."""
        weight, n = self.weight + other.weight, len(self.gram)
        if min(self.weight, other.weight) == 0:
            return self if other.weight == 0 else other
        step = np.asarray(other.mean) - np.asarray(self.mean)
        between = (np.sqrt(self.weight * (other.weight / weight)) * step)[None, :]
        joined = super().merge(other).change(between[:, :n], between[:, n:], 0.0, +1)
        return replace(joined, weight=weight, mean=self.mean + step * (other.weight / weight))

    def change_rows(self, X: Array, y: Array, weights: Array, share: float, sign: int) -> Self:
        """Add rows, or remove them; a row of weight 1 adds `share` to the normaliser."""
        rows, n = np.hstack([X, y]), X.shape[1]
        weight, mean = float(weights.sum()), np.average(rows, axis=0, weights=weights)
        after = self.weight + sign * weight
        new_mean = self.mean + (mean - self.mean) * (sign * weight / after)
        # Between the mean of these rows and that of the others.
        others, of_others = (self.weight, self.mean) if sign > 0 else (after, new_mean)
        between = np.sqrt(others * (weight / (others + weight))) * (mean - of_others)
        contrasts = np.vstack([np.sqrt(weights)[:, None] * (rows - mean), between])
        changed = self.change(contrasts[:, :n], contrasts[:, n:], share * weight, sign)
        return replace(changed, weight=after, mean=new_mean)
