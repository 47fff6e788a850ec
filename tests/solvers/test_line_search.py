"""Line searches, on convex functions of one number and along real lines."""

import numpy as np
import pytest
from oracles import pairwise_squared_hinge

from kernelrank.losses import PairwiseSquaredHinge, Risk
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import SmoothLinearOracle, make_products
from kernelrank.solvers._line_search import Iterate, Point, Ray, search, search_smooth


class Line:
    """Stands for a Ray: a convex function that falls at 0."""

    in_place = False

    def __init__(self, value, slope):
        self._value, self._slope, self.tried = value, slope, []
        self.origin = self._point(0.0)

    def at(self, t):
        self.tried.append(t)
        return self._point(t)

    def _point(self, t):
        return Point(t, self._value(t), self._slope(t), Risk(self._value(t), 0.0, np.empty(0)))


def parabola(minimum):
    return Line(lambda t: (t - minimum) ** 2, lambda t: 2 * (t - minimum))


def bend(at, steepness):
    """Falls slowly, and rises as a parabola from `at` on: what a squared hinge looks like."""
    return Line(lambda t: -t + steepness * max(0.0, t - at) ** 2, lambda t: -1 + 2 * steepness * max(0.0, t - at))


def valley(left, right, slope):
    """Falls with slope -1 up to `left`, rises with `slope` from `right` on, a parabola between."""
    curve = (1 + slope) / (right - left)

    def value(t):
        inside = min(max(t - left, 0.0), right - left)
        return -t + curve * inside**2 / 2 + max(t - right, 0.0) * (1 + slope)

    return Line(value, lambda t: -1 + curve * min(max(t - left, 0.0), right - left))


LINES = {
    **{f"parabola with minimum {t}": (parabola, t) for t in (1e-6, 0.01, 0.3, 0.5, 1.0, 1.7, 10.0, 1e4)},
    **{f"bend at {t}": (bend, t, steepness) for t, steepness in ((0.0, 10), (0.1, 3), (0.5, 2), (2.0, 5), (20.0, 0.1))},
    "valley, flat behind": (valley, 0.1, 0.2, 0.4),  # at 1 the slope is small, but the value above the origin
    "valley, steep behind": (valley, 0.1, 0.2, 5.0),
    "wide valley": (valley, 0.0, 100.0, 1.0),
}
lines = pytest.mark.parametrize("line", [lambda each=each: each[0](*each[1:]) for each in LINES.values()], ids=LINES)


@lines
def test_the_smooth_search_goes_down_and_halves_the_slope(line):
    line = line()
    point = search_smooth(line)
    assert point.value <= line.origin.value
    assert abs(point.slope) <= -0.5 * line.origin.slope
    assert line.tried[0] == 1.0  # Newton's step
    assert line.tried[-1] == point.t  # second derivatives are those of the last evaluation
    assert len(line.tried) <= 13


@lines
@pytest.mark.parametrize("longest", [1.0, 1.5, 4.0])
def test_the_smooth_search_stays_inside(line, longest):
    line = line()
    point = search_smooth(line, longest)
    assert max(line.tried) <= longest
    assert len(set(line.tried)) == len(line.tried)  # nothing is looked at twice
    assert line.tried[-1] == point.t
    assert point.value <= line.origin.value
    assert abs(point.slope) <= -0.5 * line.origin.slope or (point.t == longest and point.slope < 0)


def test_a_step_that_is_right_takes_one_evaluation():
    line = parabola(1.0)
    assert search_smooth(line).t == 1.0
    assert line.tried == [1.0]


@lines
@pytest.mark.parametrize("guess", [0.02, 0.3, 1.0])
def test_the_search_for_cuts_goes_down_and_looks_beyond(line, guess):
    line = line()
    best, beyond = search(line, guess, tolerance=0.0)
    assert best.value <= line.origin.value
    assert {best.t, beyond.t} <= {0.0, *line.tried}
    assert beyond.slope >= 0 or beyond.t == max(line.tried)
    assert len(line.tried) <= 12


