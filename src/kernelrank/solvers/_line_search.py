"""Line search that costs counting passes only, no product with X.

Along ``w + t * delta`` the scores are ``p + t * q`` with ``q = X delta`` known, so the objective

    phi(t) = loss(p + t q) + alpha * ||w + t delta||^2

and its slope ``g . q + 2 alpha (w . delta + t ||delta||^2)`` take one evaluation of the loss.
phi is convex: two tangents, one falling and one rising, meet below its minimum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import slices
from kernelrank.losses import Risk
from kernelrank.solvers._oracle import Oracle, squared_norm

Vector = NDArray[np.float64]

_MOST_EVALUATIONS = 12
_MOST_SMOOTH_EVALUATIONS = 40  # slopes of a squared hinge may change quickly
_SHARE_OF_DECREASE = 0.3  # remaining decrease on the line, relative to the decrease so far, at which to stop
_SHORTEST_GUESS = 0.02
_GROWTH = 3.0
_SHARE_OF_SLOPE = 0.5
_EMPTY = np.empty(0)
_MOVED_AT_ONCE = 1 << 16  # scores


@dataclass(frozen=True)
class Iterate:
    """A solution, its scores X w, its risk, and its squared norm."""

    w: Vector
    scores: Any
    risk: Risk
    square: float

    def objective(self, alpha: float) -> float:
        """Return R(w) + alpha ||w||^2."""
        return self.risk.value + alpha * self.square

    def without_g(self) -> Iterate:
        """Return a copy without the plane's g, which takes as much memory as the scores."""
        return replace(self, risk=self.risk._replace(g=_EMPTY))


def evaluate(oracle: Oracle, w: Vector) -> Iterate:
    """Compute scores and risk of a solution; the scores of zero need no product."""
    scores = oracle.scores(w) if w.any() else oracle.zeros()
    return Iterate(w, scores, oracle.risk(scores), squared_norm(oracle, w))


class Point(NamedTuple):
    """phi at one t, and the risk it was computed from."""

    t: float
    value: float
    slope: float
    risk: Risk

    def without_g(self) -> Point:
        """Return a copy without the plane's g, which takes as much memory as the scores."""
        return self._replace(risk=self.risk._replace(g=_EMPTY))


class Ray:
    """The objective along ``w + t * delta``.

    Parameters
    ----------
    oracle : Oracle
    alpha : float
    start : Iterate
        w and its scores p.
    delta, q : ndarray
        The direction, and its scores.
    slope : float, optional
        Of phi at the start, if it is known; otherwise it follows from the risk there.
    in_place : bool
        Whether to move the scores p of the start along the line, instead of making new ones.
    """

    def __init__(
        self,
        oracle: Oracle,
        alpha: float,
        start: Iterate,
        delta: Vector,
        q: Any,
        slope: float | None = None,
        in_place: bool = False,
    ) -> None:
        self.in_place, self._t = in_place, 0.0
        self._oracle, self._alpha, self._start, self._delta, self._q = oracle, alpha, start.without_g(), delta, q
        self._wd, self._dd = float(oracle.inner(start.w, delta)), squared_norm(oracle, delta)
        self.origin = (
            self._point(0.0, start.risk) if slope is None else Point(0.0, start.objective(alpha), slope, start.risk)
        )

    def at(self, t: float) -> Point:
        """Evaluate phi and its slope."""
        return self._point(t, self._oracle.risk(self._scores(t)))

    def move(self, point: Point) -> Iterate:
        """Return the solution at a point."""
        if point.t == 0 and not self.in_place:
            return replace(self._start, risk=point.risk)
        w = self._start.w + point.t * self._delta
        return Iterate(w, self._oracle.settle(self._scores(point.t)), point.risk, squared_norm(self._oracle, w))

    def _scores(self, t: float) -> Any:
        if self.in_place:
            scores, step = self._start.scores, t - self._t
            for rows in slices(len(scores), _MOVED_AT_ONCE):
                scores[rows] += step * self._q[rows]
            self._t = t
            return scores
        scores = self._q * t
        scores += self._start.scores
        return scores

    def _point(self, t: float, risk: Risk) -> Point:
        value = risk.value + self._alpha * (self._start.square + 2 * t * self._wd + t * t * self._dd)
        slope = self._oracle.dot(risk.g, self._q) + 2 * self._alpha * (self._wd + t * self._dd)
        return Point(t, value, slope, risk)


def longest_step(w: Vector, delta: Vector) -> float:
    """Return the largest t for which ``w + t * delta`` is not negative."""
    falling = delta < 0
    return float(np.min(w[falling] / -delta[falling], initial=np.inf))


