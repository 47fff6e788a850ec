"""The small quadratic program: judged by our own bound, whatever a solver says."""

import numpy as np
import pytest

from kernelrank.solvers import _simplex_qp
from kernelrank.solvers._simplex_qp import SimplexSolver, judge


def program(rng, size=30, rank=8, alpha=1e-2):
    A = rng.normal(size=(size, rank))
    A[0] = 0
    return A @ A.T / (2 * alpha), np.append(0.0, rng.random(size - 1))


@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 1e2])
def test_singular_programs_are_solved(rng, alpha):
    H, b = program(rng, alpha=alpha)
    solution = SimplexSolver()(H, b, accuracy=1e-8)
    assert solution.shortfall <= 1e-8
    assert (solution.u >= 0).all()
    assert solution.u.sum() == pytest.approx(1, abs=1e-14)


def test_the_bound_is_a_bound(rng):
    H, b = program(rng)
    best = SimplexSolver()(H, b, accuracy=1e-9)
    for _ in range(50):
        other = judge(H, b, rng.random(len(b)))
        assert other.value <= best.value + best.shortfall
        assert other.value + other.shortfall >= best.value


def test_value_and_bound_are_those_of_the_definition(rng):
    H, b = program(rng, size=6)
    u = rng.random(6)
    found = judge(H, b, np.append(2 * u[:-1], -1.0))  # brought to the simplex first
    u = np.append(u[:-1], 0.0) / u[:-1].sum()
    np.testing.assert_allclose(found.u, u)
    assert found.value == pytest.approx(b @ u - u @ H @ u / 2)
    # The objective is concave: it lies below its tangent plane, which is highest at a corner.
    corners = [b @ u - u @ H @ u / 2 + (b - H @ u) @ (corner - u) for corner in np.eye(6)]
    assert found.value + found.shortfall == pytest.approx(max(corners))


def test_poor_answers_keep_their_bound(rng, monkeypatch):
    H, b = program(rng)
    best = SimplexSolver()(H, b, accuracy=1e-9)
    for name in ("_with_daqp", "_with_piqp"):
        monkeypatch.setattr(_simplex_qp, name, lambda H, b: np.eye(len(b))[3])
    poor = SimplexSolver()(H, b, accuracy=1e-9)
    assert poor.value < best.value - 1e-3
    assert poor.value + poor.shortfall >= best.value


@pytest.mark.parametrize(
    "corrupt",
    [
        lambda u: u[::-1],
        lambda u: np.full_like(u, np.nan),
        lambda u: -np.ones_like(u),
        lambda u: np.eye(len(u))[0],
        np.zeros_like,
    ],
)
def test_a_wrong_answer_of_the_first_solver_is_noticed(rng, monkeypatch, corrupt):
    H, b = program(rng)
    right = SimplexSolver()(H, b, accuracy=1e-8)
    first = _simplex_qp._with_daqp
    monkeypatch.setattr(_simplex_qp, "_with_daqp", lambda *args: corrupt(first(*args)))
    fallback = SimplexSolver()(H, b, accuracy=1e-8)
    assert fallback.shortfall <= 1e-8
    assert fallback.value == pytest.approx(right.value, abs=2e-8)


def test_without_any_solver_the_answer_is_still_feasible(rng, monkeypatch):
    monkeypatch.setattr(_simplex_qp, "_with_daqp", lambda H, b: np.full_like(b, np.nan))
    monkeypatch.setattr(_simplex_qp, "_with_piqp", lambda H, b: np.zeros_like(b))
    H, b = program(rng)
    solution = SimplexSolver()(H, b, accuracy=1e-8)
    assert solution.u.sum() == 1
    assert solution.shortfall > 0


def test_what_daqp_leaves_behind_after_a_failure_is_not_looked_at(rng, monkeypatch):
    A = rng.normal(size=(3, 5))
    H, b = A.T @ A, rng.uniform(size=5)
    expected = SimplexSolver()(H, b, 1e-8)
    garbage = np.array([5.7e242, 0.0, 1.0, -3.0, 0.0])
    monkeypatch.setattr("daqp.solve", lambda *_, **__: (garbage, 0.0, -1, {}))
    found = SimplexSolver()(H, b, 1e-8)
    assert found.value == pytest.approx(expected.value, abs=1e-6)
    assert found.shortfall < 1e-6


def test_the_solver_that_did_comes_first(rng, monkeypatch):
    calls = []
    daqp, piqp = _simplex_qp._with_daqp, _simplex_qp._with_piqp
    monkeypatch.setattr(_simplex_qp, "_with_daqp", lambda *args: calls.append("daqp") or np.zeros_like(daqp(*args)))
    monkeypatch.setattr(_simplex_qp, "_with_piqp", lambda *args: calls.append("piqp") or piqp(*args))
    solve, (H, b) = SimplexSolver(), program(rng)
    for _ in range(3):
        assert solve(H, b, accuracy=1e-8).shortfall <= 1e-8
    assert calls == ["daqp", "piqp", "piqp", "piqp"]
    for _ in range(_simplex_qp._TRY_AGAIN):
        solve(H, b, accuracy=1e-8)
    assert calls.count("daqp") == 2
