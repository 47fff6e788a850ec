"""Agreement of scores with given pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kernelrank._query_ids import encode_queries
from kernelrank._rules import SHARE
from kernelrank._validation import check_vector, check_weights, scale_weights
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.metrics._queries import UNDEFINED, Summary, Undefined, ratio, summarise
from kernelrank.pairs._preferences import check_pairs, queries_of_pairs


def pair_accuracy(
    pairs: ArrayLike,
    y_score: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    ties: float = 0.5,
    undefined: Undefined = "skip",
    per_query: bool = False,
) -> Summary:
    """Compute the share of given pairs that the scores put in the right order.

    Use it to evaluate a model on pairs that were held out from ``fit_pairs``.

    Parameters
    ----------
    pairs : array-like of shape (n_pairs, 2)
        Row indices ``[winner, loser]``: the first row should have the higher score. Duplicate pairs count separately,
        and pairs may contradict each other.
    y_score : array-like of shape (n_samples,)
        Predicted scores of the rows that the pairs refer to.
    weight : array-like of shape (n_pairs,), optional
        Non-negative weights of the pairs.
    qid : array-like of shape (n_samples,), optional
        Query of each row, in any order. The result is then the mean over the queries that have a pair. A pair of rows
        of different queries raises an error.
    ties : float, default=0.5
        Value of a pair with equal scores, from 0 (incorrect) to 1 (correct).
    undefined : {"skip", 0, 1}, default="skip"
        Value of a query without a pair. With "skip" the query is left out of the mean.
    per_query : bool, default=False
        Whether to return one value per query, in the order of the first rows of the queries, instead of the mean. The
        value is NaN for a query without a pair, unless `undefined` is a number.

    Returns
    -------
    float, or ndarray of shape (n_queries,)
        Between 0 and 1; random scores have an expected value of 0.5.

    Raises
    ------
    ValueError
        If a pair refers to a row that is not in `y_score`, compares a row with itself, or joins two queries.
    NoComparablePairsError
        If there are no pairs, or none with a positive weight.

    Warns
    -----
    UndefinedQueryWarning
        If some queries have no pair and are left out.

    See Also
    --------
    kernelrank.metrics.concordance_index : Share of all pairs of rows with different true values.

    Examples
    --------
    >>> from kernelrank import RankSVM
    >>> from kernelrank.metrics import pair_accuracy
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0]]
    >>> model = RankSVM().fit_pairs(X, [[1, 0], [2, 1]])
    >>> pair_accuracy([[3, 0], [2, 0], [0, 1]], model.predict(X))  # the last pair is in the wrong order
    0.6666666666666666
    """
    SHARE("ties", ties)
    UNDEFINED("undefined", undefined)
    scores = check_vector(y_score, "y_score")
    edges = check_pairs(pairs, len(scores), of="y_score")
    weights, _ = scale_weights(check_weights(weight, len(edges), "weight", of="pairs"))
    codes, n_queries = encode_queries(qid, len(scores))
    queries = np.zeros(len(edges), np.int32) if codes is None else queries_of_pairs(edges, codes)
    winners, losers = scores[edges[:, 0]], scores[edges[:, 1]]
    right = np.where(winners == losers, ties, winners > losers)
    totals = np.bincount(queries, weights, minlength=n_queries)
    found = np.bincount(queries, right if weights is None else right * weights, minlength=n_queries)
    values = np.minimum(ratio(found, totals), 1.0)  # sums of weights have rounding errors
    return summarise(values, per_query, undefined, "pair", NoComparablePairsError)
