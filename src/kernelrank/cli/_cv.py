"""The command ``cv``."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from kernelrank import RLS, RLSCV
from kernelrank._query_ids import encode_queries
from kernelrank.cli._data import Data, check_target, read_data
from kernelrank.cli._fitting import Fitted, certificate, fit_with_progress, save
from kernelrank.cli._fold_scores import FoldScores
from kernelrank.cli._guard import NOT_CONVERGED
from kernelrank.cli._kernels import compare_kernels, describe_kernel
from kernelrank.cli._methods import make_model, parse_alphas
from kernelrank.cli._output import print_json, print_table, show
from kernelrank.cli._pairs import PAIR_ACCURACY, read_preferences, refuse_ids
from kernelrank.cli._preprocessing import print_columns
from kernelrank.cli._results import describe, describe_path, spread
from kernelrank.cli._targets import names_of_targets
from kernelrank.cli._working import Working, on_terminal
from kernelrank.estimators._folds import make_folds
from kernelrank.metrics._choice import choose_metrics, name_choice, warn_of_gains


def cv(args: argparse.Namespace) -> int:
    """Choose alpha by cross-validation and estimate the performance."""
    check_target(args.output)
    refuse_ids(args)
    if args.folds < 2:
        raise ValueError(f"--folds must be at least 2, got {args.folds}.")
    model = make_model(args, search=True, alphas=parse_alphas(args.alphas), cv=args.folds, random_state=args.seed)
    search = _search_by_utilities if args.pairs is None else _search_by_pairs
    data, fitted, found = search(model, args)
    if args.output is not None:
        save(_without_scoring(model, data, args) if isinstance(model, RLSCV) else model, data, args)
    result = {
        **describe(data),
        "method": args.method,
        **describe_kernel(model),
        "n_folds": model.scores_.shape[1],
        "kernels": compare_kernels(model),
        "alpha": model.alpha_,
        "alpha_at_end": fitted.at_end,
        "path": describe_path(model),
        **found,
        **certificate(model),
        "converged": fitted.converged,
        "model": args.output,
    }
    print_json(result) if args.json else _print_choice(result)
    return 0 if fitted.converged or not args.strict else NOT_CONVERGED


def _search_by_utilities(model: Any, args: argparse.Namespace) -> tuple[Data, Fitted, dict[str, Any]]:
    """Choose alpha by a metric; return the data, facts about the fit, and all metrics of each target."""
    with Working(on_terminal(args), f"reading {args.data}"):
        data = read_data(args)
    y, censored = data.utilities(), data.observed is not None
    select = name_choice(args.select or "concordance", y, args.undefined, censored=censored)
    others = choose_metrics(args.metric, y, args.undefined, censored=censored)
    shown = others if any(select.same_as(each) for each in others) else [select, *others]
    warn_of_gains(shown, y)
    scores = FoldScores(select, shown, _queries_of_folds(data, args) if isinstance(model, RLSCV) else None)
    model.set_params(scoring=scores)
    fitted = fit_with_progress(model, data, on_terminal(args))
    model.set_params(scoring=None if isinstance(model, RLSCV) else select.scoring)
    per_target = [
        {name: _summarise_folds(*each.T) for name, each in found.items()} for found in scores.per_output(model)
    ]
    names = names_of_targets(args)
    found = {"targets": dict(zip(names, per_target, strict=True))} if names else {"metrics": per_target[0]}
    return data, fitted, {"selected_by": select.name, **found}


def _search_by_pairs(model: Any, args: argparse.Namespace) -> tuple[Data, Fitted, dict[str, Any]]:
    """Choose alpha by the share of given pairs in the right order."""
    for option in ("select", "metric", "undefined"):
        if getattr(args, option) is not None:
            raise ValueError(f"--{option} is for utilities; with --pairs, the metric is {PAIR_ACCURACY}.")
    with Working(on_terminal(args), f"reading {args.data}"):
        data, preferences = read_preferences(args)
    fitted = fit_with_progress(model, data, on_terminal(args), preferences=preferences)
    best = model.scores_[np.flatnonzero(model.alphas_ == model.alpha_)[0]]
    held_out = "pairs" if data.qid is None else "queries"
    n_queries = len(best) if data.qid is None else len(np.unique(data.qid[preferences.pairs[:, 0]]))
    metrics = {PAIR_ACCURACY: {**spread(best), "n_queries": n_queries, "folds": best.tolist()}}
    return data, fitted, {"selected_by": PAIR_ACCURACY, "held_out": held_out, "metrics": metrics}


def _queries_of_folds(data: Data, args: argparse.Namespace) -> list[Any] | None:
    """Return the queries of the held-out rows of each fold, which least squares do not use themselves."""
    if data.qid is None:
        return None
    codes, _ = encode_queries(data.qid, data.n_rows)
    folds = make_folds(args.folds, data.utilities(), codes, codes, args.seed)
    return [data.qid[fold.test] for fold in folds]


def _without_scoring(model: RLSCV, data: Data, args: argparse.Namespace) -> RLS:
    """Fit a model with the chosen alpha: the scoring of the search is a function, which cannot be saved."""
    found = RLS(model.alpha_, kernel=model.kernel_, n_basis=model.n_basis, random_state=args.seed)
    return found.fit(data.X, data.utilities())


def _summarise_folds(values: Any, n_queries: Any) -> dict[str, Any]:
    """Return the mean and standard deviation over the folds, and the total number of queries."""
    return {**spread(values), "n_queries": int(n_queries.sum()), "folds": values.tolist()}


def _print_choice(result: dict[str, Any]) -> None:
    if result.get("columns") is not None:
        print_columns(result["columns"])
        print()
    if result["kernels"] is not None:
        tried = [name for name in result["kernels"][0] if name != "mean"]
        means = [kernel["mean"] for kernel in result["kernels"]]
        chosen = means.index(max(means))  # the first of equals, as the estimators choose
        rows = [
            (*(f"{kernel[name]:.4g}" for name in tried), kernel["mean"], "*" if number == chosen else "")
            for number, kernel in enumerate(result["kernels"])
        ]
        print_table((*tried, result["selected_by"], ""), rows)
        print()
    mark = "* at the end of the path: values beyond it may be better" if result["alpha_at_end"] else "*"
    rows = [(p["alpha"], p["mean"], p["std"], mark if p["alpha"] == result["alpha"] else "") for p in result["path"]]
    print_table(("alpha", result["selected_by"], "std", ""), [(f"{alpha:.4g}", *others) for alpha, *others in rows])
    if result["kernel"] != "linear" or result["n_basis"] is not None:
        told = ("kernel", "gamma", "degree", "coef0", "n_basis")
        print("\n" + ", ".join(f"{name.replace('_', ' ')} {show(result[name])}" for name in told if name in result))
    print(f"\nalpha {result['alpha']:.4g}, held-out performance on {result['n_folds']} folds:\n")
    counted = "folds" if result["n_queries"] is None else "queries"  # without queries, all rows of a fold are one query
    per_target = result["targets"].items() if "targets" in result else [(None, result["metrics"])]
    found = [
        (*([target] if target else []), name, s["mean"], s["std"], s["n_queries"])
        for target, metrics in per_target
        for name, s in metrics.items()
    ]
    print_table((*(["target"] if "targets" in result else []), "metric", "mean", "std", counted), found)
    print("\nalpha was chosen on the same folds, so these estimates are slightly optimistic.")
    if result.get("held_out") == "pairs":
        print("Pairs were held out, and not rows: this is the performance for further pairs of the same rows.")
    if result.get("columns") is not None:
        print("Means, deviations and categories of columns are those of all rows; targets were not used for them.")
    if result["model"] is not None:
        print(f"model trained on all rows: {result['model']}")
