"""``kernelrank train|predict|evaluate|cv|demo``: argument parser and help texts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from kernelrank.cli._guard import MISTAKE, guarded, numbers, one_number, positive_number
from kernelrank.cli._terms import in_terms_of_options

_DATA_HELP = """\
Data files are svmlight/LETOR text with lines "<target> qid:<id> <index>:<value> ... # comment" (decompressed
by suffix: .gz, .xz, .bz2; "-" is standard input), or tables with named columns: .csv, .tsv or .parquet."""
_METRIC_HELP = """\
Metrics are means over queries. concordance: share of correctly ordered pairs, ties count half; kendall: tau-b;
map, mrr, precision@k: rows with a grade above 0 are relevant; ndcg, err: gains 2^grade - 1. With @k only the
first k rows count. Options follow a colon: ndcg@10:gain=linear, ndcg@10:convention=letor. Queries without a comparable
pair or a relevant row are left out of concordance, kendall, auc, map and ndcg, and count as 0 in mrr, err and
precision, unless --undefined is set; the number of queries of each mean is shown. Weights apply to metrics of pairs."""

_TRAIN_EXAMPLE = """\
example:
  kernelrank train train.txt -o model.kr --alpha 1e-3
  kernelrank train houses.csv --target price --qid district -o model.kr
  kernelrank train train.txt -o model.kr --method rankrls --kernel gaussian
  kernelrank train huge.txt -o model.kr --out-of-core /shared/rows --dask tcp://scheduler:8786
  kernelrank train large.txt -o model.kr --kernel gaussian --gamma 0.5 --n-basis 500
  kernelrank train huge.txt -o model.kr --out-of-core      # writes huge.txt.store, and trains from there
"""
_PREDICT_EXAMPLE = """\
example:
  kernelrank predict test.txt -m model.kr -o scores.txt
"""
_EVALUATE_EXAMPLE = """\
example:
  kernelrank evaluate test.txt -m model.kr --metric ndcg@10 --metric map
  kernelrank evaluate test.txt -s scores.txt --json
  kernelrank evaluate test.txt -s scores.txt --metric map --undefined 0    # as trec_eval and LETOR
"""
_CV_EXAMPLE = """\
example:
  kernelrank cv train.txt --folds 5 --select ndcg@10 -o model.kr
  kernelrank cv train.txt --kernel polynomial --degree 3
  kernelrank cv train.txt --kernel gaussian --gamma 0.01,0.1,1 --n-basis 500
