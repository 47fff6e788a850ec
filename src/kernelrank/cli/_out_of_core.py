"""Data larger than memory: writing a file to a row store, and commands on such a store."""

from __future__ import annotations

import argparse
import os
from typing import Any, cast

from kernelrank import RankSVM
from kernelrank.cli._data import Data, Kind, explain_index, kind_of
from kernelrank.cli._preprocessing import refuse_preparation
from kernelrank.cli._working import bar_of_rows
from kernelrank.io import RowStore
from kernelrank.kernels import Linear, make_kernel

_OPTIONS = ("zero_based", "target", "qid", "weight", "observed", "drop")


def is_stored(args: argparse.Namespace) -> bool:
    """Return whether the data file of a command is a folder."""
    return os.path.isdir(args.data)


def check_method(args: argparse.Namespace) -> None:
    """Raise an error unless the method of a command can train without loading the rows."""
    methods = ("ranksvm",) if args.dask is None else ("ranksvm", "rankrls")
    if args.kernel not in (None, "linear") or args.method not in methods:
        raise ValueError(f"Data out of core require --method {' or '.join(methods)} and --kernel linear.")
    refused = {"--alpha auto": args.alpha == "auto", "--pairs": args.pairs, "Several targets": args.other_targets}
    for what in (what for what, given in refused.items() if given):
        raise ValueError(f"{what} cannot be used with data out of core, only with data in memory.")


def stored_data(args: argparse.Namespace) -> Data:
    """Return the rows of a command that trains without loading them: those of a store, or of a file written to one."""
    refuse_preparation(args)
    if is_stored(args):
        if args.out_of_core is not None:
            raise ValueError(f"--out-of-core is for files, but {args.data} is a folder; leave it out.")
        return Data(_open(args), None, None, None)
    for option in ("weight", "observed"):
        if getattr(args, option) is not None:
            raise ValueError(f"--{option} cannot be used with --out-of-core.")
    if args.data == "-" and not args.out_of_core:
        raise ValueError("--out-of-core needs the name of a folder for standard input.")
    folder = args.out_of_core or f"{args.data.rstrip('/')}.store"
    with bar_of_rows(args) as progress:

        def report(n_rows: int, share: float | None) -> None:
            told = "" if share is None else f", {share:.0%}"
            progress.show(share or 0.0, f"{n_rows:,} rows written to {folder}{told}")

        return Data(_write(args, folder, kind_of(args), report), None, None, None)


def _write(args: argparse.Namespace, folder: str, kind: Kind, report: Any) -> RowStore:
    if kind != "svmlight":
        if args.zero_based:
            raise ValueError(f"--zero-based applies to svmlight text, but {args.data} is a table.")
        if args.target is None:
            raise ValueError(f"{args.data}: utilities are required; set their column with --target.")
        options = {"target": args.target, "qid": args.qid, "drop": args.drop, "format": cast(Any, kind)}
        return RowStore.write_table(folder, args.data, **options, report=report)
    for option in ("target", "qid", "drop"):
        if getattr(args, option):
            raise ValueError(f"--{option} applies to tables, but {args.data} is read as svmlight text.")
    with explain_index():
        return RowStore.write_svmlight(
            folder, args.data, zero_based=args.zero_based, n_jobs=getattr(args, "jobs", None), report=report
        )


def applied_data(args: argparse.Namespace, model: Any, *, labels: bool) -> Data:
    """Return the rows of a store for a command that applies a model, with their labels if it needs them."""
    if model is not None and not (isinstance(model, RankSVM) and isinstance(make_kernel(model.kernel), Linear)):
        raise ValueError(f"{args.data} is a folder of rows, for which the model must be a linear RankSVM.")
    store = _open(args)
    return Data(store, store.y if labels else None, store.qid if labels else None, None)


def _open(args: argparse.Namespace) -> RowStore:
    for option in _OPTIONS:
        if getattr(args, option, None):
            name = option.replace("_", "-")
            raise ValueError(f"--{name} applies to files, but {args.data} is a folder of rows.")
    return RowStore(args.data)
