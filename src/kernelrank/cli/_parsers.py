"""Options of each command: one function per command, listed in `COMMANDS`.

The function of a command ``name`` with the same name is in the module ``_name``, imported when the command runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeAlias

from kernelrank.cli._guard import positive_number
from kernelrank.cli._options import (
    DATA_HELP,
    METRIC_HELP,
    add_alpha,
    add_alphas,
    add_data,
    add_groups,
    add_metrics,
    add_output,
    add_pairs,
    add_preprocessing,
    add_strict,
    add_training,
)

# Adds a command by its name, its summary, an example and notes.
Add: TypeAlias = Callable[..., argparse.ArgumentParser]

_ESTIMATE_HELP = """\
The estimate is the share of pairs of new rows that a model puts in the right order: the area under the ROC curve, if
there are two levels, and otherwise the concordance. Each pair is compared by a model of all other rows. rankrls and rls
compute this in closed form; other methods are fitted once per pair or fold. Means, deviations and categories of columns
of a table are those of all rows; utilities are not used for them."""
_SELECT_HELP = """\
The selection starts without features, and each step adds the feature with the smallest held-out error, which is that of
refits, computed without refitting."""
_RELATIONS_HELP = """\
Each pair of entities is represented by the graph of its sentence. Least squares choose alpha, and a threshold for the
F-score, by leaving out documents; the folds are of whole documents, too."""


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
    add_alpha(parser)
    add_pairs(parser)
    add_training(parser, several=False)
    add_strict(parser)
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
    add_alphas(parser)
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
    add_strict(parser)
    parser.add_argument("-o", "--output", metavar="MODEL", help="file to save the model trained on all rows to")


_ESTIMATE_EXAMPLE = """\
example:
  kernelrank estimate patients.csv --target ill --permutations 999
  kernelrank estimate train.txt --method ranksvm --strategy averaged --folds 10
  kernelrank estimate visits.csv --target ill --groups patient --alpha auto
"""


def estimate(add: Add) -> None:
    """Add the command ``estimate``."""
    parser = add(
        "estimate",
        "estimate the performance on new rows, with an interval and a p-value",
        _ESTIMATE_EXAMPLE,
        DATA_HELP,
        _ESTIMATE_HELP,
    )
    add_data(parser)
    add_preprocessing(parser)
    add_groups(parser)
    parser.add_argument(
        "--strategy",
        choices=("leave-pair-out", "averaged", "pooled", "tournament"),
        help="rows to hold out and to compare (default: leave-pair-out; averaged, if there are queries or"
        " with --folds)",
    )
    parser.add_argument("--folds", type=int, help="averaged and pooled: number of folds (default: 10; one per query)")
    parser.add_argument(
        "--interval",
        choices=("rows", "jackknife"),
        help="variation in the interval: of the held-out comparisons, or of the models as well (default: jackknife"
        " where it takes little time)",
    )
    parser.add_argument(
        "--confidence", type=float, default=0.95, help="confidence level of the interval (default: %(default)g)"
    )
    parser.add_argument(
        "--permutations",
        type=positive_number,
        metavar="N",
        help="also test the estimate by N permutations of the utilities, for a p-value",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed of folds and permutations (default: %(default)s)"
    )
    add_alpha(parser)
    add_training(parser, several=False, default="rankrls")


_SELECT_EXAMPLE = """\
example:
  kernelrank select train.txt -k 10
  kernelrank select houses.csv --target price -k 5 --method rls -o model.kr
