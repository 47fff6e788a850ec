"""Implementation of the commands of ``kernelrank``, one function each."""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank import RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank._progress import FitProgress, FoldProgress
from kernelrank._validation import encode_queries
from kernelrank.cli._cluster import connected, fit_on_cluster
from kernelrank.cli._data import Data, check_target, names_of, read_data, read_model, read_scores, score_rows
from kernelrank.cli._guard import NOT_CONVERGED
from kernelrank.cli._kernels import chosen_kernel, compare_kernels, describe_kernel
from kernelrank.cli._metrics import Metric, choose_metrics, name_choice, warn_of_gains
from kernelrank.cli._out_of_core import applied_data, check_method, is_stored, stored_data
from kernelrank.cli._output import print_json, print_record, print_table, show
from kernelrank.exceptions import ConvergenceWarning, PathEndWarning
from kernelrank.io import RowStore
from kernelrank.io._files import replace_file
from kernelrank.kernels import Linear
from kernelrank.persistence import save_model

Vector = NDArray[np.float64]

# Options of each method: names on the command line and parameters of the estimators.
_OF_ALL = {"n_basis": "n_basis", "query_weighting": "query_weighting"}
_OF_SOLVERS = {"tol": "tol", "max_iter": "max_iter"}
_OF_RANK_SVM = {**_OF_ALL, **_OF_SOLVERS, "loss": "loss", "positive": "positive", "jobs": "n_jobs"}
_OF_RANK_RLS = {**_OF_ALL, **_OF_SOLVERS, "ties": "ties"}
_OF_RANK_RLS_CV = {**_OF_ALL, "ties": "ties"}


def train(args: argparse.Namespace) -> int:
    """Train a model and save it."""
    check_target(args.output)
    model = _make_model(args)
    in_files = is_stored(args) or args.out_of_core is not None or args.dask is not None
    if in_files:
        check_method(args)
    with connected(args.dask) as client:  # before anything is written
        data = stored_data(args) if in_files else read_data(args)
        seconds, converged = fit_with_progress(model, data, shown=not args.quiet, client=client)
    _save(model, data, args)
    result = {
        **_describe(data),
        "method": args.method,
        **describe_kernel(model),
        "n_pairs" if data.weight is None else "weight_of_pairs": getattr(model, "n_pairs_", None),
        "alpha": model.alpha,
        **_certificate(model),
        "converged": converged,
        "iterations": model.n_iter_,
        "seconds": round(seconds, 3),
        "model": args.output,
    }
    print_json(result) if args.json else print_record(result)
    return 0 if converged or not args.strict else NOT_CONVERGED


def predict(args: argparse.Namespace) -> int:
    """Write the score of each row."""
    if args.output != "-":
        check_target(args.output)
    model = read_model(args.model)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the model was trained with queries")  # scores do not need queries
        data = applied_data(args, model, labels=False) if is_stored(args) else read_data(args, model, target=False)
    write_scores(args.output, score_rows(model, data.X), as_json=args.json)
    return 0


def evaluate(args: argparse.Namespace) -> int:
    """Evaluate a ranking of scores."""
    if args.data == args.scores == "-":
        raise ValueError("Standard input cannot be both the data and the scores.")
    model = None if args.model is None else read_model(args.model)
    features = model is not None
    data = applied_data(args, model, labels=True) if is_stored(args) else read_data(args, model, features=features)
    y = data.utilities()
    scores = read_scores(args.scores, data.n_rows, args.data) if model is None else score_rows(model, data.X)
    chosen = choose_metrics(args.metric, y, args.undefined, censored=data.observed is not None)
    warn_of_gains(chosen, y)
    given = {"sample_weight": data.weight, "observed": data.observed}
    values = {metric.name: metric.per_query(y, scores, data.qid, **given) for metric in chosen}
    result: dict[str, Any] = {**_describe(data), "metrics": {name: _summary(each) for name, each in values.items()}}
    if args.per_query:
        ids = ["all"] if data.qid is None else list(dict.fromkeys(data.qid.tolist()))
        result["per_query"] = [
            {"qid": each, **{name: float(values[name][row]) for name in values}} for row, each in enumerate(ids)
        ]
    if args.json:
        print_json(result)
        return 0
    print_table(("metric", "mean", "std error", "queries"), [(n, *s.values()) for n, s in result["metrics"].items()])
    if any(np.isnan(each).any() for each in values.values()):
        print("\nMeans are over queries where a metric is defined; --undefined 0 counts the others as 0.")
    if args.per_query:
        print()
        # Ids are shown as text, not as numbers.
        lines = [(str(qid), *others) for qid, *others in map(dict.values, result["per_query"])]
        print_table(("qid", *values), lines)
    return 0


