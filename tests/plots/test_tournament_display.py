import numpy as np
import pytest

from kernelrank import RankRLS
from kernelrank.model_selection import tournament_roc
from kernelrank.plots import TournamentROCDisplay

Figure = pytest.importorskip("matplotlib.figure").Figure


@pytest.fixture
def sample(rng):
    X = rng.normal(size=(30, 3))
    return X, np.where(X[:, 0] + rng.normal(size=30) > 0, "ill", "healthy")


def test_the_display_draws_curve_and_band(sample):
    ax = Figure().subplots()
    display = TournamentROCDisplay.from_estimator(RankRLS(), *sample, ax=ax, confidence=0.9, interval="rows")
    found = tournament_roc(RankRLS(), *sample, confidence=0.9, interval="rows")
    assert display.ax_ is ax
    curve, chance = ax.get_lines()
    np.testing.assert_array_equal(curve.get_xdata(), found.fpr)
    np.testing.assert_array_equal(curve.get_ydata(), found.tpr)
    np.testing.assert_array_equal(chance.get_xydata(), [[0, 0], [1, 1]])
    [band] = ax.patches
    corners = {tuple(corner) for corner in band.get_xy()}
    for point in zip(found.fpr_band[:, 0], found.tpr_band[:, 1], strict=True):
        assert point in corners
    for point in zip(found.fpr_band[:, 1], found.tpr_band[:, 0], strict=True):
        assert point in corners
    inner = (found.fpr > 0) & (found.tpr < 1)
    assert band.contains_points(ax.transData.transform(np.column_stack((found.fpr, found.tpr))[inner])).all()
    low, high = found.interval
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [f"RankRLS {found.auc:.3f} ({low:.3f} to {high:.3f})", "90 % band, for each threshold", "chance"]
    assert ax.get_legend().get_title().get_text() == "area under the curve (90 % interval)"


def test_curves_share_axes(sample):
    X, y = sample
    ax = Figure().subplots()
    for column in range(3):
        TournamentROCDisplay.from_estimator(RankRLS(), X[:, [column]], y, name=f"x{column}", ax=ax, interval="rows")
    curves = [line for line in ax.get_lines() if line.get_label() != "chance"]
    assert len(ax.get_lines()) == 4
    assert len({line.get_color() for line in curves}) == len({line.get_linestyle() for line in curves}) == 3
    assert [band.get_facecolor()[:3] for band in ax.patches] == [
        pytest.approx(band.get_edgecolor()[:3]) for band in ax.patches
    ]
    assert len(ax.get_legend().get_texts()) == 5


def test_one_class_and_other_results(sample):
    X, _ = sample
    with pytest.raises(ValueError, match="y"):
        TournamentROCDisplay.from_estimator(RankRLS(), X, np.ones(30))
    with pytest.raises(TypeError, match=r"result must be what .*tournament_roc returns, got list"):
        TournamentROCDisplay.from_result([])
