from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest

from kernelrank import RankSVM
from kernelrank.exceptions import UndefinedMetricError
from kernelrank.metrics import ndcg, pairwise_error
from kernelrank.plots import QueryBreakdownDisplay

Figure = pytest.importorskip("matplotlib.figure").Figure


def make(rng, n_queries, per_query=8):
    qid = rng.permutation(np.repeat(np.arange(n_queries), per_query))
    y = rng.integers(0, 3, len(qid))
    return y, y + 2 * rng.normal(size=len(qid)), np.array([f"query {q}" for q in qid])


def test_bars_are_values_of_single_queries_worst_first(rng):
    y, scores, qid = make(rng, 10)
    ax = Figure().subplots()
    display = QueryBreakdownDisplay.from_predictions(y, scores, qid=qid, metric="ndcg@3", ax=ax)
    assert display.ax_ is ax
    names = [label.get_text() for label in ax.get_yticklabels()]
    widths = [bar.get_width() for bar in ax.patches]
    assert ax.yaxis_inverted()
    assert widths == sorted(widths)
    for name, width in zip(names, widths, strict=True):
        assert width == pytest.approx(ndcg(y[qid == name], scores[qid == name], k=3), abs=1e-12)
    assert ax.get_lines()[0].get_xdata()[0] == pytest.approx(ndcg(y, scores, qid=qid, k=3))
    assert [text.get_text() for text in ax.texts] == [f"{width:.3f}" for width in widths]
    assert ax.get_title() == f"mean {display.mean:.3f} of 10 queries"
    assert ax.get_xlabel() == "ndcg@3"


def boxes(texts):
    return sorted((text.get_window_extent() for text in texts), key=lambda box: box.y0)


@pytest.mark.parametrize("own", [True, False], ids=["own figure", "given axes"])
@pytest.mark.parametrize("n", [4, 13, 60])
def test_names_and_values_of_bars_do_not_overlap(monkeypatch, own, n):
    monkeypatch.setattr("matplotlib.pyplot.subplots", lambda figsize: (None, Figure(figsize).subplots()))
    display = QueryBreakdownDisplay([f"query {k}" for k in range(n)], np.linspace(0, 1, n), max_bars=60)
    ax = display.plot(ax=None if own else Figure((6, 4), dpi=300).subplots()).ax_
    for texts in (ax.get_yticklabels(), ax.texts):
        found = boxes(texts)
        assert len(found) == n
        assert all(lower.y1 <= upper.y0 for lower, upper in pairwise(found))
    sizes = {text.get_fontsize() for text in ax.get_yticklabels()}
    if own:  # the usual sizes, in a figure that is higher
        assert sizes == {10.0 if n <= 12 else 8.33}
        assert ax.figure.get_figheight() == pytest.approx(max(4.8, 0.21 * n))


def test_many_queries_are_a_curve(rng):
    y, scores, qid = make(rng, 10_000, 4)
    y[qid == "query 7"] = 0
    ax = Figure().subplots()
    QueryBreakdownDisplay.from_predictions(y, scores, qid=qid, metric=ndcg, k=2, ax=ax)
    values = np.sort(ndcg(y, scores, qid=qid, k=2, per_query=True))
    n = np.sum(~np.isnan(values))
    line, mean = ax.get_lines()
    places = line.get_xdata()
    np.testing.assert_array_equal(line.get_ydata(), values[places - 1])
    assert (places[0], places[-1], len(places)) == (1, n, len(np.unique(places)))
    assert np.diff(places).max() <= n / 200
    assert mean.get_ydata()[0] == pytest.approx(np.nanmean(values))
    assert ax.get_title() == f"mean {np.nanmean(values):.3f} of {n:,} queries, {10_000 - n} undefined"
    [box] = ax.texts
    assert len(box.get_text().splitlines()) == 6
    assert ax.get_legend() is None
    assert len(ax.get_yticklabels()) < 20


