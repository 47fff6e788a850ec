"""Losses of pairs of scores: the hinge and its square."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelrank._dense import dot
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.pairs import Pairs

Vector = NDArray[np.float64]
QueryWeighting = Literal["query", "pair"]

_HOPELESS = 2.0**40  # scores further apart leave a margin of 1 fewer than four digits
_WIDE = 1024.0  # scores further apart lose more than six digits to the square of that


class Risk(NamedTuple):
    """A loss at one score vector p, and the plane that touches it there.

    For every other score vector p', ``loss(p') >= offset + g . p'``, with equality at p. Where the scores are so far
    apart that their rounding shows beside a margin of 1, `value` is an upper bound: no step is then worth taking that
    only seems to lower it.
    """

    value: float
    offset: float
    g: Vector


class Loss(Protocol):
    """A convex, non-negative function of scores that does not change when a constant is added to a query."""

    def __call__(self, scores: Vector) -> Risk:
        """Evaluate the loss."""


class SmoothLoss(Loss, Protocol):
    """A loss with second derivatives."""

    rounding: float  # bound on the error of the value evaluated last, where it is more than the last digits

    def curvature(self, q: Vector) -> Vector:
        """Product of the second derivative, at the scores evaluated last, with q."""

    def diagonal(self) -> Vector:
        """Diagonal of the second derivative, at the scores evaluated last."""


def rounding_of(scores: Vector) -> float:
    """Bound the rounding of differences of scores, where it shows beside a margin of 1."""
    spread = _spread(scores)
    return float(np.finfo(np.float64).eps) * spread if _HOPELESS < spread < np.inf else 0.0


def _spread(scores: Vector) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # whoever has infinite scores will see it
        return float(np.ptp(scores))


class _PairwiseLoss:
    """Average over pairs of rows, by query or by pair."""

    def __init__(self, pairs: Pairs, query_weighting: QueryWeighting = "query") -> None:
        totals = np.asarray(pairs.pairs_per_query, dtype=np.float64)
        comparable = totals > 0
        if not comparable.any():
            raise NoComparablePairsError(
                f"There is no pair to learn from (n_samples = {pairs.n_rows}): no two rows of a common query have"
                " different values of y and positive weight. Check y, and whether qid separates every row from the"
                " others."
            )
        self._violated = pairs.violated()
        self._weighted = np.asarray(pairs.pairs_per_query).dtype.kind == "f"
        if query_weighting == "query":
            with np.errstate(over="ignore"):
                self._scale = np.divide(1.0 / comparable.sum(), totals, out=np.zeros_like(totals), where=comparable)
            if not np.isfinite(self._scale).all():
                raise ValueError(
                    "The weights of some query are too small beside those of another for float64: the pairs of query"
                    f" {int(np.argmax(self._scale))} weigh {totals[np.argmax(self._scale)]:.3g} together. A query"
                    " counts the same whatever its weights are multiplied by: divide those of each query by their"
                    " largest."
                )
        else:
            self._scale = np.where(comparable, 1.0 / totals.sum(), 0.0)


class PairwiseHinge(_PairwiseLoss):
    """Average of ``max(0, 1 + p[i] - p[j])`` over pairs of rows in which j should be above i.

    Parameters
    ----------
    pairs : UtilityPairs or PreferencePairs
    query_weighting : {"query", "pair"}, default="query"
        "query": the mean inside each query, then the mean over the queries that have a
        comparable pair. "pair": every comparable pair of the data counts the same.

    Notes
    -----
    With the counts c, d of :func:`kernelrank.pairs.count_violations` and N pairs,
    ``value = (sum c + (c - d) . p) / N``, ``g = (c - d) / N`` and ``offset = sum c / N``
    (Airola et al. 2011, lemmas 1 and 2). The offset comes from integers: it is never the
    difference of two nearly equal numbers. O(m log m) an evaluation.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank.losses import PairwiseHinge
    >>> from kernelrank.pairs import UtilityPairs
    >>> loss = PairwiseHinge(UtilityPairs([1, 2, 3]))
    >>> loss(np.zeros(3)).value
    1.0
    """

    def __call__(self, scores: Vector) -> Risk:
        """Evaluate the loss."""
        g, violations, inner = self._violated.count(scores, self._scale)
        offset = dot(self._scale, violations)
        return Risk(offset + dot(self._scale, inner) + rounding_of(scores), offset, g)


class PairwiseSquaredHinge(_PairwiseLoss):
    """Average of ``max(0, 1 + p[i] - p[j])^2`` over pairs of rows in which j should be above i.

    Parameters
    ----------
    pairs : UtilityPairs or PreferencePairs
    query_weighting : {"query", "pair"}, default="query"
        As for :class:`PairwiseHinge`.

    Notes
    -----
    With c, d as there, and L the Laplacian of the graph whose edges are the violated pairs,

    - ``value = (sum c + 2 (c - d) . p + p . L p) / N``,
    - ``g = 2 (c - d + L p) / N``, and the second derivative is ``2 L / N``.

    L p takes two sweeps over the rows in order of score. The order is kept: products of the
    second derivative with other vectors need no other sort. O(m log m) each.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank.losses import PairwiseSquaredHinge
    >>> from kernelrank.pairs import UtilityPairs
    >>> loss = PairwiseSquaredHinge(UtilityPairs([1, 2]))
    >>> loss(np.array([0.5, 0.0]))
    Risk(value=2.25, offset=0.75, g=array([ 3., -3.]))
    """

    rounding = 0.0

    def __call__(self, scores: Vector) -> Risk:
        """Evaluate the loss; `curvature` then refers to these scores."""
        g, violations, inner = self._violated.count(scores, self._scale)
        quadratic = self._add_laplacian(scores, g)
        g *= 2.0
        constant = dot(self._scale, violations)
        value = constant + 2.0 * dot(self._scale, inner) + quadratic
        # A hinge of h, of scores that are off by e, has the square (h + e)^2 at most.
        error = rounding_of(scores)
        error *= 2.0 * float(np.sqrt(max(value, 0.0))) + error
        self.rounding += error
        return Risk(value + error, constant - quadratic, g)

    def _add_laplacian(self, scores: Vector, g: Vector) -> float:
        """Add L p / N to g, and return p . L p / N."""
        self.rounding = 0.0
        spread = _spread(scores)
        if not _WIDE < spread < np.inf:
            _, square = self._violated.multiply(scores, self._scale, add_to=g)
            return dot(self._scale, square)
        # Violated pairs may be close together and far from the others: their differences would drown. Sums of
        # whole numbers are exact, and those of the rest are small; but weights are no whole numbers.
        if self._weighted:
            self.rounding = 4.0 * float(np.finfo(np.float64).eps * spread**2)
        whole = np.rint(scores)
        rest = scores - whole
        product, square = self._violated.multiply(whole, self._scale)
        g += product
        _, square_of_rest = self._violated.multiply(rest, self._scale, add_to=g)
        return dot(self._scale, square + square_of_rest) + 2.0 * dot(rest, product)

    def curvature(self, q: Vector) -> Vector:
        """Product of the second derivative, at the scores evaluated last, with q."""
        product, _ = self._violated.multiply(q, self._scale)
        product *= 2.0
        return product

    def diagonal(self) -> Vector:
        """Diagonal of the second derivative, at the scores evaluated last."""
        return 2.0 * self._violated.degrees(self._scale)
