"""The area under the ROC curve and its interval."""

import definitions
import numpy as np
import pandas as pd
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from kernelrank.exceptions import NoComparablePairsError, UndefinedQueryWarning
from kernelrank.metrics import AUCInterval, auc, auc_interval, concordance_index

FEW = ((0, 0.0), (0, 1.0), (1, 1.0), (1, -1.0))  # two rows of each class


def two_classes(rng, m, decimals=1):
    y = rng.integers(0, 2, m)
    y[:4] = 0, 1, 0, 1
    return y, np.round(rng.normal(size=m) + y, decimals)


@pytest.mark.parametrize("m", [6, 100, 20_000])
@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_scikit_learns_area(m, decimals, rng):
    y, scores = two_classes(rng, m, decimals)
    assert auc(y, scores) == pytest.approx(roc_auc_score(y, scores), rel=1e-12)
    weights = rng.uniform(0.1, 3, m)
    assert auc(y, scores, sample_weight=weights) == pytest.approx(
        roc_auc_score(y, scores, sample_weight=weights), rel=1e-12
    )


def test_the_mean_over_queries(rng):
    y, scores = two_classes(rng, 400)
    qid = rng.integers(0, 30, 400)
    y[qid == 7] = 1
    values = auc(y, scores, qid=qid, per_query=True)
    for number, name in enumerate(pd.unique(qid)):
        rows = qid == name
        if name == 7:
            assert np.isnan(values[number])
        else:
            assert values[number] == pytest.approx(roc_auc_score(y[rows], scores[rows]), rel=1e-12)
    with pytest.warns(UndefinedQueryWarning, match="1 of 30 queries have no pair of a positive and a negative row"):
        assert auc(y, scores, qid=qid) == pytest.approx(np.nanmean(values), rel=1e-14)


def test_any_two_values_are_classes():
    y, scores = np.array([0, 1, 0, 1, 1]), [1.0, 2.0, 2.0, 3.0, 0.0]
    expected = auc(y, scores)
    for low, high in ((-1, 1), (2.5, 7), (-1e300, 1e-300)):
        assert auc(np.where(y, high, low), scores) == expected
    assert auc(y.astype(bool), scores) == expected
    assert auc(y, scores, ties=1) == concordance_index(y, scores, ties=1) != expected


@pytest.mark.parametrize("metric", [auc, auc_interval])
def test_more_than_two_values(metric):
    with pytest.raises(ValueError, match="more than two distinct values; use concordance_index"):
        metric([1, 2, 3], [1, 2, 3])


def test_one_class():
    with pytest.raises(NoComparablePairsError, match="no pair of a positive and a negative row"):
        auc([1, 1], [1, 2])
    with pytest.raises(NoComparablePairsError, match="no pair of a positive and a negative row in any query"):
        auc([1, 1, 0, 0], [1, 2, 3, 4], qid=[0, 0, 1, 1])
    with pytest.raises(ValueError, match="empty"):
        auc([], [])


# Intervals of rows


@given(
    rows=st.lists(st.tuples(st.integers(0, 1), strategies.NUMBERS["integers"]), min_size=1, max_size=60),
    confidence=st.sampled_from((0.5, 0.9, 0.95)),
)
def test_delongs_variance(rows, confidence):
    y, scores = (np.array(column) for column in zip(*rows, *FEW, strict=True))
    area, variance = definitions.delong(y, scores)
    half = norm.ppf((1 + confidence) / 2) * np.sqrt(variance)
    found = auc_interval(y, scores, confidence=confidence)
    assert isinstance(found, AUCInterval)
    assert tuple(found) == pytest.approx((area, max(area - half, 0), min(area + half, 1)), rel=1e-12, abs=1e-13)
    assert found.auc == pytest.approx(auc(y, scores), rel=1e-15)


