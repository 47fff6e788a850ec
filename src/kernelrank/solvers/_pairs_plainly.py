r"""All pairs of held-out rows, in the plain words of the formula: for arrays that compiled code does not take.

With ``W = I - A`` (``_hold_out.py``) and residuals r, the rows i and j of a pair have the held-out residuals

    ``e_i = (W_jj r_i - W_ij r_j) / det``,  ``det = W_ii W_jj - W_ij^2``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from kernelrank._arrays import Array, slices

Counts = NDArray[np.int64]

_BLOCK_ELEMENTS = 1 << 22  # of some rows of W: 32 MiB


@dataclass(frozen=True)
class PlainPairs:
    """Every row with every other.

    Attributes
    ----------
    vectors : array of shape (m, r)
    factors : array of shape (r,)
    shift : float
        ``W = vectors diag(factors) vectors' + shift`` off its diagonal.
    diagonal : array of shape (m,)
        Of W.
    residuals, y : array of shape (m, p)
    """

    vectors: Array
    factors: Array
    shift: float
    diagonal: Array
    residuals: Array
    y: Array

    def predict(self) -> Array:
        """Return F, ``F[i, j]`` the prediction of row i with i and j held out; NaN for i = j; shape (p, m, m)."""
        xp, (m, p) = array_namespace(self.y), self.y.shape
        found = xp.empty((p, m, m), dtype=xp.float64, device=device(self.y))
        for rows, W, inverse in self._blocks():
            for k in range(p):
                r, y = self.residuals[:, k], self.y[:, k]
                found[k, rows, :] = y[rows, None] - (self.diagonal * r[rows, None] - W * r) * inverse
        return found

    def count(self, tolerances: NDArray[np.float64]) -> tuple[Counts, Counts]:
        """Count, for each output, two for a pair in the right order and one for equal predictions; and all pairs.

        Predictions are equal if they differ by no more than the residuals' errors, `tolerances`, make of them. The
        determinant has lost digits where it is much less than its first term, and `slack` allows for that.
        """
        halves, pairs = np.zeros((2, self.y.shape[1]), np.int64)
        for rows, W, inverse in self._blocks():
            own, across = self.diagonal[rows, None], self.diagonal
            first, second = (across + W) * inverse, (own + W) * inverse
            slack = abs(own * across * inverse) * (abs(first) + abs(second))
            for k, tolerance in enumerate(tolerances):
                r, y = self.residuals[:, k], self.y[:, k]
                target = y[rows, None] - y
                predicted, noise = target - first * r[rows, None] + second * r, slack * float(tolerance)
                better = target > 0.0  # of a pair that is there twice, the better row comes first once
                halves[k] += _count(better & (predicted > noise)) + _count(better & (predicted >= -noise))
                pairs[k] += _count(better)
        return halves, pairs

    def _blocks(self) -> Iterator[tuple[slice, Array, Array]]:
        """Yield some rows, W between them and all rows, and the inverse determinants; NaN for a row with itself."""
        xp, m = array_namespace(self.y), self.y.shape[0]
        numbers = xp.arange(m, device=device(self.y))
        for rows in slices(m, _BLOCK_ELEMENTS // m):
            W = (self.vectors[rows, :] * self.factors) @ self.vectors.T + self.shift
            determinants = self.diagonal[rows, None] * self.diagonal - W**2
            yield rows, W, 1.0 / xp.where(numbers[rows, None] == numbers, xp.nan, determinants)


def _count(mask: Array) -> int:
    return int(array_namespace(mask).count_nonzero(mask))
