"""Alpha chosen by held-out predictions: every score is what refits give."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, cross_val_predict

from kernelrank import RLS, RLSCV, RankRLS, RankRLSCV
from kernelrank.exceptions import UndefinedMetricError
from kernelrank.kernels import Gaussian
from kernelrank.metrics import concordance_index, make_ranking_scorer, ndcg

ALPHAS = [10.0, 0.1, 1e-3]


def data(rng, m=40, n=4, outputs=None):
    X = rng.normal(size=(m, n))
    Y = X[:, :2].sum(axis=1)[:, None] + rng.normal(size=(m, outputs or 1))
    return X, Y if outputs else Y[:, 0]


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.1)])
@pytest.mark.parametrize("outputs", [None, 2])
def test_leave_pair_out(rng, kernel, outputs):
    X, y = data(rng, outputs=outputs)
    model = RankRLSCV(ALPHAS, kernel=kernel).fit(X, y)
    for alpha, [score] in zip(model.alphas_, model.scores_, strict=True):
        single = RankRLS(alpha, kernel=kernel).fit(X, y)
        assert score == pytest.approx(np.mean(single.leave_pair_out_concordance()))
    best = RankRLS(model.alpha_, kernel=kernel).fit(X, y)
    np.testing.assert_allclose(model.predict(X), best.predict(X), rtol=1e-8)
    assert model.alpha_ == model.alphas_[np.argmax(model.scores_.mean(axis=1))]
    np.testing.assert_allclose(
        model.leave_pair_out([[0, 1]]), best.leave_pair_out([[0, 1]]), rtol=1e-8
    )  # at the alpha that was chosen


@pytest.mark.parametrize("scoring", [None, "ndcg@3", make_ranking_scorer("ndcg", k=3)])
def test_leave_query_out(rng, scoring):
    X, y = data(rng)
    y, qid = np.clip(np.round(y), 0, 3), rng.permutation(np.repeat([f"q{k}" for k in range(8)], 5))
    metric = concordance_index if scoring is None else lambda *a, **k: ndcg(*a, k=3, **k)
    model = RankRLSCV(ALPHAS, scoring=scoring).fit(X, y, qid=qid)
    for alpha, [score] in zip(model.alphas_, model.scores_, strict=True):
        found = RankRLS(alpha).fit(X, y, qid=qid).leave_query_out()
        assert score == pytest.approx(np.nanmean(metric(y, found, qid=qid, per_query=True)))


@pytest.mark.parametrize("with_queries", [False, True])
def test_folds_are_refits(rng, with_queries):
    X, y = data(rng)
    qid = np.repeat(np.arange(8), 5) if with_queries else None
    splits = list(GroupKFold(4).split(X, groups=qid) if with_queries else KFold(4).split(X))
    model = RankRLSCV(ALPHAS, cv=splits).fit(X, y, qid=qid)
    for alpha, scores in zip(model.alphas_, model.scores_, strict=True):
        for (train, test), score in zip(splits, scores, strict=True):
            metadata = {"qid": qid[train]} if with_queries else {}
            refit = RankRLS(alpha).fit(X[train], y[train], **metadata)
            expected = concordance_index(y[test], refit.predict(X[test]), qid=qid[test] if with_queries else None)
            assert score == pytest.approx(expected)
    assert RankRLSCV(ALPHAS, cv=4).fit(X, y, qid=qid).scores_.shape == (3, 4)


@pytest.mark.parametrize("n", [4, 60])
def test_rls_is_ridge_cv(rng, n):
    X, y = data(rng, n=n)
    model = RLSCV(ALPHAS).fit(X, y)
    for alpha, [score] in zip(model.alphas_, model.scores_, strict=True):
        found = cross_val_predict(RLS(alpha), X, y, cv=LeaveOneOut())
        assert score == pytest.approx(-np.mean((y - found) ** 2))
    # RidgeCV keeps its penalty when a row is left out; nearly the same
    reference = RidgeCV(40 * np.array(ALPHAS), store_cv_results=True).fit(X, y)
    np.testing.assert_allclose(model.scores_.ravel(), -reference.cv_results_.mean(axis=0), rtol=0.05)


def test_scores_of_rls_may_be_anything(rng):
    X, y = data(rng)
    model = RLSCV(ALPHAS, cv=5, scoring=lambda y, p: -np.abs(y - p).max()).fit(X, y)
    assert model.scores_.shape == (3, 5)
    assert (model.scores_ < 0).all()


def test_default_grids_go_from_strong_to_weak(rng):
    X, y = data(rng, m=80)
    for model in (RankRLSCV(), RankRLSCV(kernel="gaussian"), RLSCV(kernel="gaussian")):
        model.fit(X, y)
        assert len(model.alphas_) == 20
        assert (np.diff(model.alphas_) < 0).all()
        strongest = clone(model).set_params(alphas=[model.alphas_[0]]).fit(X, y)
        weakest = clone(model).set_params(alphas=[model.alphas_[-1]]).fit(X, y)
        assert np.std(strongest.predict(X)) < np.std(weakest.predict(X))


def test_a_failed_fit_leaves_the_last_one_alone(rng):
    X, y = data(rng)
    model = RankRLSCV(ALPHAS).fit(X, y)
    before = model.predict(X)
    with pytest.raises(UndefinedMetricError):
        model.set_params(cv=2).fit(X[:4], np.array([1.0, 1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RankRLSCV(0), "alphas"),
        (RankRLSCV([0.0]), "alphas"),
        (RankRLSCV(cv="leave-one-out"), "cv must be"),
        (RankRLSCV(cv="leave-query-out"), "needs queries"),
        (RankRLSCV(scoring="ndcg"), "leave-pair-out compares pairs"),
        (RankRLSCV(cv=3, scoring="ndgc"), "no metric"),
        (RLSCV(cv="leave-pair-out"), "cv must be"),
    ],
)
def test_bad_parameters(rng, model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*data(rng))