"""


def select(add: Add) -> None:
    """Add the command ``select``."""
    parser = add("select", "select features greedily, by the held-out error", _SELECT_EXAMPLE, DATA_HELP, _SELECT_HELP)
    add_data(parser)
    add_preprocessing(parser)
    parser.add_argument(
        "-k",
        "--n-features",
        type=positive_number,
        required=True,
        metavar="K",
        help="number of features to select",
    )
    parser.add_argument(
        "--method",
        choices=("rankrls", "rls"),
        default="rankrls",
        help="squared loss of pairs of held-out rows, or of rows that are left out one by one (default: %(default)s)",
    )
    parser.add_argument("--alpha", type=float, default=1e-3, help="regularisation parameter (default: %(default)g)")
    parser.add_argument("--query-weighting", choices=("query", "pair"), help="rankrls: as in train (default: query)")
    parser.add_argument(
        "--folds", type=int, help="rankrls: number of folds (default: one per query, or 10 without queries)"
    )
    parser.add_argument("--seed", type=int, help="rankrls: random seed of folds of rows without queries (default: 0)")
    parser.add_argument("-o", "--output", metavar="MODEL", help="file to save the model of the selected features to")
    add_output(parser)


_RELATIONS_EXAMPLE = """\
example:
  kernelrank relations corpus.xml --test other.xml --predictions pairs.csv
  kernelrank relations corpus.xml -o model.kr
  kernelrank relations other.xml -m model.kr --predictions pairs.csv
"""


def relations(add: Add) -> None:
    """Add the command ``relations``."""
    parser = add(
        "relations",
        "learn which pairs of entities of a sentence are related, with the graph kernel",
        _RELATIONS_EXAMPLE,
        _RELATIONS_HELP,
    )
    parser.add_argument("data", help="corpus: an XML file in the unified format of protein-protein interactions")
    parser.add_argument("--parse", default="split_parse", help="name of the parse to read (default: %(default)s)")
    parser.add_argument(
        "--folds", type=int, default=10, help="number of folds of documents (default: %(default)s); 0 for none"
    )
    add_alphas(parser)
    parser.add_argument(
        "--n-basis", type=positive_number, metavar="N", help="as in train: N randomly drawn pairs (default: all)"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed of the folds (default: %(default)s)")
    parser.add_argument("--jobs", type=int, metavar="N", help="number of threads; -1 for all cores (default: 1)")
    parser.add_argument("--test", metavar="CORPUS", help="corpus to predict with the model of all documents")
    parser.add_argument("-m", "--model", help="apply this model, written by relations, to the corpus; train none")
    parser.add_argument(
        "--predictions",
        metavar="FILE",
        help="CSV file for the predictions of the pairs of --test, or with --model of the corpus",
    )
    parser.add_argument("-o", "--output", metavar="MODEL", help="file to save the model of all documents to")
    add_output(parser)


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


_REPORT_EXAMPLE = """\
example:
  kernelrank report model.kr test.txt -o report.html
  kernelrank report houses.kr new.csv --target price --qid district -o report.html --learning-curve
"""
_REPORT_NOTES = """\
The report is one HTML file, which needs no network: the data, the model and its certificate, metrics with intervals,
the worst queries and their rows, why one row is above another, and warnings with what to do. It contains rows of the
data."""


def report(add: Add) -> None:
    """Add the command ``report``."""
    parser = add("report", "write a report on a model and data, as one HTML file", _REPORT_EXAMPLE, _REPORT_NOTES)
    parser.add_argument("model", help="model file written by train, cv, SVM^rank or SVM^light")
    add_data(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="file to write")
    parser.add_argument("--title", help="title of the page (default: the names of the two files)")
    parser.add_argument(
        "--learning-curve", action="store_true", help="include a learning curve, which fits the model 25 times"
    )
    parser.add_argument(
        "--confidence", type=float, default=0.95, help="confidence level of the intervals (default: %(default)g)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed of intervals, folds and permutations (default: %(default)s)"
    )
    add_output(parser)


_DEMO_EXAMPLE = """\
example:
  kernelrank demo --folder demo
"""


def demo(add: Add) -> None:
    """Add the command ``demo``."""
    parser = add("demo", "tune, train, estimate, evaluate and report on example data", _DEMO_EXAMPLE)
    parser.add_argument("--folder", default="kernelrank-demo", help="folder for the files (default: %(default)s)")


COMMANDS: tuple[Callable[[Add], None], ...] = (
    train,
    predict,
    evaluate,
    cv,
    estimate,
    select,
    relations,
    export,
    report,
    demo,
)
