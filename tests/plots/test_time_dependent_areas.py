import numpy as np
import pytest

from kernelrank import RankSVM
from kernelrank.metrics import cumulative_dynamic_auc
from kernelrank.plots import TimeDependentAUCDisplay

plt = pytest.importorskip("matplotlib.pyplot")


def make(rng, m=200):
    X = rng.normal(size=(m, 3))
    true, until = np.exp(X[:, 0] + rng.normal(size=m)), np.exp(rng.normal(size=m) + 1)
    return X, np.minimum(true, until), true <= until


def test_the_display_draws_areas_and_their_mean(rng):
    X, y, observed = make(rng)
    model = RankSVM().fit(X, y, observed=observed)
    times = [2.0, 0.5, 1.0]  # drawn in their order
    _, ax = plt.subplots()
    display = TimeDependentAUCDisplay.from_estimator(model, X, y, times, observed=observed, ax=ax)
    assert display.ax_ is ax
    expected = cumulative_dynamic_auc(y, model.predict(X), times, observed=observed)
    areas, mean = ax.get_lines()
    np.testing.assert_array_equal(areas.get_xdata(), [0.5, 1.0, 2.0])
    np.testing.assert_array_equal(areas.get_ydata(), expected.auc[[1, 2, 0]])
    assert mean.get_ydata()[0] == expected.mean
    assert ax.get_legend().get_texts()[0].get_text() == f"RankSVM {expected.mean:.3f}"
    plt.close(display.figure_)


def test_times_by_default_and_a_structured_array(rng):
    X, y, observed = make(rng)
    both = np.empty(len(y), dtype=[("event", "?"), ("time", "f8")])
    both["event"], both["time"] = observed, y
    display = TimeDependentAUCDisplay.from_predictions(both, X[:, 0], name="first feature")
    times = display.areas.times
    assert len(times) == 50
    assert (times[0], times[-1]) == pytest.approx(tuple(np.quantile(y, [0.05, 0.8])))
    np.testing.assert_array_equal(display.areas.auc, cumulative_dynamic_auc(both, X[:, 0], times).auc)
    plt.close(display.figure_)
