"""Pairwise agreement, from exact counts of concordant and discordant pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._rules import SHARE
from kernelrank._validation import (
    CheckedRows,
    check_rows,
    check_vector,
    check_vector_in_place,
    require_beside,
    scale_weights,
)
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.metrics._censoring import lower_weights
from kernelrank.metrics._queries import UNDEFINED, Summary, Undefined, comparable_pair, ratio, summarise
from kernelrank.pairs import UtilityPairs
from kernelrank.pairs._array_pairs import pairs_beside

_Counts = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

_DIFFERING = "pair that differs in y_true or none that differs in y_score"


def concordance_index(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    observed: ArrayLike | None = None,
    truncation: float | None = None,
    ties: float = 0.5,
    undefined: Undefined = "skip",
    per_query: bool = False,
    n_jobs: int | None = None,
) -> Summary:
    """Compute the share of comparable pairs that the scores put in the right order.

    Rows of the same query with different true values are comparable. With two distinct true
    values this is the area under the ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True utilities; rows with equal utilities are not compared. Or a structured array or a data frame of two
        columns, a boolean one for `observed` and a numeric one.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order. The result is the mean over the queries that have a comparable pair.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows; a pair weighs ``w[i] * w[j]``.
    observed : array-like of shape (n_samples,), optional
        False (or 0) where the utility is censored: it is at least ``y_true[i]``. Such a row is compared only with rows
        that are observed, and whose utility is at most ``y_true[i]``.
    truncation : float, optional
        Compute Uno's concordance [2]_: a pair weighs ``1 / G(t)^2`` for the probability G that its lower row, of
        utility t, is not censored up to t, and only lower rows with t below the truncation count. Harrell's
        concordance [1]_, which is the default, depends on who was censored when; this one does not, if censoring is
        independent of the utilities. G is estimated from all rows.
    ties : float, default=0.5
        Value of a comparable pair with equal scores, from 0 (incorrect) to 1 (correct).
    undefined : {"skip", 0, 1}, default="skip"
        Value of a query without a comparable pair. With "skip" the query is left out of the mean.
    per_query : bool, default=False
        Whether to return one value per query, in the order of the first rows of the queries, instead of the mean. The
        value is NaN for a query without a comparable pair, unless `undefined` is a number.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Returns
    -------
    float, or ndarray of shape (n_queries,)
        Between 0 and 1; random scores have an expected value of 0.5.

    Raises
    ------
    NoComparablePairsError
        If no query has two different true values, or none whose order is known, and `undefined` is "skip".

    Warns
    -----
    UndefinedQueryWarning
        If some queries have no comparable pair and are left out.

    See Also
    --------
    kernelrank.metrics.auc : Special case of two classes.
    kernelrank.metrics.kendall_tau : Rank correlation on a scale from -1 to 1, with a penalty for ties.

    Notes
    -----
    Pairs are counted exactly, as integers unless there are weights, in O(m log m). With scikit-learn's
    ``array_api_dispatch``, scores of another array library (PyTorch, CuPy) are sorted and counted on their device,
    unless there are weights or a `truncation`.

    Without queries and truncation it is Harrell's concordance index of survival analysis. It equals
    ``lifelines.utils.concordance_index`` of times and scores, and scikit-survival's ``concordance_index_censored`` of
    the negated scores, which takes risks. The latter regards scores as tied that differ by less than 1e-8, unless
    ``tied_tol=0``. With truncation it equals scikit-survival's ``concordance_index_ipcw``, if that estimates G from
    the same rows.

    G(t) is the probability of being censored later than t, as in [2]_ and in scikit-survival: rows that are censored at
    t itself make it smaller. Of an event and a censoring at the same time, the event comes first. If many utilities are
    equal, such as whole years, Uno's concordance is biased, because a lower row at t is observed with the larger
    probability of being censored at t or later. With continuous utilities, both are the same.

    References
    ----------
    .. [1] Harrell, Califf, Pryor, Lee, Rosati: Evaluating the yield of medical tests. Journal of the American Medical
       Association 247 (1982).
    .. [2] Uno, Cai, Pencina, D'Agostino, Wei: On the C-statistics for evaluating overall adequacy of risk prediction
       procedures with censored survival data. Statistics in Medicine 30 (2011).

    Examples
    --------
    >>> from kernelrank.metrics import concordance_index
    >>> concordance_index([1, 2, 3, 4], [0.1, 0.4, 0.3, 0.9])
    0.8333333333333334

    The second of these patients left the study after two years, and may have lived longer than the others:

    >>> concordance_index([1, 2, 3, 4], [0.1, 0.4, 0.3, 0.9], observed=[True, False, True, True])
    1.0
    """
    SHARE("ties", ties)
    UNDEFINED("undefined", undefined)
    (concordant, discordant, tied), lacking = _compare(
        y_true, y_score, qid, sample_weight, observed, truncation, n_jobs
    )
    values = ratio(concordant + ties * tied, concordant + discordant + tied)
    return summarise(values, per_query, undefined, lacking, NoComparablePairsError)


def pairwise_error(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    observed: ArrayLike | None = None,
    truncation: float | None = None,
    ties: float = 0.5,
    undefined: Undefined = "skip",
    per_query: bool = False,
    n_jobs: int | None = None,
) -> Summary:
    """Compute the share of comparable pairs that the scores put in the wrong order.

    The complement of :func:`~kernelrank.metrics.concordance_index`. The parameters are the same, except that `ties` is
    the error of a pair with equal scores.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True utilities; rows with equal utilities are not compared. Or two columns, as in
        :func:`~kernelrank.metrics.concordance_index`.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order. The result is the mean over the queries that have a comparable pair.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows; a pair weighs ``w[i] * w[j]``.
    observed : array-like of shape (n_samples,), optional
        False (or 0) where the utility is censored: it is at least ``y_true[i]``.
    truncation : float, optional
        Utility below which lower rows count, with the weights of Uno's concordance; see
        :func:`~kernelrank.metrics.concordance_index`.
    ties : float, default=0.5
        Error of a comparable pair with equal scores, from 0 (correct) to 1 (incorrect).
    undefined : {"skip", 0, 1}, default="skip"
        Value of a query without a comparable pair. With "skip" the query is left out of the mean.
    per_query : bool, default=False
        Whether to return one value per query, in the order of the first rows of the queries, instead of the mean.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Returns
    -------
    float, or ndarray of shape (n_queries,)
        Between 0 and 1; random scores have an expected value of 0.5.

    Notes
    -----
    Publications differ in the error of a tie: 0 in [1]_, 1 in [2]_ and [3]_, and 0.5 in [4]_.

    References
    ----------
    .. [1] Airola, Pahikkala, Salakoski: Training linear ranking SVMs in linearithmic time
       using red-black trees. Pattern Recognition Letters 32 (2011).
    .. [2] Díez, del Coz, Bahamonde: A support vector method for ranking minimizing the number
       of swapped pairs (2006).
    .. [3] Pahikkala, Tsivtsivadze, Airola, Järvinen, Boberg: An efficient algorithm for learning to rank
       from preference graphs. Machine Learning 75 (2009).
    .. [4] Airola: Kernel-based ranking. TUCS Dissertations 144 (2011), eq. 3.2.

    Examples
    --------
    >>> from kernelrank.metrics import pairwise_error
    >>> pairwise_error([0, 0, 1, 1], [0.2, 0.5, 0.5, 0.9])
    0.125
    >>> pairwise_error([0, 0, 1, 1], [0.2, 0.5, 0.5, 0.9], ties=0)
    0.0
    """
    SHARE("ties", ties)
    UNDEFINED("undefined", undefined)
    (concordant, discordant, tied), lacking = _compare(
        y_true, y_score, qid, sample_weight, observed, truncation, n_jobs
    )
    values = ratio(discordant + ties * tied, concordant + discordant + tied)
    return summarise(values, per_query, undefined, lacking, NoComparablePairsError)


def kendall_tau(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    observed: ArrayLike | None = None,
    undefined: Undefined = "skip",
    per_query: bool = False,
) -> Summary:
    r"""Compute Kendall's rank correlation tau-b, averaged over the queries.

    .. math:: \tau_b = \frac{C - D}{\sqrt{N_y N_s}}

    for C concordant and D discordant pairs, :math:`N_y` pairs that differ in `y_true` and :math:`N_s`
    that differ in `y_score`. With censored rows, :math:`N_y` are the pairs whose order is known.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True utilities.
    y_score : array-like of shape (n_samples,)
        Predicted scores. The metric is symmetric in `y_true` and `y_score`.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    observed : array-like of shape (n_samples,), optional
        False where `y_true` is censored, as in :func:`~kernelrank.metrics.concordance_index`.
    undefined : {"skip", 0, 1}, default="skip"
        Value of a query in which `y_true` or `y_score` is constant. With "skip" the query is left out of the mean.
    per_query : bool, default=False
        Whether to return one value per query, in the order of the first rows of the queries, instead of the mean.

    Returns
    -------
    float, or ndarray of shape (n_queries,)
        Between -1 and 1.

    Raises
    ------
    NoComparablePairsError
        If it is undefined for all queries, and `undefined` is "skip".

    Warns
    -----
    UndefinedQueryWarning
        If it is undefined for some queries, which are left out.

    Notes
    -----
    Pairs are counted exactly, in O(m log m). Without ties the value is
    ``2 * concordance_index(y_true, y_score) - 1``. A tie in only one of `y_true` and `y_score` makes the absolute value
    smaller, whatever the order of the tied rows: 1 is reached only if both have the same ties.

    Examples
    --------
    >>> from kernelrank.metrics import kendall_tau
    >>> kendall_tau([1, 2, 3, 4], [0.1, 0.4, 0.3, 0.9])
    0.6666666666666666
    """
    UNDEFINED("undefined", undefined)
    rows = check_rows(y_true, qid, None, None, observed, name="y_true")
    scores = check_vector(y_score, "y_score", len(rows.y))
    pairs = UtilityPairs.of_checked(rows)
    agreement = pairs.count_totals(-scores, margin=0.0) - pairs.count_totals(scores, margin=0.0)
    # As floats, because the product of two numbers of pairs can overflow an integer.
    differing = pairs.pairs_per_query.astype(float) * UtilityPairs(scores, qid=rows.queries).pairs_per_query
    values = ratio(agreement, np.sqrt(differing))
    return summarise(values, per_query, undefined, _DIFFERING, NoComparablePairsError)


def _compare(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
    observed: ArrayLike | None,
    truncation: float | None,
    n_jobs: int | None,
) -> tuple[_Counts, str]:
    """Count the concordant, discordant and tied pairs of each query, or sum their weights; name what is counted."""
    rows = check_rows(y_true, qid, sample_weight, None, observed, name="y_true")
    # Arrays of other libraries are counted where they are, if the totals of queries are integers.
    plain = rows.weights is None and truncation is None
    require_beside(y_score, y_true, "y_score and y_true")
    scores = (check_vector_in_place if plain else check_vector)(y_score, "y_score", len(rows.y))
    # Results are shares of the pairs of a query, so its weights may be multiplied by any factor: none underflows.
    weights, _ = scale_weights(rows.weights, rows.queries)
    pairs = pairs_beside(scores, rows._replace(weights=weights), n_jobs)
    if truncation is not None:
        assert isinstance(pairs, UtilityPairs)
        counts = _compare_truncated(pairs, rows, scores, truncation)
        return counts, "pair of rows whose order is known before the truncation"
    # With margin 0 a pair is violated when the better row has the strictly lower score.
    discordant = pairs.count_totals(scores, margin=0.0)
    concordant = pairs.count_totals(-scores, margin=0.0)
    tied = pairs.pairs_per_query - concordant - discordant
    counts = concordant, discordant, np.maximum(tied, 0)  # sums of weights have rounding errors
    return counts, comparable_pair(censored=pairs.censored)


def _compare_truncated(
    pairs: UtilityPairs, rows: CheckedRows, scores: NDArray[np.float64], truncation: float
) -> _Counts:
    """Sum weights of the concordant, discordant and tied pairs of each query, for pairs weighted by their lower row."""
    lower = lower_weights(rows, truncation)
    queries = np.zeros(len(lower), np.int32) if rows.queries is None else rows.queries

    def total(scores: NDArray[np.float64], margin: float) -> NDArray[np.float64]:
        sums = np.bincount(queries, lower * pairs.count(scores, margin=margin).c, rows.n_queries)
        return np.asarray(sums, dtype=np.float64)

    discordant, concordant = total(scores, 0.0), total(-scores, 0.0)
    tied = total(np.zeros(len(lower)), 1.0) - concordant - discordant  # with equal scores, every pair is within 1
    return concordant, discordant, np.maximum(tied, 0.0)
