"""Squared hinge loss: value, tangent plane and second derivative, against a loop over all pairs."""

from typing import NamedTuple

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from kernelrank.exceptions import NoComparablePairsError
from kernelrank.losses import PairwiseHinge, PairwiseSquaredHinge
from kernelrank.pairs import UtilityPairs

both_weightings = pytest.mark.parametrize("query_weighting", ["query", "pair"])
weighted_or_not = pytest.mark.parametrize("weighted", [False, True])


class Data(NamedTuple):
    """Return the arguments of the oracles in order."""

    y: np.ndarray
    scores: np.ndarray
    qid: np.ndarray | None
    weights: np.ndarray | None
    query_weighting: str

    def loss(self, **kwargs):
        pairs = UtilityPairs(self.y, qid=self.qid, sample_weight=self.weights, **kwargs)
        return PairwiseSquaredHinge(pairs, self.query_weighting)

    def at(self, scores):
        return self._replace(scores=scores)


def queries(rng, m, kind):
    """Return query ids; the last two queries have no pair: a single row, and a single utility."""
    if kind == "one":
        return None
    qid = np.concatenate([rng.integers(0, 3, m - 5), [3, 4, 4, 4, 4]])
    return qid[rng.permutation(m)] if kind == "scattered" else np.sort(qid)


def make_data(rng, m=90, n_levels=6, kind="scattered", weighted=False, query_weighting="query"):
    qid = queries(rng, m, kind)
    y = rng.integers(0, n_levels, m) if n_levels < m else rng.permutation(m)
    if qid is not None:
        y[qid == 4] = 2
    weights = rng.integers(0, 3, m) * rng.random(m) if weighted else None
    return Data(y, 1.5 * rng.normal(size=m), qid, weights, query_weighting)


def check(data, rtol=1e-12):
    loss = data.loss()
    risk = loss(data.scores)
    value, g, H = (
        of(*data)
        for of in (oracles.pairwise_squared_hinge, oracles.squared_hinge_gradient, oracles.squared_hinge_curvature)
    )
    q = np.cos(np.arange(len(data.y)))
    spread = 1 + np.ptp(data.scores)  # sums are of numbers as large as its square
    assert risk.value == pytest.approx(value, rel=rtol, abs=rtol * 1e-2 * spread**2)
    assert risk.offset == pytest.approx(value - g @ (data.scores - data.scores[0]), rel=rtol, abs=rtol * spread**2)
    np.testing.assert_allclose(risk.g, g, rtol=0, atol=rtol * spread * np.abs(g).max())
    np.testing.assert_allclose(loss.curvature(q), H @ q, rtol=0, atol=rtol * np.abs(H).max())
    np.testing.assert_allclose(loss.diagonal(), np.diag(H), rtol=rtol, atol=0)


# Against the definition


@pytest.mark.parametrize("n_levels", [2, 5, 16, 17, 90])
@pytest.mark.parametrize("kind", ["one", "grouped", "scattered"])
@weighted_or_not
@both_weightings
def test_value_and_derivatives_are_those_of_the_definition(rng, n_levels, kind, weighted, query_weighting):
    check(make_data(rng, 90, n_levels, kind, weighted, query_weighting))


@weighted_or_not
@both_weightings
@given(case=strategies.moderate_cases, seed=strategies.seeds)
def test_ties_and_differences_of_exactly_one(weighted, query_weighting, case, seed):
    weights = np.random.default_rng(seed).choice([0.0, 1.0, 1.0, 2.5], len(case.y)) if weighted else None
    assume(oracles.comparable_pairs(case.y, case.qid, weights).any())
    check(Data(*case, weights, query_weighting), rtol=1e-11)


def test_by_hand():
    loss = PairwiseSquaredHinge(UtilityPairs([1, 2, 3]))
    assert loss(np.array([0.0, 0.0, 3.0])).value == 1 / 3  # only the first pair, which is tied
    assert loss(np.array([0.0, 1.0, 2.0])).value == 0
    assert loss(np.array([0.0, 0.5, 1.0])).value == 2 * 0.25 / 3
    assert loss(np.array([2.0, 1.0, 0.0])).value == pytest.approx((4 + 4 + 9) / 3, rel=1e-15)


def test_zero_scores_violate_every_pair(rng):
    data = make_data(rng)
    risk = data.loss()(np.zeros(len(data.y)))
    assert risk.value == pytest.approx(1, abs=1e-15)
    assert risk.offset == risk.value


