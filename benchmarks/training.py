"""Training a linear RankSVM to a certified gap of 1e-3, with and without line search.

Run ``python -m benchmarks.training`` in the folder of the repository; ``--quick`` takes small
sizes, to test that everything runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np

from benchmarks import data
from benchmarks._timing import Stopwatch, best_times
from benchmarks.harness import Bar, MissingDataError, bar_table, show_progress, table
from benchmarks.reports import main
from experiments.study import Run, Tables, as_list
from kernelrank.losses import PairwiseHinge
from kernelrank.metrics import pairwise_error
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Bundle, LinearOracle, Result, make_products

ABOUT = """
- *iterations*, *products* with X or its transpose, *passes*: evaluations of the loss, each a counting pass.
- *prepare s*: ranking the utilities and preparing the products; *solve s*: the bundle method. *total u* is the sum of
  both in units of u: one `X @ w`, one `X.T @ g` (BLAS or SciPy) and one `np.argsort` of as many numbers, measured in
  the same process.
- *test error*: share of the pairs of held-out rows in the wrong order.
- The shares of *solve s* in products, counting, the quadratic program and everything else: what Python and NumPy do
  between them, O(m) vector arithmetic included.

Best of three runs, everything in one thread. Two data sets are generated; two are read from the folder that
KERNELRANK_DATA names, and left out if they are not there (see `benchmarks/data.py`).
"""
TOL = 1e-3
RUNS = 3
PARTS = ("products", "counting", "QP")
HEADING = (
    *("workload", "rows", "line search", "iterations", "products", "passes", "prepare s", "solve s", "total u"),
    *("gap", "objective", "test error", *(f"{part} %" for part in PARTS), "Python %"),
)


class Workload(NamedTuple):
    """A function that loads the data, the number of training rows, and alpha."""

    name: str
    load: Callable[[int], data.Dataset]
    n_rows: int
    alpha: float


WORKLOADS = (
    Workload("California housing", data.california_housing, 16_000, 0.1),
    Workload("20 newsgroups", data.news20, 15_000, 1e-5),
    Workload("dense", data.dense, 100_000, 1e-3),
    Workload("text-like", data.text_like, 100_000, 1e-5),
)
OVERHEAD_AT = ("dense", "text-like")
QUICK_ROWS = 1_000


@dataclass
class Fit:
    """Result and times of one training run."""

    result: Result
    prepare: float
    solve: float
    parts: dict[str, float]

    @property
    def total(self) -> float:
        """Return the seconds of the whole run."""
        return self.prepare + self.solve

    def share(self, part: str) -> float:
        """Return the percentage of the solver's time."""
        spent = self.parts[part] if part in PARTS else self.solve - sum(self.parts[name] for name in PARTS)
        return 100 * spent / self.solve


def train(
    rows: data.Dataset,
    alpha: float,
    line_search: bool,
    clock: Callable[[], float] = perf_counter,
) -> Fit:
    watch = Stopwatch(clock)
    start = clock()
    oracle = LinearOracle(make_products(rows.X), PairwiseHinge(UtilityPairs(rows.y, n_jobs=1)))
    prepared = clock()
    oracle.scores = watch.timed("products", oracle.scores)
    oracle.subgradient = watch.timed("products", oracle.subgradient)
    oracle.risk = watch.timed("counting", oracle.risk)
    bundle = Bundle(oracle, line_search=line_search)
    bundle._solve = watch.timed("QP", bundle._solve)
    result = bundle.minimize(alpha, tol=TOL)
    return Fit(result, prepared - start, clock() - prepared, watch.seconds)


def train_in_turns(rows: data.Dataset, alpha: float, n_runs: int) -> dict[bool, Fit]:
    """Return the fastest run with and without line search."""
    turns = [{line_search: train(rows, alpha, line_search) for line_search in (True, False)} for _ in range(n_runs)]
    return {key: min((turn[key] for turn in turns), key=lambda fit: fit.total) for key in (True, False)}


def unit(rows: data.Dataset, w: np.ndarray) -> float:
    """Return u, in seconds."""
    g = np.random.default_rng(0).normal(size=len(rows.y))
    scores = rows.X @ w
    tasks = {"X w": lambda: rows.X @ w, "X' g": lambda: rows.X.T @ g, "sort": lambda: np.argsort(scores)}
    return sum(best_times(tasks).values())


def as_cells(work: Workload, rows: data.Dataset, line_search: bool, fit: Fit, u: float) -> list[str]:
    result = fit.result
    last = result.history[-1]
    counts = (result.n_iter, last["n_products"], last["n_evaluations"])
    return [
        *(work.name, f"{len(rows.y):,}", "yes" if line_search else "no", *map(str, counts)),
        *(f"{fit.prepare:.4f}", f"{fit.solve:.4f}", f"{fit.total / u:.1f}", f"{result.gap:.1e}"),
        *(f"{result.objective:.5f}", f"{pairwise_error(rows.y_test, rows.X_test @ result.w):.4f}"),
        *(f"{fit.share(part):.1f}" for part in (*PARTS, "Python")),
    ]


def measure(run: Run) -> tuple[list[list[str]], list[str], Bar]:
    """Return the lines of the table, the data sets that are left out, and the bar."""
    cells, left_out, overhead = [], [], []
    for work in WORKLOADS:
        show_progress(work.name)
        try:
            rows = work.load(QUICK_ROWS if run.quick else work.n_rows)
        except MissingDataError as reason:
            left_out.append(f"{work.name} is left out: it {reason}.")
            continue
        runs = train_in_turns(rows, work.alpha, 1 if run.quick else RUNS)
        u = unit(rows, runs[True].result.w)
        cells += [as_cells(work, rows, line_search, fit, u) for line_search, fit in runs.items()]
        if work.name in OVERHEAD_AT:
            overhead += [fit.share("Python") for fit in runs.values()]
    bar = Bar(f"Python overhead at {'1e3' if run.quick else '1e5'} rows, %", max(overhead), 10)
    return cells, left_out, bar


def report(found: tuple[list[list[str]], list[str], Bar], _: Run) -> list[str]:
    cells, left_out, bar = found
    return ["# Training", ABOUT, as_list(left_out), table(HEADING, cells), "## Bars", bar_table([bar])]


def readings(_: Tables) -> list[str]:
    return []


if __name__ == "__main__":
    main(sys.modules[__name__])
