"""Fits to utilities of which some are only bounds: they are fits to the pairs whose order is known."""

import numpy as np
import oracles
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import (
    RLS,
    GreedyRankRLS,
    NystromMap,
    OrdinalSVM,
    RankingClassifier,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
)
from kernelrank.exceptions import MissingObservedWarning, NoComparablePairsError
from kernelrank.io import RowStore
from kernelrank.kernels import Gaussian
from kernelrank.metrics import concordance_index, make_ranking_scorer


def make(seed=0, m=120, n=5, share=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    true = np.round(X @ rng.normal(size=n) + rng.normal(size=m), 1)  # with ties
    seen_until = np.quantile(true, 1 - share / 2) + rng.normal(size=m)
    return X, np.round(np.minimum(true, seen_until), 1), true <= seen_until


def structured(y, observed):
    found = np.empty(len(y), dtype=[("event", "?"), ("time", "f8")])
    found["event"], found["time"] = observed, y
    return found


def known_pairs(y, observed, qid=None):
    """Return the pairs [winner, loser] whose order is known."""
    return np.argwhere(oracles.comparable_pairs(y, qid, None, observed))[:, ::-1]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("form", ["dense", "sparse", "float32", "kernel", "basis", "positive"])
def test_the_same_as_given_pairs(loss, form):
    X, y, observed = make()
    options = {
        "kernel": {"kernel": Gaussian(0.1)},
        "basis": {"kernel": Gaussian(0.1), "n_basis": 20},
        "positive": {"positive": True},
    }.get(form, {})
    X = {"sparse": sp.csr_array, "float32": np.float32}.get(form, lambda X: X)(X)
    model = RankSVM(1e-2, loss=loss, tol=1e-6, **options)
    found = model.fit(X, y, observed=observed)
    objective, scores, gap = found.objective_, found.predict(X), found.gap_
    pairs = known_pairs(y, observed)
    assert found.n_pairs_ == len(pairs)
    assert 0 < len(pairs) < len(known_pairs(y, np.ones(len(y), bool)))
    other = model.fit_pairs(X, pairs)
    assert abs(objective - other.objective_) <= gap + other.gap_ + 1e-14
    np.testing.assert_allclose(scores, other.predict(X), atol=0.05)


@pytest.mark.parametrize("query_weighting", ["query", "pair"])
def test_queries_and_weights(query_weighting):
    X, y, observed = make()
    rng = np.random.default_rng(1)
    qid, weights = rng.integers(0, 6, len(y)), rng.integers(0, 3, len(y))
    model = RankSVM(1e-2, query_weighting=query_weighting, tol=1e-6)
    found = model.fit(X, y, qid=qid, sample_weight=weights, observed=observed)
    shares = oracles.shares(y, qid, weights, query_weighting, observed)
    scores = X @ found.coef_
    risk = (np.maximum(0, 1 + scores[:, None] - scores) * shares).sum()
    assert found.objective_ == pytest.approx(risk + 1e-2 * found.coef_ @ found.coef_, rel=1e-12)
    objective, rows = found.objective_, np.repeat(np.arange(len(y)), weights)
    repeated = model.fit(X[rows], y[rows], qid=qid[rows], observed=observed[rows])
    assert repeated.objective_ == pytest.approx(objective, abs=2e-6)


@pytest.mark.parametrize("ties", ["keep", "drop"])
@pytest.mark.parametrize("cost", ["magnitude", "unit"])
@pytest.mark.parametrize("with_queries", [False, True])
def test_least_squares_of_known_differences(ties, cost, with_queries):
    X, y, observed = make()
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 3, len(y)).astype(float)
    qid = rng.integers(0, 5, len(y)) if with_queries else None
    alpha = 0.1
    model = RankRLS(alpha, ties=ties, cost=cost, query_weighting="pair", tol=1e-12)
    model.fit(X, y, qid=qid, sample_weight=weights, observed=observed)
    query = oracles.query_numbers(qid, len(y))
    pairs = oracles.comparable_pairs(y, qid, weights, observed)
    targets = y - y[:, None] if cost == "magnitude" else np.ones_like(pairs)
    matrix = oracles.laplacian(pairs)
    right = X.T @ ((targets * pairs).sum(axis=0) - (targets * pairs).sum(axis=1))
    total = pairs.sum()
    if ties == "keep":
        equal = (y[:, None] == y) & (query[:, None] == query) & observed[:, None] & observed
        tied = np.where(equal, np.outer(weights, weights), 0.0) / 2  # all ordered pairs, half each
        matrix, total = matrix + oracles.laplacian(tied), total + tied.sum()
    expected = np.linalg.solve(X.T @ matrix @ X / total + alpha * np.eye(X.shape[1]), right / total)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-9)
    for form in (sp.csr_array(X), sp.csc_array(X)):
        again = RankRLS(alpha, ties=ties, cost=cost, query_weighting="pair", tol=1e-12)
        again.fit(form, y, qid=qid, sample_weight=weights, observed=observed)
        np.testing.assert_allclose(again.coef_, expected, rtol=1e-9)
    level = np.average(y - X @ model.coef_, weights=weights * observed)
    assert model.intercept_ == pytest.approx(level if qid is None and cost == "magnitude" else 0.0)