@weighted_or_not
@both_weightings
def test_derivatives_are_differences(rng, weighted, query_weighting):
    """Between kinks the loss is quadratic, so central differences are exact up to rounding."""
    data = make_data(rng, weighted=weighted, query_weighting=query_weighting)
    scores, q = 0.3 * rng.integers(-9, 10, 90), rng.uniform(-1, 1, 90)  # no difference is within 0.1 of 1
    loss, h = data.loss(), 0.04
    ahead, behind, here = (loss(scores + t * q) for t in (h, -h, 0.0))
    assert (ahead.value - behind.value) / (2 * h) == pytest.approx(here.g @ q, abs=1e-12)
    assert (ahead.value - 2 * here.value + behind.value) / h**2 == pytest.approx(q @ loss.curvature(q), rel=1e-9)
    np.testing.assert_allclose((ahead.g - behind.g) / (2 * h), loss.curvature(q), rtol=0, atol=1e-12)
    diagonal = [loss.curvature(unit)[k] for k, unit in enumerate(np.eye(90))]
    np.testing.assert_allclose(loss.diagonal(), diagonal, rtol=1e-12, atol=1e-15)


@weighted_or_not
@both_weightings
@given(case=strategies.moderate_cases, seed=strategies.seeds, spread=st.sampled_from((0.0, 0.1, 1.0, 10.0)))
def test_the_plane_touches_and_stays_below(weighted, query_weighting, case, seed, spread):
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.0, 1.0, 1.0, 2.5], len(case.y)) if weighted else None
    assume(oracles.comparable_pairs(case.y, case.qid, weights).any())
    middle = case.scores - np.round(np.median(case.scores))
    loss = Data(*case, weights, query_weighting).loss()
    risk = loss(middle)
    assert risk.value == pytest.approx(risk.offset + risk.g @ middle, rel=1e-11, abs=1e-11)
    for other in (spread * rng.normal(size=len(case.y)), middle + spread * rng.normal(size=len(case.y)), -middle):
        value = loss(other).value
        assert value >= risk.offset + risk.g @ other - 1e-11 * (1 + value + np.abs(risk.g) @ np.abs(other))


@pytest.mark.parametrize("y", [[1.0], [2, 2, 2], [0.0, -0.0]])
def test_nothing_to_compare(y):
    with pytest.raises(NoComparablePairsError, match=f"n_samples = {len(y)}"):
        PairwiseSquaredHinge(UtilityPairs(y))


# Invariances


@pytest.mark.parametrize("n_levels", [5, 90])
@pytest.mark.parametrize("offset", [1e6, 1e8, -1e8])
@weighted_or_not
def test_a_large_offset_loses_no_digits(rng, n_levels, offset, weighted):
    """The offset only rounds the scores: the expected value is computed from the rounded scores."""
    data = make_data(rng, n_levels=n_levels, weighted=weighted)
    scores = data.scores + offset * (data.qid - 1)
    rounded = data.at(scores)
    loss, q = data.loss(), rng.normal(size=90)
    risk = loss(scores)
    H = oracles.squared_hinge_curvature(*rounded)
    assert risk.value == pytest.approx(oracles.pairwise_squared_hinge(*rounded), rel=1e-13)
    np.testing.assert_allclose(risk.g, oracles.squared_hinge_gradient(*rounded), rtol=0, atol=1e-15)
    np.testing.assert_allclose(loss.curvature(q + offset * (data.qid - 1)), H @ q, rtol=0, atol=1e-15 * abs(offset))
    np.testing.assert_allclose(loss.curvature(q), H @ q, rtol=0, atol=1e-15)


def test_an_exact_offset_changes_nothing(rng):
    data = make_data(rng)
    scores = np.round(data.scores * 2**10) / 2**10
    loss = data.loss()
    expected, found = loss(scores), loss(scores + 2.0**30 * (data.qid - 3))
    assert found.value == pytest.approx(expected.value, rel=1e-14)
    assert found.offset == pytest.approx(expected.offset, rel=1e-13)
    np.testing.assert_allclose(found.g, expected.g, rtol=1e-13, atol=1e-17)


@both_weightings
def test_weights_are_repeated_rows(rng, query_weighting):
    data = make_data(rng, query_weighting=query_weighting)
    weights = rng.integers(0, 4, 90)
    rows = np.repeat(np.arange(90), weights)
    weighted = data._replace(weights=weights.astype(float))
    repeated = Data(data.y[rows], data.scores[rows], data.qid[rows], None, query_weighting)
    of_rows, of_repeated = weighted.loss(), repeated.loss()
    found, expected = of_rows(data.scores), of_repeated(repeated.scores)
    assert found.value == pytest.approx(expected.value, rel=1e-13)
    assert found.offset == pytest.approx(expected.offset, rel=1e-12)
    q = rng.normal(size=90)
    for one, other in (
        (found.g, expected.g),
        (of_rows.curvature(q), of_repeated.curvature(q[rows])),
    ):
        np.testing.assert_allclose(one, np.bincount(rows, other, 90), rtol=0, atol=1e-15)


