"""The commands of ``kernelrank``, one function each."""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank import RankSVM, RankSVMCV
from kernelrank._validation import encode_queries
from kernelrank.cli._data import Data, read_data, read_model, read_scores
from kernelrank.cli._guard import NOT_CONVERGED
from kernelrank.cli._metrics import Metric, choose_metrics, parse_choice
from kernelrank.cli._output import print_json, print_record, print_table
from kernelrank.cli._progress import FitProgress, FoldProgress
from kernelrank.estimators._folds import Fold, make_folds
from kernelrank.exceptions import ConvergenceWarning
from kernelrank.io._files import replace_file
from kernelrank.persistence import save_model

Vector = NDArray[np.float64]


def train(args: argparse.Namespace) -> int:
    """Train a model and save it."""
    data = read_data(args)
    model = RankSVM(args.alpha, **_training_options(args))
    seconds, converged = fit_with_progress(model, data, shown=not args.quiet)
    save_model(model, args.output)
    result = {
        **_describe(data),
        "n_pairs": model.n_pairs_,
        "alpha": model.alpha,
        "objective": model.objective_,
        "gap": model.gap_,
        "converged": converged,
        "iterations": model.n_iter_,
        "seconds": round(seconds, 3),
        "model": args.output,
    }
    print_json(result) if args.json else print_record(result)
    return 0 if converged or not args.strict else NOT_CONVERGED


def predict(args: argparse.Namespace) -> int:
    """Write the score of every row."""
    model = read_model(args.model)
    write_scores(args.output, model.predict(read_data(args, model).X), as_json=args.json)
    return 0


def evaluate(args: argparse.Namespace) -> int:
    """Measure how well scores rank."""
    model = None if args.model is None else read_model(args.model)
    data = read_data(args, model)
    y = data.utilities()
    scores = read_scores(args.scores, data.n_rows) if model is None else model.predict(data.X)
    chosen = choose_metrics(args.metric, y)
    values = {metric.name: metric.per_query(y, scores, data.qid) for metric in chosen}
    result: dict[str, Any] = {**_describe(data), "metrics": {name: _summary(each) for name, each in values.items()}}
    if args.per_query:
        ids = ["all"] if data.qid is None else list(dict.fromkeys(data.qid.tolist()))
        result["per_query"] = [
            {"qid": each, **{name: float(values[name][row]) for name in values}} for row, each in enumerate(ids)
        ]
    if args.json:
        print_json(result)
        return 0
    print_table(("metric", "mean", "std error", "queries"), [(n, *s.values()) for n, s in result["metrics"].items()])
    if args.per_query:
        print()
        print_table(("qid", *values), [tuple(row.values()) for row in result["per_query"]])
    return 0


def cv(args: argparse.Namespace) -> int:
    """Choose alpha by cross-validation, and measure what to expect."""
    data = read_data(args)
    y = data.utilities()
    select = parse_choice(args.select)
    chosen = choose_metrics(args.metric, y)
    queries, _ = encode_queries(data.qid, data.n_rows)
    folds = make_folds(args.folds, y, queries, data.qid, args.seed)
    options = _training_options(args)
    with FoldProgress(shown=not args.quiet) as progress, _Convergence() as convergence:
        model = RankSVMCV(_alphas(args.alphas), cv=folds, scoring=select, **options, verbose=progress)
        model.fit(data.X, y, qid=data.qid, sample_weight=data.weight)
    model.set_params(cv=args.folds, scoring=None, verbose=0)
    with _Convergence() as again:
        per_fold = _measure_folds(RankSVM(model.alpha_, **options), data, folds, chosen)
    converged = convergence.reached and again.reached
    result = {
        **_describe(data),
        "n_folds": len(folds),
        "selected_by": select.name,
        "alpha": model.alpha_,
        "path": [
            {"alpha": float(alpha), **_spread(row)} for alpha, row in zip(model.alphas_, model.scores_, strict=True)
        ],
        "metrics": {name: {**_spread(row), "folds": row.tolist()} for name, row in per_fold.items()},
        "converged": converged,
        "model": args.output,
    }
    if args.output is not None:
        save_model(model, args.output)
    if args.json:
        print_json(result)
    else:
        _print_choice(result)
    return 0 if converged or not args.strict else NOT_CONVERGED


