"""Intervals of coefficients: those of refits without each fold, and as wide as they say."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RankRLS, RankSVM
from kernelrank.model_selection import coef_intervals


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 3))
    return X, X @ [1.0, 0.5, 0.0] + rng.normal(size=60)


def test_refits_without_each_fold(data):
    X, y = data
    found = coef_intervals(RankSVM(0.1), X, y, cv=KFold(5), confidence=0.9)
    refits = np.array([RankSVM(0.1).fit(X[train], y[train]).coef_ for train, _ in KFold(5).split(X)])
    np.testing.assert_array_equal(found.folds, refits)
    np.testing.assert_array_equal(found.coef, RankSVM(0.1).fit(X, y).coef_)
    variance = sum((each - refits.mean(axis=0)) ** 2 for each in refits) * 4 / 5
    np.testing.assert_allclose(found.high - found.coef, stats.t.ppf(0.95, 4) * np.sqrt(variance))
    np.testing.assert_allclose(found.coef - found.low, found.high - found.coef)


def test_intervals_cover_what_they_should():
    rng, truth, inside = np.random.default_rng(0), np.array([1.0, 0.5, 0.0, -1.0]), []
    for _ in range(40):
        X = rng.normal(size=(80, 4))
        found = coef_intervals(RankRLS(1e-6), X, X @ truth + rng.normal(size=80))
        inside.append((found.low <= truth) & (truth <= found.high))
    # Of 160 intervals at 95 %, 152 are expected; three standard deviations are 8.3.
    assert 143 <= np.sum(inside) < 160


def test_queries_stay_whole_wherever_they_are_given(data):
    X, y = data
    qid = np.arange(60) // 6
    by_argument = coef_intervals(RankSVM(0.1), X, y, qid=qid, cv=5)
    frame = pd.DataFrame(X, columns=list("abc")).assign(qid=qid)
    from_frame = coef_intervals(RankSVM(0.1), frame, y, cv=5)  # its columns lie in another order, and sums differ
    np.testing.assert_allclose(from_frame.folds, by_argument.folds, rtol=1e-9)
    trains = [train for train, _ in GroupKFold(5).split(X, groups=qid)]
    refits = [RankSVM(0.1).fit(X[train], y[train], qid=qid[train]).coef_ for train in trains]
    np.testing.assert_array_equal(by_argument.folds, refits)


def test_pipelines_and_sparse_rows(data):
    X, y = data
    found = coef_intervals(make_pipeline(StandardScaler(), RankSVM(0.1)), X, y)
    assert found.folds.shape == (10, 3)
    np.testing.assert_allclose(
        coef_intervals(RankRLS(0.1), sp.coo_matrix(X), y).low, coef_intervals(RankRLS(0.1), X, y).low, rtol=1e-6
    )


def test_what_cannot_be_used(data):
    X, y = data
    with pytest.raises(TypeError, match="estimator must have a vector coef_"):
        coef_intervals(RankSVM(kernel="gaussian"), X, y)
    with pytest.raises(ValueError, match="hold out every row once"):
        coef_intervals(RankSVM(), X, y, cv=ShuffleSplit(5, random_state=0))
    with pytest.raises(ValueError, match="confidence"):
        coef_intervals(RankSVM(), X, y, confidence=95)