@lines
@pytest.mark.parametrize("guess", [0.02, 0.3, 1.0])
def test_the_search_in_place_returns_points_that_have_their_planes(line, guess):
    line, free = line(), line()
    line.in_place = True
    best, beyond = search(line, guess, tolerance=0.0)
    assert best.value == search(free, guess, tolerance=0.0)[0].value
    assert line.tried == free.tried
    for point in (best, beyond):
        assert point.without_g().risk.g is not point.risk.g


def test_a_ray_moves_in_place(rng):
    X, y, alpha = rng.normal(size=(50, 4)), rng.integers(0, 5, 50), 0.1
    oracle = SmoothLinearOracle(make_products(X), PairwiseSquaredHinge(UtilityPairs(y)))
    w, delta = rng.normal(size=(2, 4))
    fixed, moving = (
        Ray(oracle, alpha, Iterate(w, X @ w, oracle.risk(X @ w), w @ w), delta, X @ delta, in_place=in_place)
        for in_place in (False, True)
    )
    for t in (0.5, 3.0, 0.25):
        assert moving.at(t).value == pytest.approx(fixed.at(t).value, rel=1e-12)
    for point in (fixed.at(0.5), fixed.origin):
        reached = moving.move(point)
        np.testing.assert_allclose(reached.scores, fixed.move(point).scores, atol=1e-12)
        np.testing.assert_array_equal(reached.w, fixed.move(point).w)


def test_a_ray_is_the_objective_on_a_line(rng):
    X, y, alpha = rng.normal(size=(50, 4)), rng.integers(0, 5, 50), 0.1
    oracle = SmoothLinearOracle(make_products(X), PairwiseSquaredHinge(UtilityPairs(y)))
    w, delta = rng.normal(size=(2, 4))
    ray = Ray(oracle, alpha, Iterate(w, X @ w, oracle.risk(X @ w), w @ w), delta, X @ delta)

    def objective(t):
        at = w + t * delta
        return pairwise_squared_hinge(y, X @ at) + alpha * at @ at

    for t in (0.0, 0.25, 1.0, 3.0):
        point = ray.at(t) if t else ray.origin
        assert point.value == pytest.approx(objective(t), rel=1e-12)
        assert point.slope == pytest.approx((objective(t + 1e-5) - objective(t - 1e-5)) / 2e-5, rel=1e-4)
        moved = ray.move(point)
        np.testing.assert_allclose(moved.w, w + t * delta, rtol=1e-14)
        np.testing.assert_allclose(moved.scores, X @ (w + t * delta), rtol=1e-12, atol=1e-13)
        assert moved.objective(alpha) == pytest.approx(objective(t), rel=1e-12)
    assert oracle.n_products == 0
    assert oracle.n_evaluations == 4


@pytest.mark.parametrize(("at", "steepness"), [(0.9, 50), (0.067, 1e5), (0.5, 1e3), (0.5, 1e6)])
def test_the_smooth_search_does_not_stall(at, steepness):
    line = bend(at, steepness)
    point = search_smooth(line)
    assert point.value <= line.origin.value
    assert point.t == pytest.approx(at, rel=1e-2)
    assert steepness > 1e5 or abs(point.slope) <= -0.5 * line.origin.slope


def test_the_origin_keeps_what_was_evaluated_there(rng):
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    oracle = SmoothLinearOracle(make_products(X), PairwiseSquaredHinge(UtilityPairs(y)))
    start = Iterate(np.zeros(3), np.zeros(20), oracle.risk(np.zeros(20))._replace(g=np.empty(0)), 0.0)
    ray = Ray(oracle, 0.1, start, np.ones(3), X.sum(axis=1), slope=-1.0)
    assert ray.move(ray.at(0.0)).risk.g.shape == (20,)


class Flat:
    """A ray without a slope that is higher everywhere but at its origin, as rounding may make it."""

    origin = Point(0.0, 0.0, 0.0, None)

    def at(self, t):
        return Point(t, float(t > 0), 0.0, None)


def test_a_step_that_is_rounding_leads_nowhere():
    assert search_smooth(Flat()).t == 0.0
