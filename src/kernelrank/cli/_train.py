"""The command ``train``."""

from __future__ import annotations

import argparse
from typing import Any

from kernelrank import RLSCV
from kernelrank.cli._cluster import connected
from kernelrank.cli._data import Data, check_target, read_data
from kernelrank.cli._fitting import Fitted, certificate, fit_with_progress, save
from kernelrank.cli._guard import NOT_CONVERGED
from kernelrank.cli._kernels import describe_kernel
from kernelrank.cli._methods import make_model
from kernelrank.cli._out_of_core import check_method, is_stored, stored_data
from kernelrank.cli._output import print_json, print_record, print_selection, print_table
from kernelrank.cli._pairs import PAIR_ACCURACY, read_preferences, refuse_ids
from kernelrank.cli._preprocessing import print_columns
from kernelrank.cli._results import describe, describe_path, describe_selection
from kernelrank.cli._working import Working, on_terminal


def train(args: argparse.Namespace) -> int:
    """Train a model and save it."""
    check_target(args.output)
    refuse_ids(args)
    searched, shown = args.alpha == "auto", on_terminal(args)
    model = make_model(args, search=searched, **({} if searched else {"alpha": args.alpha}))
    in_files = is_stored(args) or args.out_of_core is not None or args.dask is not None
    if in_files:
        check_method(args)
    preferences = None
    with connected(args.dask) as client:  # before anything is written
        if in_files:
            data = stored_data(args)
        else:
            with Working(shown, f"reading {args.data}"):
                data, preferences = (read_data(args), None) if args.pairs is None else read_preferences(args)
        fitted = fit_with_progress(model, data, shown, client, preferences)
    save(model, data, args)
    weighted = data.weight is not None or (preferences is not None and preferences.weight is not None)
    result = {
        **describe(data),
        "method": args.method,
        **describe_kernel(model),
        "weight_of_pairs" if weighted else "n_pairs": getattr(model, "n_pairs_", None),
        "alpha": model.alpha_ if searched else model.alpha,
        **(_describe_search(model, data, fitted, args) if searched else {}),
        **describe_selection(model, data, args),
        **certificate(model),
        "converged": fitted.converged,
        "iterations": getattr(model, "n_iter_", None),
        "seconds": round(fitted.seconds, 3),
        "model": args.output,
    }
    print_json(result) if args.json else _print(result)
    return 0 if fitted.converged or not args.strict else NOT_CONVERGED


def _describe_search(model: Any, data: Data, fitted: Fitted, args: argparse.Namespace) -> dict[str, Any]:
    """Return how alpha was chosen, and at what cost."""
    path, n_folds, of_rows = describe_path(model), model.scores_.shape[1], isinstance(model, RLSCV)
    held_out = "queries" if data.qid is not None else "rows" if of_rows else "pairs of rows"
    measure = "concordance" if args.pairs is None else PAIR_ACCURACY
    return {
        "alpha_at_end": fitted.at_end,
        "selected_by": "negative mean squared error" if of_rows else measure,
        "held_out": held_out if n_folds == 1 else f"{n_folds} folds",
        "score": max(each["mean"] for each in path),
        "n_alphas": len(path),
        "n_fits": fitted.n_fits,
        "path": path,
    }


def _print(result: dict[str, Any]) -> None:
    """Print the result, and as tables what has several rows."""
    path, selected, columns = (result.pop(name, None) for name in ("path", "selected", "columns"))
    print_record(result)
    if columns is not None:
        print()
        print_columns(columns)
    if path is not None:
        print()
        rows = [(f"{p['alpha']:.4g}", p["mean"], p["std"], "*" if p["alpha"] == result["alpha"] else "") for p in path]
        print_table(("alpha", result["selected_by"], "std", ""), rows)
    if selected is not None:
        print()
        print_selection(selected)
