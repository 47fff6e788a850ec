"""Pairs of rows with different utilities, inside a query if there are queries."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._core import Ranking
from kernelrank._core import ViolatedPairs as CompiledPairs
from kernelrank._rules import NUMBER, choice
from kernelrank._threads import resolve_threads
from kernelrank._validation import CheckedRows, check_rows, check_vector
from kernelrank.pairs._violated import ViolatedPairs

Method = Literal["auto", "tree", "levels", "pairs", "rbtree"]

_METHOD = choice(*get_args(Method))


class Violations(NamedTuple):
    """Violated pairs: ``c`` and ``d`` a row, and their common sum ``total``."""

    c: NDArray[Any]
    d: NDArray[Any]
    total: int | float


class UtilityPairs:
    """All pairs of rows that their utilities put in an order, ranked once to be counted many times.

    Rows ``i`` and ``j`` of the same query are comparable when ``y[i] < y[j]``. A comparable
    pair is *violated* by scores ``p`` when ``p[j] < p[i] + margin``: ``j`` should be above
    ``i`` and is not, or not clearly enough.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Utilities, any finite numbers; higher is better.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order: numbers, strings or any hashable. One query by default.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows, not negative. A pair weighs ``w[i] * w[j]``, exactly as if row
        ``i`` were there ``w[i]`` times.
    n_jobs : int, optional
        Threads to use, as in scikit-learn. The counts do not depend on it.

    Attributes
    ----------
    n_rows, n_queries : int
    n_pairs : int, or float with weights
        Comparable pairs, or their total weight.
    pairs_per_query : ndarray of shape (n_queries,)
        Queries in the order of their first rows, as in all results that have an element a query.

    Notes
    -----
    Ranking costs O(m log m) time once; it keeps 12 bytes a row (4 if no two rows of a query have
    the same utility; 4 more if the queries are scattered, 8 more with weights) and working memory
    of 28 bytes a row (44 with weights) after the first count. Any number of threads may count at
    once.

    Examples
    --------
    >>> from kernelrank.pairs import UtilityPairs
    >>> pairs = UtilityPairs([1, 2, 3, 3])
    >>> pairs.n_pairs
    5
    >>> pairs.count([0.0, 2.0, 1.5, 4.0])
    Violations(c=array([0, 1, 0, 0]), d=array([0, 0, 1, 0]), total=1)
    """

    def __init__(
        self,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self._rank(check_rows(y, qid, sample_weight, None), n_jobs)

    @classmethod
    def of_checked(cls, rows: CheckedRows, n_jobs: int | None = None) -> Self:
        """Return the pairs of rows that have been checked, without checking them again.

        Parameters
        ----------
        rows : CheckedRows
        n_jobs : int, optional

        Returns
        -------
        UtilityPairs
        """
        pairs = cls.__new__(cls)
        pairs._rank(rows, n_jobs)
        return pairs

    def _rank(self, rows: CheckedRows, n_jobs: int | None) -> None:
        if len(rows.y) == 0:
            raise ValueError("y is empty: there are no rows to compare.")
        self.n_rows, self.n_queries = len(rows.y), rows.n_queries
        self._n_threads = resolve_threads(n_jobs)
        self._ranking = Ranking(rows.y, rows.queries, rows.n_queries, rows.weights, self._n_threads)
        self._dtype = np.int64 if rows.weights is None else np.float64
        self.pairs_per_query = np.empty(self.n_queries, self._dtype)
        self._ranking.pair_totals(self.pairs_per_query)
        self.n_pairs = self.pairs_per_query.sum().item()
        if not np.isfinite(self.n_pairs):
            raise ValueError("Products of sample_weight overflow: divide the weights by the largest of them.")

    def count(self, scores: ArrayLike, *, method: Method = "auto", margin: float = 1.0) -> Violations:
        """Count the violated pairs of every row; see :func:`count_violations`."""
        c, d = np.empty(self.n_rows, self._dtype), np.empty(self.n_rows, self._dtype)
        totals = np.empty(self.n_queries, self._dtype)
        p = self._check(scores, method, margin)
        self._ranking.count(p, c, d, totals, float(margin), method, self._n_threads)
        return Violations(c, d, totals.sum().item())

    def count_totals(self, scores: ArrayLike, *, method: Method = "auto", margin: float = 1.0) -> NDArray[Any]:
        """Count the violated pairs of every query, in a little more than half the time."""
        totals = np.empty(self.n_queries, self._dtype)
        p = self._check(scores, method, margin)
        self._ranking.count_totals(p, totals, float(margin), method, self._n_threads)
        return totals

    def violated(self) -> ViolatedPairs:
        """Prepare for a loss, with working memory of its own."""
        return ViolatedPairs(CompiledPairs(self._ranking), self.n_rows, self.n_queries, self._n_threads)

    def _check(self, scores: ArrayLike, method: Method, margin: float) -> NDArray[np.float64]:
        NUMBER("margin", margin)
        _METHOD("method", method)
        return check_vector(scores, "scores", self.n_rows)


def count_violations(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    method: Method = "auto",
    n_jobs: int | None = None,
) -> Violations:
    """Count, for each row, the pairs in which a score vector violates the order of utilities.

    With ``p`` the scores, and ``i``, ``j`` rows of the same query,

    - ``c[i]`` is the number of rows ``j`` with ``y[j] > y[i]`` and ``p[j] < p[i] + 1``,
    - ``d[i]`` is the number of rows ``j`` with ``y[j] < y[i]`` and ``p[i] < p[j] + 1``,

    eq. 5 and 6 of [1]_. Both use the same rounded comparison, so they describe one set of
    pairs and ``c.sum() == d.sum() == total`` holds exactly. The average pairwise hinge loss
    is ``(total + (c - d) @ p) / n_pairs``.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Utilities; equal ones are not compared.
    scores : array-like of shape (n_samples,)
    qid : array-like of shape (n_samples,), optional
        Query of each row. Rows of different queries are not compared.
    method : {"auto", "tree", "levels", "pairs", "rbtree"}, default="auto"
        How to count; the result is the same.

        - ``"tree"``: a wide tree of running counts over the ranks of ``y``, O(m log m).
        - ``"levels"``: running counts over the distinct utilities, O(m log m + m r) for ``r``
          of them in a query; the method of [2]_, and the fastest for a handful.
        - ``"pairs"``: looks at every pair, O(m^2); the baseline of [1]_.
        - ``"rbtree"``: the order-statistics red-black tree of [1]_, O(m log m).
        - ``"auto"``: ``"levels"`` for up to 16 distinct utilities in a query, else ``"tree"``.
    n_jobs : int, optional
        Threads to use, as in scikit-learn.

    Returns
    -------
    Violations
        Named tuple ``(c, d, total)``: two int64 arrays and an int.

    References
    ----------
    .. [1] Airola, Pahikkala, Salakoski: Training linear ranking SVMs in linearithmic time
       using red-black trees. Pattern Recognition Letters 32 (2011).
    .. [2] Díez, del Coz, Bahamonde: A support vector method for ranking minimizing the number
       of swapped pairs (2006), algorithm 2.

    Examples
    --------
    >>> from kernelrank.pairs import count_violations
    >>> count_violations([1, 2, 3], [0.0, 0.5, 3.0])
    Violations(c=array([1, 0, 0]), d=array([0, 1, 0]), total=1)
    """
    return UtilityPairs(y, qid=qid, n_jobs=n_jobs).count(scores, method=method)
