"""Ordinal hinge loss minimised over the thresholds, against the definition with thresholds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordinal import best_ordinal_hinge, ordinal_hinge

from kernelrank.exceptions import NoComparablePairsError
from kernelrank.losses import OrdinalHinge

KINDS = {
    "halves": lambda rng, m: rng.integers(-4, 5, m) / 2,  # many ties, and many scores exactly on a margin
    "hundredths": lambda rng, m: rng.integers(-250, 251, m) / 100,
    "floats": lambda rng, m: 2 * rng.normal(size=m),
}


@st.composite
def cases(draw):
    """Classes, scores, and weights or None."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, r = draw(st.integers(2, 25)), draw(st.integers(2, 6))
    classes = np.unique(np.append(rng.integers(0, r, m - 1), [0, 1][m % 2] + r), return_inverse=True)[1]
    scores = KINDS[draw(st.sampled_from(sorted(KINDS)))](rng, m)
    return classes, scores, rng.choice([0.1, 0.3, 1.0, 2.7], m) if draw(st.booleans()) else None


@given(cases())
def test_value_and_thresholds_are_the_best(case):
    classes, scores, weights = case
    loss, best = OrdinalHinge(classes, weights), best_ordinal_hinge(classes, scores, weights)
    assert loss(scores).value == pytest.approx(best, abs=1e-12)
    thresholds = loss.thresholds(scores)
    assert (np.diff(thresholds) >= 0).all()
    assert ordinal_hinge(classes, scores, thresholds, weights) == pytest.approx(best, abs=1e-12)


@given(cases(), st.integers(0, 2**32 - 1))
def test_the_plane_touches_and_stays_below(case, seed):
    classes, scores, weights = case
    risk = OrdinalHinge(classes, weights)(scores)
    assert risk.value == pytest.approx(risk.offset + risk.g @ scores, abs=1e-12)
    assert risk.g.sum() == pytest.approx(0, abs=1e-14)
    rng = np.random.default_rng(seed)
    for scale in (0.1, 1, 10):
        other = scale * rng.normal(size=len(scores))
        assert best_ordinal_hinge(classes, other, weights) >= risk.offset + risk.g @ other - 1e-12


@given(cases(), st.integers(0, 2**32 - 1))
def test_the_order_of_rows_makes_no_difference(case, seed):
    classes, scores, weights = case
    order = np.random.default_rng(seed).permutation(len(scores))
    risk = OrdinalHinge(classes, weights)(scores)
    other = OrdinalHinge(classes[order], None if weights is None else weights[order])(scores[order])
    np.testing.assert_allclose(other.g, risk.g[order], atol=1e-14)


def test_repeating_rows_is_weighting_them(rng):
    classes, scores, times = rng.integers(0, 4, 40), rng.integers(-4, 5, 40) / 2, rng.integers(1, 4, 40)
    repeated = OrdinalHinge(np.repeat(classes, times))
    weighted = OrdinalHinge(classes, times.astype(float))
    assert weighted(scores).value == pytest.approx(repeated(np.repeat(scores, times)).value, rel=1e-14)
    np.testing.assert_array_equal(weighted.thresholds(scores), repeated.thresholds(np.repeat(scores, times)))


def test_zero_scores_cost_the_smaller_side():
    """The first threshold has 1 row below and 4 above, the second 3 and 2."""
    risk = OrdinalHinge(np.array([0, 1, 1, 2, 2]))(np.zeros(5))
    assert risk.value == pytest.approx(2 * (1 + 2) / (5 * 2))
    assert risk.offset == risk.value


def test_the_middle_of_the_best_thresholds():
    """With rows at -3 and 3, all of [-2, 2] is optimal."""
    np.testing.assert_array_equal(OrdinalHinge(np.array([0, 1])).thresholds(np.array([-3.0, 3.0])), [0.0])


def test_an_offset_of_the_scores_moves_the_thresholds_only(rng):
    classes, scores = rng.integers(0, 4, 40), rng.integers(-9, 10, 40) / 4
    loss = OrdinalHinge(classes)
    assert loss(scores + 2.0**30).value == pytest.approx(loss(scores).value, rel=1e-14)
    np.testing.assert_array_equal(loss.thresholds(scores + 2.0**30), loss.thresholds(scores) + 2.0**30)


def test_one_class_is_an_error():
    with pytest.raises(NoComparablePairsError, match=r"only one class \(n_samples = 3\)"):
        OrdinalHinge(np.zeros(3, dtype=int))


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5, 1.5])])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_not_finite_show_in_the_value(weights, bad):
    with np.errstate(invalid="ignore"):
        assert not np.isfinite(OrdinalHinge(np.array([0, 1, 0, 1]), weights)(np.array([0.0, bad, 1.0, 2.0])).value)
