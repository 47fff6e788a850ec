"""The command ``relations``."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import precision_score, recall_score
from sklearn.pipeline import Pipeline, make_pipeline

from kernelrank import RLSCV
from kernelrank.cli._data import check_target, read_model
from kernelrank.cli._methods import parse_alphas
from kernelrank.cli._output import print_json, print_record, print_table
from kernelrank.cli._results import spread
from kernelrank.cli._working import Working, bar_of_folds, on_terminal
from kernelrank.estimators._folds import make_folds
from kernelrank.io._files import replace_file
from kernelrank.kernels import AllPaths, Polynomial
from kernelrank.metrics import auc, f_score
from kernelrank.model_selection import FScoreClassifier
from kernelrank.persistence import save_model
from kernelrank.relations import PPICorpus, load_ppi

_HEADING = ("sentence", "first", "second", "score", "related")


def relations(args: argparse.Namespace) -> int:
    """Learn which pairs of entities are related, and measure it on held-out documents or another corpus."""
    for path in (args.output, args.predictions):
        check_target(path)
    _check(args)
    shown = on_terminal(args)
    corpus, graphs = _read(args.data, args, shown)
    if args.model is not None:
        model, of_folds, tested = _read_model(args.model), {}, (corpus, graphs)
    else:
        untrained = _make_model(args)
        of_folds = _cross_validate(untrained, corpus, graphs, args) if args.folds else {}
        with Working(shown, "training"):
            model = _fit(untrained, graphs, corpus)
        tested = (corpus, graphs) if args.test is None else _read(args.test, args, shown)
    if args.output is not None:
        save_model(model, args.output)
    result = {**_describe(corpus), **_describe_model(model), **of_folds, "model": args.output}
    if args.model is not None or args.test is not None:
        with Working(shown, "predicting"):
            scores = model.score_samples(tested[1])
        result["test"] = {**_describe(tested[0]), **_measure(tested[0].y, scores, model[-1].threshold_)}
        if args.predictions is not None:
            _write(args.predictions, tested[0], scores, model[-1].threshold_)
    print_json(result) if args.json else _print(result)
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.folds != 0 and args.folds < 2:
        raise ValueError(f"--folds must be at least 2, or 0 for no cross-validation, got {args.folds}.")
    if args.model is not None:
        for option in ("test", "output"):
            if getattr(args, option) is not None:
                raise ValueError(f"--{option} is for training, but --model applies a model to {args.data}.")
    if args.predictions is not None and args.test is None and args.model is None:
        raise ValueError("--predictions needs a corpus to predict: set --test, or --model.")


def _read(path: str, args: argparse.Namespace, shown: bool) -> tuple[PPICorpus, NDArray[Any]]:
    with Working(shown, f"reading {path}"):
        corpus = load_ppi(path, parse=args.parse)
        graphs = np.empty(len(corpus), dtype=object)
        graphs[:] = corpus.graphs()
    if not len(corpus):
        raise ValueError(f"{path}: there are no pairs of entities.")
    return corpus, graphs


def _make_model(args: argparse.Namespace) -> Pipeline:
    inner_product = Polynomial(degree=1, coef0=0.0)  # of sparse features as they are
    alphas, options = parse_alphas(args.alphas), {"n_basis": args.n_basis, "random_state": args.seed}
    least_squares = RLSCV(alphas, kernel=inner_product, **options)
    return make_pipeline(AllPaths("max", n_jobs=args.jobs), FScoreClassifier(least_squares, cv="own"))


def _read_model(path: str) -> Any:
    model = read_model(path)
    if not (isinstance(model, Pipeline) and isinstance(model[0], AllPaths)):
        raise ValueError(f"{path}: expected a model written by relations, got a {type(model).__name__}.")
    return model


def _fit(model: Pipeline, graphs: NDArray[Any], corpus: PPICorpus, rows: Any = slice(None)) -> Pipeline:
    documents = corpus.document[rows]
    return clone(model).fit(graphs[rows], corpus.y[rows], fscoreclassifier__groups=documents)


def _cross_validate(
    model: Pipeline, corpus: PPICorpus, graphs: NDArray[Any], args: argparse.Namespace
) -> dict[str, Any]:
    """Return the measures of each fold of documents, by a model of all other documents."""
    y = corpus.y
    folds = make_folds(args.folds, y.astype(np.float64), None, corpus.document, args.seed)
    measured = []
    with bar_of_folds(args) as progress:
        for number, fold in enumerate(folds):
            progress(number, len(folds))
            fitted = _fit(model, graphs, corpus, fold.train)
            measured.append(_measure(y[fold.test], fitted.score_samples(graphs[fold.test]), fitted[-1].threshold_))
    columns = {name: np.array([each[name] for each in measured]) for name in measured[0]}
    return {
        "n_folds": len(folds),
        "metrics": {name: {**spread(values), "folds": values.tolist()} for name, values in columns.items()},
    }


def _measure(y: NDArray[np.int64], scores: NDArray[np.float64], threshold: float) -> dict[str, float]:
    """Return the measures of the scores of pairs; NaN unless there are both classes."""
    related = scores > threshold
    measures: dict[str, Callable[[], Any]] = {
        "auc": lambda: auc(y, scores),
        "f-score": lambda: f_score(y, scores, threshold),
        "precision": lambda: precision_score(y, related, zero_division=0.0),
        "recall": lambda: recall_score(y, related, zero_division=0.0),
    }
    both = len(np.unique(y)) == 2
    return {name: float(measure()) if both else np.nan for name, measure in measures.items()}


def _write(path: str, corpus: PPICorpus, scores: NDArray[np.float64], threshold: float) -> None:
    """Write the pairs with their scores and predictions as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADING)
    for (number, *pair), score in zip(corpus.pairs.tolist(), scores.tolist(), strict=True):
        sentence = corpus.sentences[number]
        first, second = (sentence.entities[k].id for k in pair)
        writer.writerow((sentence.id, first, second, repr(score), int(score > threshold)))
    with replace_file(path) as file:
        file.write(text.getvalue().encode())


def _describe(corpus: PPICorpus) -> dict[str, Any]:
    return {
        "corpus": corpus.name,
        "n_documents": len(np.unique(corpus.document)),
        "n_pairs": len(corpus),
        "n_related": int(corpus.y.sum()),
    }


def _describe_model(model: Pipeline) -> dict[str, Any]:
    classifier = model[-1]
    return {
        "n_features": len(model[0].get_feature_names_out()),
        "alpha": classifier.estimator_.alpha_,
        "threshold": classifier.threshold_,
    }


def _print(result: dict[str, Any]) -> None:
    metrics, test = result.pop("metrics", None), result.pop("test", None)
    print_record(result)
    if metrics is not None:
        print("\nheld-out documents:\n")
        print_table(("metric", "mean", "std"), [(name, each["mean"], each["std"]) for name, each in metrics.items()])
    if test is not None:
        print("\nanother corpus:\n")
        print_record(test)
