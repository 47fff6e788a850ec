"""Propensity-weighted clicks: the objective against explicit pairs, and its expected value."""

import numpy as np
import pytest

from kernelrank import RankSVM
from kernelrank.datasets import simulate_clicks
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.pairs import UtilityPairs, weigh_clicks


def pairs_of(clicked, propensity, qid, row):
    """Return the pairs of a clicked row and another row of its query, with 1 / propensity, by loops."""
    pairs, weight = [], []
    for i in np.flatnonzero(clicked):
        for j in np.flatnonzero(qid == qid[i]):
            if row[j] != row[i]:
                pairs.append([row[i], row[j]])
                weight.append(1 / propensity[i])
    return np.array(pairs), np.array(weight)


def log(rng, n_impressions=4):
    X, qid = rng.normal(size=(30, 3)), rng.integers(4, size=30)
    y = (X[:, 0] + rng.normal(size=30) > 0).astype(float)
    seed = int(rng.integers(1000))
    return X, y, qid, simulate_clicks(y, qid, rng.normal(size=30), random_state=seed, n_impressions=n_impressions)


def fit(X, found, alpha, **parameters):
    model = RankSVM(alpha, query_weighting="pair", tol=1e-8, **parameters)
    return model.fit(X[found.row], found.y, qid=found.qid, sample_weight=found.sample_weight)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_all_pairs_of_a_click(rng, loss):
    X, _, _, clicks = log(rng)
    pairs, weight = pairs_of(clicks.clicked, clicks.propensity, clicks.impression, clicks.row)
    found = weigh_clicks(clicks.clicked, clicks.propensity, qid=clicks.impression, row=clicks.row)
    model = fit(X, found, 0.01, loss=loss)
    # Pairs of a row with itself are counted, so that the mean is over more.
    scale = model.n_pairs_ / weight.sum()
    explicit = RankSVM(0.01 * scale, query_weighting="pair", tol=1e-8, loss=loss).fit_pairs(X, pairs, weight=weight)
    np.testing.assert_allclose(model.coef_, explicit.coef_, atol=1e-3)
    n_itself = (1 / clicks.propensity[clicks.clicked]).sum()
    assert model.n_pairs_ == pytest.approx(weight.sum() + n_itself)
    assert model.objective_ == pytest.approx((explicit.objective_ * weight.sum() + n_itself) / model.n_pairs_, abs=1e-6)


def test_impressions_of_a_query_are_added_up(rng):
    X, _, qid, clicks = log(rng)
    apart = weigh_clicks(clicks.clicked, clicks.propensity, qid=clicks.impression, row=clicks.row)
    added = weigh_clicks(clicks.clicked, clicks.propensity, qid=qid[clicks.row], row=clicks.row)
    assert len(added.row) <= 60 < len(apart.row)
    first, second = fit(X, apart, 0.01), fit(X, added, 0.01)
    assert first.n_pairs_ == pytest.approx(second.n_pairs_)
    assert first.objective_ == pytest.approx(second.objective_, abs=1e-7)


def test_counts_instead_of_clicks(rng):
    _, _, qid, clicks = log(rng)
    expected = weigh_clicks(clicks.clicked, clicks.propensity, qid=qid[clicks.row], row=clicks.row)
    counts = np.bincount(clicks.row[clicks.clicked], minlength=30)
    twice = np.tile(np.arange(30), 2)
    found = weigh_clicks(
        twice == np.arange(60),
        clicks.propensity[twice],
        qid=np.append(qid[clicks.row[:30]], qid),
        row=twice,
        sample_weight=np.append(counts, 4 - counts),
    )
    order = [np.lexsort((each.row, each.y)) for each in (found, expected)]
    for name in ("row", "y", "sample_weight"):
        np.testing.assert_allclose(*(getattr(e, name)[o] for e, o in zip((found, expected), order, strict=True)))


