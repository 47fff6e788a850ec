"""Kronecker least squares: a fit and its hold-outs in units of eigenvalue decompositions, steps in units of products.

Run ``python -m benchmarks.relational`` in the folder of the repository; ``--quick`` takes small sizes, to test that
everything runs.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks._timing import best_times
from benchmarks.harness import Bar, bar_table, show_progress, table
from benchmarks.reports import main
from experiments.study import Run, Tables
from kernelrank.exceptions import ConvergenceWarning
from kernelrank.kernels import Gaussian
from kernelrank.relational import KroneckerRLS, KroneckerRows, TwoStepRLS
from kernelrank.solvers import make_kronecker_products

ABOUT = """
## All entries known

A matrix of {n:,} x {n:,} entries, with a Gaussian kernel of {d} features for the rows and for the columns. The unit is
one call of `np.linalg.eigh` for each of the two kernel matrices, {unit:.2f} s. *fit* includes checks, both kernels and
the weights. Hold-outs start from a fit. *refits* is the number of fits that the hold-out replaces; its time in the same
units, if a refit took as long as the fit, is in the last column.

All tasks take turns, in one thread; seconds are the best of {turns}.
"""
STEPS = """
## Some entries known

{known:,} known entries of {q:,} x {m:,}, {d} features for the rows and for the columns, linear kernels. Some rows and
columns have many more known entries than others. The unit is one product of the entries' features with weights and one
of its transpose: `KroneckerRows`, prepared, one thread. *step* is one of conjugate gradients: the difference of fits
with {few} and {many} of them, per step; *set-up* is the rest of a fit: checks, eigenvalue decompositions and the
sorting of entries. The features as a dense matrix would take {dense:.0f} GB.
"""
FIT, STEP = 3.0, 1.5
FEW, MANY = 5, 45  # steps
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
    step: float
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


def _measure_steps(
    run: Run, rng: np.random.Generator
) -> tuple[int, tuple[int, int], int, float, float, float, int, float]:
    (q, m), features, known = ((60, 50), 5, 1_500) if run.quick else ((5_000, 2_000), 50, 1_000_000)
    U, V = rng.normal(size=(q, features)), rng.normal(size=(m, features))
    popular = np.outer(0.1 + rng.exponential(size=q), 0.1 + rng.exponential(size=m))
    entries = np.sort(np.argpartition(rng.exponential(size=(q, m)) / popular, known, axis=None)[:known])
    rows, columns = np.divmod(entries, m)
    Y = np.full((q, m), np.nan)
    Y[rows, columns] = np.einsum("ij,ij->i", U[rows] @ rng.normal(size=(features, features)), V[columns])
    Y += 10 * rng.normal(size=Y.shape)
    products = make_kronecker_products(KroneckerRows(U, V, rows, columns), n_threads=1)
    w, g = rng.normal(size=features**2), rng.normal(size=known)
    model = KroneckerRLS(1e-3).fit(U, V, Y)
    residual, n_iter = model.residual_, model.n_iter_
    best = best_times(
        {
            "products": lambda: (products.forward(w), products.backward(g)),
            "fit": partial(KroneckerRLS(1e-3).fit, U, V, Y),
            "few steps": partial(_fit_in_steps, U, V, Y, FEW),
            "many steps": partial(_fit_in_steps, U, V, Y, MANY),
        }
    )
    step = (best["many steps"] - best["few steps"]) / (MANY - FEW)
    return known, (q, m), features, best["products"], best["fit"], step, n_iter, residual


def _fit_in_steps(U: np.ndarray, V: np.ndarray, Y: np.ndarray, n_steps: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        KroneckerRLS(1e-3, tol=1e-300, max_iter=n_steps).fit(U, V, Y)


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
    set_up = found.fit - found.n_iter * found.step
    steps = table(
        ("known entries", "products s", "set-up s", "steps", "step s", "step / products", "residual"),
        [
            [
                *(f"{found.known:,}", f"{found.products:.4f}", f"{set_up:.2f}", str(found.n_iter)),
                *(f"{found.step:.4f}", f"{found.step / found.products:.2f}", f"{found.residual:.1e}"),
            ]
        ],
    )
    return [
        "# Relational data",
        ABOUT.format(n=found.n, d=found.d, unit=found.unit, turns="two turns").strip(),
        lines,
        STEPS.format(known=found.known, q=q, m=m, d=found.features, dense=dense, few=FEW, many=MANY).strip(),
        steps,
        "## Bars",
        bar_table(judge(found)),
    ]


def judge(found: Measured) -> Iterator[Bar]:
    for name, seconds in found.of.items():
        yield Bar(f"{name}: fit, in units of both decompositions", seconds["fit"] / found.unit, FIT)
        cheap = SETTINGS if name == "TwoStepRLS" else SETTINGS[:-1]
        worst = max(cheap, key=lambda task: seconds[task])
        yield Bar(f"{name}: leave_{worst}_out, in units of the fit", seconds[worst] / seconds["fit"], 1.0)
    yield Bar("conjugate gradients: a step, in units of its two products", found.step / found.products, STEP)


def readings(_: Tables) -> list[str]:
    return []


if __name__ == "__main__":
    main(sys.modules[__name__])
