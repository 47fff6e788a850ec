"""Area under the ROC curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._validation import check_vector
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.metrics._concordance import concordance_index
from kernelrank.metrics._queries import UNDEFINED, Summary, Undefined, summarise

CLASSES = "pair of a positive and a negative row"


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
    kernelrank.metrics.concordance_index : Generalisation to any true values.
    kernelrank.metrics.auc_interval : Area with a confidence interval.

    Examples
    --------
    >>> from kernelrank.metrics import auc
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    UNDEFINED("undefined", undefined)
    truth = check_classes(check_vector(y_true, "y_true"))
    values = concordance_index(truth, y_score, qid=qid, sample_weight=sample_weight, ties=ties, per_query=True)
    return summarise(values, per_query, undefined, CLASSES, NoComparablePairsError)


def check_classes(truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return true values; raise an error if there are more than two distinct ones."""
    if len(truth) and not ((truth == truth.min()) | (truth == truth.max())).all():
        raise ValueError("y_true has more than two distinct values; use concordance_index.")
    return truth
