"""Precision: metrics of rows that are relevant or not."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kernelrank._rules import COUNT, NUMBER
from kernelrank.metrics._blocks import Blocks, Ints, Ties, check_rows, sort_rows
from kernelrank.metrics._queries import COUNT_AS_ZERO, UNDEFINED, Summary, Undefined, ratio, summarise


def average_precision(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    threshold: float = 0.0,
    ties: Ties = 0.5,
    undefined: Undefined = "skip",
    per_query: bool = False,
) -> Summary:
    """Mean of the precisions at the positions of the relevant rows; over queries, MAP.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True utilities; a row is relevant if its own exceeds `threshold`.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    threshold : float, default=0.0
    ties : {0, 0.5, 1, "ordinal"}, default=0.5
        The order of rows with equal scores: the worst, the expected value over all orders [1]_, the best, or that of
        the rows; see :mod:`kernelrank.metrics`.
    undefined : {"skip", 0, 1}, default="skip"
        The value for a query without a relevant row. With "skip" the query is left out of the mean.
    per_query : bool, default=False
        Whether to return the values of the queries, in the order of their first rows, instead of the mean.

    Returns
    -------
    float, or ndarray of shape (n_queries,)
        Between 0 and 1.

    Raises
    ------
    ValueError
        If no query has a relevant row, and `undefined` is "skip".

    Warns
    -----
    UndefinedQueryWarning
        If some queries have none and are left out.

    Notes
    -----
    Without ties it is scikit-learn's ``average_precision_score`` and trec_eval's ``map``, whose mean counts queries
    without a relevant row as 0, as ``undefined=0`` does. With ties these are other
    numbers: scikit-learn takes the rows of equal scores for one step of the threshold, and counts
    the precision below all of them; trec_eval sorts them by their names.

    References
    ----------
    .. [1] McSherry, Najork: Computing information retrieval performance measures efficiently in the
       presence of tied scores. ECIR (2008), section 2.4.

    Examples
    --------
    >>> from kernelrank.metrics import average_precision
    >>> round(average_precision([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]), 4)
    0.8333
    """
    UNDEFINED("undefined", undefined)
    relevant, blocks = sort_relevant(y_true, y_score, qid, threshold, ties)
    here = blocks.over_rows(relevant[blocks.order])
    # At position i of a block of t rows, r of them relevant, a row is relevant with probability r / t; then, of the
    # i - 1 rows of the block before it, (i - 1) (r - 1) / (t - 1) are relevant.
    chance = here / blocks.sizes
    growth = (here - 1) / np.maximum(blocks.sizes - 1, 1)
    inside = blocks.positions - blocks.to_rows(blocks.above)
    found = blocks.to_rows(blocks.counted_above(here) + 1) + inside * blocks.to_rows(growth)
    precisions = blocks.to_rows(chance) * found / (blocks.positions + 1)
    values = ratio(blocks.over_queries(precisions), blocks.over_blocks(here))
    return summarise(np.minimum(values, 1.0), per_query, undefined, "relevant row", remedy=COUNT_AS_ZERO)


def precision_at(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int,
    qid: ArrayLike | None = None,
    threshold: float = 0.0,
    ties: Ties = 0.5,
    undefined: Undefined = 0,
    per_query: bool = False,
) -> Summary:
    """Share of relevant rows among the first k, averaged over the queries.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True utilities; a row is relevant if its own exceeds `threshold`.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    k : int
        How many positions count. They are divided by even if the query has fewer rows, as in trec_eval's ``P_k``.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    threshold : float, default=0.0
    ties : {0, 0.5, 1, "ordinal"}, default=0.5
        The order of rows with equal scores: the worst, the expected value over all orders, the best, or that of
        the rows; see :mod:`kernelrank.metrics`.
    undefined : {0, "skip", 1}, default=0
        The value for a query without a relevant row. With "skip" the query is left out of the mean.
    per_query : bool, default=False
        Whether to return the values of the queries, in the order of their first rows, instead of the mean.

    Returns
    -------
    float, or ndarray of shape (n_queries,)
        Between 0 and 1.

    Examples
    --------
    >>> from kernelrank.metrics import precision_at
    >>> precision_at([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1], k=2)
    0.5
    """
    COUNT("k", k)
    UNDEFINED("undefined", undefined)
    relevant, blocks = sort_relevant(y_true, y_score, qid, threshold, ties)
    here = blocks.over_rows(relevant[blocks.order])
    inside = np.clip(k - blocks.above, 0, blocks.sizes)  # positions of the block that count
    values = blocks.over_blocks(here * inside / blocks.sizes) / k
    values[blocks.over_blocks(here) == 0] = np.nan
    return summarise(values, per_query, undefined, "relevant row")


def sort_relevant(
    y_true: ArrayLike, y_score: ArrayLike, qid: ArrayLike | None, threshold: float, ties: Ties
) -> tuple[Ints, Blocks]:
    """Return which rows are relevant, as 0 or 1, and the rows sorted."""
    NUMBER("threshold", threshold)
    truth, scores, codes = check_rows(y_true, y_score, qid)
    relevant = truth > threshold
    return relevant.astype(np.int64), sort_rows(relevant.astype(np.float64), scores, codes, ties)
