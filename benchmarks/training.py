"""Training a linear RankSVM to a certified gap of 1e-3, with and without line search.

Columns of the table:

- ``iterations``, ``products`` with X or its transpose, ``passes``: evaluations of the loss, each
  a counting pass.
- ``prepare s``: ranking the utilities and preparing the products; ``solve s``: the bundle method.
  ``total u`` is the sum of both in units of u: one ``X @ w``, one ``X.T @ g`` (BLAS or SciPy)
  and one ``np.argsort`` of as many numbers, measured in the same process.
- ``test error``: share of the pairs of held-out rows in the wrong order.
- the shares of ``solve s`` in products, counting, the quadratic program and everything else:
  what Python and NumPy do between them, O(m) vector arithmetic included.

Best of three runs, everything in one thread. Two data sets are made here; two are read from the
folder that KERNELRANK_DATA names, and left out if they are not there (see ``data.py``).

Run ``python -m benchmarks.training`` in the folder of the repository; ``--quick`` takes small
sizes, to test that everything runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import data
from benchmarks._timing import Stopwatch, best_times
from benchmarks.harness import Bar, MissingDataError, machine, make_parser, show_progress, table
from kernelrank.losses import PairwiseHinge
from kernelrank.metrics import pairwise_error
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Bundle, LinearOracle, Result, make_products

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
class Run:
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
) -> Run:
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
    return Run(result, prepared - start, clock() - prepared, watch.seconds)


def train_in_turns(rows: data.Dataset, alpha: float, n_runs: int) -> dict[bool, Run]:
    """Return the fastest run with and without line search."""
    turns = [{line_search: train(rows, alpha, line_search) for line_search in (True, False)} for _ in range(n_runs)]
    return {key: min((turn[key] for turn in turns), key=lambda run: run.total) for key in (True, False)}


def unit(rows: data.Dataset, w: np.ndarray) -> float:
    """Return u, in seconds."""
    g = np.random.default_rng(0).normal(size=len(rows.y))
    scores = rows.X @ w
    tasks = {"X w": lambda: rows.X @ w, "X' g": lambda: rows.X.T @ g, "sort": lambda: np.argsort(scores)}
    return sum(best_times(tasks).values())


def as_cells(work: Workload, rows: data.Dataset, line_search: bool, run: Run, u: float) -> list[str]:
    result = run.result
    last = result.history[-1]
    counts = (result.n_iter, last["n_products"], last["n_evaluations"])
    return [
        *(work.name, f"{len(rows.y):,}", "yes" if line_search else "no", *map(str, counts)),
        *(f"{run.prepare:.4f}", f"{run.solve:.4f}", f"{run.total / u:.1f}", f"{result.gap:.1e}"),
        *(f"{result.objective:.5f}", f"{pairwise_error(rows.y_test, rows.X_test @ result.w):.4f}"),
        *(f"{run.share(part):.1f}" for part in (*PARTS, "Python")),
    ]


def main() -> None:
    quick = make_parser(__doc__).parse_args().quick

    print(machine(), end="\n\n")
    cells, overhead = [], []
    for work in WORKLOADS:
        show_progress(work.name)
        try:
            rows = work.load(QUICK_ROWS if quick else work.n_rows)
        except MissingDataError as reason:
            print(f"{work.name} is left out: it {reason}.", end="\n\n")
            continue
        runs = train_in_turns(rows, work.alpha, 1 if quick else RUNS)
        u = unit(rows, runs[True].result.w)
        cells += [as_cells(work, rows, line_search, run, u) for line_search, run in runs.items()]
        if work.name in OVERHEAD_AT:
            overhead += [run.share("Python") for run in runs.values()]
    show_progress("")
    print(table(HEADING, cells), end="\n\n")
    print(Bar(f"Python overhead at {'1e3' if quick else '1e5'} rows, %", max(overhead), 10))


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
