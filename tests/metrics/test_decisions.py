"""F-scores of decisions, and thresholds."""

import numpy as np
import pandas as pd
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import fbeta_score, precision_recall_fscore_support

from kernelrank.exceptions import NoComparablePairsError, UndefinedMetricError
from kernelrank.metrics import Decision, best_f_score, f_score, threshold_at_rate
from kernelrank.metrics._decisions import decision_curve

BETAS = (0.5, 1.0, 2.0, 3)


def harmonic_mean(y, scores, threshold, beta, weights):
    """Return the F-score, precision and recall from their definitions."""
    found = sum(w for t, s, w in zip(y, scores, weights, strict=True) if s > threshold and t)
    called = sum(w for s, w in zip(scores, weights, strict=True) if s > threshold)
    positive = sum(w for t, w in zip(y, weights, strict=True) if t)
    if found == 0:
        return 0.0, 0.0, 0.0
    precision, recall = found / called, found / positive
    return (1 + beta**2) / (1 / precision + beta**2 / recall), precision, recall


@st.composite
def decisions(draw, max_rows=25):
    """Rows of both classes with scores of one kind, and integer weights."""
    kind = draw(st.sampled_from(sorted(strategies.NUMBERS)))
    row = st.tuples(st.booleans(), strategies.NUMBERS[kind], st.integers(1, 3))
    rows = draw(st.lists(row, max_size=max_rows))
    ends = [(y, draw(strategies.NUMBERS[kind]), 1) for y in (False, True)]
    y, scores, weights = (np.array(column) for column in zip(*rows, *ends, strict=True))
    return y, scores, weights.astype(float)


# F-scores of a threshold


@given(decisions(), st.sampled_from(BETAS), st.data())
def test_the_definition(case, beta, data):
    y, scores, weights = case
    threshold = data.draw(st.one_of(st.sampled_from(scores), st.sampled_from((np.inf, -np.inf, 0.25))))
    assert f_score(y, scores, threshold, beta=beta) == pytest.approx(
        harmonic_mean(y, scores, threshold, beta, np.ones(len(y)))[0], rel=1e-14
    )
    weighted = f_score(y, scores, threshold, beta=beta, sample_weight=weights)
    assert weighted == pytest.approx(harmonic_mean(y, scores, threshold, beta, weights)[0], rel=1e-14)
    times = weights.astype(int)
    assert weighted == f_score(np.repeat(y, times), np.repeat(scores, times), threshold, beta=beta)


@pytest.mark.parametrize("beta", BETAS)
def test_scikit_learns(rng, beta):
    y = rng.random(2000) < 0.3
    scores, weights = np.round(rng.normal(size=2000) + y, 1), rng.uniform(0, 3, 2000)
    for threshold in (-0.5, 0.3, 0.5, 2.0):
        expected = fbeta_score(y, scores > threshold, beta=beta, sample_weight=weights)
        assert f_score(y, scores, threshold, beta=beta, sample_weight=weights) == pytest.approx(expected, rel=1e-12)


@given(decisions(), st.sampled_from([0.5, 1.0, 3.0]))
def test_the_curve_has_every_decision(case, beta):
    y, scores, *_ = case
    curve = decision_curve(y, scores, beta=beta)
    np.testing.assert_array_equal(curve.thresholds, [*np.unique(scores)[::-1], -np.inf])
    assert np.isnan(curve.precision[0])
    for k, threshold in enumerate(curve.thresholds):
        called, positive = np.asarray(scores) > threshold, np.asarray(y) == np.max(y)
        assert curve.f_score[k] == f_score(y, scores, threshold, beta=beta)
        assert curve.recall[k] == called[positive].mean()
        if called.any():
            assert curve.precision[k] == positive[called].mean()
    assert curve.f_score.max() == best_f_score(y, scores, beta=beta).f_score


def test_a_score_on_the_threshold_is_below_it():
    assert f_score([0, 1, 1], [1.0, 2.0, 3.0], 2.0) == f_score([0, 1, 1], [1.0, 2.0, 3.0], 2.5) == pytest.approx(2 / 3)
    assert f_score([0, 1, 1], [1.0, 2.0, 3.0], np.nextafter(2.0, 0)) == 1.0
    assert f_score([0, 1], [-0.0, 1.0], 0.0) == f_score([0, 1], [0.0, 1.0], -0.0) == 1.0


