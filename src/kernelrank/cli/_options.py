"""Options that several commands have."""

from __future__ import annotations

import argparse
from typing import Any

from kernelrank.cli._guard import numbers, one_number, positive_number

DATA_HELP = """\
Data files are svmlight/LETOR text with lines "<target> qid:<id> <index>:<value> ... # comment" (decompressed
by suffix: .gz, .xz, .bz2; "-" is standard input), or tables with named columns: .csv, .tsv or .parquet."""
METRIC_HELP = """\
Metrics are means over queries. concordance: share of correctly ordered pairs, ties count half; kendall: tau-b;
map, mrr, precision@k: rows with a grade above 0 are relevant; ndcg, err: gains 2^grade - 1. With @k only the
first k rows count. Options follow a colon: ndcg@10:gain=linear, ndcg@10:convention=letor. Queries without a comparable
pair or a relevant row are left out of concordance, kendall, auc, map and ndcg, and count as 0 in mrr, err and
precision, unless --undefined is set; the number of queries of each mean is shown. Weights apply to metrics of pairs."""


def add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", help="data file")
    group = parser.add_argument_group("data")
    group.add_argument(
        "--format", choices=("auto", "svmlight", "csv", "parquet"), default="auto", help="default: by file name"
    )
    group.add_argument("--zero-based", action="store_true", help="svmlight: features count from 0, not 1")
    group.add_argument(
        "--target",
        metavar="COLUMN",
        action=_Targets,
        help="table: column of utilities; may be repeated for several targets (rankrls, rls, greedy)",
    )
    parser.set_defaults(other_targets=[])
    group.add_argument("--qid", metavar="COLUMN", help='table: column of queries (default: "qid", if present)')
    group.add_argument("--weight", metavar="COLUMN", help="table: column of weights")
    group.add_argument(
        "--observed",
        metavar="COLUMN",
        help="table: column with 1 where the utility is observed, 0 where it is censored: at least what is given",
    )
    group.add_argument(
        "--drop", metavar="COLUMN", action="append", default=[], help="table: column to leave out; may be repeated"
    )


def add_preprocessing(parser: argparse.ArgumentParser) -> None:
    """Add the options of preprocessing, which becomes a part of the model."""
    group = parser.add_argument_group(
        "preprocessing",
        "In tables, text and booleans become one feature per value, rare values share one, and missing numbers become"
        " the mean and are marked by a feature of their own. The model file includes all of this.",
    )
    group.add_argument(
        "--scale",
        choices=("none", "standard", "query"),
        help="standard: variance 1 and, in tables, mean 0; query: to [0, 1] inside each query; default: standard for"
        " tables, none for svmlight text and with --out-of-core",
    )
    group.add_argument(
        "--categorical",
        metavar="COLUMN",
        action="append",
        default=[],
        help="table: column of numbers to treat as categories; may be repeated",
    )
    group.add_argument(
        "--keep",
        metavar="COLUMN",
        action="append",
        default=[],
        help="table: column to use as a feature; may be repeated (default: all that are left)",
    )


class _Targets(argparse.Action):
    """Option whose first value is the target, and whose further values are further targets."""

    def __call__(self, parser: argparse.ArgumentParser, args: argparse.Namespace, value: Any, *_: Any) -> None:
        if args.target is None:
            args.target = value
        else:
            args.other_targets = [*args.other_targets, value]


def add_pairs(parser: argparse.ArgumentParser) -> None:
    """Add the options of preferences, which take the place of utilities."""
    group = parser.add_argument_group("preferences")
    group.add_argument(
        "--pairs",
        metavar="FILE",
        help="pairs of rows instead of utilities: a winner and a loser per line, as two columns separated by a space,"
        " or as CSV with a header winner,loser[,weight][,magnitude]",
    )
    group.add_argument(
        "--id",
        metavar="COLUMN",
        help="table: column of the ids in that file (default: numbers of the rows, from 1)",
    )


def add_alpha(parser: argparse.ArgumentParser) -> None:
    """Add the option of the regularisation parameter."""
    parser.add_argument(
        "--alpha",
        type=_alpha_or_auto,
        default=1e-3,
        help="regularisation parameter, or auto: chosen by cross-validation of the whole path (default: %(default)g)",
    )


def add_alphas(parser: argparse.ArgumentParser) -> None:
    """Add the option of the regularisation parameters to choose from."""
    parser.add_argument(
        "--alphas", default="20", help="minimum number, or values: 1e-3,1e-2,1e-1 (default: %(default)s)"
    )


