"""Metrics by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from kernelrank.metrics._auc import auc
from kernelrank.metrics._cascade import err, reciprocal_rank
from kernelrank.metrics._concordance import concordance_index, kendall_tau, pairwise_error
from kernelrank.metrics._gain import ndcg
from kernelrank.metrics._relevance import average_precision, precision_at

Metric = Callable[..., Any]

METRICS: dict[str, Metric] = {
    metric.__name__: metric
    for metric in (
        auc,
        average_precision,
        concordance_index,
        err,
        kendall_tau,
        ndcg,
        pairwise_error,
        precision_at,
        reciprocal_rank,
    )
}
_SHORT: dict[str, Metric] = {
    "concordance": concordance_index,
    "kendall": kendall_tau,
    "map": average_precision,
    "mrr": reciprocal_rank,
    "precision": precision_at,
}
LOWER_IS_BETTER: tuple[Metric, ...] = (pairwise_error,)


def parse_metric(text: str) -> tuple[Metric, dict[str, Any]]:
    """Read a name, or a short one, with "@k" where only the first k rows count: "ndcg@10".

    Returns
    -------
    metric : callable
    options : dict
        Holds `k`, if the text does.
    """
    name, at, k = text.lower().replace("-", "_").partition("@")
    metric = {**METRICS, **_SHORT}.get(name)
    if metric is None:
        known = ", ".join(sorted({*METRICS, *_SHORT}))
        raise ValueError(f"There is no metric {text!r}; there are {known}.")
    if not at:
        return metric, {}
    if "k" not in inspect.signature(metric).parameters:
        raise ValueError(f'{text!r}: {name} looks at all rows and takes no "@k".')
    if not (k.isdecimal() and int(k) > 0):
        raise ValueError(f'{text!r}: what follows "@" must be a positive whole number, as in {name}@10.')
    return metric, {"k": int(k)}
