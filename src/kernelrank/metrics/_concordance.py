"""Pairwise agreement, from exact counts of concordant and discordant pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._validation import check_vector, check_weights, scale_weights
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.pairs import UtilityPairs


def concordance_index(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    ties: float = 0.5,
    n_jobs: int | None = None,
) -> float:
    """Share of comparable pairs that the scores put in the right order.

    Rows of the same query with different true values are comparable. With two distinct true
    values this is the area under the ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True utilities; equal ones are not compared.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    qid : array-like of shape (n_samples,), optional
        Query of each row. The result is the mean over the queries that have a comparable pair.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows; a pair weighs ``w[i] * w[j]``.
    ties : float, default=0.5
        What a comparable pair with equal scores counts, from 0 (an error) to 1 (correct).
    n_jobs : int, optional
        Threads to use, as in scikit-learn.

    Returns
    -------
    float
        Between 0 and 1; 0.5 is what random scores get.

    Raises
    ------
    NoComparablePairsError
        If no query has two different true values.

    Notes
    -----
    Pairs are counted exactly, as integers unless there are weights, in O(m log m).

    Examples
    --------
    >>> from kernelrank.metrics import concordance_index
    >>> concordance_index([1, 2, 3, 4], [0.1, 0.4, 0.3, 0.9])
    0.8333333333333334
    """
    _check_ties(ties)
    concordant, discordant, tied = _compare(y_true, y_score, qid, sample_weight, n_jobs)
    return float(np.mean((concordant + ties * tied) / (concordant + discordant + tied)))


def pairwise_error(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    ties: float = 0.5,
    n_jobs: int | None = None,
) -> float:
    """Share of comparable pairs that the scores put in the wrong order.

    The complement of :func:`concordance_index`, whose parameters it shares, but for `ties`:
    here it is the error that a pair with equal scores counts as.

    Parameters
    ----------
    y_true, y_score, qid, sample_weight, n_jobs
        As in :func:`concordance_index`.
    ties : float, default=0.5
        What a comparable pair with equal scores counts, from 0 (no error) to 1 (an error).

    Returns
    -------
    float

    Examples
    --------
    >>> from kernelrank.metrics import pairwise_error
    >>> pairwise_error([0, 0, 1, 1], [0.2, 0.5, 0.5, 0.9])
    0.125
    >>> pairwise_error([0, 0, 1, 1], [0.2, 0.5, 0.5, 0.9], ties=0)
    0.0
    """
    _check_ties(ties)
    concordant, discordant, tied = _compare(y_true, y_score, qid, sample_weight, n_jobs)
    return float(np.mean((discordant + ties * tied) / (concordant + discordant + tied)))


def _check_ties(ties: float) -> None:
    if not 0 <= ties <= 1:
        raise ValueError(f"ties must lie between 0 and 1, got {ties!r}.")


def _compare(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
    n_jobs: int | None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Concordant, discordant and tied pairs (or their weight) of each query that has any."""
    truth = check_vector(y_true, "y_true")
    scores = check_vector(y_score, "y_score", len(truth))
    weights, _ = scale_weights(check_weights(sample_weight, len(truth)))
    pairs = UtilityPairs(truth, qid=qid, sample_weight=weights, n_jobs=n_jobs)
    comparable = pairs.pairs_per_query > 0
    if not comparable.any():
        raise NoComparablePairsError(
            "There is no pair to compare: no two rows of a common query have different values of y_true."
        )
    # With margin 0 a pair is violated when the better row has the strictly lower score.
    discordant = pairs.count_totals(scores, margin=0.0)[comparable]
    concordant = pairs.count_totals(-scores, margin=0.0)[comparable]
    tied = pairs.pairs_per_query[comparable] - concordant - discordant
    return concordant, discordant, np.maximum(tied, 0)  # sums of weights are rounded
