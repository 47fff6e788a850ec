"""Options of each command: one function per command, listed in `COMMANDS`.

The function of a command ``name`` with the same name is in the module ``_name``, imported when the command runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeAlias

from kernelrank.cli._options import (
    DATA_HELP,
    METRIC_HELP,
    add_data,
    add_metrics,
    add_output,
    add_pairs,
    add_preprocessing,
    add_training,
    alpha_or_auto,
)

# Adds a command by its name, its summary, an example and notes.
Add: TypeAlias = Callable[..., argparse.ArgumentParser]


_TRAIN_EXAMPLE = """\
example:
  kernelrank train train.txt -o model.kr --alpha 1e-3
  kernelrank train houses.csv --target price --qid district -o model.kr
  kernelrank train train.txt -o model.kr --method rankrls --kernel gaussian
  kernelrank train huge.txt -o model.kr --out-of-core /shared/rows --dask tcp://scheduler:8786
  kernelrank train large.txt -o model.kr --kernel gaussian --gamma 0.5 --n-basis 500
  kernelrank train huge.txt -o model.kr --out-of-core      # writes huge.txt.store, and trains from there
"""


def train(add: Add) -> None:
    """Add the command ``train``."""
    parser = add("train", "train a model and save it", _TRAIN_EXAMPLE, DATA_HELP)
    add_data(parser)
    add_preprocessing(parser)
    parser.add_argument(
        "--out-of-core",
        metavar="FOLDER",
        nargs="?",
        const="",
        help="write the rows to FOLDER (default: DATA.store), or continue to, and train without loading them; such a"
        " folder can also take the place of the data file",
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="train on the Dask cluster of this scheduler, whose workers read the rows: those of --out-of-core, in a"
        " folder that they can see",
    )
    parser.add_argument(
        "--alpha",
        type=alpha_or_auto,
        default=1e-3,
        help="regularisation parameter, or auto: chosen by cross-validation of the whole path (default: %(default)g)",
    )
    add_pairs(parser)
    add_training(parser, several=False)
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="file to save the model to")


_PREDICT_EXAMPLE = """\
example:
  kernelrank predict test.txt -m model.kr -o scores.txt
"""


def predict(add: Add) -> None:
    """Add the command ``predict``."""
    parser = add("predict", "write the score of each row", _PREDICT_EXAMPLE, DATA_HELP)
    add_data(parser)
    parser.add_argument("-m", "--model", required=True, help="model file written by train, cv, SVM^rank or SVM^light")
    parser.add_argument(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help="file for the scores, one per line (default: standard output)",
    )
    add_output(parser)


_EVALUATE_EXAMPLE = """\
example:
  kernelrank evaluate test.txt -m model.kr --metric ndcg@10 --metric map
  kernelrank evaluate test.txt -s scores.txt --json
  kernelrank evaluate test.txt -s scores.txt --metric map --undefined 0    # as trec_eval and LETOR
"""


def evaluate(add: Add) -> None:
    """Add the command ``evaluate``."""
    parser = add("evaluate", "evaluate a ranking of scores", _EVALUATE_EXAMPLE, DATA_HELP, METRIC_HELP)
    add_data(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-m", "--model", help="model file to compute scores with")
    what.add_argument("-s", "--scores", metavar="FILE", help="file of scores, one per line")
    add_metrics(parser)
    add_pairs(parser)
    parser.add_argument("--per-query", action="store_true", help="also show the values per query")
    add_output(parser)


_CV_EXAMPLE = """\
example:
  kernelrank cv train.txt --folds 5 --select ndcg@10 -o model.kr
  kernelrank cv train.txt --kernel polynomial --degree 3
  kernelrank cv train.txt --kernel gaussian --gamma 0.01,0.1,1 --n-basis 500
"""


def cv(add: Add) -> None:
    """Add the command ``cv``."""
    parser = add(
        "cv", "choose alpha by cross-validation and estimate the performance", _CV_EXAMPLE, DATA_HELP, METRIC_HELP
    )
    add_data(parser)
    add_preprocessing(parser)
    parser.add_argument(
        "--alphas", default="20", help="minimum number, or values: 1e-3,1e-2,1e-1 (default: %(default)s)"
    )
    parser.add_argument(
        "--folds", type=int, default=5, help="number of folds; queries are not split (default: %(default)s)"
    )
    parser.add_argument("--select", metavar="METRIC", help="metric that alpha maximises (default: concordance)")
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed of folds of rows without queries (default: %(default)s)"
    )
    add_metrics(parser)
    add_pairs(parser)
    add_training(parser, several=True)
    parser.add_argument("-o", "--output", metavar="MODEL", help="file to save the model trained on all rows to")


_DEMO_EXAMPLE = """\
example:
  kernelrank demo --folder demo
"""


def demo(add: Add) -> None:
    """Add the command ``demo``."""
    parser = add("demo", "train, evaluate and plot on example data", _DEMO_EXAMPLE)
    parser.add_argument("--folder", default="kernelrank-demo", help="folder for the files (default: %(default)s)")


COMMANDS: tuple[Callable[[Add], None], ...] = (train, predict, evaluate, cv, demo)