def test_queries_without_pairs_contribute_nothing(rng):
    data = make_data(rng, kind="grouped")
    with_pairs = data.qid < 3
    alone = Data(*(each[with_pairs] for each in data[:3]), None, "query")
    loss, expected = data.loss(), alone.loss()
    risk = loss(data.scores)
    assert risk.value == pytest.approx(expected(alone.scores).value, rel=1e-15)
    np.testing.assert_allclose(risk.g[with_pairs], expected(alone.scores).g, rtol=1e-15)
    for each in (risk.g, loss.curvature(data.scores), loss.diagonal()):
        np.testing.assert_array_equal(each[~with_pairs], 0.0)


# The scores evaluated last


def test_no_curvature_before_an_evaluation(rng):
    loss = make_data(rng).loss()
    with pytest.raises(RuntimeError, match="counted first"):
        loss.curvature(np.zeros(90))
    with pytest.raises(RuntimeError, match="counted first"):
        loss.diagonal()


def test_curvature_is_that_of_the_scores_evaluated_last(rng):
    data, q = make_data(rng, n_levels=90, kind="one"), rng.normal(size=90)
    loss = data.loss()
    for scores in (np.zeros(90), data.scores, 5 * data.scores, -data.scores, data.scores):
        risk = loss(scores)
        before = risk.g.copy()
        H = oracles.squared_hinge_curvature(*data.at(scores))
        for _ in range(2):
            np.testing.assert_allclose(loss.curvature(q), H @ q, rtol=0, atol=1e-14)
        np.testing.assert_allclose(loss.diagonal(), np.diag(H), rtol=1e-13)
        np.testing.assert_array_equal(risk.g, before)  # the result is owned by the caller


@weighted_or_not
@pytest.mark.parametrize("kind", ["one query", "many queries"])
@pytest.mark.parametrize("n_levels", [5, 10**6])
def test_threads_do_not_show_in_the_last_bit(weighted, kind, n_levels):
    rng = np.random.default_rng(0)
    m = 66_000  # more than 65536: threads share a query
    qid = None if kind == "one query" else rng.integers(0, 800, m)
    weights = rng.random(m) if weighted else None
    data = Data(rng.integers(0, n_levels, m), rng.normal(size=m), qid, weights, "query")
    results = []
    for n_jobs in (1, 2, 3):
        loss = data.loss(n_jobs=n_jobs)
        results.append([*loss(data.scores), loss.curvature(np.sin(data.scores)), loss.diagonal()])
    for other in results[1:]:
        for found, expected in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("m", [10, 5000, 70_000])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_break_nothing(rng, m, bad):
    scores = rng.normal(size=m)
    scores[rng.random(m) < 0.3] = bad
    loss = PairwiseSquaredHinge(UtilityPairs(rng.permutation(m)))
    loss(scores)
    assert not np.isfinite(loss(np.full(m, bad)).value)
    assert loss(np.zeros(m)).value == 1


@pytest.mark.parametrize("spread", [1e4, 1e6, 1e8])
@pytest.mark.parametrize("loss", [PairwiseHinge, PairwiseSquaredHinge])
def test_far_scores_lose_no_digits(rng, spread, loss):
    """Rounding of the scores alone changes the value by eps * spread."""
    p = np.repeat(rng.uniform(0, spread, 50), 4) + rng.uniform(-0.5, 0.5, 200)
    y = np.argsort(np.argsort(p))
    hinge = np.where(y[:, None] < y, np.maximum(0, 1 + p[:, None] - p), 0)
    expected = (hinge ** (1 if loss is PairwiseHinge else 2)).sum() / (200 * 199 / 2)
    assert loss(UtilityPairs(y))(p).value == pytest.approx(expected, rel=1e-14 * spread)


def test_rounding_is_bounded_where_weights_meet_wide_scores(rng):
    p = np.repeat(rng.uniform(0, 1e6, 50), 4) + rng.uniform(-0.5, 0.5, 200)
    y, weights = np.argsort(np.argsort(p)), rng.uniform(0.5, 2, 200)
    pairs = np.where(y[:, None] < y, np.outer(weights, weights), 0)
    expected = (pairs * np.maximum(0, 1 + p[:, None] - p) ** 2).sum() / pairs.sum()
    loss = PairwiseSquaredHinge(UtilityPairs(y, sample_weight=weights))
    assert abs(loss(p).value - expected) <= loss.rounding
    assert 0 < loss.rounding < 1e-2
    loss(p / 1e6)
    assert loss.rounding == 0


@pytest.mark.parametrize("kind", [PairwiseHinge, PairwiseSquaredHinge])
def test_values_bound_those_of_scores_within_rounding(kind):
    """Scores of 2^54 are known to within 2: rows that seem to be 4 apart may be equal, and pay 1."""
    far = 2.0**54
    assert kind(UtilityPairs([0, 1, 2]))(np.array([0.0, far, far + 4])).value >= 1 / 3
