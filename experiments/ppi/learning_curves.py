"""Figure 3: how AUC grows with the number of training pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import Panel, draw
from benchmarks.harness import number, table
from experiments.ppi._corpora import MAX
from experiments.ppi._measure import LAMBDAS, N_FOLDS, draw_folds
from experiments.ppi._nested import HeldOut
from experiments.ppi._shared import kernel_seconds, make_task, spread, standard_error
from experiments.study import READING, Run, Tables
from kernelrank.metrics import auc, best_f_score

SIZES = (50, 100, 200, 400, 800, 1000, 1600, 3200)  # pairs to train on, as nearly as whole documents allow
QUICK_SIZES = (10, 20)
TEN_TIMES = "1,000"  # pairs of BioInfer, which the paper compares with 100 of others

Curve = dict[int, list[float]]  # AUC of the splits, by size


def measure(run: Run) -> dict[str, Any]:
    """Return the curve of each corpus."""
    task = make_task(run)
    spread(run, kernel_seconds, [(name, MAX) for name in task.largest_first])
    tasks = [(name, seed) for name in task.largest_first for seed in range(task.n_splits)]
    found: dict[str, Curve] = {name: {} for name in task.corpora}
    for (name, _), kept in zip(tasks, spread(run, measure_split, tasks), strict=True):
        for size, area in zip(kept["sizes"].tolist(), kept["auc"].tolist(), strict=True):
            found[name].setdefault(size, []).append(area)
    return {"curves": found, "n_splits": task.n_splits}


def report(results: dict[str, Any], run: Run) -> list[str]:
    found: dict[str, Curve] = results["curves"]
    sizes = sorted({size for curve in found.values() for size in curve})
    rows = [
        [name, *(mean_and_error(curve[size]) if size in curve else "" for size in sizes)]
        for name, curve in found.items()
    ]
    lines = {name: [(size, 100 * np.mean(each)) for size, each in curve.items()] for name, curve in found.items()}
    draw([Panel("", "training pairs", "AUC, %", lines, "linear", sizes)], run.results / "learning-curves.svg")
    heading = ["AUC", *(f"{size:,}" for size in sizes)]
    setting = SETTING.format(n_splits=results["n_splits"])
    return [f"# {TITLE}", setting, table(heading, rows), READING, "![Learning curves](learning-curves.svg)"]


def mean_and_error(areas: list[float]) -> str:
    error = f" ± {100 * standard_error(areas):.1f}" if len(areas) > 1 else ""
    return f"{100 * np.mean(areas):.1f}{error}"


def measure_split(run: Run, name: str, seed: int) -> dict[str, NDArray]:
    """Train on more and more documents of five folds, and test on the other five."""
    task = make_task(run)
    corpus = task.corpora[name]

    def compute() -> dict[str, list[float]]:
        K = task.kernel_matrix(name, MAX)
        _, documents = np.unique(corpus.document, return_inverse=True)
        folds = draw_folds(corpus.document, seed)
        order = np.random.default_rng(seed).permutation(documents.max() + 1)[documents]
        test, rest = np.flatnonzero(folds < N_FOLDS // 2), np.flatnonzero(folds >= N_FOLDS // 2)
        rest = rest[np.argsort(order[rest], kind="stable")]
        sizes, areas = [], []
        for size in QUICK_SIZES if run.quick else SIZES:
            if size > len(rest):
                break
            train = rest[: np.searchsorted(order[rest], order[rest][size - 1], side="right")]  # whole documents
            if len(np.unique(corpus.y[train])) == 2 and len(np.unique(documents[train])) > 1:
                sizes.append(size)
                areas.append(auc(corpus.y[test], learn(K, corpus.y, documents, train, test)))
        return {"sizes": sizes, "auc": areas}

    return task.keep(f"curve-{name}-{seed}", compute)


def learn(
    K: NDArray[np.float64], y: NDArray, documents: NDArray, train: NDArray[np.intp], test: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Score the test pairs, with the lambda that is best for held-out documents of the training pairs."""
    block = K[np.ix_(train, train)]
    means = block.mean(axis=0)
    model = HeldOut(block, 2.0 * y[train] - 1.0)
    best, weights = -1.0, np.empty(0)
    for lam in LAMBDAS:
        residuals = model.at(float(lam))
        f = best_f_score(y[train], residuals.hold_out_each(documents[train])).f_score
        if f > best:
            best, weights = f, residuals.weights
    return (K[np.ix_(test, train)] - means) @ weights


TITLE = "Learning curves: figure 3"
SETTING = """
Five of ten folds of documents are the test part; documents of the others are added one after the other, until there
are so many training pairs, or a few more. Lambda by leaving the training documents out. Mean AUC of {n_splits} splits
± its standard error, in percent, `combine="max"`. The paper has a figure without numbers.
Sizes that some splits do not reach are means of the others, without an error if there is one.
"""


def readings(tables: Tables) -> Iterator[str]:
    [found] = tables[TITLE]
    small = [name for name in ("IEPA", "HPRD50", "LLL") if name in (row["AUC"] for row in found)]
    each = ", ".join(f"{found.row(name)['100']} ({name})" for name in small)
    others = " and ".join(f"{found.row(name)['100']} ({name})" for name in ("AIMed", "BioInfer"))
    much = found.row("BioInfer")[TEN_TIMES]
    apart = {name: in_errors(found.row(name)["100"], much) for name in small}
    distances = ", ".join(f"{value:+.1f} ({name})" for name, value in apart.items())
    beat = [name for name, value in apart.items() if value > 0]
    yield f"""
        With 100 pairs the AUC is {each}, and {others}. The paper says that 100
        pairs of any of the three beat ten times as many of BioInfer. BioInfer has {much} with {TEN_TIMES} pairs, so
        this holds here for {" and ".join(beat) or "none of them"}; in standard errors, the differences are
        {distances}."""


def in_errors(cell: str, other: str) -> float:
    """Return the difference of two means in standard errors."""
    apart = number(cell) - number(other)
    return apart / float(np.hypot(*(number(each.partition("±")[2]) for each in (cell, other))))
