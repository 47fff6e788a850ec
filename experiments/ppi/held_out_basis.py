"""Figure 1 of Paper III: basis rows of the test part, kept and removed, with this kernel on BioInfer.

Airola, Pahikkala and Salakoski: On learning and cross-validation with decomposed Nyström approximation of kernel matrix
(2011). Their data were 9,856 parses of some 600 sentences; here are 9,666 pairs of 1,090 sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import Panel, draw
from benchmarks.harness import show_progress, table
from experiments.ppi._corpora import MAX
from experiments.ppi._measure import N_FOLDS, draw_folds
from experiments.ppi._shared import make_task
from experiments.study import READING, Run, Tables
from kernelrank import RLS, NystromMap

Array = NDArray[np.float64]

LAMBDAS = 10.0 ** np.arange(-9, 10)
PER_SENTENCE = 2


def measure(run: Run) -> dict[str, Any]:
    """Return the mean squared errors with the basis rows of the test part kept and removed."""
    task = make_task(run)
    corpus = task.corpora["BioInfer"]
    K, y = task.kernel_matrix("BioInfer", MAX), 2.0 * corpus.y - 1.0
    _, sizes = np.unique(corpus.sentence, return_counts=True)
    n_basis = int(np.minimum(sizes, PER_SENTENCE).sum())
    nystrom = NystromMap("precomputed", n_basis, selection="per-query").fit(K, qid=corpus.sentence)
    features = nystrom.transform(K)
    folds = draw_folds(corpus.sentence, 0)
    kept, removed = np.zeros(len(LAMBDAS)), np.zeros(len(LAMBDAS))
    for number in range(N_FOLDS):
        show_progress(f"basis rows: fold {number + 1} of {N_FOLDS}")
        test = np.flatnonzero(folds == number)
        kept += squared_errors(features, y, test) / len(y)
        removed += squared_errors(nystrom.without(test).restrict(features), y, test) / len(y)
    return {"n_basis": len(nystrom.basis_indices_), "kept": kept, "removed": removed}


def report(found: dict[str, Any], run: Run) -> list[str]:
    rows = [
        [f"1e{round(np.log10(lam)):+d}", f"{a:.4f}", f"{b:.4f}", f"{a / b:.2f}"]
        for lam, a, b in zip(LAMBDAS, found["kept"], found["removed"], strict=True)
    ]
    lines = {name: list(zip(LAMBDAS, found[name], strict=True)) for name in ("kept", "removed")}
    draw([Panel("", "lambda", "mean squared error", lines, "linear")], run.results / "held-out-basis.svg")
    return [
        f"# {TITLE}",
        SETTING.format(n_basis=found["n_basis"]),
        table(["lambda", "kept", "removed", "kept / removed"], rows),
        READING,
        "![Mean squared error](held-out-basis.svg)",
    ]


def squared_errors(features: Array, y: Array, test: NDArray[np.intp]) -> Array:
    """Return the sum of squared errors on a test part, for each lambda."""
    train = np.setdiff1d(np.arange(len(y)), test)
    weights = RLS().fit(features[train], y[train]).path(LAMBDAS / len(train))
    levels = y[train].mean() - features[train].mean(axis=0) @ weights.T
    return ((y[test, None] - features[test] @ weights.T - levels) ** 2).sum(axis=0)


TITLE = "Basis rows of the test part: figure 1 of Airola et al. (2011)"
SETTING = """
Least squares of ±1, {n_basis:,} basis rows, two per sentence; ten folds of sentences. *kept*: the map has the basis
rows of the test part, *removed*: it does not. Mean squared error. In the paper, keeping them gives almost four times
the error at small lambdas, and the same at large ones.
"""


def readings(tables: Tables) -> Iterator[str]:
    [found] = tables[TITLE]
    best = {name: min(found, key=lambda row, name=name: float(row[name])) for name in ("kept", "removed")}
    kept = best["kept"]
    yield f"""
        With little regularisation, keeping the basis rows gives {float(found[0]["kept / removed"]):.0f} times the
        error, with much regularisation {found[-1]["kept / removed"]} times. The best lambda is {kept["lambda"]} if they
        are kept and {best["removed"]["lambda"]} if they are removed, but keeping them estimates an error of
        {float(kept["kept"]):.3f} where it is {float(kept["removed"]):.3f}. The mean of y alone has an error of
        {float(found[-1]["removed"]):.2f}."""
