"""Metrics by name, and those that apply to given utilities."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank.exceptions import UndefinedMetricError
from kernelrank.metrics._cascade import err
from kernelrank.metrics._concordance import pairwise_error
from kernelrank.metrics._gain import ndcg
from kernelrank.metrics._names import check_options, parse_metric
from kernelrank.metrics._queries import Undefined
from kernelrank.metrics._relevance import precision_at

Vector = NDArray[np.float64]

_OF_PAIRS = ("concordance", "pairwise-error", "kendall")
_OF_GRADES = ("map", "mrr", "ndcg@10", "err@10", "precision@10")
_LARGEST_GRADE = 31


@dataclass(frozen=True)
class Metric:
    """Metric with its name and options."""

    name: str
    function: Callable[..., Any]
    options: dict[str, Any]

    @property
    def scoring(self) -> str:
        """Name with the value of undefined queries, as an estimator takes it."""
        told = "undefined" not in self.options or ":undefined=" in self.name
        return self.name if told else f"{self.name}:undefined={self.options['undefined']}"

    def same_as(self, other: Metric) -> bool:
        """Return whether both have the same function and options, whatever their names."""
        return (self.function, self.options) == (other.function, other.options)

    def mean(self, y: Vector, scores: Vector, qid: Any = None, **given: Any) -> tuple[float, int]:
        """Return the mean over the queries where the metric is defined, NaN if there are none, and their number."""
        try:
            values = self.per_query(y, scores, qid, **given)
        except UndefinedMetricError:  # all weights are zero
            return np.nan, 0
        known = values[~np.isnan(values)]
        return (float(known.mean()) if len(known) else np.nan), len(known)

    def per_query(self, y: Vector, scores: Vector, qid: Any = None, **given: Any) -> Vector:
        """Return one value per query; of weights and what is observed, the metric gets what it supports."""
        taken = {name: values for name, values in given.items() if self.takes(name)}
        return np.atleast_1d(self.function(y, scores, qid=qid, per_query=True, **taken, **self.options))

    def takes(self, name: str) -> bool:
        """Return whether the metric has a parameter."""
        return name in signature(self.function).parameters


def name_metric(text: str, y: Vector, undefined: Undefined | None = None, *, censored: bool = False) -> Metric:
    """Parse the name of a metric, such as "ndcg@10", for a file with utilities `y`.

    `undefined` is the value of undefined queries, unless it is None or the name sets its own.
    """
    function, options = parse_metric(text)
    if censored and "observed" not in signature(function).parameters:
        raise ValueError(f"{text!r} is not for censored utilities (--observed); {', '.join(_OF_PAIRS)} are.")
    if undefined is not None:
        options.setdefault("undefined", undefined)
    if function is err:
        options.setdefault("max_grade", float(y.max()))  # of all rows, not only of the evaluated ones
    if function is precision_at and "k" not in options:
        raise ValueError(f"{text!r}: the number of positions is required, as in precision@10.")
    check_options(function, options)
    return Metric(text, function, options)


def name_choice(text: str, y: Vector, undefined: Undefined | None = None, *, censored: bool = False) -> Metric:
    """Parse the name of a metric to maximise."""
    metric = name_metric(text, y, undefined, censored=censored)
    if metric.function is pairwise_error:
        raise ValueError("pairwise-error cannot be maximised; use concordance, which is 1 - pairwise-error.")
    return metric


def choose_metrics(
    names: list[str] | None, y: Vector, undefined: Undefined | None = None, *, censored: bool = False
) -> list[Metric]:
    """Return the metrics with the given names, or all that apply to such utilities."""
    if names or censored:
        return [name_metric(name, y, undefined, censored=censored) for name in dict.fromkeys(names or _OF_PAIRS)]
    chosen = list(_OF_PAIRS)
    levels = np.unique(y)
    if len(levels) == 2:
        chosen.append("auc")
    if levels[0] >= 0 and levels[-1] <= _LARGEST_GRADE and (levels == np.rint(levels)).all():
        chosen.extend(_OF_GRADES)
    return [name_metric(name, y, undefined) for name in chosen]


def warn_of_gains(chosen: list[Metric], y: Vector) -> None:
    """Warn if NDCG has exponential gains of large grades, so that only rows with the largest grade count."""
    for metric in chosen:
        exponential = metric.function is ndcg and metric.options.get("gain", "exp2") == "exp2"
        if exponential and y.max() > _LARGEST_GRADE:
            warnings.warn(
                f"{metric.name}: targets go up to {y.max():g}, and a gain of 2^target - 1 ignores all but the largest;"
                f" use {metric.name}:gain=linear",
                stacklevel=1,
            )
