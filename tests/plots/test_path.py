import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RLSCV, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.plots import PathDisplay

plt = pytest.importorskip("matplotlib.pyplot")


def test_the_display_draws_mean_and_choice(rng):
    X = rng.normal(size=(60, 3))
    y = X @ [1, 2, 3] + rng.normal(size=60)
    y[50:] = 0.0
    folds = [(np.arange(30), np.arange(30, 50)), (np.arange(20, 50), np.arange(20)), (np.arange(40), np.arange(50, 60))]
    pipeline = make_pipeline(StandardScaler(), RankSVMCV(4, cv=folds)).fit(X, y)  # the last fold has no comparable pair
    _, ax = plt.subplots()
    display = PathDisplay.from_estimator(pipeline, ax=ax)
    assert display.ax_ is ax
    mean, chosen = ax.get_lines()
    np.testing.assert_array_equal(mean.get_xdata(), pipeline[-1].alphas_)
    np.testing.assert_allclose(mean.get_ydata(), pipeline[-1].scores_[:, :2].mean(axis=1))
    assert chosen.get_xdata()[0] == pipeline[-1].alpha_
    plt.close(display.figure_)


def test_an_unfitted_estimator_has_nothing_to_draw():
    with pytest.raises(NotFittedError):
        PathDisplay.from_estimator(RankSVMCV())


def test_an_estimator_without_a_path_is_told_apart_from_an_unfitted_one(rng):
    X = rng.normal(size=(30, 2))
    with pytest.raises(
        TypeError, match=r"estimator must have the attribute scores_.*got RankSVM.*use ConvergenceDisplay"
    ):
        PathDisplay.from_estimator(RankSVM().fit(X, X[:, 0]))


@pytest.mark.parametrize(
    ("model", "label"),
    [(RankRLSCV(3), "concordance"), (RLSCV(3), "minus squared error"), (RankSVMCV(3, scoring="kendall"), "kendall")],
)
def test_the_axis_says_what_the_scores_are(rng, model, label):
    X = rng.normal(size=(40, 2))
    display = PathDisplay.from_estimator(model.fit(X, X[:, 0] + rng.normal(size=40)))
    assert display.ax_.get_ylabel() == f"{label} on held-out rows"
    plt.close(display.figure_)