def test_of_an_error_the_largest_is_the_worst(rng):
    y, scores, qid = make(rng, 30)
    options = {"qid": qid, "metric": "pairwise_error"}
    display = QueryBreakdownDisplay.from_predictions(y, scores, **options, max_bars=30, ax=Figure().subplots())
    values = pairwise_error(y, scores, qid=qid, per_query=True)
    np.testing.assert_array_equal(display.values, np.sort(values)[::-1])
    worst = display.queries[0]
    assert pairwise_error(y[qid == worst], scores[qid == worst]) == pytest.approx(values.max())
    curve = QueryBreakdownDisplay.from_predictions(y, scores, **options, ax=Figure().subplots())
    np.testing.assert_array_equal(curve.ax_.get_lines()[0].get_ydata(), display.values)


@pytest.mark.parametrize("library", [pd, pl])
def test_queries_in_a_column(rng, library):
    y, feature, qid = make(rng, 12)
    frame = library.DataFrame({"a": feature, "qid": qid})
    model = RankSVM().fit(frame, y)
    found = QueryBreakdownDisplay.from_estimator(model, frame, y, ax=Figure().subplots())
    plain = QueryBreakdownDisplay.from_predictions(y, model.predict(frame), qid=qid, ax=Figure().subplots())
    assert found.queries == plain.queries
    np.testing.assert_array_equal(found.values, plain.values)


@pytest.mark.parametrize("qid", [["a", 1, ("b", 2)], [1, 2, 3], [0.5, 1.5, 2.5]])
def test_any_ids(qid):
    rows = [each for each in qid for _ in range(2)]
    y, scores = [1, 0, 1, 0, 1, 0], [0, 1, 1, 1, 1, 0]
    display = QueryBreakdownDisplay.from_predictions(y, scores, qid=rows, ax=Figure().subplots())
    assert display.queries == qid


def test_undefined_and_constant_values():
    ax = Figure().subplots()
    display = QueryBreakdownDisplay.from_predictions([0, 0, 1, 0], [1, 2, 3, 4], qid=[1, 1, 2, 2], ax=ax)
    assert display.queries == [2, 1]
    assert len(ax.patches) == 1
    assert ax.get_title().endswith("of 1 query, 1 undefined")
    counted = QueryBreakdownDisplay.from_predictions(
        [0, 0, 1, 0], [1, 2, 3, 4], qid=[1, 1, 2, 2], undefined=0, ax=Figure().subplots()
    )
    assert counted.queries == [1, 2]
    assert len(counted.ax_.patches) == 2
    same = QueryBreakdownDisplay(range(50), np.ones(50)).plot(ax=Figure().subplots())
    assert same.ax_.get_ylim() == pytest.approx((0, 1.02))
    with pytest.raises(UndefinedMetricError, match="The metric is not defined: there is no"):
        QueryBreakdownDisplay.from_predictions([0, 0, 0, 0], [1, 2, 3, 4], qid=[1, 1, 2, 2])


def test_values_that_do_not_fit():
    with pytest.raises(UndefinedMetricError, match="values has no query for which ndcg is defined"):
        QueryBreakdownDisplay(["a"], [np.nan])
    with pytest.raises(UndefinedMetricError):
        QueryBreakdownDisplay([], [])
    for values in ([1.0], [1.0, np.inf], [[1.0], [2.0]]):
        with pytest.raises(ValueError, match="values must be 2 numbers"):
            QueryBreakdownDisplay(["a", "b"], values)
    with pytest.raises(ValueError, match="qid must be the query of each row"):
        QueryBreakdownDisplay.from_predictions([0, 1], [1, 2], qid=None)
    with pytest.raises(TypeError, match=r"metric must be a metric of kernelrank.metrics.*got function"):
        QueryBreakdownDisplay.from_predictions([0, 1], [1, 2], qid=[0, 0], metric=lambda y, s: 1.0)
