"""The small quadratic program of the bundle method.

    maximise  D(u) = b . u - u' H u / 2   over the simplex  u >= 0, sum u = 1

H is a Gram matrix, singular as soon as cuts outnumber their rank. Whatever a solver answers
is projected onto the simplex and judged by a bound of our own: D is concave, so

    D* - D(u) <= max_k grad_k - grad . u        with grad = b - H u.
"""

from __future__ import annotations

from typing import NamedTuple

import daqp
import numpy as np
import piqp
from numpy.typing import NDArray

from kernelrank._dense import dot, multiply

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

_EQUALITY = 5  # DAQP's sense of a constraint
_AT_ITS_LIMIT = -4  # DAQP's flag
_TRY_AGAIN = 20  # programs after which DAQP is tried first again


class SimplexSolution(NamedTuple):
    """A point of the simplex, its value, and a bound on its distance from the optimal value."""

    u: Vector
    value: float
    shortfall: float


class SimplexSolver:
    """Solver of one program after the other; tries first the library that solved the last one.

    DAQP is the faster library and usually succeeds. PIQP succeeds where H is nearly singular, on which DAQP is slow.
    """

    def __init__(self) -> None:
        self._order = [_with_daqp, _with_piqp]
        self._programs = 0

    def __call__(self, H: Matrix, b: Vector, accuracy: float) -> SimplexSolution:
        """Solve to within `accuracy` if a solver can; otherwise return the best of their answers."""
        best, bound = None, np.inf
        self._programs += 1
        if self._programs % _TRY_AGAIN == 0:
            self._order = [_with_daqp, _with_piqp]
        for solve in tuple(self._order):
            u = solve(H, b)
            if not np.isfinite(u).all() or u.max() <= 0:
                continue
            answer = judge(H, b, u)
            bound = min(bound, answer.value + answer.shortfall)
            if best is None or answer.value > best.value:
                best = answer
            if bound - best.value <= accuracy:
                if solve is not self._order[0]:
                    self._order.reverse()
                break
        if best is None:  # both broke down: one cut alone is a feasible, if poor, answer
            return judge(H, b, np.eye(len(b))[np.argmax(b - np.diagonal(H) / 2)])
        return best._replace(shortfall=bound - best.value)


def judge(H: Matrix, b: Vector, u: Vector) -> SimplexSolution:
    """Project onto the simplex, and bound the distance from the optimal value."""
    u = np.maximum(u, 0.0)
    u = u / u.sum()
    Hu = multiply(H, u, n_threads=1)
    gradient = b - Hu
    return SimplexSolution(u, dot(b, u) - dot(u, Hu) / 2, float(gradient.max()) - dot(gradient, u))


def _with_daqp(H: Matrix, b: Vector) -> Vector:
    n = len(b)
    sense = np.zeros(n + 1, dtype=np.int32)
    sense[n] = _EQUALITY
    upper, lower = np.ones(n + 1), np.append(np.zeros(n), 1.0)
    # The limit keeps it from running long on nearly singular programs. What it returns at the limit can be judged;
    # after other failures it may be anything.
    x, _, flag, _ = daqp.solve(H, -b, np.ones((1, n)), upper, lower, sense, iter_limit=2000)
    return np.asarray(x) if flag >= 1 or flag == _AT_ITS_LIMIT else np.full(n, np.nan)


def _with_piqp(H: Matrix, b: Vector) -> Vector:
    n = len(b)
    solver = piqp.DenseSolver()
    solver.settings.max_iter = 60
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = 1e-10
    solver.setup(H, -b, np.ones((1, n)), np.ones(1), None, None, None, np.zeros(n))
    solver.solve()
    return np.asarray(solver.result.x)
