import numpy as np
import pytest

from kernelrank import RankRLS
from kernelrank.inspection import learning_curve
from kernelrank.plots import LearningCurveDisplay

plt = pytest.importorskip("matplotlib.pyplot")


def test_the_display_draws_mean_and_deviation(rng):
    X, qid = rng.normal(size=(90, 3)), np.arange(90) // 9
    y = X[:, 0] + rng.normal(size=90)
    _, ax = plt.subplots()
    options = {"qid": qid, "sizes": [1, 4, 6], "cv": 3, "scoring": "kendall"}
    display = LearningCurveDisplay.from_estimator(RankRLS(), X, y, ax=ax, **options)
    assert display.ax_ is ax
    curve = learning_curve(RankRLS(), X, y, **options)
    [line], [band] = ax.get_lines(), ax.collections
    np.testing.assert_array_equal(line.get_xdata(), [1, 4, 6])
    np.testing.assert_array_equal(line.get_ydata(), curve.mean)
    edges = band.get_paths()[0].vertices[:, 1]
    assert edges.max() == pytest.approx((curve.mean + curve.std).max())
    assert edges.min() == pytest.approx((curve.mean - curve.std).min())
    assert ax.get_xlabel() == "queries trained on"
    assert ax.get_ylabel() == "kendall on held-out queries"
    assert ax.get_legend().get_texts()[0].get_text() == "RankRLS (3 folds)"
    LearningCurveDisplay.from_curve(curve, name="again", ax=ax)
    assert len(ax.get_lines()) == 2
    plt.close(display.figure_)


def test_what_is_not_a_curve():
    with pytest.raises(TypeError, match=r"curve must be what .* returns, got list"):
        LearningCurveDisplay.from_curve([1, 2])