def cv(args: argparse.Namespace) -> int:
    """Choose alpha by cross-validation and estimate the performance."""
    check_target(args.output)
    if args.folds < 2:
        raise ValueError(f"--folds must be at least 2, got {args.folds}.")
    kind: type[RankSVMCV | RankRLSCV] = RankSVMCV if args.method == "ranksvm" else RankRLSCV
    options = _options(args, _OF_RANK_SVM if kind is RankSVMCV else _OF_RANK_RLS_CV)
    alphas = _alphas(args.alphas)
    data = read_data(args)
    if kind is RankRLSCV and data.weight is not None:
        raise ValueError("--weight is for --method ranksvm: cross-validation of rankrls does not support weights.")
    if kind is RankRLSCV and data.observed is not None:
        raise ValueError("--observed is for --method ranksvm: rankrls has no closed form for censored utilities.")
    y, censored = data.utilities(), data.observed is not None
    select = name_choice(args.select, y, args.undefined, censored=censored)
    others = choose_metrics(args.metric, y, args.undefined, censored=censored)
    shown = others if any(select.same_as(each) for each in others) else [select, *others]
    warn_of_gains(shown, y)
    scores = _FoldScores(select, shown)
    model = kind(alphas, cv=args.folds, scoring=scores, random_state=args.seed, **options)
    with FoldProgress(shown=not args.quiet) as progress, _Convergence() as convergence:
        if isinstance(model, RankSVMCV):
            given = {"sample_weight": data.weight, "observed": data.observed}
            model.set_params(verbose=progress).fit(data.X, y, qid=data.qid, **given)
            model.set_params(verbose=0)
        else:
            model.fit(data.X, y, qid=data.qid)
    model.set_params(scoring=select.scoring)
    if args.output is not None:
        _save(model, data, args)
    per_fold = scores.at(model)
    result = {
        **_describe(data),
        "method": args.method,
        **describe_kernel(model),
        "n_folds": model.scores_.shape[1],
        "selected_by": select.name,
        "kernels": compare_kernels(model),
        "alpha": model.alpha_,
        "alpha_at_end": convergence.at_end,
        "path": [
            {"alpha": float(alpha), **_spread(row)} for alpha, row in zip(model.alphas_, model.scores_, strict=True)
        ],
        "metrics": {name: _summarise_folds(*each.T) for name, each in per_fold.items()},
        **_certificate(model),
        "converged": convergence.reached,
        "model": args.output,
    }
    print_json(result) if args.json else _print_choice(result)
    return 0 if convergence.reached or not args.strict else NOT_CONVERGED


def demo(args: argparse.Namespace) -> int:
    """Train, evaluate and plot on example data, showing the equivalent commands."""
    from kernelrank.cli._demo import run

    return run(Path(args.folder))


def fit_with_progress(model: RankSVM | RankRLS, data: Data, shown: bool, client: Any = None) -> tuple[float, bool]:
    """Fit a model, on a cluster if there is a client; return the time in seconds and whether it converged."""
    began = time.perf_counter()
    with FitProgress(shown) as progress, _Convergence() as convergence:
        if isinstance(model, RankSVM):
            model.set_params(verbose=progress)
        if client is not None:
            fit_on_cluster(model, data.X, client)
        elif isinstance(data.X, RowStore) and isinstance(model, RankSVM):
            model.fit(data.X)
        else:
            given = {"sample_weight": data.weight, "observed": data.observed}
            model.fit(data.X, data.utilities(), qid=data.qid, **given)
        if isinstance(model, RankSVM):
            model.set_params(verbose=0)
    return time.perf_counter() - began, convergence.reached