@pytest.mark.parametrize("estimator", [RankSVM(tol=1e-6), RankRLS(), RankSVMCV(3, cv=3)])
def test_all_observed_is_no_censoring(estimator):
    X, y, _ = make()
    plain = estimator.fit(X, y).predict(X)
    np.testing.assert_array_equal(estimator.fit(X, y, observed=np.ones(len(y), int)).predict(X), plain)
    np.testing.assert_array_equal(estimator.fit(X, structured(y, True)).predict(X), plain)


@pytest.mark.parametrize("estimator", [RankSVM(), RankRLS(), RankSVMCV(3, cv=3)])
def test_structured_arrays_and_frames(estimator):
    X, y, observed = make()
    expected = estimator.fit(X, y, observed=observed).predict(X)
    score = estimator.score(X, y, observed=observed)
    assert score == pytest.approx(oracles.concordance(y, expected, observed=observed))
    for both in (structured(y, observed), pd.DataFrame({"died": observed, "years": y})):
        np.testing.assert_array_equal(estimator.fit(X, both).predict(X), expected)
        assert estimator.score(X, both) == score


def test_cross_validation_trains_and_scores_known_pairs():
    X, y, observed = make()
    folds = list(KFold(3).split(X))
    weights = np.random.default_rng(0).random(len(y)) + 0.5
    model = RankSVMCV([0.1, 0.01], cv=folds, tol=1e-6).fit(X, y, observed=observed, sample_weight=weights)
    for k, alpha in enumerate(model.alphas_):
        for fold, (train, test) in enumerate(folds):
            one = RankSVM(alpha, tol=1e-6).fit(
                X[train], y[train], observed=observed[train], sample_weight=weights[train]
            )
            expected = concordance_index(
                y[test], one.predict(X[test]), observed=observed[test], sample_weight=weights[test]
            )
            assert model.scores_[k, fold] == pytest.approx(expected, abs=2e-3)
    with pytest.raises(ValueError, match="has no parameter for what is observed"):
        RankSVMCV(scoring="ndcg@5").fit(X, y, observed=observed)


def test_a_truncation_beyond_a_fold_is_told_from_one_beyond_all_rows():
    X, y, observed = make()
    folds = list(KFold(3).split(X))
    lasts = [y[test][observed[test]].max() for _, test in folds]
    tau = max(lasts)
    concordance_index(y, X[:, 0], observed=observed, truncation=tau)  # valid for all rows
    first = next(last for last in lasts if last < tau)
    told = rf"the rows that are scored is {first:g}: .* In a cross-validation, these are the rows that a fold holds out"
    with pytest.raises(ValueError, match=told):
        RankSVMCV([0.1], cv=folds, scoring=f"concordance:truncation={tau}").fit(X, y, observed=observed)


def test_scikit_learn_routes_it():
    X, y, observed = make()
    folds = KFold(4)
    expected = [
        concordance_index(
            y[test],
            RankSVM().fit(X[train], y[train], observed=observed[train]).predict(X[test]),
            observed=observed[test],
        )
        for train, test in folds.split(X)
    ]
    np.testing.assert_array_equal(cross_val_score(RankSVM(), X, structured(y, observed), cv=folds), expected)
    scorer = make_ranking_scorer("concordance")
    found = cross_val_score(RankSVM(), X, structured(y, observed), cv=folds, scoring=scorer)
    np.testing.assert_array_equal(found, expected)
    with sklearn.config_context(enable_metadata_routing=True):
        for scoring in (None, scorer):
            found = cross_val_score(RankSVM(), X, y, cv=folds, scoring=scoring, params={"observed": observed})
            np.testing.assert_array_equal(found, expected)
        pipeline = make_pipeline(StandardScaler(), RankSVM()).fit(X, y, observed=observed)
        assert pipeline.score(X, y, observed=observed) > 0.7
    basis = make_pipeline(NystromMap(Gaussian(0.1), 20), RankRLS()).fit(X, structured(y, observed))
    assert basis.score(X, structured(y, observed)) > 0.7


