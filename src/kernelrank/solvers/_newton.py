r"""Truncated Newton method for smooth regularised risks.

    minimise  J(w) = R(w) + alpha ||w||^2,    R convex, non-negative, twice differentiable, R(w) = loss(X w)

========= =================================================== ====================
symbol    meaning                                             here
========= =================================================== ====================
g         gradient, X' loss'(p) + 2 alpha w                   ``gradient``
H         second derivative, X' loss''(p) X + 2 alpha I       ``_solve``
d         Newton direction, H d = -g, solved by CG            ``direction``
s, H s    the directions of earlier CG steps, with products   ``_Preconditioner``
========= =================================================== ====================

A product with H costs one product with X, one with its transpose, and a pass over the pairs
without a sort: the order of the scores is that of w and stays. The line search costs passes
only. Two things make CG short: it ends as soon as the remaining error no longer shows in the
next gradient, and what it learnt of H preconditions the next systems (Morales and Nocedal,
"Automatic preconditioning by limited memory quasi-Newton updating", 2000), over the diagonal of H.

J is strongly convex with modulus 2 alpha, so ``J(w) - J* <= ||g||^2 / (4 alpha)``: the certificate.

With ``positive=True`` the minimum is over w >= 0. Newton's method then works on the features that
are not held at zero, and the end of its step is projected; the line search follows the segment to
that point, all of which is feasible. The certificate minimises the same bound over w >= 0.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kernelrank.solvers._line_search import Iterate, Ray, extrapolate, longest_step, search_smooth
from kernelrank.solvers._oracle import SmoothOracle, quiet
from kernelrank.solvers._result import Log, Report, Result

Vector = NDArray[np.float64]

_EMPTY = np.empty(0)
# Directions kept for the preconditioner; few where they would cost as much as a product with X.
_MOST_PAIRS, _FEW_PAIRS, _MANY_FEATURES = 30, 8, 10_000
_MOST_CG_STEPS = 250
_COARSEST, _FINEST = 0.5, 0.1  # error of a direction, relative to the gradient
_FINAL_ERROR = 0.5  # of the gradient to be reached: a smaller one would not show
_LEAST_DESCENT = 1e-3  # of a projected direction, relative to that of the scaled gradient
_MOST_IDLE = 3  # iterations without a smaller objective: float64 is exhausted


class Newton:
    """Minimises for one alpha after the other; each solution is where the next begins.

    Parameters
    ----------
    oracle : SmoothOracle
        The risk R. Nobody else may use it meanwhile.
    positive : bool
        Whether to minimise over w >= 0.
    start : ndarray, optional
        A solution to start from, if it is better than zero.
    """

    def __init__(self, oracle: SmoothOracle, *, positive: bool = False, start: Vector | None = None) -> None:
        self._oracle, self._positive, self._began = oracle, positive, time.perf_counter()
        with quiet():
            self._before: Iterate | None = None  # the solution for the last alpha but one
            self._move_to(self._zero())
            self._value_at_zero = self._at.risk.value
            # What tolerances are relative to; it does not depend on alpha.
            self._first_norm = float(np.linalg.norm(self._reduced(self._slope)))
            self._preconditioner = _Preconditioner(oracle.diagonal())
            if start is not None:
                w = np.maximum(start, 0.0) if positive else start.astype(np.float64)
                scores = oracle.scores(w)
                self._move_to(Iterate(w, scores, oracle.risk(scores)))

    def minimize(
        self, alpha: float, *, tol: float = 1e-3, max_iter: int = 1000, report: Report | None = None
    ) -> Result:
        """Minimise ``R(w) + alpha * ||w||^2``.

        Parameters
        ----------
        alpha : float
            Positive weight of the squared norm.
        tol : float
            Norm of the gradient to reach, relative to that at w = 0.
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
            return self._minimize(alpha, tol, max_iter, report)

    def _minimize(self, alpha: float, tol: float, max_iter: int, report: Report | None) -> Result:
        log = Log(self._oracle, self._began, report)
        if self._at.objective(alpha) > self._value_at_zero:
            self._move_to(self._zero())
        self._extrapolate(alpha)
        lower, idle, converged = 0.0, 0, False
        for iteration in range(max_iter):
            objective, gradient = self._at.objective(alpha), self._slope + 2 * alpha * self._at.w
            norm = float(np.linalg.norm(self._reduced(gradient)))
            lower = max(lower, objective - self._shortfall(gradient, alpha))
            log.add(objective, lower)
            converged = norm <= tol * self._first_norm
            if converged or iteration == max_iter - 1 or idle == _MOST_IDLE:
                break
            coarse = min(max(np.sqrt(norm / self._first_norm), _FINEST), _COARSEST) * norm
            self._step(gradient, alpha, max(coarse, _FINAL_ERROR * tol * self._first_norm))
            idle = idle + 1 if self._at.objective(alpha) >= objective else 0
        return Result(self._at.w, self._at.scores, objective, lower, converged, log.history())

    def _extrapolate(self, alpha: float) -> None:
        """Go on in the direction from the last solution but one to the last: their scores are known, no product."""
        at, before = self._at, self._before
        self._before = at
        if before is None:
            return
        delta = at.w - before.w
        longest = longest_step(at.w, delta) if self._positive else np.inf
        slope = float((self._slope + 2 * alpha * at.w) @ delta)
        ray = Ray(self._oracle, alpha, at, delta, at.scores - before.scores, slope)
        if slope < 0 and longest >= 1.0:
            self._move_to(ray.move(extrapolate(ray)))

    def _zero(self) -> Iterate:
        """Zero, whose scores need no product."""
        scores = np.zeros(self._oracle.n_rows)
        return Iterate(np.zeros(self._oracle.n_features), scores, self._oracle.risk(scores))

    def _move_to(self, iterate: Iterate) -> None:
        """Take the gradient there; the second derivative must be at hand: the risk was the last to be evaluated."""
        self._slope = self._oracle.subgradient(iterate.risk.g)  # of R
        # From here on the slope stands for g, which would take as much memory as the scores.
        self._at = replace(iterate, risk=iterate.risk._replace(g=_EMPTY))

    def _reduced(self, gradient: Vector) -> Vector:
        """Return the part of the gradient that a feasible step can follow."""
        return np.where(self._at.w > 0, gradient, np.minimum(gradient, 0.0)) if self._positive else gradient

    def _shortfall(self, gradient: Vector, alpha: float) -> float:
        """Bound J(w) - J*: what the parabola of curvature 2 alpha that touches J at w falls by."""
        fall = gradient / (-2 * alpha)
        if self._positive:
            fall = np.maximum(fall, -self._at.w)
        return -float(gradient @ fall + alpha * (fall @ fall))

    def _step(self, gradient: Vector, alpha: float, accuracy: float) -> None:
        """Move to a lower point in Newton's direction."""
        direction, image = self._solve(gradient, alpha, accuracy)
        longest = np.inf
        if self._positive:
            direction, image = self._project(direction, image, gradient, alpha)
            longest = 1.0
        ray = Ray(self._oracle, alpha, self._at, direction, image, float(gradient @ direction))
        self._move_to(ray.move(search_smooth(ray, longest)))

    def _solve(self, gradient: Vector, alpha: float, accuracy: float) -> tuple[Vector, Vector]:
        """Solve H d = -g by preconditioned CG, on the features that may move; return d and X d."""
        free = (self._at.w > 0) | (gradient < 0) if self._positive else None
        direction, image = np.zeros_like(self._at.w), np.zeros_like(self._at.scores)
        residual = _only(free, -gradient)
        precondition = self._preconditioner.at(alpha, free)
        s = precondition(residual)
        rz = float(residual @ s)
        for _ in range(_MOST_CG_STEPS):
            s_image = self._oracle.scores(s)
            curved = self._oracle.subgradient(self._oracle.curvature(s_image))
            Hs = _only(free, curved + 2 * alpha * s)
            sHs = float(s @ Hs)
            if not (0.0 < sHs < np.inf):  # nothing is left that float64 can tell from zero
                break
            self._preconditioner.learn(s, curved)
            step = rz / sHs
            direction += step * s
            image += step * s_image
            residual -= step * Hs
            if np.linalg.norm(residual) <= accuracy:
                break
            z = precondition(residual)
            rz_before, rz = rz, float(residual @ z)
            s = z + (rz / rz_before) * s
        return direction, image

    def _project(self, direction: Vector, image: Vector, gradient: Vector, alpha: float) -> tuple[Vector, Vector]:
        """End the step where w >= 0; if that makes it no descent, step along the scaled gradient."""
        feasible = np.maximum(direction, -self._at.w)
        safe = np.maximum(gradient / -self._preconditioner.diagonal(alpha), -self._at.w)
        if gradient @ feasible > _LEAST_DESCENT * (gradient @ safe):
            feasible = safe
        return (direction, image) if (feasible == direction).all() else (feasible, self._oracle.scores(feasible))


