import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RankRLS, RankSVM
from kernelrank.exceptions import UndefinedMetricError
from kernelrank.metrics import best_f_score, f_score
from kernelrank.model_selection import FScoreClassifier
from kernelrank.plots import CalibrationOfThresholdDisplay

Figure = pytest.importorskip("matplotlib.figure").Figure


def value_at(line, threshold):
    """Return the value of a line of steps at a threshold."""
    x, y = line.get_data()
    return y[np.searchsorted(x, threshold, side="right") - 1]


def test_curves_are_the_decisions_of_every_threshold(rng):
    scores = rng.integers(0, 8, 30).astype(float)
    y = (rng.random(30) < 0.4).astype(int)
    y[:2] = 0, 1
    display = CalibrationOfThresholdDisplay.from_predictions(y, scores, 3.2, beta=2, ax=Figure().subplots())
    precision, recall, f, chosen, best = display.ax_.get_lines()
    for threshold in [-0.1, *np.unique(scores)[:-1], 2.5, 3.2]:
        called = scores > threshold
        assert value_at(precision, threshold) == pytest.approx(y[called].mean())
        assert value_at(recall, threshold) == pytest.approx(y[called].sum() / y.sum())
        assert value_at(f, threshold) == pytest.approx(f_score(y, scores, threshold, beta=2))
    assert np.isnan(value_at(precision, scores.max()))
    assert chosen.get_xdata()[0] == 3.2
    found = best_f_score(y, scores, beta=2)
    assert best.get_ydata()[0] == found.f_score == np.max(f.get_ydata())
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[3] == f"chosen 3.2: F (beta 2) = {f_score(y, scores, 3.2, beta=2):.3f}"
    assert texts[4] == f"best for these rows {found.threshold:.3g}: F (beta 2) = {found.f_score:.3f}"


def test_the_threshold_of_a_classifier(rng):
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] + rng.normal(size=80) > 0.5, "yes", "no")
    for model in (FScoreClassifier(cv=3), make_pipeline(StandardScaler(), FScoreClassifier(RankSVM(), cv=3))):
        model.fit(X[:50], y[:50])
        display = CalibrationOfThresholdDisplay.from_estimator(model, X[50:], y[50:], ax=Figure().subplots())
        last = model[-1] if hasattr(model, "steps") else model
        assert display.threshold == last.threshold_
        expected = f_score(y[50:] == "yes", model.score_samples(X[50:]), last.threshold_)
        assert display.chosen_f_score == pytest.approx(expected)


@pytest.mark.parametrize("threshold", [-np.inf, np.inf, None])
def test_infinite_thresholds_and_constant_scores(threshold):
    display = CalibrationOfThresholdDisplay.from_predictions([0, 1, 1], [2, 2, 2], threshold, ax=Figure().subplots())
    low, high = display.ax_.get_xlim()
    assert len(display.ax_.get_lines()) == 4 + (threshold is not None)
    for line in display.ax_.get_lines()[3:]:
        assert low < line.get_xdata()[0] < high


def test_what_has_no_threshold(rng):
    X = rng.normal(size=(30, 2))
    y = np.arange(30) % 2
    with pytest.raises(NotFittedError):
        CalibrationOfThresholdDisplay.from_estimator(FScoreClassifier(), X, y)
    with pytest.raises(TypeError, match=r"estimator must have the attribute threshold_.*got RankRLS.*from_predictions"):
        CalibrationOfThresholdDisplay.from_estimator(RankRLS().fit(X, y), X, y)
    model = FScoreClassifier(cv=2).fit(X, y)
    with pytest.raises(ValueError, match=r"y must have one class per row, of \[0, 1\]"):
        CalibrationOfThresholdDisplay.from_estimator(model, X, y + 1)
    with pytest.raises(ValueError, match="X has 30 rows, but y has 29"):
        CalibrationOfThresholdDisplay.from_estimator(model, X, y[1:])
    with pytest.raises(ValueError, match="y has rows of one class only"):
        CalibrationOfThresholdDisplay.from_estimator(model, X, np.ones(30, int))
    with pytest.raises(UndefinedMetricError, match="y_true has one value only"):
        CalibrationOfThresholdDisplay.from_predictions([1, 1], [1, 2])
