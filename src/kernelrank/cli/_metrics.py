"""Metrics by the names of the command line."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank import metrics
from kernelrank.exceptions import UndefinedQueryWarning

Vector = NDArray[np.float64]

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "concordance": metrics.concordance_index,
    "pairwise-error": metrics.pairwise_error,
    "kendall": metrics.kendall_tau,
    "auc": metrics.auc,
    "map": metrics.average_precision,
    "mrr": metrics.reciprocal_rank,
    "ndcg": metrics.ndcg,
    "err": metrics.err,
    "precision": metrics.precision_at,
}
_WITH_K = ("mrr", "ndcg", "err", "precision")
_OF_PAIRS = ("concordance", "pairwise-error", "kendall")
_OF_GRADES = ("map", "mrr", "ndcg@10", "err@10", "precision@10")
_LARGEST_GRADE = 31


@dataclass(frozen=True)
class Metric:
    """A metric as it was asked for."""

    name: str
    function: Callable[..., Any]
    options: dict[str, Any]

    def __call__(self, y: Vector, scores: Vector, qid: Any = None) -> float:
        """Mean over the queries where it is defined; NaN if there are none."""
        values = self.per_query(y, scores, qid)
        return float(np.nanmean(values)) if np.isfinite(values).any() else np.nan

    def per_query(self, y: Vector, scores: Vector, qid: Any = None) -> Vector:
        """One value a query."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedQueryWarning)
            return np.atleast_1d(self.function(y, scores, qid=qid, per_query=True, **self.options))


def parse_metric(text: str) -> Metric:
    """Read a name, with "@k" where only the first k rows count."""
    name, at, k = text.partition("@")
    if name not in _FUNCTIONS:
        raise ValueError(f'There is no metric "{name}"; there are {", ".join(_FUNCTIONS)}.')
    if at and name not in _WITH_K:
        raise ValueError(f'"{text}": {name} looks at all rows; only {", ".join(_WITH_K)} take "@k".')
    if (at or name == "precision") and not (k.isdecimal() and int(k) > 0):
        raise ValueError(f'"{text}": say how many rows count, as in {name}@10.')
    return Metric(text, _FUNCTIONS[name], {"k": int(k)} if at else {})


def parse_choice(text: str) -> Metric:
    """Read the name of a metric to be made as great as possible."""
    if text == "pairwise-error":
        raise ValueError("A great pairwise-error is a bad one: choose by concordance, which is 1 minus that.")
    return parse_metric(text)


def choose_metrics(names: list[str] | None, y: Vector) -> list[Metric]:
    """Return the metrics asked for, or all that make sense for such utilities."""
    if names:
        return [parse_metric(name) for name in dict.fromkeys(names)]
    chosen = list(_OF_PAIRS)
    levels = np.unique(y)
    if len(levels) == 2:
        chosen.append("auc")
    if levels[0] >= 0 and levels[-1] <= _LARGEST_GRADE and (levels == np.rint(levels)).all():
        chosen.extend(_OF_GRADES)
    return [parse_metric(name) for name in chosen]