def write_scores(target: str, scores: Vector, as_json: bool = False) -> None:
    """Write one score per line with full precision."""
    text = json.dumps({"scores": scores.tolist()}) + "\n" if as_json else "".join(f"{s!r}\n" for s in scores.tolist())
    if target == "-":
        sys.stdout.write(text)
        return
    with replace_file(target) as file:
        file.write(text.encode())


def _certificate(model: Any) -> dict[str, float | None]:
    """Return the objective and its absolute and relative gap; None for a closed form."""
    objective, gap = getattr(model, "objective_", None), getattr(model, "gap_", None)
    relative = None if objective is None or gap is None else gap / objective if objective > 0 else 0.0
    return {"objective": objective, "gap": gap, "relative_gap": relative}


class _FoldScores:
    """Scoring for a cross-validation that also records all other metrics on each fold."""

    def __init__(self, select: Metric, others: list[Metric]) -> None:
        self._select, self._others = select, others
        self._noted: dict[str, dict[Any, tuple[float, int]]] = {metric.name: {} for metric in others}

    def locate(self, kernel: Any, alpha: float, fold: int) -> None:
        """Set the kernel, alpha and fold of the next scores."""
        self._place = None if isinstance(kernel, Linear) else kernel, alpha, fold

    def __call__(
        self,
        y_true: Vector,
        y_score: Vector,
        *,
        qid: Any = None,
        sample_weight: Vector | None = None,
        observed: NDArray[np.bool_] | None = None,
    ) -> float:
        given = {"sample_weight": sample_weight, "observed": observed}
        for metric in self._others:
            self._noted[metric.name][self._place] = metric.mean(y_true, y_score, qid, **given)
        return self._select.mean(y_true, y_score, qid, **given)[0]

    def at(self, model: RankSVMCV | RankRLSCV) -> dict[str, Vector]:
        """Return the mean and the number of queries on each fold, for the chosen kernel and alpha."""
        kernel = getattr(model, "kernel_", Linear())
        kernel = None if isinstance(kernel, Linear) else kernel
        places = [(kernel, model.alpha_, fold) for fold in range(model.scores_.shape[1])]
        return {name: np.array([values[place] for place in places]) for name, values in self._noted.items()}


class _Convergence:
    """Context that records warnings about missing convergence, or a best alpha at an end of the path.

    The warnings are shown as well.
    """

    reached, at_end = True, False

    def __enter__(self) -> _Convergence:
        self._catch = warnings.catch_warnings()
        self._catch.__enter__()
        show = warnings.showwarning

        def notice(message: Any, category: Any, *where: Any, **more: Any) -> None:
            self.reached = self.reached and not issubclass(category, ConvergenceWarning)
            self.at_end = self.at_end or issubclass(category, PathEndWarning)
            show(message, category, *where, **more)

        warnings.showwarning = notice
        return self

    def __exit__(self, *error: Any) -> None:
        self._catch.__exit__(*error)


def _make_model(args: argparse.Namespace) -> RankSVM | RankRLS:
    if args.method == "ranksvm":
        return RankSVM(args.alpha, **_options(args, _OF_RANK_SVM))
    return RankRLS(args.alpha, **_options(args, _OF_RANK_RLS))


def _options(args: argparse.Namespace, names: dict[str, str]) -> dict[str, Any]:
    """Return the options that were set; the estimator has defaults for the others."""
    # Jobs also apply to reading files.
    for name in sorted((_OF_RANK_SVM | _OF_RANK_RLS).keys() - names.keys() - {"jobs"}):
        if getattr(args, name) is not None:
            method = "ranksvm" if name in _OF_RANK_SVM else "rankrls"
            raise ValueError(f"--{name.replace('_', '-')} is for --method {method}.")
    kernel = chosen_kernel(args)
    if args.n_basis is not None and args.method == "ranksvm" and kernel in (None, "linear"):
        raise ValueError("--n-basis is for --kernel gaussian or polynomial, or for --method rankrls.")
    given = {ours: getattr(args, name) for name, ours in names.items() if getattr(args, name) is not None}
    return given if kernel is None else {**given, "kernel": kernel}


