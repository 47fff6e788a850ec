"""The pairwise hinge loss."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank.exceptions import NoComparablePairsError
from kernelrank.pairs import UtilityPairs

QueryWeighting = Literal["query", "pair"]


class Risk(NamedTuple):
    """A loss at one score vector p, and the plane that touches it there.

    For every other score vector p', ``loss(p') >= offset + g . p'``, with equality at p.
    """

    value: float
    offset: float
    g: NDArray[np.float64]


class PairwiseHinge:
    """Average of ``max(0, 1 + p[i] - p[j])`` over the comparable pairs ``y[i] < y[j]``.

    Parameters
    ----------
    pairs : UtilityPairs
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

    def __init__(self, pairs: UtilityPairs, query_weighting: QueryWeighting = "query") -> None:
        totals = np.asarray(pairs.pairs_per_query, dtype=np.float64)
        comparable = totals > 0
        if not comparable.any():
            raise NoComparablePairsError(
                f"There is no pair to learn from (n_samples = {pairs.n_rows}): no two rows of a common query have"
                " different values of y and positive weight. Check y, and whether qid separates every row from the"
                " others."
            )
        self.pairs = pairs
        if query_weighting == "query":
            self._scale = np.divide(1.0 / comparable.sum(), totals, out=np.zeros_like(totals), where=comparable)
        else:
            self._scale = np.where(comparable, 1.0 / totals.sum(), 0.0)

    def __call__(self, scores: NDArray[np.float64], out: NDArray[np.float64] | None = None) -> Risk:
        """Evaluate the loss; `g` is written to `out` if that is given."""
        g = np.empty_like(scores) if out is None else out
        violations, inner = self.pairs.risk(scores, self._scale, g)
        offset = float((self._scale * violations).sum())
        return Risk(offset + float((self._scale * inner).sum()), offset, g)
