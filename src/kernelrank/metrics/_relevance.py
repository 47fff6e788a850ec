"""Metrics of binary relevance: average precision and precision at k."""

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
    """Compute the mean precision at the positions of the relevant rows; its mean over queries is the MAP.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True utilities; a row is relevant if its value exceeds `threshold`.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    threshold : float, default=0.0
        Utility that a relevant row exceeds.
    ties : {0, 0.5, 1, "ordinal"}, default=0.5
        Order assumed for rows with equal scores: the worst (0), the expected value over all orders (0.5) [1]_, the best
        (1), or the order in which the rows are given; see :mod:`kernelrank.metrics`.
    undefined : {"skip", 0, 1}, default="skip"
        Value of a query without a relevant row. With "skip" the query is left out of the mean.
    per_query : bool, default=False
        Whether to return one value per query, in the order of the first rows of the queries, instead of the mean.

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
        If some queries have no relevant row and are left out.

    Notes
    -----
    Without ties the value equals scikit-learn's ``average_precision_score`` and trec_eval's ``map``. The mean of the
    latter counts queries without a relevant row as 0, as ``undefined=0`` does. With ties the values differ:
    scikit-learn regards rows with equal scores as one step of the threshold and uses the precision below all of them;
    trec_eval sorts them by their document identifiers.

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
    # At each position i of a block of t rows, r of them relevant, a row is relevant with probability r / t; given that,
    # the expected number of relevant rows among the i - 1 rows of the block before it is (i - 1) (r - 1) / (t - 1).
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
    """Compute the share of relevant rows among the first k, averaged over the queries.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True utilities; a row is relevant if its value exceeds `threshold`.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    k : int
        Number of positions that count. The divisor is k even if the query has fewer rows, as in trec_eval's ``P_k``.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    threshold : float, default=0.0
        Utility that a relevant row exceeds.
    ties : {0, 0.5, 1, "ordinal"}, default=0.5
        Order assumed for rows with equal scores: the worst (0), the expected value over all orders (0.5), the best (1),
        or the order in which the rows are given; see :mod:`kernelrank.metrics`.
    undefined : {0, "skip", 1}, default=0
        Value of a query without a relevant row. With "skip" the query is left out of the mean.
    per_query : bool, default=False
        Whether to return one value per query, in the order of the first rows of the queries, instead of the mean.

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
    inside = np.clip(k - blocks.above, 0, blocks.sizes)  # positions of the block among the first k
    values = blocks.over_blocks(here * inside / blocks.sizes) / k
    values[blocks.over_blocks(here) == 0] = np.nan
    return summarise(values, per_query, undefined, "relevant row")


def sort_relevant(
    y_true: ArrayLike, y_score: ArrayLike, qid: ArrayLike | None, threshold: float, ties: Ties
) -> tuple[Ints, Blocks]:
    """Return the relevance of the rows, as 0 or 1, and the sorted rows."""
    NUMBER("threshold", threshold)
    truth, scores, codes = check_rows(y_true, y_score, qid)
    relevant = truth > threshold
    return relevant.astype(np.int64), sort_rows(relevant.astype(np.float64), scores, codes, ties)
