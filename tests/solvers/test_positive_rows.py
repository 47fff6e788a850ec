"""Few rows with many features, no weight negative: the same minimum as in the space of the features."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import pairwise_squared_hinge, squared_hinge_gradient
from scipy.optimize import minimize

from kernelrank import RankSVM, RankSVMCV
from kernelrank.estimators._representation import represent
from kernelrank.estimators._svm_solver import make_solver
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import PositiveRows, WideProducts, make_products

both_losses = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])


def data(rng, m=20, n=300):
    X = rng.normal(size=(m, n))
    return X, X[:, :5].sum(axis=1) + 0.3 * rng.normal(size=m)


def solver_of(products, y, loss, **options):
    return make_solver(products, UtilityPairs(y), loss=loss, query_weighting="query", positive=True, **options)


def in_rows(X, y, loss, **options):
    solver = solver_of(represent(X, "linear", None, 0, n_threads=1).products, y, loss, **options)
    assert isinstance(solver, PositiveRows)
    return solver


def in_features(X, y, loss):
    """The solver that works with all features, which has oracles of its own."""
    return solver_of(make_products(X), y, loss)


def check_same_minimum(one, other):
    """No lower bound is above an objective, but for the last digits of sums of terms of about 1."""
    assert one.lower_bound <= other.objective + 1e-14
    assert other.lower_bound <= one.objective + 1e-14


def squared_hinge_optimum(X, y, alpha):
    found = minimize(
        lambda w: pairwise_squared_hinge(y, X @ w) + alpha * w @ w,
        np.zeros(X.shape[1]),
        jac=lambda w: X.T @ squared_hinge_gradient(y, X @ w) + 2 * alpha * w,
        method="L-BFGS-B",
        bounds=[(0, None)] * X.shape[1],
        options={"ftol": 0, "gtol": 1e-9, "maxiter": 5000, "maxfun": 5000},
    )
    return found.fun


@both_losses
@pytest.mark.parametrize("alpha", [10.0, 0.1, 1e-3, 1e-5])
def test_the_minimum_is_that_over_all_features(rng, loss, alpha):
    X, y = data(rng)
    found = in_rows(X, y, loss).minimize(alpha, tol=1e-6)
    other = in_features(X, y, loss).minimize(alpha, tol=1e-6)
    assert found.converged
    assert found.gap <= found.goal
    assert (found.w >= 0).all()
    check_same_minimum(found, other)
    np.testing.assert_allclose(X @ found.w - found.scores, (X @ found.w - found.scores)[0], atol=1e-9)


@both_losses
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_wide_rows_converge(rng, loss, storage):
    X, y = data(rng, n=2000)
    model = RankSVM(1e-3, loss=loss, positive=True).fit(storage(X), y)  # a warning would be an error
    assert model.gap_ <= model.history_["goal"][-1]
    if loss == "squared_hinge":
        best = squared_hinge_optimum(X, y, 1e-3)
        assert model.objective_ - model.gap_ <= best + 1e-12
        assert model.objective_ >= best - 1e-9  # as far as L-BFGS-B gets
    # A method that changes one feature at a time takes tens of thousands.
    assert model.history_["n_products"][-1] < 5000


@both_losses
def test_bounds_close_in(rng, loss):
    X, y = data(rng)
    history = in_rows(X, y, loss).minimize(1e-3, tol=1e-8).history
    assert (np.diff(history["upper_bound"]) <= 1e-15).all()
    assert (np.diff(history["lower_bound"]) >= 0).all()
    assert (history["lower_bound"] <= history["upper_bound"]).all()


@both_losses
def test_the_plane_proves_the_bound(rng, loss):
    X, y = data(rng)
    found = in_rows(X, y, loss).minimize(0.01)
    slope, offset = found.plane
    bound = offset - (np.minimum(slope, 0.0) ** 2).sum() / (4 * 0.01)
    assert found.lower_bound == pytest.approx(bound, abs=1e-9)
    for w in np.maximum(rng.normal(size=(20, 300)), 0.0) * found.w.max():
        risk = in_rows(X, y, loss, start=w)._best.risk.value
        assert risk >= slope @ w + offset - 1e-12


@both_losses
def test_one_alpha_after_the_other_and_a_start(rng, loss):
    X, y = data(rng)
    path = in_rows(X, y, loss)
    for alpha in (1.0, 1e-2, 1e-4, 1e-1):
        found, alone = path.minimize(alpha, tol=1e-5), in_rows(X, y, loss).minimize(alpha, tol=1e-5)
        assert found.converged
        check_same_minimum(found, alone)
    again = in_rows(X, y, loss, start=found.w).minimize(1e-1, tol=1e-5)
    assert again.converged
    assert again.history["upper_bound"][0] == pytest.approx(found.objective, rel=1e-12)


def test_the_gradient_of_a_smooth_loss_is_small(rng):
    X, y = data(rng)

    def norm(w):
        g = X.T @ squared_hinge_gradient(y, X @ w) + 2e-2 * w
        return np.linalg.norm(np.where((w > 0) | (g < 0), g, 0.0))

    for tol in (1e-3, 1e-6):
        w = in_rows(X, y, "squared_hinge").minimize(1e-2, tol=tol).w
        assert norm(w) <= tol * norm(np.zeros(300)) * (1 + 1e-6)


@both_losses
def test_queries_offsets_and_constant_columns(rng, loss):
    X, y = data(rng)
    qid = np.arange(20) % 3
    moved = X + 1e6 * rng.normal(size=(3, 300))[qid]
    moved[:, 7] = 1e6 * (1 + qid)
    X[:, 7] = 0.0
    reference = RankSVM(0.1, loss=loss, positive=True, tol=1e-6).fit(X, y, qid=qid)
    found = RankSVM(0.1, loss=loss, positive=True, tol=1e-6).fit(moved, y, qid=qid)
    assert found.coef_[7] == 0.0
    # Offsets of 1e6 cost six of sixteen digits.
    assert found.objective_ == pytest.approx(reference.objective_, abs=2e-6)
    np.testing.assert_allclose(found.coef_, reference.coef_, atol=2e-2 * reference.coef_.max())


@both_losses
def test_folds_and_paths(rng, loss):
    X, y = data(rng, n=400)
    dense, sparse = (
        RankSVMCV([1.0, 0.01], cv=3, loss=loss, positive=True, tol=1e-7).fit(storage(X), y)
        for storage in (np.asarray, sp.csr_array)
    )
    assert (dense.coef_path_ >= 0).all()
    assert (dense.gaps_ <= 1e-7).all()
    np.testing.assert_array_equal(dense.scores_, sparse.scores_)
    np.testing.assert_allclose(dense.coef_path_, sparse.coef_path_, atol=0.02 * sparse.coef_path_.max())


@both_losses
def test_no_feature_may_grow(loss):
    X = -np.arange(4.0)[:, None] * np.ones((4, 60))  # every feature falls with y
    model = RankSVM(loss=loss, positive=True).fit(X, [0, 1, 2, 3])
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert model.objective_ == 1.0
    assert model.gap_ == 0.0


def test_few_iterations_are_said_to_be_few(rng):
    X, y = data(rng)
    found = in_rows(X, y, "hinge").minimize(1e-3, max_iter=2)
    assert not found.converged
    assert not found.exhausted
    assert found.n_iter == 2
    assert found.lower_bound <= in_features(X, y, "hinge").minimize(1e-3, tol=1e-6).objective


def test_products_over_some_columns(rng):
    X, _ = data(rng)
    products = represent(X, "linear", None, 0, n_threads=1).products
    assert isinstance(products, WideProducts)
    centred = X - X.mean(axis=0)
    columns, signs = np.array([3, 100, 7]), np.array([1.0, -1.0, 1.0])
    expected = (centred[:, columns] * signs) @ centred[:, columns].T
    np.testing.assert_allclose(products.gram(columns, signs), expected, atol=1e-12)


def with_a_common_factor(rng, m, n):
    """Rows that have much in common, so that sets of positive features change slowly."""
    f = rng.normal(size=m)
    return rng.normal(size=(m, n)) + 5 * f[:, None], np.round(0.3 * f + rng.normal(size=m))


@both_losses
@pytest.mark.parametrize(("m", "n"), [(37, 404), (80, 400)])
def test_a_common_factor(rng, loss, m, n):
    """Both forms converge, without a warning, to the same minimum; in few iterations each."""
    X, y = with_a_common_factor(rng, m, n)
    dense, sparse = (RankSVM(loss=loss, positive=True).fit(Z, y) for Z in (X, sp.csr_array(X)))
    assert dense.objective_ == pytest.approx(sparse.objective_, abs=1e-3)
    assert max(dense.gap_, sparse.gap_) <= 1e-3
    assert max(dense.n_iter_, sparse.n_iter_) < 60
