"""Pipelines that pass queries to the last step, but not to the transformers."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelrank import NystromMap, RankingClassifier, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.exceptions import MissingQueryWarning
from kernelrank.metrics import concordance_index, make_ranking_scorer
from kernelrank.model_selection import estimate_concordance
from kernelrank.pipelines import QueryPipeline, make_query_pipeline

RANKERS = [RankSVM(), RankSVMCV(alphas=3, cv=3), RankRLS(), RankRLSCV(alphas=3)]


@pytest.fixture
def letor(rng):
    """Return rows of 12 queries whose levels are far apart, so that nothing can be learnt without the queries."""
    qid = np.repeat(np.arange(12), 15)
    X = 3.0 + 10.0 * rng.normal(size=(180, 3))
    y = X @ [0.2, -0.1, 0.05] + 0.3 * rng.normal(size=180) + 100.0 * rng.permutation(12)[qid]
    order = rng.permutation(180)
    return X[order], y[order], qid[order]


def frame(X, qid, kind=pd.DataFrame):
    return kind({"a": X[:, 0], "qid": qid, "b": X[:, 1], "c": X[:, 2]})


def by_hand(ranker, X, y, qid):
    """Scale, fit and score without a pipeline."""
    scaled = StandardScaler().fit_transform(X)
    model = clone(ranker).fit(scaled, y, qid=qid)
    return model.predict(scaled), model.score(scaled, y, qid=qid), model.rank(scaled, qid)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_it_is_the_same_as_by_hand(letor, ranker, kind):
    X, y, qid = letor
    table = frame(X, qid, kind)
    features = table.drop("qid") if kind is pl.DataFrame else table.drop(columns="qid")
    scores, concordance, ranks = by_hand(ranker, features, y, qid)
    pipeline = make_query_pipeline(StandardScaler(), ranker).fit(table, y)
    np.testing.assert_array_equal(pipeline.predict(table), scores)
    np.testing.assert_array_equal(pipeline.decision_function(table), scores)
    np.testing.assert_array_equal(pipeline.rank(table), ranks)
    assert pipeline.score(table, y) == concordance
    assert pipeline.n_features_in_ == 3
    assert pipeline.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(pipeline.predict(features), scores)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_ranks_without_queries_come_with_a_warning(letor, ranker):
    X, y, qid = letor
    features = frame(X, qid).drop(columns="qid")
    for model in (make_query_pipeline(StandardScaler(), ranker), clone(ranker)):
        model.fit(frame(X, qid), y)
        with pytest.warns(MissingQueryWarning, match=r"fitted with qid but ranks without.*pass the same id for each"):
            together = model.rank(features)
        np.testing.assert_array_equal(model.rank(features, np.zeros(len(y))), together)  # no warning
        clone(ranker).fit(features, y).rank(features)  # there were no queries


def test_queries_as_an_argument_are_the_same(letor):
    X, y, qid = letor
    _, concordance, ranks = by_hand(RankSVM(), X, y, qid)
    pipeline = make_query_pipeline(StandardScaler(), RankSVM()).fit(X, y, qid=qid)
    assert pipeline.score(X, y, qid=qid) == concordance
    np.testing.assert_array_equal(pipeline.rank(X, qid), ranks)
    weights = np.where(qid < 6, 1.0, 2.0)
    expected = concordance_index(y, pipeline.predict(X), qid=qid, sample_weight=weights)
    assert pipeline.score(X, y, weights, qid=qid) == expected


@pytest.mark.parametrize("routing", [False, True])
def test_searches_score_within_queries(letor, routing):
    X, y, qid = letor
    table = frame(X, qid)
    pipeline = make_query_pipeline(StandardScaler(), RankSVM())
    grid = {"ranksvm__alpha": [1e-3, 1e2]}
    with sklearn.config_context(enable_metadata_routing=routing):
        search = GridSearchCV(pipeline, grid, cv=GroupKFold(3), error_score="raise").fit(table, y, groups=qid)
        found = cross_validate(
            pipeline, table, y, cv=GroupKFold(3), scoring={"ndcg": make_ranking_scorer("concordance")},
            error_score="raise", **({"params": {"groups": qid}} if routing else {"groups": qid}),
        )  # fmt: skip
    expected = []
    for train, test in GroupKFold(3).split(X, y, qid):
        scaler = StandardScaler().fit(X[train])
        model = RankSVM(1e-3).fit(scaler.transform(X[train]), y[train], qid=qid[train])
        expected.append(model.score(scaler.transform(X[test]), y[test], qid=qid[test]))
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(expected), abs=1e-12)
    np.testing.assert_allclose(found["test_ndcg"], expected, atol=1e-12)
    assert search.best_estimator_.score(table, y) == search.score(table, y)


def test_routing_takes_queries_as_an_argument_of_a_search(letor):
    X, y, qid = letor
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_query_pipeline(StandardScaler(), RankSVM())
        search = GridSearchCV(pipeline, {"ranksvm__alpha": [1e-3]}, cv=GroupKFold(3), error_score="raise")
        assert search.fit(X, y, qid=qid, groups=qid).best_score_ > 0.9


def test_without_routing_a_search_that_drops_the_argument_is_told(letor):
    X, y, qid = letor
    pipeline = make_query_pipeline(StandardScaler(), RankSVM())
    search = GridSearchCV(pipeline, {"ranksvm__alpha": [1e-3]}, cv=GroupKFold(3), error_score="raise")
    with pytest.raises(
        ValueError,
        match=r"score of a query pipeline requires queries.*only with metadata routing, but always pass the column",
    ):
        search.fit(X, y, qid=qid, groups=qid)


def test_held_out_predictions_and_estimates(letor):
    X, y, qid = letor
    table, pipeline = frame(X, qid), make_query_pipeline(StandardScaler(), RankRLS())
    scores = cross_val_predict(pipeline, table, y, groups=qid, cv=GroupKFold(4))
    assert concordance_index(y, scores, qid=qid) > 0.85
    assert estimate_concordance(pipeline, table, y, verbose=0).estimate > 0.85


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_columns_of_text_and_missing_values(letor, kind):
    X, y, qid = letor
    table = kind({
        "qid": [f"query {each}" for each in qid],
        "colour": np.where(X[:, 0] > 3, "red", "blue"),
        "size": np.where(X[:, 1] > 20, np.nan, X[:, 1]),
    })  # fmt: skip
    transformer = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["colour"]),
        (SimpleImputer(), ["size"]),
        remainder="passthrough",
    ).set_output(transform="pandas" if kind is pd.DataFrame else "polars")
    pipeline = make_query_pipeline(transformer, RankSVM()).fit(table, y)  # no warning, as no query id is a feature
    assert pipeline[-1].n_features_in_ == 3
    assert pipeline.score(table, y) > 0.7


def test_other_steps_that_take_queries_get_them(letor):
    X, y, qid = letor
    nystrom = NystromMap(n_basis=12, selection="per-query")
    pipeline = make_query_pipeline(StandardScaler(), nystrom, RankSVM()).fit(frame(X, qid), y)
    assert len(set(qid[pipeline[1].basis_indices_])) == 12  # one row per query
    features = make_query_pipeline(StandardScaler(), nystrom).fit_transform(frame(X, qid), y)
    np.testing.assert_array_equal(features, pipeline[:-1].transform(frame(X, qid)))


def test_it_is_a_pipeline_of_scikit_learn(letor, tmp_path):
    X, y, qid = letor
    table = frame(X, qid)
    pipeline = make_query_pipeline(StandardScaler(), RankSVM(), memory=str(tmp_path)).set_output(transform="pandas")
    pipeline.set_params(ranksvm__alpha=1e-2).fit(table, y)
    assert clone(pipeline).get_params()["ranksvm__alpha"] == 1e-2
    assert list(pipeline.named_steps) == ["standardscaler", "ranksvm"]
    assert pipeline[-1].feature_names_in_.tolist() == ["a", "b", "c"]
    again = pickle.loads(pickle.dumps(pipeline))
    assert again.score(table, y) == pipeline.score(table, y)
    cached = clone(pipeline).set_params(ranksvm__alpha=1e-1).fit(table, y)  # the scaler comes from the cache
    np.testing.assert_array_equal(cached[0].mean_, pipeline[0].mean_)
    assert pipeline.fit(table, y, ranksvm__sample_weight=np.ones(180)).score(table, y) > 0.9
    assert not hasattr(pipeline, "predict_proba")
    assert not hasattr(pipeline, "transform")
    assert not hasattr(make_query_pipeline(StandardScaler(), NystromMap()), "rank")


def test_scores_without_queries_are_left_alone(letor):
    X, y, qid = letor
    classes = (y % 100 > np.median(y % 100)).astype(int)
    model = make_query_pipeline(StandardScaler(), RankingClassifier(RankSVM())).fit(frame(X, qid), classes)
    assert model.score(frame(X, qid), classes) == np.mean(model.predict(frame(X, qid)) == classes)


def test_errors_say_what_to_do(letor):
    X, y, qid = letor
    pipeline = make_query_pipeline(StandardScaler(), RankSVM())
    with pytest.raises(ValueError, match=r'fit of a query pipeline requires queries.*no column named "qid".*rename'):
        pipeline.fit(frame(X, qid).rename(columns={"qid": "query_id"}), y)
    with pytest.raises(ValueError, match="qid was given twice"):
        pipeline.fit(frame(X, qid), y, qid=qid)
    with pytest.raises(TypeError, match="must be a ranker whose fit has a parameter qid, but 'ridge' is Ridge"):
        make_query_pipeline(StandardScaler(), Ridge()).fit(frame(X, qid), y)
    with pytest.raises(TypeError, match="Use a search around the pipeline, not inside it"):
        make_query_pipeline(StandardScaler(), GridSearchCV(RankSVM(), {"alpha": [1.0]})).fit(frame(X, qid), y)
    nested = make_query_pipeline(StandardScaler(), make_query_pipeline(NystromMap(n_basis=9), RankSVM()))
    assert nested.fit(frame(X, qid), y).score(frame(X, qid), y) > 0.6
    with pytest.raises(TypeError, match="make nested pipelines with make_query_pipeline"):
        make_query_pipeline(StandardScaler(), make_pipeline(RankSVM())).fit(frame(X, qid), y)


class OneQuery(QueryPipeline):
    """Query pipeline for scikit-learn's checks, which pass no queries: all rows are one query."""

    def fit(self, X, y=None, *, qid=None, **params):
        return super().fit(X, y, qid=[0] * np.shape(X)[0] if np.ndim(X) else 0, **params)

    def score(self, X, y=None, sample_weight=None, **params):
        return super().score(X, y, sample_weight, qid=[0] * np.shape(X)[0], **params)


# As for scikit-learn's own pipelines, which fit the steps that they are given.
FITS_ITS_STEPS = dict.fromkeys(
    ("check_dont_overwrite_parameters", "check_estimators_overwrite_params"), "steps are fitted in place"
)


@pytest.mark.usefixtures("array_api")
@parametrize_with_checks(
    [OneQuery([("scale", StandardScaler()), ("rank", RankSVM())])], expected_failed_checks=lambda _: FITS_ITS_STEPS
)
def test_estimator_checks(estimator, check):
    check(estimator)