"""
_DEMO_EXAMPLE = """\
example:
  kernelrank demo --folder demo
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code."""
    args = _parser().parse_args(argv)

    def work() -> int:
        command = getattr(import_module("kernelrank.cli._commands"), args.command)
        return int(command(args))

    return guarded(f"kernelrank {args.command}", work, in_terms_of_options)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="kernelrank",
        description="Learn to rank from the command line: RankSVM with a certificate, RankRLS in closed form.",
        epilog="exit codes: 0 success, 1 not converged (with --strict), 2 invalid arguments or data, 3 internal error",
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    def add(name: str, text: str, example: str, *notes: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name,
            help=text,
            description="\n\n".join([f"{text[0].upper()}{text[1:]}.", *notes]),
            epilog=example,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    train = add("train", "train a model and save it", _TRAIN_EXAMPLE, _DATA_HELP)
    _add_data(train)
    train.add_argument(
        "--out-of-core",
        metavar="FOLDER",
        nargs="?",
        const="",
        help="write the rows to FOLDER (default: DATA.store), or continue to, and train without loading them; such a"
        " folder can also take the place of the data file",
    )
    train.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="train on the Dask cluster of this scheduler, whose workers read the rows: those of --out-of-core, in a"
        " folder that they can see",
    )
    train.add_argument("--alpha", type=float, default=1e-3, help="regularisation parameter (default: %(default)g)")
    _add_training(train, several=False)
    train.add_argument("-o", "--output", required=True, metavar="MODEL", help="file to save the model to")

    predict = add("predict", "write the score of each row", _PREDICT_EXAMPLE, _DATA_HELP)
    _add_data(predict)
    predict.add_argument("-m", "--model", required=True, help="model file written by train, cv, SVM^rank or SVM^light")
    predict.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help="file for the scores, one per line (default: standard output)",
    )
    _add_output(predict)

    evaluate = add("evaluate", "evaluate a ranking of scores", _EVALUATE_EXAMPLE, _DATA_HELP, _METRIC_HELP)
    _add_data(evaluate)
    what = evaluate.add_mutually_exclusive_group(required=True)
    what.add_argument("-m", "--model", help="model file to compute scores with")
    what.add_argument("-s", "--scores", metavar="FILE", help="file of scores, one per line")
    _add_metrics(evaluate)
    evaluate.add_argument("--per-query", action="store_true", help="also show the values per query")
    _add_output(evaluate)

    cv = add(
        "cv", "choose alpha by cross-validation and estimate the performance", _CV_EXAMPLE, _DATA_HELP, _METRIC_HELP
    )
    _add_data(cv)
    cv.add_argument("--alphas", default="20", help="minimum number, or values: 1e-3,1e-2,1e-1 (default: %(default)s)")
    cv.add_argument(
        "--folds", type=int, default=5, help="number of folds; queries are not split (default: %(default)s)"
    )
    cv.add_argument(
        "--select", default="concordance", metavar="METRIC", help="metric that alpha maximises (default: %(default)s)"
    )
    cv.add_argument(
        "--seed", type=int, default=0, help="random seed of folds of rows without queries (default: %(default)s)"
    )
    _add_metrics(cv)
    _add_training(cv, several=True)
    cv.add_argument("-o", "--output", metavar="MODEL", help="file to save the model trained on all rows to")

    demo = add("demo", "train, evaluate and plot on example data", _DEMO_EXAMPLE)
    demo.add_argument("--folder", default="kernelrank-demo", help="folder for the files (default: %(default)s)")
    return parser


class _Parser(argparse.ArgumentParser):
    """Parser that reports a mistake in one line, instead of the usage of all options."""

    def error(self, message: str) -> NoReturn:
        self.exit(MISTAKE, f"{self.prog}: error: {message} ({self.prog} --help shows the options)\n")


class _Version(argparse.Action):
    """Option that shows the version; imports the package only when used."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import kernelrank

        print(f"kernelrank {kernelrank.__version__}")
        parser.exit()


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", help="data file")
    group = parser.add_argument_group("data")
    group.add_argument(
        "--format", choices=("auto", "svmlight", "csv", "parquet"), default="auto", help="default: by file name"
    )
    group.add_argument("--zero-based", action="store_true", help="svmlight: features count from 0, not 1")
    group.add_argument("--target", metavar="COLUMN", help="table: column of utilities")
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


def _add_training(parser: argparse.ArgumentParser, *, several: bool) -> None:
    """Add the options of the estimators; those that are not set keep the estimator's defaults."""
    group = parser.add_argument_group("training")
    group.add_argument("--method", choices=("ranksvm", "rankrls"), default="ranksvm", help="default: %(default)s")
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
        " (default: 0.001); rankrls, if iterative: tolerance of the residual (default: 1e-06)",
    )
    group.add_argument("--max-iter", type=int, help="maximum number of iterations (default: 1000)")
    group.add_argument("--jobs", type=int, metavar="N", help="number of threads; -1 for all cores (default: 1)")
    group.add_argument("--strict", action="store_true", help="exit with 1 if not converged; the model is saved anyway")
    _add_kernel(parser, several=several)
    _add_output(parser)


def _add_kernel(parser: argparse.ArgumentParser, *, several: bool) -> None:
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


def _add_metrics(parser: argparse.ArgumentParser) -> None:
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


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print results as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="do not show progress")
