r"""The pairwise hinge of one ranking whose rows are in several places, from counts of scores in bins.

Rows are divided into groups by utility: every row of a higher group should have a higher score than every row of a
lower one. Pairs inside a group are counted exactly where the group is. Pairs of different groups are counted from
histograms: with the bin ``u = floor(K p)`` of a score p, and a whole number K of bins per unit,

- a pair (a lower, b upper) with ``u_b < u_a + K`` is violated for sure: ``p_b < p_a + 1``,
- one with ``u_b > u_a + K`` is not,
- one with ``u_b = u_a + K`` is ambiguous: its hinge is below ``1 / K``.

Any set of pairs makes a plane below the risk, so the sure pairs make a valid one, and the risk exceeds the plane by at
most ``(ambiguous pairs) / (K N)``. That is of the order of ``1 / K^2``. Bins are compared as integers, so the counts of
the lower and of the upper rows are those of the same pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank._dense import dot
from kernelrank.losses._pairwise import PairwiseHinge, Risk

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Groups = NDArray[np.int32]


class Histogram(NamedTuple):
    """Rows, or their weights, of each group in bins from `low` on; without bins if these would be too many.

    Attributes
    ----------
    least, greatest : float
        The smallest and the largest score.
    low : int
        Number of the first bin.
    counts : ndarray of shape (n_groups, n_bins) or None
        Rows in each bin, or their weights; None if bins would be too many.
    """

    least: float
    greatest: float
    low: int
    counts: Matrix | None


class Outside(NamedTuple):
    """Rows, or their weights, of other groups by bin, for each group of a part.

    Attributes
    ----------
    resolution : int
        Bins per unit, K.
    low : int
        The first bin.
    above, below : ndarray of shape (n_groups, n_bins + 1)
        Element k counts the rows of higher (lower) groups in bins below ``low + k``.
    centre : float
        A score near all others, which is subtracted before sums are taken.
    """

    resolution: int
    low: int
    above: Matrix
    below: Matrix
    centre: float


class BinnedHinge:
    """The share of some rows in the average hinge over all pairs of one ranking.

    Parameters
    ----------
    groups : ndarray of shape (n_rows,)
        Group of each row, 0, 1, ... among those of these rows.
    n_groups : int
        Number of groups.
    weights : ndarray of shape (n_rows,) or None
        Weights of the rows.
    within : PairwiseHinge or None
        The hinge of the pairs inside the groups; None if there are none.
    total : float
        Pairs of all rows, or their weight.
    """

    def __init__(
        self, groups: Groups, n_groups: int, weights: Vector | None, within: PairwiseHinge | None, total: float
    ) -> None:
        self._groups, self._n_groups, self._weights = groups, n_groups, weights
        self._within, self._total = within, total

    def histogram(self, scores: Vector, resolution: int, most: int) -> Histogram:
        """Count the scores of each group in bins.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,)
            Scores of the rows.
        resolution : int
            Bins per unit.
        most : int
            Largest number of bins.

        Returns
        -------
        Histogram
            Counts, or no bins if these would be too many.
        """
        least, greatest = float(scores.min()), float(scores.max())
        if not (np.isfinite(least) and np.isfinite(greatest) and (greatest - least) * resolution < most - 1):
            return Histogram(least, greatest, 0, None)
        bins = _bins(scores, resolution)
        low = int(bins.min())
        n_bins = int(bins.max()) - low + 1
        counts = np.bincount(
            self._groups * n_bins + (bins - low), self._weights, minlength=self._n_groups * n_bins
        ).reshape(self._n_groups, n_bins)
        return Histogram(least, greatest, low, counts.astype(np.float64, copy=False))

    def __call__(self, scores: Vector, outside: Outside) -> Risk:
        """Evaluate the share of these rows; the shares of all parts add up to the value and to a plane below it."""
        above, below = _opposite(outside)
        places = _bins(scores, outside.resolution) - outside.low
        if self._n_groups > 1:
            places += self._groups * above.shape[1]
        c, d = above.ravel().take(places, mode="clip"), below.ravel().take(places, mode="clip")
        if self._weights is not None:
            c *= self._weights
            d *= self._weights
        offset = float(c.sum()) / self._total
        g = np.subtract(c, d, out=c)
        g /= self._total
        value = offset + dot(g, scores - outside.centre)
        if self._within is not None:
            inside = self._within(scores)
            value, offset = value + inside.value, offset + inside.offset
            g += inside.g
        return Risk(value, offset, g)


def _opposite(outside: Outside) -> tuple[Matrix, Matrix]:
    """Return how many rows, or their weights, a row of each group and bin forms violated pairs with."""
    n_bins, K = outside.above.shape[1] - 1, outside.resolution
    bins = np.arange(n_bins)
    above = outside.above[:, np.minimum(bins + K, n_bins)]
    below = outside.below[:, n_bins:] - outside.below[:, np.maximum(bins - K + 1, 0)]
    return above, below


class Pooled:
    """Histograms of all parts, in common bins.

    Parameters
    ----------
    histograms : sequence of Histogram
        Of each part, all with bins.
    groups : sequence of ndarray
        Numbers of the groups of each part, from the lowest utilities to the highest.
    resolution : int
        Bins per unit.
    """

    def __init__(self, histograms: Sequence[Histogram], groups: Sequence[NDArray[np.intp]], resolution: int) -> None:
        self._groups, self._resolution = groups, resolution
        found: list[tuple[int, Any]] = [(each.low, each.counts) for each in histograms]
        self._low = min(low for low, _ in found)
        n_bins = max(low + counts.shape[1] for low, counts in found) - self._low
        self._counts = np.zeros((1 + max(int(each.max()) for each in groups), n_bins))
        for (low, counts), numbers in zip(found, groups, strict=True):
            self._counts[numbers, low - self._low : low - self._low + counts.shape[1]] += counts
        # Bins below k, of groups above and below.
        up = np.cumsum(np.pad(self._counts, ((0, 0), (1, 0))), axis=1)
        through = np.cumsum(up, axis=0)
        self._below, self._above = through - up, through[-1] - through
        self._centre = 0.5 * (min(each.least for each in histograms) + max(each.greatest for each in histograms))

    def ambiguous(self) -> float:
        """Return the number of pairs, or their weight, that may be violated or not.

        Returns
        -------
        float
            The number, or the weight.
        """
        n_bins, K = self._counts.shape[1], self._resolution
        if n_bins <= K:
            return 0.0
        above = np.diff(self._above, axis=1)
        return float((self._counts[:, : n_bins - K] * above[:, K:]).sum())

    def outside(self, part: int) -> Outside:
        """Return what a part has to know of the others.

        Parameters
        ----------
        part : int
            Number of the part.

        Returns
        -------
        Outside
            Rows of the other parts by bin.
        """
        groups = self._groups[part]
        return Outside(self._resolution, self._low, self._above[groups], self._below[groups], self._centre)


def _bins(scores: Vector, resolution: int) -> NDArray[np.int64]:
    return np.floor(scores * resolution).astype(np.int64)
