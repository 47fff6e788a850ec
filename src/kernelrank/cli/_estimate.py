"""The command ``estimate``."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from kernelrank.cli._columns import read_column, without_columns
from kernelrank.cli._data import Data, read_data
from kernelrank.cli._methods import make_model
from kernelrank.cli._output import print_json, print_record
from kernelrank.cli._preprocessing import print_columns
from kernelrank.cli._results import describe
from kernelrank.cli._working import Working, on_terminal
from kernelrank.model_selection import Estimate, PermutationTest, estimate_auc, estimate_concordance, permutation_test
from kernelrank.model_selection._cross_validation import CrossValidation
from kernelrank.model_selection._intervals import jackknife_units
from kernelrank.model_selection._sample import check_sample
from kernelrank.model_selection._work import expect_work

_LONG = 10.0  # seconds, from which the work is announced


def estimate(args: argparse.Namespace) -> int:
    """Estimate the performance on new rows, with an interval and, if wanted, a p-value."""
    if args.observed is not None and args.permutations:
        raise ValueError("--permutations is for utilities that are all observed; leave out --observed.")
    if args.other_targets:
        raise ValueError("--target must name one column: each target has an estimate of its own.")
    # Jobs are processes that fit models, each of which uses one thread.
    model = _make_model(argparse.Namespace(**{**vars(args), "jobs": None}))
    with Working(on_terminal(args), f"reading {args.data}"):
        groups = None if args.groups is None else read_column(args, "groups")
        data = read_data(args if groups is None else without_columns(args, args.groups))
    y = data.utilities()
    options = _options(args, data, groups)
    two_levels = data.observed is None and len(np.unique(y)) == 2
    if not args.quiet:
        _announce(args, model, data, options, classes=two_levels)
    if two_levels:
        found = estimate_auc(model, data.X, y, **options, **_of_interval(args))
    else:
        found = estimate_concordance(model, data.X, y, observed=data.observed, **options, **_of_interval(args))
    tested = (
        permutation_test(model, data.X, y, n_permutations=args.permutations, **options) if args.permutations else None
    )
    result = {
        **describe(data),
        "n_groups": None if groups is None else len(set(groups.tolist())),
        "method": args.method,
        "measure": "auc" if two_levels else "concordance",
        **_describe(found),
        "permutation_test": None if tested is None else _describe_test(tested),
    }
    print_json(result) if args.json else _print(result)
    return 0


def _make_model(args: argparse.Namespace) -> Any:
    searched = args.alpha == "auto"
    return make_model(args, search=searched, **({} if searched else {"alpha": args.alpha}))


def _options(args: argparse.Namespace, data: Data, groups: Any) -> dict[str, Any]:
    return {
        # Folds are only of use to strategies that hold out folds.
        "strategy": "averaged" if args.strategy is None and args.folds is not None else args.strategy,
        "cv": args.folds,
        "qid": data.qid,
        "groups": groups,
        "params": None if data.weight is None else {"sample_weight": data.weight},
        "n_jobs": args.jobs,
        "random_state": args.seed,
        "verbose": int(on_terminal(args)),
    }


def _of_interval(args: argparse.Namespace) -> dict[str, Any]:
    return {"interval": args.interval, "confidence": args.confidence}


def _announce(args: argparse.Namespace, model: Any, data: Data, options: dict[str, Any], *, classes: bool) -> None:
    """Show the number of fits, and their expected time, if they take long; a bar shows those of one step at a time."""
    given = [options[name] for name in ("qid", "groups", "params")]
    sample = check_sample(
        model, data.X, data.utilities(), *given, split_groups=False, classes=classes, observed=data.observed
    )
    plan = {name: options[name] for name in ("strategy", "cv", "n_jobs", "random_state", "verbose")}
    n_estimates = 1 + (len(jackknife_units(sample)[1]) if args.interval == "jackknife" else 0)
    n_estimates += args.permutations + 1 if args.permutations else 0
    work = expect_work(CrossValidation.make(sample, nested=True, **plan), model, sample, n_estimates)
    if work is not None and work.total_seconds(args.jobs) > _LONG:
        at_most = "" if n_estimates == 1 else "up to "  # there may be fewer distinct permutations
        print(f"kernelrank estimate: {at_most}{work.describe(args.jobs)}", file=sys.stderr, flush=True)


def _describe(found: Estimate) -> dict[str, Any]:
    return {
        "estimate": found.estimate,
        "interval": list(found.interval),
        "confidence": found.confidence,
        "interval_from": found.interval_from,
        "std_error": found.std_error,
        "strategy": found.strategy,
        "n_pairs": found.n_pairs,
        "n_fits": found.n_fits,
        "skipped": list(found.skipped),
    }


def _describe_test(tested: PermutationTest) -> dict[str, Any]:
    return {
        "statistic": tested.statistic,
        "pvalue": tested.pvalue,
        "std_error": tested.std_error,
        "n_permutations": len(tested.permuted),
        "exact": tested.exact,
        "exchanged": tested.exchanged,
        "n_fits": tested.n_fits,
    }


def _print(result: dict[str, Any]) -> None:
    low, high = result["interval"]
    tested, columns = result.pop("permutation_test"), result.pop("columns", None)
    told = {
        **result,
        "interval": f"{low:.4f} to {high:.4f} ({100 * result['confidence']:g} %, from {result['interval_from']})",
        "confidence": None,
        "interval_from": None,
        "skipped": "; ".join(result["skipped"]) or None,
    }
    if tested is not None:
        error = "exact" if tested["exact"] else f"standard error {tested['std_error']:.2g}"
        told["p_value"] = f"{tested['pvalue']:.4g} ({error})"
        told["permutations"] = f"{tested['n_permutations']:,} of {tested['exchanged']}"
    print_record(told)
    if columns is not None:
        print()
        print_columns(columns)
