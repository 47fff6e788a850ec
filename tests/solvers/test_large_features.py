"""Features so large, or alpha so small, that float64 comes to its end: a true certificate, or a warning."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from kernelrank import OrdinalSVM, RankSVM
from kernelrank.exceptions import ConvergenceWarning
from kernelrank.solvers._active_set import refine
from kernelrank.solvers._simplex_qp import judge


def exact_objective(X, pairs, w, alpha, squared):
    """In rational numbers, of the pairs [winner, loser]."""
    weights = [Fraction(float(each)) for each in w]
    scores = [sum(Fraction(float(x)) * each for x, each in zip(row, weights, strict=True)) for row in X]
    hinges = [max(Fraction(0), 1 - scores[i] + scores[j]) for i, j in pairs]
    loss = sum(each * each for each in hinges) if squared else sum(hinges)
    return float(loss / len(pairs) + Fraction(alpha) * sum(each * each for each in weights))


def least_hinge(X, pairs):
    """Return the least mean hinge of all weights, which is what is left of the objective when alpha counts nothing."""
    differences = X[pairs[:, 0]] - X[pairs[:, 1]]
    k, n = differences.shape
    A = np.hstack([-differences, differences, -np.eye(k)])
    found = linprog(np.r_[np.zeros(2 * n), np.full(k, 1 / k)], A_ub=A, b_ub=-np.ones(k), bounds=(0, None))
    return found.fun


def preferences(rng):
    X = rng.normal(size=(12, 4))
    pairs = rng.integers(0, 12, size=(15, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return X, np.vstack([pairs, pairs[:3, ::-1]])  # some of which contradict each other


@pytest.mark.parametrize("scale", [1e6, 1e8, 1e10, 1e12])
def test_large_features_cost_no_more_iterations(rng, scale):
    """The small programs were not solved to any digit: 1,000 iterations, and no certificate."""
    X, pairs = preferences(rng)
    model = RankSVM().fit_pairs(X * scale, pairs)  # a warning would be an error
    assert model.n_iter_ < 100
    assert model.gap_ <= 1e-3
    least = least_hinge(X, pairs)
    assert model.objective_ - model.gap_ <= least + 1e-9
    assert model.objective_ >= least - 1e-9
    assert model.objective_ == pytest.approx(exact_objective(X * scale, pairs, model.coef_, 1e-3, False), rel=1e-9)


@pytest.mark.pairwise
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("scale", [1e15, 1e20, 1e100])
def test_what_float64_cannot_certify_is_said(rng, loss, scale):
    X, pairs = preferences(rng)
    with pytest.warns(ConvergenceWarning, match=r"float64 can do no more: tol=0\.001.*standardise the features"):
        model = RankSVM(loss=loss).fit_pairs(X * scale, pairs)
    assert model.gap_ == model.objective_  # nothing is proven
    assert model.n_iter_ < 200
    with pytest.warns(ConvergenceWarning, match="float64 can do no more"):
        OrdinalSVM().fit(X * scale, rng.integers(0, 3, 12))


def test_a_fit_without_a_warning_has_a_true_objective():
    """Objectives of 0.0009 were reported where the truth was at least 0.667: a margin of 1 vanishes beside 2^53."""
    rng = np.random.default_rng(1)
    n_silent = 0
    for _ in range(150):
        m, n = rng.integers(2, 8), rng.integers(1, 4)
        X = rng.integers(-3, 4, size=(m, n)) * 10.0 ** (rng.choice([12, 15, 18, 20, 25]) + rng.integers(-3, 4, n))
        pairs = np.array([rng.choice(m, 2, replace=False) for _ in range(rng.integers(1, 6))])
        pairs = np.vstack([pairs, pairs[:, ::-1]]) if rng.random() < 0.5 else pairs
        alpha = 10.0 ** rng.integers(-12, 1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = RankSVM(alpha, loss="squared_hinge", max_iter=60).fit_pairs(X, pairs)
        if not caught:
            n_silent += 1
            assert exact_objective(X, pairs, model.coef_, alpha, True) <= model.objective_ + model.gap_ + 1e-9
    assert n_silent > 30


@pytest.mark.parametrize("shape", [(3, 6), (8, 5), (2, 30)])
def test_refining_finds_the_maximum(rng, shape):
    F, b = rng.normal(size=shape), rng.random(shape[1])
    u, z = refine(F, b, np.eye(shape[1])[0], 1e-10)
    assert judge(F.T @ F, b, u).shortfall <= 1e-9
    np.testing.assert_allclose(z, F @ u, atol=1e-9)
    np.testing.assert_allclose((u.sum(), u.min() >= 0), (1.0, True))
