"""Reference implementations straight from the definitions, by loops over all pairs, O(m^2)."""

import numpy as np


def comparable_pairs(y, qid, weights, observed=None):
    """Return the matrix of w[i] * w[j] where i is known to be below j in the same query; integers without weights.

    That is y[i] < y[j] with i observed, or y[i] = y[j] with i observed and j not.
    """
    y = np.asarray(y, dtype=float)
    query = query_numbers(qid, len(y))
    seen = np.ones(len(y), bool) if observed is None else np.asarray(observed, bool)
    lower = (y[:, None] < y[None, :]) | ((y[:, None] == y[None, :]) & ~seen[None, :])
    comparable = lower & seen[:, None] & (query[:, None] == query[None, :])
    if weights is None:
        return comparable.astype(np.int64)
    return np.where(comparable, np.multiply.outer(np.asarray(weights, float), np.asarray(weights, float)), 0.0)


def query_numbers(qid, n_rows):
    """Assign codes 0, 1, ... to the queries in the order of their first rows."""
    numbers = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in ([0] * n_rows if qid is None else qid)], int)


def _differences(scores):
    """Return the matrix of p[i] - p[j]."""
    p = np.asarray(scores, dtype=float)
    return p[:, None] - p[None, :]


def violated_pairs(y, scores, qid=None, weights=None, margin=1.0, observed=None):
    """Return the matrix of w[i] * w[j] where y[i] < y[j] and the scores violate that, else 0."""
    p = np.asarray(scores, dtype=float)
    with np.errstate(over="ignore"):  # all finite scores violate an infinite bound
        reach = p[:, None] + margin
    return np.where(p[None, :] < reach, comparable_pairs(y, qid, weights, observed), 0)


def count_violations(y, scores, qid=None, weights=None, margin=1.0, observed=None):
    """Return (c, d): the violated pairs in which a row is the lower one, and the higher one."""
    violated = violated_pairs(y, scores, qid, weights, margin, observed)
    return violated.sum(axis=1), violated.sum(axis=0)


def laplacian(pairs):
    """Return the Laplacian L of a weighted graph: v . L v is the sum of pairs[i, j] * (v[i] - v[j])^2."""
    edges = pairs + pairs.T
    return np.diag(edges.sum(axis=1)) - edges


def count_violations_of_levels(y, scores, margin=1.0):
    """Count the same by binary search, for one query with few distinct utilities and many rows."""
    y, p = np.asarray(y), np.asarray(scores, dtype=float)
    c, d = np.zeros(len(p), np.int64), np.zeros(len(p), np.int64)
    rows_of = [np.flatnonzero(y == level) for level in np.unique(y)]
    for k, higher in enumerate(rows_of):
        for lower in rows_of[:k]:
            c[lower] += np.searchsorted(np.sort(p[higher]), p[lower] + margin, side="left")
            d[higher] += len(lower) - np.searchsorted(np.sort(p[lower] + margin), p[higher], side="right")
    return c, d


def shares(y, qid=None, weights=None, query_weighting="query", observed=None):
    """Return the weight of each pair in the average, with equal weight per "pair" or per "query" that has a pair."""
    pairs = comparable_pairs(y, qid, weights, observed).astype(float)
    if query_weighting == "pair":
        return pairs / pairs.sum()
    query = query_numbers(qid, len(pairs))
    totals = [pairs[query == q].sum() for q in np.unique(query)]
    for q, total in enumerate(totals):
        if total > 0:
            pairs[query == q] /= total * np.count_nonzero(totals)
    return pairs


def _mean_over_pairs(values, *data):
    """Average a matrix of values of pairs."""
    weights = shares(*data)
    return (np.where(weights > 0, values, 0.0) * weights).sum()


def pairwise_hinge(y, scores, qid=None, weights=None, query_weighting="query", observed=None):
    """Return the mean of max(0, 1 + p[i] - p[j]) over the pairs with y[i] < y[j]."""
    return _mean_over_pairs(np.maximum(0.0, 1.0 + _differences(scores)), y, qid, weights, query_weighting, observed)


def pairwise_squared_hinge(y, scores, qid=None, weights=None, query_weighting="query", observed=None):
    """Return the mean of max(0, 1 + p[i] - p[j])^2 over the pairs with y[i] < y[j]."""
    return _mean_over_pairs(
        np.maximum(0.0, 1.0 + _differences(scores)) ** 2, y, qid, weights, query_weighting, observed
    )


def squared_hinge_gradient(y, scores, qid=None, weights=None, query_weighting="query"):
    """Return the derivative of `pairwise_squared_hinge` with respect to the scores, by a loop over pairs."""
    slopes = 2 * np.maximum(0.0, 1.0 + _differences(scores)) * shares(y, qid, weights, query_weighting)
    return slopes.sum(axis=1) - slopes.sum(axis=0)


def squared_hinge_curvature(y, scores, qid=None, weights=None, query_weighting="query"):
    """Return the matrix of second derivatives of `pairwise_squared_hinge`."""
    violated = violated_pairs(y, scores, qid) > 0
    return 2 * laplacian(np.where(violated, shares(y, qid, weights, query_weighting), 0.0))


def concordance(y, scores, qid=None, weights=None, ties=0.5, observed=None):
    """Return the mean over queries of the share of pairs y[i] < y[j] with p[i] < p[j]; a tie counts `ties`."""
    p = np.asarray(scores, dtype=float)
    values = np.where(p[:, None] < p[None, :], 1.0, np.where(p[:, None] == p[None, :], ties, 0.0))
    return _mean_over_pairs(values, y, qid, weights, "query", observed)
