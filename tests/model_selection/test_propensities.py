"""Estimated propensities: against Poisson regression, recovery of the truth, and errors."""

import numpy as np
import pytest
from sklearn.linear_model import PoissonRegressor

from kernelrank.datasets import simulate_clicks
from kernelrank.model_selection import estimate_propensities


def log(rng, eta=1.0, noise=0.2, n_rankers=2, n_queries=20, n_impressions=50):
    """Return clicks on queries of six rows, shown by several random rankers."""
    qid = np.repeat(np.arange(n_queries), 6)
    y, seed = rng.integers(3, size=len(qid)), int(rng.integers(1000))
    shown = [
        simulate_clicks(y, qid, rng.normal(size=len(qid)), eta, noise, seed + k, n_impressions=n_impressions)
        for k in range(n_rankers)
    ]
    return tuple(np.concatenate([getattr(each, name) for each in shown]) for name in ("clicked", "position", "row"))


def test_against_poisson_regression_with_an_effect_per_row(rng):
    clicked, position, row = log(rng, n_queries=8)
    found = estimate_propensities(clicked, position, row)
    keys, place = np.unique(np.stack((row, position)), axis=1, return_inverse=True)
    n, clicks = np.bincount(place.ravel()), np.bincount(place.ravel(), clicked)
    hit = np.isin(keys[0], row[clicked])
    rows = (keys[0][:, None] == np.unique(row[clicked])).astype(float)[hit]
    positions = (keys[1][:, None] == np.arange(2, 7)).astype(float)[hit]
    model = PoissonRegressor(alpha=0, fit_intercept=False, solver="newton-cholesky", tol=1e-10)
    model.fit(np.hstack((rows, positions)), (clicks / n)[hit], sample_weight=n[hit])
    np.testing.assert_allclose(found.propensity[1:], np.exp(model.coef_[-5:]), rtol=1e-5)
    assert found.propensity[0] == 1
    assert found.standard_error[0] == 0


@pytest.mark.parametrize("eta", [0.0, 1.0])
def test_the_truth_is_within_the_standard_errors(eta):
    rng, deviations = np.random.default_rng(int(10 * eta)), []
    for _ in range(30):
        found = estimate_propensities(*log(rng, eta, n_rankers=3, n_queries=60, n_impressions=20))
        differences = found.propensity - found.position**-eta
        deviations.append(differences[1:] / found.standard_error[1:])
    deviations = np.array(deviations)
    assert np.abs(deviations).max() < 5
    assert np.abs(deviations.mean(axis=0)).max() < 4 / 30**0.5  # no bias
    assert 0.7 < deviations.std() < 1.3  # standard errors are about right


def test_relevance_at_the_top_does_not_matter():
    """Naive click rates mix the relevance of what is shown with the bias; the estimate does not."""
    rng = np.random.default_rng(0)
    y, qid = rng.integers(2, size=600), np.repeat(np.arange(100), 6)
    good = [
        simulate_clicks(y, qid, y + spread * rng.normal(size=600), random_state=1, n_impressions=100)
        for spread in (0.3, 0.6)
    ]
    clicked, position, row = (
        np.concatenate([getattr(each, k) for each in good]) for k in ("clicked", "position", "row")
    )
    found = estimate_propensities(clicked, position, row)
    truth = 1 / found.position
    rates = np.bincount(position[clicked], minlength=7)[1:] / np.bincount(position)[1:]
    assert (np.abs(found.propensity - truth)[1:] < 4 * found.standard_error[1:]).all()
    assert (rates / rates[0])[5] < 0.7 * truth[5]


def test_invariances(rng):
    clicked, position, row = log(rng, n_impressions=20)
    expected = estimate_propensities(clicked, position, row)
    order = rng.permutation(len(clicked))
    names = np.array([f"document {each}" for each in row])
    for found in (
        estimate_propensities(clicked[order].astype(int), position[order], row[order]),
        estimate_propensities(clicked, position, names),
        estimate_propensities(clicked, position, row, sample_weight=np.full(len(row), 3.0)),
    ):
        np.testing.assert_allclose(found.propensity, expected.propensity, rtol=1e-8)
    keys, first, n = np.unique(np.stack((clicked, position, row)), axis=1, return_index=True, return_counts=True)
    found = estimate_propensities(*keys, sample_weight=n)
    np.testing.assert_allclose(found.propensity, expected.propensity, rtol=1e-8)
    np.testing.assert_allclose(found.standard_error, expected.standard_error, rtol=1e-6)
    assert len(first) < len(row)


