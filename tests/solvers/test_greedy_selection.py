"""The algebra of greedy selection, where an estimator does not go."""

import numpy as np
import pytest

from kernelrank.solvers import GreedySelection


def centred(values):
    return values - values.mean(axis=-1, keepdims=True)


def split(Z):
    """Candidates three at a time."""
    return (Z[start : start + 3].T.copy() for start in range(0, len(Z), 3))


def naive_residuals(Z, u, sizes, alpha, level):
    """Held-out residuals from solutions without each block."""
    residuals, ends = np.empty_like(u), np.cumsum(sizes)
    for start, end in zip(ends - sizes, ends, strict=True):
        rest = np.delete(np.arange(len(u)), np.s_[start:end])
        mean_z = Z[:, rest].mean(axis=1) if level else 0.0
        mean_u = u[rest].mean(axis=0) if level else 0.0
        A, b = (Z[:, rest].T - mean_z), u[rest] - mean_u
        w = np.linalg.solve(A.T @ A + alpha * np.eye(len(Z)), A.T @ b)
        residuals[start:end] = u[start:end] - mean_u - (Z[:, start:end].T - mean_z) @ w
    return residuals


@pytest.mark.parametrize("level", [False, True])
@pytest.mark.parametrize("sizes", [[1] * 12, [1, 2, 3, 6], [6, 6]])
@pytest.mark.parametrize("alpha", [1e-6, 0.1, 1e3])
def test_residuals_after_every_step(rng, sizes, alpha, level):
    Z, u = centred(rng.normal(size=(8, 12))), centred(rng.normal(size=(2, 12))).T
    sizes = np.array(sizes)
    weights = rng.random(len(sizes))
    greedy = GreedySelection(split(Z), u, sizes, alpha, weights, level=level)
    for feature in (3, 0, 7, 4):
        greedy.select(feature)
        expected = naive_residuals(Z[greedy.selected], u, sizes, alpha, level)
        np.testing.assert_allclose(greedy.residuals, expected, rtol=1e-9, atol=1e-9)
        assert greedy.error == pytest.approx((expected**2).sum(axis=1) @ np.repeat(weights, sizes))


@pytest.mark.parametrize("alpha", [1e-300, 1e-20, 1e-14, 1e-3, 1e20, 1e300])
def test_dependent_features_give_no_nonsense(rng, alpha):
    few = centred(rng.normal(size=(3, 20)))
    u = centred(rng.normal(size=(1, 20))).T
    Z = np.concatenate([few, rng.normal(size=(5, 3)) @ few, np.zeros((2, 20))])
    sizes = np.full(5, 4)
    greedy = GreedySelection(split(Z), u, sizes, alpha, np.ones(5), level=True)
    errors = []
    for _ in range(10):
        feature, _ = greedy.best()
        greedy.select(feature)
        errors.append(greedy.error)
    assert sorted(greedy.selected) == list(range(10))
    assert np.isfinite(errors).all()
    if alpha < 1e-10:
        complete = np.cumsum(np.array(greedy.selected) < 8) >= 3  # three features span all others
        np.testing.assert_allclose(np.array(errors)[complete], errors[-1], rtol=1e-7)


def test_feature_of_one_row_says_nothing_of_it(rng):
    """Without that row it is constant, whatever the penalty."""
    indicator = centred(np.eye(10)[:1])
    u = centred(rng.normal(size=(1, 10))).T
    for alpha in (1e-15, 1e-9, 1e-3):
        greedy = GreedySelection(split(indicator), u, np.ones(10, int), alpha, np.ones(10), level=True)
        before = greedy.residuals[0].copy()
        greedy.select(0)
        np.testing.assert_allclose(greedy.residuals[0], before, rtol=1e-6)
