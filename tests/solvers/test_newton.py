"""Newton's method: certificates, against an independent solver of the objective looked at pair by pair."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import pairwise_squared_hinge, squared_hinge_gradient
from scipy.optimize import minimize

from kernelrank.losses import PairwiseSquaredHinge
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Newton, SmoothLinearOracle, make_products
from kernelrank.solvers._newton import _Preconditioner

both_signs_or_positive = pytest.mark.parametrize("positive", [False, True])


def make_oracle(X, y, **kwargs):
    return SmoothLinearOracle(make_products(X), PairwiseSquaredHinge(UtilityPairs(y, **kwargs)))


def problem(rng, m=40, n=5, levels=None, noise=0.5):
    X = rng.normal(size=(m, n))
    y = X @ rng.normal(size=n) + noise * rng.normal(size=m)
    return X, y if levels is None else np.digitize(y, np.quantile(y, np.linspace(0, 1, levels + 1)[1:-1]))


def objective(w, X, y, alpha):
    return pairwise_squared_hinge(y, X @ w) + alpha * w @ w


def gradient(w, X, y, alpha):
    return X.T @ squared_hinge_gradient(y, X @ w) + 2 * alpha * w


def relative_norm(w, X, y, alpha, positive=False):
    """Norm of what a feasible step can follow of the gradient, relative to that at zero."""

    def norm(at):
        g = gradient(at, X, y, alpha)
        return np.linalg.norm(np.where((at > 0) | (g < 0), g, 0.0) if positive else g)

    return norm(w) / norm(np.zeros_like(w))


def optimum(X, y, alpha, positive=False):
    """Solution and value found by L-BFGS-B from the definition, for weights of standardised features."""
    unit = 1 / X.std(axis=0)
    found = minimize(
        lambda v: objective(unit * v, X, y, alpha),
        np.zeros(X.shape[1]),
        jac=lambda v: unit * gradient(unit * v, X, y, alpha),
        method="L-BFGS-B",
        bounds=[(0, None)] * X.shape[1] if positive else None,
        options={"ftol": 0, "gtol": 1e-10, "maxiter": 5000, "maxfun": 5000},
    )
    return unit * found.x, found.fun


def check_bounds(result, best):
    """No lower bound is above, and no upper bound below, the best value that anybody has found."""
    assert (result.history["lower_bound"] <= best + 1e-12).all()
    assert (result.history["upper_bound"] >= best - 1e-9).all()
    assert result.lower_bound == result.history["lower_bound"][-1] >= 0
    assert result.objective == result.history["upper_bound"][-1]
    assert -1e-12 <= result.objective - best + 1e-9 <= result.gap + 2e-9


# Certificates


@pytest.mark.parametrize("levels", [None, 2, 4])
@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0])
@both_signs_or_positive
def test_agrees_with_an_independent_solver(rng, levels, alpha, positive):
    X, y = problem(rng, levels=levels)
    X[rng.random(X.shape) < 0.3] = 0
    w, best = optimum(X, y, alpha, positive)
    assert (w < 0).any() or positive  # else the bound would be idle
    for storage in (np.asarray, sp.csr_matrix, sp.csc_matrix):
        result = Newton(make_oracle(storage(X), y), positive=positive).minimize(alpha, tol=1e-8)
        assert result.converged
        check_bounds(result, best)
        np.testing.assert_allclose(result.w, w, rtol=0, atol=1e-5 * np.abs(w).max())
        assert not positive or (result.w >= 0).all()


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 10.0])
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
@both_signs_or_positive
def test_the_gradient_is_as_small_as_asked_for_and_not_before(rng, alpha, tol, positive):
    X, y = problem(rng, levels=4)
    result = Newton(make_oracle(X, y), positive=positive).minimize(alpha, tol=tol)
    assert result.converged
    assert relative_norm(result.w, X, y, alpha, positive) <= tol * (1 + 1e-6)
    assert -1e-12 <= result.gap <= tol
    earlier = Newton(make_oracle(X, y), positive=positive).minimize(alpha, tol=tol, max_iter=result.n_iter - 1)
    assert not earlier.converged
    assert relative_norm(earlier.w, X, y, alpha, positive) > tol or earlier.gap > earlier.goal
    assert earlier.n_iter == result.n_iter - 1


@pytest.mark.parametrize("alpha", [1e-9, 1e-5, 1e-2, 1e3])
@both_signs_or_positive
def test_bounds_close_in_monotonically(rng, alpha, positive):
    X, y = problem(rng, m=100)
    history = Newton(make_oracle(X, y), positive=positive).minimize(alpha, tol=1e-6).history
    assert history["upper_bound"][0] == pytest.approx(1, abs=1e-15)
    assert (np.diff(history["upper_bound"]) <= 0).all()
    assert (np.diff(history["lower_bound"]) >= 0).all()
    assert (np.diff(history["seconds"]) >= 0).all()


def test_the_objective_is_the_objective(rng):
    X, y = problem(rng, levels=3)
    result = Newton(make_oracle(X, y)).minimize(1e-2)
    assert result.objective == pytest.approx(objective(result.w, X, y, 1e-2), rel=1e-12)


@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0])
def test_a_step_is_newtons(rng, alpha):
    """Where all pairs stay violated J is a parabola, and with one feature CG is exact: one step, taken whole."""
    x = rng.normal(size=(40, 1))
    y = x[:, 0] + 20 * rng.permutation(40)  # little to learn: small weights
    history = Newton(make_oracle(x, y)).minimize(alpha, tol=1e-9).history
    assert history["n_evaluations"].tolist() == [1, 3]
    assert history["n_products"].tolist() == [3, 6]


def test_few_steps_suffice(rng):
    X, y = problem(rng, m=300, n=20)
    assert Newton(make_oracle(X, y)).minimize(1e-4, tol=1e-9).n_iter <= 15


# Where it begins


@both_signs_or_positive
def test_a_start_at_the_solution_ends_at_once(rng, positive):
    X, y = problem(rng)
    cold = Newton(make_oracle(X, y), positive=positive).minimize(1e-3, tol=1e-6)
    assert cold.n_iter > 1
    warm = Newton(make_oracle(X, y), positive=positive, start=cold.w).minimize(1e-3, tol=1e-6)
    assert warm.n_iter == 1
    np.testing.assert_array_equal(warm.w, cold.w)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-13)
    assert warm.gap == pytest.approx(cold.gap, rel=1e-5)


@both_signs_or_positive
def test_a_start_near_the_solution_saves_products(rng, positive):
    X, y = problem(rng, m=300, n=20)
    cold = Newton(make_oracle(X, y), positive=positive).minimize(1e-4, tol=1e-6)
    warm = Newton(make_oracle(X, y), positive=positive, start=1.001 * cold.w).minimize(1e-4, tol=1e-6)
    assert warm.history["upper_bound"][0] < 1.01 * cold.objective
    assert warm.n_iter < cold.n_iter


@both_signs_or_positive
def test_a_start_worse_than_zero_is_not_used(rng, positive):
    X, y = problem(rng)
    cold = Newton(make_oracle(X, y), positive=positive).minimize(1e-3)
    far = np.full(5, 1e6)
    assert objective(far, X, y, 1e-3) > 1
    warm = Newton(make_oracle(X, y), positive=positive, start=far).minimize(1e-3)
    np.testing.assert_array_equal(warm.w, cold.w)
    np.testing.assert_array_equal(warm.history["upper_bound"], cold.history["upper_bound"])


def test_a_start_is_made_feasible_and_left_alone(rng):
    X, y = problem(rng)
    start = Newton(make_oracle(X, y)).minimize(1e-3).w
    kept = start.copy()
    assert (start < 0).any()
    result = Newton(make_oracle(X, y), positive=True, start=start).minimize(1e-3, tol=1e-8)
    np.testing.assert_array_equal(start, kept)
    assert (result.w >= 0).all()
    np.testing.assert_allclose(result.w, optimum(X, y, 1e-3, positive=True)[0], atol=1e-5 * np.abs(start).max())
    integers = Newton(make_oracle(X, y), start=np.ones(5, dtype=np.int64)).minimize(1e-3, tol=1e-8)
    np.testing.assert_allclose(integers.w, optimum(X, y, 1e-3)[0], atol=1e-5 * np.abs(start).max())


@pytest.mark.parametrize(
    "alphas",
    [[1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5], [1e-5, 1e-3, 0.1, 10.0], [1e-3, 1e-3, 1e6, 1e-3]],
    ids=["falling", "rising", "to and fro"],
)
@both_signs_or_positive
def test_one_alpha_after_the_other(rng, alphas, positive):
    X, y = problem(rng, m=60)
    path = Newton(make_oracle(X, y), positive=positive)
    for alpha in alphas:
        found = path.minimize(alpha, tol=1e-8)
        alone = Newton(make_oracle(X, y), positive=positive).minimize(alpha, tol=1e-8)
        assert found.converged
        assert relative_norm(found.w, X, y, alpha, positive) <= 1e-8 * (1 + 1e-3)
        check_bounds(found, min(alone.objective, objective(alone.w, X, y, alpha)))
        np.testing.assert_allclose(found.w, alone.w, rtol=0, atol=1e-5 * np.abs(alone.w).max())
        assert (found.w >= 0).all() or not positive


# Features of every kind


@both_signs_or_positive
def test_equal_columns_share_their_weight(rng, positive):
    X, y = problem(rng)
    y = y + X[:, 0]
    doubled = Newton(make_oracle(np.column_stack([X, X[:, 0]]), y), positive=positive).minimize(1e-3, tol=1e-8)
    scaled = Newton(make_oracle(X * [2**0.5, 1, 1, 1, 1], y), positive=positive).minimize(1e-3, tol=1e-8)
    assert doubled.converged
    assert doubled.w[0] == pytest.approx(doubled.w[-1], rel=1e-5)
    assert doubled.objective == pytest.approx(scaled.objective, abs=doubled.gap + scaled.gap + 1e-12)
    np.testing.assert_allclose(doubled.w[1:5], scaled.w[1:], atol=1e-5 * np.abs(scaled.w).max())


@both_signs_or_positive
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_constant_columns_get_no_weight_and_do_not_matter(rng, positive, storage):
    X, y = problem(rng)
    wider = np.column_stack([np.zeros(40), X, np.full(40, 1e6), np.full(40, 0.1)])
    found = Newton(make_oracle(storage(wider), y), positive=positive).minimize(1e-3, tol=1e-8)
    expected = Newton(make_oracle(X, y), positive=positive).minimize(1e-3, tol=1e-8)
    assert found.converged
    np.testing.assert_array_equal(found.w[[0, -2, -1]], 0.0)
    np.testing.assert_allclose(found.w[1:-2], expected.w, rtol=0, atol=1e-6 * np.abs(expected.w).max())


def test_only_constant_columns_leave_nothing_to_do():
    result = Newton(make_oracle(np.full((5, 2), 3.0), np.arange(5))).minimize(1e-3)
    assert result.converged
    assert (result.objective, result.gap) == (1, 0)
    np.testing.assert_array_equal(result.w, 0.0)


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 1.0])
@both_signs_or_positive
def test_features_of_different_scales(rng, alpha, positive):
    X, y = problem(rng, n=7)
    X = X * 10.0 ** np.arange(-3, 4)
    result = Newton(make_oracle(X, y), positive=positive).minimize(alpha, tol=1e-6)
    assert result.converged
    assert relative_norm(result.w, X, y, alpha, positive) <= 1e-6 * (1 + 1e-3)
    check_bounds(result, optimum(X, y, alpha, positive)[1])


@pytest.mark.parametrize("alpha", [1e-9, 1e-7])
@pytest.mark.parametrize("levels", [None, 2])
def test_separable_data(rng, alpha, levels):
    X = rng.normal(size=(80, 5))
    direction = np.arange(1.0, 6.0)
    y = X @ direction if levels is None else (X @ direction > 0).astype(int)
    result = Newton(make_oracle(X, y)).minimize(alpha, tol=1e-6)
    assert result.converged
    assert 0 <= result.lower_bound <= result.objective
    # Nothing on the right line is better than what was found, by more than the gap.
    assert result.objective - result.gap <= min(objective(t * direction, X, y, alpha) for t in np.logspace(-2, 5, 50))
    assert pairwise_squared_hinge(y, X @ result.w) < 5e-3
    assert relative_norm(result.w, X, y, alpha) <= 1e-6 * (1 + 1e-3)


@pytest.mark.parametrize("alpha", [1e3, 1e12])
@both_signs_or_positive
def test_a_large_alpha_gives_the_known_solution(rng, alpha, positive):
    X, y = problem(rng)
    g = gradient(np.zeros(5), X, y, 0.0)
    expected = np.maximum(-g, 0.0) if positive else -g
    result = Newton(make_oracle(X, y), positive=positive).minimize(alpha, tol=1e-9)
    assert result.converged
    np.testing.assert_allclose(result.w, expected / (2 * alpha), rtol=20 / alpha + 1e-8)
    assert -1e-12 <= result.gap <= 1e-9
    assert result.objective == pytest.approx(1, abs=10 / alpha)


def test_positive_weights_may_all_be_zero(rng):
    x = rng.normal(size=(30, 2))
    result = Newton(make_oracle(x, -x.sum(axis=1)), positive=True).minimize(1e-3)
    assert result.converged
    np.testing.assert_array_equal(result.w, 0.0)
    assert result.objective == result.lower_bound == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("seed", range(12))
def test_positive_weights_of_correlated_features(seed):
    """A projected step need not go down: another is needed then."""
    rng = np.random.default_rng(seed)
    X, y = problem(rng, m=60, n=12, noise=1.0)
    X = X @ rng.normal(size=(12, 12))
    result = Newton(make_oracle(X, y), positive=True).minimize(1e-3, tol=1e-3)
    assert result.converged
    assert relative_norm(result.w, X, y, 1e-3, positive=True) <= 1e-3 * (1 + 1e-6)
    assert (np.diff(result.history["upper_bound"]) <= 0).all()


def test_no_step_leaves_the_positive_weights():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = problem(rng, n=6, noise=0.1)
        start = 0.3 * rng.random(6)
        for max_iter in (2, 3):
            result = Newton(make_oracle(X, y), positive=True, start=start).minimize(1e-3, tol=1e-9, max_iter=max_iter)
            assert (result.w >= 0).all()


@pytest.mark.parametrize("seed", range(860, 870))
def test_no_path_leaves_the_positive_weights(seed):
    rng = np.random.default_rng(seed)
    X, y = problem(rng, m=8, n=10, noise=rng.choice([0.0, 0.5, 3.0]))
    for order in (1, -1):
        path = Newton(make_oracle(X, y), positive=True)
        for alpha in 10.0 ** np.sort(rng.uniform(-6, 1, 8))[::order]:
            assert (path.minimize(alpha).w >= 0).all()


def test_positive_is_idle_where_all_weights_are_positive_anyway(rng):
    X = rng.normal(size=(60, 4))
    y = X @ [1.0, 2.0, 1.0, 3.0] + 0.1 * rng.normal(size=60)
    free, held = (Newton(make_oracle(X, y), positive=each).minimize(1e-3, tol=1e-9) for each in (False, True))
    assert (free.w > 0).all()
    np.testing.assert_allclose(held.w, free.w, rtol=1e-7)


# Limits


@pytest.mark.parametrize("alpha", [1e-6, 1e-3, 1.0])
def test_tight_tolerances_are_reached(rng, alpha):
    X, y = problem(rng, m=100)
    result = Newton(make_oracle(X, y)).minimize(alpha, tol=1e-10)
    assert result.converged
    assert relative_norm(result.w, X, y, alpha) <= 2e-10
    check_bounds(result, optimum(X, y, alpha)[1])


@both_signs_or_positive
def test_what_float64_cannot_reach_is_not_claimed(rng, positive):
    X, y = problem(rng, m=100)
    result = Newton(make_oracle(X, y), positive=positive).minimize(1e-3, tol=1e-25)
    assert not result.converged
    assert result.n_iter < 60  # and it is noticed
    check_bounds(result, optimum(X, y, 1e-3, positive)[1])
    assert result.gap <= 1e-9


@both_signs_or_positive
@pytest.mark.parametrize("max_iter", [1, 2, 4])
def test_max_iter_ends_with_the_best_so_far(rng, positive, max_iter):
    X, y = problem(rng)
    result = Newton(make_oracle(X, y), positive=positive).minimize(1e-6, tol=1e-12, max_iter=max_iter)
    assert not result.converged
    assert result.n_iter == max_iter
    assert result.objective == result.history["upper_bound"].min()
    assert result.objective == pytest.approx(objective(result.w, X, y, 1e-6), rel=1e-12)


@pytest.mark.parametrize("scale", [1e160, 1e300])
@both_signs_or_positive
def test_features_too_large_for_float64_are_a_clear_error(rng, scale, positive):
    X, y = problem(rng)
    for storage in (np.asarray, sp.csr_matrix):
        with pytest.raises(ValueError, match="leaves the range of float64: the features are too large"):
            Newton(make_oracle(storage(X * scale), y), positive=positive).minimize(1e-3)


@pytest.mark.parametrize("alpha", [1e-20, 1e-100, 1e-160, 1e-200, 1e-300])
def test_a_tiny_alpha_gives_a_certified_answer(rng, alpha):
    X, y = problem(rng)
    result = Newton(make_oracle(X, y)).minimize(alpha)
    assert result.w.any()
    check_bounds(result, min(optimum(X, y, 1e-9)[1], result.objective))


# What it costs


class Counted:
    """Counts what the solver really does: products with X, and passes over the pairs."""

    def __init__(self, X, y):
        self.products = self.passes = 0
        plain = make_products(X)
        counted = replace(
            plain, **{name: self._product(getattr(plain, name)) for name in ("forward", "backward", "squares")}
        )
        self._loss = PairwiseSquaredHinge(UtilityPairs(y))
        self.diagonal = self._loss.diagonal  # known after a pass
        self.rounding = 0.0
        self.oracle = SmoothLinearOracle(counted, self)

    def _product(self, function):
        def wrapped(v):
            self.products += 1
            return function(v)

        return wrapped

    def __call__(self, scores):
        self.passes += 1
        return self._loss(scores)

    def curvature(self, q):
        self.passes += 1
        return self._loss.curvature(q)


@both_signs_or_positive
def test_the_history_counts_what_was_done(rng, positive):
    counted = Counted(*problem(rng, m=200, n=10))
    solver, seen = Newton(counted.oracle, positive=positive), []

    def report(record):
        assert record["n_products"] == counted.products
        assert record["n_evaluations"] == counted.passes
        seen.append(record)

    results = [solver.minimize(alpha, tol=1e-6, report=report) for alpha in (1e-3, 1e-4, 1e-5)]
    for field in ("upper_bound", "lower_bound", "n_products", "n_evaluations"):
        expected = np.concatenate([result.history[field] for result in results])
        np.testing.assert_array_equal([record[field] for record in seen], expected)
    assert counted.oracle.n_products == counted.products > 10
    assert results[0].history["n_products"][0] == 3  # gradient at zero, and the diagonal


def test_the_line_search_costs_no_product(rng):
    """A step has two products for each of CG's, and one for the gradient where it ends."""
    counted = Counted(*problem(rng, m=200, n=10))
    history = Newton(counted.oracle).minimize(1e-4, tol=1e-6).history
    assert (np.diff(history["n_products"]) % 2 == 1).all()


