"""Censored utilities in metrics: how likely it was that a utility would be observed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelrank._rules import NUMBER
from kernelrank._validation import CheckedRows
from kernelrank.exceptions import NoComparablePairsError

Floats = NDArray[np.float64]


def survival(times: Floats, events: NDArray[np.bool_], weights: Floats | None, *, of_censoring: bool) -> Floats:
    """Estimate the probability that a time exceeds that of each row, by the product-limit estimator [1]_.

    Parameters
    ----------
    times : ndarray of shape (n_rows,)
    events : ndarray of shape (n_rows,)
        Whether the time was observed.
    weights : ndarray of shape (n_rows,) or None
    of_censoring : bool
        Whether the times of censoring are meant, instead of those of events. Of an event and a censoring at the same
        time, the event comes first.

    References
    ----------
    .. [1] Kaplan, Meier: Nonparametric estimation from incomplete observations. Journal of the American Statistical
       Association 53 (1958).
    """
    distinct, numbers = np.unique(times, return_inverse=True)
    weights = np.ones(len(times)) if weights is None else weights
    happened, lost = (np.bincount(numbers, weights * kind, len(distinct)) for kind in (events, ~events))
    at_risk = np.cumsum((happened + lost)[::-1])[::-1]
    if of_censoring:
        at_risk, happened = at_risk - happened, lost
    hazard = np.divide(happened, at_risk, out=np.zeros(len(distinct)), where=happened > 0)
    # Sums of weights are rounded: where all that were at risk are lost, the hazard may exceed 1.
    return np.asarray(np.cumprod(np.maximum(1.0 - hazard, 0.0))[numbers])


def inverse_probabilities(rows: CheckedRows) -> Floats:
    """Return 1 / G for observed rows, with G the probability to be censored later; 0 for others."""
    if rows.observed is None:
        return np.ones(len(rows.y))
    uncensored = survival(rows.y, rows.observed, rows.weights, of_censoring=True)
    return np.divide(1.0, uncensored, out=np.zeros(len(rows.y)), where=rows.observed & (uncensored > 0))


def lower_weights(rows: CheckedRows, truncation: float) -> Floats:
    """Return what rows weigh as the lower ones of pairs in Uno's concordance: 1 / G^2 below the truncation, else 0."""
    NUMBER("truncation", truncation)
    seen = rows.y if rows.observed is None else rows.y[rows.observed]
    if len(seen) == 0:
        raise NoComparablePairsError("No utility is observed: there is no pair of rows whose order is known.")
    if truncation > seen.max():
        raise ValueError(
            f"truncation is {truncation:g}, but the last observed utility of the rows that are scored is"
            f" {seen.max():g}: beyond it, nothing is known of who is censored. In a cross-validation, these are the"
            " rows that a fold holds out: use an earlier truncation, or fewer folds."
        )
    return np.where(rows.y < truncation, inverse_probabilities(rows) ** 2, 0.0)
