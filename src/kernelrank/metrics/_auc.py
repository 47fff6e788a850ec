"""The area under the ROC curve, and how far to trust it."""

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
_DRAWN_AT_ONCE = 50_000  # values: they stay in the cache


class AUCInterval(NamedTuple):
    """An area under the ROC curve, and the ends of its confidence interval."""

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
    """Area under the ROC curve: the share of pairs of a positive and a negative row in the right order.

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
        What a pair of different classes with equal scores counts, from 0 to 1.
    undefined : {"skip", 0, 1}, default="skip"
        The value for a query without both classes. With "skip" the query is left out of the mean.
    per_query : bool, default=False
        Whether to return the values of the queries, in the order of their first rows, instead of the mean; NaN
        for one without both classes, unless `undefined` is a number.

    Returns
    -------
    float, or ndarray of shape (n_queries,)
        Between 0 and 1; 0.5 is what random scores get.

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
    concordance_index : The same for any true values.
    auc_interval : A confidence interval.

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
    """Area under the ROC curve with a confidence interval; ties count half.

    Without queries, the normal approximation with DeLong's variance [1]_: rows are a sample, each class of
    its own. With queries, a percentile bootstrap of their mean: queries are a sample, and whole
    ones are drawn.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct numbers; the higher one is positive.
    y_score : array-like of shape (n_samples,)
        Scores of a model that has not seen these rows.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    confidence : float, default=0.95
        Probability that such an interval holds the true value, above 0 and below 1.
    n_resamples : int, default=2000
        Samples of queries that the bootstrap draws.
    random_state : int, RandomState instance or None, default=None
        Of the bootstrap; pass an int for the same interval every time.

    Returns
    -------
    AUCInterval
        Named tuple ``(auc, low, high)``, within 0 and 1.

    Raises
    ------
    ValueError
        If `y_true` has more than two distinct values, if there are fewer than two rows of either class, or with queries
        if fewer than two of them have both classes.

    Warns
    -----
    UndefinedQueryWarning
        If some queries have one class only.

    Notes
    -----
    DeLong's variance takes O(m log m), as by midranks [2]_. An area of exactly 0 or 1 has a variance of
    zero, and so an interval without width: few rows of a class that is easily told apart show
    no error, which does not mean that there is none. The same holds if the area is equal in all queries.

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
        raise ValueError("The bootstrap takes two queries at least that have both classes, there is one.")
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
    """Means of samples of the size of `values`, drawn from them with replacement."""
    means = np.empty(n_resamples)
    step = max(1, _DRAWN_AT_ONCE // len(values))
    for start in range(0, n_resamples, step):
        part = means[start : start + step]
        part[:] = values[rng.integers(len(values), size=(len(part), len(values)))].mean(axis=1)
    return means
