"""A path of 20 alphas, each solution certified, against the single fit at its smallest alpha.

Columns of the table:

- ``alphas``: the ends of the default grid of ``RankSVMCV``, four decades.
- ``products`` with X or its transpose, and ``passes`` over the pairs, of the whole path; after
  the slash those of the single fit.
- ``path s`` and ``fit s``: best of three runs, taken in turns, one thread.
- ``x products`` and ``x seconds``: path divided by fit. The bar is 3.
- ``worst gap``: the largest certified gap on the path.

Run ``python -m benchmarks.path`` in the folder of the repository; ``--quick`` takes small
sizes, to test that everything runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import data
from benchmarks._timing import best_times
from benchmarks.harness import Bar, MissingDataError, machine, make_parser, show_progress, table
from kernelrank.losses import PairwiseHinge, PairwiseSquaredHinge
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Bundle, LinearOracle, Newton, Result, SmoothLinearOracle, largest_alpha, make_products

N_ALPHAS = 20
DECADES = 4
BAR = 3.0
QUICK_ROWS = 1_000
HEADING = (
    *("workload", "loss", "rows", "alphas", "products", "passes", "path s", "fit s"),
    *("x products", "x seconds", "worst gap"),
)
WORKLOADS: dict[str, tuple[Callable[[int], data.Dataset], int]] = {
    "California housing": (data.california_housing, 16_000),
    "20 newsgroups": (data.news20, 15_000),
    "dense": (data.dense, 100_000),
    "text-like": (data.text_like, 100_000),
}


def makers(rows: data.Dataset) -> dict[str, Callable[[], Any]]:
    """Return a function that makes the solver, for each loss."""
    products, pairs = make_products(rows.X), UtilityPairs(rows.y)
    return {
        "hinge": lambda: Bundle(LinearOracle(products, PairwiseHinge(pairs))),
        "squared hinge": lambda: Newton(SmoothLinearOracle(products, PairwiseSquaredHinge(pairs))),
    }


def grid(rows: data.Dataset) -> np.ndarray:
    oracle = LinearOracle(make_products(rows.X), PairwiseHinge(UtilityPairs(rows.y)))
    return largest_alpha(oracle) * np.logspace(0, -DECADES, N_ALPHAS)


def follow(make: Callable[[], Any], alphas: np.ndarray) -> list[Result]:
    solver = make()
    return [solver.minimize(alpha) for alpha in alphas]


def measure(name: str, rows: data.Dataset, loss: str, make: Callable[[], Any], alphas: np.ndarray, runs: int) -> list:
    path, fit = follow(make, alphas), make().minimize(alphas[-1])
    tasks = {"path": lambda: follow(make, alphas), "fit": lambda: make().minimize(alphas[-1])}
    seconds = best_times(tasks, runs, runs)
    last, single = path[-1].history[-1], fit.history[-1]
    return [
        *(name, loss, f"{len(rows.y):,}", f"{alphas[0]:.2g} .. {alphas[-1]:.2g}"),
        *(f"{last[field]} / {single[field]}" for field in ("n_products", "n_evaluations")),
        *(f"{seconds['path']:.3f}", f"{seconds['fit']:.3f}"),
        *(f"{last['n_products'] / single['n_products']:.2f}", f"{seconds['path'] / seconds['fit']:.2f}"),
        f"{max(result.gap for result in path):.1e}",
    ]


def main() -> None:
    quick = make_parser(__doc__).parse_args().quick

    print(machine(), end="\n\n")
    cells = []
    for name, (load, n_rows) in WORKLOADS.items():
        show_progress(name)
        try:
            rows = load(QUICK_ROWS if quick else n_rows)
        except MissingDataError as reason:
            print(f"{name} is left out: it {reason}.", end="\n\n")
            continue
        alphas = grid(rows)
        for loss, make in makers(rows).items():
            cells.append(measure(name, rows, loss, make, alphas, 1 if quick else 3))
    show_progress("")
    print(table(HEADING, cells), end="\n\n")
    for column, unit in ((8, "products"), (9, "seconds")):
        for loss in ("hinge", "squared hinge"):
            worst = max(float(row[column]) for row in cells if row[1] == loss)
            print(Bar(f"{loss}: {unit} of a path, divided by those of a fit", worst, BAR))


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
