"""Metrics of a reader who goes down the list and stops at what satisfies."""

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

# Readers who come somewhere with a smaller probability add nothing: all the others have stopped further up, and weigh
# more.
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
    """One divided by the position of the first relevant row; over queries, MRR.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True utilities; a row is relevant if its own exceeds `threshold`.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    k : int, optional
        How many of the first positions count; all by default.
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
        Between 0 and 1; by default it is trec_eval's ``recip_rank``.

    Examples
    --------
    >>> from kernelrank.metrics import reciprocal_rank
    >>> reciprocal_rank([0, 0, 1, 1], [0.9, 0.8, 0.7, 0.1])
    0.3333333333333333
    >>> reciprocal_rank([0, 1], [0.5, 0.5])  # first or second, as likely
    0.75
    """
    k = check_depth(k)
    UNDEFINED("undefined", undefined)
    relevant, blocks = sort_relevant(y_true, y_score, qid, threshold, ties)
    here = blocks.over_rows(relevant[blocks.order])
    # Nobody reads beyond the first block with a relevant row. Of its t rows, r are relevant: after i others, the next
    # row is a relevant one with probability r / (t - i).
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
    r"""Return the expected reciprocal rank, averaged over the queries.

    .. math:: \mathrm{ERR} = \sum_{i=1}^{k} \frac{1}{i} R_i \prod_{j<i} (1 - R_j), \quad
        R_i = \frac{2^{y_i} - 1}{2^{y_{\max}}}

    with :math:`y_i` the grade at position i of the order by falling score: a reader goes down the list, and each
    row satisfies with probability :math:`R_i` [1]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grades, from 0 to `max_grade`.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    k : int, optional
        How many of the first positions count; all by default.
    max_grade : float, optional
        The highest grade there is, 1000 at most. By default that of `y_true`, over all queries; give it to compare
        results of different data.
    ties : {0, 0.5, 1, "ordinal"}, default=0.5
        The order of rows with equal scores: the worst, the expected value over all orders, the best, or that of
        the rows; see :mod:`kernelrank.metrics`.
    undefined : {0, "skip", 1}, default=0
        The value for a query in which all grades are 0. With "skip" the query is left out of the mean.
    per_query : bool, default=False
        Whether to return the values of the queries, in the order of their first rows, instead of the mean.

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
    Takes O(m log m) if there are no ties, or if they are broken by `ties` of 0 or 1. The expected value takes
    O(r c) more for a block of tied rows, r of them of a positive grade, where c is how far down
    the block a reader may come: all of it at most, k at most, and about 46 divided by the mean of R in it.

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
    # What a block adds for a reader who comes to it: this is right for single rows, and where none satisfies.
    worth = stops[blocks.starts] * _reciprocals(blocks.above, k)
    if blocks.tied:
        _set_worth_of_ties(worth, blocks, stops, reached, k)
    values = blocks.over_blocks(reached * worth)
    values[blocks.over_queries(truth[blocks.order]) == 0] = np.nan
    return summarise(values, per_query, undefined, "row with a positive grade")


def _set_worth_of_ties(worth: Floats, blocks: Blocks, stops: Floats, reached: Floats, k: int | None) -> None:
    """Overwrite the worth of blocks of several rows by its mean over their orders.

    With E_j the mean of the product of 1 - R over all choices of j of the rows, a reader passes j rows with
    probability E_j, and stops at the one after them with probability E_j - E_{j+1}.
    """
    above, sizes = blocks.above, blocks.sizes
    counts = blocks.over_rows((stops > 0).astype(np.int64))
    chosen = np.flatnonzero((sizes > 1) & (counts > 0) & (reached > _NEGLIGIBLE) & (above < (k or np.inf)))
    if len(chosen) == 0:
        return
    # E_j is at most the j-th power of the mean of 1 - R (Maclaurin's inequality): nobody comes deeper than this.
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
    """Return the product of the values before each one in its segment, 1 at its start."""
    return accumulate(np.multiply, after_one(values, starts), starts)


def _reciprocals(positions: Ints, k: int | None) -> Floats:
    """1, 1/2, 1/3, ... for positions 0, 1, 2, ..., but 0 from k on."""
    return np.where(positions < (np.inf if k is None else k), 1.0 / (positions + 1), 0.0)
