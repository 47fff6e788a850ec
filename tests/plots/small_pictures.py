"""Small pictures of all displays, drawn from fixed numbers, and how they are compared with the kept ones.

    python tests/plots/small_pictures.py

draws the kept pictures again. Look at them before they are committed.

Versions of matplotlib differ in the edges of glyphs and lines, and in how they lay out a figure. So axes have a fixed
place, and frames and all text are left out; tests of the displays check the text. Pictures are drawn large, shrunk and
blurred, and each pixel is compared with the nine around it, so that edges may move by a pixel. ``test_pictures.py``
checks that the comparison ignores a shift by a pixel, and fails when any line, band or bar is missing.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread, imsave
from scipy.ndimage import uniform_filter

from kernelrank.inspection import Explanation, LearningCurve
from kernelrank.metrics import TimeDependentAUC
from kernelrank.model_selection import CoefIntervals, PermutationTest, TournamentROC
from kernelrank.plots import (
    CalibrationOfThresholdDisplay,
    CoefficientDisplay,
    ConvergenceDisplay,
    ExplanationDisplay,
    LearningCurveDisplay,
    PathDisplay,
    PermutationDisplay,
    QueryBreakdownDisplay,
    TimeDependentAUCDisplay,
    TournamentROCDisplay,
)

FOLDER = Path(__file__).parent / "pictures"
SIZE = (4.0, 3.0)  # inches
DPI, SHRINK = 200, 4  # drawn large, then shrunk: an edge that moves to the next pixel changes a quarter of one
BLUR = 5  # pixels
SETTINGS = mpl.rcParamsDefault | {"backend": "Agg", "font.family": "DejaVu Sans"}

GRID = np.linspace(0, 1, 9)
HISTORY = np.array(
    [(1, 2.0, 0.1), (3, 1.4, 0.6), (5, 1.1, 0.9), (8, 1.0, 0.95)],
    dtype=np.dtype([("n_products", "i8"), ("upper_bound", "f8"), ("lower_bound", "f8")]),
)
RATES = np.sqrt(GRID)
FPR_BAND = np.stack((0.9 * GRID, GRID + 0.2 * (1 - GRID)), axis=1)
TPR_BAND = np.stack((0.8 * RATES, RATES + 0.1 * (1 - RATES)), axis=1)
TOURNAMENT = TournamentROC(0.8, (0.7, 0.9), 0.95, GRID, RATES, GRID, FPR_BAND, TPR_BAND, GRID, 1, ())
COEF = np.array([0.1, -2.0, 1.2, 0.0])
INTERVALS = CoefIntervals(COEF, COEF - 0.5, COEF + 0.5, COEF[None])
NULL = np.repeat(np.linspace(0.2, 0.8, 13), [1, 2, 4, 7, 10, 14, 16, 14, 10, 7, 4, 2, 1])
TEST = PermutationTest(0.68, 0.1, 0.03, NULL, False, "rows", "leave-pair-out", 1)
SPREAD = GRID[:, None] + np.array([-0.2, 0.0, 0.2])
DIFFERENCES = np.array([("a", 2.0), ("b", -1.0), ("c", 0.5)], dtype=[("feature", "O"), ("contribution", "f8")])
EXPLANATION = Explanation(1.5, (2.5, 1.0), "features", DIFFERENCES)


PICTURES = {
    "convergence": lambda ax: ConvergenceDisplay(HISTORY).plot(ax=ax),
    "path": lambda ax: PathDisplay(10.0 ** -np.arange(9), SPREAD, 1e-3).plot(ax=ax),
    "times": lambda ax: TimeDependentAUCDisplay(TimeDependentAUC(GRID, 0.5 + 0.4 * GRID**2, 0.7)).plot(ax=ax),
    "learning-curve": lambda ax: LearningCurveDisplay(
        LearningCurve(np.arange(1, 10), SPREAD, np.arange(1, 10), "queries", "ndcg", 27)
    ).plot(ax=ax),
    "explanation": lambda ax: ExplanationDisplay(EXPLANATION).plot(ax=ax),
    "coefficients": lambda ax: CoefficientDisplay(list("pqrs"), COEF).plot(ax=ax),
    "intervals": lambda ax: CoefficientDisplay.from_result(INTERVALS, ax=ax),
    "queries": lambda ax: QueryBreakdownDisplay(list("abcd"), [0.9, 0.2, np.nan, 0.6]).plot(ax=ax),
    "many-queries": lambda ax: QueryBreakdownDisplay(range(99), np.linspace(0, 1, 99) ** 0.3).plot(ax=ax),
    "errors": lambda ax: QueryBreakdownDisplay(range(99), np.linspace(0, 1, 99) ** 3, "error", True).plot(ax=ax),
    "tournament": lambda ax: TournamentROCDisplay.from_result(TOURNAMENT, ax=ax),
    "permutation": lambda ax: PermutationDisplay.from_result(TEST, ax=ax),
    "threshold": lambda ax: CalibrationOfThresholdDisplay.from_predictions(
        np.arange(40) % 7 > 3, np.arange(40) // 4 + 3 * (np.arange(40) % 7), 15.0, ax=ax
    ),
}


def make(name):
    """Return the axes of a picture."""
    with mpl.rc_context(SETTINGS):
        ax = Figure(SIZE, DPI).add_axes((0.02, 0.02, 0.96, 0.96))
        PICTURES[name](ax)
        ax.set(xlabel="", ylabel="", title="")
        ax.tick_params(which="both", labelleft=False, labelbottom=False, left=False, bottom=False)
        ax.spines[:].set_visible(False)
        for text in ax.texts:
            text.set_visible(False)
        if ax.get_legend() is not None:
            ax.get_legend().set_visible(False)
    return ax


def render(ax):
    """Return the pixels of the figure, shrunk, from 0 to 1."""
    canvas = FigureCanvasAgg(ax.figure)
    with mpl.rc_context(SETTINGS):  # some settings take effect now
        canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[:, :, :3] / 255
    height, width, colours = pixels.shape
    return pixels.reshape(height // SHRINK, SHRINK, width // SHRINK, SHRINK, colours).mean(axis=(1, 3))


def difference(first, second):
    """Return the largest difference of the colours of a pixel, after a blur, from the nearest of nine pixels."""
    assert first.shape == second.shape
    first, second = (uniform_filter(each, (BLUR, BLUR, 0)) for each in (first, second))
    shifts = [np.roll(second, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    return np.min([np.abs(first - each) for each in shifts], axis=0).max()


def kept(name):
    return imread(FOLDER / f"{name}.png")[:, :, :3].astype(float)


if __name__ == "__main__":
    for each in PICTURES:
        imsave(FOLDER / f"{each}.png", render(make(each)))
