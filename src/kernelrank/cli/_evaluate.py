"""The command ``evaluate``."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank.cli._data import read_data, read_model, read_scores, score_rows
from kernelrank.cli._metrics import choose_metrics, warn_of_gains
from kernelrank.cli._out_of_core import applied_data, is_stored
from kernelrank.cli._output import print_json, print_table
from kernelrank.cli._results import describe

Vector = NDArray[np.float64]


def evaluate(args: argparse.Namespace) -> int:
    """Evaluate a ranking of scores."""
    if args.data == args.scores == "-":
        raise ValueError("Standard input cannot be both the data and the scores.")
    model = None if args.model is None else read_model(args.model)
    features = model is not None
    data = applied_data(args, model, labels=True) if is_stored(args) else read_data(args, model, features=features)
    y = data.utilities()
    scores = read_scores(args.scores, data.n_rows, args.data) if model is None else score_rows(model, data.X)
    chosen = choose_metrics(args.metric, y, args.undefined, censored=data.observed is not None)
    warn_of_gains(chosen, y)
    given = {"sample_weight": data.weight, "observed": data.observed}
    values = {metric.name: metric.per_query(y, scores, data.qid, **given) for metric in chosen}
    result: dict[str, Any] = {**describe(data), "metrics": {name: _summary(each) for name, each in values.items()}}
    if args.per_query:
        ids = ["all"] if data.qid is None else list(dict.fromkeys(data.qid.tolist()))
        result["per_query"] = [
            {"qid": each, **{name: float(values[name][row]) for name in values}} for row, each in enumerate(ids)
        ]
    if args.json:
        print_json(result)
        return 0
    print_table(("metric", "mean", "std error", "queries"), [(n, *s.values()) for n, s in result["metrics"].items()])
    if any(np.isnan(each).any() for each in values.values()):
        print("\nMeans are over queries where a metric is defined; --undefined 0 counts the others as 0.")
    if args.per_query:
        print()
        # Ids are shown as text, not as numbers.
        lines = [(str(qid), *others) for qid, *others in map(dict.values, result["per_query"])]
        print_table(("qid", *values), lines)
    return 0


def _summary(values: Vector) -> dict[str, Any]:
    """Return the mean over the queries where a metric is defined, and its standard error."""
    known = values[~np.isnan(values)]
    return {
        "mean": float(known.mean()) if len(known) else np.nan,
        "std_error": float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else np.nan,
        "n_queries": len(known),
    }
