import numpy as np
import pytest

from kernelrank import RankRLS
from kernelrank.inspection import explain
from kernelrank.plots import ExplanationDisplay

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(40, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.1]


def bars(ax):
    return [patch.get_width() for patch in ax.patches]


def test_bars_are_the_contributions(rows):
    X, y = rows
    model = RankRLS().fit(X, y)
    found = explain(model, X[0], X[1], list("pqrs"))
    _, ax = plt.subplots()
    display = ExplanationDisplay.from_explanation(found, ax=ax)
    assert display.ax_ is ax
    np.testing.assert_array_equal(bars(ax), found.contributions)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == found.names
    assert ax.yaxis_inverted()
    plt.close(display.figure_)


def test_the_last_bar_is_the_sum_of_all_others(rows):
    X, y = rows
    model = RankRLS().fit(X, y)
    display = ExplanationDisplay.from_estimator(model, X[0], X[1], by="rows", max_bars=6)
    found = explain(model, X[0], X[1], by="rows")
    drawn = bars(display.ax_)
    assert len(drawn) == 6
    np.testing.assert_allclose(sum(drawn), found.difference)
    assert display.ax_.get_yticklabels()[-1].get_text() == f"{len(found.table) - 5} others"
    plt.close(display.figure_)


def test_equal_rows_have_no_bars(rows):
    X, y = rows
    display = ExplanationDisplay.from_estimator(RankRLS().fit(X, y), X[0], X[0])
    assert bars(display.ax_) == []
    plt.close(display.figure_)


def test_what_is_not_an_explanation():
    with pytest.raises(TypeError, match=r"explanation must be what .* returns, got int"):
        ExplanationDisplay.from_explanation(5)
