"""RankSVM with kernels: the same problem in the space of the kernel."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import pairwise_hinge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from kernelrank import NystromMap, RankSVM, RankSVMCV
from kernelrank.kernels import Gaussian, Linear, Polynomial
from kernelrank.metrics import concordance_index


def data(rng, m=60, n=3):
    X = rng.normal(size=(m, n))
    return X, np.round(2 * np.hypot(X[:, 0], X[:, 1]) + 0.3 * rng.normal(size=m))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", [Gaussian(0.5), Polynomial(2), Linear() + Gaussian(0.1)])
def test_it_is_the_linear_one_of_the_map(rng, loss, kernel):
    X, y = data(rng)
    qid = np.arange(60) // 12
    tol = 1e-6 if loss == "hinge" else 1e-9  # two ways to one solution
    model = RankSVM(0.01, loss=loss, kernel=kernel, tol=tol).fit(X, y, qid=qid)
    assert not hasattr(model, "coef_")
    assert model.gap_ <= tol
    reference = make_pipeline(NystromMap(kernel, 60), RankSVM(0.01, loss=loss, tol=tol))
    reference.fit(X, y, ranksvm__qid=qid)
    np.testing.assert_allclose(model.predict(X[:7]), reference.predict(X[:7]), rtol=1e-6, atol=1e-8)
    assert model.objective_ == pytest.approx(reference[-1].objective_)


def test_the_objective_is_that_of_the_function(rng):
    X, y = data(rng)
    model = RankSVM(0.01, kernel=Gaussian(0.5)).fit(X, y)
    K, scores = Gaussian(0.5)(X), model.predict(X)
    norm = model.dual_coef_ @ K @ model.dual_coef_
    assert pairwise_hinge(y, scores) + 0.01 * norm == pytest.approx(model.objective_, rel=1e-9)
    # No other function is better by more than the gap.
    for _ in range(200):
        other = model.dual_coef_ + 0.01 * rng.normal(size=60) * rng.choice([1e-3, 1e-2, 0.1, 1.0])
        assert pairwise_hinge(y, K @ other) + 0.01 * other @ K @ other >= model.objective_ - model.gap_ - 1e-12


def test_a_linear_kernel_by_another_name(rng):
    X, y = data(rng)
    linear = RankSVM(0.1, tol=1e-8).fit(X, y)
    other = RankSVM(0.1, kernel=1.0 * Linear(), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        other.predict(X) - other.predict(X)[0], linear.predict(X) - linear.predict(X)[0], atol=1e-3
    )
    assert other.objective_ == pytest.approx(linear.objective_, abs=2e-8)


def test_reduced_sets(rng):
    X, y = data(rng, m=200)
    model = RankSVM(0.001, kernel="gaussian", n_basis=30).fit(X, y)
    assert model.basis_.shape == (30, 3)
    np.testing.assert_array_equal(model.basis_, X[model.basis_indices_])
    assert model.score(X, y) > 0.85 > RankSVM(0.001).fit(X, y).score(X, y)
    sparse = RankSVM(0.001, kernel=model.kernel_, n_basis=30).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), model.predict(X), atol=1e-2)
    pairs = np.argwhere(y[:, None] > y)[::7]
    assert RankSVM(0.001, kernel="gaussian", n_basis=30).fit_pairs(X, pairs).score(X, y) > 0.85
    with pytest.raises(ValueError, match="n_basis is for non-linear"):
        RankSVM(n_basis=3).fit(X, y)


def test_precomputed_kernels(rng):
    X, y = data(rng)
    K = Gaussian(0.5)(X)
    reference = RankSVM(0.01, kernel=Gaussian(0.5)).fit(X, y)
    given = RankSVM(0.01, kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(given.predict(K[:5]), reference.predict(X[:5]), rtol=1e-6, atol=1e-8)
    assert not hasattr(given, "basis_")
    few = RankSVM(0.01, kernel="precomputed", n_basis=10).fit(K, y)
    assert np.count_nonzero(few.dual_coef_) == 10
    search = GridSearchCV(RankSVM(kernel="precomputed"), {"alpha": [0.01, 0.1]}, cv=3).fit(K, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_memory_is_asked_for(rng, monkeypatch):
    X, y = data(rng, m=400)
    monkeypatch.setattr("kernelrank._memory.available_memory", lambda: 2**20)
    with pytest.raises(MemoryError, match="n_basis"):
        RankSVM(kernel="gaussian").fit(X, y)
    RankSVM(kernel="gaussian", n_basis=20).fit(X, y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("n_basis", [None, 15])
def test_cross_validation_never_sees_basis_rows_of_a_fold(rng, loss, n_basis):
    X, y = data(rng, m=50)
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    alphas = [0.1, 0.001]
    model = RankSVMCV(alphas, cv=folds, loss=loss, kernel=Gaussian(0.5), n_basis=n_basis, tol=1e-7).fit(X, y)
    basis = np.arange(50) if n_basis is None else model.basis_indices_
    for number, (train, test) in enumerate(folds):
        nystrom = NystromMap(Gaussian(0.5), selection=np.intersect1d(basis, train)).fit(X)
        features = nystrom.transform(X)
        for k, alpha in enumerate(alphas):
            refit = RankSVM(alpha, loss=loss, tol=1e-7).fit(features[train], y[train])
            score = concordance_index(y[test], refit.predict(features[test]))
            assert model.scores_[k, number] == pytest.approx(score, abs=0.02)
    best = list(model.alphas_).index(model.alpha_)
    np.testing.assert_array_equal(model.coef_path_[best], model.dual_coef_)
    single = RankSVM(model.alpha_, loss=loss, kernel=Gaussian(0.5), n_basis=n_basis, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(model.predict(X), single.predict(X), atol=5e-3)


def test_held_out_basis_rows_matter(rng):
    """Groups of almost equal rows: a basis row of the fold is a neighbour of its rows."""
    centres = rng.normal(size=(40, 4))
    groups = np.repeat(np.arange(40), 5)
    X = centres[groups] + 0.05 * rng.normal(size=(200, 4))
    y = rng.normal(size=40)[groups] + 0.1 * rng.normal(size=200)  # no new group can be predicted
    honest = RankSVMCV([1e-4], kernel=Gaussian(1.0)).fit(X, y, groups=groups)
    assert abs(honest.scores_.mean() - 0.5) < 0.15
