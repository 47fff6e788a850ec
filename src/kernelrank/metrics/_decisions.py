"""Decisions: which rows are called positive, and how well that agrees with the truth."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._rules import NUMBER, POSITIVE, SHARE
from kernelrank._validation import check_vector, check_weights, scale_weights
from kernelrank.exceptions import UndefinedMetricError
from kernelrank.pairs._sorting import sort_falling

Floats = NDArray[np.float64]
_LARGEST_BETA = 1e100  # its square is a number; the F-score has become the recall long before


class Decision(NamedTuple):
    """What is gained by calling rows positive whose score exceeds a threshold."""

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
    r"""F-score of calling the rows positive whose score exceeds a threshold.

    .. math:: F_\beta = \frac{(1 + \beta^2)\, P R}{\beta^2 P + R} = \frac{(1 + \beta^2)\, t}{\beta^2 p + c},

    for a precision P = t / c and a recall R = t / p: of c rows that are called positive t are, and of all rows p are.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct numbers; the higher one is positive.
    y_score : array-like of shape (n_samples,)
        Predicted scores, of all queries on one scale: there is one threshold.
    threshold : float
        A score on it is below it. Infinite ones call all rows positive, or none.
    beta : float, default=1.0
        How much more recall counts than precision; positive.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows: how many each stands for.

    Returns
    -------
    float
        Between 0 and 1; 0 if no positive row is called so, or no row at all.

    Raises
    ------
    UndefinedMetricError
        If `y_true` has one value only, which does not tell whether it is positive.
    ValueError
        If it has more than two.

    See Also
    --------
    best_f_score : The threshold that is best for these rows.
    threshold_at_rate : A threshold that needs no true values.
    kernelrank.model_selection.FScoreClassifier : Learns a threshold from training rows.

    Notes
    -----
    It is scikit-learn's ``fbeta_score`` of the decisions. Unlike the area under the ROC curve it depends on the
    threshold, and on how many rows are positive: calling all of them positive reaches ``2 p / (m + p)`` of m rows, and
    F-scores of data with other shares of positive rows cannot be compared.

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

    It makes a threshold from rows with known values, whose scores come from a model that has not seen them. **On the
    rows that a model is tested on it is an upper bound, which knows the answers**: something to compare with, and never
    the performance to expect. :class:`kernelrank.model_selection.FScoreClassifier` learns a threshold from training
    rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct numbers; the higher one is positive.
    y_score : array-like of shape (n_samples,)
        Predicted scores; equal ones are on the same side of every threshold.
    beta : float, default=1.0
        How much more recall counts than precision; positive.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows: how many each stands for.

    Returns
    -------
    Decision
        Named tuple ``(f_score, precision, recall, threshold)``. The threshold is in the middle between two neighbouring
        scores; minus infinity, if it is best to call all rows positive. Of equally good thresholds it is the
        highest, which calls the fewest rows positive.

    Raises
    ------
    UndefinedMetricError
        If `y_true` has one value only.
    ValueError
        If it has more than two.

    See Also
    --------
    f_score : That of a given threshold.

    Notes
    -----
    One sort, O(m log m): rows that are called positive are the first of it.

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
    threshold = float(cuts.thresholds[np.argmax(values)])  # the first of equals
    return _decide(positive, scores, weights, threshold, beta)


def threshold_at_rate(y_score: ArrayLike, rate: float, *, sample_weight: ArrayLike | None = None) -> float:
    """Find the threshold that so large a share of the rows exceeds.

    It needs no true values: with the share of positive rows that is expected, it decides about new rows whose scores
    may be on another level than those a threshold was learnt from [1]_.

    Parameters
    ----------
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    rate : float
        The share of the rows to call positive, from 0 to 1.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows: how many each stands for.

    Returns
    -------
    float
        In the middle between two neighbouring scores; infinite, to call no row positive, or minus infinity for all.
        Equal scores are on the same side of it, and rows are whole: of the shares that are possible it has the nearest,
        and of two equally near ones the smaller.

    References
    ----------
    .. [1] Airola, Pyysalo, Björne, Pahikkala, Ginter, Salakoski: All-paths graph kernel for protein-protein interaction
       extraction with evaluation of cross-corpus learning. BMC Bioinformatics 9 (2008), table 5.

    Examples
    --------
    >>> from kernelrank.metrics import threshold_at_rate
    >>> threshold_at_rate([1.0, 2.0, 3.0, 4.0], 0.25)
    3.5
    >>> threshold_at_rate([1.0, 2.0, 2.0, 2.0], 0.3)  # three rows or none
    inf
    """
    scores = check_vector(y_score, "y_score")
    SHARE("rate", rate)
    scores, weights = _with_weight(scores, sample_weight)
    cuts = _make_cuts(scores)
    selected = cuts.above(weights)
    return float(cuts.thresholds[np.argmin(np.abs(selected - rate * selected[-1]))])  # the first of equals


class _Cuts(NamedTuple):
    """Where the rows, sorted by falling score, can be cut in two."""

    order: NDArray[np.int64]
    sizes: NDArray[np.intp]  # rows above each cut, from none to all
    thresholds: Floats

    def above(self, values: NDArray[Any]) -> Floats:
        """Sum values of rows over those above each cut."""
        return np.append(0.0, np.cumsum(values[self.order]))[self.sizes]


def _make_cuts(scores: Floats) -> _Cuts:
    order = sort_falling(scores)
    falling = scores[order]
    inside = np.flatnonzero(falling[1:] < falling[:-1]) + 1
    over, under = falling[inside - 1], falling[inside]
    middle = over / 2 + under / 2
    middle = np.where(middle < over, middle, under)  # two neighbouring floats have no number between them
    return _Cuts(order, np.concatenate(([0], inside, [len(scores)])), np.concatenate(([np.inf], middle, [-np.inf])))


def _f_scores(found: Any, selected: Any, relevant: float, beta: float) -> Any:
    """F-scores of `found` positive rows among those selected; there are relevant ones."""
    # With whole numbers and a beta of few digits, all but the division is exact: equal F-scores are equal.
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
    """Return which rows are positive, scores and weights; rows without weight are as if they were not there."""
    truth = check_vector(y_true, "y_true")
    scores = check_vector(y_score, "y_score", len(truth))
    both, weights = _with_weight(np.stack((truth, scores), axis=1), sample_weight)
    truth, scores = both.T
    low, high = truth.min(), truth.max()
    if low == high:
        raise UndefinedMetricError(f"y_true has one value only, {low:g}, which does not tell whether it is positive.")
    positive = truth == high
    if not (positive | (truth == low)).all():
        raise ValueError("y_true has more than two distinct values: say which are positive, as in y_true > 2.")
    return positive, scores, weights


def _with_weight(rows: Floats, sample_weight: ArrayLike | None) -> tuple[Floats, Floats]:
    """Return the rows that have a weight, and the weights, divided so that their sum is a number."""
    if len(rows) == 0:
        raise ValueError("y_score is empty: there are no rows to decide about.")
    weights, _ = scale_weights(check_weights(sample_weight, len(rows)))
    if weights is None:
        return rows, np.ones(len(rows))
    return rows[weights > 0], weights[weights > 0]
