"""Cascade metrics: a user scans the list from the top and stops at a satisfying row."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kernelrank._rules import number
from kernelrank.metrics._blocks import (
    Blocks,
    Floats,
    Ints,
    Ties,
    accumulate,
    check_depth,
    check_rows,
    sort_rows,
)
from kernelrank.metrics._continuation import after_one, continuation_probabilities
from kernelrank.metrics._gain import LARGEST_GRADE, exponential_gains
from kernelrank.metrics._queries import UNDEFINED, Summary, Undefined, summarise
from kernelrank.metrics._relevance import sort_relevant

# Positions that are reached with a smaller probability are neglected: their contribution is lost in floating-point
# rounding beside that of the positions above.
_NEGLIGIBLE = 1e-20


def reciprocal_rank(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    threshold: float = 0.0,
    ties: Ties = 0.5,
    undefined: Undefined = 0,
    per_query: bool = False,
) -> Summary:
    """Compute the reciprocal rank of the first relevant row; its mean over queries is the MRR.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True utilities; a row is relevant if its value exceeds `threshold`.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    k : int, optional
        Number of leading positions that count; all by default.
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
        Between 0 and 1; by default the value is trec_eval's ``recip_rank``.

    Examples
    --------
    >>> from kernelrank.metrics import reciprocal_rank
    >>> reciprocal_rank([0, 0, 1, 1], [0.9, 0.8, 0.7, 0.1])
    0.3333333333333333
    >>> reciprocal_rank([0, 1], [0.5, 0.5])  # first or second with equal probability
    0.75
    """
    k = check_depth(k)
    UNDEFINED("undefined", undefined)
    relevant, blocks = sort_relevant(y_true, y_score, qid, threshold, ties)
    here = blocks.over_rows(relevant[blocks.order])
    # A user stops at the first block with a relevant row at the latest. Of its t rows, r are relevant: after i other
    # rows, the next row is relevant with probability r / (t - i).
    first = np.flatnonzero((here > 0) & (blocks.counted_above(here) == 0))
    lengths = blocks.sizes[first] - here[first] + 1
    starts = np.cumsum(lengths) - lengths
    passed = np.arange(lengths.sum()) - np.repeat(starts, lengths)
    stops = np.repeat(here[first], lengths) / (np.repeat(blocks.sizes[first], lengths) - passed)
    weights = _reciprocals(np.repeat(blocks.above[first], lengths) + passed, k)
    values = np.full(len(blocks.query_starts), np.nan)
    if len(first):
        queries = np.searchsorted(blocks.first_blocks, first, side="right") - 1
        values[queries] = np.add.reduceat(products_before(1.0 - stops, starts) * stops * weights, starts)
    return summarise(np.minimum(values, 1.0), per_query, undefined, "relevant row")


def err(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    max_grade: float | None = None,
    ties: Ties = 0.5,
    undefined: Undefined = 0,
    per_query: bool = False,
) -> Summary:
    r"""Compute the expected reciprocal rank, averaged over the queries.

    .. math:: \mathrm{ERR} = \sum_{i=1}^{k} \frac{1}{i} R_i \prod_{j<i} (1 - R_j), \quad
        R_i = \frac{2^{y_i} - 1}{2^{y_{\max}}}

    with :math:`y_i` the grade at position i of the order by descending score: a user scans the list from the top, and
    stops at a row with probability :math:`R_i` [1]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grades, from 0 to `max_grade`.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    k : int, optional
        Number of leading positions that count; all by default.
    max_grade : float, optional
        The highest possible grade, at most 1000. By default it is the highest grade in `y_true`, over all queries; set
        it to compare results of different data sets.
    ties : {0, 0.5, 1, "ordinal"}, default=0.5
        Order assumed for rows with equal scores: the worst (0), the expected value over all orders (0.5), the best (1),
        or the order in which the rows are given; see :mod:`kernelrank.metrics`.
    undefined : {0, "skip", 1}, default=0
        Value of a query in which all grades are 0. With "skip" the query is left out of the mean.
    per_query : bool, default=False
        Whether to return one value per query, in the order of the first rows of the queries, instead of the mean.

    Returns
    -------
    float, or ndarray of shape (n_queries,)
        Above 0 and below 1, for a query with a positive grade.

    Raises
    ------
    ValueError
        If a grade is negative, or above `max_grade`.

    Notes
    -----
    The running time is O(m log m) without ties, or if ties are broken with `ties` of 0 or 1. The expected value takes
    an additional O(r c) per block of tied rows, where r is the number of its rows with a positive grade and c is the
    number of positions of the block that a user can reach: at most its size, at most k, and about 46 divided by the
    mean of R in the block.

    References
    ----------
    .. [1] Chapelle, Metzler, Zhang, Grinspan: Expected reciprocal rank for graded relevance. CIKM (2009).

    Examples
    --------
    >>> from kernelrank.metrics import err
    >>> round(err([3, 0, 2, 1], [0.9, 0.8, 0.3, 0.1]), 4)
    0.8931
    """
    k = check_depth(k)
    UNDEFINED("undefined", undefined)
    truth, scores, codes = check_rows(y_true, y_score, qid)
    gains = exponential_gains(truth)
    top = truth.max() if max_grade is None else max_grade
    words = f"a number between the largest grade of y_true, {truth.max():g}, and {LARGEST_GRADE}"
    number(words, lambda value: truth.max() <= value <= LARGEST_GRADE)("max_grade", top)
    blocks = sort_rows(truth, scores, codes, ties)
    stops = (gains / np.exp2(top))[blocks.order]
    passing = np.multiply.reduceat(1.0 - stops, blocks.starts) if blocks.tied else 1.0 - stops
    reached = products_before(passing, blocks.first_blocks)
    # Contribution of each block, given that it is reached. Exact for blocks of one row and blocks with R = 0.
    worth = stops[blocks.starts] * _reciprocals(blocks.above, k)
    if blocks.tied:
        _set_worth_of_ties(worth, blocks, stops, reached, k)
    values = blocks.over_blocks(reached * worth)
    values[blocks.over_queries(truth[blocks.order]) == 0] = np.nan
    return summarise(values, per_query, undefined, "row with a positive grade")


def _set_worth_of_ties(worth: Floats, blocks: Blocks, stops: Floats, reached: Floats, k: int | None) -> None:
    """Replace the contribution of each block of several rows with its mean over their orders.

    With E_j the mean of the product of 1 - R over all subsets of j rows, a user passes the first j rows with
    probability E_j, and stops at the next row with probability E_j - E_{j+1}.
    """
    above, sizes = blocks.above, blocks.sizes
    counts = blocks.over_rows((stops > 0).astype(np.int64))
    chosen = np.flatnonzero((sizes > 1) & (counts > 0) & (reached > _NEGLIGIBLE) & (above < (k or np.inf)))
    if len(chosen) == 0:
        return
    # E_j is at most the j-th power of the mean of 1 - R (Maclaurin's inequality), which bounds the depth to compute.
    with np.errstate(divide="ignore", over="ignore"):
        deepest = np.log(_NEGLIGIBLE) / np.log1p(-blocks.over_rows(stops)[chosen] / sizes[chosen])
    depths = np.clip(np.ceil(deepest), 1, sizes[chosen]).astype(np.int64)
    if k is not None:
        depths = np.minimum(depths, k - above[chosen])
    firsts = np.cumsum(counts) - counts
    passed = continuation_probabilities(1.0 - stops[stops > 0], firsts[chosen], counts[chosen], sizes[chosen], depths)
    starts = np.cumsum(depths) - depths
    positions = np.repeat(above[chosen] - starts, depths) + np.arange(len(passed))
    stopped = after_one(passed, starts) - passed
    worth[chosen] = np.add.reduceat(stopped / (positions + 1), starts)


def products_before(values: Floats, starts: Ints) -> Floats:
    """Return the product of the values before each value in its segment, 1 at the start of a segment."""
    return accumulate(np.multiply, after_one(values, starts), starts)


def _reciprocals(positions: Ints, k: int | None) -> Floats:
    """Return 1, 1/2, 1/3, ... for positions 0, 1, 2, ..., and 0 from position k on."""
    return np.where(positions < (np.inf if k is None else k), 1.0 / (positions + 1), 0.0)
