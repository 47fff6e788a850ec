"""The model of cutting planes and its dual, against a general solver of the primal problem."""

import numpy as np
import oracles
import pytest
from scipy.optimize import minimize

from kernelrank.losses import PairwiseHinge
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Bundle, LinearOracle, make_products
from kernelrank.solvers._cuts import Cuts
from kernelrank.solvers._model import minimize_model
from kernelrank.solvers._simplex_qp import SimplexSolver

sides = pytest.mark.parametrize("positive", [False, True])


def random_cuts(rng, n_planes, n_features):
    cuts = Cuts(LinearOracle(make_products(np.zeros((1, n_features))), loss=None), most=100)
    for _ in range(n_planes):
        cuts.add(rng.normal(size=n_features), rng.uniform(0, 1))
    return cuts


def primal(cuts, w, alpha):
    return (cuts._a[: cuts.size] @ w + cuts.offsets).max() + alpha * w @ w


def solve_primal(cuts, n, alpha, positive):
    """Minimise t + alpha ||w||^2 with all planes at most t."""
    A, b = cuts._a[: cuts.size], cuts.offsets
    found = minimize(
        lambda v: v[n] + alpha * v[:n] @ v[:n],
        np.append(np.zeros(n), b.max()),
        jac=lambda v: np.append(2 * alpha * v[:n], 1.0),
        bounds=[(0 if positive else None, None)] * n + [(None, None)],
        constraints={
            "type": "ineq",
            "fun": lambda v: v[n] - A @ v[:n] - b,
            "jac": lambda v: np.c_[-A, np.ones(len(A))],
        },
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return found.fun


@sides
@pytest.mark.parametrize("alpha", [1.0, 0.03])
@pytest.mark.parametrize(("n_planes", "n_features"), [(1, 3), (4, 3), (12, 5), (20, 2)])
def test_the_dual_meets_the_primal(rng, positive, alpha, n_planes, n_features):
    cuts = random_cuts(rng, n_planes, n_features)
    found = minimize_model(cuts, alpha, 1e-9, SimplexSolver(), positive=positive)
    assert found.u.min() >= 0
    assert found.u.sum() == pytest.approx(1, abs=1e-12)
    assert not positive or found.w.min() >= 0
    optimum = solve_primal(cuts, n_features, alpha, positive)
    assert found.value <= optimum + 1e-9  # a lower bound, and
    assert found.value == pytest.approx(optimum, abs=1e-6)  # as good as the best
    assert primal(cuts, found.w, alpha) == pytest.approx(optimum, abs=1e-3)


def test_every_dual_value_is_a_lower_bound(rng):
    cuts = random_cuts(rng, 6, 4)
    rough = minimize_model(cuts, 0.1, 10.0, SimplexSolver(), positive=True)  # content with anything
    for w in np.abs(rng.normal(size=(200, 4))):
        assert rough.value <= primal(cuts, w, 0.1) + 1e-12


@pytest.mark.parametrize("alpha", [1e-1, 1e-3, 1e-5])
def test_a_certificate_over_weights_that_are_not_negative(rng, alpha):
    X = rng.normal(size=(60, 6)) * 10.0 ** rng.uniform(-1, 1, 6)
    y = X @ (np.array([1, 2, -1, -2, 0.5, 0]) / np.abs(X).mean(0)) + rng.normal(size=60)
    oracle = LinearOracle(make_products(X), PairwiseHinge(UtilityPairs(y)))
    result = Bundle(oracle, positive=True).minimize(alpha, tol=1e-6, max_iter=3000)
    assert result.converged
    assert -1e-12 <= result.gap <= 1e-6
    assert result.w.min() >= 0
    assert (result.w == 0).any()

    def objective(w):
        return oracles.pairwise_hinge(y, X @ w) + alpha * w @ w

    assert result.objective == pytest.approx(objective(result.w), rel=1e-12)
    lower = result.history["lower_bound"].max()
    scale = np.abs(result.w).max()
    for w in np.maximum(result.w + scale * 0.1 * rng.normal(size=(200, 6)), 0):
        assert lower <= objective(w) + 1e-12
    unconstrained = Bundle(LinearOracle(make_products(X), PairwiseHinge(UtilityPairs(y)))).minimize(alpha, tol=1e-6)
    assert unconstrained.lower_bound <= result.objective


def test_nothing_changes_where_the_free_solution_is_positive(rng):
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, 2.0, 3.0]
    free, positive = (
        Bundle(LinearOracle(make_products(X), PairwiseHinge(UtilityPairs(y))), positive=side).minimize(0.01, tol=1e-6)
        for side in (False, True)
    )
    assert free.w.min() > 0
    assert positive.objective == pytest.approx(free.objective, abs=2e-6)


def test_all_features_pointing_the_wrong_way(rng):
    X = rng.normal(size=(50, 3))
    oracle = LinearOracle(make_products(X), PairwiseHinge(UtilityPairs(X @ [-1.0, -2.0, -3.0])))
    result = Bundle(oracle, positive=True).minimize(0.01)
    assert result.converged
    np.testing.assert_array_equal(result.w, 0)  # zero is the best of them, and that is proven
    assert result.objective == pytest.approx(1)
    assert -1e-12 <= result.gap <= 1e-3
