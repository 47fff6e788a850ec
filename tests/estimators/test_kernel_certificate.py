"""The certificate of a kernel model bounds the problem that was posed, whatever the norms of the rows."""

import warnings

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from kernelrank import OrdinalSVM, RankRLS, RankSVM, RankSVMCV
from kernelrank.exceptions import ConvergenceWarning
from kernelrank.kernels import Gaussian, Linear, NamedKernel, Polynomial

losses = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])


def data(rng, scale, m=60):
    X = rng.normal(size=(m, 2)) * [1, scale]
    return X, X[:, 0] + 0.3 * rng.normal(size=m)


def squares_and_products(X):
    """Features whose inner products are those of ``Polynomial(2)``, but for the constant one."""
    a, b = X.T
    return np.stack([np.sqrt(2) * a, np.sqrt(2) * b, a * a, b * b, np.sqrt(2) * a * b], axis=1)


@losses
@pytest.mark.parametrize("scale", [1, 10, 100, 300])
def test_rows_of_different_norm(rng, loss, scale):
    """Their kernels span ten orders of magnitude, and a map that drops small ones would lose what matters."""
    X, y = data(rng, scale)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rounding alone may be more than tol
        model = RankSVM(kernel=Polynomial(2), loss=loss).fit(X, y)
    exact = RankSVM(loss=loss, tol=1e-6, max_iter=5000).fit(squares_and_products(X), y)
    assert model.objective_ - model.gap_ <= exact.objective_
    assert model.objective_ >= exact.objective_ - exact.gap_
    assert model.objective_ <= exact.objective_ + 1e-3
    assert model.gap_ < 0.01
    np.testing.assert_allclose(model.score(X, y), exact.score(squares_and_products(X), y), atol=0.02)


@losses
def test_it_says_where_float64_does_not_suffice(loss):
    X, y = data(np.random.default_rng(0), 1000)
    with pytest.warns(ConvergenceWarning, match="float64 can do no more.*standardise the features"):
        model = RankSVM(kernel=Polynomial(2), loss=loss).fit(X, y)
    exact = RankSVM(loss=loss, tol=1e-6, max_iter=5000).fit(squares_and_products(X), y)
    assert model.objective_ - model.gap_ <= exact.objective_
    assert model.objective_ == pytest.approx(exact.objective_, abs=2e-3)  # with a map: 0.62 and 0.71


def test_the_bound_on_rounding_holds(rng):
    """Kernel matrices of slightly moved rows are as wrong as rounded ones; optima differ by less than the bound."""
    X, y = data(rng, 300)
    K = Polynomial(2)(X)
    norms = np.sqrt(np.diagonal(K))
    noise = rng.uniform(-1, 1, size=K.shape) * np.finfo(float).eps * np.outer(norms, norms)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = [RankSVM(kernel="precomputed").fit(M, y) for M in (K, K + (noise + noise.T) / 2)]
    for one, other in (found, found[::-1]):
        assert one.objective_ - one.gap_ <= other.objective_


def test_other_estimators_share_it(rng):
    X, y = data(rng, 100)
    exact = RankSVM().fit(squares_and_products(X), y).objective_
    path = RankSVMCV([1e-2, 1e-3], kernel=Polynomial(2), cv=2).fit(X, y)
    best = RankSVM(path.alpha_, kernel=Polynomial(2)).fit(X, y)
    assert abs(path.objective_ - best.objective_) <= 2e-3
    assert RankSVM(kernel=Polynomial(2), n_basis=60).fit(X, y).objective_ == pytest.approx(exact, abs=2e-3)
    classes = np.digitize(y, [-0.5, 0.5])
    ordinal = OrdinalSVM(kernel=Polynomial(2)).fit(X, classes)
    assert abs(ordinal.objective_ - OrdinalSVM().fit(squares_and_products(X), classes).objective_) <= 2e-3


def test_least_squares_of_all_rows_is_exact(rng):
    X, y = data(rng, 1000)
    whole, reduced = (RankRLS(kernel=Polynomial(2), n_basis=n).fit(X, y) for n in (None, 60))
    np.testing.assert_array_equal(reduced.predict(X), whole.predict(X))
    np.testing.assert_array_equal(reduced.basis_indices_, np.arange(60))


@losses
def test_a_scale_of_all_rows_makes_no_difference(rng, loss):
    """Multiply the kernel by a power of two, and alpha with it: the same problem, to the last bit of its scores."""
    X, y = data(rng, 1)
    one, other = (
        RankSVM(0.01 * factor, kernel=factor * Gaussian(0.5), loss=loss).fit(X, y) for factor in (1.0, 2.0**40)
    )
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-6, atol=1e-9)


def test_dependent_rows_are_no_reduced_set(rng):
    """Copies of rows have coefficients of their own."""
    X, y = data(rng, 1, m=40)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    model = RankSVM(0.01, kernel=Gaussian(0.5)).fit(X, y)
    assert model.dual_coef_.shape == (80,)
    np.testing.assert_array_equal(model.dual_coef_[::2], model.dual_coef_[1::2])


def test_a_matrix_that_is_no_kernel_is_refused(rng):
    X, y = data(rng, 1)
    with pytest.raises(ValueError, match="negative eigenvalues"):
        RankSVM(kernel=lambda X, Y: -(X @ Y.T)).fit(X, y)
    with pytest.raises(ValueError, match="negative eigenvalues"):
        RankSVM(kernel=Gaussian(1.0) + NamedKernel("sigmoid")).fit(10 * X, y)
    with pytest.raises(ValueError, match="symmetric"):
        RankSVM(kernel="precomputed").fit(rng.normal(size=(60, 60)), y)
    with pytest.raises(ValueError, match=r"square.*\(60, 2\)"):
        RankSVM(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="not finite"):
        RankSVM(kernel=Polynomial(5)).fit(1e100 * X, y)


def test_a_zero_kernel_orders_nothing(rng):
    X, y = np.zeros((20, 2)), rng.normal(size=20)
    for loss in ("hinge", "squared_hinge"):
        model = RankSVM(kernel=1.0 * Linear(), loss=loss).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), 0.0)
        assert model.objective_ == 1.0


def test_standardised_features_need_no_warning(rng):
    X, y = data(rng, 1000)
    model = RankSVM(kernel=Polynomial(2)).fit(StandardScaler().fit_transform(X), y)
    assert model.gap_ <= model.tol
