"""Pairs counted by another array library: the integers are those of the compiled core."""

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kernelrank._arrays import place, to_host
from kernelrank._validation import check_rows
from kernelrank.losses import PairwiseHinge, PairwiseSquaredHinge
from kernelrank.pairs import UtilityPairs
from kernelrank.pairs._array_pairs import ArrayPairs


def both(put, y, qid=None):
    """Return the pairs counted by another library, and by the compiled core."""
    return ArrayPairs(check_rows(y, qid, None, None), put(np.zeros(1))), UtilityPairs(y, qid=qid)


def check_counts(put, y, scores, qid=None, margin=1.0):
    found, expected = both(put, y, qid)
    assert type(found.n_pairs) is int
    assert found.n_pairs == expected.n_pairs
    assert_array_equal(found.pairs_per_query, expected.pairs_per_query)
    c, d = found.count(found.arrange(put(scores), margin))
    assert place(c) == place(d) == place(put(scores))
    counts = expected.count(scores, margin=margin)
    assert_array_equal(to_host(c), counts.c)
    assert_array_equal(to_host(d), counts.d)
    assert_array_equal(
        found.count_totals(put(scores), margin=margin), expected.count_totals(np.asarray(scores), margin=margin)
    )


@given(case=strategies.cases, margin=st.sampled_from((1.0, 0.0, 0.5, -1.0)))
def test_counts_are_those_of_the_core(put, case, margin):
    check_counts(put, case.y, case.scores, case.qid, margin)


@settings(max_examples=10)
@given(case=strategies.large_cases)
def test_large_cases(put, case):
    check_counts(put, case.y, case.scores, case.qid)


@pytest.mark.parametrize("n_queries", [1, 2, 40])
@pytest.mark.parametrize("n_levels", [1, 2, 3, 16, 17, 1000])
def test_levels_and_queries(put, n_levels, n_queries, rng):
    y = rng.integers(0, n_levels, 1000) if n_levels < 1000 else rng.permutation(1000)
    check_counts(put, y, rng.integers(-3, 4, 1000) * 1.0, rng.integers(0, n_queries, 1000))


@pytest.mark.parametrize("n_queries", [1, 3])
def test_scores_on_a_grid_of_hundredths_give_one_set_of_pairs(put, n_queries, rng):
    y, scores, qid = rng.permutation(1000), rng.integers(-200, 201, 1000) / 100, np.arange(1000) % n_queries
    above, below = scores[None, :] < scores[:, None] + 1, scores[:, None] > scores[None, :] - 1
    assert (above != below)[y[:, None] < y[None, :]].any()  # two different comparisons would give two sets
    check_counts(put, y, scores, qid)


def scales(rng, pairs):
    return rng.uniform(0.1, 1.0, pairs.n_queries)


@pytest.mark.parametrize("n_queries", [1, 30])
def test_laplacian(put, n_queries, rng):
    y, scores, qid = rng.integers(0, 50, 500), rng.integers(-30, 31, 500) / 10, rng.integers(0, n_queries, 500)
    pairs, expected = (each.violated() for each in both(put, y, qid))
    scale, v, total = scales(rng, UtilityPairs(y, qid=qid)), rng.normal(size=500) + 7.0, rng.normal(size=500)
    factors = pairs.factors(scale)
    (g, violations, inner), (g_core, of_queries, inner_core) = (
        pairs.count(put(scores), factors),
        expected.count(scores, scale),
    )
    assert_array_equal(to_host(g), g_core)
    written, _, _ = pairs.count(put(scores), factors, put(np.empty(500)))
    assert_array_equal(to_host(written), g_core)
    assert_allclose(to_host(factors) @ to_host(violations), scale @ of_queries, rtol=1e-14)
    assert_allclose(to_host(factors) @ to_host(inner), scale @ inner_core, rtol=1e-12, atol=1e-12)
    (product, squares), (product_core, squares_core) = pairs.multiply(put(v), factors), expected.multiply(v, scale)
    assert_allclose(to_host(product), product_core, rtol=1e-11, atol=1e-10)
    assert_allclose(to_host(factors) @ to_host(squares), scale @ squares_core, rtol=1e-12)
    added, _ = pairs.multiply(put(v), factors, add_to=put(total.copy()))
    assert_allclose(to_host(added), total + product_core, rtol=1e-11, atol=1e-10)
    assert_array_equal(to_host(pairs.degrees(factors)), expected.degrees(scale))


