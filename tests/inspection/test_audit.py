from itertools import permutations

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from kernelrank import RankRLS, RankSVM
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.inspection import _cycles, audit_pairs
from kernelrank.metrics import pair_accuracy


def least_error(pairs, weights, n):
    """Return the least weight of pairs in the wrong order, over all orders of the items."""
    return min(sum(w for (i, j), w in zip(pairs, weights, strict=True) if p[i] > p[j]) for p in permutations(range(n)))


def least_hinge(pairs, weights, n):
    """Return the least sum of hinge losses over all scores, with the losses as variables."""
    k = len(pairs)
    A = np.zeros((k, n + k))  # the loss of a pair is at least 1 less the difference of its scores
    for row, (i, j) in enumerate(pairs):
        A[row, [i, j, n + row]] -= [1, -1, 1]
    costs = np.concatenate([np.zeros(n), weights])
    return linprog(costs, A, -np.ones(k), bounds=[(None, None)] * n + [(0, None)] * k).fun


def assert_removes_all_cycles(audit, pairs, weights):
    left = [pair for k, pair in enumerate(pairs) if k not in set(audit.responsible.tolist()) and weights[k] > 0]
    assert nx.is_directed_acyclic_graph(nx.DiGraph(left))
    assert audit.responsible_weight == pytest.approx(sum(weights[k] for k in audit.responsible))


ITEMS = 6
arcs = st.tuples(st.integers(0, ITEMS - 1), st.integers(0, ITEMS - 1)).filter(lambda pair: pair[0] != pair[1])
weighed = st.lists(st.tuples(arcs, st.sampled_from([0.0, 1.0, 1.0, 2.0, 0.5, 3.0])), min_size=1, max_size=18).filter(
    lambda rows: any(weight for _, weight in rows)
)


@given(weighed)
def test_small_sets_of_pairs(rows):
    pairs, weights = zip(*rows, strict=True)
    audit = audit_pairs(pairs, weight=weights)
    assert audit.proven
    assert audit.lower_bound == pytest.approx(least_error(pairs, weights, ITEMS))
    assert audit.responsible_weight == pytest.approx(audit.lower_bound)
    assert_removes_all_cycles(audit, pairs, weights)
    assert audit.hinge_bound == pytest.approx(least_hinge(pairs, weights, ITEMS), abs=1e-6)
    assert audit.total_weight == sum(weights)
    given_ = {pair for pair, weight in rows if weight > 0}
    expected = {frozenset(pair) for pair in given_ if pair[::-1] in given_}
    assert {frozenset(pair) for pair in audit.contradictions} == expected
    components = {frozenset(c) for c in nx.strongly_connected_components(nx.DiGraph(given_)) if len(c) > 1}
    assert {frozenset(component) for component in audit.components} == components
    assert [len(c) for c in audit.components] == sorted(map(len, audit.components), reverse=True)


@given(weighed)
def test_bounds_of_components_that_are_too_large(rows):
    pairs, weights = zip(*rows, strict=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_cycles, "_MOST_ARCS", 0)
        patch.setattr(_cycles, "_MOST_FLOW", 0)
        audit = audit_pairs(pairs, weight=weights)
    optimum = least_error(pairs, weights, ITEMS)
    assert audit.lower_bound <= optimum + 1e-9 <= audit.responsible_weight + 2e-9
    assert (audit.lower_bound > 0) == (optimum > 0)
    assert_removes_all_cycles(audit, pairs, weights)
    assert audit.proven == (audit.responsible_weight <= audit.lower_bound + 1e-9)
    assert audit.lower_bound - 1e-9 <= audit.hinge_bound <= least_hinge(pairs, weights, ITEMS) + 1e-6


