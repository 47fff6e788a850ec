"""Least squares over given pairs."""

import numpy as np
import pytest
from least_squares import data

from kernelrank import RankRLS
from kernelrank.kernels import Gaussian


def preferences(rng, m=40, n_pairs=120, qid=None):
    """Random pairs with repetitions and contradictions, inside queries; some rows are in none."""
    pairs = rng.integers(m - 3, size=(20 * n_pairs, 2))
    keep = (pairs[:, 0] != pairs[:, 1]) & (True if qid is None else qid[pairs[:, 0]] == qid[pairs[:, 1]])
    return pairs[keep][:n_pairs]


def graph_equations(pairs, magnitude, weight, qid, m, cost, query_weighting):
    """L and b of the average loss, pair by pair."""
    L, b = np.zeros((m, m)), np.zeros(m)
    of_pair = np.zeros(len(pairs), int) if qid is None else qid[pairs[:, 0]]
    totals = {q: weight[of_pair == q].sum() for q in np.unique(of_pair)}
    for (i, j), d, w, q in zip(pairs, magnitude, weight, of_pair, strict=True):
        c = w / (totals[q] * len(totals) if query_weighting == "query" else sum(totals.values()))
        z, c = {"magnitude": (d, c), "unit": (1.0, c), "relative": (d, c / d**2)}[cost]
        e = np.zeros(m)
        e[i], e[j] = 1.0, -1.0
        L += c * np.outer(e, e)
        b += c * z * e
    return L, b


@pytest.mark.parametrize("cost", ["magnitude", "unit", "relative"])
@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@pytest.mark.parametrize("with_queries", [False, True])
@pytest.mark.parametrize("n", [4, 70])
def test_given_pairs(rng, n, with_queries, query_weighting, cost):
    X, _ = data(rng, m=40, n=n, offset=10.0)
    qid = rng.integers(4, size=40) if with_queries else None
    pairs = preferences(rng, qid=qid)
    magnitude, weight = rng.random(len(pairs)) + 0.1, rng.random(len(pairs)) + 0.1
    L, b = graph_equations(pairs, magnitude, weight, qid, 40, cost, query_weighting)
    expected = np.linalg.solve(X.T @ L @ X + 0.01 * np.eye(n), X.T @ b)
    for solver in ("direct", "cg"):
        model = RankRLS(0.01, cost=cost, query_weighting=query_weighting, solver=solver, tol=1e-13)
        model.fit_pairs(X, pairs, magnitude=magnitude, weight=weight, qid=qid)
        np.testing.assert_allclose(model.coef_, expected, rtol=1e-6, atol=1e-9)
        assert model.intercept_ == 0.0
    kernel = RankRLS(0.01, cost=cost, query_weighting=query_weighting, kernel=Gaussian(0.1))
    kernel.fit_pairs(X, pairs, magnitude=magnitude, weight=weight, qid=qid)
    K = Gaussian(0.1)(X)
    dual = np.linalg.solve(L @ K + 0.01 * np.eye(40), b)
    np.testing.assert_allclose(kernel.predict(X), K @ dual, rtol=1e-8, atol=1e-10)


def test_all_pairs_of_utilities_are_utilities(rng):
    X, y = data(rng, m=30)
    y = np.round(y)
    winners, losers = np.nonzero(y[:, None] > y)
    given = RankRLS(0.1, query_weighting="pair").fit_pairs(
        X, np.stack([winners, losers], axis=1), magnitude=y[winners] - y[losers]
    )
    np.testing.assert_allclose(given.coef_, RankRLS(0.1, ties="drop").fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.1)])
def test_a_path_of_given_pairs(rng, kernel):
    X, _ = data(rng, m=40)
    qid = np.arange(40) % 5
    pairs = preferences(rng, qid=qid)
    model = RankRLS(0.1, kernel=kernel).fit_pairs(X, pairs, qid=qid)
    for alpha, found in zip([0.01, 1.0], model.path([0.01, 1.0]), strict=True):
        single = RankRLS(alpha, kernel=kernel).fit_pairs(X, pairs, qid=qid)
        rows = X if kernel == "linear" else model.kernel_(X)
        np.testing.assert_allclose(rows @ found, single.predict(X), rtol=1e-8, atol=1e-10)


def test_given_pairs_that_are_wrong(rng):
    X, _ = data(rng, m=10)
    pairs = [[0, 1], [2, 3]]
    for options, message in (
        ({"magnitude": [1.0, 0.0]}, "magnitude must be positive"),
        ({"magnitude": [1.0]}, "magnitude"),
        ({"weight": [1.0, -1.0]}, "weight"),
        ({"qid": np.arange(10)}, "different queries"),
    ):
        with pytest.raises(ValueError, match=message):
            RankRLS().fit_pairs(X, pairs, **options)
    with pytest.raises(ValueError, match="itself"):
        RankRLS().fit_pairs(X, [[1, 1]])


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.1)])
@pytest.mark.parametrize("cost", ["magnitude", "unit", "relative"])
@pytest.mark.parametrize("query_weighting", ["query", "pair"])
def test_hold_outs_of_given_pairs_are_refits(rng, kernel, cost, query_weighting):
    X, _ = data(rng, m=40)
    qid = np.arange(40) % 5
    pairs = preferences(rng, n_pairs=50, qid=qid)  # the rows of a query need not be connected
    magnitude, weight = rng.random(len(pairs)) + 0.1, rng.integers(3, size=len(pairs))
    model = RankRLS(0.1, kernel=kernel, cost=cost, query_weighting=query_weighting)
    model.fit_pairs(X, pairs, magnitude=magnitude, weight=weight, qid=qid)

    def refit(rows):
        rest = np.setdiff1d(np.arange(40), rows)
        kept = np.isin(pairs, rest).all(axis=1)
        other = RankRLS(0.1, kernel=kernel, cost=cost, query_weighting=query_weighting)
        given = np.searchsorted(rest, pairs[kept])
        other.fit_pairs(X[rest], given, magnitude=magnitude[kept], weight=weight[kept], qid=qid[rest])
        return other.predict(X[rows])

    left_out = model.leave_query_out()
    for q in range(5):
        rows = np.flatnonzero(qid == q)
        np.testing.assert_allclose(left_out[rows], refit(rows), rtol=1e-8, atol=1e-10)
    folds = [np.array([3]), np.arange(0, 40, 3), np.arange(12)]
    for rows, found in zip(folds, model.hold_out(folds), strict=True):
        np.testing.assert_allclose(found, refit(rows), rtol=1e-8, atol=1e-10)
