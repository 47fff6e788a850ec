"""When a solver stops: the gap is small compared with the objective, not only with that of w = 0."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from kernelrank import OrdinalSVM, RankSVM, RankSVMCV
from kernelrank.solvers._result import gap_goal


@pytest.mark.parametrize("at_zero", [1.0, 0.3])
def test_the_goal_is_relative_to_the_larger_of_both_objectives(at_zero):
    for objective in (1.0, 0.5, 0.1):  # tol of the objective at zero
        assert gap_goal(1e-3, objective * at_zero, at_zero) == pytest.approx(1e-3 * at_zero)
    for objective in (0.09, 0.05, 0.02):  # 10 tol of the objective
        assert gap_goal(1e-3, objective * at_zero, at_zero) == pytest.approx(1e-2 * objective * at_zero)
    for objective in (0.01, 1e-9, 0.0):
        assert gap_goal(1e-3, objective * at_zero, at_zero) == pytest.approx(1e-4 * at_zero)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("alpha", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer, load_iris])
def test_a_small_objective_is_within_a_percent_of_the_optimum(load, alpha, loss):
    """With a goal of 1e-3 gaps were up to 40 % of these objectives, and said to be small enough."""
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = RankSVM(alpha, loss=loss).fit(X, y)
    reference = RankSVM(alpha, loss=loss, tol=1e-6).fit(X, y)
    assert model.objective_ < 0.06
    assert model.gap_ <= 0.01 * max(model.objective_, 0.01)  # smaller ones count as 0.01
    assert model.objective_ - reference.objective_ <= 0.01 * max(model.objective_, 0.01)


def test_ordinal_regression_stops_by_the_same_rule():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = OrdinalSVM(5e-4).fit(X, y)
    assert model.history_["upper_bound"][0] < 0.9  # the objective of w = 0
    assert 0.01 < model.objective_ < 0.1 * model.history_["upper_bound"][0]
    assert model.gap_ <= 0.01 * model.objective_
    assert model.history_["goal"][-1] == pytest.approx(0.01 * model.objective_)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_no_gap_is_negative(loss):
    """A lower bound above the objective is rounding; it came out as a gap of -3e-16."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
        for alpha in (1e3, 10.0, 0.1):
            model = RankSVM(alpha, loss=loss).fit(X, y)
            assert model.gap_ >= 0
            assert (model.history_["lower_bound"] <= model.history_["upper_bound"]).all()
    path = RankSVMCV(np.logspace(3, -1, 10), loss=loss, cv=2).fit(X, y)
    assert (path.gaps_ >= 0).all()
    assert path.gap_ >= 0


def test_no_gap_of_ordinal_regression_is_negative():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
        for alpha in (1e3, 10.0, 0.1):
            assert OrdinalSVM(alpha).fit(X, y).gap_ >= 0
