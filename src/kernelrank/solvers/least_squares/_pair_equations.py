r"""The two equations of each pair of held-out rows.

With the residual operator W (``_residual.py``) and ``r = W y``, the rows i and j of a pair have the held-out residuals

    ``e_i = (W_jj r_i - W_ij r_j) / det``,  ``det = W_ii W_jj - W_ij^2``.

Compiled code solves them for NumPy's arrays, where W is the same for all pairs. It differs for a pair with a basis row,
because features are lost with it (``_basis.py``): W becomes ``W + Y Y'``, with one column of Y per basis row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from kernelrank._arrays import Array, take, take_rows
from kernelrank.solvers.least_squares._blocks import blocks

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class PairIndex(NamedTuple):
    """Numbers of the first and the second rows of pairs: of one pair each, or of all combinations."""

    first: Rows
    second: Rows
    combined: bool = False

    @property
    def same(self) -> NDArray[np.bool_]:
        """Mask of the pairs of a row with itself."""
        return np.asarray((self.first[:, None] if self.combined else self.first) == self.second)

    def map(self, numbers: Rows) -> PairIndex:
        """Return the pairs with other numbers for the rows."""
        return PairIndex(numbers[self.first], numbers[self.second], self.combined)

    def of_first(self, x: Array) -> Array:
        """Return the elements, along the last axis, of the first rows; to be broadcast against those of the second."""
        found = take(x, self.first, axis=x.ndim - 1)
        return found[..., None] if self.combined else found

    def of_second(self, x: Array) -> Array:
        """Return the elements, along the last axis, of the second rows."""
        found = take(x, self.second, axis=x.ndim - 1)
        return found[..., None, :] if self.combined else found

    def products(self, A: Array, i: Rows, B: Array, j: Rows, factors: Array | None = None) -> Array:
        """Return products of rows ``i`` of A and rows ``j`` of B, in the shape of the pairs."""
        if self.combined:
            left = take(A, i) if factors is None else take(A, i) * factors
            return take(left @ B.T, j, axis=1) if B.shape[0] < len(j) else left @ take_rows(B, j).T
        xp, found = array_namespace(A), []
        for some in [slice(0, 0), *blocks(len(i), A.shape[1])]:
            left = take(A, i[some])
            if factors is not None:
                left *= factors
            found.append(xp.vecdot(left, take(B, j[some])))
        return xp.concat(found)


class PairCounts(NamedTuple):
    """Numbers of pairs with different targets, per output."""

    halves: Counts  # two per pair in the right order, one per tie
    pairs: Counts

    @property
    def concordance(self) -> NDArray[np.float64]:
        """Share of the pairs in the right order; NaN if there are none."""
        unknown = np.full(len(self.pairs), np.nan)
        return np.asarray(np.divide(self.halves, 2 * self.pairs, out=unknown, where=self.pairs > 0))


class LostOfPairs(NamedTuple):
    """Columns of Y for pairs of basis rows i and j; arrays of the shape of the pairs."""

    i_of_i: Array  # Y in row i, of the column of i
    j_of_i: Array
    i_of_j: Array
    j_of_j: Array
    parallel: Array  # product of the two columns Q, of length 1 or 0
    of_i: Array  # Y'y, of the column of i; the first axis are the outputs
    of_j: Array


@dataclass(frozen=True)
class PairEquations:
    """Equations of pairs of rows i and j; arrays that can be broadcast to the shape of the pairs.

    Attributes
    ----------
    first, second, between : array
        W_ii, W_jj and W_ij.
    r_first, r_second : array
        Residuals W y; their first axis are the outputs.
    products : array
        ``y' W z`` of the first output y and each output z.
    s_first, s_second : array
        Scales of the errors of both equations (``_ties.py``).
    """

    first: Array
    second: Array
    between: Array
    r_first: Array
    r_second: Array
    products: Array
    s_first: Array
    s_second: Array

    def without(self, lost: LostOfPairs, scale: float) -> PairEquations:
        """Return the equations of models without some features; errors of the columns of Y have a scale."""
        # The second column of Q, less its part along the first.
        c = 1.0 / (1.0 - lost.parallel**2) ** 0.5
        i, j = (lost.i_of_j - lost.parallel * lost.i_of_i) * c, (lost.j_of_j - lost.parallel * lost.j_of_i) * c
        rest = (lost.of_j - lost.parallel * lost.of_i) * c
        return PairEquations(
            self.first + lost.i_of_i**2 + i**2,
            self.second + lost.j_of_i**2 + j**2,
            self.between + lost.i_of_i * lost.j_of_i + i * j,
            self.r_first + lost.i_of_i * lost.of_i + i * rest,
            self.r_second + lost.j_of_i * lost.of_i + j * rest,
            self.products + lost.of_i[:1, ...] * lost.of_i + rest[:1, ...] * rest,
            self.s_first + scale * (lost.i_of_i**2 + i**2) ** 0.5,
            self.s_second + scale * (lost.j_of_i**2 + j**2) ** 0.5,
        )

    def solve(self) -> tuple[Array, Array]:
        """Return the held-out residuals of both rows."""
        inverse = self._inverse
        return (
            (self.second * self.r_first - self.between * self.r_second) * inverse,
            (self.first * self.r_second - self.between * self.r_first) * inverse,
        )

    def predict(self, y_first: Array, y_second: Array, tolerances: Floats, limits: Floats) -> tuple[Array, Array]:
        """Return the predictions of both rows; those of a tie have the same value."""
        xp, (first, second) = array_namespace(y_first), self.solve()
        slack = self.amplify(1.0, -1.0)
        noise = xp.stack([_noise(slack, *each) for each in zip(tolerances, limits, strict=True)])
        return equal_if_tied(y_first - first, y_second - second, noise)

    def count(
        self, y_first: Array, y_second: Array, tolerances: Floats, limits: Floats, alone: Array | bool
    ) -> tuple[Counts, Counts]:
        """Count, per output, two for a pair in the right order and one for a tie; and all pairs.

        Pairs that are not `alone` come in the other order as well, and are counted where the first row is better.
        """
        halves, pairs = np.zeros((2, y_first.shape[0]), np.int64)
        for k, (target, higher, lower) in enumerate(self.orders(y_first, y_second, tolerances, limits)):
            better, worse = target > 0.0, (target < 0.0) & alone
            pairs[k] = _count(better) + _count(worse)
            halves[k] = pairs[k] + _count(better & higher) + _count(worse & lower)
            halves[k] -= _count(better & lower) + _count(worse & higher)
        return halves, pairs

    def orders(
        self, y_first: Array, y_second: Array, tolerances: Floats, limits: Floats
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Yield, per output, differences of the targets, and where the first prediction is higher, and lower.

        Predictions are equal if they differ by no more than errors of the equations make of them: `tolerances`, in
        units of the rows' scales; but only up to the limit of their output.
        """
        inverse, slack = self._inverse, self.amplify(1.0, -1.0)
        first, second = (self.second + self.between) * inverse, (self.first + self.between) * inverse
        for k in range(y_first.shape[0]):
            target = y_first[k, ...] - y_second[k, ...]
            predicted = target - first * self.r_first[k, ...] + second * self.r_second[k, ...]
            noise = _noise(slack, tolerances[k], limits[k])
            yield target, predicted > noise, predicted < -noise

    def amplify(self, by_first: Array | float, by_second: Array | float) -> Array:
        """Return the factor by which errors of the equations, in units of their scales, change a sum of both residuals.

        The determinant has lost digits where it is much less than its first term: the bound allows for that.
        """
        inverse = self._inverse
        first = (by_first * self.second - by_second * self.between) * inverse
        second = (by_second * self.first - by_first * self.between) * inverse
        return abs(self.first * self.second * inverse) * (abs(first) * self.s_first + abs(second) * self.s_second)

    @property
    def _inverse(self) -> Array:
        return 1.0 / (self.first * self.second - self.between**2)


def _noise(slack: Array, tolerance: float, limit: float) -> Array:
    noise = slack * float(tolerance)
    return array_namespace(noise).where(noise < float(limit), noise, float(limit))


def equal_if_tied(first: Array, second: Array, noise: Array) -> tuple[Array, Array]:
    """Return predictions of pairs, the same for both rows if they differ by no more than `noise`."""
    xp = array_namespace(first)
    tied, mean = abs(first - second) <= noise, (first + second) / 2
    return xp.where(tied, mean, first), xp.where(tied, mean, second)


def _count(mask: Array) -> int:
    return int(array_namespace(mask).count_nonzero(mask))
