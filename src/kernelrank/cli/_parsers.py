"""Options of each command: one function per command, listed in `COMMANDS`.

The function of a command ``name`` with the same name is in the module ``_name``, imported when the command runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeAlias

from kernelrank.cli._options import DATA_HELP, METRIC_HELP, add_data, add_metrics, add_output, add_training

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
    parser.add_argument("--alpha", type=float, default=1e-3, help="regularisation parameter (default: %(default)g)")
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
    parser.add_argument(
        "--alphas", default="20", help="minimum number, or values: 1e-3,1e-2,1e-1 (default: %(default)s)"
    )
    parser.add_argument(
        "--folds", type=int, default=5, help="number of folds; queries are not split (default: %(default)s)"
    )
    parser.add_argument(
        "--select", default="concordance", metavar="METRIC", help="metric that alpha maximises (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed of folds of rows without queries (default: %(default)s)"
    )
    add_metrics(parser)
    add_training(parser, several=True)
    parser.add_argument("-o", "--output", metavar="MODEL", help="file to save the model trained on all rows to")


_EXPORT_EXAMPLE = """\
example:
  kernelrank export model.kr --to onnx -o model.onnx
  kernelrank export model.kr --to elasticsearch --name shop_v1 --bounds train.csv -o model.json
  kernelrank export model.kr --to sql --table houses -o query.sql
"""
_EXPORT_NOTES = """\
onnx takes models with any kernel of kernelrank.kernels; the other formats take linear models. Scalers, imputers and
encoders of columns are part of the export. Names of features are those of the table that the model was trained on, or
x0, x1, ..., unless --feature-names is given."""


def export(add: Add) -> None:
    """Add the command ``export``."""
    parser = add("export", "write a model for another system", _EXPORT_EXAMPLE, _EXPORT_NOTES)
    parser.add_argument("model", help="model file written by train, cv, SVM^rank or SVM^light")
    formats = ("onnx", "elasticsearch", "opensearch", "solr", "sql")
    parser.add_argument("--to", required=True, choices=formats, help="format of the file")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="file to write")
    parser.add_argument(
        "--feature-names", metavar="FILE", help="text file with the name of each feature, one per line, in their order"
    )
    parser.add_argument(
        "--dtype", choices=("float64", "float32"), help="onnx: type of the computations (default: float64)"
    )
    parser.add_argument(
        "--name", help="elasticsearch, opensearch, solr: name of the model there (default: name of the model file)"
    )
    parser.add_argument(
        "--bounds",
        metavar="DATA",
        help="elasticsearch, opensearch, solr: data file; shift scores so that none is negative while features lie"
        " between their smallest and largest values there",
    )
    parser.add_argument("--table", help="sql: write a query of this table, instead of an expression")
    parser.add_argument("--json", action="store_true", help="print results as JSON")


_DEMO_EXAMPLE = """\
example:
  kernelrank demo --folder demo
"""


def demo(add: Add) -> None:
    """Add the command ``demo``."""
    parser = add("demo", "train, evaluate and plot on example data", _DEMO_EXAMPLE)
    parser.add_argument("--folder", default="kernelrank-demo", help="folder for the files (default: %(default)s)")


COMMANDS: tuple[Callable[[Add], None], ...] = (train, predict, evaluate, cv, export, demo)