class _Preconditioner:
    """Approximates H^-1 by limited-memory BFGS updates of a diagonal, with products of H that CG has made anyway."""

    def __init__(self, diagonal: Vector) -> None:
        self._diagonal = diagonal  # of the risk alone: alpha may change
        most_pairs = _MOST_PAIRS if len(diagonal) <= _MANY_FEATURES else _FEW_PAIRS
        self._pairs: deque[tuple[Vector, Vector, float, float]] = deque(maxlen=most_pairs)

    def diagonal(self, alpha: float) -> Vector:
        """Of H, nearly."""
        return self._diagonal + 2 * alpha

    def learn(self, s: Vector, curved: Vector) -> None:
        """Keep a direction and the product of the second derivative of R with it."""
        self._pairs.append((s, curved, float(s @ curved), float(s @ s)))

    def at(self, alpha: float, free: NDArray[np.bool_] | None) -> Callable[[Vector], Vector]:
        """Return the preconditioner as of now, for vectors that are zero where not `free`."""
        inverse_diagonal = _only(free, 1.0 / self.diagonal(alpha))
        pairs = [
            (s, curved + 2 * alpha * s, 1.0 / (curvature + 2 * alpha * square))
            for s, curved, curvature, square in self._pairs
        ]

        def apply(v: Vector) -> Vector:
            v, shares = v.copy(), []
            for s, Hs, inverse in reversed(pairs):
                shares.append(inverse * float(s @ v))
                v -= shares[-1] * Hs
            v *= inverse_diagonal
            for (s, Hs, inverse), share in zip(pairs, reversed(shares), strict=True):
                v += (share - inverse * float(Hs @ v)) * s
            return _only(free, v)

        return apply


def _only(free: NDArray[np.bool_] | None, v: Vector) -> Vector:
    """Keep what may move, all of it if nothing says otherwise."""
    return v if free is None else np.where(free, v, 0.0)
