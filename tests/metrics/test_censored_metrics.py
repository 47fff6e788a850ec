"""Metrics of censored utilities, against loops over pairs and against simulations."""

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given

from kernelrank.exceptions import NoComparablePairsError
from kernelrank.metrics import (
    auc_interval,
    concordance_index,
    concordance_interval,
    cumulative_dynamic_auc,
    kendall_tau,
    make_ranking_scorer,
    pairwise_error,
)


def make(rng, m=150, levels=40):
    true, until = rng.integers(0, levels, m), rng.integers(0, int(1.3 * levels), m)
    y, observed = np.minimum(true, until).astype(float), true <= until
    return y, observed, np.round(true + levels / 3 * rng.normal(size=m))


def censoring_survival(y, observed, weights):
    """Return the probability not to be censored up to each time, by a loop over the times."""
    survival, found = 1.0, {}
    for time in np.unique(y):
        lost = weights[(y == time) & ~observed].sum()
        at_risk = weights[(y > time) | ((y == time) & ~observed)].sum()
        survival *= 1 - lost / at_risk if lost else 1.0
        found[time] = survival
    return np.array([found[time] for time in y])


def shares_of_pairs(pairs, scores):
    """Return the weights of concordant, discordant and tied pairs [lower, higher]."""
    order = np.sign(scores - scores[:, None])
    return [(pairs * (order == sign)).sum() for sign in (1, -1, 0)]


@pytest.mark.filterwarnings("ignore::kernelrank.exceptions.UndefinedQueryWarning")
@given(case=strategies.cases, seed=strategies.seeds)
def test_concordance_of_known_pairs(case, seed):
    rng = np.random.default_rng(seed)
    observed, weights = rng.random(len(case.y)) < 0.6, strategies.weights(len(case.y), seed)
    options = {"qid": case.qid, "observed": observed, "sample_weight": weights}
    if not oracles.comparable_pairs(case.y, case.qid, weights, observed).any():
        with pytest.raises(NoComparablePairsError):
            concordance_index(case.y, case.scores, **options)
        return
    found = concordance_index(case.y, case.scores, ties=0.25, **options)
    expected = oracles.concordance(case.y, case.scores, case.qid, weights, 0.25, observed)
    assert found == pytest.approx(expected, rel=1e-9)
    error = pairwise_error(case.y, case.scores, ties=0.75, **options)
    assert error == pytest.approx(1 - expected, rel=1e-9, abs=1e-9)


