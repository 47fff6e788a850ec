r"""Bundle method for regularised risk minimisation, with a certificate.

    minimise  J(w) = R(w) + alpha ||w||^2,    R convex, non-negative, R(w) = loss(X w)

After algorithm 1 of Airola et al. (2011); symbols as there:

========= ================================================= ==============
symbol    meaning                                           here
========= ================================================= ==============
a_k, b_k  a plane below R: R(w) >= a_k . w + b_k            ``Cuts``
R_t       the greatest of the planes, the model of R
w_t       the minimiser of R_t(w) + alpha ||w||^2            ``model.w``
w_b       the best solution seen                            ``best.w``
eps_t     J(w_b) - J_t(w_t), the certificate                ``gap``
========= ================================================= ==============

The model is minimised in the dual, ``_model.py``; every dual value is a lower bound of the optimum.

The paper evaluates R at w_t and takes the next plane there. With a line search (its future
work; Franc and Sonnenburg 2009 for classification) the best solution moves to the minimum on
the line to w_t, and the plane is taken just beyond that. An iteration costs one product
with X, one with its transpose, and a few evaluations of the loss.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from kernelrank._dense import dot
from kernelrank.losses import Risk
from kernelrank.solvers._cuts import Cuts
from kernelrank.solvers._line_search import Iterate, Ray, evaluate, extrapolate, search
from kernelrank.solvers._model import minimize_model
from kernelrank.solvers._oracle import Oracle, quiet, squared_norm
from kernelrank.solvers._result import Log, Plane, Report, Result, gap_goal
from kernelrank.solvers._simplex_qp import SimplexSolver

Vector = NDArray[np.float64]

_LINE_TOLERANCE = 1e-3  # of the gap: less is not worth an evaluation
_MODEL_ACCURACY = 0.01  # of the goal
_MOST_TRIALS = 20  # steps from zero that lead nowhere
_MOST_IDLE, _PROGRESS = 30, 1e-6  # iterations in which the gap falls by less than that: float64 is exhausted
_NEGLIGIBLE = 1e-4  # rounding, compared with the goal


class Bundle:
    """Bundle method for one alpha after the other.

    Planes do not depend on alpha, so those of one alpha are used for the next, and each solution is the start of the
    next.

    Parameters
    ----------
    oracle : Oracle
        The risk R.
    positive : bool
        Whether to minimise over w >= 0.
    start : ndarray, optional
        A solution to start from, if it is better than zero.
    planes : iterable of Plane
        Planes below R that are known already.
    line_search : bool
        False gives the plain method of the paper.
    most_cuts : int
        Bound on the planes kept, ``8 * n_features`` bytes each.
    compact : bool
        Save memory: 24 bytes per row less, for scores that are moved in place and rounded more often. A solution for
        one alpha is then not extrapolated to the next.
    """

    def __init__(
        self,
        oracle: Oracle,
        *,
        positive: bool = False,
        start: Vector | None = None,
        planes: Iterable[Plane] = (),
        line_search: bool = True,
        most_cuts: int = 200,
        compact: bool = False,
    ) -> None:
        self._compact = compact
        self._oracle, self._positive, self._line_search = oracle, positive, line_search
        self._began = time.perf_counter()
        self._cuts = Cuts(oracle, most_cuts)
        for plane in planes:
            self._cuts.add(*plane)
        self._solve = SimplexSolver()
        self._step = 1.0  # the last step taken
        self._before: Iterate | None = None  # the solution for the last alpha but one
        with quiet():
            self._best = evaluate(oracle, np.zeros(oracle.n_features))
            self._value_at_zero = self._best.risk.value
            if start is not None:
                w = np.maximum(start, 0.0) if positive else start.astype(np.float64)
                self._best = evaluate(oracle, w)
        self._plane: Risk | None = self._best.risk  # to be added to the cuts

    @property
    def planes(self) -> list[Plane]:
        """Planes below R, all but the one that is zero everywhere."""
        return [Plane(*each) for each in zip(self._cuts.slopes[1:], self._cuts.offsets[1:].tolist(), strict=True)]

    def minimize(
        self, alpha: float, *, tol: float = 1e-3, max_iter: int = 1000, report: Report | None = None
    ) -> Result:
        """Minimise ``R(w) + alpha * ||w||^2`` until the certified gap is small enough.

        Parameters
        ----------
        alpha : float
            Positive weight of the squared norm.
        tol : float
            Certified gap to reach, relative to the objective of w = 0; ten times that, relative to the objective
            itself, where the objective is below a tenth of the one of w = 0 (see `gap_goal`).
        max_iter : int
            Iterations, each with one product with X and one with its transpose.
        report : callable, optional
            Called with every new record of the history.

        Returns
        -------
        Result
            ``converged`` tells whether the gap was reached.

        Raises
        ------
        ValueError
            If the features are too large, or alpha too small, for float64.
        """
        with quiet():
            return self._minimize(float(alpha), float(tol), max_iter, report)

    def _minimize(self, alpha: float, tol: float, max_iter: int, report: Report | None) -> Result:
        oracle, cuts, log = self._oracle, self._cuts, Log(self._oracle, self._began, report)
        if self._best.objective(alpha) > self._value_at_zero:
            # From another alpha or other data. It is not only useless: while ``alpha * ||w||^2`` stays
            # below J(0) the line search loses no digits to it.
            self._best = evaluate(oracle, np.zeros(oracle.n_features))
            self._plane = self._best.risk
        self._extrapolate(alpha)
        lower, rounding, gap, idle = 0.0, 0.0, np.inf, 0
        for iteration in range(max_iter):
            # After another alpha the planes at hand may do; a new one costs a product.
            if self._plane is not None and (iteration > 0 or cuts.size == 1):
                cuts.add(oracle.subgradient(self._plane.g), self._plane.offset)
                self._plane = None
            objective = self._best.objective(alpha)
            goal = gap_goal(tol, objective, self._value_at_zero)
            model = minimize_model(cuts, alpha, _MODEL_ACCURACY * goal, self._solve, positive=self._positive)
            cuts.use(model.u)
            if model.value > lower:
                lower, rounding = model.value, model.rounding
            lower = min(lower, objective)  # beyond the objective it is rounding
            gap_before, gap = gap, objective - lower
            idle = idle + 1 if gap > (1 - _PROGRESS) * gap_before else 0
            # A solution of zero may meet tol, but orders nothing: take at least one step, unless there is none to take.
            # Where the risk has a kink at zero, rounding may hide from the model that there is none.
            settled = self._best.w.any() or not model.w.any() or iteration >= _MOST_TRIALS
            done = gap - rounding <= goal and bool(settled)
            hidden = self._hidden_rounding(alpha, model.w, goal) if done else 0.0
            converged = done and gap + hidden <= goal
            # Further planes do not help where float64 cannot resolve the gap.
            exhausted = not converged and ((done and max(gap, hidden) > goal) or idle == _MOST_IDLE)
            if converged or exhausted or iteration == max_iter - 1:
                break
            log.add(objective, lower, goal)
            if self._plane is None:
                self._advance(model.w, alpha, gap)
        lower = max(lower - self._hidden_rounding(alpha, model.w, goal), 0.0)
        log.add(objective, lower, goal)
        plane = Plane(cuts.combine(cuts.u), dot(cuts.offsets, cuts.u))
        return Result(self._best.w, self._best.scores, objective, lower, converged, log.history(), exhausted, plane)

    def _hidden_rounding(self, alpha: float, w: Vector, goal: float) -> float:
        """Bound what rounding of products with X may hide of the gap, where that is not negligible."""
        norms = (squared_norm(self._oracle, self._best.w)) ** 0.5 + squared_norm(self._oracle, w) ** 0.5
        slope = float(np.diagonal(self._cuts.gram).max()) ** 0.5
        return self._oracle.rounding_of_bounds(alpha, norms, slope, _NEGLIGIBLE * goal)

    def _extrapolate(self, alpha: float) -> None:
        """Start from a guess of the solution that follows from the last two, if it is better than the last one."""
        before, self._before = self._before, None if self._compact else self._best.without_g()
        if before is None:
            return
        found = extrapolate(self._oracle, alpha, self._best, before, positive=self._positive)
        if found is not None:
            self._best, self._plane = found, found.risk

    def _advance(self, w: Vector, alpha: float, gap: float) -> None:
        """Move from the best solution towards the minimiser `w` of the model, and find a plane for the next model."""
        oracle, best, scores = self._oracle, self._best, self._oracle.scores(w)
        if not self._line_search:
            self._plane = oracle.risk(scores)
            reached = Iterate(w, scores, self._plane, squared_norm(oracle, w))
            if reached.objective(alpha) < best.objective(alpha):
                self._best = reached
            return
        scores -= best.scores  # from here on the scores of the direction
        ray = Ray(oracle, alpha, best, w - best.w, scores, in_place=self._compact)
        self._best = best = best.without_g()  # the ray keeps g as long as it is needed
        # The segment between two non-negative solutions is non-negative; beyond it, solutions may be negative.
        longest = 1.0 if self._positive else np.inf
        found, beyond = search(ray, self._step, _LINE_TOLERANCE * gap, longest)
        self._best, self._plane, self._step = ray.move(found), beyond.risk, found.t