def test_scores_that_scikit_learn_computes_without_it_warn():
    X, y, observed = make()
    scorer = make_ranking_scorer("concordance")
    for model in (RankSVM(), RankRLS(), RankSVMCV(2, cv=3), make_pipeline(StandardScaler(), RankSVM())):
        name = "observed" if hasattr(model, "fit_pairs") else "ranksvm__observed"
        model.fit(X, y, **{name: observed})
        for score in (model.score, lambda X, y, model=model: scorer(model, X, y)):
            with pytest.warns(MissingObservedWarning, match="was fitted with observed but is scored without"):
                score(X, y)
            score(X, structured(y, observed))
            score(X, structured(y, True))
    search = GridSearchCV(RankSVM(), {"alpha": [0.1, 1.0]}, cv=2)
    with pytest.warns(MissingObservedWarning, match="scikit-learn has dropped it"):
        search.fit(X, y, observed=observed)
    search.fit(X, structured(y, observed)).score(X, structured(y, observed))
    RankSVM().fit(X, y, observed=observed).fit(X, y).score(X, y)  # of the last fit
    RankRLS().fit(X, y, observed=observed).fit(X, y).score(X, y)


def test_two_boolean_columns_are_two_outputs():
    X, y, observed = make()
    both = pd.DataFrame({"one": observed, "two": y > 0})
    for model in (RLS(), RankRLS()):
        np.testing.assert_array_equal(model.fit(X, both).coef_, model.fit(X, both.to_numpy(float)).coef_)


def test_what_does_not_know_censoring_says_so():
    X, y, observed = make()
    with pytest.raises(ValueError, match="has no parameter for what is observed"):
        RankSVMCV(scoring="auc", cv=3).fit(X, structured(y, observed))
    for estimator in (RLS(), RankRLSCV(), GreedyRankRLS(2), OrdinalSVM(), RankingClassifier()):
        with pytest.raises(ValueError, match="Censored utilities are for RankSVM"):
            estimator.fit(X, structured(y, observed))
    frame = pd.DataFrame({"died": observed, "years": y})
    for estimator in (RLS(), RankRLSCV(), GreedyRankRLS(2)):  # not as two outputs
        with pytest.raises(ValueError, match="Censored utilities are for RankSVM"):
            estimator.fit(X, frame)
    for estimator in (OrdinalSVM(), RankingClassifier()):
        with pytest.raises(ValueError, match="1d array"):
            estimator.fit(X, frame)


def test_a_store_of_rows(tmp_path):
    X, y, observed = make()
    store = RowStore.write(tmp_path / "store", [(X, y)])
    found = RankSVM(tol=1e-6).fit(store, observed=observed)
    expected = RankSVM(tol=1e-6).fit(X, y, observed=observed)
    assert found.n_pairs_ == expected.n_pairs_
    assert abs(found.objective_ - expected.objective_) <= found.gap_ + expected.gap_
    assert found.score(store, observed=observed) == pytest.approx(expected.score(X, y, observed=observed), abs=1e-3)


def test_nothing_to_learn_from():
    X, y, observed = make()
    for estimator in (RankSVM(), RankRLS(), RankSVM(loss="squared_hinge")):
        with pytest.raises(NoComparablePairsError, match="Check y, observed"):
            estimator.fit(X, y, observed=np.zeros(len(y), bool))
        with pytest.raises(NoComparablePairsError):  # the only observed row is the last one
            estimator.fit(X[:3], [1, 2, 3], observed=[0, 0, 1])
    with pytest.raises(ValueError, match="y has squares that are no float64 numbers"):
        RankRLS().fit(X, 1e200 * y, observed=observed)
    with pytest.raises(ValueError, match="observed must have one element"):
        RankSVM().fit(X, y, observed=observed[1:])


@pytest.mark.parametrize("options", [{"kernel": "gaussian"}, {"n_basis": 5}, {"solver": "direct"}])
def test_least_squares_that_need_a_closed_form(options):
    X, y, observed = make()
    with pytest.raises(ValueError, match="Censored rows"):
        RankRLS(**options).fit(X, y, observed=observed)
    with pytest.raises(ValueError, match='cost="relative"'):
        RankRLS(cost="relative").fit(X, y, observed=observed)
    with pytest.raises(ValueError, match="no decomposition"):
        RankRLS().fit(X, y, observed=observed).path([1.0])
