"""The command ``evaluate``."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank.cli._data import Data, read_data, read_model_of_rows, score_rows
from kernelrank.cli._out_of_core import applied_data, is_stored
from kernelrank.cli._output import print_json, print_table
from kernelrank.cli._pairs import PAIR_ACCURACY, read_preferences, refuse_ids
from kernelrank.cli._results import describe, summary
from kernelrank.cli._targets import names_of_targets, read_scores, take_targets
from kernelrank.cli._working import Working, on_terminal
from kernelrank.metrics import pair_accuracy
from kernelrank.metrics._choice import choose_metrics, warn_of_gains
from kernelrank.pipelines._inputs import last_step

Vector = NDArray[np.float64]
Values = dict[str, Vector]  # of each metric, one per query


def evaluate(args: argparse.Namespace) -> int:
    """Evaluate a ranking of scores."""
    if args.data == args.scores == "-":
        raise ValueError("Standard input cannot be both the data and the scores.")
    refuse_ids(args)
    model = None if args.model is None else read_model_of_rows(args.model)
    data, per_target = (_evaluate_targets if args.pairs is None else _evaluate_pairs)(model, args)
    names = names_of_targets(args)
    told = [{name: summary(each) for name, each in values.items()} for values in per_target]
    found = {"targets": dict(zip(names, told, strict=True))} if names else {"metrics": told[0]}
    result: dict[str, Any] = {**describe(data), **found}
    if args.per_query:
        result["per_query"] = [
            row for k, values in enumerate(per_target) for row in _rows(data, values, names[k : k + 1])
        ]
    if args.json:
        print_json(result)
        return 0
    rows = [
        (*names[k : k + 1], metric, *each.values()) for k, values in enumerate(told) for metric, each in values.items()
    ]
    print_table((*("target",)[: len(names)], "metric", "mean", "std error", "queries"), rows)
    if any(np.isnan(each).any() for values in per_target for each in values.values()):
        print("\nMeans are over queries where a metric is defined; --undefined 0 counts the others as 0.")
    if args.per_query:
        print()
        # Ids are shown as text, not as numbers.
        lines = [{**row, "qid": str(row["qid"])} for row in result["per_query"]]
        columns = list(dict.fromkeys(name for line in lines for name in line))
        print_table(columns, [[line.get(name, np.nan) for name in columns] for line in lines])
    return 0


def _evaluate_targets(model: Any, args: argparse.Namespace) -> tuple[Data, list[Values]]:
    """Return the data, and the metrics of each target."""
    features = model is not None
    with Working(on_terminal(args), f"reading {args.data}"):
        data = applied_data(args, model, labels=True) if is_stored(args) else read_data(args, model, features=features)
    if data.observed is None and getattr(last_step(model), "_fitted_with_censored", False):
        warnings.warn(
            "the model was trained with censored utilities, but all of"
            f" {args.data} are taken for observed; set the column that says which are with --observed",
            stacklevel=1,
        )
    y = data.utilities()
    if model is None:
        names = [] if args.target is None else [args.target, *args.other_targets]
        scores = read_scores(args.scores, names, data.n_rows, args.data)
    else:
        scores = take_targets(model, args, score_rows(model, data.X, data.qid))
    given = {"sample_weight": data.weight, "observed": data.observed}
    found = []
    for truth, predicted in zip(_columns(y), _columns(scores), strict=True):
        chosen = choose_metrics(args.metric, truth, args.undefined, censored=data.observed is not None)
        warn_of_gains(chosen, truth)
        found.append({metric.name: metric.per_query(truth, predicted, data.qid, **given) for metric in chosen})
    return data, found


def _evaluate_pairs(model: Any, args: argparse.Namespace) -> tuple[Data, list[Values]]:
    """Return the data, and the share of given pairs in the right order."""
    if args.metric is not None:
        raise ValueError(f"--metric is for utilities; with --pairs, the metric is {PAIR_ACCURACY}.")
    if model is None or not getattr(last_step(model), "_single", True):
        raise ValueError("--pairs needs a model with one output: set it with --model.")
    data, preferences = read_preferences(args, model)
    undefined = "skip" if args.undefined is None else args.undefined
    scores = score_rows(model, data.X, data.qid)
    given: dict[str, Any] = {"weight": preferences.weight, "qid": data.qid, "undefined": undefined}
    values = pair_accuracy(preferences.pairs, scores, per_query=True, **given)
    return data, [{PAIR_ACCURACY: np.atleast_1d(np.asarray(values))}]


def _columns(values: Vector) -> list[Vector]:
    return [values] if values.ndim == 1 else list(values.T)


def _rows(data: Data, values: Values, target: list[str]) -> list[dict[str, Any]]:
    ids = ["all"] if data.qid is None else list(dict.fromkeys(data.qid.tolist()))
    named = {"target": target[0]} if target else {}
    return [
        {**named, "qid": each, **{name: float(of_query[row]) for name, of_query in values.items()}}
        for row, each in enumerate(ids)
    ]
