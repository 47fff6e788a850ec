"""Parser of metric names such as "ndcg@10"."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from kernelrank._rules import NUMBER
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
_NOT_IN_NAMES = ("y_true", "y_score", "qid", "sample_weight", "observed", "k", "per_query", "n_jobs")
LOWER_IS_BETTER: tuple[Metric, ...] = (pairwise_error,)


def parse_metric(text: str) -> tuple[Metric, dict[str, Any]]:
    """Parse "name", "name@k" or "name@k:option=value:...", such as "ndcg@10:gain=linear:undefined=0".

    Returns
    -------
    metric : callable
    options : dict
        Parameters of the metric given in the text; `k` is the number after "@".
    """
    head, *assignments = text.split(":")
    name, at, k = head.lower().replace("-", "_").partition("@")
    metric = {**METRICS, **_SHORT}.get(name)
    if metric is None:
        known = ", ".join(sorted({*METRICS, *_SHORT}))
        meant = _guess(name, at + k)
        start = f"Unknown metric {text!r}; " + (f"did you mean {meant!r}? Known" if meant else "known")
        raise ValueError(f"{start} metrics are {known}.")
    options = dict(_parse_option(text, each, metric) for each in assignments)
    if at:
        options["k"] = _parse_depth(text, name, k, metric)
    return metric, options


def check_options(metric: Metric, options: dict[str, Any]) -> None:
    """Check options against the parameters of a metric of this package, before any scores are computed."""
    if metric in METRICS.values():
        options = {**options}
        NUMBER("truncation", options.pop("truncation", 0))  # which depends on the utilities
        metric([0.0, 1e-3], [0.0, 1.0], per_query=True, **options)


def _guess(name: str, depth: str) -> str | None:
    """Return the metric that an unknown name may stand for, such as "ndcg@10" for "ndcg10"; None if there is none."""
    known = {**METRICS, **_SHORT}
    letters, k = re.fullmatch(r"(.*?)_?(\d*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    close = [letters] if letters in known else get_close_matches(letters, sorted(known), 1)
    if not close:
        return None
    takes_k = "k" in inspect.signature(known[close[0]]).parameters
    return close[0] + (depth or f"@{k}" * bool(k)) * takes_k


def _parse_depth(text: str, name: str, k: str, metric: Metric) -> Any:
    if "k" not in inspect.signature(metric).parameters:
        raise ValueError(f'{text!r}: {name} uses all rows and takes no "@k".')
    if k == "mean" and metric is ndcg:
        return k
    if not (k.isdecimal() and int(k) > 0):
        raise ValueError(f'{text!r}: the text after "@" must be a positive integer, as in {name}@10.')
    return int(k)


def _parse_option(text: str, assignment: str, metric: Metric) -> tuple[str, Any]:
    """Parse "option=value" after the ":" of a name; the metric itself checks the value."""
    option, equals, value = assignment.partition("=")
    known = [each for each in inspect.signature(metric).parameters if each not in _NOT_IN_NAMES]
    if not equals or option not in known:
        raise ValueError(
            f'{text!r}: the text after ":" must be option=value, with one of the options {", ".join(known)}.'
        )
    try:
        number = float(value)
    except ValueError:
        return option, value
    return option, int(number) if number.is_integer() else number
