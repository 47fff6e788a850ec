"""Area under the ROC curve and its confidence interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from kernelrank._rules import COUNT, RANDOM_STATE
from kernelrank._validation import check_vector
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.metrics._blocks import check_rows
from kernelrank.metrics._concordance import concordance_index
from kernelrank.metrics._influence import RowCounts, check_confidence, influences, interval, variance
from kernelrank.metrics._queries import UNDEFINED, Summary, Undefined, summarise

_CLASSES = "pair of a positive and a negative row"
_DRAWN_AT_ONCE = 50_000  # values per chunk, so that a chunk stays in the cache


class AUCInterval(NamedTuple):
    """Area under the ROC curve with the ends of its confidence interval."""

    auc: float
    low: float
    high: float


def auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    ties: float = 0.5,
    undefined: Undefined = "skip",
    per_query: bool = False,
) -> Summary:
    """Compute the area under the ROC curve: the share of correctly ordered pairs of a positive and a negative row.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct numbers; the higher one is positive.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order. The result is the mean over the queries that have both classes.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows; a pair weighs ``w[i] * w[j]``.
    ties : float, default=0.5
        Value of a pair of different classes with equal scores, from 0 to 1.
    undefined : {"skip", 0, 1}, default="skip"
        Value of a query without both classes. With "skip" the query is left out of the mean.
    per_query : bool, default=False
        Whether to return one value per query, in the order of the first rows of the queries, instead of the mean. The
        value is NaN for a query without both classes, unless `undefined` is a number.

    Returns
    -------
    float, or ndarray of shape (n_queries,)
        Between 0 and 1; random scores have an expected value of 0.5.

    Raises
    ------
    ValueError
        If `y_true` has more than two distinct values.
    NoComparablePairsError
        If no query has both classes, and `undefined` is "skip".

    Warns
    -----
    UndefinedQueryWarning
        If some queries have one class only and are left out.

    See Also
    --------
    concordance_index : Generalisation to any true values.
    auc_interval : Area with a confidence interval.

    Examples
    --------
    >>> from kernelrank.metrics import auc
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    UNDEFINED("undefined", undefined)
    truth = _check_classes(check_vector(y_true, "y_true"))
    values = concordance_index(truth, y_score, qid=qid, sample_weight=sample_weight, ties=ties, per_query=True)
    return summarise(values, per_query, undefined, _CLASSES, NoComparablePairsError)


def auc_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.RandomState | None = None,
) -> AUCInterval:
    """Compute the area under the ROC curve with a confidence interval; ties count half.

    Without queries, the interval is the normal approximation with DeLong's variance [1]_; the rows of each class are
    regarded as a sample. With queries, it is a percentile bootstrap of the mean over queries; the queries are regarded
    as a sample and resampled as a whole.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct numbers; the higher one is positive.
    y_score : array-like of shape (n_samples,)
        Scores of a model that was not trained on these rows.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    confidence : float, default=0.95
        Confidence level: the probability that the interval contains the true value, above 0 and below 1.
    n_resamples : int, default=2000
        Number of bootstrap samples of queries.
    random_state : int, RandomState instance or None, default=None
        Random number generator of the bootstrap; pass an int for reproducible results.

    Returns
    -------
    AUCInterval
        Named tuple ``(auc, low, high)``, within 0 and 1.

    Raises
    ------
    ValueError
        If `y_true` has more than two distinct values, if there are fewer than two rows of either class, or, with
        queries, if fewer than two of them have both classes.

    Warns
    -----
    UndefinedQueryWarning
        If some queries have one class only.

    Notes
    -----
    DeLong's variance is computed in O(m log m), the complexity of the algorithm by midranks [2]_. If the area is
    exactly 0 or 1, or equal in all queries, the estimated variance is zero and the interval has no width. This is a
    limit of the estimate from few rows and does not mean that the true value is certain.

    References
    ----------
    .. [1] DeLong, DeLong, Clarke-Pearson: Comparing the areas under two or more correlated receiver
       operating characteristic curves: a nonparametric approach. Biometrics 44 (1988).
    .. [2] Sun, Xu: Fast implementation of DeLong's algorithm for comparing the areas under correlated
       receiver operating characteristic curves. IEEE Signal Processing Letters 21 (2014).

    Examples
    --------
    >>> from kernelrank.metrics import auc_interval
    >>> found = auc_interval([0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.6, 0.35, 0.8, 0.9])
    >>> print(f"{found.auc:.2f} from {found.low:.2f} to {found.high:.2f}")
    0.78 from 0.29 to 1.00
    """
    check_confidence(confidence)
    COUNT("n_resamples", n_resamples)
    RANDOM_STATE("random_state", random_state)
    if qid is None:
        return _delong(y_true, y_score, confidence)
    values = auc(y_true, y_score, qid=qid, per_query=True)
    mean = summarise(values, False, "skip", _CLASSES, NoComparablePairsError)
    values = values[~np.isnan(values)]
    if len(values) < 2:
        raise ValueError("The bootstrap requires at least two queries with both classes, got one.")
    seed = check_random_state(random_state).randint(2**32, dtype=np.uint32)
    means = _resampled_means(values, n_resamples, np.random.default_rng(seed))
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return AUCInterval(mean, float(low), float(high))


def _check_classes(truth: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(truth) and not ((truth == truth.min()) | (truth == truth.max())).all():
        raise ValueError("y_true has more than two distinct values; use concordance_index.")
    return truth


def _delong(y_true: ArrayLike, y_score: ArrayLike, confidence: float) -> AUCInterval:
    truth, scores, _ = check_rows(y_true, y_score, None)
    rows = RowCounts(_check_classes(truth))
    area, u = influences(rows.wins(scores), rows.pairs)
    return AUCInterval(area, *interval(area, variance(u, strata=rows.strata), confidence))


def _resampled_means(values: NDArray[np.float64], n_resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the means of bootstrap samples of `values`, each of their size."""
    means = np.empty(n_resamples)
    step = max(1, _DRAWN_AT_ONCE // len(values))
    for start in range(0, n_resamples, step):
        part = means[start : start + step]
        part[:] = values[rng.integers(len(values), size=(len(part), len(values)))].mean(axis=1)
    return means
