"""The bundle method: certificates, against an independent solver, and what an iteration costs."""

import numpy as np
import piqp
import pytest
from oracles import pairwise_hinge

from kernelrank.losses import PairwiseHinge
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Bundle, LinearOracle, make_products


def make_oracle(X, y, **kwargs):
    return LinearOracle(make_products(X), PairwiseHinge(UtilityPairs(y, **kwargs)))


def problem(rng, m=60, n=5, levels=None, noise=0.5):
    X = rng.normal(size=(m, n))
    y = X @ rng.normal(size=n) + noise * rng.normal(size=m)
    return X, y if levels is None else np.digitize(y, np.quantile(y, np.linspace(0, 1, levels + 1)[1:-1]))


def optimum_of_explicit_pairs(X, y, alpha):
    """Optimal value of the quadratic program with one slack a pair, in the dual: 0 <= u <= 1/N."""
    low, high = np.nonzero(y[:, None] < y[None, :])
    Z = X[high] - X[low]
    n_pairs = len(Z)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-11
    solver.setup(Z @ Z.T / (2 * alpha), -np.ones(n_pairs), x_l=np.zeros(n_pairs), x_u=np.full(n_pairs, 1 / n_pairs))
    assert solver.solve() == piqp.PIQP_SOLVED
    u = np.clip(solver.result.x, 0, 1 / n_pairs)
    return u.sum() - ((u @ Z) ** 2).sum() / (4 * alpha)


@pytest.mark.parametrize("levels", [None, 2, 4])
@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("line_search", [True, False])
def test_agrees_with_an_independent_solver_within_the_gap(rng, levels, alpha, line_search):
    X, y = problem(rng, m=30, levels=levels)
    optimum = optimum_of_explicit_pairs(X, y, alpha)
    result = Bundle(make_oracle(X, y), line_search=line_search).minimize(alpha, tol=1e-6, max_iter=5000)
    assert result.converged
    assert -1e-12 <= result.gap <= 1e-6
    assert result.lower_bound <= optimum + 1e-9
    assert optimum - 1e-9 <= result.objective <= optimum + 1e-6 + 1e-9


@pytest.mark.parametrize("alpha", [1e-9, 1e-5, 1e-2, 1e3])
@pytest.mark.parametrize("line_search", [True, False])
def test_bounds_close_in_monotonically(rng, alpha, line_search):
    X, y = problem(rng)
    history = Bundle(make_oracle(X, y), line_search=line_search).minimize(alpha).history
    assert (np.diff(history["upper_bound"]) <= 0).all()
    # Both are rounded; the lower one is cut to the upper one.
    assert (np.diff(history["lower_bound"]) >= -1e-15).all()
    assert (history["lower_bound"] <= history["upper_bound"]).all()
    assert (history["lower_bound"] <= history["upper_bound"][-1] + 1e-15).all()


def test_the_objective_is_the_objective(rng):
    X, y = problem(rng, levels=3)
    result = Bundle(make_oracle(X, y)).minimize(1e-2)
    assert result.objective == pytest.approx(pairwise_hinge(y, X @ result.w) + 1e-2 * result.w @ result.w, rel=1e-12)


def test_an_iteration_costs_two_products_and_few_counting_passes(rng):
    X, y = problem(rng, m=3000, n=20)
    oracle = make_oracle(X, y)
    history = Bundle(oracle).minimize(1e-4, tol=1e-4).history
    # The first iteration starts at w = 0, whose scores need no product.
    np.testing.assert_array_equal(history["n_products"], 1 + 2 * np.arange(len(history)))
    assert oracle.n_products == history["n_products"][-1]
    assert oracle.n_evaluations == history["n_evaluations"][-1] <= 4 * len(history)


def test_the_line_search_saves_products(rng):
    X, y = problem(rng, m=3000, n=20)
    plain, searched = (
        Bundle(make_oracle(X, y), line_search=use).minimize(1e-4).history["n_products"][-1] for use in (False, True)
    )
    assert searched < plain / 2


