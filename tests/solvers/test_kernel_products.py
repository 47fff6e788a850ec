"""Functions of a kernel as vectors with an inner product of their own, against explicit features."""

import numpy as np
import pytest

from kernelrank.kernels import Gaussian
from kernelrank.losses import PairwiseHinge, PairwiseSquaredHinge
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Bundle, LinearOracle, Newton, SmoothLinearOracle, make_kernel_products, make_products
from kernelrank.solvers._cuts import Cuts
from kernelrank.solvers._model import minimize_model
from kernelrank.solvers._simplex_qp import SimplexSolver


def features_of(K):
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def centred(rng, m, size=()):
    """Coefficients that sum to zero, as the slopes of every loss here do."""
    g = rng.normal(size=(*size, m))
    return g - g.mean(axis=-1, keepdims=True)


@pytest.mark.parametrize(("gamma", "accuracy"), [(0.5, 1e-12), (1e-8, 1e-6)])
def test_inner_products_and_scores_are_those_of_features(rng, gamma, accuracy):
    """With a small gamma the elements differ in their last eight digits only, and columns are shifted."""
    K = Gaussian(gamma)(rng.normal(size=(30, 3)))
    products, explicit = make_kernel_products(K), features_of(K)
    G = centred(rng, 30, (4,))
    functions = np.array([products.backward(g) for g in G])
    weights = G @ explicit
    scale = np.abs(weights @ weights.T).max()
    for f, w in zip(functions, weights, strict=True):
        np.testing.assert_allclose(products.inner(functions, f) / scale, weights @ w / scale, rtol=0, atol=accuracy)
        difference = products.forward(f) - explicit @ w
        np.testing.assert_allclose(difference, difference[0], atol=1e-10)  # a constant makes no difference


@pytest.mark.parametrize("n_threads", [1, 2])
def test_solvers_find_the_same_as_with_features(rng, n_threads):
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 6, 40)
    K, pairs = Gaussian(0.3)(X), UtilityPairs(y)
    explicit, kernel = make_products(features_of(K)), make_kernel_products(K, n_threads)
    one, other = (Bundle(LinearOracle(p, PairwiseHinge(pairs))).minimize(0.01, tol=1e-8) for p in (explicit, kernel))
    assert other.converged
    assert other.objective == pytest.approx(one.objective, abs=2e-8)
    smooth = [Newton(SmoothLinearOracle(p, PairwiseSquaredHinge(pairs))) for p in (explicit, kernel)]
    for alpha in (0.1, 0.01, 1e-4):
        one, other = (solver.minimize(alpha, tol=1e-8) for solver in smooth)
        assert other.converged
        assert other.objective == pytest.approx(one.objective, rel=1e-8)
        np.testing.assert_allclose(other.w[:40] @ K, other.w[40:], atol=1e-9)  # coefficients and values


def test_the_rounding_of_a_matrix_is_bounded(rng):
    """Elements that are wrong in their last digits change squared norms by no more than is said."""
    X = rng.normal(size=(50, 4)) * [1, 10, 100, 1000]
    K = (X @ X.T + 1) ** 2
    exact = (X.astype(np.longdouble) @ X.T.astype(np.longdouble) + 1) ** 2
    products = make_kernel_products(K)
    for g in centred(rng, 50, (20,)):
        f = products.backward(g)
        true = float(g.astype(np.longdouble) @ exact @ g.astype(np.longdouble))
        assert abs(products.inner(f, f) - true) <= products.rounding(f)


def test_lower_bounds_count_the_rounding_of_the_kernel(rng):
    """Elements of K that are all but equal leave few digits to the norm of a function."""
    K = Gaussian(1e-12)(rng.normal(size=(30, 3)))
    oracle = LinearOracle(make_kernel_products(K), PairwiseHinge(UtilityPairs(rng.normal(size=30))))
    cuts, slope = Cuts(oracle, most=10), oracle.subgradient(centred(rng, 30))
    cuts.add(slope, 1.0)
    square, rounding = float(oracle.inner(slope, slope)), oracle.inner_rounding(slope)
    assert rounding > 1e-4 * square
    found = minimize_model(cuts, square, 1e-6, SimplexSolver())  # where the plane is used in full
    assert found.value == pytest.approx(1 - (square + rounding) / (4 * square), rel=1e-9)
    assert found.rounding == pytest.approx(rounding / (4 * square))


def test_lower_bounds_hold_where_coefficients_and_values_have_drifted_apart(rng):
    """As after many steps, each of which rounds both."""
    X, alpha = rng.normal(size=(30, 3)), 1e-2
    K, loss = Gaussian(0.5)(X), PairwiseSquaredHinge(UtilityPairs(X[:, 0] + rng.normal(size=30)))
    oracle = SmoothLinearOracle(make_kernel_products(K), loss)
    best = Newton(oracle).minimize(alpha, tol=1e-10)
    for drift in rng.normal(size=(40, 30)) * 1e-3:
        start = best.w + np.append(np.zeros(30), drift)
        found = Newton(oracle, start=start).minimize(alpha, tol=1e-10, max_iter=1)
        assert found.lower_bound <= best.objective
