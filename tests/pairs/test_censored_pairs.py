"""Pairs of utilities of which some are only bounds, against the definition."""

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelrank.losses import PairwiseHinge, PairwiseSquaredHinge
from kernelrank.pairs import UtilityPairs, count_violations

some_shares = st.sampled_from((0.0, 0.1, 0.5, 0.9, 1.0))


def draw_observed(m, seed, share):
    return np.random.default_rng(seed).random(m) < share


def check_counts(case, observed, weights=None, n_jobs=1):
    pairs = UtilityPairs(case.y, qid=case.qid, observed=observed, sample_weight=weights, n_jobs=n_jobs)
    expected = oracles.count_violations(*case, weights, observed=observed)
    same = np.testing.assert_array_equal
    if weights is not None:
        same = lambda found, value: np.testing.assert_allclose(found, value, rtol=1e-12)  # noqa: E731
    for method in strategies.METHODS:
        found = pairs.count(case.scores, method=method)
        same(found.c, expected[0])
        same(found.d, expected[1])
        same(found.total, expected[0].sum())
    same(pairs.n_pairs, oracles.comparable_pairs(case.y, case.qid, weights, observed).sum())
    same(pairs.count_totals(case.scores).sum(), expected[0].sum())


@given(case=strategies.cases, seed=strategies.seeds, share=some_shares, n_jobs=st.sampled_from((1, 2)))
def test_counts_are_those_of_the_definition(case, seed, share, n_jobs):
    check_counts(case, draw_observed(len(case.y), seed, share), n_jobs=n_jobs)


@given(case=strategies.cases, seed=strategies.seeds, share=some_shares)
def test_weighted_counts_are_those_of_the_definition(case, seed, share):
    m = len(case.y)
    check_counts(case, draw_observed(m, seed, share), strategies.weights(m, seed))


@settings(max_examples=20)
@given(case=strategies.large_cases, seed=strategies.seeds, share=some_shares)
def test_large_cases(case, seed, share):
    check_counts(case, draw_observed(len(case.y), seed, share))


@pytest.mark.slow
@settings(max_examples=4_500)
@given(seed=strategies.seeds, share=some_shares)
def test_many_cases(seed, share):
    for case in strategies.random_tables(seed, 20):
        check_counts(case, draw_observed(len(case.y), seed, share))


@pytest.mark.parametrize("n_levels", [2, 8, 9, 16, 17, 700])
def test_number_of_distinct_utilities(n_levels, rng):
    y = rng.integers(0, n_levels, 700) if n_levels < 700 else rng.permutation(700)
    check_counts(strategies.Case(y, rng.integers(-20, 21, 700) / 4), rng.random(700) < 0.5)


