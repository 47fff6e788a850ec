"""Kronecker least squares: a fit and its hold-outs in units of eigenvalue decompositions, steps in units of products.

Run ``python -m benchmarks.relational`` in the folder of the repository; ``--quick`` takes small sizes, to test that
everything runs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks._timing import best_times
from benchmarks.harness import Bar, bar_table, show_progress, table
from benchmarks.reports import main
from experiments.study import Run, Tables
from kernelrank.kernels import Gaussian
from kernelrank.relational import KroneckerRLS, KroneckerRows, TwoStepRLS
from kernelrank.solvers import make_kronecker_products

ABOUT = """
## All entries known

A matrix of {n:,} x {n:,} entries, with a Gaussian kernel of {d} features for the rows and for the columns. The unit is
one call of `np.linalg.eigh` for each of the two kernel matrices, {unit:.2f} s. *fit* includes checks, both kernels and
the weights. Hold-outs start from a fit. *refits* is the number of fits that the hold-out replaces; its time in the same
units, if a refit took as long as the fit, is in the last column.

All tasks take turns; seconds are the best of {turns}.
"""
STEPS = """
## Some entries known

{known:,} known entries of {q:,} x {m:,}, {d} features for the rows and for the columns, linear kernels. The unit is one
product of the entries' features with weights and one of its transpose: `KroneckerRows`, prepared, {threads} threads.
*step* is the fit, from checks to the weights, divided by the steps of its conjugate gradients. The features as a dense
matrix would take {dense:.0f} GB.
"""
FIT, HOLD_OUT, BOTH, STEP = 3.0, 1.0, 20.0, 1.5
SETTINGS = ("entry", "row", "column", "both")


class Measured(NamedTuple):
    """Sizes, and the seconds of each task."""

    n: int
    d: int
    unit: float  # seconds
    of: dict[str, dict[str, float]]  # seconds of each task, by model
    known: int
    shape: tuple[int, int]
    features: int
    products: float  # seconds
    fit: float
    n_iter: int
    residual: float


def measure(run: Run) -> Measured:
    n, d = (60, 10) if run.quick else (2_000, 10)
    rng = np.random.default_rng(0)
    U, V = rng.normal(size=(n, d)), rng.normal(size=(n, d))
    Y = rng.normal(size=(n, n)) + U @ V.T
    kernel = Gaussian(0.5 / d)
    K, G = kernel(U), kernel(V)
    alpha = 1e-4
    options = {"row_kernel": kernel, "column_kernel": kernel}
    fits = {
        "KroneckerRLS": partial(KroneckerRLS(alpha, **options).fit, U, V, Y),
        "KroneckerRLS, ranking": partial(KroneckerRLS(alpha, ranking=True, **options).fit, U, V, Y),
        "TwoStepRLS": partial(TwoStepRLS(0.01, 0.01, **options).fit, U, V, Y),
    }
    tasks: dict[str, Any] = {"eigh": lambda: (np.linalg.eigh(K), np.linalg.eigh(G))}
    for name, fit in fits.items():
        show_progress(name)
        model = fit()
        tasks[f"{name}/fit"] = fit
        for setting in SETTINGS:
            tasks[f"{name}/{setting}"] = getattr(model, f"leave_{setting}_out")
    best = best_times(tasks, at_least=2, at_most=2)
    of = {name: {task: best[f"{name}/{task}"] for task in ("fit", *SETTINGS)} for name in fits}
    return Measured(n, d, best["eigh"], of, *_measure_steps(run, rng))


def _measure_steps(run: Run, rng: np.random.Generator) -> tuple[int, tuple[int, int], int, float, float, int, float]:
    (q, m), features, known = ((60, 50), 5, 1_500) if run.quick else ((5_000, 2_000), 50, 1_000_000)
    U, V = rng.normal(size=(q, features)), rng.normal(size=(m, features))
    entries = np.sort(rng.choice(q * m, known, replace=False))
    rows, columns = np.divmod(entries, m)
    Y = np.full((q, m), np.nan)
    Y[rows, columns] = np.einsum("ij,ij->i", U[rows] @ rng.normal(size=(features, features)), V[columns])
    Y += 10 * rng.normal(size=Y.shape)
    products = make_kronecker_products(KroneckerRows(U, V, rows, columns), 2)
    w, g = rng.normal(size=features**2), rng.normal(size=known)
    best = best_times({"products": lambda: (products.forward(w), products.backward(g))})
    show_progress("conjugate gradients")
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        model = KroneckerRLS(1e-3).fit(U, V, Y)
        seconds.append(time.perf_counter() - start)
    return known, (q, m), features, best["products"], min(seconds), model.n_iter_, model.residual_


def report(found: Measured, _: Run) -> list[str]:
    refits = {"entry": found.n**2, "row": found.n, "column": found.n, "both": found.n**2}
    rows = []
    for name, seconds in found.of.items():
        fit = seconds["fit"] / found.unit
        rows.append([name, "fit", f"{seconds['fit']:.2f}", f"{fit:.2f}", "", ""])
        rows += [
            [
                name,
                setting,
                f"{seconds[setting]:.2f}",
                f"{seconds[setting] / found.unit:.2f}",
                f"{n:,}",
                f"{n * fit:,.0f}",
            ]
            for setting, n in refits.items()
        ]
    lines = table(("model", "task", "seconds", "units", "refits", "units of refits"), rows, n_texts=2)
    dense = 8e-9 * found.known * found.features**2
    q, m = found.shape
    steps = table(
        ("known entries", "products s", "fit s", "steps", "step / products", "residual"),
        [
            [
                *(f"{found.known:,}", f"{found.products:.3f}", f"{found.fit:.2f}", str(found.n_iter)),
                *(f"{found.fit / max(1, found.n_iter) / found.products:.2f}", f"{found.residual:.1e}"),
            ]
        ],
    )
    return [
        "# Relational data",
        ABOUT.format(n=found.n, d=found.d, unit=found.unit, turns="two turns").strip(),
        lines,
        STEPS.format(known=found.known, q=q, m=m, d=found.features, threads=2, dense=dense).strip(),
        steps,
        "## Bars",
        bar_table(judge(found)),
    ]


def judge(found: Measured) -> Iterator[Bar]:
    for name, seconds in found.of.items():
        units = {task: value / found.unit for task, value in seconds.items()}
        yield Bar(f"{name}: fit, in units of both decompositions", units["fit"], FIT)
        worst = max(("entry", "row", "column"), key=lambda task: units[task])
        yield Bar(f"{name}: leave_{worst}_out", units[worst], HOLD_OUT)
        yield Bar(f"{name}: leave_both_out", units["both"], HOLD_OUT if name == "TwoStepRLS" else BOTH)
        yield Bar(f"{name}: fit and all hold-outs", sum(units.values()), FIT + 3 * HOLD_OUT + BOTH)
    yield Bar(
        "conjugate gradients: a step, in units of its two products", found.fit / found.n_iter / found.products, STEP
    )


def readings(_: Tables) -> list[str]:
    return []


if __name__ == "__main__":
    main(sys.modules[__name__])