@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@pytest.mark.parametrize("width", [1.0, 1e5, 1e14], ids=["near", "wide", "so wide that rounding counts"])
def test_losses(put, width, query_weighting, rng):
    y, qid = rng.integers(0, 9, 300), rng.integers(0, 8, 300)
    scores, q = rng.normal(size=300) * width, rng.normal(size=300)
    for loss in (PairwiseHinge, PairwiseSquaredHinge):
        found, expected = (loss(pairs, query_weighting) for pairs in both(put, y, qid))
        risk, same = found(put(scores)), expected(scores)
        assert_allclose(risk.value, same.value, rtol=1e-12)
        assert_allclose(risk.offset, same.offset, rtol=1e-11)
        assert_allclose(to_host(risk.g), same.g, rtol=1e-11, atol=1e-13 * np.abs(same.g).max())
    assert found.rounding == pytest.approx(expected.rounding)
    assert (found.rounding > 0) == (width > 1e12)
    assert_allclose(to_host(found.curvature(put(q))), expected.curvature(q), rtol=1e-10, atol=1e-14)
    assert_allclose(to_host(found.diagonal()), expected.diagonal(), rtol=1e-14)


@given(case=strategies.moderate_cases, seed=strategies.seeds, weighted=st.booleans(), censored=st.booleans())
def test_weights_and_censoring(put, case, seed, weighted, censored):
    m = len(case.y)
    options = {
        "sample_weight": strategies.weights(m, seed) if weighted else None,
        "observed": np.random.default_rng(seed).random(m) < 0.6 if censored else None,
    }
    expected = UtilityPairs(case.y, qid=case.qid, **options)
    found = ArrayPairs(check_rows(case.y, case.qid, n_rows=m, **options), put(np.zeros(1)))
    assert found.n_pairs == expected.n_pairs
    assert found.censored == expected.censored
    counts = expected.count(case.scores)
    c, d = map(to_host, found.count(found.arrange(put(case.scores))))
    if weighted:
        precision = 1e-12 * options["sample_weight"].max() ** 2
        assert_allclose(c, counts.c, rtol=1e-14, atol=precision)
        assert_allclose(d, counts.d, rtol=1e-14, atol=precision)
    else:
        assert_array_equal(c, counts.c)
        assert_array_equal(d, counts.d)
    rng = np.random.default_rng(seed)
    violated, core, scale, v = found.violated(), expected.violated(), scales(rng, expected), rng.normal(size=m)
    factors = violated.factors(scale)
    size = 1.0 if not weighted else options["sample_weight"].max() ** 2
    (g, *_), (g_core, *_) = violated.count(put(case.scores), factors), core.count(case.scores, scale)
    assert_allclose(to_host(g), g_core, rtol=1e-12, atol=1e-12 * size)
    assert_allclose(to_host(violated.degrees(factors)), core.degrees(scale), rtol=1e-12, atol=1e-12 * size)
    product, squares = violated.multiply(put(v), factors)
    product_core, squares_core = core.multiply(v, scale)
    assert_allclose(to_host(product), product_core, rtol=1e-11, atol=1e-11 * size)
    assert_allclose(to_host(factors) @ to_host(squares), scale @ squares_core, rtol=1e-10, atol=1e-10 * size)


def test_no_rows(put):
    with pytest.raises(ValueError, match="y is empty"):
        ArrayPairs(check_rows([], None, None, None), put(np.zeros(1)))
