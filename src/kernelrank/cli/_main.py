"""``kernelrank train|predict|evaluate|cv|demo``: arguments and help."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from kernelrank.cli._guard import guarded, numbers, positive_number

_DATA_HELP = """\
Data files. Lines of svmlight/LETOR text, "<target> qid:<id> <index>:<value> ... # comment" (compressed
by name: .gz, .xz, .bz2; "-" is standard input), or tables: .csv, .tsv or .parquet with named columns."""
_METRIC_HELP = """\
Metrics are means over queries. concordance: share of the pairs in the right order, ties counting half; kendall:
tau-b; map, mrr, precision@k: rows of a grade above 0 are relevant; ndcg, err: gains 2^grade - 1. With @k the
first k rows count. Options follow a colon: ndcg@10:gain=linear, ndcg@10:convention=letor. Queries without a comparable
pair or a relevant row are left out of concordance, kendall, auc, map and ndcg, and count 0 in mrr, err and precision,
unless --undefined says otherwise; a column tells how many queries a mean is over. Weights count in metrics of pairs."""

_TRAIN_EXAMPLE = """\
example:
  kernelrank train train.txt -o model.kr --alpha 1e-3
  kernelrank train houses.csv --target price --qid district -o model.kr
  kernelrank train train.txt -o model.kr --method rankrls --kernel gaussian
  kernelrank train large.txt -o model.kr --kernel gaussian --gamma 0.5 --n-basis 500
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

    return guarded(f"kernelrank {args.command}", work)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kernelrank",
        description="Learn to rank from the command line: RankSVM with a certificate, RankRLS in closed form.",
        epilog="exit codes: 0 done, 1 not converged (with --strict), 2 a mistake in the call or the data, 3 a bug",
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
    train.add_argument("--alpha", type=float, default=1e-3, help="weight of the squared norm (default: %(default)g)")
    _add_training(train, several=False)
    train.add_argument("-o", "--output", required=True, metavar="MODEL", help="file to save the model to")

    predict = add("predict", "write the score of every row", _PREDICT_EXAMPLE, _DATA_HELP)
    _add_data(predict)
    predict.add_argument("-m", "--model", required=True, help="model of train or cv, or of SVM^rank or SVM^light")
    predict.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="one score a line (default: standard output)"
    )
    _add_talk(predict)

    evaluate = add("evaluate", "measure how well scores rank", _EVALUATE_EXAMPLE, _DATA_HELP, _METRIC_HELP)
    _add_data(evaluate)
    what = evaluate.add_mutually_exclusive_group(required=True)
    what.add_argument("-m", "--model", help="model to take scores from")
    what.add_argument("-s", "--scores", metavar="FILE", help="scores, one a line")
    _add_metrics(evaluate)
    evaluate.add_argument("--per-query", action="store_true", help="also show the values of each query")
    _add_talk(evaluate)

    cv = add(
        "cv", "choose alpha by cross-validation, and measure what to expect", _CV_EXAMPLE, _DATA_HELP, _METRIC_HELP
    )
    _add_data(cv)
    cv.add_argument("--alphas", default="20", help="how many at least, or which: 1e-3,1e-2,1e-1 (default: %(default)s)")
    cv.add_argument("--folds", type=int, default=5, help="they never split a query (default: %(default)s)")
    cv.add_argument(
        "--select", default="concordance", metavar="METRIC", help="metric to choose alpha by (default: %(default)s)"
    )
    cv.add_argument("--seed", type=int, default=0, help="of the folds of rows without queries (default: %(default)s)")
    _add_metrics(cv)
    _add_training(cv, several=True)
    cv.add_argument("-o", "--output", metavar="MODEL", help="file to save the model for all rows to")

    demo = add("demo", "train, evaluate and plot on data that comes along", _DEMO_EXAMPLE)
    demo.add_argument("--folder", default="kernelrank-demo", help="for the files it makes (default: %(default)s)")
    return parser


