"""Pairwise losses: hinge and squared hinge."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from kernelrank._arrays import spread
from kernelrank._dense import dot
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.pairs import Pairs

Vector = NDArray[np.float64]
QueryWeighting = Literal["query", "pair"]

_WIDEST = 2.0**40  # scores further apart leave fewer than four digits for a margin of 1
_WIDE = 1024.0  # scores further apart lose more than six digits by squaring


class Risk(NamedTuple):
    """Loss at a score vector p, and its tangent plane there.

    For every score vector p', ``loss(p') >= offset + g . p'``, with equality at p. Where the scores are so far apart
    that their rounding is noticeable beside a margin of 1, `value` is an upper bound, so that no step is taken that
    lowers it only by rounding.

    Attributes
    ----------
    value : float
        Loss at p.
    offset : float
        Value of the plane at zero.
    g : ndarray of shape (n_rows,)
        Slope of the plane, a subgradient of the loss.
    """

    value: float
    offset: float
    g: Any


class Loss(Protocol):
    """Convex, non-negative function of scores that is invariant to adding a constant per query."""

    def __call__(self, scores: Vector) -> Risk:
        """Evaluate the loss."""


class SmoothLoss(Loss, Protocol):
    """Loss with second derivatives."""

    rounding: float  # bound on the rounding error of the last value, if it exceeds the last digits

    def curvature(self, q: Vector) -> Vector:
        """Return the product of the second derivative, at the last evaluated scores, with q.

        Parameters
        ----------
        q : ndarray of shape (n_rows,)
            Vector to multiply.

        Returns
        -------
        ndarray of shape (n_rows,)
            The product.
        """

    def diagonal(self) -> Vector:
        """Return the diagonal of the second derivative, at the last evaluated scores.

        Returns
        -------
        ndarray of shape (n_rows,)
            The diagonal.
        """


def rounding_of(scores: Vector) -> float:
    """Return a bound on the rounding of score differences, 0 if it is negligible beside a margin of 1."""
    width = _spread(scores)
    return float(np.finfo(np.float64).eps) * width if _WIDEST < width < np.inf else 0.0


def _spread(scores: Vector) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # infinite scores are handled by the caller
        return spread(scores)


def normaliser(pairs: Pairs, query_weighting: QueryWeighting) -> float:
    """Return by what the sum over pairs is divided: the number of queries with a pair, or the number of pairs.

    Parameters
    ----------
    pairs : Pairs
        Pairs of the rows.
    query_weighting : {"query", "pair"}
        Whether every query or every pair counts the same.

    Returns
    -------
    float
        The number, or the total weight of the pairs.
    """
    totals = np.asarray(pairs.pairs_per_query, dtype=np.float64)
    return float((totals > 0).sum() if query_weighting == "query" else totals.sum())


class _PairwiseLoss:
    """Average over pairs of rows, with equal weight per query or per pair."""

    def __init__(self, pairs: Pairs, query_weighting: QueryWeighting = "query", *, total: float | None = None) -> None:
        if total is None:
            total = normaliser(pairs, query_weighting)
            if total == 0:
                raise NoComparablePairsError(no_pairs(pairs.n_rows, censored=pairs.censored))
        self._violated = pairs.violated()
        self._weighted = np.asarray(pairs.pairs_per_query).dtype.kind == "f"
        totals = np.asarray(pairs.pairs_per_query, dtype=np.float64)
        self._scale = self._violated.factors(scale_of_queries(totals, query_weighting, total))


def scale_of_queries(totals: Vector, query_weighting: QueryWeighting, total: float) -> Vector:
    """Return what a pair of each query counts in the average; 0 for queries without a pair."""
    comparable = totals > 0
    if query_weighting == "pair":
        return np.where(comparable, 1.0 / total, 0.0)
    with np.errstate(over="ignore"):
        scale = np.divide(1.0 / total, totals, out=np.zeros_like(totals), where=comparable)
    if not np.isfinite(scale).all():
        raise ValueError(
            "The weights of some queries are too small relative to others for float64: the pairs of query"
            f" {int(np.argmax(scale))} have a total weight of {totals[np.argmax(scale)]:.3g}."
            " Scaling the weights of a query does not change the loss: divide the weights of each query by"
            " their maximum."
        )
    return scale


def no_pairs(n_rows: int, *, censored: bool = False) -> str:
    """Return the message of an error about rows without a comparable pair.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    censored : bool, default=False
        Whether some utilities are not observed.

    Returns
    -------
    str
        The message.
    """
    differ, check = "different values of y", "y"
    if censored:
        differ, check = "values of y whose order is known, the lower one being observed,", "y, observed"
    return (
        f"There is no pair to learn from (n_samples = {n_rows}): no two rows of the same query have"
        f" {differ} and positive weight. Check {check}, and whether qid gives every row a query of"
        " its own."
    )


class PairwiseHinge(_PairwiseLoss):
    """Average of ``max(0, 1 + p[i] - p[j])`` over pairs of rows in which j should have the higher score.

    Parameters
    ----------
    pairs : UtilityPairs or PreferencePairs
        Pairs of rows.
    query_weighting : {"query", "pair"}, default="query"
        "query": the mean within each query, then the mean over the queries with a comparable pair. "pair": all
        comparable pairs have equal weight.
    total : float, optional
        The number of queries with a pair, or of pairs, of all rows, if these are only some of them.

    Notes
    -----
    With the counts c, d of :func:`kernelrank.pairs.count_violations` and N pairs,
    ``value = (sum c + (c - d) . p) / N``, ``g = (c - d) / N`` and ``offset = sum c / N``
    (Airola et al. 2011, lemmas 1 and 2). The offset is computed from integers, so it is never the difference of two
    nearly equal numbers. An evaluation takes O(m log m).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank.losses import PairwiseHinge
    >>> from kernelrank.pairs import UtilityPairs
    >>> loss = PairwiseHinge(UtilityPairs([1, 2, 3]))
    >>> loss(np.zeros(3)).value
    1.0
    """

    def __call__(self, scores: Vector, out: Vector | None = None) -> Risk:
        """Evaluate the loss; g is written to `out`, if it is given."""
        g, violations, inner = self._violated.count(scores, self._scale, out)
        offset = dot(self._scale, violations)
        return Risk(offset + dot(self._scale, inner) + rounding_of(scores), offset, g)


class PairwiseSquaredHinge(_PairwiseLoss):
    """Average of ``max(0, 1 + p[i] - p[j])^2`` over pairs of rows in which j should have the higher score.

    Parameters
    ----------
    pairs : UtilityPairs or PreferencePairs
        Pairs of rows.
    query_weighting : {"query", "pair"}, default="query"
        Whether every query or every pair counts the same, as for :class:`~kernelrank.losses.PairwiseHinge`.
    total : float, optional
        The number of queries with a pair, or of pairs, of all rows, if these are only some of them.

    Notes
    -----
    With c, d as in :class:`~kernelrank.losses.PairwiseHinge`, and L the Laplacian of the graph whose edges are the
    violated pairs,

    - ``value = (sum c + 2 (c - d) . p + p . L p) / N``,
    - ``g = 2 (c - d + L p) / N``, and the second derivative is ``2 L / N``.

    L p takes two sweeps over the rows in the order of their scores. The order is kept, so that products of the second
    derivative with other vectors need no further sort. Each takes O(m log m).

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

    def __call__(self, scores: Vector, out: Vector | None = None) -> Risk:
        """Evaluate the loss; `curvature` then refers to these scores, and g is written to `out`, if it is given."""
        g, violations, inner = self._violated.count(scores, self._scale, out)
        quadratic = self._add_laplacian(scores, g)
        g *= 2.0
        constant = dot(self._scale, violations)
        value = constant + 2.0 * dot(self._scale, inner) + quadratic
        # A hinge h of scores with errors e has a square of at most (h + e)^2.
        error = rounding_of(scores)
        error *= 2.0 * float(np.sqrt(max(value, 0.0))) + error
        self.rounding += error
        return Risk(value + error, constant - quadratic, g)

    def _add_laplacian(self, scores: Vector, g: Vector) -> float:
        """Add L p / N to g in place, and return p . L p / N."""
        self.rounding = 0.0
        width = _spread(scores)
        if not _WIDE < width < np.inf:
            _, square = self._violated.multiply(scores, self._scale, add_to=g)
            return dot(self._scale, square)
        # The violated pairs may be close together and far from other rows, so that differences would cancel. Sums of
        # integers are exact, and the remainders are small; weights are not integers.
        if self._weighted:
            self.rounding = 4.0 * float(np.finfo(np.float64).eps * width**2)
        whole = array_namespace(scores).round(scores)
        rest = scores - whole
        product, square = self._violated.multiply(whole, self._scale)
        g += product
        _, square_of_rest = self._violated.multiply(rest, self._scale, add_to=g)
        return dot(self._scale, square + square_of_rest) + 2.0 * dot(rest, product)

    def curvature(self, q: Vector) -> Vector:
        """Return the product of the second derivative, at the last evaluated scores, with q.

        Parameters
        ----------
        q : ndarray of shape (n_rows,)
            Vector to multiply.

        Returns
        -------
        ndarray of shape (n_rows,)
            The product.
        """
        product, _ = self._violated.multiply(q, self._scale)
        product *= 2.0
        return product

    def diagonal(self) -> Vector:
        """Return the diagonal of the second derivative, at the last evaluated scores.

        Returns
        -------
        ndarray of shape (n_rows,)
            The diagonal.
        """
        return 2.0 * self._violated.degrees(self._scale)
