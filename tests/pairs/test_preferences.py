"""Explicit preferences, against a loop over them and against the utilities that they may come from."""

import gc
from typing import NamedTuple

import numpy as np
import oracles
import pandas as pd
import polars as pl
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from kernelrank.exceptions import NoComparablePairsError
from kernelrank.losses import PairwiseHinge, PairwiseSquaredHinge
from kernelrank.pairs import PreferencePairs, UtilityPairs


class Graph(NamedTuple):
    """Return the counts from a loop over the preferences."""

    g: np.ndarray
    violations: np.ndarray
    inner: np.ndarray
    laplacian: np.ndarray
    squares: np.ndarray


def loop(edges, scores, v, weight=None, query=None):
    m, n_queries = len(scores), 1 if query is None else len(set(query))
    found = Graph(np.zeros(m), np.zeros(n_queries), np.zeros(n_queries), np.zeros((m, m)), np.zeros(n_queries))
    for k, (winner, loser) in enumerate(edges):
        if not scores[winner] < scores[loser] + 1:
            continue
        w, q = 1.0 if weight is None else weight[k], 0 if query is None else query[winner]
        found.violations[q] += w
        found.inner[q] += w * (scores[loser] - scores[winner])
        found.squares[q] += w * (v[loser] - v[winner]) ** 2
        found.g[loser] += w
        found.g[winner] -= w
        for one, other in ((winner, loser), (loser, winner)):
            found.laplacian[one, one] += w
            found.laplacian[one, other] -= w
    return found


@st.composite
def tournaments(draw):
    """Few rows and many preferences with duplicates, contradictions and cycles; small integers for exact sums."""
    m, n_edges = draw(st.integers(2, 12)), draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(strategies.seeds))
    query = oracles.query_numbers(rng.integers(0, draw(st.integers(1, 3)), m), m)
    edges = rng.integers(0, m, (n_edges, 2))
    edges = edges[(edges[:, 0] != edges[:, 1]) & (query[edges[:, 0]] == query[edges[:, 1]])]
    assume(len(edges))
    weight = rng.integers(0, 4, len(edges)) / 2 if draw(st.booleans()) else None
    assume(weight is None or weight.any())
    return edges, rng.integers(-6, 7, m) / 2, rng.integers(-9, 10, m) / 2, weight, query


# Against a loop


@given(tournament=tournaments())
def test_counts_and_products_are_those_of_a_loop(tournament):
    edges, scores, v, weight, query = tournament
    pairs = PreferencePairs(edges, len(scores), weight=weight, qid=query)
    expected, violated, ones = loop(*tournament), pairs.violated(), np.ones(pairs.n_queries)
    for found, each in zip(violated.count(scores, ones), expected[:3], strict=True):
        np.testing.assert_array_equal(found, each)
    product, squares = violated.multiply(v, ones)
    np.testing.assert_array_equal(product, expected.laplacian @ v)
    np.testing.assert_array_equal(squares, expected.squares)
    total, _ = violated.multiply(v, ones, add_to=np.arange(len(v)) / 4)
    np.testing.assert_array_equal(total, np.arange(len(v)) / 4 + product)
    np.testing.assert_array_equal(violated.degrees(ones), np.diag(expected.laplacian))
    np.testing.assert_array_equal(pairs.pairs_per_query, np.bincount(query[edges[:, 0]], weight, pairs.n_queries))
    assert pairs.n_pairs == (len(edges) if weight is None else weight.sum())
    assert type(pairs.n_pairs) is (int if weight is None else float)


@given(tournament=tournaments(), seed=strategies.seeds)
def test_each_query_has_its_scale(tournament, seed):
    edges, scores, v, weight, query = tournament
    pairs = PreferencePairs(edges, len(scores), weight=weight, qid=query)
    expected, violated = loop(*tournament), pairs.violated()
    scale = np.exp2(np.random.default_rng(seed).integers(-3, 4, pairs.n_queries))
    g, *totals = violated.count(scores, scale)
    np.testing.assert_array_equal(g, scale[query] * expected.g)
    product, squares = violated.multiply(v, scale)
    np.testing.assert_array_equal(product, scale[query] * (expected.laplacian @ v))
    np.testing.assert_array_equal(violated.degrees(scale), scale[query] * np.diag(expected.laplacian))
    for found, each in zip((*totals, squares), (expected.violations, expected.inner, expected.squares), strict=True):
        np.testing.assert_array_equal(found, each)  # not scaled


