r"""Risks of few rows with many features, minimised over w >= 0 through inner products of the rows.

    minimise  J(w) = R(w) + alpha ||w||^2  over w >= 0,    R(w) = loss(X w),  X of shape (m, n) with m << n

Every plane below the loss, ``loss(p) >= g . p + b``, gives a lower bound of the minimum, and a solution:

    D(g, b) = b - ||(-X' g)_+||^2 / (4 alpha),    w = (-X' g)_+ / (2 alpha).

========= ============================================================= ====================
symbol    meaning                                                       here
========= ============================================================= ====================
g, b      the plane with the greatest D so far                          ``_plane``
F         the features with ``(X' g)_j < 0``, which are those of w > 0  ``features``
K         ``X_F X_F'``, of shape (m, m)                                 ``_Gram``
========= ============================================================= ====================

With F fixed, D belongs to the problem without bounds on the features F alone, whose kernel matrix is K: a solver for
kernels minimises it without touching X again. The plane that proves its lower bound is the Newton step for D, which is
piecewise quadratic. D is concave and rises along the way to that plane, so a line search makes it rise until F stays as
it is. An iteration costs three products with X, a pass over the columns of the features that enter or leave F, and the
solution with F fixed, in O(m^2) per step.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelrank._dense import dot, multiply, norm
from kernelrank.solvers._kernel_products import make_kernel_products
from kernelrank.solvers._line_search import Iterate, Ray, evaluate, search
from kernelrank.solvers._model import ascend
from kernelrank.solvers._oracle import LinearOracle, SmoothLinearOracle, quiet, squared_norm
from kernelrank.solvers._products import Products
from kernelrank.solvers._result import Log, Plane, Report, Result, gap_goal

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Columns = NDArray[np.intp]

_MOST_UPDATES = 50  # of K, each of which adds its rounding
_SHARE_OF_GAP, _SHARE_OF_GOAL = 0.01, 0.3  # gap to which the problem with F fixed is solved
_LINE_TOLERANCE = 1e-3  # of the gap
_MOST_IDLE = 5  # iterations without progress: float64 is exhausted
_SLOW, _SHARPER = 0.5, 0.1  # a gap that falls by less makes the tolerance with F fixed smaller by that factor
_SHARPEST = 1e-3  # the smallest factor of that tolerance
_MOST_SLOW = 3  # slow iterations in a row, after which a solver in the space of the features takes over
_MOST_STEPS = 20  # of it, if the loss is smooth; otherwise it goes on to the end
_NEGLIGIBLE = 1e-4  # rounding, compared with the goal


@dataclass(frozen=True)
class WideProducts(Products):
    """Products with a matrix that has far more columns than rows.

    Attributes
    ----------
    n_rows, n_columns : int
        Numbers of rows and of columns.
    forward : callable
        Takes w to X w.
    backward : callable
        Takes g to X' g, for g that sums to zero in every query.
    squares : callable
        Takes d to (X * X)' d, elementwise.
    gram : callable
        Takes columns and signs to the inner products of the rows over these columns, each multiplied by its sign. Rows
        are centred in every query.
    """

    gram: Callable[[Columns, Vector], Matrix]


class FaceSolver(Protocol):
    """A solver for functions of a kernel, without bounds."""

    @property
    def planes(self) -> list[Plane]:
        """Planes below the risk, from which the next solver can start."""

    def minimize(self, alpha: float, *, tol: float, max_iter: int, report: Report | None = None) -> Result:
        """Minimise."""


class _Point(NamedTuple):
    """A plane below the loss, and X' g."""

    g: Vector
    offset: float
    slope: Vector

    def bound(self, alpha: float) -> float:
        """Return D."""
        falling = np.minimum(self.slope, 0.0)
        return self.offset - dot(falling, falling) / (4 * alpha)


