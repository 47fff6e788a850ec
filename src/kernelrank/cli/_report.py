"""The command ``report``."""

from __future__ import annotations

import argparse
import os

import scipy.sparse as sp

from kernelrank.cli._data import check_target, read_data, read_model_of_rows
from kernelrank.cli._output import print_json, print_record
from kernelrank.cli._working import Working, on_terminal
from kernelrank.report import write


def report(args: argparse.Namespace) -> int:
    """Write a report on a model and data."""
    if args.observed is not None:
        raise ValueError("--observed: a report has no part for censored utilities yet; use evaluate.")
    if args.other_targets:
        raise ValueError("--target must name one column: write one report per target.")
    check_target(args.output)
    model = read_model_of_rows(args.model)
    with Working(on_terminal(args), f"reading {args.data}"):
        data = read_data(args, model)
    # Features of svmlight text have numbers, which count from 0 or 1.
    first = 0 if args.zero_based else 1
    names = [f"feature {k + first}" for k in range(data.X.shape[1])] if sp.issparse(data.X) else None
    with Working(on_terminal(args), "writing the report"):
        write(
            model,
            data.X,
            data.utilities(),
            path=args.output,
            qid=data.qid,
            sample_weight=data.weight,
            feature_names=names,
            title=args.title or f"{os.path.basename(args.model)} on {os.path.basename(args.data)}",
            learning_curve=args.learning_curve,
            confidence=args.confidence,
            random_state=args.seed,
        )
    result = {"model": args.model, "data": args.data, "size": os.path.getsize(args.output), "file": args.output}
    print_json(result) if args.json else print_record(result)
    return 0
