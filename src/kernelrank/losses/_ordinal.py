"""Hinge loss of ordered classes with optimal thresholds, as a function of the scores."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank._dense import dot
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.losses._pairwise import Risk, rounding_of

Vector = NDArray[np.float64]


class OrdinalHinge:
    r"""Mean hinge loss of all rows at all thresholds between ordered classes, minimised over the thresholds.

    With m rows of classes 0 ... r-1,

    .. math:: \min_b \frac{1}{m (r - 1)} \sum_{k=1}^{r-1} \Bigl( \sum_{y_i < k} \max(0, 1 + p_i - b_k)
              + \sum_{y_i \ge k} \max(0, 1 - p_i + b_k) \Bigr),

    the losses of eq. 4 of [1]_: each row is compared with each threshold, not only with those next to its class. This
    keeps the thresholds in order [2]_ without a constraint.

    Parameters
    ----------
    classes : ndarray of shape (n_samples,)
        Class of each row, 0 to r-1; each class must occur.
    sample_weight : ndarray of shape (n_samples,), optional
        Positive weights of the rows for a weighted mean.

    Notes
    -----
    At a threshold with scores :math:`l_1 \ge l_2 \ge \ldots` below and :math:`h_1 \le h_2 \le \ldots` above it, the
    minimum over b is :math:`\sum_j \max(0, 2 + l_j - h_j)`: if the score of a lower row is above that of a higher row
    minus 2, no b gives both rows a margin of 1. The loss is therefore a convex function of the scores, and the
    slopes of its tangent planes sum to zero. Rows with equal scores share their loss, so the order of rows makes no
    difference. An evaluation takes O(m log m + m r).

    References
    ----------
    .. [1] Díez, del Coz, Bahamonde: A support vector method for ranking minimizing the number of swapped pairs (2006).
    .. [2] Chu, Keerthi: New approaches to support vector ordinal regression. ICML 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank.losses import OrdinalHinge
    >>> loss = OrdinalHinge(np.array([0, 1, 2]))
    >>> loss(np.array([-2.0, 0.0, 2.0])).value
    0.0
    >>> loss.thresholds(np.array([-2.0, 0.0, 2.0]))
    array([-1.,  1.])
    """

    def __init__(self, classes: NDArray[np.integer[Any]], sample_weight: Vector | None = None) -> None:
        self._classes, self._weights = classes, sample_weight
        self._n_thresholds = int(classes.max())
        if self._n_thresholds == 0:
            raise NoComparablePairsError(
                f"There is only one class (n_samples = {len(classes)}); at least two are required."
            )
        total = len(classes) if sample_weight is None else sample_weight.sum()
        self._scale = 1.0 / (total * self._n_thresholds)

    def __call__(self, scores: Vector) -> Risk:
        """Evaluate the loss."""
        ordered = self._sort(scores - scores.mean())  # g sums to zero: a common offset would only cost precision
        g, paid = np.zeros(len(scores)), 0.0  # g is in the order of the scores as well
        for k in range(self._n_thresholds):
            below = ordered.classes <= k
            low, high = ordered.sides(below)
            amount = _matched(low, high)
            if amount > 0:
                # Low rows contribute from some score on, high rows up to some score; rows with this score in part.
                equal, beyond = ordered.places(-low.last(amount))
                g[beyond:] += ordered.mass(below, slice(beyond, None))
                g[equal:beyond] += low.share(amount) * ordered.mass(below, slice(equal, beyond))
                equal, beyond = ordered.places(high.last(amount))
                g[:equal] -= ordered.mass(~below, slice(equal))
                g[equal:beyond] -= high.share(amount) * ordered.mass(~below, slice(equal, beyond))
                paid += amount
        g *= self._scale
        offset = 2.0 * paid * self._scale
        value = offset + dot(g, ordered.scores) + rounding_of(scores)
        by_row = np.empty_like(g)
        by_row[ordered.rows] = g
        return Risk(value, offset, by_row)

    def thresholds(self, scores: Vector) -> Vector:
        """Return the best thresholds for given scores, in ascending order.

        Where an interval is optimal, its midpoint is chosen.

        Parameters
        ----------
        scores : ndarray of shape (n_samples,)
            Scores of the rows.

        Returns
        -------
        ndarray of shape (n_classes - 1,)
            The thresholds.
        """
        ordered = self._sort(scores)
        found = np.empty(self._n_thresholds)
        for k in range(self._n_thresholds):
            low, high = ordered.sides(ordered.classes <= k)
            amount = _matched(low, high)
            # A contributing row has its margin beyond b, and the other rows must not begin to contribute.
            least = max(1.0 - low.following(amount), high.last(amount) - 1.0)
            most = min(1.0 - low.last(amount), high.following(amount) - 1.0)
            found[k] = (least + most) / 2
        return np.maximum.accumulate(found)  # in order except for rounding

    def _sort(self, scores: Vector) -> _Ordered:
        rows = np.argsort(scores)
        return _Ordered(rows, scores[rows], self._classes[rows], None if self._weights is None else self._weights[rows])


class _Ordered(NamedTuple):
    """Rows in the order of their scores."""

    rows: NDArray[np.intp]
    scores: Vector
    classes: NDArray[np.integer[Any]]
    weights: Vector | None

    def sides(self, below: NDArray[np.bool_]) -> tuple[_Side, _Side]:
        """Split the rows at a threshold."""
        low, high = np.flatnonzero(below)[::-1], np.flatnonzero(~below)
        return _Side(-self.scores[low], self._sums(low)), _Side(self.scores[high], self._sums(high))

    def _sums(self, places: NDArray[np.intp]) -> Vector:
        return np.arange(1.0, len(places) + 1) if self.weights is None else np.cumsum(self.weights[places])

    def places(self, score: float) -> tuple[int, int]:
        """Return the start and end of the rows with this score."""
        return int(np.searchsorted(self.scores, score, "left")), int(np.searchsorted(self.scores, score, "right"))

    def mass(self, chosen: NDArray[np.bool_], part: slice) -> NDArray[Any]:
        """Return the weights of a slice of the rows, zero for rows that are not chosen."""
        return chosen[part] if self.weights is None else np.where(chosen[part], self.weights[part], 0.0)


class _Side(NamedTuple):
    """Rows on one side of a threshold, in descending order of their violation."""

    keys: Vector  # scores or negated scores, in ascending order
    sums: Vector  # cumulative sums of weights

    def last(self, amount: float) -> float:
        """Return the key of the last contributing row, given the total weight of contributing rows."""
        return float(self.keys[np.searchsorted(self.sums, amount, "left")]) if amount > 0 else -np.inf

    def following(self, amount: float) -> float:
        """Return the key of the first row that does not contribute fully."""
        place = np.searchsorted(self.sums, amount, "right")
        return float(self.keys[place]) if place < len(self.keys) else np.inf

    def share(self, amount: float) -> float:
        """Return the share of their weight that rows with the key of the last one contribute: equal scores share."""
        last = self.last(amount)
        start, stop = np.searchsorted(self.keys, last, "left"), np.searchsorted(self.keys, last, "right")
        before = self.sums[start - 1] if start else 0.0
        return float((amount - before) / (self.sums[stop - 1] - before))


def _matched(low: _Side, high: _Side) -> float:
    """Return the number or weight of contributing rows per side, which is the same on both sides.

    The first rows of both sides are matched, then the second ones, and so on, while their scores are less than both
    margins apart. The distance increases, so a binary search takes O(log^2 m).
    """

    def is_clear(place: int) -> bool:
        before = low.sums[place - 1] if place else 0.0
        partner = np.searchsorted(high.sums, before, "right")
        return partner == len(high.keys) or bool(low.keys[place] + high.keys[partner] >= 2.0)

    last = bisect_left(range(len(low.keys)), True, key=is_clear) - 1
    if last < 0:
        return 0.0
    n_partners = bisect_left(range(len(high.keys)), True, key=lambda each: low.keys[last] + high.keys[each] >= 2.0)
    return float(min(low.sums[last], high.sums[n_partners - 1]))