def test_offsets_cost_nothing(rng):
    """The diagonal that preconditions is that of centred features."""
    X, y = problem(rng, m=300, n=13)
    plain, offset = make_oracle(X, y), make_oracle(X + 100 * rng.normal(size=13), y)
    for oracle in (plain, offset):
        assert Newton(oracle).minimize(1e-4, tol=1e-6).converged
    assert offset.n_products <= 1.2 * plain.n_products


def test_scales_cost_little(rng):
    X, y = problem(rng, m=300, n=13)
    oracle = make_oracle(X * 10.0 ** np.linspace(-3, 3, 13), y)
    assert Newton(oracle).minimize(1e-8, tol=1e-8).converged
    assert oracle.n_products < 80  # without the diagonal, more than a hundred


def test_the_preconditioner_knows_what_it_learnt(rng):
    """The inverse maps H s back to s for the last s, and is symmetric and positive."""
    factor = rng.normal(size=(8, 8))
    R, alpha = factor @ factor.T, 0.3
    oracle = SimpleNamespace(n_features=8, inner=np.dot, diagonal=lambda: np.diag(R).copy())
    preconditioner = _Preconditioner(oracle)
    v, u = rng.normal(size=(2, 8))
    np.testing.assert_allclose(preconditioner.at(alpha, None)(v), v / (np.diag(R) + 2 * alpha), rtol=1e-14)
    for s in rng.normal(size=(5, 8)):
        preconditioner.learn(s, R @ s)
        for weight in (alpha, 10 * alpha):
            inverse = preconditioner.at(weight, None)
            np.testing.assert_allclose(inverse(R @ s + 2 * weight * s), s, rtol=1e-9, atol=1e-12)
            assert u @ inverse(v) == pytest.approx(v @ inverse(u), rel=1e-9)
            assert v @ inverse(v) > 0
    some = np.arange(8) < 5
    np.testing.assert_array_equal(preconditioner.at(alpha, some)(np.where(some, v, 0.0))[~some], 0.0)


