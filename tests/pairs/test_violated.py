"""Products with the Laplacian of the violated pairs, against the matrix; integers give equal integers."""

import gc

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from kernelrank.pairs import UtilityPairs


def graph(pairs, scores, scale=None):
    """Count, and return the violated pairs with a scale of 1 per query."""
    violated = pairs.violated()
    scale = np.ones(pairs.n_queries) if scale is None else scale
    violated.count(np.asarray(scores, dtype=float), scale)
    return violated, scale


def by_query(values, qid, n_rows):
    return np.bincount(oracles.query_numbers(qid, n_rows), values)


def check_graph(y, scores, qid, weights, v, n_jobs=1):
    pairs = UtilityPairs(y, qid=qid, sample_weight=weights, n_jobs=n_jobs)
    violated, ones = graph(pairs, scores)
    L = oracles.laplacian(oracles.violated_pairs(y, scores, qid, weights))
    product, inner = violated.multiply(v, ones)
    np.testing.assert_array_equal(product, L @ v)
    np.testing.assert_array_equal(inner, by_query(v * (L @ v), qid, len(y)))
    np.testing.assert_array_equal(violated.degrees(ones), np.diag(L))
    total = np.arange(len(y)) / 4
    added, again = violated.multiply(v, ones, add_to=total)
    assert added is total
    np.testing.assert_array_equal(added, np.arange(len(y)) / 4 + L @ v)
    np.testing.assert_array_equal(again, inner)


@pytest.mark.parametrize("weighted", [False, True])
@given(case=strategies.cases, seed=strategies.seeds, n_jobs=st.sampled_from((1, 2)))
def test_products_and_degrees_are_those_of_the_laplacian(weighted, case, seed, n_jobs):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, len(case.y)).astype(float) if weighted else None
    if weighted:
        weights[0] = 2.0
    check_graph(*case, weights, rng.integers(-9, 10, len(case.y)) / 2, n_jobs)


@given(case=strategies.cases, seed=strategies.seeds)
def test_weights_magnitudes_apart(case, seed):
    weights, v = strategies.weights(len(case.y), seed), np.random.default_rng(seed).normal(size=len(case.y))
    violated, ones = graph(UtilityPairs(case.y, qid=case.qid, sample_weight=weights), case.scores)
    L = oracles.laplacian(oracles.violated_pairs(*case, weights))
    product, inner = violated.multiply(v, ones)
    np.testing.assert_allclose(product, L @ v, rtol=0, atol=1e-13 * (np.abs(L) @ np.abs(v)).max())
    magnitude = np.abs(v) @ np.abs(L) @ np.abs(v)
    np.testing.assert_allclose(inner, by_query(v * (L @ v), case.qid, len(v)), rtol=0, atol=1e-13 * magnitude)
    np.testing.assert_allclose(violated.degrees(ones), np.diag(L), rtol=1e-12)


