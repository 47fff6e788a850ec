r"""The piecewise linear model of a risk, minimised together with a squared norm.

    minimise  max_k (a_k . w + b_k) + alpha ||w||^2    over all w, or over w >= 0

by its dual, ``maximise D(u)`` over the simplex. With A the matrix whose columns are the a_k,

    D(u) = b . u - ||A u||^2 / (4 alpha),       w = -A u / (2 alpha)                    over all w,
    D(u) = b . u - ||(-A u)_+||^2 / (4 alpha),  w = (-A u)_+ / (2 alpha)                over w >= 0.

The first is a quadratic program. The second is one wherever the same features are positive:
Newton's method solves the program of the features that are positive now, goes towards its
solution as long as D grows, and looks again. Every D(u) is a lower bound, wherever it ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank._dense import dot
from kernelrank.solvers._active_set import refine
from kernelrank.solvers._cuts import Cuts
from kernelrank.solvers._oracle import finite
from kernelrank.solvers._simplex_qp import SimplexSolver

Vector = NDArray[np.float64]

_MOST_PROGRAMS = 30
_MOST_SECANTS = 50
_FLAT = 1e-3  # a slope compared with the first
_STEP_ACCURACY = 0.1  # of the accuracy asked for


class ModelSolution(NamedTuple):
    """A point of the simplex, a lower bound of its dual value, the rounding included in it, and the w of the point."""

    u: Vector
    value: float
    rounding: float
    w: Vector


def minimize_model(
    cuts: Cuts, alpha: float, accuracy: float, solve: SimplexSolver, *, positive: bool = False
) -> ModelSolution:
    """Maximise D to within `accuracy`, if the small programs can be solved as well as that."""
    if not positive:
        H = finite(cuts.gram / (2 * alpha))
        if cuts.euclidean and np.finfo(np.float64).eps * np.diagonal(H).max() > accuracy:
            # The digits of the Gram matrix do not suffice; those of A may.
            root = float(np.sqrt(2 * alpha))
            u, z = refine(cuts.slopes.T / root, cuts.offsets, cuts.u, accuracy)
            return _evaluate(cuts, alpha, u, positive)._replace(w=z / -root)
        return _evaluate(cuts, alpha, solve(H, cuts.offsets, accuracy).u, positive)
    slope = cuts.combine(cuts.u)
    best = _at(cuts, alpha, cuts.u, slope, positive)
    for _ in range(_MOST_PROGRAMS):
        program = solve(finite(cuts.gram_of(best.w > 0) / (2 * alpha)), cuts.offsets, accuracy)
        change = cuts.combine(program.u) - slope
        t = ascend(dot(cuts.offsets, program.u - best.u), slope, change, alpha)
        slope = slope + t * change
        found = _at(cuts, alpha, best.u + t * (program.u - best.u), slope, positive)
        grown = found.value - best.value
        if grown > 0:
            best = found
        if grown <= _STEP_ACCURACY * accuracy:
            break
    return _evaluate(cuts, alpha, best.u, positive)  # not from slopes that have been added up


def ascend(gain: float, slope: Vector, change: Vector, alpha: float) -> float:
    """Return the t in [0, 1] where D is greatest, or nearly so, between two planes.

    The offset of the first plane grows by `gain`, and its slope changes by `change`. The derivative of D with respect
    to t falls, and is linear from one feature that changes its sign to the next.
    """

    def derivative(t: float) -> float:
        return gain + dot(np.maximum(-(slope + t * change), 0.0), change) / (2 * alpha)

    low, high, t = 0.0, 1.0, 1.0
    at_low, at_high = derivative(low), derivative(high)
    first = at_low
    for _ in range(_MOST_SECANTS):
        if not at_high < 0 < at_low:
            break
        t = low + (high - low) * at_low / (at_low - at_high)
        at_t = derivative(t)
        if abs(at_t) <= _FLAT * first:
            break
        # The side that stays counts half (Illinois), or it might stay for ever.
        if at_t > 0:
            low, at_low, at_high = t, at_t, at_high / 2
        else:
            high, at_high, at_low = t, at_t, at_low / 2
    return t


def _evaluate(cuts: Cuts, alpha: float, u: Vector, positive: bool) -> ModelSolution:
    # D from the vector itself: the Gram matrix loses the digits of ||A u||^2 when the cuts almost cancel.
    return _at(cuts, alpha, u, cuts.combine(u), positive)


def _at(cuts: Cuts, alpha: float, u: Vector, slope: Vector, positive: bool) -> ModelSolution:
    """Evaluate D at u, from ``A u``."""
    if positive:
        slope = np.minimum(slope, 0.0)
    square, rounding = cuts.squared_norm(slope), cuts.rounding(slope)
    value = dot(cuts.offsets, u) - (square + rounding) / (4 * alpha)
    return ModelSolution(u, value, rounding / (4 * alpha), slope / (-2 * alpha))
