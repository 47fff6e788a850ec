"""Discounted cumulative gain."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kernelrank._rules import COUNT, NONE, choice
from kernelrank.metrics._blocks import Blocks, Floats, Ties, accumulate, check_depth, check_rows, sort_rows
from kernelrank.metrics._queries import COUNT_AS_ZERO, UNDEFINED, Summary, Undefined, ratio, summarise

LARGEST_GRADE = 1000  # 2 ** 1024 overflows float64


def ndcg(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | Literal["mean"] | None = None,
    gain: Literal["exp2", "linear"] = "exp2",
    convention: Literal["standard", "letor"] = "standard",
    ties: Ties = 0.5,
    undefined: Undefined = "skip",
    per_query: bool = False,
) -> Summary:
    r"""Compute the normalised discounted cumulative gain (NDCG), averaged over the queries.

    .. math:: \mathrm{NDCG} = \frac{\mathrm{DCG}}{\mathrm{DCG\ of\ the\ ideal\ order}}, \quad
        \mathrm{DCG} = \sum_{i=1}^{k} \frac{\mathrm{gain}(y_i)}{\log_2(i + 1)}

    with :math:`y_i` the grade at position i of the order by descending score [1]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Non-negative grades.
    y_score : array-like of shape (n_samples,)
        Predicted scores.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order.
    k : int or "mean", optional
        Number of leading positions that count; all by default. "mean" averages over all numbers of positions, from 1 to
        the number of rows of the query.
    gain : {"exp2", "linear"}, default="exp2"
        Gain of a grade y: :math:`2^y - 1` [2]_, or y itself [1]_.
    convention : {"standard", "letor"}, default="standard"
        "letor" is the definition of the evaluation scripts of LETOR 3.0 and 4.0 [4]_, with which their baselines were
        published. It differs in three points. The discounts are 1, 1, and then :math:`1 / \log_2 i` for position i.
        A query with fewer than k rows has the value 0. A query in which all grades are 0 has the value 0, regardless of
        `undefined`.
    ties : {0, 0.5, 1, "ordinal"}, default=0.5
        Order assumed for rows with equal scores: the worst (0), the expected value over all orders (0.5) [3]_, the best
        (1), or the order in which the rows are given; see :mod:`kernelrank.metrics`.
    undefined : {"skip", 0, 1}, default="skip"
        Value of a query in which all grades are 0. With "skip" the query is left out of the mean.
    per_query : bool, default=False
        Whether to return one value per query, in the order of the first rows of the queries, instead of the mean.

    Returns
    -------
    float, or ndarray of shape (n_queries,)
        Between 0 and 1.

    Raises
    ------
    ValueError
        If all grades are 0 and `undefined` is "skip", or if a grade is negative, or above 1000 with ``gain="exp2"``.

    Warns
    -----
    UndefinedQueryWarning
        If some queries have no positive grade and are left out.

    Notes
    -----
    Other programs define NDCG differently. The page "Which NDCG is this?" (``docs/ndcg.md``) lists the options that
    reproduce each of them. With ``gain="linear"`` and ``undefined=0`` the value equals scikit-learn's ``ndcg_score``.

    References
    ----------
    .. [1] Järvelin, Kekäläinen: Cumulated gain-based evaluation of IR techniques. ACM Transactions on
       Information Systems 20 (2002).
    .. [2] Burges et al.: Learning to rank using gradient descent. ICML (2005).
    .. [3] McSherry, Najork: Computing information retrieval performance measures efficiently in the
       presence of tied scores. ECIR (2008).
    .. [4] Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
       Information Retrieval 13 (2010). The discounts are those of ``Eval-Score-3.0.pl`` and ``Eval-Score-4.0.pl``.

    Examples
    --------
    >>> from kernelrank.metrics import ndcg
    >>> grades, scores = [3, 0, 2, 1], [0.9, 0.8, 0.3, 0.1]
    >>> round(ndcg(grades, scores), 4)
    0.9508
    >>> round(ndcg(grades, scores, k=2, gain="linear"), 4)
    0.7039
    >>> round(ndcg(grades, scores, k=2, convention="letor"), 4)
    0.7
    """
    (COUNT | choice("mean") | NONE)("k", k)
    over_all = k == "mean"
    depth = None if isinstance(k, str) else check_depth(k)
    choice("exp2", "linear")("gain", gain)
    choice("standard", "letor")("convention", convention)
    UNDEFINED("undefined", undefined)
    truth, scores, codes = check_rows(y_true, y_score, qid)
    gains = exponential_gains(truth) if gain == "exp2" else check_grades(truth)
    found, ideal = sort_rows(truth, scores, codes, ties), sort_rows(truth, truth, codes)
    # Gains are relative to the largest of the query, so that no sum overflows and no product underflows.
    largest = gains[ideal.order[ideal.query_starts]]
    relative = ratio(gains, largest[0] if codes is None else largest[codes])
    discounts = _discounts(int(found.query_sizes.max()), depth, convention)
    if over_all:
        values = found.over_queries(ratio(*(_running_dcg(each, relative, discounts) for each in (found, ideal))))
        values /= found.query_sizes
    else:
        values = ratio(*(_dcg(each, relative, discounts) for each in (found, ideal)))
    values = np.minimum(values, 1.0)  # equal sums can differ by rounding
    if convention == "letor":
        values[np.isnan(values) | (found.query_sizes < (depth or 0))] = 0.0
    return summarise(values, per_query, undefined, "row with a positive grade", remedy=COUNT_AS_ZERO)


def _discounts(n: int, k: int | None, convention: str) -> Floats:
    """Return the discounts of n positions, 0 from position k on."""
    ranks = np.arange(1.0, n + 1)
    discounts: Floats = 1 / np.log2(ranks + 1 if convention == "standard" else np.maximum(ranks, 2))
    if k is not None:
        discounts[k:] = 0.0
    return discounts


def _dcg(blocks: Blocks, gains: Floats, discounts: Floats) -> Floats:
    """Return the expected DCG of each query: each row is equally likely at each position of its block."""
    by_block = blocks.over_rows(discounts[blocks.positions])
    return blocks.over_blocks(by_block * _mean_gains(blocks, gains))


def _running_dcg(blocks: Blocks, gains: Floats, discounts: Floats) -> Floats:
    """Return the expected DCG of each query at each cut-off position."""
    at_positions = discounts[blocks.positions] * blocks.to_rows(_mean_gains(blocks, gains))
    return accumulate(np.add, at_positions, blocks.query_starts)


def _mean_gains(blocks: Blocks, gains: Floats) -> Floats:
    return np.asarray(blocks.over_rows(gains[blocks.order]) / blocks.sizes)


def exponential_gains(grades: Floats) -> Floats:
    """Return 2^g - 1."""
    if check_grades(grades).max() > LARGEST_GRADE:
        raise ValueError(
            f"y_true has a grade of {grades.max():g}, but grades must not exceed"
            f" {LARGEST_GRADE} with exponential gains, which would overflow."
        )
    gains = np.exp2(grades) - 1.0
    small = grades < 1.0
    gains[small] = np.expm1(np.log(2.0) * grades[small])  # expm1 avoids cancellation
    return np.asarray(gains, dtype=np.float64)


def check_grades(grades: Floats) -> Floats:
    """Raise an error for negative grades."""
    if (grades < 0).any():
        raise ValueError(f"y_true must hold non-negative grades, got {grades.min():g}.")
    return grades
