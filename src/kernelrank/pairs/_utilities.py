"""Pairs of rows with different utilities, within each query if there are queries."""

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
    """Number of violated pairs.

    Attributes
    ----------
    c : ndarray of shape (n_samples,)
        Violated pairs in which the row should have the lower score, or their weight.
    d : ndarray of shape (n_samples,)
        Violated pairs in which the row should have the higher score, or their weight.
    total : int or float
        Sum of ``c``, and of ``d``.
    """

    c: NDArray[Any]
    d: NDArray[Any]
    total: int | float


class UtilityPairs:
    """All pairs of rows with different utilities, ranked once and counted many times.

    Rows ``i`` and ``j`` of the same query are comparable when ``y[i] < y[j]``, and ``y[i]`` is not censored. A
    comparable pair is *violated* by scores ``p`` when ``p[j] < p[i] + margin``: the score of ``j`` should be higher
    than that of ``i`` by the margin, but is not.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Utilities, any finite numbers; higher is better.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order: numbers, strings or other hashable objects. By default all rows are one query.
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights of the rows. A pair has the weight ``w[i] * w[j]``, as if row ``i`` were repeated ``w[i]``
        times.
    observed : array-like of shape (n_samples,), optional
        False (or 0) where the utility is censored: it is at least ``y[i]``. Such a row is comparable only with rows
        that are observed, and whose utility is at most ``y[i]``: it is then the better row. True everywhere by default.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. The counts do not depend on it.

    Attributes
    ----------
    n_rows, n_queries : int
        Numbers of rows and of queries.
    censored : bool
        Whether some utilities are not observed.
    n_pairs : int, or float with weights
        Number of comparable pairs, or their total weight.
    pairs_per_query : ndarray of shape (n_queries,)
        In the order of the first rows of the queries, as in all results with one element per query.

    Notes
    -----
    Ranking takes O(m log m) time once. It keeps 12 bytes per row (4 if no two rows of a query have the same utility; 4
    more if the rows of queries are not contiguous, 8 more with weights), and working memory of 28 bytes per row (44
    with weights) after the first count. Counting is thread-safe.

    Examples
    --------
    >>> from kernelrank.pairs import UtilityPairs
    >>> pairs = UtilityPairs([1, 2, 3, 3])
    >>> pairs.n_pairs
    5
    >>> pairs.count([0.0, 2.0, 1.5, 4.0])
    Violations(c=array([0, 1, 0, 0]), d=array([0, 0, 1, 0]), total=1)

    The second row left a study after 2 years: it is better than the first, and may be better than the others.

    >>> UtilityPairs([1, 2, 3, 3], observed=[True, False, True, True]).n_pairs
    3
    """

    def __init__(
        self,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        observed: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self._rank(check_rows(y, qid, sample_weight, None, observed), n_jobs)

    @classmethod
    def of_checked(cls, rows: CheckedRows, n_jobs: int | None = None) -> Self:
        """Return the pairs of rows that have been checked, without checking them again.

        Parameters
        ----------
        rows : CheckedRows
            Checked utilities, with their queries, weights and censoring.
        n_jobs : int, optional
            Number of threads, as in scikit-learn.

        Returns
        -------
        UtilityPairs
            The pairs.
        """
        pairs = cls.__new__(cls)
        pairs._rank(rows, n_jobs)
        return pairs

    def _rank(self, rows: CheckedRows, n_jobs: int | None) -> None:
        if len(rows.y) == 0:
            raise ValueError("y is empty: there are no rows to compare.")
        self.n_rows, self.n_queries = len(rows.y), rows.n_queries
        self._n_threads = resolve_threads(n_jobs)
        self.censored = rows.observed is not None
        observed = None if rows.observed is None else rows.observed.view(np.uint8)
        self._ranking = Ranking(rows.y, rows.queries, rows.n_queries, rows.weights, observed, self._n_threads)
        self._dtype = np.int64 if rows.weights is None else np.float64
        self.pairs_per_query = np.empty(self.n_queries, self._dtype)
        self._ranking.pair_totals(self.pairs_per_query)
        self.n_pairs = self.pairs_per_query.sum().item()
        if not np.isfinite(self.n_pairs):
            raise ValueError("Products of sample_weight overflow; divide the weights by their maximum.")

    def count(self, scores: ArrayLike, *, method: Method = "auto", margin: float = 1.0) -> Violations:
        """Count the violated pairs of each row.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Scores of the rows.
        method : {"auto", "tree", "levels", "pairs", "rbtree"}, default="auto"
            Algorithm; the result does not depend on it. See :func:`~kernelrank.pairs.count_violations`.
        margin : float, default=1.0
            By how much the score of the better row must exceed that of the other.

        Returns
        -------
        Violations
            Named tuple ``(c, d, total)``.
        """
        c, d = np.empty(self.n_rows, self._dtype), np.empty(self.n_rows, self._dtype)
        totals = np.empty(self.n_queries, self._dtype)
        p = self._check(scores, method, margin)
        self._ranking.count(p, c, d, totals, float(margin), method, self._n_threads)
        return Violations(c, d, totals.sum().item())

    def count_totals(self, scores: ArrayLike, *, method: Method = "auto", margin: float = 1.0) -> NDArray[Any]:
        """Count the violated pairs of each query.

        It takes slightly more than half the time of `count`.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Scores of the rows.
        method : {"auto", "tree", "levels", "pairs", "rbtree"}, default="auto"
            Algorithm; the result does not depend on it. See :func:`~kernelrank.pairs.count_violations`.
        margin : float, default=1.0
            By how much the score of the better row must exceed that of the other.

        Returns
        -------
        ndarray of shape (n_queries,)
            Number of violated pairs of each query, or their weight.
        """
        totals = np.empty(self.n_queries, self._dtype)
        p = self._check(scores, method, margin)
        self._ranking.count_totals(p, totals, float(margin), method, self._n_threads)
        return totals

    def violated(self) -> ViolatedPairs:
        """Return the violated pairs for a loss.

        Returns
        -------
        ViolatedPairs
            Pairs with working memory of their own.
        """
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
    observed: ArrayLike | None = None,
    method: Method = "auto",
    n_jobs: int | None = None,
) -> Violations:
    """Count the pairs of each row in which a score vector violates the order of the utilities.

    With ``p`` the scores, and ``i``, ``j`` rows of the same query,

    - ``c[i]`` is the number of rows ``j`` with ``y[j] > y[i]`` and ``p[j] < p[i] + 1``,
    - ``d[i]`` is the number of rows ``j`` with ``y[j] < y[i]`` and ``p[i] < p[j] + 1``,

    eq. 5 and 6 of [1]_. Both use the same rounded comparison, so they refer to the same set of pairs, and
    ``c.sum() == d.sum() == total`` holds exactly. The average pairwise hinge loss is
    ``(total + (c - d) @ p) / n_pairs``.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Utilities; rows with equal utilities are not compared.
    scores : array-like of shape (n_samples,)
        Scores of the rows.
    qid : array-like of shape (n_samples,), optional
        Query of each row. Rows of different queries are not compared.
    observed : array-like of shape (n_samples,), optional
        False where the utility is censored, as for :class:`~kernelrank.pairs.UtilityPairs`.
    method : {"auto", "tree", "levels", "pairs", "rbtree"}, default="auto"
        Algorithm; the result does not depend on it.

        - ``"tree"``: a wide tree of running counts over the ranks of ``y``, O(m log m).
        - ``"levels"``: running counts over the distinct utilities, O(m log m + m r) for ``r`` distinct utilities per
          query; the algorithm of [2]_, and the fastest for few distinct utilities.
        - ``"pairs"``: a loop over all pairs, O(m^2); the baseline of [1]_.
        - ``"rbtree"``: the order-statistics red-black tree of [1]_, O(m log m).
        - ``"auto"``: ``"levels"`` for up to 16 distinct utilities per query, otherwise ``"tree"``.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

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
    return UtilityPairs(y, qid=qid, observed=observed, n_jobs=n_jobs).count(scores, method=method)
