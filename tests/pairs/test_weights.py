"""Weighted counts, against the definition and against repeated rows."""

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given

from kernelrank.pairs import UtilityPairs, count_violations


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)


def select(case, rows):
    return strategies.Case(case.y[rows], case.scores[rows], case.qid and [case.qid[row] for row in rows])


@given(case=strategies.cases, seed=strategies.seeds)
def test_weighted_counts_are_those_of_the_definition(case, seed):
    weights = strategies.weights(len(case.y), seed)
    pairs = UtilityPairs(case.y, qid=case.qid, sample_weight=weights)
    expected = oracles.count_violations(*case, weights)
    for method in strategies.METHODS:
        found = pairs.count(case.scores, method=method)
        assert isinstance(found.total, float)
        close(found.c, expected[0])
        close(found.d, expected[1])
        close(found.total, expected[0].sum())
    assert isinstance(pairs.n_pairs, float)
    close(pairs.n_pairs, oracles.count_violations(*case, weights, margin=np.inf)[0].sum())


@given(case=strategies.cases, seed=strategies.seeds)
def test_integer_weights_are_repeated_rows(case, seed):
    weights = np.random.default_rng(seed).integers(0, 4, len(case.y))
    weights[0] = 2
    rows = np.repeat(np.arange(len(case.y)), weights)
    weighted = UtilityPairs(case.y, qid=case.qid, sample_weight=weights)
    repeated = select(case, rows)
    c, d, total = count_violations(repeated.y, repeated.scores, qid=repeated.qid)
    assert weighted.n_pairs == UtilityPairs(repeated.y, qid=repeated.qid).n_pairs
    for method in strategies.METHODS:  # sums of small integers are exact in floating point as well
        found = weighted.count(case.scores, method=method)
        np.testing.assert_array_equal(found.c, np.bincount(rows, c, len(case.y)))
        np.testing.assert_array_equal(found.d, np.bincount(rows, d, len(case.y)))
        assert found.total == total


@given(case=strategies.cases, seed=strategies.seeds)
def test_rows_of_weight_zero_count_for_nothing(case, seed):
    weights = strategies.weights(len(case.y), seed)
    kept = np.flatnonzero(weights)
    rest = select(case, kept)
    all_pairs = UtilityPairs(case.y, qid=case.qid, sample_weight=weights)
    kept_pairs = UtilityPairs(rest.y, qid=rest.qid, sample_weight=weights[kept])
    close(all_pairs.n_pairs, kept_pairs.n_pairs)
    for method in strategies.METHODS:
        found, expected = all_pairs.count(case.scores, method=method), kept_pairs.count(rest.scores, method=method)
        assert not found.c[weights == 0].any()
        assert not found.d[weights == 0].any()
        close(found.c[kept], expected.c)
        close(found.d[kept], expected.d)
        close(found.total, expected.total)


@given(case=strategies.cases)
def test_weights_of_one_are_no_weights(case):
    plain, weighted = UtilityPairs(case.y, qid=case.qid), UtilityPairs(case.y, qid=case.qid, sample_weight=1.0)
    assert weighted.n_pairs == plain.n_pairs
    for found, expected in zip(weighted.count(case.scores), plain.count(case.scores), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("method", ["tree", "levels", "rbtree"])
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_weighted_counts_do_not_depend_on_threads(method, n_jobs):
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 200, 70_000), rng.integers(-300, 301, 70_000) / 100
    qid = np.where(rng.random(70_000) < 0.95, 0, rng.integers(0, 50, 70_000))
    weights = rng.uniform(0, 3, 70_000)
    one = UtilityPairs(y, qid=qid, sample_weight=weights, n_jobs=1)
    several = UtilityPairs(y, qid=qid, sample_weight=weights, n_jobs=n_jobs)
    np.testing.assert_array_equal(several.pairs_per_query, one.pairs_per_query)
    for found, expected in zip(several.count(scores, method=method), one.count(scores, method=method), strict=True):
        np.testing.assert_array_equal(found, expected)
    scale = rng.random(one.n_queries)
    violated = [pairs.violated() for pairs in (one, several)]
    for found, expected in zip(*(each.count(scores, scale) for each in violated), strict=True):
        np.testing.assert_array_equal(found, expected)
    for found, expected in zip(*(each.multiply(scores, scale) for each in violated), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_weighted_methods_agree_at_size(rng):
    y, scores, weights = rng.integers(0, 500, 9000), rng.normal(size=9000), rng.uniform(0, 3, 9000)
    pairs = UtilityPairs(y, sample_weight=weights)
    expected = pairs.count(scores, method="pairs")
    for method in ("tree", "levels", "rbtree"):
        for found, value in zip(pairs.count(scores, method=method), expected, strict=True):
            close(found, value)
