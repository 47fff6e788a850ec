"""Binary decisions by a threshold on the scores: F-score, best threshold, threshold for a given rate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._rules import NUMBER, POSITIVE, SHARE
from kernelrank._validation import check_vector, check_weights, scale_weights
from kernelrank.exceptions import UndefinedMetricError
from kernelrank.pairs._sorting import sort_falling

Floats = NDArray[np.float64]
_LARGEST_BETA = 1e100  # its square does not overflow, and the F-score equals the recall long before


class Decision(NamedTuple):
    """F-score, precision and recall of predicting rows as positive whose score exceeds a threshold.

    Attributes
    ----------
    f_score : float
        Weighted harmonic mean of precision and recall.
    precision : float
        Share of positive rows among those predicted as positive.
    recall : float
        Share of positive rows that are predicted as positive.
    threshold : float
        A row is predicted as positive if its score exceeds it.
    """

    f_score: float
    precision: float
    recall: float
    threshold: float


def f_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    threshold: float,
    *,
    beta: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute the F-score of predicting rows as positive whose score exceeds a threshold.

    .. math:: F_\beta = \frac{(1 + \beta^2)\, P R}{\beta^2 P + R} = \frac{(1 + \beta^2)\, t}{\beta^2 p + c},

    for a precision P = t / c and a recall R = t / p, with t true positives among c predicted positives and p positive
    rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct numbers; the higher one is positive.
    y_score : array-like of shape (n_samples,)
        Predicted scores. All rows share one threshold, so scores of different queries must be comparable.
    threshold : float
        A score equal to it counts as below. An infinite threshold predicts all rows as positive, or none.
    beta : float, default=1.0
        Weight of recall relative to precision; positive.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows, equivalent to repeating each row so many times.

    Returns
    -------
    float
        Between 0 and 1; 0 if there is no true positive.

    Raises
    ------
    UndefinedMetricError
        If `y_true` has only one distinct value, so that the positive class is unknown.
    ValueError
        If `y_true` has more than two distinct values.

    See Also
    --------
    kernelrank.metrics.best_f_score : Best threshold for given rows.
    kernelrank.metrics.threshold_at_rate : Threshold that needs no true values.
    kernelrank.model_selection.FScoreClassifier : Classifier that learns a threshold from training rows.

    Notes
    -----
    The value equals scikit-learn's ``fbeta_score`` of the decisions. Unlike the area under the ROC curve, it depends on
    the threshold and on the share of positive rows: predicting all of m rows as positive gives ``2 p / (m + p)``.
    F-scores of data sets with different shares of positive rows cannot be compared.

    Examples
    --------
    >>> from kernelrank.metrics import f_score
    >>> y_true, y_score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> f_score(y_true, y_score, 0.2)
    0.8
    >>> f_score(y_true, y_score, 0.9)
    0.0
    """
    positive, scores, weights = _check_rows(y_true, y_score, sample_weight)
    NUMBER("threshold", threshold)
    return _decide(positive, scores, weights, float(threshold), _check_beta(beta)).f_score


def best_f_score(
    y_true: ArrayLike, y_score: ArrayLike, *, beta: float = 1.0, sample_weight: ArrayLike | None = None
) -> Decision:
    """Find the threshold with the greatest F-score, given the true values.

    Use it to choose a threshold on rows with known values, with scores of a model that was not trained on them. **On
    test rows it is an optimistic upper bound, because it uses their true values**; never report it as the expected
    performance. :class:`kernelrank.model_selection.FScoreClassifier` learns a threshold from training rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct numbers; the higher one is positive.
    y_score : array-like of shape (n_samples,)
        Predicted scores; rows with equal scores are on the same side of every threshold.
    beta : float, default=1.0
        Weight of recall relative to precision; positive.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows, equivalent to repeating each row so many times.

    Returns
    -------
    Decision
        Named tuple ``(f_score, precision, recall, threshold)``. The threshold is the midpoint of two neighbouring
        scores, or minus infinity if it is best to predict all rows as positive. Of equally good thresholds it is the
        highest, which predicts the fewest rows as positive.

    Raises
    ------
    UndefinedMetricError
        If `y_true` has only one distinct value.
    ValueError
        If `y_true` has more than two distinct values.

    See Also
    --------
    kernelrank.metrics.f_score : F-score of a given threshold.

    Notes
    -----
    The rows are sorted once, in O(m log m); each threshold predicts a prefix of the sorted rows as positive.

    Examples
    --------
    >>> from kernelrank.metrics import best_f_score
    >>> best = best_f_score([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.2, 0.7])
    >>> print(f"F = {best.f_score:.3f} above {best.threshold}")
    F = 0.857 above 0.275
    """
    positive, scores, weights = _check_rows(y_true, y_score, sample_weight)
    beta = _check_beta(beta)
    cuts = _make_cuts(scores)
    values = _f_scores(cuts.above(weights * positive), cuts.above(weights), float(weights[positive].sum()), beta)
    threshold = float(cuts.thresholds[np.argmax(values)])  # the first of equal maxima
    return _decide(positive, scores, weights, threshold, beta)


class DecisionCurve(NamedTuple):
    """Decisions of all thresholds, by descending threshold; the arrays have one element per distinct decision.

    Attributes
    ----------
    thresholds : ndarray
        Smallest threshold with each decision: the largest score first, which no row exceeds, and minus infinity last.
    f_score, precision, recall : ndarray
        Precision is NaN where no row is predicted as positive.
    """

    thresholds: Floats
    f_score: Floats
    precision: Floats
    recall: Floats


