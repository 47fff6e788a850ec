"""The hinge of ordered classes and the thresholds between them, as a function of scores alone."""

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
    r"""Mean hinge of all rows at all thresholds between ordered classes, with the best thresholds for the scores.

    With m rows of classes 0 ... r-1,

    .. math:: \min_b \frac{1}{m (r - 1)} \sum_{k=1}^{r-1} \Big( \sum_{y_i < k} \max(0, 1 + p_i - b_k)
              + \sum_{y_i \ge k} \max(0, 1 - p_i + b_k) \Big),

    the losses of eq. 4 of [1]_: every row is compared with every threshold, not only with those next to its class.
    That keeps the thresholds in order [2]_, so no constraint has to.

    Parameters
    ----------
    classes : ndarray of shape (n_samples,)
        The class of each row, 0 to r-1; none is missing.
    sample_weight : ndarray of shape (n_samples,), optional
        Positive weights of the rows; the mean is a weighted one.

    Notes
    -----
    At a threshold with scores :math:`l_1 \ge l_2 \ge \dots` below and :math:`h_1 \le h_2 \le \dots` above it, the
    minimum over b is :math:`\sum_j \max(0, 2 + l_j - h_j)`: while a lower row's score reaches within 2 of a higher
    row's, one of the two pays whatever b is, and b cannot favour both. So the loss is a convex function of the scores,
    whose planes have slopes that sum to zero. Rows with equal scores share what they pay: the order of rows makes no
    difference. O(m log m + m r) an evaluation.

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
                f"There is one class only (n_samples = {len(classes)}): two at least are needed."
            )
        total = len(classes) if sample_weight is None else sample_weight.sum()
        self._scale = 1.0 / (total * self._n_thresholds)

    def __call__(self, scores: Vector) -> Risk:
        """Evaluate the loss."""
        ordered = self._sort(scores - scores.mean())  # g sums to zero: a common offset would only cost digits
        g, paid = np.zeros(len(scores)), 0.0  # g in order of score as well
        for k in range(self._n_thresholds):
            below = ordered.classes <= k
            low, high = ordered.sides(below)
            amount = _matched(low, high)
            if amount > 0:
                # Low rows pay from some score on, high rows up to some score; those with just this score in part.
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
        """Find the best thresholds for these scores, from the lowest to the highest.

        Where all of an interval is best, its middle is taken.
        """
        ordered = self._sort(scores)
        found = np.empty(self._n_thresholds)
        for k in range(self._n_thresholds):
            low, high = ordered.sides(ordered.classes <= k)
            amount = _matched(low, high)
            # A row that pays has its margin beyond b, and one that does not pay must not begin to.
            least = max(1.0 - low.following(amount), high.last(amount) - 1.0)
            most = min(1.0 - low.last(amount), high.following(amount) - 1.0)
            found[k] = (least + most) / 2
        return np.maximum.accumulate(found)  # in order but for rounding

    def _sort(self, scores: Vector) -> _Ordered:
        rows = np.argsort(scores)
        return _Ordered(rows, scores[rows], self._classes[rows], None if self._weights is None else self._weights[rows])


class _Ordered(NamedTuple):
    """Rows in order of score."""

    rows: NDArray[np.intp]
    scores: Vector
    classes: NDArray[np.integer[Any]]
    weights: Vector | None

    def sides(self, below: NDArray[np.bool_]) -> tuple[_Side, _Side]:
        """Divide the rows at a threshold."""
        low, high = np.flatnonzero(below)[::-1], np.flatnonzero(~below)
        return _Side(-self.scores[low], self._sums(low)), _Side(self.scores[high], self._sums(high))

    def _sums(self, places: NDArray[np.intp]) -> Vector:
        return np.arange(1.0, len(places) + 1) if self.weights is None else np.cumsum(self.weights[places])

    def places(self, score: float) -> tuple[int, int]:
        """Return where rows with this score begin and end."""
        return int(np.searchsorted(self.scores, score, "left")), int(np.searchsorted(self.scores, score, "right"))

    def mass(self, chosen: NDArray[np.bool_], part: slice) -> NDArray[Any]:
        """Return the weights of a part of the rows, zero where they are not chosen."""
        return chosen[part] if self.weights is None else np.where(chosen[part], self.weights[part], 0.0)


class _Side(NamedTuple):
    """The rows on one side of a threshold, those that are the farthest on the wrong side of it first."""

    keys: Vector  # their scores, or minus their scores: never falling
    sums: Vector  # of their weights so far

    def last(self, amount: float) -> float:
        """Return the key of the last row that pays, if the first rows pay an amount together."""
        return float(self.keys[np.searchsorted(self.sums, amount, "left")]) if amount > 0 else -np.inf

    def following(self, amount: float) -> float:
        """Return the key of the first row that does not pay in full."""
        place = np.searchsorted(self.sums, amount, "right")
        return float(self.keys[place]) if place < len(self.keys) else np.inf

    def share(self, amount: float) -> float:
        """Return what part of their weight rows pay that have the key of the last: rows with equal scores share."""
        last = self.last(amount)
        start, stop = np.searchsorted(self.keys, last, "left"), np.searchsorted(self.keys, last, "right")
        before = self.sums[start - 1] if start else 0.0
        return float((amount - before) / (self.sums[stop - 1] - before))


def _matched(low: _Side, high: _Side) -> float:
    """How many rows, or how much weight, pay on each side: as much on the one as on the other.

    The first of the one side is matched with the first of the other, and so on while their scores are less than both
    margins apart. They get ever farther apart: O(log^2 m).
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
