"""Intervals of coefficients: those of refits without each fold, and as wide as they say."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from kernelrank import RankRLS, RankSVM
from kernelrank.model_selection import coef_intervals
from kernelrank.pipelines import make_table_ranker


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


def test_features_that_differ_between_folds(data):
    X, y = data
    frame = pd.DataFrame({"a": X[:, 0], "kind": np.where(np.arange(60) < 6, "rare", "common")})
    frame.loc[6:9, "kind"] = "other"
    model = make_table_ranker(frame, RankSVM(0.1), min_frequency=1)
    with pytest.raises(ValueError, match=r"all rows have 4, those without fold 1 of 10 3, and 'cat.*rare' is not") as e:
        coef_intervals(model, frame, y, cv=KFold(10))
    assert "coef_intervals(model[-1], model[:-1].transform(X), y, qid=qid)" in str(e.value)
    fitted = model.fit(frame, y)
    found = coef_intervals(fitted[-1], fitted[:-1].transform(frame), y, cv=KFold(10))
    np.testing.assert_allclose(found.coef, fitted[-1].coef_)
    assert found.folds[0, 3] == 0  # no row is rare


def test_as_many_features_that_are_others(rng):
    texts = ["apple pear"] * 20 + ["fig pear"] * 15 + ["fig plum"] * 7
    model = make_pipeline(CountVectorizer(max_features=2), RankSVM(0.1))
    with pytest.raises(ValueError, match="all rows have 2, those without fold 2 of 2 2, and 'apple' is not among both"):
        coef_intervals(model, texts, rng.normal(size=42), cv=KFold(2))


def test_transformers_without_names(data):
    X, y = data
    found = coef_intervals(make_pipeline(FunctionTransformer(np.square), RankSVM(0.1)), X, y, cv=KFold(5))
    np.testing.assert_array_equal(found.folds, coef_intervals(RankSVM(0.1), X**2, y, cv=KFold(5)).folds)


def test_what_cannot_be_used(data):
    X, y = data
    with pytest.raises(TypeError, match="estimator must have a vector coef_"):
        coef_intervals(RankSVM(kernel="gaussian"), X, y)
    with pytest.raises(ValueError, match="hold out every row once"):
        coef_intervals(RankSVM(), X, y, cv=ShuffleSplit(5, random_state=0))
    with pytest.raises(ValueError, match="confidence"):
        coef_intervals(RankSVM(), X, y, confidence=95)