def decision_curve(
    y_true: ArrayLike, y_score: ArrayLike, *, beta: float = 1.0, sample_weight: ArrayLike | None = None
) -> DecisionCurve:
    """Compute F-score, precision and recall of all thresholds, with the parameters of `best_f_score`."""
    positive, scores, weights = _check_rows(y_true, y_score, sample_weight)
    beta = _check_beta(beta)
    cuts = _make_cuts(scores)
    found, selected, relevant = cuts.above(weights * positive), cuts.above(weights), float(weights[positive].sum())
    with np.errstate(invalid="ignore"):
        precision = np.minimum(found / selected, 1.0)
    thresholds = np.append(scores[cuts.order], -np.inf)[cuts.sizes]
    f_scores = np.asarray(_f_scores(found, selected, relevant, beta))
    return DecisionCurve(thresholds, f_scores, precision, np.minimum(found / relevant, 1.0))


def threshold_at_rate(y_score: ArrayLike, rate: float, *, sample_weight: ArrayLike | None = None) -> float:
    """Find the threshold that a given share of the rows exceeds.

    It needs no true values. With the expected share of positive rows, it makes decisions for new rows whose scores are
    shifted relative to the scores that another threshold was learnt from [1]_.

    Parameters
    ----------
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    rate : float
        Share of rows to predict as positive, from 0 to 1.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows, equivalent to repeating each row so many times.

    Returns
    -------
    float
        The midpoint of two neighbouring scores; infinity to predict no row as positive, or minus infinity for all rows.
        Rows with equal scores are on the same side of it, so not every share is possible. The nearest possible share is
        chosen, and the smaller of two equally near ones.

    References
    ----------
    .. [1] Airola, Pyysalo, Björne, Pahikkala, Ginter, Salakoski: All-paths graph kernel for protein-protein interaction
       extraction with evaluation of cross-corpus learning. BMC Bioinformatics 9 (2008), table 5.

    Examples
    --------
    >>> from kernelrank.metrics import threshold_at_rate
    >>> threshold_at_rate([1.0, 2.0, 3.0, 4.0], 0.25)
    3.5
    >>> threshold_at_rate([1.0, 2.0, 2.0, 2.0], 0.3)  # only three rows or none are possible
    inf
    """
    scores = check_vector(y_score, "y_score")
    SHARE("rate", rate)
    scores, weights = _with_weight(scores, sample_weight)
    cuts = _make_cuts(scores)
    selected = cuts.above(weights)
    return float(cuts.thresholds[np.argmin(np.abs(selected - rate * selected[-1]))])  # the first of equal minima


class _Cuts(NamedTuple):
    """Thresholds between distinct scores, sorted by descending score."""

    order: NDArray[np.int64]
    sizes: NDArray[np.intp]  # number of rows above each threshold, from none to all
    thresholds: Floats

    def above(self, values: NDArray[Any]) -> Floats:
        """Sum values of rows over the rows above each threshold."""
        return np.append(0.0, np.cumsum(values[self.order]))[self.sizes]


def _make_cuts(scores: Floats) -> _Cuts:
    order = sort_falling(scores)
    falling = scores[order]
    inside = np.flatnonzero(falling[1:] < falling[:-1]) + 1
    over, under = falling[inside - 1], falling[inside]
    middle = over / 2 + under / 2
    middle = np.where(middle < over, middle, under)  # no float lies between two adjacent floats
    return _Cuts(order, np.concatenate(([0], inside, [len(scores)])), np.concatenate(([np.inf], middle, [-np.inf])))


def _f_scores(found: Any, selected: Any, relevant: float, beta: float) -> Any:
    """Return the F-scores for `found` true positives among `selected` rows; `relevant` is positive."""
    # With integer counts and a beta of few digits, all but the division is exact, so equal F-scores compare equal.
    return np.minimum((1 + beta**2) * found / (beta**2 * relevant + selected), 1.0)


def _decide(positive: NDArray[np.bool_], scores: Floats, weights: Floats, threshold: float, beta: float) -> Decision:
    called = scores > threshold
    found, selected = float(weights[called & positive].sum()), float(weights[called].sum())
    relevant = float(weights[positive].sum())
    precision = min(found / selected, 1.0) if selected > 0 else 0.0
    return Decision(
        float(_f_scores(found, selected, relevant, beta)), precision, min(found / relevant, 1.0), float(threshold)
    )


def _check_beta(beta: float) -> float:
    POSITIVE("beta", beta)
    return float(np.clip(beta, 1 / _LARGEST_BETA, _LARGEST_BETA))


def _check_rows(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Return the mask of positive rows, the scores and the weights, without rows of weight zero."""
    truth = check_vector(y_true, "y_true")
    scores = check_vector(y_score, "y_score", len(truth))
    both, weights = _with_weight(np.stack((truth, scores), axis=1), sample_weight)
    truth, scores = both.T
    low, high = truth.min(), truth.max()
    if low == high:
        raise UndefinedMetricError(f"y_true has one value only, {low:g}: the positive class is unknown.")
    positive = truth == high
    if not (positive | (truth == low)).all():
        raise ValueError("y_true has more than two distinct values; pass a mask of positive rows, such as y_true > 2.")
    return positive, scores, weights


def _with_weight(rows: Floats, sample_weight: ArrayLike | None) -> tuple[Floats, Floats]:
    """Return the rows with a positive weight, and the weights, scaled so that their sum is finite."""
    if len(rows) == 0:
        raise ValueError("y_score is empty: there are no rows to decide about.")
    weights, _ = scale_weights(check_weights(sample_weight, len(rows)))
    if weights is None:
        return rows, np.ones(len(rows))
    return rows[weights > 0], weights[weights > 0]
