"""Pairwise hinge loss: value, tangent plane and weighting of queries."""

import numpy as np
import pytest
from oracles import pairwise_hinge

from kernelrank.exceptions import NoComparablePairsError
from kernelrank.losses import PairwiseHinge
from kernelrank.pairs import UtilityPairs


def data(rng, m=80, weighted=False):
    weights = rng.integers(0, 3, m) * rng.random(m) if weighted else None
    return rng.integers(0, 6, m), rng.normal(size=m) * 2, rng.integers(0, 7, m), weights


@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@pytest.mark.parametrize("weighted", [False, True])
def test_value_is_the_definition(rng, query_weighting, weighted):
    y, scores, qid, weights = data(rng, weighted=weighted)
    loss = PairwiseHinge(UtilityPairs(y, qid=qid, sample_weight=weights), query_weighting)
    expected = pairwise_hinge(y, scores, qid, weights, query_weighting)
    assert loss(scores).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("query_weighting", ["query", "pair"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_plane_touches_and_stays_below(rng, query_weighting, weighted):
    y, scores, qid, weights = data(rng, weighted=weighted)
    loss = PairwiseHinge(UtilityPairs(y, qid=qid, sample_weight=weights), query_weighting)
    risk = loss(scores)
    assert risk.value == pytest.approx(risk.offset + risk.g @ scores, rel=1e-12)
    for _ in range(20):
        other = rng.normal(size=len(y)) * rng.choice([0.1, 1, 10])
        assert loss(other).value >= risk.offset + risk.g @ other - 1e-12


def test_zero_scores_violate_every_pair(rng):
    y, _, qid, _ = data(rng)
    risk = PairwiseHinge(UtilityPairs(y, qid=qid))(np.zeros(len(y)))
    assert risk.value == pytest.approx(1, abs=1e-15)
    assert risk.offset == risk.value


def test_an_offset_of_the_scores_changes_nothing(rng):
    """g sums to zero in every query, so a large offset of the scores must not affect the value."""
    y, scores, qid, _ = data(rng)
    loss = PairwiseHinge(UtilityPairs(y, qid=qid))
    scores = np.round(scores * 2**10) / 2**10  # exact with the offset added
    assert loss(scores + 2.0**30 * (qid - 3)).value == loss(scores).value


def test_queries_without_pairs_contribute_nothing(rng):
    y, scores, qid, _ = data(rng)
    extra = PairwiseHinge(
        UtilityPairs(np.append(y, [1, 1, 5]), qid=np.append(qid, [100, 100, 101])),
    )
    expected = PairwiseHinge(UtilityPairs(y, qid=qid))(scores).value
    assert extra(np.append(scores, [3, 4, 5])).value == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("y", [[1.0], [2, 2, 2], [0.0, -0.0]])
def test_nothing_to_compare(y):
    with pytest.raises(NoComparablePairsError, match=f"n_samples = {len(y)}"):
        PairwiseHinge(UtilityPairs(y))


@pytest.mark.parametrize("m", [10, 5000, 70_000])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_break_nothing(rng, m, bad):
    """The solver checks the value, so the sort must not fail before."""
    scores = rng.normal(size=m)
    scores[rng.random(m) < 0.3] = bad
    loss = PairwiseHinge(UtilityPairs(rng.permutation(m)))
    assert not np.isfinite(loss(scores).value)
    assert not np.isfinite(loss(np.full(m, bad)).value)
    assert loss(np.zeros(m)).value == 1