def _alpha_or_auto(text: str) -> float | str:
    """Parse alpha, or "auto", as the type of an argument."""
    try:
        return "auto" if text == "auto" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number or auto, got {text!r}") from None


def add_groups(parser: argparse.ArgumentParser) -> None:
    """Add the option of groups of rows."""
    parser.add_argument(
        "--groups", metavar="COLUMN", help="table: column of groups, such as patients, whose rows are held out together"
    )


def add_training(parser: argparse.ArgumentParser, *, several: bool, default: str = "ranksvm") -> None:
    """Add the options of the estimators; those that are not set keep the estimator's defaults."""
    group = parser.add_argument_group("training")
    group.add_argument(
        "--method",
        choices=("ranksvm", "rankrls", "rls", "ordinal", "greedy"),
        default=default,
        help="ranksvm: hinge loss of pairs; rankrls: squared loss of pairs; rls: squared loss of rows, which uses"
        " queries in folds and metrics only; ordinal: thresholds between ordered classes; greedy: rankrls with selected"
        " features. cv and --alpha auto are for the first three (default: %(default)s)",
    )
    group.add_argument(
        "--cost",
        choices=("magnitude", "unit", "relative"),
        help="rankrls: target and weight of a pair, by the difference of its utilities (default: magnitude)",
    )
    group.add_argument(
        "-k",
        "--n-features",
        type=positive_number,
        metavar="K",
        help="greedy: number of features to select (default: as long as the held-out error decreases)",
    )
    group.add_argument("--ties", choices=("keep", "drop"), help="rankrls: pairs with equal utilities (default: keep)")
    group.add_argument("--loss", choices=("hinge", "squared_hinge"), help="ranksvm: loss function (default: hinge)")
    group.add_argument(
        "--positive", action="store_true", default=None, help="ranksvm: constrain weights to be non-negative"
    )
    group.add_argument(
        "--query-weighting", choices=("query", "pair"), help="give equal weight to each query or pair (default: query)"
    )
    group.add_argument(
        "--tol",
        type=float,
        help="ranksvm: stop at a certified gap of TOL, or of 10 * TOL * max(objective, 0.01) if that is smaller"
        " (default: 0.001); rankrls and rls, if iterative: tolerance of the residual (default: 1e-06)",
    )
    group.add_argument("--max-iter", type=int, help="maximum number of iterations (default: 1000)")
    group.add_argument("--jobs", type=int, metavar="N", help="number of threads; -1 for all cores (default: 1)")
    add_kernel(parser, several=several)
    add_output(parser)


def add_strict(parser: argparse.ArgumentParser) -> None:
    """Add the option that makes a fit that did not converge a failure."""
    parser.add_argument("--strict", action="store_true", help="exit with 1 if not converged; the model is saved anyway")


def add_kernel(parser: argparse.ArgumentParser, *, several: bool) -> None:
    """Add the options of the kernel; if `several`, each parameter takes several values to choose from."""
    number: Any = numbers(float) if several else one_number(float)
    whole: Any = numbers(int) if several else one_number(int)
    group = parser.add_argument_group(
        "kernel", "The best of several comma-separated values, such as 0.1,1,10, is chosen." if several else None
    )
    group.add_argument(
        "--kernel",
        choices=("linear", "gaussian", "polynomial"),
        help="x.y (default), exp(-gamma ||x-y||^2) or (gamma x.y + coef0)^degree",
    )
    group.add_argument(
        "--gamma", type=number, help="gaussian (default: 1 / (features * variance)) and polynomial (default: 1)"
    )
    group.add_argument("--degree", type=whole, help="polynomial: degree (default: 2)")
    group.add_argument("--coef0", type=number, help="polynomial: constant term (default: 1)")
    group.add_argument(
        "--n-basis",
        type=positive_number,
        metavar="N",
        help="expand the model in N randomly drawn rows, for large data (default: all rows)",
    )


def add_metrics(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metric",
        action="append",
        metavar="NAME[@K][:OPTION=VALUE]",
        help="concordance, pairwise-error, kendall, auc, map, mrr, ndcg, err, precision; may be repeated"
        " (default: all that apply to the data)",
    )
    parser.add_argument(
        "--undefined",
        type=lambda text: int(text) if text.isdecimal() else text,
        choices=("skip", 0, 1),
        help="value of queries without a comparable pair or a relevant row; skip leaves them out",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print results as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not show progress")
