"""Influences of rows on shares of pairs, and variances computed from them."""

import numpy as np
import oracles
import pytest
import strategies
import variances
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm, t

from kernelrank.exceptions import NoComparablePairsError
from kernelrank.metrics import concordance_index
from kernelrank.metrics._influence import RowCounts, influences, interval, variance


def grades(rng, m, n_levels):
    """Integer grades, or real values for None, and scores with ties."""
    y = rng.normal(size=m) if n_levels is None else rng.integers(0, n_levels, m).astype(float)
    y[:4] = 0, 1, 0, 1
    return y, np.round(rng.normal(size=m) + y, 1)


@given(case=strategies.cases)
def test_counts_of_rows(case):
    y, scores, _ = case
    assume(np.unique(y).size > 2 or min(np.unique(y, return_counts=True)[1]) > 1)
    assume(np.unique(y).size > 1)
    comparable, right = variances.right_order(y, scores)
    rows = RowCounts(y)
    np.testing.assert_array_equal(rows.pairs, comparable.sum(axis=1))
    np.testing.assert_array_equal(rows.wins(scores), right.sum(axis=1))
    if rows.strata is None:
        assert np.unique(y).size > 2
    else:
        np.testing.assert_array_equal(rows.strata, y == y.max())


@pytest.mark.parametrize("n_levels", [2, 4, None])
def test_influences_are_derivatives(n_levels, rng):
    y, scores = grades(rng, 25, n_levels)
    rows = RowCounts(y)
    share, u = influences(rows.wins(scores), rows.pairs)
    assert share == pytest.approx(concordance_index(y, scores), rel=1e-15)
    step = 1e-4
    for i in range(len(y)):
        more, less = np.ones(len(y)), np.ones(len(y))
        more[i], less[i] = 1 + step, 1 - step
        slope = oracles.concordance(y, scores, weights=more) - oracles.concordance(y, scores, weights=less)
        assert u[i] == pytest.approx(slope / (2 * step), abs=1e-8)
    assert u.sum() == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("n_levels", [4, None])
def test_the_jackknife_agrees(n_levels, rng):
    y, scores = grades(rng, 120, n_levels)
    rows = RowCounts(y)
    _, u = influences(rows.wins(scores), rows.pairs)
    assert variance(u) == pytest.approx(variances.jackknife(y, scores), rel=0.05)


def test_the_variance_is_that_of_new_samples():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(2000):
        y, noise = rng.normal(size=(2, 60))
        rows = RowCounts(y)
        share, u = influences(rows.wins(y + noise), rows.pairs)
        found.append((share, variance(u)))
    shares, its_variances = np.transpose(found)
    assert its_variances.mean() == pytest.approx(shares.var(), rel=0.1)


@given(rows=st.lists(st.tuples(st.integers(0, 1), st.integers(-2, 2), st.integers(0, 5)), min_size=1, max_size=40))
def test_units_of_rows(rows):
    y, scores, units = (
        np.array(column) for column in zip(*rows, (0, 1, 6), (1, 0, 6), (0, 2, 8), (1, 2, 8), strict=True)
    )
    counts = RowCounts(y.astype(float))
    _, u = influences(counts.wins(scores.astype(float)), counts.pairs)
    found = variance(u, strata=counts.strata, units=units)
    assert found == pytest.approx(variances.obuchowski(y, scores, units), rel=1e-10, abs=1e-16)


def test_a_row_a_unit_is_no_unit(rng):
    u, strata = rng.normal(size=(2, 50))
    strata = (strata > 0).astype(int)
    units = rng.permutation(50)
    assert variance(u, units=units) == pytest.approx(variance(u), rel=1e-13)
    assert variance(u, strata=strata, units=units) == pytest.approx(variance(u, strata=strata), rel=1e-13)
    assert variance(u, strata=strata > 0, units=2 * units) == pytest.approx(variance(u, strata=strata), rel=1e-13)
    assert variance(u, strata=3 * strata) == pytest.approx(variance(u, strata=strata), rel=1e-13)


def test_strata_are_samples_of_their_own(rng):
    u = rng.normal(size=50)
    strata = rng.permutation(np.repeat([0, 1, 2], [20, 20, 10]))
    expected = sum(len(each) * each.var(ddof=1) for each in (u[strata == s] for s in range(3)))
    assert variance(u, strata=strata) == pytest.approx(expected, rel=1e-13)


def test_repeated_rows_are_not_more_evidence(rng):
    y, scores = grades(rng, 40, None)
    once, thrice = RowCounts(y), RowCounts(np.repeat(y, 3))
    _, u = influences(once.wins(scores), once.pairs)
    _, repeated = influences(thrice.wins(np.repeat(scores, 3)), thrice.pairs)
    assert variance(repeated) < variance(u) / 2
    assert variance(repeated, units=np.repeat(np.arange(40), 3)) == pytest.approx(variance(u), rel=1e-12)


@pytest.mark.parametrize(
    ("strata", "units"), [([0, 0, 0, 1], None), (None, [0, 0, 0, 0]), ([0, 0, 1, 1], [0, 1, 2, 2])]
)
def test_one_unit_has_no_variance(strata, units):
    strata, units = (each if each is None else np.array(each) for each in (strata, units))
    with pytest.raises(ValueError, match="two independent rows, or units of rows, of each class"):
        variance(np.array([1.0, -1.0, 2.0, -2.0]), strata=strata, units=units)


def test_nothing_to_compare():
    with pytest.raises(NoComparablePairsError, match="no pair of rows with different values"):
        RowCounts(np.ones(3))
    with pytest.raises(NoComparablePairsError, match="no pair of rows to compare"):
        influences(np.zeros(3), np.zeros(3))


def test_millions_of_pairs_are_exact():
    m = 100_000
    rows = RowCounts(np.arange(m, dtype=float))
    share, u = influences(rows.wins(np.zeros(m)), rows.pairs)
    assert share == 0.5
    assert not u.any()


def test_intervals():
    normal, student = 0.1 * norm.ppf(0.95), 0.1 * t.ppf(0.95, df=4)
    assert interval(0.5, 0.01, 0.9) == pytest.approx((0.5 - normal, 0.5 + normal), rel=1e-12)
    assert interval(0.5, 0.01, 0.9, n_values=5) == pytest.approx((0.5 - student, 0.5 + student), rel=1e-12)
    assert interval(0.5, 100.0, 0.9) == (0.0, 1.0)
    assert interval(0.5, 100.0, 0.9, lowest=-1.0) == (-1.0, 1.0)