def search(ray: Ray, guess: float, tolerance: float, longest: float = np.inf) -> tuple[Point, Point]:
    """Find a point near the minimum, never above the origin, and one just beyond the minimum.

    The search ends when the tangents show that what is left to gain is within `tolerance`, or
    small compared with what was gained. Both points have been evaluated; the second lies on
    the far side of the minimum, where a cut tells the model most. If the ray moves in place, to save memory, only the
    better point keeps its vector g meanwhile, and the second may be the same point as the first.
    """
    low, high = ray.origin, None
    ray.origin = origin = low.without_g()  # of use only as long as low is the origin
    guess = min(max(guess, _SHORTEST_GUESS), 1.0)
    if origin.slope >= 0:
        # The line rises at once, as far as this subgradient tells: only a new cut can help.
        beyond = ray.at(guess)
        return min(low, beyond, key=_value), beyond
    t, side = guess, 0
    for _ in range(_MOST_EVALUATIONS):
        if ray.in_place and high is not None:
            low, high = (low, high.without_g()) if low.value <= high.value else (low.without_g(), high)
        point = ray.at(t)
        side_before, side = side, -1 if point.slope < 0 else 1
        low, high = (point, high) if side < 0 else (low, point)
        if high is None:
            if t >= longest:
                break
            t = min(_GROWTH * t, longest)
            continue
        width, bend = high.t - low.t, high.slope - low.slope
        # Where the two tangents meet, and how low phi could be there.
        meet = (low.value - high.value + high.slope * width) / bend
        lowest = min(low.value, high.value)
        if lowest - (low.value + low.slope * meet) <= max(tolerance, _SHARE_OF_DECREASE * (origin.value - lowest)):
            break
        # The slope's zero by interpolation; the same side twice means it is too curved for that.
        step = meet if side == side_before else -low.slope * width / bend
        t = low.t + min(max(step, 0.05 * width), 0.95 * width)
        del point  # frees its vector g, unless one of the ends has it
    complete = [each for each in (low, high) if each is not None and each.risk.g is not _EMPTY]
    best = min(complete, key=_value)
    return best, complete[-1]


def search_smooth(ray: Ray, longest: float = np.inf) -> Point:
    """Find a point that is lower than the origin and where the slope is at most half of what it was there.

    Starts with the whole step, as Newton's method wants. The point returned is the one
    evaluated last, so that second derivatives are at hand there. If float64 finds none that
    is lower, it is the origin.
    """
    origin = ray.origin
    if not origin.slope < 0:  # the step is nothing but rounding
        return ray.at(0.0)
    point = ray.at(1.0)
    low, low_slope = 0.0, origin.slope
    high, high_slope = np.inf, np.inf
    for _ in range(_MOST_SMOOTH_EVALUATIONS):
        if abs(point.slope) <= -_SHARE_OF_SLOPE * origin.slope and point.value <= origin.value:
            return point
        # The end of the interval that stays counts half (Illinois), or it might stay for ever.
        if point.slope < 0:
            if point.t >= longest:
                return point
            low, low_slope, high_slope = point.t, point.slope, high_slope / 2
        else:
            high, high_slope, low_slope = point.t, point.slope, low_slope / 2
        if high == np.inf:
            t = min(_GROWTH * low, longest)
        else:
            width = high - low
            zero = -low_slope * width / (high_slope - low_slope)
            t = low + min(max(zero, 0.05 * width), 0.95 * width)
        del point  # frees its vector g before the next one is made
        point = ray.at(t)
    return point if point.value <= origin.value else ray.at(low)


def extrapolate(
    oracle: Oracle, alpha: float, last: Iterate, before: Iterate, *, positive: bool, slope: Vector | None = None
) -> Iterate | None:
    """Continue a path of solutions: go on in the direction from the last but one to the last.

    Their scores are known, so this costs no product with X. It takes the whole step or, if the slope is positive there,
    the part of it where linear interpolation puts the zero of the slope. `slope` is the gradient of the risk at the
    last solution, if it does not have its plane any more. Returns None if the objective does not fall.
    """
    delta = last.w - before.w
    falls = None if slope is None else float(oracle.inner(slope + 2 * alpha * last.w, delta))
    ray = Ray(oracle, alpha, last, delta, last.scores - before.scores, falls)
    if not ray.origin.slope < 0 or (positive and longest_step(last.w, delta) < 1.0):
        return None
    point = ray.at(1.0)
    if point.slope > 0:
        point = ray.at(ray.origin.slope / (ray.origin.slope - point.slope))
    return ray.move(point) if point.value < ray.origin.value else None


def _value(point: Point) -> float:
    return point.value