def demo(args: argparse.Namespace) -> int:
    """Train, evaluate and plot on data that comes along, with the commands that a user would type."""
    from kernelrank.cli._demo import run

    return run(Path(args.folder))


def fit_with_progress(model: RankSVM, data: Data, shown: bool) -> tuple[float, bool]:
    """Fit a model; return how long it took, and whether it has converged."""
    began = time.perf_counter()
    with FitProgress(model.tol, shown) as progress, _Convergence() as convergence:
        model.set_params(verbose=progress)
        model.fit(data.X, data.utilities(), qid=data.qid, sample_weight=data.weight)
        model.set_params(verbose=0)
    return time.perf_counter() - began, convergence.reached


def write_scores(target: str, scores: Vector, as_json: bool = False) -> None:
    """Write one score a line, with as many digits as it has."""
    text = json.dumps({"scores": scores.tolist()}) + "\n" if as_json else "".join(f"{s!r}\n" for s in scores.tolist())
    if target == "-":
        sys.stdout.write(text)
        return
    with replace_file(target) as file:
        file.write(text.encode())


class _Convergence:
    """Notices whether a fit warns that it has not converged; the warning is shown all the same."""

    reached = True

    def __enter__(self) -> _Convergence:
        self._catch = warnings.catch_warnings()
        self._catch.__enter__()
        show = warnings.showwarning

        def notice(message: Any, category: Any, *where: Any, **more: Any) -> None:
            self.reached = self.reached and not issubclass(category, ConvergenceWarning)
            show(message, category, *where, **more)

        warnings.showwarning = notice
        return self

    def __exit__(self, *error: Any) -> None:
        self._catch.__exit__(*error)


def _training_options(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "loss": args.loss,
        "query_weighting": args.query_weighting,
        "positive": args.positive,
        "tol": args.tol,
        "max_iter": args.max_iter,
        "n_jobs": args.jobs,
    }


def _alphas(text: str) -> int | list[float]:
    try:
        return int(text) if text.isdecimal() else [float(each) for each in text.split(",")]
    except ValueError:
        raise ValueError(f"--alphas wants how many, or numbers with commas between, got {text!r}.") from None


def _measure_folds(model: RankSVM, data: Data, folds: list[Fold], chosen: list[Metric]) -> dict[str, Vector]:
    """Values of each metric on the rows of each fold, by the model of the other rows."""
    values = {metric.name: np.empty(len(folds)) for metric in chosen}
    for number, fold in enumerate(folds):
        train, test = data.take(np.flatnonzero(fold.train)), data.take(fold.test)
        model.fit(train.X, train.utilities(), qid=train.qid, sample_weight=train.weight)
        scores = model.predict(test.X)
        for metric in chosen:
            values[metric.name][number] = metric(test.utilities(), scores, test.qid)
    return values


def _describe(data: Data) -> dict[str, Any]:
    n_queries = None if data.qid is None else len(set(data.qid.tolist()))
    return {"n_rows": data.n_rows, "n_features": int(data.X.shape[1]), "n_queries": n_queries}


def _spread(values: Vector) -> dict[str, float]:
    """Mean and standard deviation of the folds where a metric is defined."""
    known = values[~np.isnan(values)]
    return {
        "mean": float(known.mean()) if len(known) else np.nan,
        "std": float(known.std(ddof=1)) if len(known) > 1 else np.nan,
    }


def _summary(values: Vector) -> dict[str, Any]:
    """Mean over the queries where a metric is defined, and its standard error."""
    known = values[~np.isnan(values)]
    return {
        "mean": float(known.mean()) if len(known) else np.nan,
        "std_error": float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else np.nan,
        "n_queries": len(known),
    }


def _print_choice(result: dict[str, Any]) -> None:
    rows = [(p["alpha"], p["mean"], p["std"], "*" if p["alpha"] == result["alpha"] else "") for p in result["path"]]
    print_table(("alpha", result["selected_by"], "std", ""), [(f"{alpha:.4g}", *others) for alpha, *others in rows])
    print(f"\nalpha {result['alpha']:.4g}, on each of {result['n_folds']} folds by the model of the others:\n")
    print_table(("metric", "mean", "std"), [(name, s["mean"], s["std"]) for name, s in result["metrics"].items()])
    print("\nalpha was chosen on the same folds: expect a little less on new data.")
    if result["model"] is not None:
        print(f"model for all rows: {result['model']}")
