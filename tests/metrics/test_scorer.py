"""Scorers in scikit-learn, with and without metadata routing."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RankSVM, metrics
from kernelrank.exceptions import MissingQueryWarning, UndefinedQueryWarning
from kernelrank.metrics import auc, concordance_index, make_ranking_scorer, ndcg, pairwise_error

NO_METRICS = {name for name in metrics.__all__ if name[0].isupper()} | {
    *("auc_interval", "concordance_interval", "cumulative_dynamic_auc"),
    *("compare_scores", "make_ranking_scorer"),
    *("best_f_score", "f_score", "threshold_at_rate"),  # metrics of rows, without queries
    "pair_accuracy",  # a metric of pairs, without true values
}
NAMES = sorted(set(metrics.__all__) - NO_METRICS)


def share_of_first(y_true, y_score, *, qid=None, scale=1.0):
    """Return the value of a user-defined metric."""
    best = pd.DataFrame({"y": y_true, "s": y_score, "q": qid}).sort_values("s").groupby("q").y.last()
    return scale * best.mean()


@pytest.fixture
def letor(rng):
    """Grades of 12 queries whose levels are far apart, so that nothing can be learnt without the queries."""
    qid = np.repeat(np.arange(12), 15)
    X = rng.normal(size=(180, 3))
    y = np.digitize(X @ [2.0, -1.0, 0.5] + 0.3 * rng.normal(size=180), [0, 2]) + 10.0 * rng.permutation(12)[qid]
    order = rng.permutation(180)
    return X[order], y[order], qid[order]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def frame(X, qid):
    return pd.DataFrame({"a": X[:, 0], "qid": qid, "b": X[:, 1], "c": X[:, 2]})


def by_hand(metric, X, y, qid, cv, sign=1.0, **kwargs):
    """Fit and evaluate on each fold."""
    found = []
    for train, test in cv.split(X, y, qid):
        scores = RankSVM().fit(X[train], y[train], qid=qid[train]).predict(X[test])
        found.append(sign * metric(y[test], scores, qid=qid[test], **kwargs))
    return found


# Called directly


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_has_a_scorer(name, letor):
    X, y, qid = letor
    y = (y % 10 > 0).astype(float)
    kwargs = {"k": 3} if name == "precision_at" else {}
    model = RankSVM().fit(X, y, qid=qid)
    metric = getattr(metrics, name)
    expected = metric(y, model.predict(X), qid=qid, **kwargs)
    sign = -1 if name == "pairwise_error" else 1
    for given in (name, metric):
        found = make_ranking_scorer(given, **kwargs)(model, X, y, qid=qid)
        assert type(found) is float
        assert found == sign * expected


def test_a_column_named_qid(letor):
    X, y, qid = letor
    model = RankSVM().fit(frame(X, qid), y)
    scorer = make_ranking_scorer("ndcg", k=5)
    assert scorer(model, frame(X, qid), y) == ndcg(y, X @ model.coef_, qid=qid, k=5)
    with pytest.raises(ValueError, match="qid was given twice"):
        scorer(model, frame(X, qid), y, qid=qid)


@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: make_pipeline(StandardScaler(), model)])
def test_missing_queries_are_told(letor, wrap):
    X, y, qid = letor
    model = wrap(RankSVM())
    model.fit(X, y, **({"qid": qid} if isinstance(model, RankSVM) else {"ranksvm__qid": qid}))
    scorer = make_ranking_scorer(concordance_index)
    with pytest.warns(MissingQueryWarning, match="RankSVM was fitted with qid but is scored without") as caught:
        scorer(model, X, y)
    assert [each.filename for each in caught] == [__file__]
    assert scorer(RankSVM().fit(X, y), X, y) > 0  # no warning without queries


def test_other_estimators(letor):
    X, y, qid = letor
    ridge = Ridge().fit(X, y)
    assert make_ranking_scorer("ndcg")(ridge, X, y, qid=qid) == ndcg(y, ridge.predict(X), qid=qid)
    classes = (y % 10 > 0).astype(int)
    logistic = LogisticRegression().fit(X, classes)
    # If an estimator has both, decision_function is more informative than predict.
    assert make_ranking_scorer(auc)(logistic, X, classes) == auc(classes, logistic.decision_function(X))


def test_functions_of_others(letor):
    X, y, qid = letor
    model = RankSVM().fit(X, y, qid=qid)
    expected = share_of_first(y, model.predict(X), qid=qid)
    assert make_ranking_scorer(share_of_first)(model, X, y, qid=qid) == expected
    assert make_ranking_scorer(share_of_first, scale=2)(model, X, y, qid=qid) == 2 * expected
    assert make_ranking_scorer(share_of_first, greater_is_better=False)(model, X, y, qid=qid) == -expected


def test_weights_are_passed_on(letor, rng):
    X, y, qid = letor
    weights = rng.uniform(0, 2, len(y))
    model = RankSVM().fit(X, y, qid=qid)
    found = make_ranking_scorer("concordance_index")(model, X, y, qid=qid, sample_weight=weights)
    assert found == concordance_index(y, model.predict(X), qid=qid, sample_weight=weights)
    with pytest.raises(TypeError, match="sample_weight"):
        make_ranking_scorer("ndcg")(model, X, y, qid=qid, sample_weight=weights)


# Copies and names


@pytest.mark.parametrize("copy", [clone, lambda scorer: pickle.loads(pickle.dumps(scorer))])
def test_copies(copy, letor, routing):
    X, y, qid = letor
    model = RankSVM().fit(X, y, qid=qid)
    scorer = make_ranking_scorer("pairwise_error", ties=1).set_score_request(sample_weight=True)
    copied = copy(scorer)
    assert copied is not scorer
    assert repr(copied) == repr(scorer)
    assert copied(model, X, y, qid=qid) == scorer(model, X, y, qid=qid)
    assert str(copied.get_metadata_routing()) == str(scorer.get_metadata_routing())
    copied.set_score_request(sample_weight=False)
    assert str(copied.get_metadata_routing()) != str(scorer.get_metadata_routing())


def test_repr():
    assert repr(make_ranking_scorer("ndcg", k=10, gain="linear")) == "make_ranking_scorer('ndcg', k=10, gain='linear')"
    assert repr(make_ranking_scorer(pairwise_error)) == "make_ranking_scorer('pairwise_error')"
    assert repr(make_ranking_scorer(ndcg, greater_is_better=False)) == (
        "make_ranking_scorer('ndcg', greater_is_better=False)"
    )
    assert repr(make_ranking_scorer(share_of_first, scale=2)) == "make_ranking_scorer(share_of_first, scale=2)"


def test_mistakes_are_told_at_once():
    with pytest.raises(
        ValueError,
        match=r"Unknown metric 'auc_interval'; known metrics are auc, average_precision, .*, reciprocal_rank\.",
    ):
        make_ranking_scorer("auc_interval")
    for text, meant in {
        "ndcg10": "ndcg@10",
        "NDCG-5": "ndcg@5",
        "ndgc@10": "ndcg@10",
        "precision10": "precision@10",
        "map5": "map",
        "concordanc": "concordance",
    }.items():
        with pytest.raises(
            ValueError, match=rf"Unknown metric '{text}'; did you mean '{meant}'\? Known metrics are auc,"
        ):
            make_ranking_scorer(text)
    with pytest.raises(TypeError, match="depth"):
        make_ranking_scorer("ndcg", depth=5)
    with pytest.raises(ValueError, match="per_query cannot be set"):
        make_ranking_scorer("ndcg", per_query=True)
    with pytest.raises(
        TypeError, match=r"make_ranking_scorer\('ndcg'\) does not accept the metadata \['sample_weight'\]"
    ):
        make_ranking_scorer("ndcg").set_score_request(sample_weight=True)


# In scikit-learn, routing enabled


def test_cross_validation_with_routing(letor, routing):
    X, y, qid = letor
    cv = GroupKFold(3)
    params = {"qid": qid, "groups": qid}
    scoring = {
        "ndcg": make_ranking_scorer("ndcg", k=5),
        "error": make_ranking_scorer("pairwise_error"),
    }
    single = cross_val_score(RankSVM(), X, y, scoring=scoring["ndcg"], cv=cv, params=params)
    both = cross_validate(RankSVM(), X, y, scoring=scoring, cv=cv, params=params, error_score="raise")
    expected = by_hand(ndcg, X, y, qid, cv, k=5)
    np.testing.assert_array_equal(single, expected)
    np.testing.assert_array_equal(both["test_ndcg"], expected)
    np.testing.assert_array_equal(both["test_error"], by_hand(pairwise_error, X, y, qid, cv, sign=-1.0))


def test_search_with_routing(letor, routing):
    X, y, qid = letor
    pipeline = make_pipeline(StandardScaler(), RankSVM())
    search = GridSearchCV(
        pipeline,
        {"ranksvm__alpha": [1e-3, 1e-1]},
        scoring=make_ranking_scorer("ndcg", k=5),
        cv=GroupKFold(3),
        error_score="raise",
    )
    search = clone(search).fit(X, y, qid=qid, groups=qid)
    assert search.best_score_ > 0.8
    found = search.score(X, y, qid=qid)
    assert found == ndcg(y, search.decision_function(X), qid=qid, k=5)


def test_weights_have_to_be_requested(letor, routing, rng):
    X, y, qid = letor
    params = {"qid": qid, "groups": qid, "sample_weight": rng.uniform(0, 2, len(y))}
    model = RankSVM().set_fit_request(sample_weight=True)
    scorer = make_ranking_scorer("concordance_index")
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        cross_val_score(model, X, y, scoring=scorer, cv=GroupKFold(3), params=params)
    plain = cross_val_score(
        model, X, y, scoring=clone(scorer).set_score_request(sample_weight=False), cv=GroupKFold(3), params=params
    )
    weighted = cross_val_score(
        model, X, y, scoring=clone(scorer).set_score_request(sample_weight=True), cv=GroupKFold(3), params=params
    )
    assert (plain != weighted).any()


# In scikit-learn, routing disabled


def test_the_column_without_routing(letor):
    X, y, qid = letor
    cv, scorer = GroupKFold(3), make_ranking_scorer("ndcg", k=5)
    expected = by_hand(ndcg, X, y, qid, cv, k=5)
    np.testing.assert_array_equal(
        cross_val_score(RankSVM(), frame(X, qid), y, groups=qid, scoring=scorer, cv=cv), expected
    )
    search = GridSearchCV(RankSVM(), {"alpha": [1e-3]}, scoring={"ndcg": scorer}, refit="ndcg", cv=cv)
    search.fit(frame(X, qid), y, groups=qid)
    assert search.best_score_ == pytest.approx(np.mean(expected), rel=1e-14)


def test_without_routing_and_column_it_warns(letor):
    X, y, qid = letor
    search = GridSearchCV(RankSVM(), {"alpha": [1e-3]}, scoring=make_ranking_scorer("ndcg"), cv=GroupKFold(3))
    with pytest.warns(MissingQueryWarning):
        search.fit(X, y, groups=qid, qid=qid)


def test_scorers_that_disagree_about_weights(letor, rng):
    X, y, qid = letor
    scoring = {name: make_ranking_scorer(name) for name in ("ndcg", "concordance_index")}
    search = GridSearchCV(RankSVM(), {"alpha": [1e-3]}, scoring=scoring, refit="ndcg", cv=GroupKFold(3))
    weights = rng.uniform(0.5, 2, len(y))
    with pytest.warns(UserWarning, match=r"ndcg=make_ranking_scorer\('ndcg'\) does not support sample_weight"):
        search.fit(frame(X, qid), y, groups=qid, sample_weight=weights)
    assert search.cv_results_["mean_test_concordance_index"][0] > 0.8


# Names


@pytest.mark.parametrize(
    ("text", "metric", "options"),
    [
        ("ndcg@10", metrics.ndcg, {"k": 10}),
        ("NDCG", metrics.ndcg, {}),
        ("map", metrics.average_precision, {}),
        ("mrr@3", metrics.reciprocal_rank, {"k": 3}),
        ("precision@5", metrics.precision_at, {"k": 5}),
        ("pairwise-error", metrics.pairwise_error, {}),
        ("concordance", metrics.concordance_index, {}),
        ("ndcg@3:gain=linear:undefined=0", metrics.ndcg, {"k": 3, "gain": "linear", "undefined": 0}),
        ("ndcg@mean:convention=letor", metrics.ndcg, {"k": "mean", "convention": "letor"}),
        ("map:threshold=12.5:ties=1", metrics.average_precision, {"threshold": 12.5, "ties": 1}),
        ("precision@5:undefined=skip", metrics.precision_at, {"k": 5, "undefined": "skip"}),
        ("kendall:undefined=1", metrics.kendall_tau, {"undefined": 1}),
    ],
)
def test_short_names_and_depths(text, metric, options, letor):
    X, y, qid = letor
    model = RankSVM().fit(X, y, qid=qid)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedQueryWarning)
        expected = metric(y, model.predict(X), qid=qid, **options)
        found = make_ranking_scorer(text)(model, X, y, qid=qid)
    assert abs(found) == expected


@pytest.mark.parametrize("text", ["recall", "auc@3", "ndcg@", "ndcg@0", "ndcg@x", "mrr@mean", "@3", ""])
def test_names_that_mean_nothing(text):
    with pytest.raises(ValueError, match=r"Unknown metric|takes no|positive integer"):
        make_ranking_scorer(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ndcg@3:gain", "option=value, with one of the options gain, convention, ties, undefined"),
        ("ndcg:depth=3", "option=value, with one of the options gain, convention, ties, undefined"),
        ("ndcg:k=3", "option=value"),
        ("map:per_query=1", "option=value, with one of the options threshold, ties, undefined"),
        ("map:undefined=2", "undefined must be 'skip' or 0 or 1, got 2"),
        ("map:undefined=nan", "undefined must be 'skip' or 0 or 1, got nan"),
        ("ndcg:gain=log", "gain must be 'exp2' or 'linear'"),
        ("err:max_grade=x", "max_grade must be a number between"),
        ("concordance:ties=2", "ties must be a number from 0 to 1"),
    ],
)
def test_options_that_mean_nothing(text, words):
    """An error is raised when the scorer is made, not within a fold, where a search would record NaN."""
    with pytest.raises(ValueError, match=words):
        make_ranking_scorer(text)


def test_bad_values_fail_before_a_fold():
    with pytest.raises(ValueError, match="undefined must be 'skip' or 0 or 1"):
        make_ranking_scorer("ndcg", undefined="zero")
    with pytest.raises(TypeError, match="'k'"):
        make_ranking_scorer("precision_at")


def test_scikit_learn_knows_only_its_own_names(letor):
    """Search classes take make_ranking_scorer("ndcg@10") and not the name; if this fails, update the docs."""
    X, y, _ = letor
    with pytest.raises(ValueError, match="scoring"):
        GridSearchCV(RankSVM(), {"alpha": [1e-3]}, scoring="ndcg@10").fit(X, y)