@pytest.mark.parametrize("batch", [300, 1])
@pytest.mark.parametrize("integers", [True, False])
def test_components_that_take_programmes(rng, batch, integers, monkeypatch):
    """Compare with dynamic programming over the sets of items that come first."""
    monkeypatch.setattr(_cycles, "_TOGETHER", batch)
    n, parts = 9, 4
    pairs, expected = [], 0.0
    weights = []
    for part in range(parts):
        W = np.where(rng.random((n, n)) < 0.6, rng.integers(1, 4, (n, n)), 0.0)
        W = W if integers else W * rng.uniform(0.5, 1.5, (n, n))
        np.fill_diagonal(W, 0.0)
        i, j = np.nonzero(W)
        pairs += (np.column_stack([i, j]) + part * n).tolist()
        weights += W[i, j].tolist()
        least = np.full(1 << n, np.inf)
        least[0] = 0.0
        for some in range(1 << n):
            members = [k for k in range(n) if some >> k & 1]
            for k in range(n):
                if not some >> k & 1:  # k comes after all of `some`, which lose what prefers k to them
                    least[some | 1 << k] = min(least[some | 1 << k], least[some] + W[k, members].sum())
        expected += least[-1]
    audit = audit_pairs(pairs, weight=weights)
    assert audit.proven
    assert audit.lower_bound == pytest.approx(expected)
    assert_removes_all_cycles(audit, [tuple(pair) for pair in pairs], weights)


@pytest.mark.parametrize(
    "limit", [{"_ROUNDS": 1}, {"_ROUNDS": 2}, {"_ROUNDS": 3}, {"_MOST_ELEMENTS": 0}, {"_NODES": 1}]
)
def test_limits_of_the_programmes(limit, monkeypatch):
    rng, proven = np.random.default_rng(0), 0
    for _ in range(4):
        pairs = [(i, j) for i in range(14) for j in range(14) if i != j and rng.random() < 0.6]
        weights = rng.uniform(0.5, 1.5, len(pairs))
        exact = audit_pairs(pairs, weight=weights)
        assert exact.proven
        with monkeypatch.context() as patch:
            for name, value in limit.items():
                patch.setattr(_cycles, name, value)
            audit = audit_pairs(pairs, weight=weights)
        assert audit.lower_bound <= exact.lower_bound + 1e-6 <= audit.responsible_weight + 2e-6
        assert_removes_all_cycles(audit, pairs, weights)
        proven += audit.proven
    assert proven < 4 or "_NODES" in limit


def test_a_relaxation_that_is_not_integral(monkeypatch):
    """Ask for integers only where shares of arcs are lighter."""
    asked, solve = [], _cycles._solve

    def watch(arcs, cycles, integral):
        asked.append(integral)
        return solve(arcs, cycles, integral)

    monkeypatch.setattr(_cycles, "_solve", watch)
    rng = np.random.default_rng(1)
    found = []
    for _ in range(12):
        W = np.triu(rng.permutation(144).reshape(12, 12) % 2, 1)  # a tournament with random results
        pairs = np.argwhere(W + np.tril(1 - W.T, -1))
        asked.clear()
        assert audit_pairs(pairs, weight=rng.uniform(1.0, 1.3, len(pairs))).proven
        found.append(any(asked))
    assert any(found)
    assert not all(found)


def test_weights_of_any_size(rng):
    """The solver of linear programmes takes some of these for infeasible."""
    for _ in range(150):
        pairs = [tuple(rng.permutation(5)[:2].tolist()) for _ in range(25)]
        weights = 10.0 ** rng.integers(-9, 9, 25)
        audit = audit_pairs(pairs, weight=weights)
        least, tolerance = least_error(pairs, weights, 5), 1e-6 * weights.max()
        assert_removes_all_cycles(audit, pairs, weights)
        assert audit.lower_bound <= least + tolerance
        assert audit.responsible_weight >= least * (1 - 1e-12)
        assert not audit.proven or audit.responsible_weight <= least + tolerance
        assert audit.hinge_bound >= audit.lower_bound - tolerance