@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@given(tournament=tournaments())
def test_losses_are_averages_over_the_preferences(query_weighting, tournament):
    edges, scores, _, weight, query = tournament
    w = np.ones(len(edges)) if weight is None else weight
    totals = np.bincount(query[edges[:, 0]], w)
    share = w / totals.sum()
    if query_weighting == "query":
        share = np.divide(w, totals[query[edges[:, 0]]] * np.count_nonzero(totals), where=w > 0, out=np.zeros(len(w)))
    hinge = np.maximum(0.0, 1 + scores[edges[:, 1]] - scores[edges[:, 0]])
    pairs = PreferencePairs(edges, len(scores), weight=weight, qid=query)
    assert PairwiseHinge(pairs, query_weighting)(scores).value == pytest.approx(share @ hinge, rel=1e-12, abs=1e-14)
    risk = PairwiseSquaredHinge(pairs, query_weighting)(scores)
    assert risk.value == pytest.approx(share @ hinge**2, rel=1e-12, abs=1e-13)
    slopes = 2 * share * hinge
    g = np.bincount(edges[:, 1], slopes, len(scores)) - np.bincount(edges[:, 0], slopes, len(scores))
    np.testing.assert_allclose(risk.g, g, rtol=0, atol=1e-13)
    assert risk.value == pytest.approx(risk.offset + risk.g @ scores, rel=1e-12, abs=1e-12)


def test_a_difference_of_exactly_one_is_no_violation():
    below = np.nextafter(1.0, 0.0)
    for winner, total in ((1.0, 0), (below, 1), (2.0, 0), (-3.0, 1)):
        _, violations, _ = PreferencePairs([[0, 1]], 2).violated().count(np.array([winner, 0.0]), np.ones(1))
        assert violations == [total]


def test_the_margin_is_compared_as_for_utilities(rng):
    """On a grid of hundredths ``p_j < p_i + 1`` and ``p_j - 1 < p_i`` differ after rounding."""
    y, scores = rng.permutation(300), rng.integers(-200, 201, 300) / 100
    lower, higher = np.nonzero(y[:, None] < y[None, :])
    violated = PreferencePairs(np.column_stack([higher, lower]), 300).violated()
    assert violated.count(scores, np.ones(1))[1].item() == UtilityPairs(y).count(scores).total


# Against utilities


@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@pytest.mark.parametrize("weighted", [False, True])
@given(case=strategies.moderate_cases, seed=strategies.seeds)
def test_all_pairs_of_utilities_are_the_utilities(query_weighting, weighted, case, seed):
    rng, m = np.random.default_rng(seed), len(case.y)
    weights = rng.choice([0.0, 1.0, 1.0, 2.5], m) if weighted else None
    matrix = oracles.comparable_pairs(case.y, case.qid, weights)
    assume(matrix.any())
    lower, higher = np.nonzero(oracles.comparable_pairs(case.y, case.qid, None))
    order = rng.permutation(len(lower))
    lower, higher = lower[order], higher[order]
    explicit = PreferencePairs(
        np.column_stack([higher, lower]), m, weight=matrix[lower, higher] if weighted else None, qid=case.qid
    )
    implicit = UtilityPairs(case.y, qid=case.qid, sample_weight=weights)
    assert explicit.n_pairs == pytest.approx(implicit.n_pairs, rel=1e-13)
    np.testing.assert_allclose(explicit.pairs_per_query, implicit.pairs_per_query, rtol=1e-13)
    q, scores = rng.normal(size=m), case.scores
    for loss in (PairwiseHinge, PairwiseSquaredHinge):
        one, other = loss(explicit, query_weighting), loss(implicit, query_weighting)
        found, expected = one(scores), other(scores)
        assert found.value == pytest.approx(expected.value, rel=1e-10, abs=1e-10)
        assert found.offset == pytest.approx(expected.offset, rel=1e-10, abs=1e-9)
        np.testing.assert_allclose(found.g, expected.g, rtol=0, atol=1e-11)
    np.testing.assert_allclose(one.curvature(q), other.curvature(q), rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.diagonal(), other.diagonal(), rtol=1e-12, atol=1e-15)


# Duplicates and contradictions