def test_each_query_has_its_scale(rng):
    y, scores, query, v = rng.integers(0, 30, 400), rng.normal(size=400), rng.integers(0, 6, 400), rng.normal(size=400)
    query[:6] = np.arange(6)  # queries appear in this order
    scale = np.array([1.0, 2.0, 0.25, 8.0, 0.0, 3.0])
    violated, _ = graph(UtilityPairs(y, qid=query), scores)
    L = oracles.laplacian(oracles.violated_pairs(y, scores, query))
    product, inner = violated.multiply(v, scale)
    np.testing.assert_allclose(product, scale[query] * (L @ v), rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(inner, np.bincount(query, v * (L @ v)), rtol=1e-12)  # not scaled
    np.testing.assert_array_equal(violated.degrees(scale), scale[query] * np.diag(L))


@pytest.mark.parametrize("n_levels", [2, 5, 16, 17, 50])
def test_a_constant_of_a_query_is_not_seen(rng, n_levels):
    y, scores, query = rng.integers(0, n_levels, 300), rng.normal(size=300), rng.integers(0, 4, 300)
    v = rng.integers(-99, 100, 300) / 64
    violated, ones = graph(UtilityPairs(y, qid=query), scores)
    expected = violated.multiply(v, ones)
    for found, each in zip(violated.multiply(v + 2.0**40 * (query - 1), ones), expected, strict=True):
        np.testing.assert_array_equal(found, each)
    for found in violated.multiply(np.full(300, 0.1), ones):
        np.testing.assert_array_equal(found, 0.0)


def test_queries_without_a_pair_get_zero():
    y, qid = [1, 2, 7, 7, 7, 3], ["two", "two", "level", "level", "level", "row"]
    violated, ones = graph(UtilityPairs(y, qid=qid), np.zeros(6))
    product, inner = violated.multiply(np.array([5.0, 3.0, 1.0, 2.0, 3.0, 4.0]), ones)
    assert (product.tolist(), inner.tolist()) == ([2, -2, 0, 0, 0, 0], [4, 0, 0])
    assert violated.degrees(ones).tolist() == [1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("kind", ["levels", "tied", "distinct"])
@pytest.mark.parametrize("m", [63, 64, 65, 2047, 2048, 2049, 70_000, 2**18 + 3])
def test_rows_at_the_borders_of_the_tree_and_beyond(m, kind):
    """Compare some rows with all others; L is symmetric."""
    rng = np.random.default_rng(m)
    y = {"levels": rng.integers(0, 4, m), "tied": rng.integers(0, 17 + m // 100, m), "distinct": rng.permutation(m)}[
        kind
    ]
    scores, u, v = rng.integers(-300, 301, m) / 100, rng.integers(-9, 10, m) / 1, rng.integers(-9, 10, m) / 1
    violated, ones = graph(UtilityPairs(y, n_jobs=2), scores)
    Lv, vLv = violated.multiply(v, ones)
    Lu, _ = violated.multiply(u, ones)
    degrees = violated.degrees(ones)
    for i in rng.integers(m, size=40):
        partners = ((y > y[i]) & (scores < scores[i] + 1)) | ((y < y[i]) & (scores[i] < scores + 1))
        assert Lv[i] == (v[i] - v[partners]).sum()
        assert degrees[i] == partners.sum()
    assert u @ Lv == v @ Lu
    assert vLv.item() == v @ Lv
    assert Lv.sum() == 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["one query", "many queries", "large and small ones"])
@pytest.mark.parametrize("n_levels", [3, 70_000])
def test_threads_do_not_show_in_the_last_bit(weighted, kind, n_levels):
    rng = np.random.default_rng(0)
    m = 70_000  # threads share a query of at least 65536 rows
    sizes = {"one query": [m], "many queries": np.full(700, 100), "large and small ones": [3, 66_000, 500, 3497]}[kind]
    qid = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    y, scores, weights = rng.integers(0, n_levels, m), rng.normal(size=m), rng.random(m) if weighted else None
    v = rng.normal(size=m)
    scale = rng.random(len(sizes))
    results = []
    for n_jobs in (1, 2, 3):
        violated, _ = graph(UtilityPairs(y, qid=qid, sample_weight=weights, n_jobs=n_jobs), scores)
        results.append([*violated.multiply(v, scale), *violated.multiply(scores, scale), violated.degrees(scale)])
    for other in results[1:]:
        for found, expected in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(found, expected)


def test_the_scores_counted_last_make_the_graph(rng):
    y, v = rng.integers(0, 40, 200), rng.integers(-9, 10, 200) / 1
    violated, ones = graph(UtilityPairs(y), rng.normal(size=200))
    for spread in (0.0, 3.0, 1.0):
        scores = spread * rng.normal(size=200)
        violated.count(scores, ones)
        L = oracles.laplacian(oracles.violated_pairs(y, scores))
        for _ in range(2):  # a product does not change the graph
            np.testing.assert_array_equal(violated.multiply(v, ones)[0], L @ v)
        np.testing.assert_array_equal(violated.degrees(ones), np.diag(L))


def test_graphs_of_the_same_pairs_are_apart(rng):
    y, v = rng.integers(0, 40, 200), rng.integers(-9, 10, 200) / 1
    scores, others = rng.normal(size=(2, 200))
    pairs = UtilityPairs(y)
    first, ones = graph(pairs, scores)
    second, _ = graph(pairs, others)
    pairs.count(3 * others)
    for violated, each in ((first, scores), (second, others)):
        L = oracles.laplacian(oracles.violated_pairs(y, each))
        np.testing.assert_array_equal(violated.multiply(v, ones)[0], L @ v)


def test_a_graph_outlives_its_pairs(rng):
    y, scores, v = rng.integers(0, 40, 3000), rng.normal(size=3000), rng.integers(-9, 10, 3000) / 1
    violated, ones = graph(UtilityPairs(y), scores)
    gc.collect()
    expected = graph(UtilityPairs(y), scores)[0].multiply(v, ones)
    for found, each in zip(violated.multiply(v, ones), expected, strict=True):
        np.testing.assert_array_equal(found, each)


def test_nothing_is_known_before_a_count():
    violated = UtilityPairs([1, 2, 3]).violated()
    with pytest.raises(RuntimeError, match="counted first"):
        violated.multiply(np.zeros(3), np.ones(1))
    with pytest.raises(RuntimeError, match="counted first"):
        violated.degrees(np.ones(1))
