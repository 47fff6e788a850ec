"""Decisions by thresholds that are learnt from training rows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RLS, RLSCV, RankRLS, RankSVM
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.kernels import Gaussian
from kernelrank.metrics import best_f_score, f_score, threshold_at_rate
from kernelrank.model_selection import FScoreClassifier, LeaveQueryOut

ESTIMATORS = [
    RankRLS(0.1),
    RankRLS(0.1, ties="drop"),  # no closed form
    RLS(0.1, kernel=Gaussian(0.2)),
    RankSVM(loss="squared_hinge"),
    LogisticRegression(C=0.1),
    Ridge(),
    GaussianNB(),
    make_pipeline(StandardScaler(), RankRLS()),
]


def few_positives(rng, m=300):
    """Every sixth row is positive, more or less."""
    X = rng.normal(size=(m, 4))
    return X, X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=m) > 2.0


def scores_of(model, X):
    if isinstance(model, GaussianNB):
        return model.predict_proba(X)[:, 1]
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def by_refits(estimator, X, y, splits, **metadata):
    """Held-out scores of the rows, the definition."""
    rows, scores = [], []
    for train, test in splits:
        given = {name: np.asarray(values)[train] for name, values in metadata.items()}
        rows.append(test)
        scores.append(scores_of(clone(estimator).fit(X[train], y[train].astype(float), **given), X[test]))
    return np.concatenate(rows), np.concatenate(scores)


# The threshold


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_the_definition(rng, estimator):
    X, y = few_positives(rng, 120)
    rows, scores = by_refits(estimator, X, y, StratifiedKFold(5, shuffle=True, random_state=3).split(X, y))
    for beta in (1.0, 2.0):
        model = FScoreClassifier(estimator, cv=5, beta=beta, random_state=3).fit(X, y)
        best = best_f_score(y[rows], scores, beta=beta)
        assert (model.threshold_, model.f_score_) == pytest.approx((best.threshold, best.f_score), rel=1e-8)
    model = FScoreClassifier(estimator, cv=5, threshold="rate", random_state=3).fit(X, y)
    assert model.threshold_ == pytest.approx(threshold_at_rate(scores, y.mean()), rel=1e-8)
    assert model.f_score_ == pytest.approx(f_score(y[rows], scores, model.threshold_), rel=1e-12)
    model.set_params(positive_rate=0.4).fit(X, y)
    assert model.threshold_ == pytest.approx(threshold_at_rate(scores, 0.4), rel=1e-8)

    alone = clone(estimator).fit(X, y.astype(float))
    np.testing.assert_array_equal(model.score_samples(X), scores_of(alone, X))
    np.testing.assert_array_equal(model.predict(X), scores_of(alone, X) > model.threshold_)
    np.testing.assert_array_equal(model.predict_category(X), model.predict(X))
    assert model.score(X, y) == (model.predict(X) == y).mean()
    assert model.n_features_in_ == 4


def test_the_default_is_rank_rls_and_repeatable(rng):
    X, y = few_positives(rng, 100)
    model, other = FScoreClassifier().fit(X, y), FScoreClassifier(RankRLS(), cv=None).fit(X, y)
    assert isinstance(model.estimator_, RankRLS)
    assert (model.threshold_, model.f_score_) == (other.threshold_, other.f_score_)
    assert FScoreClassifier(random_state=1).fit(X, y).f_score_ != model.f_score_


@pytest.mark.parametrize("estimator", [RankRLS(1.0), LogisticRegression()], ids=lambda each: type(each).__name__)
def test_what_it_is_for(estimator):
    """Where 0 is no threshold, one from training rows does better; none does better than one that knows the answers."""
    gains = []
    for seed in range(8):
        X, y = few_positives(np.random.default_rng(seed), 2000)
        X, new, y, truth = X[:300], X[300:], y[:300], y[300:]
        model = FScoreClassifier(estimator).fit(X, y)
        scores = model.score_samples(new)
        learnt, best = f_score(truth, scores, model.threshold_), best_f_score(truth, scores).f_score
        assert learnt <= best < learnt + 0.1
        gains.append(learnt - f_score(truth, scores, 0.0))
    assert min(gains) > 0


def test_scores_on_another_level(rng):
    """The threshold of the training rows is of no use there; the share of positive rows is."""
    X, y = few_positives(rng, 2000)
    new, truth = X[300:] + [-2.0, 2.0, 0.0, 0.0], y[300:]
    model = FScoreClassifier(RankRLS()).fit(X[:300], y[:300])
    scores = model.score_samples(new)
    expected = threshold_at_rate(scores, truth.mean())
    assert f_score(truth, scores, model.threshold_) < 0.3 < 0.55 < f_score(truth, scores, expected)
    assert f_score(truth, scores, expected) > best_f_score(truth, scores).f_score - 0.1


def test_calling_all_rows_positive_may_be_best():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.random(60) < 0.9
    model = FScoreClassifier(RankRLS(1e6), beta=10).fit(X, y)  # noise only
    assert model.threshold_ == -np.inf
    assert model.predict(X).all()
    decisions, scores = model.decision_function(X), model.score_samples(X)
    assert (decisions > 0).all()
    assert np.isfinite(decisions).all()
    np.testing.assert_array_equal(np.argsort(decisions, kind="stable"), np.argsort(scores, kind="stable"))


def test_scikit_learns_tuned_threshold(rng):
    """With one fold. Of several, scikit-learn averages curves while ours pools the scores: another criterion."""
    X, y = few_positives(rng)
    estimator, split = LogisticRegression(C=0.1), [(np.arange(200), np.arange(200, 300))]
    scores = np.unique(by_refits(estimator, X, y, split)[1])
    model = FScoreClassifier(estimator, cv=split).fit(X, y)
    theirs = TunedThresholdClassifierCV(
        estimator,
        scoring="f1",
        cv=split,
        response_method="decision_function",
        thresholds=(scores[1:] + scores[:-1]) / 2,
        store_cv_results=True,
    ).fit(X, y)
    assert model.f_score_ == pytest.approx(theirs.best_score_, rel=1e-12)
    results = theirs.cv_results_  # the highest of equals is ours, the lowest theirs
    best = results["thresholds"][results["scores"] > theirs.best_score_ - 1e-12]
    assert model.threshold_ == pytest.approx(best[-1], rel=1e-12)
    assert theirs.best_threshold_ == best[0]
    scores = model.score_samples(X)
    between = (scores > best[0]) & (scores <= best[-1] * (1 - 1e-12))
    np.testing.assert_array_equal(model.predict(X)[~between], theirs.predict(X)[~between])


# Folds


class NotSplit(BaseEstimator):
    """Sees to it that what it predicts has nothing in common with what it was fitted to; the last feature tells."""

    def fit(self, X, y):
        self.seen_, self.n_features_in_ = set(X[:, -1]), X.shape[1]
        assert len(np.unique(y)) == 2
        return self

    def predict(self, X):
        assert not self.seen_ & set(X[:, -1])
        return X[:, 0]


@pytest.mark.parametrize("name", ["groups", "qid"])
def test_groups_are_not_split(rng, name):
    X, y = few_positives(rng)
    groups = rng.integers(0, 25, len(y))
    X[:, -1] = groups
    FScoreClassifier(NotSplit(), threshold="rate").fit(X, y, groups=groups)
    with pytest.raises(AssertionError):
        FScoreClassifier(NotSplit()).fit(X, y)  # so it does notice

    kind = {"groups": LogisticRegression(), "qid": RankSVM(loss="squared_hinge")}[name]
    metadata = {"qid": groups} if name == "qid" else {}
    folds = StratifiedGroupKFold(10, shuffle=True, random_state=0).split(X, y, pd.factorize(groups)[0])
    rows, scores = by_refits(kind, X, y, folds, **metadata)
    model = FScoreClassifier(kind).fit(X, y, **{name: [f"group {k}" for k in groups]})
    assert model.threshold_ == pytest.approx(best_f_score(y[rows], scores).threshold, rel=1e-8)


def best_f(y, scores):
    return best_f_score(y, scores).f_score


def test_one_fit_chooses_alpha_and_threshold(rng):
    X, y = few_positives(rng)
    groups = np.arange(300) // 6
    rows = [np.flatnonzero(groups == group) for group in range(50)]
    model = FScoreClassifier(RLSCV([1.0, 0.1, 0.01], scoring=best_f), cv="own").fit(X, y, groups=groups)
    held_out = {alpha: np.concatenate(RLS(alpha).fit(X, y.astype(float)).hold_out(rows)) for alpha in (1.0, 0.1, 0.01)}
    alpha = max(held_out, key=lambda alpha: best_f(y, held_out[alpha]))
    assert model.estimator_.alpha_ == alpha
    assert model.threshold_ == pytest.approx(best_f_score(y, held_out[alpha]).threshold)
    assert model.f_score_ == pytest.approx(best_f(y, held_out[alpha]))


def test_an_estimator_that_takes_groups_gets_them_in_folds(rng):
    X, y = few_positives(rng)
    groups = np.arange(300) // 6
    estimator = RLSCV([1.0, 0.1, 0.01], kernel=Gaussian(0.2))
    model = FScoreClassifier(estimator, cv=GroupKFold(5)).fit(X, y, groups=groups)
    scores = np.empty(300)
    for train, test in GroupKFold(5).split(X, y, groups):
        scores[test] = clone(estimator).fit(X[train], y[train].astype(float), groups=groups[train]).predict(X[test])
    assert model.threshold_ == pytest.approx(best_f_score(y, scores).threshold)
    assert model.estimator_.alpha_ == clone(estimator).fit(X, y.astype(float), groups=groups).alpha_


@pytest.mark.parametrize("estimator", [RLS(), RLSCV(cv=5), None])
def test_not_all_have_scores_of_their_own(rng, estimator):
    X, y = few_positives(rng)
    with pytest.raises(ValueError, match='cv="own" needs an estimator with held_out_'):
        FScoreClassifier(estimator, cv="own").fit(X, y)


def test_queries_of_rank_rls(rng):
    X, y = few_positives(rng)
    qid = pd.factorize(rng.integers(0, 25, len(y)))[0]
    model = FScoreClassifier(RankRLS(0.1), cv=GroupKFold(5)).fit(X, y, qid=qid)
    rows, scores = by_refits(RankRLS(0.1), X, y, GroupKFold(5).split(X, y, qid), qid=qid)
    best = best_f_score(y[rows], scores)
    assert (model.threshold_, model.f_score_) == pytest.approx((best.threshold, best.f_score), rel=1e-8)
    larger = FScoreClassifier(RankRLS(0.1), cv=LeaveOneGroupOut()).fit(X, y, qid=qid, groups=qid // 5)
    rows, scores = by_refits(RankRLS(0.1), X, y, LeaveOneGroupOut().split(X, y, qid // 5), qid=qid)
    assert larger.threshold_ == pytest.approx(best_f_score(y[rows], scores).threshold, rel=1e-8)
    assert FScoreClassifier(cv=LeaveQueryOut()).fit(X, y, qid=qid).f_score_ > 0.4
    with pytest.raises(ValueError, match="A query has rows of several groups"):
        FScoreClassifier().fit(X, y, qid=qid, groups=rng.permutation(qid))
    for metadata in ({"qid": qid}, {"groups": qid}):
        with pytest.raises(ValueError, match="of cv splits a query or group"):
            FScoreClassifier(cv=StratifiedKFold(5)).fit(X, y, **metadata)


def test_few_rows_of_a_class(rng):
    X = rng.normal(size=(40, 2))
    y = np.arange(40) < 3
    model = FScoreClassifier(RankRLS()).fit(X, y)  # three folds
    assert model.f_score_ == FScoreClassifier(RankRLS(), cv=3).fit(X, y).f_score_
    with pytest.raises(ValueError, match="A class has only one row"):
        FScoreClassifier().fit(X, np.arange(40) == 0)
    with pytest.raises(ValueError, match="A class has rows in only one group"):
        FScoreClassifier().fit(X, y, groups=np.arange(40) // 5)
    with pytest.raises(ValueError, match="Fold 0 of cv trains on rows of one class only"):
        FScoreClassifier(cv=LeaveOneGroupOut()).fit(X, y, groups=np.arange(40) // 5)
    FScoreClassifier().fit(X, y, groups=np.arange(40) % 7)


def test_other_splitters(rng):
    X, y = few_positives(rng)
    splitter = ShuffleSplit(4, test_size=0.3, random_state=0)  # some rows several times, some never
    rows, scores = by_refits(RankRLS(), X, y, splitter.split(X))
    assert FScoreClassifier(cv=splitter).fit(X, y).threshold_ == pytest.approx(
        best_f_score(y[rows], scores).threshold, rel=1e-8
    )
    with pytest.raises(ValueError, match="Fold 0 of cv must train on all rows that it does not test on"):
        FScoreClassifier(cv=TimeSeriesSplit(3)).fit(X, y)
    with pytest.raises(ValueError, match="number of folds of at least 2"):
        FScoreClassifier(cv=1).fit(X, y)


# Weights


@pytest.mark.parametrize("estimator", [RankRLS(0.1), RLS(0.1), LogisticRegression()], ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("threshold", ["cross-validation", "rate"])
def test_weights(rng, estimator, threshold):
    X, y = few_positives(rng, 150)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], len(y))
    model = FScoreClassifier(estimator, threshold=threshold, cv=4).fit(X, y, sample_weight=weights)
    kept = weights > 0
    X, y, weights = X[kept], y[kept], weights[kept]
    rows, scores = by_refits(
        estimator, X, y, StratifiedKFold(4, shuffle=True, random_state=0).split(X, y), sample_weight=weights
    )
    if threshold == "rate":
        expected = threshold_at_rate(scores, np.average(y, weights=weights), sample_weight=weights[rows])
    else:
        expected = best_f_score(y[rows], scores, sample_weight=weights[rows]).threshold
    assert model.threshold_ == pytest.approx(expected, rel=1e-8)
    assert model.f_score_ == pytest.approx(f_score(y[rows], scores, model.threshold_, sample_weight=weights[rows]))
    alone = clone(estimator).fit(X, y.astype(float), sample_weight=weights)
    np.testing.assert_allclose(model.score_samples(X), scores_of(alone, X), rtol=1e-6, atol=1e-7)


def test_rows_without_weight_have_no_part(rng):
    X, y = few_positives(rng, 150)
    qid, weights = rng.integers(0, 12, 150), np.ones(150)
    weights[100:] = 0
    model = FScoreClassifier(RankRLS()).fit(X, np.append(y[:100], ~y[100:]), qid=qid, sample_weight=weights)
    other = FScoreClassifier(RankRLS()).fit(X[:100], y[:100], qid=qid[:100], sample_weight=weights[:100])
    assert (model.threshold_, model.f_score_) == pytest.approx((other.threshold_, other.f_score_), rel=1e-8)
    with pytest.raises(NoComparablePairsError, match="one class only"):
        FScoreClassifier().fit(X, y, sample_weight=y.astype(float))


# Classes, and kinds of rows


def test_classes(rng):
    X, y = few_positives(rng, 120)
    expected = FScoreClassifier().fit(X, y)
    for low, high in ((0, 1), (-1, 1), (2.0, 5.0), ("no", "yes")):
        model = FScoreClassifier().fit(X, np.where(y, high, low))
        assert (model.threshold_, model.f_score_) == (expected.threshold_, expected.f_score_)
        assert model.classes_.tolist() == [low, high]
        np.testing.assert_array_equal(model.predict(X), np.where(expected.predict(X), high, low))
    reversed_order = FScoreClassifier(classes=["well", "sick"]).fit(X, np.where(y, "sick", "well"))
    assert reversed_order.classes_.tolist() == ["well", "sick"]
    assert reversed_order.threshold_ == expected.threshold_
    np.testing.assert_array_equal(reversed_order.predict(X) == "sick", expected.predict(X))


def test_sparse_rows_and_frames(rng):
    X, y = few_positives(rng, 120)
    qid = rng.integers(0, 15, 120)
    for estimator in (RankRLS(), RankSVM(loss="squared_hinge", tol=1e-10)):
        plain = FScoreClassifier(estimator, cv=4).fit(X, y)
        for kind in (sp.csr_matrix, sp.csc_array, sp.coo_matrix, np.ndarray.tolist):
            found = FScoreClassifier(estimator, cv=4).fit(kind(X), y.tolist())
            assert (found.threshold_, found.f_score_) == pytest.approx((plain.threshold_, plain.f_score_), rel=1e-6)
        with_queries = FScoreClassifier(estimator, cv=4).fit(X, y, qid=qid)
        assert with_queries.threshold_ != plain.threshold_
        for frame in (pd.DataFrame(X, columns=list("abcd")), pl.DataFrame(X, schema=list("abcd"))):
            found = FScoreClassifier(estimator, cv=4).fit(frame, y)
            assert found.threshold_ == pytest.approx(plain.threshold_, rel=1e-6)
            assert found.feature_names_in_.tolist() == list("abcd")
            queries = pd.Series(qid) if isinstance(frame, pd.DataFrame) else pl.Series(qid)
            column = {"qid": queries}
            frame = frame.assign(**column) if isinstance(frame, pd.DataFrame) else frame.with_columns(**column)
            found = FScoreClassifier(estimator, cv=4).fit(frame, y)
            assert found.threshold_ == pytest.approx(with_queries.threshold_, rel=1e-6)
            np.testing.assert_array_equal(found.predict(frame), with_queries.predict(X))


def test_pipelines_get_queries_and_weights(rng):
    X, y = few_positives(rng, 120)
    qid, weights = np.arange(120) // 8, rng.uniform(0.5, 2, 120)
    pipeline = make_pipeline("passthrough", RankRLS(0.1))
    for metadata in ({"qid": qid}, {"sample_weight": weights}):
        found = FScoreClassifier(pipeline, cv=4).fit(X, y, **metadata)
        expected = FScoreClassifier(RankRLS(0.1), cv=4).fit(X, y, **metadata)
        assert found.threshold_ == pytest.approx(expected.threshold_, rel=1e-8)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(qid=qid)
    found = FScoreClassifier(LogisticRegression(), cv=4).fit(frame, y)  # which takes no queries: they are groups
    expected = FScoreClassifier(LogisticRegression(), cv=4).fit(X, y, groups=qid)
    assert found.threshold_ == pytest.approx(expected.threshold_)
    assert found.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(found.predict(frame), expected.predict(X))


def test_a_kernel_matrix(rng):
    X, y = few_positives(rng, 80)
    model = FScoreClassifier(RankRLS(kernel="precomputed")).fit(X @ X.T, y)
    expected = FScoreClassifier(RankRLS()).fit(X, y)
    assert model.__sklearn_tags__().input_tags.pairwise
    assert model.threshold_ == pytest.approx(expected.threshold_, rel=1e-6)
    weights = np.repeat([1.0, 2.0, 0.0], [30, 30, 20])  # by refits
    model = FScoreClassifier(RankRLS(kernel="precomputed")).fit(X @ X.T, y, sample_weight=weights)
    expected = FScoreClassifier(RankRLS()).fit(X, y, sample_weight=weights)
    assert model.threshold_ == pytest.approx(expected.threshold_, rel=1e-6)


# As a citizen


def test_pickling(rng):
    X, y = few_positives(rng, 100)
    model = FScoreClassifier(RankRLS(kernel="gaussian")).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.threshold_ == model.threshold_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_searches_and_routing(rng):
    X, y = few_positives(rng)
    groups = rng.integers(0, 30, len(y))
    found = GridSearchCV(FScoreClassifier(RankRLS()), {"estimator__alpha": [1e-3, 1e3]}, scoring="f1", cv=3).fit(X, y)
    assert found.best_score_ > 0.4
    X[:, -1] = groups
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(FScoreClassifier(NotSplit()), X, y, cv=GroupKFold(3), params={"groups": groups})
        assert np.isfinite(scores).all()  # of folds within folds, none splits a group
        model = FScoreClassifier(make_pipeline(StandardScaler(), RankSVM())).fit(X, y, qid=groups)
    expected = RankSVM().fit(StandardScaler().fit_transform(X), y, qid=groups)
    np.testing.assert_array_equal(model.estimator_[-1].coef_, expected.coef_)


def test_jobs():
    X, y = few_positives(np.random.default_rng(0), 100)
    one, two = (FScoreClassifier(LogisticRegression(), n_jobs=n).fit(X, y) for n in (1, 2))
    assert (one.threshold_, one.f_score_) == (two.threshold_, two.f_score_)


class TwoColumns(LinearRegression):
    def predict(self, X):
        return np.asarray(X)[:, :2]


def test_errors_name_the_matter(rng):
    X, y = few_positives(rng, 60)
    with pytest.raises(NoComparablePairsError, match="FScoreClassifier needs rows of at least two classes"):
        FScoreClassifier().fit(X, np.ones(60))
    with pytest.raises(ValueError, match=r"Only binary classification is supported.*it has 3 classes"):
        FScoreClassifier().fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match="requires y"):
        FScoreClassifier().fit(X, None)
    with pytest.raises(ValueError, match="y has 59 elements, but X has 60 rows"):
        FScoreClassifier().fit(X, y[:-1])
    with pytest.raises(ValueError, match="one score per row"):
        FScoreClassifier(TwoColumns()).fit(X, y)
    for parameters in (
        {"threshold": "best"},
        {"threshold": 0.5},
        {"beta": 0},
        {"beta": np.nan},
        {"positive_rate": 0.3},
        {"threshold": "rate", "positive_rate": 0.0},
        {"threshold": "rate", "positive_rate": 1.0},
        {"threshold": "rate", "positive_rate": np.nan},
    ):
        with pytest.raises(ValueError, match=list(parameters)[-1]):
            FScoreClassifier(**parameters).fit(X, y)
    assert not hasattr(FScoreClassifier(), "n_features_in_")


def test_a_failed_fit_leaves_the_earlier_one(rng):
    X, y = few_positives(rng, 60)
    model = FScoreClassifier().fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="A class has only one row"):
        model.fit(X[:, :2], np.arange(60) == 5)
    np.testing.assert_array_equal(model.predict(X), before)


def test_own_scores_respect_queries_and_weights(rng):
    X, y, qid = np.repeat(rng.normal(size=(20, 40)), 3, axis=0), np.repeat(np.arange(20) % 2, 3), np.arange(60) // 3
    expected = FScoreClassifier(RLSCV([1e-6]), cv="own").fit(X, y, groups=qid)
    for metadata in ({"qid": qid}, {"qid": qid, "groups": qid}):
        found = FScoreClassifier(RLSCV([1e-6]), cv="own").fit(X, y, **metadata)
        assert (found.threshold_, found.f_score_) == (expected.threshold_, expected.f_score_)
    weights = np.where(np.arange(60) < 6, 0.0, 1.0)
    found = FScoreClassifier(OwnScores(), cv="own").fit(X, y, sample_weight=weights)
    assert found.f_score_ == best_f_score(y[6:], np.arange(60.0)[6:]).f_score
    with pytest.raises(ValueError, match="takes no groups"):
        FScoreClassifier(OwnScores(), cv="own").fit(X, y, groups=qid)
    with pytest.raises(ValueError, match="a value per row"):
        FScoreClassifier(RankRLS(), cv="own").fit(X, y)


class OwnScores(RLS):
    """Has held-out scores of its own."""

    def fit(self, X, y, *, sample_weight=None):
        super().fit(X, y, sample_weight=sample_weight)
        self.held_out_ = np.arange(float(len(y)))
        return self