def test_nothing_found_is_zero():
    assert f_score([0, 1], [1.0, 2.0], np.inf) == 0.0
    assert f_score([0, 1], [2.0, 1.0], 1.5) == 0.0


def test_any_two_values_are_classes():
    y, scores = np.array([0, 1, 0, 1, 1]), [1.0, 2.0, 2.0, 3.0, 0.0]
    for low, high in ((-1, 1), (2.5, 7), (-1e300, 1e-300)):
        assert f_score(np.where(y, high, low), scores, 1.5) == f_score(y, scores, 1.5) == pytest.approx(2 / 3)


def test_extreme_betas_are_recall_and_precision():
    y, scores = [0, 0, 1, 1, 1], [0.1, 0.9, 0.2, 0.8, 0.7]
    for huge in (1e9, 1e200):
        assert f_score(y, scores, 0.5, beta=huge) == pytest.approx(2 / 3)
    for tiny in (1e-9, 1e-200):
        assert f_score(y, scores, 0.75, beta=tiny) == pytest.approx(1 / 2)
        assert f_score(y, scores, 1.0, beta=tiny) == 0.0


@pytest.mark.parametrize("scale", [1e-300, 1e300, 1.7e308])
def test_weights_of_any_size(scale):
    y, scores, weights = [0, 0, 1, 1], [0.1, 0.9, 0.2, 0.8], np.array([1.0, 0.5, 1.0, 0.25])
    assert f_score(y, scores, 0.5, sample_weight=scale * weights) == pytest.approx(
        f_score(y, scores, 0.5, sample_weight=weights), rel=1e-14
    )
    assert best_f_score(y, scores, sample_weight=scale * weights) == pytest.approx(
        best_f_score(y, scores, sample_weight=weights), rel=1e-14
    )


# The best threshold


@given(decisions(), st.sampled_from(BETAS), st.booleans())
def test_no_threshold_is_better(case, beta, weighted):
    y, scores, weights = case
    given_weights = weights if weighted else None
    best = best_f_score(y, scores, beta=beta, sample_weight=given_weights)
    assert isinstance(best, Decision)
    expected = harmonic_mean(y, scores, best.threshold, beta, weights if weighted else np.ones(len(y)))
    assert best[:3] == pytest.approx(expected, rel=1e-14)
    assert best.f_score == f_score(y, scores, best.threshold, beta=beta, sample_weight=given_weights)
    values = {t: f_score(y, scores, t, beta=beta, sample_weight=given_weights) for t in (-np.inf, *scores)}
    assert best.f_score == max(values.values())
    # Of equally good thresholds, it is the one with the fewest rows above it.
    equals = [t for t, value in values.items() if value == best.f_score]
    assert (scores > best.threshold).sum() == min((scores > t).sum() for t in equals)


@given(decisions())
def test_it_is_in_the_middle_of_neighbours(case):
    y, scores, _ = case
    threshold = best_f_score(y, scores).threshold
    if threshold == -np.inf:
        return
    above, below = scores[scores > threshold].min(), scores[scores <= threshold].max()
    middle = below / 2 + above / 2
    assert threshold == (middle if below <= middle < above else below)


def test_neighbouring_floats():
    scores = [1.0, np.nextafter(1.0, 2.0)]
    assert best_f_score([0, 1], scores) == (1.0, 1.0, 1.0, 1.0)
    assert threshold_at_rate(scores, 0.5) == 1.0


def test_equal_scores_cannot_be_told_apart():
    best = best_f_score([0, 1, 1], [5.0, 5.0, 5.0])
    assert best == (0.8, 2 / 3, 1.0, -np.inf)
    # The first two rows have an F-score of 2 / 3 in one order, and of 1 in the other.
    assert best_f_score([0, 1, 0], [2.0, 2.0, 1.0]) == (2 / 3, 0.5, 1.0, 1.5)


def test_many_rows(rng):
    y = rng.random(20_000) < 0.1
    scores = np.round(rng.normal(size=20_000) + y, 2)
    best = best_f_score(y, scores)
    thresholds = np.unique(scores)
    values = [f_score(y, scores, t) for t in thresholds]
    assert best.f_score == max(values)
    precision, recall, value, _ = precision_recall_fscore_support(y, scores > best.threshold, average="binary")
    assert best[:3] == pytest.approx((value, precision, recall), rel=1e-14)


