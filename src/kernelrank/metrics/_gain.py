"""Discounted cumulative gain."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kernelrank._rules import choice
from kernelrank.metrics._blocks import Blocks, Floats, check_depth, check_rows, sort_rows
from kernelrank.metrics._queries import Summary, ratio, summarise

LARGEST_GRADE = 1000  # 2 to the power of 1024 is beyond float64


def ndcg(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    gain: Literal["exp2", "linear"] = "exp2",
    ties: float = 0.5,
    per_query: bool = False,
) -> Summary:
    r"""Normalised discounted cumulative gain, averaged over the queries.

    .. math:: \mathrm{NDCG} = \frac{\mathrm{DCG}}{\mathrm{DCG\ of\ the\ ideal\ order}}, \quad
        \mathrm{DCG} = \sum_{i=1}^{k} \frac{\mathrm{gain}(y_i)}{\log_2(i + 1)}

    with :math:`y_i` the grade at position i of the order by falling score [1]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grades, not negative.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    k : int, optional
        How many of the first positions count; all by default.
    gain : {"exp2", "linear"}, default="exp2"
        What a grade is worth: :math:`2^y - 1` [2]_, or y itself [1]_.
    ties : {0, 0.5, 1}, default=0.5
        The order of rows with equal scores: the worst, the expected value over all orders [3]_, or the best;
        see :mod:`kernelrank.metrics`.
    per_query : bool, default=False
        Whether to return the values of the queries, in the order of their first rows, instead of the mean.

    Returns
    -------
    float, or ndarray of shape (n_queries,)
        Between 0 and 1. It is not defined for a query in which all grades are 0.

    Raises
    ------
    ValueError
        If it is defined for no query, or if a grade is negative, or above 1000 with ``gain="exp2"``.

    Warns
    -----
    UndefinedQueryWarning
        If it is not defined for some of the queries.

    Notes
    -----
    With ``gain="linear"`` and ``ties=0.5`` it is scikit-learn's ``ndcg_score``. That one counts a query without a
    positive grade as 0, as trec_eval does; here it is left out of the mean.

    References
    ----------
    .. [1] Järvelin, Kekäläinen: Cumulated gain-based evaluation of IR techniques. ACM Transactions on
       Information Systems 20 (2002).
    .. [2] Burges et al.: Learning to rank using gradient descent. ICML (2005).
    .. [3] McSherry, Najork: Computing information retrieval performance measures efficiently in the
       presence of tied scores. ECIR (2008).

    Examples
    --------
    >>> from kernelrank.metrics import ndcg
    >>> grades, scores = [3, 0, 2, 1], [0.9, 0.8, 0.3, 0.1]
    >>> round(ndcg(grades, scores), 4)
    0.9508
    >>> round(ndcg(grades, scores, k=2, gain="linear"), 4)
    0.7039
    """
    k = check_depth(k)
    choice("exp2", "linear")("gain", gain)
    truth, scores, codes = check_rows(y_true, y_score, qid)
    gains = exponential_gains(truth) if gain == "exp2" else check_grades(truth)
    found, ideal = sort_rows(truth, scores, codes, ties), sort_rows(truth, truth, codes)
    # In units of the query's largest, so that no sum overflows and no product underflows.
    largest = gains[ideal.order[ideal.query_starts]]
    relative = ratio(gains, largest[0] if codes is None else largest[codes])
    # Rounding can take equal sums apart.
    values = np.minimum(ratio(_dcg(found, relative, k), _dcg(ideal, relative, k)), 1.0)
    return summarise(values, per_query, "row with a positive grade")


def _dcg(blocks: Blocks, gains: Floats, k: int | None) -> Floats:
    """Return the expected DCG of each query: a row is as likely at any position of its block."""
    by_position = 1 / np.log2(np.arange(2, blocks.query_sizes.max() + 2))
    if k is not None:
        by_position[k:] = 0.0
    discounts = blocks.over_rows(by_position[blocks.positions])
    return blocks.over_blocks(discounts * (blocks.over_rows(gains[blocks.order]) / blocks.sizes))


def exponential_gains(grades: Floats) -> Floats:
    """Return 2^g - 1."""
    if check_grades(grades).max() > LARGEST_GRADE:
        raise ValueError(
            f"y_true has a grade of {grades.max():g}, and 2 to its power is too large: grades must not exceed"
            f" {LARGEST_GRADE}."
        )
    gains = np.exp2(grades) - 1.0
    small = grades < 1.0
    gains[small] = np.expm1(np.log(2.0) * grades[small])  # the difference would lose digits
    return np.asarray(gains, dtype=np.float64)


def check_grades(grades: Floats) -> Floats:
    """Refuse negative ones."""
    if (grades < 0).any():
        raise ValueError(f"y_true must hold grades that are not negative, got {grades.min():g}.")
    return grades
