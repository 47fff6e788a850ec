"""Simulated clicks: positions, propensities, and the rates at which rows are clicked."""

import numpy as np
import pytest

from kernelrank.datasets import simulate_clicks

Y = [0, 2, 1, 0, 1, 0]
QID = [3, 1, 3, 3, 1, 1]
SCORES = [0.1, 0.5, 0.9, 0.1, 0.5, -1.0]


def by_hand(y, qid, scores, eta, noise):
    """Return the position, the propensity and the probability of a click of each row, one query after the other."""
    position = np.empty(len(y), int)
    for query in set(qid):
        rows = [row for row in range(len(y)) if qid[row] == query]
        for rank, row in enumerate(sorted(rows, key=lambda row: -scores[row]), 1):  # a stable sort
            position[row] = rank
    attraction = noise + (1 - noise) * (2.0 ** np.array(y) - 1) / (2.0 ** max(y) - 1)
    propensity = position ** -float(eta)
    return position, propensity, propensity * attraction


def test_against_loops(rng):
    y, qid = rng.integers(4, size=60), rng.integers(7, size=60)
    scores = rng.integers(5, size=60) / 2  # with ties
    eta, noise, n = 0.7, 0.2, 4_000
    position, propensity, rate = by_hand(y, qid, scores, eta, noise)
    found = simulate_clicks(y, qid, scores, eta, noise, int(rng.integers(1000)), n_impressions=n)
    np.testing.assert_array_equal(found.row, np.tile(np.arange(60), n))
    np.testing.assert_array_equal(found.position, np.tile(position, n))
    np.testing.assert_allclose(found.propensity, np.tile(propensity, n))
    counts = np.bincount(found.row[found.clicked], minlength=60)
    error = np.sqrt(n * rate * (1 - rate))
    assert (np.abs(counts - n * rate) <= 5 * error).all()


def test_an_impression_is_a_query_shown_once():
    found = simulate_clicks(Y, QID, SCORES, n_impressions=3)
    assert len(np.unique(found.impression)) == 6
    for each in np.unique(found.impression):
        rows = found.row[found.impression == each]
        assert len({QID[row] for row in rows}) == 1
        assert sorted(found.position[found.impression == each]) == [1, 2, 3]


def test_clicks_are_independent_of_each_other():
    n = 20_000
    clicked = simulate_clicks([1, 1], None, [2.0, 1.0], eta=1.0, noise=0.0, n_impressions=n).clicked.reshape(n, 2)
    assert clicked[:, 0].all()
    assert abs(clicked[:, 1].mean() - 0.5) < 5 * 0.5 / n**0.5
    clicked = simulate_clicks([0, 0], None, [2.0, 1.0], eta=0.0, noise=0.5, n_impressions=n).clicked.reshape(n, 2)
    assert abs(np.corrcoef(clicked.T)[0, 1]) < 5 / n**0.5
    assert abs(np.corrcoef(clicked[1:, 0], clicked[:-1, 1])[0, 1]) < 5 / n**0.5


def test_the_textbook_case():
    """Without noise and position bias, exactly the relevant rows are clicked."""
    y = np.array([0, 1, 1, 0, 1])
    np.testing.assert_array_equal(simulate_clicks(y, None, np.arange(5), eta=0, noise=0).clicked, y == 1)
    assert simulate_clicks(y, None, np.arange(5), eta=0, noise=1).clicked.all()


@pytest.mark.parametrize("y", [[0.0, 0.0, 0.0], [5.0, 0.0, 2000.0], [1e-20, 2e-20, 0.0]])
def test_extreme_grades(y):
    found = simulate_clicks(y, None, [0, 0, 0], eta=0, noise=0, n_impressions=10_000)
    rates = found.clicked.reshape(-1, 3).mean(axis=0)
    expected = {0.0: [0, 0, 0], 5.0: [0, 0, 1], 1e-20: [0.5, 1, 0]}[y[0]]
    np.testing.assert_allclose(rates, expected, atol=5 * 0.5 / 100)


@pytest.mark.parametrize(
    "qid", [list("bababb"), [(1, 2), (3,), (1, 2), (3,), (1, 2), (1, 2)], np.array([-5, 9, -5, 9, -5, -5])]
)
def test_forms_of_query_ids(qid):
    expected = simulate_clicks(Y, [0, 1, 0, 1, 0, 0], SCORES, n_impressions=5)
    for found, same in zip(simulate_clicks(Y, qid, SCORES, n_impressions=5), expected, strict=True):
        np.testing.assert_array_equal(found, same)


def test_seeds():
    first, again, other = (simulate_clicks(Y, QID, SCORES, random_state=k, n_impressions=20).clicked for k in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    rng = np.random.RandomState(0)
    assert (
        simulate_clicks(Y, QID, SCORES, 0, 0.5, rng).clicked != simulate_clicks(Y, QID, SCORES, 0, 0.5, rng)[0]
    ).any()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": [], "qid": [], "scores": []}, "y is empty; at least one row is required"),
        ({"y": [0, 1, -2, 0, 0, 0]}, "y must hold grades of 0 or more, got -2"),
        ({"qid": [1, 2]}, "qid has 2 elements, but there are 6 rows"),
        ({"scores": [1.0]}, "scores has 1 elements, but there are 6 rows"),
        ({"eta": -0.5}, "eta must be a non-negative finite number, got -0.5"),
        ({"noise": 1.5}, "noise must be a number from 0 to 1, got 1.5"),
        ({"n_impressions": 0}, "n_impressions must be a positive integer, got 0"),
    ],
)
def test_errors(changed, message):
    with pytest.raises(ValueError, match=message):
        simulate_clicks(**{"y": Y, "qid": QID, "scores": SCORES} | changed)