def test_upper_bounds_do_not_rise_at_tiny_alphas():
    rng = np.random.default_rng(2318)
    m, n = int(rng.integers(4, 30)), int(rng.integers(1, 6))
    X = rng.normal(size=(m, n)) if rng.random() < 0.5 else rng.integers(-3, 4, (m, n)).astype(float)
    y = X @ rng.normal(size=n) + rng.choice([0, 0.5]) * rng.normal(size=m)
    history = Newton(make_oracle(X, y)).minimize(1e-9, tol=1e-6).history
    assert (np.diff(history["upper_bound"]) <= 0).all()


def test_positive_converges_as_fast_as_free():
    rng = np.random.RandomState(42)  # scikit-learn's check of sample weights
    X, y, weights = rng.rand(15, 30), rng.randint(0, 3, size=15), rng.randint(0, 5, size=15)
    X, y = X.repeat(weights, axis=0), y.repeat(weights)
    free, positive = (Newton(make_oracle(X, y), positive=each) for each in (False, True))
    assert positive.minimize(1e-3, tol=1e-3).n_iter <= 5 * free.minimize(1e-3, tol=1e-3).n_iter


@pytest.mark.parametrize("seed", [23, 79, 97, 160, 353])
def test_positive_converges(seed):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(5, 200)), int(rng.integers(2, 40))
    X = rng.normal(size=(m, n))
    if rng.random() < 0.5:
        X = rng.integers(-2, 3, (m, n)).astype(float)
    if rng.random() < 0.4:
        X = X @ rng.normal(size=(n, n))
    y = X @ rng.normal(size=n) + rng.choice([0, 0.5, 3]) * rng.normal(size=m)
    if rng.random() < 0.5:
        y = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    alpha = 10.0 ** rng.uniform(-7, 0)
    result = Newton(make_oracle(X, y), positive=True).minimize(alpha, tol=1e-6)
    assert result.converged
    assert result.n_iter < 100


def test_data_without_a_slope_after_a_warm_start(rng):
    y = rng.normal(size=30)
    result = Newton(make_oracle(np.ones((30, 3)), y), start=np.full(3, 1e-3)).minimize(1e-3)
    assert result.converged
    np.testing.assert_array_equal(result.w, 0)


@pytest.mark.parametrize("alpha", [1e-3, 1e-6, 1e-9, 1e-12])
def test_converged_means_a_certified_gap_as_well(rng, alpha):
    X, y = problem(rng)
    X[:, 0] *= 1e3  # its slope at zero dwarfs the others
    result = Newton(make_oracle(X, y)).minimize(alpha, tol=1e-3)
    assert result.converged
    assert -1e-12 <= result.gap <= 1e-3


def test_nothing_left_to_follow_ends_a_step():
    """Conjugate gradients divided by the inner product of a residual of 0."""
    X = np.array([[2e15, 0, -2e19], [0, 0, 0], [-1e15, -3e16, -3e19], [-2e15, -3e16, -2e19]])
    result = Newton(make_oracle(X, np.array([1.0, 2.0, 2.0, 1.0]))).minimize(1e-11, tol=1e-3, max_iter=60)
    assert np.isfinite(result.w).all()
    assert result.exhausted
