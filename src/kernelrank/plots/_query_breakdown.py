"""Plot of a metric per query, worst queries first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._query_ids import as_id_array, encode_queries
from kernelrank._row_scores import score_rows
from kernelrank._rules import COUNT, ESTIMATOR
from kernelrank._validation import as_numbers, check_rows, separate_qid
from kernelrank.exceptions import UndefinedMetricError
from kernelrank.metrics._names import LOWER_IS_BETTER, METRICS, parse_metric
from kernelrank.plots._axes import axes_or_new
from kernelrank.plots._style import BAND, BLACK, POSITIVE, REFERENCE, name_bars, next_line, shorten, size_beside_bars

_NAMED = 5  # queries that are named beside a curve
_POINTS = 250  # of a curve, about one per two pixels: vector files stay small


class QueryBreakdownDisplay:
    """Metric of each query, worst queries first, with the mean.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create it. Up to `max_bars` queries are bars with their
    names. More are a curve of the sorted values, with the names of the five worst.

    Parameters
    ----------
    queries : sequence of shape (n_queries,)
        Query ids.
    values : array-like of shape (n_queries,)
        Value of the metric for each query; NaN where it is undefined. Such queries are counted, but not drawn.
    metric : str, default="ndcg"
        Name of the metric.
    lower_is_better : bool, default=False
        Whether the largest values are the worst.
    max_bars : int, default=20
        Largest number of queries that are drawn as bars.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes that it is drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.
    queries : list
        Query ids, worst first.
    values : ndarray of shape (n_queries,)
        Their values; undefined ones are at the end.

    Raises
    ------
    UndefinedMetricError
        If the metric is undefined for all queries.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from kernelrank.plots import QueryBreakdownDisplay
    >>> qid = ["cat", "cat", "cat", "dog", "dog", "dog"]
    >>> relevance, scores = [2, 0, 1, 0, 0, 1], [0.9, 0.1, 0.4, 0.8, 0.3, 0.2]
    >>> display = QueryBreakdownDisplay.from_predictions(relevance, scores, qid=qid, ax=Figure().subplots())
    >>> display.queries, display.values
    (['dog', 'cat'], array([0.5, 1. ]))
    """

    def __init__(
        self,
        queries: Sequence[Any],
        values: ArrayLike,
        metric: str = "ndcg",
        lower_is_better: bool = False,
        max_bars: int = 20,
    ) -> None:
        COUNT("max_bars", max_bars)
        found = np.asarray(as_numbers(values, "values"), dtype=np.float64)
        if found.ndim != 1 or len(found) != len(queries) or np.isinf(found).any():
            raise ValueError(f"values must be {len(queries)} numbers, one per query, got shape {found.shape}.")
        if np.isnan(found).all():
            raise UndefinedMetricError(f"values has no query for which {metric} is defined.")
        order = np.argsort(-found if lower_is_better else found, kind="stable")  # NaN at the end
        self.queries, self.values = [queries[k] for k in order], found[order]
        self.metric, self.lower_is_better, self.max_bars = metric, lower_is_better, max_bars

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        metric: str | Callable[..., Any] = "ndcg",
        max_bars: int = 20,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Evaluate the scores that a fitted estimator gives to the rows of each query, and plot the values.

        Parameters
        ----------
        estimator : fitted estimator
            Model that scores the rows.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows that the estimator was not fitted to. A data-frame column named "qid" is the query of each row.
        y : array-like of shape (n_samples,)
            True utilities.
        qid : array-like of shape (n_samples,), optional
            Query of each row, if X has no such column.
        metric : str or callable, default="ndcg"
            Metric of :mod:`kernelrank.metrics` or its name, such as "ndcg@10".
        max_bars : int, default=20
            Largest number of queries that are drawn as bars.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options : dict
            Further arguments of the metric, such as `undefined` and `k`.

        Returns
        -------
        QueryBreakdownDisplay
            The display, with the axes it is drawn on.
        """
        ESTIMATOR("estimator", estimator)
        _, ids = separate_qid(X, qid)  # the estimator gets X with the column, as in fit
        scores = score_rows(estimator, X)
        check_rows(y, ids, None, len(scores), options.get("observed"))  # whose errors name y
        return cls.from_predictions(y, scores, qid=ids, metric=metric, max_bars=max_bars, ax=ax, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        qid: ArrayLike | None,
        metric: str | Callable[..., Any] = "ndcg",
        max_bars: int = 20,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Evaluate given scores of the rows of each query, and plot the values.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_samples,)
            As for the metric.
        qid : array-like of shape (n_samples,)
            Query of each row.
        metric : str or callable, default="ndcg"
            Metric of :mod:`kernelrank.metrics` or its name, such as "ndcg@10".
        max_bars : int, default=20
            Largest number of queries that are drawn as bars.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options : dict
            Further arguments of the metric, such as `undefined` and `k`.

        Returns
        -------
        QueryBreakdownDisplay
            The display, with the axes it is drawn on.
        """
        COUNT("max_bars", max_bars)
        function, name, options = _resolve(metric, options)
        if qid is None:
            raise ValueError(
                'qid must be the query of each row, or X a data frame with a column named "qid", got None.'
            )
        values = function(y_true, y_score, qid=qid, per_query=True, **options)
        if np.isnan(values).all():
            function(y_true, y_score, qid=qid, **options)  # raises an error that says what the queries lack
        ids = as_id_array(qid)
        codes, _ = encode_queries(qid, len(ids))
        firsts = np.unique(np.zeros(len(ids)) if codes is None else codes, return_index=True)[1]
        queries = [each.item() if isinstance(each, np.generic) else each for each in ids.reshape(-1)[firsts]]
        return cls(queries, values, name, function in LOWER_IS_BETTER, max_bars).plot(ax=ax)

    @property
    def mean(self) -> float:
        """Mean over the queries for which the metric is defined."""
        return float(np.nanmean(self.values))

    def plot(self, *, ax: Any = None) -> Self:
        """Draw bars, or a curve of more than `max_bars` queries, and the mean.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        QueryBreakdownDisplay
            The display, with the axes it is drawn on.
        """
        defined = self.values[~np.isnan(self.values)]
        has_bars = len(defined) <= self.max_bars
        ax = axes_or_new(ax, len(defined) if has_bars else 0)
        undefined = len(self.values) - len(defined)
        left_out = f", {undefined:,} undefined" if undefined else ""
        queries = "1 query" if len(defined) == 1 else f"{len(defined):,} queries"
        draw = self._draw_bars if has_bars else self._draw_curve
        draw(ax, defined)
        ax.set_title(f"mean {self.mean:.3f} of {queries}{left_out}")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_bars(self, ax: Any, values: NDArray[np.float64]) -> None:
        ax.barh(range(len(values)), values, **POSITIVE)
        size = size_beside_bars(ax, len(values), "small")
        beside = {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": size}
        for place, value in enumerate(values):
            ax.text(1.01, place, f"{value:.3f}", **beside)
        name_bars(ax, [str(query) for query in self.queries[: len(values)]])
        ax.axvline(self.mean, linestyle="--", label="mean", **{**REFERENCE, "color": BLACK})
        ax.set(xlim=_limits(values), xlabel=self.metric, ylabel="query, worst first")

    def _draw_curve(self, ax: Any, values: NDArray[np.float64]) -> None:
        line, places = next_line(ax), _places(len(values))
        low, high = _limits(values)
        ax.plot(places, values[places - 1], **line)
        ax.fill_between(places, low, values[places - 1], color=line["color"], **BAND)
        ax.axhline(self.mean, linestyle="--", label="mean", **REFERENCE)
        ax.set(xlim=(1, len(values)), ylim=(low, high + 0.02 * (high - low)), ylabel=self.metric)
        ax.set_xlabel("queries, worst first")
        ax.xaxis.set_major_formatter("{x:,.0f}")
        worst = zip(self.queries, values[:_NAMED], strict=False)
        text = "\n".join(["worst:", *(f"{shorten(str(query), 20)}  {value:.3f}" for query, value in worst)])
        box = {"facecolor": "white", "edgecolor": "0.8", "boxstyle": "round"}
        y, va = (0.95, "top") if self.lower_is_better else (0.05, "bottom")
        ax.text(0.97, y, text, ha="right", va=va, transform=ax.transAxes, bbox=box, fontsize="small")


def _resolve(metric: Any, options: dict[str, Any]) -> tuple[Callable[..., Any], str, dict[str, Any]]:
    """Return the function, its name and all of its options."""
    if isinstance(metric, str):
        function, named = parse_metric(metric)
        return function, metric.partition(":")[0], {**named, **options}
    if not any(metric is each for each in METRICS.values()):
        raise TypeError(
            f"metric must be a metric of kernelrank.metrics or its name, got {type(metric).__name__}. For values of"
            " another metric, use QueryBreakdownDisplay(queries, values).plot()."
        )
    return metric, metric.__name__, options


def _places(n: int) -> NDArray[np.intp]:
    """Return the places of a curve: all of few queries; of many, the first ones and evenly spread others."""
    spread = np.round(np.linspace(1, n, min(n, _POINTS))).astype(np.intp)
    return np.union1d(np.arange(1, min(n, _POINTS // 10) + 1), spread)


def _limits(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the limits of the axis of values: 0 and 1, unless a value is outside."""
    low, high = float(values.min()), float(values.max())
    return min(0.0, 1.05 * low), 1.0 if high <= 1 else 1.05 * high
