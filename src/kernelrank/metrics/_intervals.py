"""Confidence intervals of the area under the ROC curve, and of the concordance."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from kernelrank._rules import COUNT, RANDOM_STATE
from kernelrank._validation import check_rows, check_vector
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.metrics._auc import CLASSES, auc, check_classes
from kernelrank.metrics._censoring import lower_weights
from kernelrank.metrics._concordance import concordance_index
from kernelrank.metrics._influence import RowCounts, check_confidence, influences, interval, variance
from kernelrank.metrics._queries import comparable_pair, summarise

Floats = NDArray[np.float64]

_DRAWN_AT_ONCE = 50_000  # values per chunk, so that a chunk stays in the cache


class AUCInterval(NamedTuple):
    """Area under the ROC curve with the ends of its confidence interval.

    Attributes
    ----------
    auc : float
        Area under the ROC curve.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.
    """

    auc: float
    low: float
    high: float


class ConcordanceInterval(NamedTuple):
    """Concordance with the ends of its confidence interval.

    Attributes
    ----------
    concordance : float
        Share of pairs in the right order.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.
    """

    concordance: float
    low: float
    high: float


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
    _check_options(confidence, n_resamples, random_state)
    if qid is None:
        truth = check_vector(y_true, "y_true")
        scores = check_vector(y_score, "y_score", len(truth))
        return AUCInterval(*_normal(RowCounts(check_classes(truth)), scores, confidence))
    values = auc(y_true, y_score, qid=qid, per_query=True)
    return AUCInterval(*bootstrap_mean(values, CLASSES, "both classes", confidence, n_resamples, random_state))


def concordance_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    observed: ArrayLike | None = None,
    truncation: float | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.RandomState | None = None,
) -> ConcordanceInterval:
    """Compute the concordance with a confidence interval; ties count half.

    Without queries, the interval is a normal approximation, and the rows are regarded as a sample: pairs that share a
    row depend on each other, which the variance takes into account. With queries, it is a percentile bootstrap of the
    mean over queries, which are regarded as a sample and resampled as a whole.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True utilities, as for :func:`~kernelrank.metrics.concordance_index`.
    y_score : array-like of shape (n_samples,)
        Scores of a model that was not trained on these rows.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    observed : array-like of shape (n_samples,), optional
        False (or 0) where the utility is censored.
    truncation : float, optional
        Compute Uno's concordance, with weights by inverse probabilities. They are regarded as known.
    confidence : float, default=0.95
        Confidence level: the probability that the interval contains the true value, above 0 and below 1.
    n_resamples : int, default=2000
        Number of bootstrap samples of queries.
    random_state : int, RandomState instance or None, default=None
        Random number generator of the bootstrap; pass an int for reproducible results.

    Returns
    -------
    ConcordanceInterval
        Named tuple ``(concordance, low, high)``, within 0 and 1.

    Raises
    ------
    NoComparablePairsError
        If there is no pair whose order is known.

    Warns
    -----
    UndefinedQueryWarning
        If some queries have no comparable pair.

    See Also
    --------
    kernelrank.metrics.auc_interval : The same for two classes, with DeLong's variance.
    kernelrank.model_selection.estimate_concordance : Concordance of a model on new rows, without a test set.

    Notes
    -----
    It takes O(m log m). The variance is that of the sum of the influences of the rows: with w of the p pairs of a row
    in the right order, its influence on the concordance C is proportional to w - C p.

    Examples
    --------
    >>> from kernelrank.metrics import concordance_interval
    >>> years, died = [1, 2, 3, 4, 5, 6], [True, False, True, True, False, True]
    >>> found = concordance_interval(years, [0.1, 0.4, 0.5, 0.2, 0.9, 0.7], observed=died)
    >>> print(f"{found.concordance:.2f} from {found.low:.2f} to {found.high:.2f}")
    0.90 from 0.67 to 1.00
    """
    _check_options(confidence, n_resamples, random_state)
    if qid is not None:
        options: dict[str, Any] = {"qid": qid, "observed": observed, "truncation": truncation}
        values = concordance_index(y_true, y_score, **options, per_query=True)
        lacking = comparable_pair(censored=observed is not None)
        ends = bootstrap_mean(values, lacking, "a comparable pair", confidence, n_resamples, random_state)
        return ConcordanceInterval(*ends)
    rows = check_rows(y_true, None, None, None, observed, name="y_true")
    scores = check_vector(y_score, "y_score", len(rows.y))
    lower = None if truncation is None else lower_weights(rows, truncation)
    return ConcordanceInterval(*_normal(RowCounts(rows.y, rows.observed, lower), scores, confidence))


def _check_options(confidence: Any, n_resamples: Any, random_state: Any) -> None:
    check_confidence(confidence)
    COUNT("n_resamples", n_resamples)
    RANDOM_STATE("random_state", random_state)


def _normal(counts: RowCounts, scores: Floats, confidence: float) -> tuple[float, float, float]:
    """Return the share of pairs in the right order, and the normal interval of a sample of rows."""
    share, u = influences(counts.wins(scores), counts.pairs)
    return share, *interval(share, variance(u, strata=counts.strata), confidence)


def bootstrap_mean(
    values: Floats, lacking: str, needed: str, confidence: float, n_resamples: int, random_state: Any
) -> tuple[float, float, float]:
    """Return the mean of the values of queries, and the percentiles of the means of resampled queries."""
    mean = summarise(values, False, "skip", lacking, NoComparablePairsError)
    values = values[~np.isnan(values)]
    if len(values) < 2:
        raise ValueError(f"The bootstrap requires at least two queries with {needed}, got one.")
    seed = check_random_state(random_state).randint(2**32, dtype=np.uint32)
    means = _resampled_means(values, n_resamples, np.random.default_rng(seed))
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return mean, float(low), float(high)


def _resampled_means(values: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return the means of bootstrap samples of `values`, each of their size."""
    means = np.empty(n_resamples)
    step = max(1, _DRAWN_AT_ONCE // len(values))
    for start in range(0, n_resamples, step):
        part = means[start : start + step]
        part[:] = values[rng.integers(len(values), size=(len(part), len(values)))].mean(axis=1)
    return means