def test_rows_at_one_position_have_no_influence(rng):
    clicked, position, row = log(rng)
    alone = (
        np.append(clicked, np.ones(500, bool)),
        np.append(position, np.full(500, 4)),
        np.append(row, np.full(500, -1)),
    )
    np.testing.assert_allclose(
        estimate_propensities(*alone).propensity, estimate_propensities(clicked, position, row).propensity, rtol=1e-8
    )


def test_one_swap_is_the_ratio_of_click_rates():
    found = estimate_propensities([1, 0, 1, 0], [3, 3, 5, 5], ["a"] * 4, sample_weight=[60, 40, 30, 70])
    np.testing.assert_array_equal(found.position, [3, 5])
    np.testing.assert_allclose(found.propensity, [1, 0.5])
    # The first step of Newton's method would be to exp(1e8).
    found = estimate_propensities([1, 0, 1, 0], [1, 1, 2, 2], ["a"] * 4, sample_weight=[1, 1e9, 9, 1])
    np.testing.assert_allclose(found.propensity[1], 0.9 * (1e9 + 1), rtol=1e-4)


def test_a_long_chain_of_swaps():
    """Rows were shown at neighbouring positions only, with the expected number of clicks."""
    position = np.repeat(np.arange(1, 101), 2)[1:-1]
    row, p = np.repeat(np.arange(99), 2), 1.0 / position
    found = estimate_propensities(
        np.repeat([1, 0], len(p)), np.tile(position, 2), np.tile(row, 2), sample_weight=np.append(p, 1 - p)
    )
    np.testing.assert_allclose(found.propensity, 1 / found.position, rtol=1e-6)


def test_few_rows_with_very_different_counts(rng):
    """The clicks on each row, in total, are at each position as many as are expected given the estimate."""
    n_found = 0
    for _ in range(60):
        n, n_rows, largest = rng.integers(10, 40), rng.integers(1, 5), rng.choice([1, 6])
        clicked, position, row = rng.random(n) < 0.5, rng.integers(1, 5, size=n), rng.integers(n_rows, size=n)
        weight = 10.0 ** rng.integers(largest, size=n)
        try:
            found = estimate_propensities(clicked, position, row, sample_weight=weight)
        except ValueError:
            continue
        n_found += 1
        shown, clicks = np.zeros((2, n_rows, 5))
        np.add.at(shown, (row, position), weight)
        np.add.at(clicks, (row, position), weight * clicked)
        examined = shown * np.bincount(found.position.astype(int), found.propensity, minlength=5)
        shares = examined / np.maximum(examined.sum(axis=1, keepdims=True), 1e-300)
        expected = (clicks.sum(axis=1)[:, None] * shares).sum(axis=0)
        np.testing.assert_allclose(clicks.sum(axis=0), expected, rtol=1e-3, atol=1e-6)
        assert np.isfinite(found.standard_error).all()
    assert n_found > 20


def test_propensities_of_given_positions(rng):
    found = estimate_propensities(*log(rng))
    np.testing.assert_array_equal(found.at([2, 1, 2, 6]), found.propensity[[1, 0, 1, 5]])
    for unknown in (0, 7, 1.5):
        with pytest.raises(ValueError, match=f"position has {unknown}, of which no propensity was estimated"):
            found.at([1, unknown])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"row": [0, 1, 0, 1, 2, 3, 2, 3]},
            "No row was shown both at positions 1, 2 and at positions 3, 4, so that their propensities cannot be",
        ),
        ({"row": range(8)}, "No row was shown both at position 1 and at positions 2, 3, 4"),
        ({"clicked": np.zeros(8)}, "There are too few clicks on rows that were shown at position"),
        ({"clicked": [1, 1, 1, 1, 1, 1, 0, 0]}, "too few clicks on rows that were shown at position 4 and elsewhere"),
        ({"position": np.ones(8)}, "position is 1 everywhere; at least two positions are required"),
        ({"position": [1, 2]}, "position has 2 elements, but there are 8 rows"),
        ({"row": [1]}, "row has 1 elements, but there are 8 rows"),
        ({"row": None}, "row must have one element per row that was shown, got None"),
        ({"clicked": []}, "clicked is empty"),
        ({"clicked": np.full(8, 0.5)}, "clicked must hold True and False, or 1 and 0, got 0.5"),
        ({"sample_weight": [1.0]}, "sample_weight has 1 elements, but there are 8 rows"),
    ],
)
def test_errors(changed, message):
    case = {"clicked": np.ones(8), "position": [1, 1, 2, 2, 3, 3, 4, 4], "row": [0, 1] * 4}
    with pytest.raises(ValueError, match=message):
        estimate_propensities(**case | changed)