class _Version(argparse.Action):
    """Shows the version; looked up only when asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import kernelrank

        print(f"kernelrank {kernelrank.__version__}")
        parser.exit()


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", help="data file")
    group = parser.add_argument_group("data")
    group.add_argument(
        "--format", choices=("auto", "svmlight", "csv", "parquet"), default="auto", help="default: by name"
    )
    group.add_argument("--zero-based", action="store_true", help="svmlight: features count from 0, not 1")
    group.add_argument("--target", metavar="COLUMN", help="table: column of the utilities")
    group.add_argument("--qid", metavar="COLUMN", help='table: column of the queries (default: "qid", if there is one)')
    group.add_argument("--weight", metavar="COLUMN", help="table: column of the weights")
    group.add_argument(
        "--drop", metavar="COLUMN", action="append", default=[], help="table: column to leave out; may be repeated"
    )


def _add_training(parser: argparse.ArgumentParser, *, several: bool) -> None:
    """Add what an estimator is told; what is not given is up to the estimator."""
    group = parser.add_argument_group("training")
    group.add_argument("--method", choices=("ranksvm", "rankrls"), default="ranksvm", help="default: %(default)s")
    group.add_argument("--ties", choices=("keep", "drop"), help="pairs of equal utilities, of rankrls (default: keep)")
    group.add_argument("--loss", choices=("hinge", "squared_hinge"), help="of ranksvm (default: hinge)")
    group.add_argument("--positive", action="store_true", default=None, help="no negative weights, of ranksvm")
    group.add_argument("--query-weighting", choices=("query", "pair"), help="what counts the same (default: query)")
    group.add_argument(
        "--tol",
        type=float,
        help="certified gap to reach (default: 0.001); for an objective below 0.1, ten times that of the objective;"
        " of rankrls, where it iterates, the residual (default: 1e-06)",
    )
    group.add_argument("--max-iter", type=int, help="iterations at most (default: 1000)")
    group.add_argument("--jobs", type=int, metavar="N", help="threads; -1 for all cores (default: 1)")
    group.add_argument(
        "--strict", action="store_true", help="exit with 1 if tol is not reached; the model is written all the same"
    )
    _add_kernel(parser, several=several)
    _add_talk(parser)


def _add_kernel(parser: argparse.ArgumentParser, *, several: bool) -> None:
    """Add the kernel and its parameters, of which there may be `several` to choose from."""
    number: Any = numbers(float) if several else float
    whole: Any = numbers(int) if several else int
    group = parser.add_argument_group(
        "kernel", "Of several values with commas between, 0.1,1,10, the best is chosen." if several else None
    )
    group.add_argument(
        "--kernel",
        choices=("linear", "gaussian", "polynomial"),
        help="x.y (default), exp(-gamma ||x-y||^2) or (gamma x.y + coef0)^degree",
    )
    group.add_argument(
        "--gamma", type=number, help="of gaussian (default: 1 / (features * variance)) and polynomial (default: 1)"
    )
    group.add_argument("--degree", type=whole, help="of polynomial (default: 2)")
    group.add_argument("--coef0", type=number, help="of polynomial (default: 1)")
    group.add_argument(
        "--n-basis",
        type=positive_number,
        metavar="N",
        help="combine the kernels of N rows, drawn at random, where those of all are too many (default: all)",
    )


def _add_metrics(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metric",
        action="append",
        metavar="NAME[@K][:OPTION=VALUE]",
        help="concordance, pairwise-error, kendall, auc, map, mrr, ndcg, err, precision; may be repeated"
        " (default: all that the data allow)",
    )
    parser.add_argument(
        "--undefined",
        type=lambda text: int(text) if text.isdecimal() else text,
        choices=("skip", 0, 1),
        help="value for queries without a comparable pair or a relevant row; skip leaves them out",
    )


def _add_talk(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="results as JSON on standard output")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