def test_rows_without_weight_are_not_there(rng):
    y, scores = rng.integers(0, 2, 40), rng.integers(0, 9, 40) / 4
    y[:2] = 0, 1
    weights = rng.choice([0.0, 1.0, 2.5], 40)
    weights[:2] = 1.0
    kept = weights > 0
    for function in (best_f_score, lambda y, s, **kwargs: f_score(y, s, 1.0, **kwargs)):
        assert function(np.where(kept, y, 7), scores, sample_weight=weights) == function(
            y[kept], scores[kept], sample_weight=weights[kept]
        )
    assert threshold_at_rate(scores, 0.3, sample_weight=weights) == threshold_at_rate(
        scores[kept], 0.3, sample_weight=weights[kept]
    )


# The threshold of a rate


@given(decisions(), st.floats(0, 1), st.booleans())
def test_no_share_is_nearer(case, rate, weighted):
    _, scores, weights = case
    weights = weights if weighted else np.ones(len(scores))
    threshold = threshold_at_rate(scores, rate, sample_weight=weights if weighted else None)
    shares = np.array([weights[scores > t].sum() for t in (-np.inf, *scores)])
    distances = np.abs(shares - rate * weights.sum())
    share = weights[scores > threshold].sum()
    assert share == shares[distances == distances.min()].min()
    if np.isfinite(threshold):
        above, below = scores[scores > threshold].min(), scores[scores <= threshold].max()
        assert threshold in (below / 2 + above / 2, below)
    else:
        assert share == (0 if threshold > 0 else weights.sum())


def test_rates():
    scores = [3.0, 1.0, 2.0, 4.0]
    assert [threshold_at_rate(scores, rate) for rate in (0, 0.25, 0.5, 0.75, 1)] == [np.inf, 3.5, 2.5, 1.5, -np.inf]
    assert threshold_at_rate(scores, 0.375) == 3.5  # one row and two rows are equally near: the smaller share
    assert threshold_at_rate([1.0, 2.0, 2.0, 2.0], 0.5) == 1.5
    assert threshold_at_rate([1.0, 2.0, 3.0], 0.5, sample_weight=[1, 1, 2]) == 2.5


# Bad calls


@pytest.mark.parametrize("function", [best_f_score, lambda y, s, **kwargs: f_score(y, s, 0.0, **kwargs)])
def test_bad_rows(function):
    with pytest.raises(UndefinedMetricError, match="y_true has one value only, 1: the positive class"):
        function([1, 1], [1.0, 2.0])
    with pytest.raises(UndefinedMetricError, match="one value only"):
        function([0, 1], [1.0, 2.0], sample_weight=[1, 0])
    with pytest.raises(ValueError, match="more than two distinct values"):
        function([1, 2, 3], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="empty"):
        function([], [])
    with pytest.raises(ValueError, match="y_score has 3 elements, but there are 2 rows"):
        function([0, 1], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="y_score contains NaN"):
        function([0, 1], [1.0, np.nan])
    with pytest.raises(NoComparablePairsError, match="sample_weight is zero everywhere"):
        function([0, 1], [1.0, 2.0], sample_weight=[0, 0])
    with pytest.raises(ValueError, match="sample_weight must not be negative"):
        function([0, 1], [1.0, 2.0], sample_weight=[1, -1])
    for beta in (0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="beta"):
            function([0, 1], [1.0, 2.0], beta=beta)


def test_bad_thresholds_and_rates():
    with pytest.raises(ValueError, match="threshold must be a number, got nan"):
        f_score([0, 1], [1.0, 2.0], np.nan)
    with pytest.raises(TypeError, match="threshold"):
        f_score([0, 1], [1.0, 2.0], "0.5")
    for rate in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="rate"):
            threshold_at_rate([1.0, 2.0], rate)
    with pytest.raises(ValueError, match="empty"):
        threshold_at_rate([], 0.5)


def test_series_and_lists(rng):
    y, scores = rng.integers(0, 2, 30), rng.normal(size=30)
    y[:2] = 0, 1
    table = pd.DataFrame({"y": y, "score": scores}, index=rng.permutation(30))
    assert f_score(table.y, table.score, 0.1) == f_score(y.tolist(), scores.tolist(), 0.1) == f_score(y, scores, 0.1)
    assert best_f_score(table.y, table.score) == best_f_score(y.astype(bool), scores)


def test_scores_with_no_number_between_them():
    score = 1.0
    for _ in range(4):  # halves are rounded up and down in turn
        score, above = np.nextafter(score, 2), np.nextafter(np.nextafter(score, 2), 2)
        assert best_f_score([0, 1], [score, above]).f_score == 1.0