def test_the_expected_loss_is_that_of_judgements():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), (np.arange(12) % 3 == 0).astype(float)
    scores, n = X @ [1.0, -1.0], 20_000
    clicks = simulate_clicks(y, None, rng.normal(size=12), noise=0.1, n_impressions=n)
    found = weigh_clicks(clicks.clicked, clicks.propensity, row=clicks.row)
    relevance = np.where(y == 1, 1.0, 0.1)
    losses = np.maximum(0, 1 - scores[:, None] + scores).sum(axis=1)
    estimate = found.sample_weight[found.y == 1] @ losses[found.row[found.y == 1]] / n
    p = clicks.propensity[:12]
    error = np.sqrt((losses**2 * (relevance / p - relevance**2)).sum() / n)
    assert abs(estimate - relevance @ losses) < 4 * error
    naive = weigh_clicks(clicks.clicked, 1.0, row=clicks.row)
    assert (
        abs(naive.sample_weight[naive.y == 1] @ losses[naive.row[naive.y == 1]] / n - relevance @ losses) > 20 * error
    )


def test_clicked_against_skipped_rows_by_sample_weight(rng):
    """`sample_weight` of 1 / propensity gives the pairs of a clicked and a skipped row that weight."""
    _, _, _, clicks = log(rng)
    weight = np.where(clicks.clicked, 1 / clicks.propensity, 1.0)
    total = UtilityPairs(clicks.clicked.astype(float), qid=clicks.impression, sample_weight=weight).n_pairs
    expected = sum(
        1 / clicks.propensity[i] * (~clicks.clicked[clicks.impression == clicks.impression[i]]).sum()
        for i in np.flatnonzero(clicks.clicked)
    )
    assert total == pytest.approx(expected)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"clicked": [0, 1, 2]}, "clicked must hold True and False, or 1 and 0, got 2"),
        ({"clicked": []}, "clicked is empty; at least one row is required"),
        ({"clicked": [[0, 1, 0]]}, r"clicked must have one element per row, got an array of shape \(1, 3\)"),
        ({"propensity": [1.0, 0.0, 0.5]}, "propensity must be positive, got 0 at index 1"),
        ({"propensity": [1.0, 0.5, -0.5]}, "propensity must be positive, got -0.5 at index 2"),
        ({"propensity": -1.0}, "propensity must be positive, got -1 at index 0"),
        ({"propensity": [1.0, np.nan, 0.5]}, "propensity contains NaN"),
        ({"propensity": [1.0]}, "propensity has 1 elements, but there are 3 rows"),
        ({"qid": [1]}, "qid has 1 elements, but there are 3 rows"),
        ({"row": [0, 1]}, "row must have one element for each of the 3 rows"),
        ({"row": [0, 1, -1]}, r"row must hold indices from 0 to 2\*\*31 - 1, got -1"),
        ({"row": [0.0, 1.0, 2.0]}, "row must hold indices of rows of X, integers, got dtype float64"),
        ({"row": ["b", "a", "b"]}, r"Convert ids by numpy\.unique\(ids, return_inverse=True\)"),
        ({"sample_weight": [1.0, -1.0, 1.0]}, "sample_weight must not be negative"),
    ],
)
def test_errors(changed, message):
    with pytest.raises(ValueError, match=message):
        weigh_clicks(**{"clicked": [0, 1, 0], "propensity": [1.0, 0.5, 0.3]} | changed)


@pytest.mark.parametrize("case", [{"clicked": [0, 0]}, {"qid": [1, 2]}, {"row": [0, 0]}, {"sample_weight": [0, 1]}])
def test_nothing_to_compare(case):
    with pytest.raises(NoComparablePairsError, match="no row was clicked that was shown with others"):
        weigh_clicks(**{"clicked": [1, 0], "propensity": [1.0, 0.5]} | case)


def test_a_row_may_be_shown_for_several_queries():
    found = weigh_clicks([1, 0, 0, 1], [1.0, 0.5, 1.0, 0.5], qid=["a", "a", "b", "b"], row=[2, 0, 0, 1])
    expected = [
        (0, 2, 1.0, 1.0),
        (1, 1, 1.0, 2.0),
        (0, 0, 0.0, 1.0),
        (0, 2, 0.0, 1.0),
        (1, 0, 0.0, 1.0),
        (1, 1, 0.0, 1.0),
    ]
    assert list(zip(found.qid, found.row, found.y, found.sample_weight, strict=True)) == expected