class PositiveRows:
    """Active set method for one alpha after the other; each solution is the start of the next.

    Parameters
    ----------
    oracle : LinearOracle
        The risk R. Where it is smooth, its gradient must become small as well.
    products : WideProducts
        Those of the oracle.
    make : callable
        ``make(products, start=..., planes=...)`` returns a solver for the same loss and the features of a kernel, and
        ``make(products, start=..., positive=True)`` one for the features themselves.
    start : ndarray, optional
        A solution to start from, if it is better than zero.
    """

    def __init__(
        self,
        oracle: LinearOracle,
        products: WideProducts,
        make: Callable[..., FaceSolver],
        *,
        start: Vector | None = None,
    ) -> None:
        self._oracle, self._products, self._gram, self._make = oracle, products, _Gram(products), make
        self._began = time.perf_counter()
        self._coefficients: Vector | None = None  # of the last problem with F fixed
        self._planes = list[Plane]()
        with quiet():
            self._best = evaluate(self._oracle, np.zeros(products.n_columns))
            self._value_at_zero = self._best.risk.value
            self._plane = self._point(self._best.risk.g, self._best.risk.offset)
            self._first_norm = norm(np.minimum(self._plane.slope, 0.0))
            if start is not None:
                self._best = evaluate(self._oracle, np.maximum(start, 0.0))

    def minimize(
        self, alpha: float, *, tol: float = 1e-3, max_iter: int = 1000, report: Report | None = None
    ) -> Result:
        """Minimise ``R(w) + alpha * ||w||^2`` over w >= 0.

        Parameters
        ----------
        alpha : float
            Weight of the squared norm.
        tol : float, default=1e-3
            Gap to reach, as for the solvers without bounds; with a smooth loss, the gradient must be small as well.
        max_iter : int, default=1000
            Largest number of sets of features, and of iterations for each of them.
        report : callable, optional
            Called with each record of the history.

        Returns
        -------
        Result
            The solution with its certificate.
        """
        with quiet():
            return self._minimize(float(alpha), float(tol), max_iter, report)

    def _minimize(self, alpha: float, tol: float, max_iter: int, report: Report | None) -> Result:
        log, sharpness = Log(self._oracle, self._began, report), 1.0
        if self._best.objective(alpha) > self._value_at_zero:
            self._best = evaluate(self._oracle, np.zeros_like(self._best.w))
        lower, gap, slow, idle = 0.0, np.inf, 0, 0
        for iteration in range(max_iter):
            objective, gap_before = self._best.objective(alpha), gap
            goal = gap_goal(tol, objective, self._value_at_zero)
            rounding = self._rounding(alpha, objective, goal)
            lower = min(max(lower, self._plane.bound(alpha) - rounding), objective)
            gap = objective - lower
            log.add(objective, lower, goal)
            # A solution of zero may meet tol, but orders nothing.
            settled = bool(self._best.w.any()) or self._first_norm == 0
            near = settled and gap <= goal
            converged = near and self._is_flat(alpha, tol)
            idle = idle + 1 if gap >= gap_before else 0
            slow = slow + 1 if near or gap > _SLOW * gap_before else 0
            if converged or idle == _MOST_IDLE or iteration == max_iter - 1:
                break
            if slow == _MOST_SLOW:
                lower = max(lower, self._polish(alpha, tol, max_iter))
                slow = 0
                continue
            sharpness = max(_SHARPER * sharpness, _SHARPEST) if slow else sharpness
            share = max(_SHARE_OF_GOAL, _SHARE_OF_GAP * gap / goal) * sharpness
            self._advance(alpha, share * tol, max_iter, gap)
        exhausted = not converged and (idle == _MOST_IDLE or rounding > goal)
        plane = Plane(self._plane.slope, self._plane.offset)
        return Result(self._best.w, self._best.scores, objective, lower, converged, log.history(), exhausted, plane)

    def _advance(self, alpha: float, tol: float, max_iter: int, gap: float) -> None:
        """Solve the problem on the features of w > 0, and go towards its plane and its solution."""
        features = self._plane.slope < 0
        K = self._gram.of(features)
        m = len(K)
        start = self._coefficients
        planes = [Plane(_function(K, plane.slope[:m]), plane.offset) for plane in self._planes]
        solver = self._make(
            make_kernel_products(K), start=None if start is None else _function(K, start), planes=planes
        )
        found = solver.minimize(alpha, tol=tol, max_iter=max_iter)
        self._planes, self._coefficients = solver.planes, found.w[:m]
        self._ascend(alpha, self._point(found.plane.slope[:m], found.plane.offset))
        w = np.where(features, np.maximum(self._oracle.subgradient(self._coefficients), 0.0), 0.0)
        ray = Ray(self._oracle, alpha, self._best, w - self._best.w, self._oracle.scores(w) - self._best.scores)
        # The segment between two non-negative solutions is non-negative; beyond it, solutions may be negative.
        self._best = ray.move(search(ray, 1.0, _LINE_TOLERANCE * gap, 1.0)[0])

    def _polish(self, alpha: float, tol: float, max_iter: int) -> float:
        """Lower the best solution by a solver in the space of the features; return its lower bound.

        Where all rows can be ordered almost without a loss, alpha is so small for the features that planes say little
        about solutions, while there are many good ones, which this solver finds soon. Where rows have much in common,
        sets of features change slowly.
        """
        max_iter = min(max_iter, _MOST_STEPS) if isinstance(self._oracle, SmoothLinearOracle) else max_iter
        solver = self._make(self._products, positive=True, start=self._best.w)
        found = solver.minimize(alpha, tol=tol, max_iter=max_iter)
        self._oracle.n_products += int(found.history["n_products"][-1])
        risk = self._oracle.risk(found.scores)
        polished = Iterate(found.w, found.scores, risk, squared_norm(self._oracle, found.w))
        if polished.objective(alpha) <= self._best.objective(alpha):
            self._best = polished
        return found.lower_bound

    def _ascend(self, alpha: float, end: _Point) -> None:
        """Move the plane towards another one as long as D rises."""
        start, change = self._plane, end.slope - self._plane.slope
        t = ascend(end.offset - start.offset, start.slope, change, alpha)
        self._plane = _Point(
            start.g + t * (end.g - start.g),
            start.offset + t * (end.offset - start.offset),
            end.slope if t == 1 else start.slope + t * change,
        )

    def _point(self, g: Vector, offset: float) -> _Point:
        return _Point(g, offset, self._oracle.subgradient(g))

    def _is_flat(self, alpha: float, tol: float) -> bool:
        """Return whether the part of the gradient that a feasible step can follow is small, if the loss is smooth."""
        if not isinstance(self._oracle, SmoothLinearOracle):
            return True
        w = self._best.w
        gradient = self._oracle.subgradient(self._best.risk.g) + 2 * alpha * w
        return norm(np.where(w > 0, gradient, np.minimum(gradient, 0.0))) <= tol * self._first_norm

    def _rounding(self, alpha: float, objective: float, goal: float) -> float:
        """Bound what rounding may hide of the gap, where that is not negligible."""
        norms = 2 * squared_norm(self._oracle, self._best.w) ** 0.5
        error = self._oracle.rounding_of_bounds(alpha, norms, norm(self._plane.slope), _NEGLIGIBLE * goal)
        if isinstance(self._oracle, SmoothLinearOracle):
            # A hinge of h, of scores that are off by e, has the square (h + e)^2 at most.
            error = error * (2 * float(np.sqrt(objective)) + error) + 2 * self._oracle.rounding
        return error


class _Gram:
    """Inner products of the rows over a set of features that changes."""

    def __init__(self, products: WideProducts) -> None:
        self._products, self._updates = products, 0
        self._features, self._matrix = np.zeros(products.n_columns, np.bool_), np.zeros((0, 0))

    def of(self, features: NDArray[np.bool_]) -> Matrix:
        """Return the inner products over these features: O(m^2) per feature, or per feature that changed, if few."""
        changed = np.flatnonzero(features != self._features)
        if self._matrix.size and self._updates < _MOST_UPDATES and 2 * len(changed) < np.count_nonzero(features):
            signs = np.where(features[changed], 1.0, -1.0)
            self._matrix, self._updates = self._matrix + self._products.gram(changed, signs), self._updates + 1
        else:
            columns = np.flatnonzero(features)
            self._matrix, self._updates = self._products.gram(columns, np.ones(len(columns))), 0
        self._features = features
        return self._matrix


def _function(K: Matrix, coefficients: Vector) -> Vector:
    """Return a function as its coefficients and values, see `KernelProducts`."""
    return np.concatenate([coefficients, multiply(K, coefficients, n_threads=1)])