@pytest.mark.parametrize("method", strategies.METHODS)
def test_threads_that_share_a_query(method, rng):
    if method == "pairs":
        pytest.skip("quadratic")
    m = 70_000
    y, scores, observed = rng.integers(0, 300, m), rng.integers(-300, 301, m) / 100, rng.random(m) < 0.5
    one, several = (UtilityPairs(y, observed=observed, n_jobs=n_jobs) for n_jobs in (1, 3))
    for found, expected in zip(several.count(scores, method=method), one.count(scores, method=method), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("weighted", [False, True])
@given(case=strategies.cases, seed=strategies.seeds, share=some_shares, n_jobs=st.sampled_from((1, 2)))
def test_products_and_degrees_are_those_of_the_laplacian(weighted, case, seed, share, n_jobs):
    rng, m = np.random.default_rng(seed), len(case.y)
    observed, v = draw_observed(m, seed, share), rng.integers(-9, 10, m) / 2
    weights = np.append(2.0, rng.integers(0, 4, m - 1)) if weighted else None
    pairs = UtilityPairs(case.y, qid=case.qid, sample_weight=weights, observed=observed, n_jobs=n_jobs)
    violated, ones = pairs.violated(), np.ones(pairs.n_queries)
    g, _, _ = violated.count(np.asarray(case.scores, float), ones)
    edges = oracles.violated_pairs(*case, weights, observed=observed)
    np.testing.assert_array_equal(g, edges.sum(axis=1) - edges.sum(axis=0))
    L = oracles.laplacian(edges)
    product, inner = violated.multiply(v, ones)
    np.testing.assert_array_equal(product, L @ v)
    np.testing.assert_array_equal(inner, np.bincount(oracles.query_numbers(case.qid, m), v * (L @ v)))
    np.testing.assert_array_equal(violated.degrees(ones), np.diag(L))


@pytest.mark.parametrize("query_weighting", ["query", "pair"])
def test_losses_are_those_of_the_definition(query_weighting, rng):
    y, scores, qid, weights = rng.integers(0, 9, 90), rng.normal(size=90), rng.integers(0, 4, 90), rng.random(90)
    observed = rng.random(90) < 0.5
    pairs = UtilityPairs(y, qid=qid, sample_weight=weights, observed=observed)
    given = (y, scores, qid, weights, query_weighting, observed)
    hinge, squared = (loss(pairs, query_weighting)(scores) for loss in (PairwiseHinge, PairwiseSquaredHinge))
    assert hinge.value == pytest.approx(oracles.pairwise_hinge(*given), rel=1e-12)
    assert squared.value == pytest.approx(oracles.pairwise_squared_hinge(*given), rel=1e-12)


@given(case=strategies.cases)
def test_all_observed_is_no_censoring(case):
    plain = count_violations(case.y, case.scores, qid=case.qid)
    for observed in (np.ones(len(case.y), bool), [1] * len(case.y)):
        for found, expected in zip(
            count_violations(case.y, case.scores, qid=case.qid, observed=observed), plain, strict=True
        ):
            np.testing.assert_array_equal(found, expected)


def test_none_observed_has_no_pair():
    pairs = UtilityPairs([1, 2, 3], observed=[False] * 3)
    assert pairs.n_pairs == 0
    assert pairs.count([3.0, 2.0, 1.0]).total == 0


# Other forms of the same data


def test_structured_arrays_and_frames(rng):
    import pandas as pd

    time, event, scores = rng.integers(0, 9, 40).astype(float), rng.random(40) < 0.5, rng.normal(size=40)
    expected = count_violations(time, scores, observed=event)
    structured = np.array(list(zip(event, time, strict=True)), dtype=[("event", "?"), ("time", "<f8")])
    frame = pd.DataFrame({"weeks": time, "died": event})
    for y in (structured, structured[["time", "event"]], frame, frame[["died", "weeks"]]):
        found = count_violations(y, scores)
        np.testing.assert_array_equal(found.c, expected.c)
        assert found.total == expected.total


@pytest.mark.parametrize(
    ("y", "observed", "message"),
    [
        ([1, 2, 3], [True, False], "observed must have one element for each of the 3 rows"),
        ([1, 2, 3], [[True, False, True]], "observed must have one element for each of the 3 rows"),
        ([1, 2, 3], [1, 0, 2], "observed must hold True"),
        ([1, 2, 3], [1, 0, np.nan], "observed must hold True"),
        ([1, 2, 3], ["yes", "no", "yes"], "observed must hold real numbers"),
        ([1, 2, 3], [True, None, False], "observed must hold"),
        (np.array([(True, 1.0)], dtype=[("event", "?"), ("time", "f8")]), [True], "given twice"),
        (np.array([(1.0, 1.0)], dtype=[("event", "f8"), ("time", "f8")]), None, "one must be boolean"),
        (np.array([(True, True)], dtype=[("event", "?"), ("time", "?")]), None, "one must be boolean"),
        (np.array([(True, 1.0, 2.0)], dtype=[("e", "?"), ("t", "f8"), ("u", "f8")]), None, "has two fields, not 3"),
        (np.array([(True, np.nan)], dtype=[("event", "?"), ("time", "f8")]), None, "contains NaN"),
    ],
)
def test_bad_input(y, observed, message):
    with pytest.raises(ValueError, match=message):
        UtilityPairs(y, observed=observed)


def test_a_frame_of_numbers_says_how_to_mark_events(rng):
    import pandas as pd

    frame = pd.DataFrame({"weeks": rng.random(9), "died": rng.integers(0, 2, 9)})
    with pytest.raises(ValueError, match=r"two columns 'weeks', 'died': one must be boolean.*astype\(bool\)"):
        UtilityPairs(frame)
    assert UtilityPairs(frame.astype({"died": bool})).censored
