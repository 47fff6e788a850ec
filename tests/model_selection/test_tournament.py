"""The band of a tournament's ROC curve; tests of the curve itself are in test_estimates.py."""

import numpy as np
import pytest
from scipy.stats import binom

from kernelrank import RankRLS
from kernelrank.model_selection import tournament_roc
from kernelrank.model_selection._tournament import _effective_size, _intervals


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("n", [1, 7, 40])
def test_both_rates_are_in_their_intervals_at_least_so_often(n, confidence):
    ends = _intervals(np.arange(n + 1) / n, n, confidence)
    for rate in np.linspace(0, 1, 41):
        inside = (ends[:, 0] <= rate) & (rate <= ends[:, 1])
        covered = binom.pmf(np.arange(n + 1), n, rate)[inside].sum()
        assert covered**2 >= confidence - 1e-9  # of two independent rates
    if n == 40:
        assert np.ptp(ends, axis=1).max() < 0.4  # and not by intervals that are too wide to be of use


def test_the_band_surrounds_the_curve_and_is_as_wide_as_few_rows_make_it(rng):
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60) > 0.8
    found = tournament_roc(RankRLS(), X, y, interval="rows")
    for rates, band, rows in ((found.fpr, found.fpr_band, ~y), (found.tpr, found.tpr_band, y)):
        assert band.shape == (len(rates), 2)
        assert np.all((band[:, 0] <= rates) & (rates <= band[:, 1]))
        np.testing.assert_array_equal(band, _intervals(rates, rows.sum(), 0.95))
        assert (band[0, 0], band[-1, 1]) == (0, 1)
        assert np.all(np.diff(band, axis=0) >= 0)
    wide = tournament_roc(RankRLS(), X, y, interval="rows", confidence=0.99)
    assert np.all(np.ptp(wide.tpr_band, axis=1) > np.ptp(found.tpr_band, axis=1))


def test_repeated_rows_that_are_a_group_do_not_narrow_the_band(rng):
    X = rng.normal(size=(20, 2))
    y, groups = np.arange(20) % 2, np.repeat(np.arange(20), 3)
    found = tournament_roc(RankRLS(), np.repeat(X, 3, axis=0), np.repeat(y, 3), groups=groups)
    np.testing.assert_allclose(found.tpr_band, _intervals(found.tpr, 10, 0.95))
    np.testing.assert_allclose(found.fpr_band, _intervals(found.fpr, 10, 0.95))


def test_groups_of_unequal_sizes():
    rows = np.ones(6, dtype=bool)
    assert _effective_size(None, rows) == 6
    assert _effective_size(np.array([0, 0, 0, 0, 0, 0]), rows) == 1
    assert _effective_size(np.array([0, 1, 2, 3, 4, 5]), rows) == 6
    assert _effective_size(np.array([0, 0, 0, 0, 1, 2]), rows) == 2
    assert _effective_size(np.array([7, 0, 0, 0, 0, 7]), np.array([1, 0, 0, 0, 0, 1], dtype=bool)) == 1
