r"""Truncated Newton method for smooth regularised risks.

    minimise  J(w) = R(w) + alpha ||w||^2,    R convex, non-negative, twice differentiable, R(w) = loss(X w)

========= =================================================== ====================
symbol    meaning                                             here
========= =================================================== ====================
g         gradient, X' loss'(p) + 2 alpha w                   ``gradient``
H         second derivative, X' loss''(p) X + 2 alpha I       ``_multiply``
d         Newton step, H d = -g, solved by CG                 ``step``
s, H s    the directions of earlier CG steps, with products   ``_Preconditioner``
========= =================================================== ====================

A product with H costs one product with X, one with its transpose, and a pass over the pairs
without a sort: the order of the scores is that of w and stays. The line search costs passes
only. Two things make CG short: it ends as soon as the remaining error no longer shows in the
next gradient, and what it learnt of H preconditions the next systems (Morales and Nocedal,
"Automatic preconditioning by limited memory quasi-Newton updating", 2000), over the diagonal of H.

J is strongly convex with modulus 2 alpha, so ``J(w) - J* <= ||g||^2 / (4 alpha)``: the certificate.

With ``positive=True`` the minimum is over w >= 0: CG works on the features that are not held at zero, and an active
set method finds which ones these are. The line search follows the segment to the minimum of the model, all of which is
feasible. The certificate minimises the same bound over w >= 0.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from kernelrank.solvers._line_search import Iterate, Ray, evaluate, extrapolate, longest_step, search_smooth
from kernelrank.solvers._oracle import SmoothOracle, quiet, squared_norm
from kernelrank.solvers._result import Log, Plane, Report, Result, gap_goal

Vector = NDArray[np.float64]

# Directions kept for the preconditioner; few where they would cost as much as a product with X.
_MOST_PAIRS, _FEW_PAIRS, _MANY_FEATURES = 30, 8, 10_000
_MOST_CG_STEPS = 250
_COARSEST, _FINEST = 0.5, 0.1  # error of a direction, relative to the gradient
_FINAL_ERROR = 0.5  # of the gradient to be reached: a smaller one would not show
_MOST_FACES = 10  # sets of features at zero that are tried in one step
_MOST_RISES = 3  # sets in a row that do not lower the model: they may go round in circles
_EPS = float(np.finfo(np.float64).eps)
_SMALLEST = float(np.finfo(np.float64).tiny)
_NEGLIGIBLE = 1e-9  # error of scores, compared with a margin of 1
_MOST_IDLE = 3  # iterations without a smaller objective: float64 is exhausted
_MOST_RELAXED, _MOST_STEPS = 5, 500  # times that L-BFGS-B takes over, and its steps
_LEAST_FALL = 0.1  # of the objective, compared with the goal, for an iteration not to be idle


class Newton:
    """Truncated Newton method for one alpha after the other; each solution is the start of the next.

    Parameters
    ----------
    oracle : SmoothOracle
        The risk R. It keeps the state of the last evaluation, so it must not be shared with another solver.
    positive : bool
        Whether to minimise over w >= 0.
    start : ndarray, optional
        A solution to start from, if it is better than zero.
    """

    def __init__(self, oracle: SmoothOracle, *, positive: bool = False, start: Vector | None = None) -> None:
        self._oracle, self._positive, self._began = oracle, positive, time.perf_counter()
        with quiet():
            self._before: Iterate | None = None  # the solution for the last alpha but one
            self._move_to(evaluate(oracle, np.zeros(oracle.n_features)))
            self._value_at_zero = self._at.risk.value
            # Tolerances are relative to this norm, which does not depend on alpha.
            self._first_norm = self._norm(self._reduced(self._slope))
            self._norm_at_zero = self._norm(self._slope)
            self._preconditioner = _Preconditioner(oracle)
            if start is not None:
                w = np.maximum(start, 0.0) if positive else start.astype(np.float64)
                self._move_to(evaluate(oracle, w))

    @property
    def planes(self) -> list[Plane]:
        """The plane that touches R at the solution; it is below R everywhere."""
        return [Plane(self._slope, self._at.risk.offset)]

    def minimize(
        self, alpha: float, *, tol: float = 1e-3, max_iter: int = 1000, report: Report | None = None
    ) -> Result:
        """Minimise ``R(w) + alpha * ||w||^2``.

        Parameters
        ----------
        alpha : float
            Positive weight of the squared norm.
        tol : float
            Norm of the gradient to reach, relative to that at w = 0, and certified gap to reach, relative to the
            objective of w = 0; ten times that, relative to the objective itself, where the objective is below a tenth
            of the one of w = 0 (see `gap_goal`).
        max_iter : int
            Newton steps; each has as many products with X and its transpose as CG needs.
        report : callable, optional
            Called with every new record of the history.

        Returns
        -------
        Result
            ``converged`` tells whether `tol` was reached.

        Raises
        ------
        ValueError
            If the features are too large, or alpha too small, for float64.
        """
        with quiet():
            return self._minimize(float(alpha), float(tol), max_iter, report)

    def _minimize(self, alpha: float, tol: float, max_iter: int, report: Report | None) -> Result:
        log = Log(self._oracle, self._began, report)
        if self._at.objective(alpha) > self._value_at_zero or self._first_norm == 0:
            self._move_to(evaluate(self._oracle, np.zeros_like(self._at.w)))
        self._extrapolate(alpha)
        # Where no solution is better than zero by more than rounding, the gradient at zero may be nothing but noise.
        noise = self._first_norm if self._first_norm**2 <= 4 * alpha * _EPS * self._value_at_zero else 0.0
        lower, idle, relaxed, converged = 0.0, 0, 0, False
        for iteration in range(max_iter):
            objective, gradient = self._at.objective(alpha), self._slope + 2 * alpha * self._at.w
            norm = self._norm(self._reduced(gradient))
            rounding = 2 * self._oracle.rounding + self._hidden_rounding(alpha, objective)
            shortfall = self._shortfall(gradient, alpha) + rounding
            lower = min(max(lower, objective - shortfall), objective)  # beyond the objective it is rounding
            goal = gap_goal(tol, objective, self._value_at_zero)
            log.add(objective, lower, goal)
            # A solution of zero may meet tol, but orders nothing: take at least one step, unless there is none to take.
            # The objective is rounded as well.
            small = norm <= max(tol * self._first_norm, noise) and max(objective - lower, rounding) <= goal
            converged = small and bool(self._at.w.any() or norm == 0)
            if idle == _MOST_IDLE and self._positive and relaxed < _MOST_RELAXED:
                self._relax(alpha, tol)
                idle, relaxed = 0, relaxed + 1
                continue
            if converged or iteration == max_iter - 1 or idle == _MOST_IDLE:
                break
            coarse = min(max(np.sqrt(norm / self._first_norm), _FINEST), _COARSEST) * norm
            # A gradient of the second size proves a gap of the size of the goal.
            final = min(tol * self._first_norm, 2 * float(np.sqrt(alpha * goal)))
            self._step(gradient, alpha, max(coarse, _FINAL_ERROR * final))
            # With bounds, steps may become tiny far from the minimum.
            least = _LEAST_FALL * goal if self._positive and relaxed < _MOST_RELAXED else 0.0
            idle = idle + 1 if self._at.objective(alpha) >= objective - least else 0
        stuck = idle == _MOST_IDLE and not self._positive  # with bounds, active sets may go round in circles
        exhausted = not converged and (stuck or rounding > goal)
        return Result(
            self._at.w, self._at.scores, objective, lower, converged, log.history(), exhausted, self.planes[0]
        )

    def _extrapolate(self, alpha: float) -> None:
        """Start from a guess of the solution that follows from the last two, if it is better than the last one."""
        before, self._before = self._before, self._at
        if before is None:
            return
        found = extrapolate(self._oracle, alpha, self._at, before, positive=self._positive, slope=self._slope)
        if found is not None:
            self._move_to(found)
        else:
            self._oracle.risk(self._at.scores)  # so that second derivatives are at hand

    def _move_to(self, iterate: Iterate) -> None:
        """Move to a solution, whose risk must be the one evaluated last, and compute the gradient of R there."""
        self._slope = self._oracle.subgradient(iterate.risk.g)  # of R
        self._at = iterate.without_g()  # the slope replaces it

    def _reduced(self, gradient: Vector) -> Vector:
        """Return the part of the gradient that a feasible step can follow."""
        return np.where(self._at.w > 0, gradient, np.minimum(gradient, 0.0)) if self._positive else gradient

    def _shortfall(self, gradient: Vector, alpha: float) -> float:
        """Bound J(w) - J* by the decrease of the parabola of curvature 2 alpha that touches J at w."""
        w = self._at.w
        if not self._positive:
            rounding = self._oracle.inner_rounding(self._slope) / (4 * alpha)
            # Vectors of a kernel hold coefficients and values, which drift apart as steps are added up.
            drift = (self._inner(self._slope, w) - self._inner(w, self._slope)) / 2
            return squared_norm(self._oracle, gradient) / (4 * alpha) + drift + rounding
        # The parabola may only fall until w is zero.
        falls = np.where(gradient > 2 * alpha * w, w * (gradient - alpha * w), gradient**2 / (4 * alpha))
        return float(falls.sum())

    def _hidden_rounding(self, alpha: float, objective: float) -> float:
        """Bound what rounding of products with X may hide of the gap, where that is not negligible.

        A hinge of h, of scores that are off by e, has the square ``(h + e)^2`` at most.
        """
        norms = 2 * squared_norm(self._oracle, self._at.w) ** 0.5
        error = self._oracle.rounding_of_bounds(alpha, norms, self._norm_at_zero, _NEGLIGIBLE)
        return error * (2 * float(np.sqrt(objective)) + error)

    def _inner(self, u: Vector, v: Vector) -> float:
        return float(self._oracle.inner(u, v))

    def _norm(self, v: Vector) -> float:
        """Return the norm, also where squares would underflow."""
        largest = float(np.abs(v).max(initial=0.0))
        return largest * squared_norm(self._oracle, v / largest) ** 0.5 if 0.0 < largest < np.inf else largest

    def _step(self, gradient: Vector, alpha: float, accuracy: float) -> None:
        """Move to a lower point on the way to the minimum of the quadratic model."""
        solve = self._solve_bounded if self._positive else self._solve
        step, image = solve(gradient, alpha, accuracy)
        ray = Ray(self._oracle, alpha, self._at, step, image, self._inner(gradient, step))
        # The segment between two non-negative solutions is non-negative; beyond it, solutions may be negative.
        self._move_to(ray.move(search_smooth(ray, 1.0 if self._positive else np.inf)))

    def _relax(self, alpha: float, tol: float) -> None:
        """Lower the objective by L-BFGS-B, where active sets make no progress: features that have much in common."""
        oracle = self._oracle

        def value_and_gradient(w: Vector) -> tuple[float, Vector]:
            point = evaluate(oracle, w)
            return point.objective(alpha), oracle.subgradient(point.risk.g) + 2 * alpha * w

        found = scipy.optimize.minimize(
            value_and_gradient,
            self._at.w,
            jac=True,
            method="L-BFGS-B",
            bounds=scipy.optimize.Bounds(0.0, np.inf),
            options={"maxiter": _MOST_STEPS, "maxfun": 2 * _MOST_STEPS, "maxcor": 20, "ftol": 0.0, "gtol": 0.0},
        )
        point = evaluate(oracle, np.maximum(found.x, 0.0))
        if point.objective(alpha) < self._at.objective(alpha):
            self._move_to(point)
        else:
            self._oracle.risk(self._at.scores)  # so that second derivatives are at hand

    def _solve(self, gradient: Vector, alpha: float, accuracy: float) -> tuple[Vector, Any]:
        """Solve H d = -g; return d and X d."""
        step, image, _ = self._conjugate_gradients(-gradient, alpha, accuracy, None)
        return step, image

    def _solve_bounded(self, gradient: Vector, alpha: float, accuracy: float) -> tuple[Vector, Any]:
        """Minimise ``g . d + d' H d / 2`` where ``w + d >= 0``, or nearly so; return d and X d.

        A primal-dual active set method (Hintermueller, Ito and Kunisch, 2002). CG minimises over the free features as
        if there were no bounds. Then all features that it took below zero are held at zero, and all held features
        with a negative derivative are freed. The model need not fall from one set to the next. A method that stops at
        the first bound to keep it falling changes one feature at a time, which with more features than rows takes far
        too long. The lowest of the projected minima is returned. Sets may go round in circles: where none of the first
        few lowers the model, the method that keeps it falling takes over.
        """
        w = self._at.w
        step, image, residual = np.zeros_like(w), self._oracle.zeros(), -gradient  # -(g + H step)
        free = (w > 0) | (gradient < 0)
        best, lowest, rises = None, 0.0, 0
        for _ in range(_MOST_FACES):
            move, move_image, H_move = self._conjugate_gradients(residual, alpha, accuracy, free)
            below = w + step + move < 0
            freed = ~free & (residual > H_move)
            if below.any():
                move, move_image, H_move = self._project(move, w + step, alpha)
            step, image, residual = np.maximum(step + move, -w), image + move_image, residual - H_move
            value = self._inner(step, gradient - residual) / 2
            rises = 0 if value < lowest else rises + 1
            if value < lowest:
                best, lowest = (step, image), value
            if rises == _MOST_RISES or self._is_minimum(w + step, residual, accuracy):
                break
            free = (free & ~below) | freed
        return self._descend(gradient, alpha, accuracy) if best is None else best

    def _descend(self, gradient: Vector, alpha: float, accuracy: float) -> tuple[Vector, Any]:
        """Minimise the model by descending steps: each is projected if it falls then, or ends at a bound."""
        w = self._at.w
        step, image, residual = np.zeros_like(w), self._oracle.zeros(), -gradient  # -(g + H step)
        held = np.zeros(len(w), dtype=bool)
        for _ in range(_MOST_FACES):
            free = ((w + step > 0) | (residual > 0)) & ~held
            move, move_image, H_move = self._conjugate_gradients(residual, alpha, accuracy, free)
            if (w + step + move >= 0).all():
                held[:] = False
            else:
                projected = self._project(move, w + step, alpha)
                if self._inner(projected[0], 0.5 * projected[2] - residual) < 0:
                    move, move_image, H_move = projected
                else:
                    t = longest_step(w + step, move)
                    # Features at zero that the others pull down stay there until the others have found their place.
                    held |= (w + step == 0) & (move < 0)
                    move, move_image, H_move = t * move, t * move_image, t * H_move
            step, image, residual = np.maximum(step + move, -w), image + move_image, residual - H_move
            if not (move.any() or held.any()) or self._is_minimum(w + step, residual, accuracy):
                break
        return step, image

    def _project(self, move: Vector, w: Vector, alpha: float) -> tuple[Vector, Any, Vector]:
        """Return a shorter move from w, such that no feature becomes negative, with X times it and H times it."""
        move = np.maximum(move, -w)
        image = self._oracle.scores(move)
        return move, image, self._multiply(move, image, alpha)

    def _is_minimum(self, w: Vector, residual: Vector, accuracy: float) -> bool:
        """Return whether the gradient, which is minus `residual`, is small for all features that can follow it."""
        return self._norm(np.where((w == 0) & (residual <= 0), 0.0, residual)) <= accuracy

    def _conjugate_gradients(
        self, residual: Vector, alpha: float, accuracy: float, free: NDArray[np.bool_] | None
    ) -> tuple[Vector, Any, Vector]:
        """Solve H d = residual on the features that are free; return d, X d and H d."""
        residual = _only(free, residual)
        direction, image, product = np.zeros_like(residual), self._oracle.zeros(), np.zeros_like(residual)
        precondition = self._preconditioner.at(alpha, free)
        s = precondition(residual)
        rz = self._inner(residual, s)
        for _ in range(_MOST_CG_STEPS):
            s_image = self._oracle.scores(s)
            Hs = self._multiply(s, s_image, alpha)
            sHs = self._inner(s, Hs)
            if not (0.0 < sHs < np.inf):  # nothing is left that float64 can tell from zero
                break
            length = rz / sHs
            direction += length * s
            s_image *= length  # in place: vectors of rows are what takes memory
            image += s_image
            image = self._oracle.settle(image)
            product += length * Hs
            residual = residual - length * _only(free, Hs)
            if self._norm(residual) <= accuracy:
                break
            z = precondition(residual)
            rz_before, rz = rz, self._inner(residual, z)
            if not 0.0 < rz < np.inf:
                break
            s = z + (rz / rz_before) * s
        return direction, image, product

    def _multiply(self, s: Vector, image: Any, alpha: float) -> Vector:
        """Compute H s; the preconditioner learns from it."""
        curved = self._oracle.subgradient(self._oracle.curvature(image))
        self._preconditioner.learn(s, curved)
        return curved + 2 * alpha * s


class _Preconditioner:
    """Approximates H^-1 by limited-memory BFGS updates of a diagonal, with products of H that CG has made anyway."""

    def __init__(self, oracle: SmoothOracle) -> None:
        self._inner, self._diagonal = oracle.inner, oracle.diagonal()  # of the risk alone: alpha may change
        most_pairs = _MOST_PAIRS if oracle.n_features <= _MANY_FEATURES else _FEW_PAIRS
        self._pairs: deque[tuple[Vector, Vector, float, float]] = deque(maxlen=most_pairs)

    def diagonal(self, alpha: float) -> Vector:
        """Return the diagonal of H, approximately."""
        return self._diagonal + 2 * alpha

    def learn(self, s: Vector, curved: Vector) -> None:
        """Add a direction and the product of the second derivative of R with it."""
        self._pairs.append((s, curved, float(self._inner(s, curved)), float(self._inner(s, s))))

    def at(self, alpha: float, free: NDArray[np.bool_] | None) -> Callable[[Vector], Vector]:
        """Return the preconditioner as of now, for vectors that are zero where not `free`."""
        inverse_diagonal = _only(free, 1.0 / self.diagonal(alpha))
        # s, the product of R with it, and 1 / s'Hs; H s itself is made where it is needed, for it depends on alpha.
        pairs = [
            (s, curved, 1.0 / (curvature + 2 * alpha * square))
            for s, curved, curvature, square in self._pairs
            if curvature + 2 * alpha * square > _SMALLEST  # or its inverse would overflow
        ]

        def apply(v: Vector) -> Vector:
            v, shares = v.copy(), []
            for s, curved, inverse in reversed(pairs):
                shares.append(inverse * float(self._inner(s, v)))
                v -= shares[-1] * curved
                v -= (2 * alpha * shares[-1]) * s
            v *= inverse_diagonal
            for (s, curved, inverse), share in zip(pairs, reversed(shares), strict=True):
                v += (share - inverse * float(self._inner(curved, v) + 2 * alpha * self._inner(s, v))) * s
            return _only(free, v)

        return apply


def _only(free: NDArray[np.bool_] | None, v: Vector) -> Vector:
    """Set the features that are not free to zero; None means that all are free."""
    return v if free is None else np.where(free, v, 0.0)