def test_no_scorer_is_better(rng):
    X = rng.normal(size=(30, 3))
    pairs = rng.integers(30, size=(200, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    audit = audit_pairs(pairs)
    assert 0 < audit.least_error < 0.5
    for scores in (
        RankSVM().fit_pairs(X, pairs).predict(X),
        RankRLS(kernel="gaussian", alpha=1e-6).fit_pairs(X, pairs).predict(X),
        np.zeros(30),
        rng.integers(0, 3, 30),
    ):
        assert 1 - pair_accuracy(pairs, scores) >= audit.least_error - 1e-12
        hinge = np.maximum(0, 1 - (scores[pairs[:, 0]] - scores[pairs[:, 1]])).mean()
        assert hinge >= audit.least_hinge - 1e-7
    assert audit.n_items == len(np.unique(pairs))


def test_ids_of_all_kinds():
    expected = audit_pairs([[0, 1], [1, 2], [2, 0], [3, 0]])
    names = ["a", ("b", 1), 2.5, frozenset({3})]
    forms = {
        "objects": [[names[i], names[j]] for i, j in [[0, 1], [1, 2], [2, 0], [3, 0]]],
        "tuples": [("w", "x"), ("x", "y"), ("y", "w"), ("z", "w")],
        "large": [[10**15, 7], [7, -5], [-5, 10**15], [3, 10**15]],
        "array": np.array([["w", "x"], ["x", "y"], ["y", "w"], ["z", "w"]]),
        "pandas": pd.DataFrame({"winner": ["w", "x", "y", "z"], "loser": ["x", "y", "w", "w"]}),
        "polars": pl.DataFrame({"winner": ["w", "x", "y", "z"], "loser": ["x", "y", "w", "w"]}),
    }
    for name, pairs in forms.items():
        audit = audit_pairs(pairs)
        assert str(audit) == str(expected), name
        assert audit.responsible.tolist() == expected.responsible.tolist(), name
        assert len(audit.components[0]) == 3
    assert audit_pairs(forms["objects"]).components == [["a", ("b", 1), 2.5]]
    assert audit_pairs(np.array([[5, 6], [6, 5]])).contradictions == [(5, 6)]
    assert type(audit_pairs(np.array([[5, 6], [6, 5]])).contradictions[0][0]) is int


def test_the_paragraph():
    assert str(audit_pairs([["a", "b"], ["b", "c"]])) == (
        "2 pairs of 3 items. There is neither a contradiction nor a cycle: scores exist that put every pair in order."
    )
    text = str(audit_pairs([["a", "b"], ["b", "a"], ["a", "b"]]))
    assert "1 pair of items is given in both directions" in text
    assert "Without 1 pair (33.3 % of the weight) no contradiction and no cycle is left; no lighter set" in text
    assert "a mean hinge loss of at least 0.667" in text


def test_the_order_of_pairs_and_names_changes_no_bound(rng):
    pairs = rng.integers(20, size=(90, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    weights = rng.uniform(0.5, 2.0, len(pairs))
    expected = audit_pairs(pairs, weight=weights)
    order, names = rng.permutation(len(pairs)), rng.permutation(20)
    found = audit_pairs(names[pairs[order]], weight=weights[order])
    scaled = audit_pairs(np.repeat(pairs, 2, axis=0), weight=np.repeat(weights, 2) * 1e6)
    for other, factor in ((found, 1), (scaled, 2e6)):
        assert other.lower_bound == pytest.approx(factor * expected.lower_bound)
        assert other.hinge_bound == pytest.approx(factor * expected.hinge_bound, rel=1e-6)
        assert other.proven == expected.proven


def test_many_pairs_without_cycles():
    rng = np.random.default_rng(0)
    pairs = rng.integers(60_000, size=(300_000, 2))
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    assert not audit_pairs(pairs).components
    pairs[-1] = pairs[0, ::-1]
    audit = audit_pairs(pairs)
    assert (audit.proven, audit.lower_bound) == (True, 1.0)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (5, "pairs must be a list of"),
        ("ab", r"pairs\[0\] is 'a'"),
        ([[0, 1, 2]], r"pairs\[0\] is \[0, 1, 2\]"),
        (np.zeros((2, 3)), r"pairs must have shape \(n_pairs, 2\)"),
        ([["a", "b"], ["c", "c"]], r"pairs\[1\] compares 'c' with itself"),
        ([["a", None]], "pairs contains a missing value"),
        (np.array([[0.0, np.nan]]), "pairs contains NaN"),
        ([[{}, 1]], "each of them hashable"),
    ],
)
def test_pairs_that_are_no_pairs(pairs, message):
    with pytest.raises(ValueError, match=message):
        audit_pairs(pairs)


def test_no_pairs():
    for pairs in ([], np.zeros((0, 2), int)):
        with pytest.raises(NoComparablePairsError, match="pairs is empty"):
            audit_pairs(pairs)
    with pytest.raises(NoComparablePairsError, match="weight is zero everywhere"):
        audit_pairs([[0, 1]], weight=[0.0])