@pytest.mark.parametrize("most_cuts", [4, 10])
def test_few_cuts_still_converge(rng, most_cuts):
    X, y = problem(rng)
    result = Bundle(make_oracle(X, y), most_cuts=most_cuts).minimize(1e-2, max_iter=20_000)
    reference = Bundle(make_oracle(X, y)).minimize(1e-2, tol=1e-7)
    assert result.converged
    assert abs(result.objective - reference.objective) <= 1e-3


@pytest.mark.parametrize("alpha", [1e-12, 1e-9, 1e-6])
def test_separable_data_is_certified(rng, alpha):
    X = rng.normal(size=(300, 5))
    result = Bundle(make_oracle(X, X @ np.arange(1.0, 6.0))).minimize(alpha)
    assert result.converged
    assert 0 <= result.lower_bound <= result.objective <= 1.1e-2


@pytest.mark.parametrize("tol", [1e-6, 1e-9])
def test_tight_tolerances_are_reached(rng, tol):
    X, y = problem(rng, m=200)
    assert -1e-12 <= Bundle(make_oracle(X, y)).minimize(1e-3, tol=tol).gap <= tol


def test_a_large_alpha_gives_the_known_solution(rng):
    """Above alpha_max the solution is -a0 / (2 alpha), a0 the subgradient at zero."""
    X, y = problem(rng)
    low, high = np.nonzero(y[:, None] < y[None, :])
    a0 = (X[low] - X[high]).mean(axis=0)
    result = Bundle(make_oracle(X, y)).minimize(100.0, tol=1e-12)
    np.testing.assert_allclose(result.w, -a0 / 200.0, rtol=1e-9)


def test_a_start_at_the_solution_ends_sooner(rng):
    X, y = problem(rng, m=500)
    cold = Bundle(make_oracle(X, y)).minimize(1e-4, tol=1e-5)
    warm = Bundle(make_oracle(X, y), start=cold.w).minimize(1e-4, tol=1e-5)
    assert warm.history["upper_bound"][0] == pytest.approx(cold.objective, rel=1e-12)
    assert warm.objective <= cold.objective
    assert -1e-12 <= warm.gap <= 1e-5
    assert warm.n_iter < cold.n_iter


def test_max_iter_ends_with_the_best_so_far(rng):
    X, y = problem(rng)
    result = Bundle(make_oracle(X, y)).minimize(1e-6, tol=1e-9, max_iter=3)
    assert not result.converged
    assert result.n_iter == 3
    assert result.objective == result.history["upper_bound"].min()


def test_the_result_is_frozen(rng):
    result = Bundle(make_oracle(*problem(rng))).minimize(1.0)
    with pytest.raises(AttributeError):
        result.objective = 0.0


@pytest.mark.parametrize("scale", [1e4, 1e6, 1e8, 1e12])
def test_the_bound_holds_when_the_cuts_all_but_cancel(rng, scale):
    """Large features are a tiny alpha: the Gram matrix then knows nothing about ||A u||^2."""
    X, y = problem(rng, m=300)
    above = Bundle(make_oracle(X, y)).minimize(1e-9, tol=1e-7).objective
    result = Bundle(make_oracle(X * scale, y)).minimize(1e-3, max_iter=100)
    assert result.lower_bound <= above
    assert result.converged or scale > 1e8
    assert result.objective <= above + 1e-3


def test_a_start_that_is_worse_than_zero_is_dropped(rng):
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    zero = Bundle(make_oracle(X, y)).minimize(0.1, max_iter=1)
    found = Bundle(make_oracle(X, y), start=np.full(4, 1e3)).minimize(0.1, max_iter=1)
    assert found.objective == zero.objective


@pytest.mark.parametrize("start", [None, [-1.0, 0.1, -0.1, 0.2, 0.0, 0.0]])
def test_no_solution_on_the_way_is_negative(rng, start):
    X = rng.normal(size=(60, 6))
    y = X @ [1.0, 0.5, 0.1, -0.1, -0.5, -1.0] + rng.normal(size=60)
    start = None if start is None else np.array(start)
    for max_iter in range(1, 12):
        found = Bundle(make_oracle(X, y), positive=True, start=start).minimize(1e-3, tol=1e-9, max_iter=max_iter)
        assert (found.w >= 0).all()
