"""The command ``train``."""

from __future__ import annotations

import argparse
from typing import Any

from kernelrank.cli._cluster import connected
from kernelrank.cli._data import check_target, read_data
from kernelrank.cli._fitting import Fitted, certificate, fit_with_progress, save
from kernelrank.cli._guard import NOT_CONVERGED
from kernelrank.cli._kernels import describe_kernel
from kernelrank.cli._methods import make_model
from kernelrank.cli._out_of_core import check_method, is_stored, stored_data
from kernelrank.cli._output import print_json, print_record, print_selection, print_table
from kernelrank.cli._pairs import read_preferences
from kernelrank.cli._preprocessing import print_columns
from kernelrank.cli._results import describe, describe_path, describe_selection
from kernelrank.cli._working import Working, on_terminal


def train(args: argparse.Namespace) -> int:
    """Train a model and save it."""
    check_target(args.output)
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
        **(_describe_search(model, fitted) if searched else {}),
        **describe_selection(model, args),
        **certificate(model),
        "converged": fitted.converged,
        "iterations": getattr(model, "n_iter_", None),
        "seconds": round(fitted.seconds, 3),
        "model": args.output,
    }
    print_json(result) if args.json else _print(result)
    return 0 if fitted.converged or not args.strict else NOT_CONVERGED


def _describe_search(model: Any, fitted: Fitted) -> dict[str, Any]:
    """Return how alpha was chosen, and at what cost."""
    path = describe_path(model)
    return {
        "alpha_at_end": fitted.at_end,
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
        print_table(("alpha", "score", "std", ""), rows)
    if selected is not None:
        print()
        print_selection(selected)