def test_a_pair_given_twice_counts_twice(rng):
    edges, scores = np.array([[0, 1], [2, 1], [3, 0]]), rng.normal(size=4)
    twice, weighted = PreferencePairs([*edges, edges[1]], 4), PreferencePairs(edges, 4, weight=[1, 2, 1])
    assert twice.n_pairs == weighted.n_pairs == 4
    for found, expected in zip(*(PairwiseSquaredHinge(each)(scores) for each in (twice, weighted)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


def test_a_weight_of_zero_is_no_pair(rng):
    edges, scores = np.array([[0, 1], [2, 1], [3, 0]]), rng.normal(size=4)
    with_zero, without = PreferencePairs(edges, 4, weight=[1, 0, 2]), PreferencePairs(edges[::2], 4, weight=[1, 2])
    for found, expected in zip(*(PairwiseSquaredHinge(each)(scores) for each in (with_zero, without)), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_cycles_and_opposite_pairs_pull_both_ways():
    for edges in ([[0, 1], [1, 0]], [[0, 1], [1, 2], [2, 0]]):
        for loss in (PairwiseHinge, PairwiseSquaredHinge):
            at_zero = loss(PreferencePairs(edges, 3))(np.zeros(3))
            assert at_zero.value == 1
            np.testing.assert_array_equal(at_zero.g, 0.0)
            assert loss(PreferencePairs(edges, 3))(np.array([0.3, 0.1, -0.4])).value >= 1


def test_queries_without_a_pair_contribute_nothing():
    edges, qid = [[0, 1], [5, 4]], ["a", "a", "none", "none", "b", "b"]
    pairs = PreferencePairs(edges, 6, qid=qid)
    assert pairs.n_queries == 3
    assert pairs.pairs_per_query.tolist() == [1, 0, 1]
    risk = PairwiseSquaredHinge(pairs)(np.array([0.0, 0.0, 9.0, 0.0, 1.0, 0.0]))
    assert risk.value == (1 + 4) / 2
    np.testing.assert_array_equal(risk.g, [-1, 1, 0, 0, 2, -2])


# Input

EDGES = np.array([[3, 0], [1, 2], [2, 4], [0, 1], [3, 0], [4, 3]])
WEIGHTS = np.array([1.0, 0.5, 2.0, 0.0, 3.0, 1.0])


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


CONTAINERS = {
    "list": lambda values: values.tolist(),
    "tuple of tuples": lambda values: tuple(map(tuple, values.tolist())),
    "int32": lambda values: values.astype(np.int32),
    "uint8": lambda values: values.astype(np.uint8),
    "uint64": lambda values: values.astype(np.uint64),
    "big-endian": lambda values: values.astype(">i8"),
    "strided": lambda values: np.repeat(np.repeat(values, 3, axis=0), 2, axis=1)[::3, ::2],
    "reversed twice": lambda values: values[::-1, ::-1].copy()[::-1, ::-1],
    "Fortran": np.asfortranarray,
    "read-only": read_only,
    "pandas": lambda values: pd.DataFrame(values, columns=["winner", "loser"], index=np.arange(6)[::-1]),
    "pandas, two types": lambda values: pd.DataFrame({"w": values[:, 0].astype(np.int8), "l": values[:, 1]}),
    "polars": lambda values: pl.DataFrame(values, schema=["winner", "loser"]),
}


@pytest.mark.parametrize("convert", CONTAINERS.values(), ids=CONTAINERS)
def test_any_container_gives_the_same_result(convert):
    scores, v = np.array([0.0, 0.5, -0.25, 1.0, 2.0]), np.array([1.0, -2.0, 0.5, 3.0, 4.0])
    given = convert(EDGES)
    results = []
    for edges in (EDGES, given):
        loss = PairwiseSquaredHinge(PreferencePairs(edges, 5, weight=WEIGHTS))
        results.append([*loss(scores), loss.curvature(v), loss.diagonal()])
    for found, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.asarray(given), EDGES)  # the input is not modified


@pytest.mark.parametrize(
    "weight", [WEIGHTS.tolist(), WEIGHTS.astype(np.float32), np.repeat(WEIGHTS, 2)[::2], pd.Series(WEIGHTS), 2.0]
)
def test_any_container_of_weights(weight):
    expected = np.full(6, 2.0) if np.isscalar(weight) else WEIGHTS
    assert PreferencePairs(EDGES, 5, weight=weight).n_pairs == expected.sum()


def test_a_loss_outlives_its_preferences(rng):
    edges = rng.integers(0, 2000, (50_000, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    weight, scores = rng.random(len(edges)), rng.normal(size=2000)
    qid = np.zeros(2000, dtype=np.int64)
    loss = PairwiseSquaredHinge(PreferencePairs(edges.tolist(), 2000, weight=weight.tolist(), qid=qid.tolist()))
    gc.collect()
    np.full(200_000, 7)  # reuses memory that was freed by mistake
    expected = weight @ np.maximum(0, 1 + scores[edges[:, 1]] - scores[edges[:, 0]]) ** 2 / weight.sum()
    assert loss(scores).value == pytest.approx(expected, rel=1e-12)


def test_graphs_of_the_same_preferences_are_apart():
    pairs, ones = PreferencePairs([[0, 1], [1, 2]], 3), np.ones(1)
    first, second = pairs.violated(), pairs.violated()
    first.count(np.zeros(3), ones)
    second.count(np.array([9.0, 5.0, 0.0]), ones)
    assert first.degrees(ones).tolist() == [1, 2, 1]
    assert second.degrees(ones).tolist() == [0, 0, 0]
    first.count(np.array([0.0, 0.0, -5.0]), ones)
    assert first.degrees(ones).tolist() == [1, 1, 0]


def test_nothing_is_known_before_a_count():
    loss = PairwiseSquaredHinge(PreferencePairs(EDGES, 5))
    with pytest.raises(RuntimeError, match="counted first"):
        loss.curvature(np.zeros(5))
    with pytest.raises(RuntimeError, match="counted first"):
        loss.diagonal()


# Errors


@pytest.mark.parametrize(
    ("pairs", "match"),
    [
        ([[0, 1], [1, 5]], r"pairs\[1\] is \[1, 5\], but X has 5 rows, 0 to 4"),
        ([[0, 1], [2, 1], [-1, 0]], r"pairs\[2\] is \[-1, 0\], but X has 5 rows"),
        ([[0, 10**10]], r"pairs\[0\] is \[0, 10000000000\]"),
        (np.array([[0, 2**63]], dtype=np.uint64), r"pairs\[0\]"),
        ([[0, 2**32 + 1]], r"pairs\[0\]"),  # would be row 1 in 32 bits
        ([[0, 1], [3, 3]], r"pairs\[1\] compares row 3 with itself"),
        ([[0, 1, 2]], r"pairs must have shape \(n_pairs, 2\).*got \(1, 3\)"),
        ([0, 1], r"pairs must have shape .*got \(2,\)"),
        ([[[0, 1]]], r"pairs must have shape .*got \(1, 1, 2\)"),
        (3, r"pairs must have shape .*got \(\)"),
        (None, r"pairs must have shape"),
        ([[0.0, 1.0]], r"integer row indices, got dtype float64"),
        ([[0, 1.5]], r"integer row indices, got dtype float64"),
        ([[0, np.nan]], r"integer row indices, got dtype float64"),
        ([[True, False]], r"integer row indices, got dtype bool"),
        ([["0", "1"]], r"integer row indices, got dtype <U1"),
        ([[0, None]], r"integer row indices, got dtype object"),
    ],
)
def test_wrong_pairs_are_refused(pairs, match):
    with pytest.raises(ValueError, match=match):
        PreferencePairs(pairs, 5)


@pytest.mark.parametrize("pairs", [[], [[]], np.empty((0, 2), int), np.empty((0, 2)), pd.DataFrame({"w": [], "l": []})])
def test_no_preference_is_an_error(pairs):
    with pytest.raises(NoComparablePairsError, match="pairs is empty"):
        PreferencePairs(pairs, 5)


@pytest.mark.parametrize(
    ("weight", "match"),
    [
        ([1, -1], "weight must not be negative"),
        ([1, np.nan], "weight contains NaN"),
        ([1, np.inf], "weight contains infinity"),
        ([1, 1, 1], "weight has 3 elements"),
        ([1], "weight has 1 elements"),
        ([[1, 1]], "weight must be a 1D array with one element for each of the pairs"),
        (["a", "b"], "weight must hold real numbers"),
    ],
)
def test_wrong_weights_are_refused(weight, match):
    with pytest.raises(ValueError, match=match) as error:
        PreferencePairs([[0, 1], [1, 2]], 5, weight=weight)
    assert "sample_weight" not in str(error.value)


def test_weights_of_zero_leave_no_pair():
    with pytest.raises(NoComparablePairsError, match="weight is zero everywhere"):
        PreferencePairs([[0, 1], [1, 2]], 5, weight=[0.0, 0.0])


def test_preferences_across_queries_are_refused():
    with pytest.raises(ValueError, match=r"pairs\[1\] is \[2, 1\], two rows of different queries"):
        PreferencePairs([[0, 1], [2, 1]], 3, qid=["a", "a", "b"])


def test_wrong_queries_are_refused():
    with pytest.raises(ValueError, match="qid has 2 elements, but there are 3 rows"):
        PreferencePairs([[0, 1]], 3, qid=[1, 1])
    with pytest.raises(ValueError, match="qid contains"):
        PreferencePairs([[0, 1]], 3, qid=[1, 1, None])


@pytest.mark.parametrize("loss", [PairwiseHinge, PairwiseSquaredHinge])
def test_scores_that_are_no_numbers_are_not_satisfied(loss):
    preferences = PreferencePairs([[0, 1], [1, 0], [1, 2], [2, 1]], 3)
    assert np.isnan(loss(preferences)(np.full(3, np.nan)).value)