def test_intervals_of_many_rows(rng):
    y, scores = two_classes(rng, 3000, 2)
    area, variance = definitions.delong(y, scores)
    found = auc_interval(y, scores)
    assert found.high - found.low == pytest.approx(2 * norm.ppf(0.975) * np.sqrt(variance), rel=1e-12)
    assert (found.high + found.low) / 2 == pytest.approx(area, rel=1e-12)


def test_coverage():
    rng = np.random.default_rng(0)
    true = norm.cdf(1 / np.sqrt(2))  # of two normal classes one standard deviation apart
    y = np.repeat([0, 1], [60, 40])
    intervals = [auc_interval(y, rng.normal(size=100) + y, confidence=0.9) for _ in range(1000)]
    covered = np.mean([each.low <= true <= each.high for each in intervals])
    assert 0.87 <= covered <= 0.93


def test_a_perfect_area_has_no_width():
    assert auc_interval([0, 0, 1, 1], [1, 2, 3, 4]) == (1.0, 1.0, 1.0)
    assert auc_interval([0, 0, 1, 1], [4, 3, 2, 1]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("y", [[0, 1, 1, 1], [0, 0, 1]])
def test_too_few_rows_for_an_interval(y):
    message = f"at least two positive and two negative rows, got {sum(y)} and {len(y) - sum(y)}"
    with pytest.raises(ValueError, match=message):
        auc_interval(y, np.arange(len(y)))


# Intervals of queries


def queries(rng, n=50):
    qid = np.repeat(np.arange(n), 12)
    y = np.tile([0, 1], len(qid) // 2)
    return y, np.round(rng.normal(size=len(qid)) + y, 1), qid


def test_bootstrap_of_queries(rng):
    y, scores, qid = queries(rng)
    values = auc(y, scores, qid=qid, per_query=True)
    found = auc_interval(y, scores, qid=qid, n_resamples=20_000, random_state=0)
    assert found.auc == auc(y, scores, qid=qid)
    # Means of 50 values are close to normal.
    half = norm.ppf(0.975) * values.std() / np.sqrt(len(values))
    assert found.low == pytest.approx(found.auc - half, abs=0.1 * half)
    assert found.high == pytest.approx(found.auc + half, abs=0.1 * half)
    narrow = auc_interval(y, scores, qid=qid, confidence=0.5, random_state=0)
    assert found.low < narrow.low < narrow.auc < narrow.high < found.high


def test_the_bootstrap_is_repeatable(rng):
    y, scores, qid = queries(rng)
    first = auc_interval(y, scores, qid=qid, random_state=1)
    assert auc_interval(y, scores, qid=qid, random_state=1) == first
    assert auc_interval(y, scores, qid=qid, random_state=np.random.RandomState(1)) == first
    assert auc_interval(y, scores, qid=qid, random_state=2) != first


def test_the_bootstrap_leaves_out_queries_of_one_class(rng):
    y, scores, qid = queries(rng)
    expected = auc_interval(y[:-12], scores[:-12], qid=qid[:-12], random_state=0)
    y[-12:] = 0
    with pytest.warns(UndefinedQueryWarning, match="1 of 50 queries"):
        assert auc_interval(y, scores, qid=qid, random_state=0) == expected
    with (
        pytest.warns(UndefinedQueryWarning, match="1 of 2 queries"),
        pytest.raises(ValueError, match="at least two queries with both classes, got one"),
    ):
        auc_interval(y[-24:], scores[-24:], qid=qid[-24:])


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, np.nan])
def test_confidence_is_a_probability(confidence):
    with pytest.raises(
        ValueError, match=f"confidence must be a number between 0 and 1, both excluded, got {confidence}"
    ):
        auc_interval([0, 0, 1, 1], [1, 2, 3, 4], confidence=confidence)


def test_resamples_are_positive():
    with pytest.raises(ValueError, match="n_resamples must be a positive integer, got 0"):
        auc_interval([0, 1, 0, 1], [1, 2, 3, 4], qid=[0, 0, 1, 1], n_resamples=0)
