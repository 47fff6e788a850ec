import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from kernelrank import RankSVM, RankSVMCV
from kernelrank.plots import ConvergenceDisplay

pytest.importorskip("matplotlib").use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture
def model(rng):
    X = rng.normal(size=(50, 3))
    return RankSVM().fit(X, X @ [1, 2, 3])


def test_the_display_draws_both_bounds(model):
    _, ax = plt.subplots()
    display = ConvergenceDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    upper, lower = (line.get_ydata() for line in ax.get_lines())
    np.testing.assert_array_equal(upper, model.history_["upper_bound"])
    np.testing.assert_array_equal(lower, model.history_["lower_bound"])
    plt.close(display.figure_)


def test_an_unfitted_estimator_has_nothing_to_draw():
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_estimator(RankSVM())


def test_an_estimator_without_a_history_is_told_apart_from_an_unfitted_one(rng):
    X = rng.normal(size=(30, 2))
    with pytest.raises(
        TypeError, match=r"estimator must have the attribute history_.*got RankSVMCV.*PathDisplay.*RankSVM\(alpha"
    ):
        ConvergenceDisplay.from_estimator(RankSVMCV([0.1, 1.0]).fit(X, X[:, 0]))
