"""Queries inside scikit-learn's pipelines and searches, with and without metadata routing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RankSVM
from kernelrank.exceptions import MissingQueryWarning
from kernelrank.metrics import concordance_index


@pytest.fixture
def letor(rng):
    """Rows of 12 queries whose levels are far apart: without queries nothing can be learnt from them."""
    qid = np.repeat(np.arange(12), 15)
    X = rng.normal(size=(180, 3))
    y = X @ [2.0, -1.0, 0.5] + 0.3 * rng.normal(size=180) + 100.0 * rng.permutation(12)[qid]
    order = rng.permutation(180)
    return X[order], y[order], qid[order]


def frame(X, qid, kind=pd.DataFrame):
    return kind({"a": X[:, 0], "qid": qid, "b": X[:, 1], "c": X[:, 2]})


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_a_column_named_qid_is_the_query(letor, kind):
    X, y, qid = letor
    table = frame(X, qid, kind)
    model = RankSVM().fit(table, y)
    np.testing.assert_allclose(model.coef_, RankSVM().fit(X, y, qid=qid).coef_, rtol=1e-9)
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.predict(table), X @ model.coef_, rtol=1e-12)
    assert model.score(table, y) == concordance_index(y, X @ model.coef_, qid=qid)
    np.testing.assert_array_equal(model.rank(table), RankSVM().fit(X, y, qid=qid).rank(X, qid))
    with pytest.raises(ValueError, match="qid was given twice"):
        RankSVM().fit(table, y, qid=qid)


def test_columns_are_checked_by_name(letor):
    X, y, qid = letor
    model = RankSVM().fit(frame(X, qid), y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame(X, qid).rename(columns={"a": "z"}))


def test_the_column_works_in_a_search_without_routing(letor):
    X, y, qid = letor
    search = GridSearchCV(RankSVM(), {"alpha": [1e-3, 1e-1]}, cv=GroupKFold(3), error_score="raise")
    search.fit(frame(X, qid), y, groups=qid)
    assert search.best_score_ > 0.9
    scores = cross_val_score(RankSVM(), frame(X, qid), y, groups=qid, cv=GroupKFold(4))
    assert scores.min() > 0.85


def test_without_routing_and_column_the_score_warns(letor):
    X, y, qid = letor
    search = GridSearchCV(RankSVM(), {"alpha": [1e-3]}, cv=GroupKFold(3), error_score="raise")
    with pytest.warns(MissingQueryWarning):
        search.fit(X, y, groups=qid, qid=qid)


def test_routing_needs_no_request(letor):
    X, y, qid = letor
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), RankSVM())
        search = GridSearchCV(pipeline, {"ranksvm__alpha": [1e-3, 1e-1]}, cv=GroupKFold(3), error_score="raise")
        search.fit(X, y, qid=qid, groups=qid)
        scores = cross_val_score(pipeline, X, y, cv=GroupKFold(3), params={"qid": qid, "groups": qid})
    assert search.best_score_ > 0.9
    assert scores.min() > 0.85
    # The scores really are those of the queries: rows of different queries would be ordered at random.
    assert concordance_index(y, search.predict(X)) < 0.75


def test_a_pipeline_passes_the_queries_on(letor):
    X, y, qid = letor
    pipeline = make_pipeline(StandardScaler(), RankSVM()).fit(X, y, ranksvm__qid=qid)
    expected = RankSVM().fit(StandardScaler().fit_transform(X), y, qid=qid)
    np.testing.assert_array_equal(pipeline[-1].coef_, expected.coef_)


def test_roc_auc_scoring_uses_the_decision_function(letor):
    X, _, _ = letor
    y = (X[:, 0] > 0).astype(int)
    assert cross_val_score(RankSVM(), X, y, scoring="roc_auc", cv=3).min() > 0.95
