r"""Bundle method for regularised risk minimisation, with a certificate.

    minimise  J(w) = R(w) + alpha ||w||^2,    R convex, non-negative, R(w) = loss(X w)

After algorithm 1 of Airola et al. (2011); symbols as there:

========= ================================================= ==============
symbol    meaning                                           here
========= ================================================= ==============
a_k, b_k  a plane below R: R(w) >= a_k . w + b_k            ``Cuts``
R_t       the greatest of the planes, the model of R
w_t       the minimiser of R_t(w) + alpha ||w||^2            ``model_w``
w_b       the best solution seen                            ``best.w``
eps_t     J(w_b) - J_t(w_t), the certificate                ``gap``
========= ================================================= ==============

The model is minimised in the dual, over the simplex: ``D(u) = b.u - ||A u||^2 / (4 alpha)``,
``w_t = -A u / (2 alpha)``; every D(u) is a lower bound of the optimum.

The paper evaluates R at w_t and takes the next plane there. With a line search (its future
work; Franc and Sonnenburg 2009 for classification) the best solution moves to the minimum on
the line to w_t, and the plane is taken just beyond that. An iteration costs one product
with X, one with its transpose, and a few evaluations of the loss.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank.losses import Risk
from kernelrank.solvers._cuts import Cuts
from kernelrank.solvers._line_search import Ray, search
from kernelrank.solvers._oracle import Oracle, finite
from kernelrank.solvers._result import HISTORY, Result
from kernelrank.solvers._simplex_qp import solve_simplex_qp

Vector = NDArray[np.float64]

_LINE_TOLERANCE = 1e-3  # of the gap: less is not worth an evaluation
_QP_ACCURACY = 0.01  # of tol


@dataclass
class _Iterate:
    """A solution, its scores and its risk."""

    w: Vector
    scores: Vector
    risk: Risk
    objective: float


def minimize_bundle(
    oracle: Oracle,
    alpha: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    start: Vector | None = None,
    line_search: bool = True,
    most_cuts: int = 200,
    report: Callable[[Any], None] | None = None,
) -> Result:
    """Minimise ``R(w) + alpha * ||w||^2`` until the certified gap is at most `tol`.

    Parameters
    ----------
    oracle : Oracle
        The risk R.
    alpha : float
        Positive weight of the squared norm.
    tol : float
        Certified gap to reach.
    max_iter : int
        Iterations, each with one product with X and one with its transpose.
    start : ndarray, optional
        A solution to start from, if it is better than zero.
    line_search : bool
        False gives the plain method of the paper.
    most_cuts : int
        Bound on the planes kept, ``8 * n_features`` bytes each.
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
    with np.errstate(over="ignore", invalid="ignore"):  # looked for, and reported, by finite()
        return _minimize(oracle, alpha, tol, max_iter, start, line_search, most_cuts, report)


def _minimize(
    oracle: Oracle,
    alpha: float,
    tol: float,
    max_iter: int,
    start: Vector | None,
    line_search: bool,
    most_cuts: int,
    report: Callable[[Any], None] | None,
) -> Result:
    began = time.perf_counter()
    history: list[tuple[float, float, float, int, int]] = []
    best = _start(oracle, alpha, start)
    cuts = Cuts(oracle.n_features, most_cuts)
    plane = best.risk
    lower = 0.0
    converged = False
    step = 1.0
    for iteration in range(max_iter):
        cuts.add(oracle.subgradient(plane.g), plane.offset)
        program = solve_simplex_qp(finite(cuts.gram / (2 * alpha)), cuts.offsets, _QP_ACCURACY * tol)
        cuts.u = program.u
        combined = cuts.combine(program.u)
        # D from the vector itself: the Gram matrix has lost ||A u||^2 when the cuts all but cancel.
        lower = max(lower, float(cuts.offsets @ program.u - combined @ combined / (4 * alpha)))
        gap = best.objective - lower
        # Zero may be within tol already, but orders nothing: one step at least, unless there is none to take.
        converged = gap <= tol and bool(best.w.any() or not combined.any())
        record = (best.objective, lower, time.perf_counter() - began, oracle.n_products, oracle.n_evaluations)
        history.append(record)
        if report is not None:
            report(np.array(record, dtype=HISTORY)[()])
        if converged or iteration == max_iter - 1:
            break
        model_w = combined / (-2 * alpha)
        model_scores = oracle.scores(model_w)
        if line_search:
            plane, step = _search_line(oracle, alpha, best, model_w, model_scores, step, _LINE_TOLERANCE * gap)
        else:
            plane = oracle.risk(model_scores)
            objective = plane.value + alpha * float(model_w @ model_w)
            if objective < best.objective:
                best = _Iterate(model_w, model_scores, plane, objective)
    return Result(best.w, best.objective, lower, converged, np.array(history, dtype=HISTORY))


def _start(oracle: Oracle, alpha: float, start: Vector | None) -> _Iterate:
    """Zero, whose scores need no product, or `start` if that is better.

    A start that is worse, from another alpha or other data, is not only useless: only while
    ``alpha * ||w||^2`` stays below J(0) does the line search lose no digits to it.
    """
    scores = np.zeros(oracle.n_rows)
    risk = oracle.risk(scores)
    zero = _Iterate(np.zeros(oracle.n_features), scores, risk, risk.value)
    if start is None:
        return zero
    w = start.astype(np.float64)
    scores = oracle.scores(w)
    risk = oracle.risk(scores)
    objective = risk.value + alpha * float(w @ w)
    return _Iterate(w, scores, risk, objective) if objective < zero.objective else zero


def _search_line(
    oracle: Oracle, alpha: float, best: _Iterate, w: Vector, scores: Vector, guess: float, tolerance: float
) -> tuple[Risk, float]:
    """Move `best` to the minimum on the line to `w`; return where to cut, and the step taken."""
    delta = w - best.w
    scores -= best.scores  # from here on the scores of delta
    ray = Ray(oracle, alpha, best.w, delta, best.scores, scores)
    found, beyond = search(ray, ray.at(0.0, best.risk), guess, tolerance)
    if found.t > 0:
        best.w = best.w + found.t * delta
        scores *= found.t
        best.scores += scores
        best.risk, best.objective = found.risk, found.value
    return beyond.risk, found.t