def test_kendall_of_known_pairs(rng):
    y, observed, scores = make(rng)
    pairs = oracles.comparable_pairs(y, None, None, observed)
    right, wrong, _ = shares_of_pairs(pairs, scores)
    differing = (scores[:, None] < scores).sum()
    assert kendall_tau(y, scores, observed=observed) == pytest.approx(
        (right - wrong) / np.sqrt(pairs.sum() * differing)
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("truncation", [3.0, 12.5, 30.0])
def test_uno(rng, truncation, weighted):
    y, observed, scores = make(rng)
    weights = rng.uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    lower = np.where(observed & (y < truncation), censoring_survival(y, observed, weights), np.inf) ** -2
    pairs = oracles.comparable_pairs(y, None, weights, observed) * lower[:, None]
    right, wrong, tied = shares_of_pairs(pairs, scores)
    options = {"observed": observed, "truncation": truncation, "sample_weight": weights if weighted else None}
    found = concordance_index(y, scores, ties=0.25, **options)
    assert found == pytest.approx((right + tied / 4) / (right + wrong + tied), rel=1e-12)
    assert pairwise_error(y, scores, ties=0.75, **options) == pytest.approx(1 - found, rel=1e-12)


def test_uno_of_queries_is_their_mean(rng):
    y, observed, scores = make(rng)
    qid = rng.integers(0, 3, len(y))
    lower = np.where(observed & (y < 20), censoring_survival(y, observed, np.ones(len(y))), np.inf) ** -2
    pairs = oracles.comparable_pairs(y, qid, None, observed) * lower[:, None]
    values = []
    for query in range(3):
        right, wrong, tied = shares_of_pairs(pairs[qid == query][:, qid == query], scores[qid == query])
        values.append((right + tied / 2) / (right + wrong + tied))
    found = concordance_index(y, scores, qid=qid, observed=observed, truncation=20)
    assert found == pytest.approx(np.mean(values))


def test_uno_does_not_depend_on_censoring():
    """With many rows, censored or not, Uno's is that of the uncensored rows; Harrell's is another."""
    rng = np.random.default_rng(0)
    m = 100_000
    true = rng.exponential(size=m)
    # Early rows are ranked well, late ones are not.
    scores = np.where(true < 1, true, 1 + rng.random(m)) + 0.3 * rng.normal(size=m)
    until = rng.exponential(0.7, size=m)
    y, observed = np.minimum(true, until), true <= until
    expected = concordance_index(true, scores, truncation=2.0)
    found = concordance_index(y, scores, observed=observed, truncation=2.0)
    assert found == pytest.approx(expected, abs=0.01)
    assert abs(concordance_index(y, scores, observed=observed) - expected) > 0.03


def test_without_censoring_uno_counts_lower_rows_before_the_truncation(rng):
    y, _, scores = make(rng)
    pairs = oracles.comparable_pairs(y, None, None) * (y < 10)[:, None]
    right, wrong, tied = shares_of_pairs(pairs, scores)
    assert concordance_index(y, scores, truncation=10) == pytest.approx((right + tied / 2) / (right + wrong + tied))


@pytest.mark.parametrize("truncation", [None, 25.0])
def test_interval_by_influences(rng, truncation):
    """The influence of a row is the derivative with respect to its weight."""
    y, observed, scores = make(rng, m=60)
    lower = np.ones(60)
    if truncation:
        lower = np.where(observed & (y < truncation), censoring_survival(y, observed, lower), np.inf) ** -2
    pairs = oracles.comparable_pairs(y, None, None, observed) * lower[:, None]

    def share(weights):
        right, wrong, tied = shares_of_pairs(pairs * np.outer(weights, weights), scores)
        return (right + tied / 2) / (right + wrong + tied)

    step = 1e-5
    u = np.array([(share(1 + step * e) - share(1 - step * e)) / (2 * step) for e in np.eye(60)])
    spread = np.sqrt(60 / 59 * np.sum((u - u.mean()) ** 2))
    found = concordance_interval(y, scores, observed=observed, truncation=truncation, confidence=0.9)
    assert found.concordance == pytest.approx(share(np.ones(60)))
    assert found.concordance == pytest.approx(
        concordance_index(y, scores, observed=observed, truncation=truncation), rel=1e-14
    )
    assert found.high - found.concordance == pytest.approx(1.6448536 * spread, rel=1e-5)


def test_interval_covers_the_truth():
    rng = np.random.default_rng(0)

    def draw(m):
        true, until = rng.exponential(size=m), rng.exponential(size=m)
        return np.minimum(true, until), np.log(true) + rng.normal(size=m), true <= until

    y, scores, observed = draw(200_000)
    truth = concordance_index(y, scores, observed=observed)
    hits = 0
    for _ in range(300):
        y, scores, observed = draw(150)
        found = concordance_interval(y, scores, observed=observed)
        hits += found.low < truth < found.high
    assert 0.91 < hits / 300 < 0.985


def test_interval_of_queries_is_a_bootstrap_of_their_values(rng):
    y, observed, scores = make(rng, m=400)
    qid = rng.integers(0, 12, len(y))
    values = concordance_index(y, scores, qid=qid, observed=observed, per_query=True)
    found = concordance_interval(y, scores, qid=qid, observed=observed, random_state=0)
    assert found.concordance == pytest.approx(values.mean())
    half_width = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    assert found.high - found.concordance == pytest.approx(half_width, rel=0.25)


@pytest.mark.parametrize("weighted", [False, True])
def test_time_dependent_areas(rng, weighted):
    y, observed, scores = make(rng)
    weights = rng.uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    times = np.array([25.0, 3.0, 10.5])
    inverse = np.where(observed, 1 / censoring_survival(y, observed, weights), 0.0)
    expected = []
    for time in times:
        pairs = np.outer(weights * inverse * (y <= time), weights * (y > time))
        right, wrong, tied = shares_of_pairs(pairs, scores)
        expected.append((right + tied / 2) / (right + wrong + tied))
    given_weights = weights if weighted else None
    found = cumulative_dynamic_auc(y, scores, times, observed=observed, sample_weight=given_weights)
    np.testing.assert_allclose(found.auc, expected, rtol=1e-12)
    np.testing.assert_array_equal(found.times, times)
    # Shares of events between the times, by the product-limit estimator.
    left = {0.0: 1.0}
    for time in np.unique(y):
        at_risk, gone = weights[y >= time].sum(), weights[(y == time) & observed].sum()
        left[time] = left[max(left)] * (1 - gone / at_risk)
    at = np.array([left[max(t for t in left if t <= time)] for time in np.sort(times)])
    events = -np.diff(np.append(1.0, at))
    assert found.mean == pytest.approx(events @ np.array(expected)[np.argsort(times)] / events.sum())


def test_without_censoring_an_area_is_that_of_two_classes(rng):
    y, _, scores = make(rng)
    found = cumulative_dynamic_auc(y, scores, 11.0)
    assert found.auc[0] == pytest.approx(concordance_index((y > 11).astype(float), scores))
    assert found.mean == pytest.approx(found.auc[0])


def test_truncation_in_the_name_of_a_metric(rng):
    y, observed, scores = make(rng)
    scorer = make_ranking_scorer("concordance:truncation=20")
    found = scorer.evaluate(y, scores, observed=observed)
    assert found == concordance_index(y, scores, observed=observed, truncation=20)
    assert not scorer.is_concordance(y)
    with pytest.raises(ValueError, match="truncation must be"):
        make_ranking_scorer("concordance:truncation=late")


# With two distinct times, which would be taken for classes if the events were dropped.
SEEN = np.array([(True, 1.0), (False, 2.0), (True, 2.0), (False, 1.0)], dtype=[("event", "?"), ("time", "f8")])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: concordance_index([1, 2, 3], [1, 2, 3], observed=[1, 1, 0], truncation=2.5),
            "last observed utility of the rows that are scored is 2",
        ),
        (lambda: concordance_index([1, 2], [1, 2], truncation="2"), "truncation must be"),
        (lambda: concordance_index([1, 2], [1, 2], observed=[0, 0], truncation=1), "No utility is observed"),
        (lambda: concordance_index([1, 2], [1, 2], observed=[0, 1]), "no pair of rows"),
        (lambda: concordance_interval([1, 2], [1, 2], observed=[0, 1]), "no pair of rows"),
        (
            lambda: cumulative_dynamic_auc([1, 2, 3], [1, 2, 3], [2.5, 3]),
            r"times\[1\] is 3, when all rows are gone",
        ),
        (lambda: concordance_index([1, 2, 3], [1, 2, 3], observed=[1, 0, 1], truncation=0), "before the truncation"),
        (lambda: concordance_index([1, 2], [1, 2], observed=[0, 1]), "whose order is known"),
        (lambda: cumulative_dynamic_auc([1, 2, 3], [1, 2, 3], []), "times is empty"),
        (lambda: auc_interval(SEEN, [0.1, 0.4, 0.3, 0.2]), "y_true is a structured array"),
        (lambda: cumulative_dynamic_auc([1, 2, 3], [1, 2, 3], 0.5), "no row is known to be gone"),
        (lambda: cumulative_dynamic_auc([1, 2, 3], [1, 2, 3], 2, observed=[0, 0, 1]), "no row is known to be gone"),
        (lambda: cumulative_dynamic_auc([1, 2, 3], [1, 2, 3], [np.nan]), "times contains NaN"),
        (lambda: cumulative_dynamic_auc([1, 2, 3], [1, 2], [2]), "y_score has 2 elements"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((ValueError, NoComparablePairsError), match=message):
        call()
