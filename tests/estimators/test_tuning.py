"""Kernels are tuned one way, whoever searches; pairs and validation sets choose alpha as rows in folds do."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, PredefinedSplit

from kernelrank import NystromMap, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.kernels import Gaussian, Linear, Polynomial
from kernelrank.persistence import load_model, save_model

ALPHAS = [1.0, 0.1, 0.01]


def rings(rng, m=90):
    """Return rows whose utility is no linear function of them."""
    X = rng.normal(size=(m, 2))
    return X, np.hypot(*X.T) + 0.1 * rng.normal(size=m)


# Parameters of kernels by name


@pytest.mark.parametrize("model", [RankSVM(), RankSVMCV(), RankRLS(), RankRLSCV(), NystromMap()])
def test_a_name_has_the_parameters_of_its_kernel(model):
    changed = clone(model).set_params(kernel="gaussian", kernel__gamma=0.5)
    assert repr(changed.kernel) == "Gaussian(gamma=0.5)"
    assert clone(changed).set_params(kernel__gamma=2.0).kernel.gamma == 2.0
    assert changed.kernel.gamma == 0.5


def test_a_search_over_gamma_takes_the_name_of_the_kernel(rng):
    X, y = rings(rng)
    grid = {"kernel__gamma": [1e-3, 1.0], "alpha": [0.1]}
    by_name, by_object = (GridSearchCV(RankSVM(kernel=k), grid, cv=3).fit(X, y) for k in ("gaussian", Gaussian()))
    np.testing.assert_array_equal(by_name.cv_results_["mean_test_score"], by_object.cv_results_["mean_test_score"])
    assert by_name.best_params_["kernel__gamma"] == 1.0


@pytest.mark.parametrize("kernel", ["linear", "laplacian", "precomputed", len, [Gaussian()], Gaussian() + Linear()])
def test_a_kernel_without_such_a_parameter_is_an_error_that_shows_one_with_it(kernel):
    with pytest.raises(
        ValueError, match=r"kernel__gamma cannot be set: .*no parameter 'gamma'.*Gaussian\(gamma=1\.0\)"
    ):
        RankSVM(kernel=kernel).set_params(kernel__gamma=1.0)


@pytest.mark.parametrize(("name", "same"), [("rbf", "gaussian"), ("poly", "polynomial")])
def test_kernels_of_scikit_learn_name_ours_that_can_be_tuned(name, same):
    with pytest.raises(ValueError, match=f"Use kernel='{same}', which is the same kernel with parameters"):
        RankSVM(kernel=name).set_params(kernel__gamma=0.5)
    assert RankSVM(kernel=same).set_params(kernel__gamma=0.5).kernel.gamma == 0.5


def test_parts_of_sums_are_reached():
    model = RankSVM(kernel=Gaussian() + Linear()).set_params(kernel__left__gamma=3.0)
    assert model.kernel.left.gamma == 3.0


# Several kernels


@pytest.mark.parametrize(("loss", "n_basis"), [("hinge", None), ("squared_hinge", None), ("hinge", 20)])
def test_the_best_kernel_is_that_of_separate_searches(rng, loss, n_basis):
    X, y = rings(rng)
    kernels = [Gaussian(0.01), Gaussian(1.0), Polynomial(2)]
    settings = {"cv": 3, "loss": loss, "n_basis": n_basis}
    model = RankSVMCV(ALPHAS, kernel=kernels, **settings).fit(X, y)
    apart = [RankSVMCV(ALPHAS, kernel=kernel, **settings).fit(X, y) for kernel in kernels]
    np.testing.assert_array_equal(model.kernel_scores_, [each.scores_.mean(axis=1).max() for each in apart])
    best = apart[int(np.argmax(model.kernel_scores_))]
    assert repr(model.kernel_) == repr(best.kernel_)
    for name in ("alphas_", "scores_", "coef_path_", "dual_coef_", "basis_", "gaps_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(best, name))
    np.testing.assert_array_equal(model.predict(X), best.predict(X))


def test_basis_and_folds_are_drawn_once(rng):
    X, y = rings(rng)
    kernels = [Gaussian(1.0), Gaussian(1.0)]
    model = RankSVMCV(ALPHAS, kernel=kernels, n_basis=15, random_state=np.random.RandomState(3)).fit(X, y)
    assert model.kernel_scores_[0] == model.kernel_scores_[1]


def test_a_linear_kernel_may_be_one_of_several(rng, tmp_path):
    X, _ = rings(rng)
    model = RankSVMCV(ALPHAS, kernel=["gaussian", "linear"], n_basis=10, cv=3).fit(X, X @ [1.0, 2.0])
    alone = RankSVMCV(ALPHAS, cv=3).fit(X, X @ [1.0, 2.0])
    assert isinstance(model.kernel_, Linear)
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    save_model(model, tmp_path / "model.kr")
    loaded = load_model(tmp_path / "model.kr")
    np.testing.assert_array_equal(loaded.kernel_scores_, model.kernel_scores_)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert not hasattr(model.set_params(kernel="linear", n_basis=None).fit(X, X[:, 0]), "kernel_scores_")


def test_bad_lists_of_kernels(rng):
    X, y = rings(rng, 30)
    with pytest.raises(ValueError, match="kernel is an empty list"):
        RankSVMCV(kernel=[]).fit(X, y)
    with pytest.raises(ValueError, match='kernel="precomputed" cannot be one of several'):
        RankSVMCV(kernel=["gaussian", "precomputed"]).fit(X, y)
    with pytest.raises(ValueError, match="gamma must be a positive number") as caught:
        RankSVMCV(kernel=[Gaussian(1.0), Gaussian(-1.0)]).fit(X, y)
    assert "one of 2 to choose from" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="positive=True is for the linear kernel"):
        RankSVMCV(kernel=["linear", "gaussian"], positive=True).fit(X, y)


# Pairs


def preferences(rng, m=60, n_pairs=400):
    X = rng.normal(size=(m, 3))
    pairs = np.array([rng.choice(m, 2, replace=False) for _ in range(n_pairs)])
    utility = X @ [2.0, 1.0, 0.0]
    wrong = utility[pairs[:, 0]] + rng.normal(size=n_pairs) < utility[pairs[:, 1]]
    pairs[wrong] = pairs[wrong, ::-1]
    return X, pairs


def accuracy(model, X, pairs, weight=None):
    winners, losers = model.predict(X)[pairs.T]
    return np.average((winners > losers) + 0.5 * (winners == losers), weights=weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_folds_of_pairs_are_those_of_separate_fits(rng, weighted):
    X, pairs = preferences(rng)
    weight = rng.uniform(0.5, 2.0, len(pairs)) if weighted else None
    folds = list(KFold(3).split(pairs))
    model = RankSVMCV(ALPHAS, cv=folds, tol=1e-7, max_iter=5000).fit_pairs(X, pairs, weight=weight)
    for k, alpha in enumerate(ALPHAS):
        for f, (train, test) in enumerate(folds):
            w_train, w_test = (None, None) if weight is None else (weight[train], weight[test])
            single = RankSVM(alpha, tol=1e-7, max_iter=5000).fit_pairs(X, pairs[train], weight=w_train)
            # Within the tolerance, scores of two rows may change places.
            assert model.scores_[k, f] == pytest.approx(accuracy(single, X, pairs[test], w_test), abs=0.01)
    whole = RankSVM(model.alpha_).fit_pairs(X, pairs, weight=weight)
    assert model.n_pairs_ == pytest.approx(whole.n_pairs_)
    assert model.objective_ == pytest.approx(whole.objective_, abs=1e-3)


def test_rows_that_are_tested_are_in_no_pair_that_is_trained_on(rng):
    X, pairs = preferences(rng)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    model = RankSVMCV(ALPHAS, cv=folds, tol=1e-7, max_iter=5000).fit_pairs(X, pairs, groups=np.arange(len(X)))
    for f, (train, test) in enumerate(folds):
        inside, outside = (np.isin(pairs, rows).all(axis=1) for rows in (test, train))
        single = RankSVM(0.1, tol=1e-7, max_iter=5000).fit_pairs(X, pairs[outside])
        assert model.scores_[1, f] == pytest.approx(accuracy(single, X, pairs[inside]), abs=0.02)


def test_queries_of_pairs_are_held_out_whole_and_count_the_same(rng):
    X, pairs = preferences(rng)
    qid = np.arange(len(X)) // 10
    pairs = pairs[qid[pairs[:, 0]] == qid[pairs[:, 1]]]
    folds = list(GroupKFold(3).split(X, groups=qid))
    model = RankSVMCV([0.1], cv=3).fit_pairs(X, pairs, qid=qid)
    for f, (train, test) in enumerate(folds):
        trained = pairs[np.isin(pairs, train).all(axis=1)]
        single = RankSVM(0.1).fit_pairs(X, trained, qid=qid)
        held_out = [pairs[qid[pairs[:, 0]] == q] for q in np.unique(qid[test])]
        expected = np.mean([accuracy(single, X, each) for each in held_out if len(each)])
        assert model.scores_[0, f] == pytest.approx(expected, abs=0.02)
    assert model._fitted_with_queries


def test_comparisons_of_the_same_rows_stay_together(rng):
    """Contradicting copies would otherwise tell a fold the opposite of what it is tested on."""
    X = rng.normal(size=(40, 40))  # a model can learn every row by heart
    base = rng.permutation(40).reshape(20, 2)
    pairs = np.concatenate([base, base])
    model = RankSVMCV([1e-3], cv=5, max_iter=5000).fit_pairs(X, pairs)
    torn = RankSVMCV([1e-3], cv=[(np.arange(20), np.arange(20, 40))], max_iter=5000).fit_pairs(X, pairs)
    assert torn.scores_[0, 0] == 1.0
    assert model.scores_.mean() < 0.9


def test_basis_rows_that_a_fold_has_not_seen_are_taken_out(rng):
    X, pairs = preferences(rng, m=30, n_pairs=200)
    folds = [(np.arange(20), np.arange(20, 30))]
    settings = {"kernel": Gaussian(0.3), "n_basis": 15, "tol": 1e-7, "max_iter": 5000}
    model = RankSVMCV([0.1], cv=folds, **settings).fit_pairs(X, pairs, groups=np.arange(30))
    seen = np.isin(pairs, np.arange(20)).all(axis=1)
    basis = np.sort(np.random.RandomState(0).permutation(30)[:15])
    features = NystromMap(Gaussian(0.3), selection=basis[basis < 20]).fit(X).transform(X)
    single = RankSVM(0.1, tol=1e-7, max_iter=5000).fit_pairs(features, pairs[seen])
    tested = (pairs >= 20).all(axis=1)
    assert model.scores_[0, 0] == pytest.approx(accuracy(single, features, pairs[tested]), abs=0.05)


def test_pairs_that_cannot_be_used(rng):
    X, pairs = preferences(rng, m=20, n_pairs=30)
    with pytest.raises(ValueError, match="scoring is for utilities"):
        RankSVMCV(scoring="ndcg").fit_pairs(X, pairs)
    with pytest.raises(ValueError, match=r"pairs\[0\] is \[0, 99\]"):
        RankSVMCV().fit_pairs(X, [[0, 99]])
    for few in ([[3, 0], [0, 7], [7, 5]], [[3, 0], [0, 3], [0, 7], [7, 5], [7, 5]]):  # pairs of the same rows are one
        with pytest.raises(ValueError, match=r"cv asks for 5 folds of 3 different pairs: use fewer folds\."):
            RankSVMCV().fit_pairs(X, few)
    with pytest.raises(NoComparablePairsError, match="Fold 0 cannot be trained on"):
        RankSVMCV(cv=[(np.arange(2), np.arange(10, 20))]).fit_pairs(X, [[12, 13]], groups=np.arange(20))


# Validation sets


def test_a_validation_set_chooses(rng):
    X, y = rings(rng, 120)
    qid = np.arange(120) // 6
    validation = qid >= 15
    model = RankSVMCV(ALPHAS, cv=PredefinedSplit(np.where(validation, 0, -1)), scoring="kendall").fit(X, y, qid=qid)
    assert model.scores_.shape == (3, 1)
    single = [RankSVM(a).fit(X[~validation], y[~validation], qid=qid[~validation]) for a in ALPHAS]
    expected = [2 * each.score(X[validation], y[validation], qid=qid[validation]) - 1 for each in single]
    np.testing.assert_allclose(model.scores_[:, 0], expected, atol=0.03)  # solutions within tol order some pairs anew
    assert model.n_pairs_ == 20 * 15  # the model is trained on all rows
