"""Metrics of the scores: means with intervals, and values per query."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank.exceptions import NoComparablePairsError, UndefinedQueryWarning
from kernelrank.metrics import auc_interval, concordance_interval
from kernelrank.metrics._choice import choose_metrics
from kernelrank.metrics._intervals import bootstrap_mean
from kernelrank.report._subject import Subject

Floats = NDArray[np.float64]

_RESAMPLES, _DRAWS = 2000, 4_000_000
_OF_ROWS: dict[str, Callable[..., tuple[float, float, float]]] = {
    "concordance": concordance_interval,
    "auc": auc_interval,
}


class Measured(NamedTuple):
    """Value of one metric with its interval, whose ends are NaN if there is none."""

    name: str
    value: float
    low: float
    high: float
    n_queries: int  # where it is defined
    per_query: Floats


def measure(subject: Subject, confidence: float, random_state: int) -> list[Measured]:
    """Return all metrics that apply to the utilities, the concordance first."""
    found = []
    for metric in choose_metrics(None, subject.y):
        values = metric.per_query(subject.y, subject.scores, subject.queries, sample_weight=subject.weight)
        if metric.name == "concordance" and np.isnan(values).all():
            raise NoComparablePairsError("All pairs of rows to compare have a sample_weight of zero.")
        if metric.name == "pairwise-error" or np.isnan(values).all():
            continue
        known = values[~np.isnan(values)]
        low, high = _ends(subject, metric.name, values, confidence, random_state)
        found.append(Measured(metric.name, float(known.mean()), low, high, len(known), values))
    return found


def _ends(subject: Subject, name: str, values: Floats, confidence: float, random_state: int) -> tuple[float, float]:
    """Return the ends of the interval: of a sample of queries, or of rows without queries."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedQueryWarning)  # the report says how many queries there are
        try:
            if subject.ids is not None:
                n = min(_RESAMPLES, max(200, _DRAWS // len(values)))
                _, low, high = bootstrap_mean(values, "value", "a value", confidence, n, random_state)
                return low, high
            if name in _OF_ROWS and subject.weight is None:
                _, low, high = _OF_ROWS[name](subject.y, subject.scores, confidence=confidence)
                return float(low), float(high)
        except ValueError:  # too few queries, or rows of a class
            pass
    return np.nan, np.nan


def order_of_queries(subject: Subject, measured: list[Measured]) -> NDArray[np.intp]:
    """Return the queries with the worst first, by the metric that is shown; those without a value last."""
    values = leading(measured).per_query
    return np.lexsort((-subject.sizes, values))  # NaN is sorted to the end


def leading(measured: list[Measured]) -> Measured:
    """Return the metric by which queries are sorted: NDCG if there are grades, otherwise the concordance."""
    by_name = {each.name: each for each in measured}
    return by_name.get("ndcg@10", measured[0])
