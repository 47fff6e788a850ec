"""Area under the ROC curve of who is gone by a time against who is not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._validation import as_array, check_rows, check_vector
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.metrics._censoring import inverse_probabilities, survival
from kernelrank.pairs._sorting import sort_falling

Floats = NDArray[np.float64]


class TimeDependentAUC(NamedTuple):
    """Area under the ROC curve at several times, and their mean over the times of events.

    Attributes
    ----------
    times : ndarray of shape (n_times,)
        Times of the areas, in the given order.
    auc : ndarray of shape (n_times,)
        Area under the ROC curve at each time.
    mean : float
        Mean of the areas, weighted by the shares of events since the time before.
    """

    times: Floats
    auc: Floats
    mean: float


def cumulative_dynamic_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    times: ArrayLike,
    *,
    observed: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> TimeDependentAUC:
    r"""Compute how well scores tell who is gone by a time from who is still there, for several times.

    .. math:: \mathrm{AUC}(t) = \frac{\sum_{y_i \le t < y_j} w_i [p_i < p_j]}{\sum_{y_i \le t < y_j} w_i}

    over observed rows i and any rows j; a tie of the scores counts half. :math:`w_i` is the inverse of the probability
    that row i is not censored up to :math:`y_i`, estimated from all rows [1]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Times, or other utilities. Or a structured array or a data frame of two columns, a boolean one for `observed`
        and a numeric one.
    y_score : array-like of shape (n_samples,)
        Predicted scores: the higher, the later. Negate risks.
    times : array-like of shape (n_times,)
        At each of them, some observed rows must be gone, and some rows still there.
    observed : array-like of shape (n_samples,), optional
        False (or 0) where the time is censored: the true one is at least `y_true`.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows; a pair weighs ``w[i] * w[j]``.

    Returns
    -------
    TimeDependentAUC
        Named tuple ``(times, auc, mean)``. Each area counts in the mean by the share of events since the time before.

    Raises
    ------
    NoComparablePairsError
        If by one of the times no row is known to be gone, or all rows are.

    See Also
    --------
    kernelrank.metrics.concordance_index : One number for all times.
    kernelrank.plots.TimeDependentAUCDisplay : Plots it.

    Notes
    -----
    One sort, and O(m) for each time. It equals scikit-survival's function of that name, for the negated scores, if that
    estimates the probabilities from the same rows.

    References
    ----------
    .. [1] Hung, Chiang: Estimation methods for time-dependent AUC models with survival data. Canadian Journal of
       Statistics 38 (2010).

    Examples
    --------
    >>> from kernelrank.metrics import cumulative_dynamic_auc
    >>> years, died = [1, 2, 3, 4, 5, 6], [True, False, True, True, False, True]
    >>> cumulative_dynamic_auc(years, [0.1, 0.4, 0.5, 0.2, 0.9, 0.3], [1.5, 4.5], observed=died).auc.round(3)
    array([1.   , 0.821])
    """
    rows = check_rows(y_true, None, sample_weight, None, observed, name="y_true")
    scores = check_vector(y_score, "y_score", len(rows.y))
    given = as_array(times, "times")
    at = check_vector(given if given.ndim else given[None], "times")
    if len(at) == 0:
        raise ValueError("times is empty; at least one time is required.")
    weights = np.ones(len(scores)) if rows.weights is None else rows.weights
    seen = np.ones(len(scores), np.bool_) if rows.observed is None else rows.observed
    order = sort_falling(scores)
    starts = np.flatnonzero(np.append(True, np.diff(scores[order]) != 0))
    y, case_weights, control_weights = (x[order] for x in (rows.y, weights * inverse_probabilities(rows), weights))
    areas = np.empty(len(at))
    for k, time in enumerate(at):
        cases, controls = (
            np.add.reduceat(np.where(chosen, x, 0.0), starts)
            for chosen, x in ((y <= time, case_weights), (y > time, control_weights))
        )
        both = cases.sum() * controls.sum()
        if both == 0:
            missing = "all rows are gone" if controls.sum() == 0 else "no row is known to be gone"
            raise NoComparablePairsError(f"times[{k}] is {time:g}, when {missing}: there is no pair to compare.")
        areas[k] = cases @ (np.cumsum(controls) - controls / 2) / both  # controls above, and half of those beside
    return TimeDependentAUC(at, areas, _mean(areas, at, rows.y, seen, rows.weights))


def _mean(areas: Floats, times: Floats, y: Floats, seen: NDArray[np.bool_], weights: Floats | None) -> float:
    """Return the mean of the areas, each weighted by the share of events since the time before."""
    by_time = np.argsort(times, kind="stable")
    order = np.argsort(y, kind="stable")
    left = np.append(1.0, survival(y, seen, weights, of_censoring=False)[order])
    left_at = left[np.searchsorted(y[order], times[by_time], side="right")]
    events = -np.diff(left_at, prepend=1.0)
    return float(events @ areas[by_time] / events.sum())
