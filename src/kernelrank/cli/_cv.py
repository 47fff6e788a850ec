"""The command ``cv``."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank import RankRLSCV, RankSVMCV
from kernelrank._progress import FoldProgress
from kernelrank.cli._data import check_target, read_data
from kernelrank.cli._fitting import Convergence, certificate, save
from kernelrank.cli._guard import NOT_CONVERGED
from kernelrank.cli._kernels import compare_kernels, describe_kernel
from kernelrank.cli._methods import OF_RANK_RLS_CV, OF_RANK_SVM, options_of, parse_alphas
from kernelrank.cli._metrics import Metric, choose_metrics, name_choice, warn_of_gains
from kernelrank.cli._output import print_json, print_table, show
from kernelrank.cli._results import describe
from kernelrank.kernels import Linear

Vector = NDArray[np.float64]


def cv(args: argparse.Namespace) -> int:
    """Choose alpha by cross-validation and estimate the performance."""
    check_target(args.output)
    if args.folds < 2:
        raise ValueError(f"--folds must be at least 2, got {args.folds}.")
    kind: type[RankSVMCV | RankRLSCV] = RankSVMCV if args.method == "ranksvm" else RankRLSCV
    options = options_of(args, OF_RANK_SVM if kind is RankSVMCV else OF_RANK_RLS_CV)
    alphas = parse_alphas(args.alphas)
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
    with FoldProgress(shown=not args.quiet) as progress, Convergence() as convergence:
        if isinstance(model, RankSVMCV):
            given = {"sample_weight": data.weight, "observed": data.observed}
            model.set_params(verbose=progress).fit(data.X, y, qid=data.qid, **given)
            model.set_params(verbose=0)
        else:
            model.fit(data.X, y, qid=data.qid)
    model.set_params(scoring=select.scoring)
    if args.output is not None:
        save(model, data, args)
    per_fold = scores.at(model)
    result = {
        **describe(data),
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
        **certificate(model),
        "converged": convergence.reached,
        "model": args.output,
    }
    print_json(result) if args.json else _print_choice(result)
    return 0 if convergence.reached or not args.strict else NOT_CONVERGED


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
