"""Estimators and their parameters from the options of the command line."""

from __future__ import annotations

import argparse
from typing import Any

from kernelrank import RankRLS, RankSVM
from kernelrank.cli._kernels import chosen_kernel

# Options of each method: names on the command line and parameters of the estimators.
_OF_ALL = {"n_basis": "n_basis", "query_weighting": "query_weighting"}
_OF_SOLVERS = {"tol": "tol", "max_iter": "max_iter"}
OF_RANK_SVM = {**_OF_ALL, **_OF_SOLVERS, "loss": "loss", "positive": "positive", "jobs": "n_jobs"}
OF_RANK_RLS = {**_OF_ALL, **_OF_SOLVERS, "ties": "ties"}
OF_RANK_RLS_CV = {**_OF_ALL, "ties": "ties"}


def make_model(args: argparse.Namespace) -> RankSVM | RankRLS:
    """Return the estimator of a command, with its parameters."""
    if args.method == "ranksvm":
        return RankSVM(args.alpha, **options_of(args, OF_RANK_SVM))
    return RankRLS(args.alpha, **options_of(args, OF_RANK_RLS))


def options_of(args: argparse.Namespace, names: dict[str, str]) -> dict[str, Any]:
    """Return the options that were set; the estimator has defaults for the others."""
    # Jobs also apply to reading files.
    for name in sorted((OF_RANK_SVM | OF_RANK_RLS).keys() - names.keys() - {"jobs"}):
        if getattr(args, name) is not None:
            method = "ranksvm" if name in OF_RANK_SVM else "rankrls"
            raise ValueError(f"--{name.replace('_', '-')} is for --method {method}.")
    kernel = chosen_kernel(args)
    if args.n_basis is not None and args.method == "ranksvm" and kernel in (None, "linear"):
        raise ValueError("--n-basis is for --kernel gaussian or polynomial, or for --method rankrls.")
    given = {ours: getattr(args, name) for name, ours in names.items() if getattr(args, name) is not None}
    return given if kernel is None else {**given, "kernel": kernel}


def parse_alphas(text: str) -> int | list[float]:
    """Parse the number of alphas, or their values."""
    try:
        return int(text) if text.isdecimal() else [float(each) for each in text.split(",")]
    except ValueError:
        raise ValueError(f"--alphas must be a count or comma-separated numbers, got {text!r}.") from None
