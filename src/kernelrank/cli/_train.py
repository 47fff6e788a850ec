"""The command ``train``."""

from __future__ import annotations

import argparse

from kernelrank.cli._cluster import connected
from kernelrank.cli._data import check_target, read_data
from kernelrank.cli._fitting import certificate, fit_with_progress, save
from kernelrank.cli._guard import NOT_CONVERGED
from kernelrank.cli._kernels import describe_kernel
from kernelrank.cli._methods import make_model
from kernelrank.cli._out_of_core import check_method, is_stored, stored_data
from kernelrank.cli._output import print_json, print_record
from kernelrank.cli._results import describe


def train(args: argparse.Namespace) -> int:
    """Train a model and save it."""
    check_target(args.output)
    model = make_model(args)
    in_files = is_stored(args) or args.out_of_core is not None or args.dask is not None
    if in_files:
        check_method(args)
    with connected(args.dask) as client:  # before anything is written
        data = stored_data(args) if in_files else read_data(args)
        seconds, converged = fit_with_progress(model, data, shown=not args.quiet, client=client)
    save(model, data, args)
    result = {
        **describe(data),
        "method": args.method,
        **describe_kernel(model),
        "n_pairs" if data.weight is None else "weight_of_pairs": getattr(model, "n_pairs_", None),
        "alpha": model.alpha,
        **certificate(model),
        "converged": converged,
        "iterations": model.n_iter_,
        "seconds": round(seconds, 3),
        "model": args.output,
    }
    print_json(result) if args.json else print_record(result)
    return 0 if converged or not args.strict else NOT_CONVERGED