def _alphas(text: str) -> int | list[float]:
    try:
        return int(text) if text.isdecimal() else [float(each) for each in text.split(",")]
    except ValueError:
        raise ValueError(f"--alphas must be a count or comma-separated numbers, got {text!r}.") from None


def _save(model: RankSVM | RankRLS | RankSVMCV | RankRLSCV, data: Data, args: argparse.Namespace) -> None:
    if not hasattr(model, "feature_names_in_"):
        # How to count the features of other files.
        model.zero_based_ = bool(data.X.zero_based) if isinstance(data.X, RowStore) else args.zero_based
    save_model(model, args.output)


def _describe(data: Data) -> dict[str, Any]:
    if isinstance(store := data.X, RowStore):
        return {"n_rows": store.n_rows, "n_features": store.n_features, "n_queries": store.n_queries or None}
    n_queries = None if data.qid is None else encode_queries(data.qid, data.n_rows)[1]
    sizes = {"n_rows": data.n_rows, "n_features": int(data.X.shape[1]), "n_queries": n_queries}
    return sizes if (names := names_of(data.X)) is None else {**sizes, "features": names}


def _spread(values: Vector) -> dict[str, float]:
    """Return the mean and standard deviation over the folds where a metric is defined."""
    known = values[~np.isnan(values)]
    return {
        "mean": float(known.mean()) if len(known) else np.nan,
        "std": float(known.std(ddof=1)) if len(known) > 1 else np.nan,
    }


def _summarise_folds(values: Vector, n_queries: Vector) -> dict[str, Any]:
    """Return the mean and standard deviation over the folds, and the total number of queries."""
    return {**_spread(values), "n_queries": int(n_queries.sum()), "folds": values.tolist()}


def _summary(values: Vector) -> dict[str, Any]:
    """Return the mean over the queries where a metric is defined, and its standard error."""
    known = values[~np.isnan(values)]
    return {
        "mean": float(known.mean()) if len(known) else np.nan,
        "std_error": float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else np.nan,
        "n_queries": len(known),
    }


def _print_choice(result: dict[str, Any]) -> None:
    if result["kernels"] is not None:
        tried = [name for name in result["kernels"][0] if name != "mean"]
        means = [kernel["mean"] for kernel in result["kernels"]]
        chosen = means.index(max(means))  # the first of equals, as the estimators choose
        rows = [
            (*(f"{kernel[name]:.4g}" for name in tried), kernel["mean"], "*" if number == chosen else "")
            for number, kernel in enumerate(result["kernels"])
        ]
        print_table((*tried, result["selected_by"], ""), rows)
        print()
    mark = "* at the end of the path: values beyond it may be better" if result["alpha_at_end"] else "*"
    rows = [(p["alpha"], p["mean"], p["std"], mark if p["alpha"] == result["alpha"] else "") for p in result["path"]]
    print_table(("alpha", result["selected_by"], "std", ""), [(f"{alpha:.4g}", *others) for alpha, *others in rows])
    if result["kernel"] != "linear" or result["n_basis"] is not None:
        told = ("kernel", "gamma", "degree", "coef0", "n_basis")
        print("\n" + ", ".join(f"{name.replace('_', ' ')} {show(result[name])}" for name in told if name in result))
    print(f"\nalpha {result['alpha']:.4g}, held-out performance on {result['n_folds']} folds:\n")
    counted = "folds" if result["n_queries"] is None else "queries"  # without queries, all rows of a fold are one query
    found = [(name, s["mean"], s["std"], s["n_queries"]) for name, s in result["metrics"].items()]
    print_table(("metric", "mean", "std", counted), found)
    print("\nalpha was chosen on the same folds, so these estimates are slightly optimistic.")
    if result["model"] is not None:
        print(f"model trained on all rows: {result['model']}")
