"""The command ``select``."""

from __future__ import annotations

import argparse

from kernelrank.cli._data import check_target, read_data
from kernelrank.cli._fitting import fit_with_progress, save
from kernelrank.cli._methods import make_selection
from kernelrank.cli._output import print_json, print_record, print_selection
from kernelrank.cli._preprocessing import print_columns
from kernelrank.cli._results import describe, describe_selection
from kernelrank.cli._working import Working, on_terminal


def select(args: argparse.Namespace) -> int:
    """Select features one by one, by the held-out error."""
    check_target(args.output)
    model, shown = make_selection(args), on_terminal(args)
    with Working(shown, f"reading {args.data}"):
        data = read_data(args)
    fitted = fit_with_progress(model, data, shown)
    if args.output is not None:
        save(model, data, args)
    result = {
        **describe(data),
        "method": args.method,
        "alpha": model.alpha,
        "seconds": round(fitted.seconds, 3),
        "model": args.output,
        **describe_selection(model, data, args),
    }
    if args.json:
        print_json(result)
        return 0
    selected, columns = result.pop("selected"), result.pop("columns", None)
    print_record(result)
    if columns is not None:
        print()
        print_columns(columns)
    print()
    print_selection(selected)
    print("\nThe features were selected by these errors, so they are optimistic for the features that were selected.")
    return 0
