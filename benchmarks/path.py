"""A path of 20 alphas, each solution certified, against the single fit at its smallest alpha.

Run ``python -m benchmarks.path`` in the folder of the repository; ``--quick`` takes small
sizes, to test that everything runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks._timing import best_times
from benchmarks.harness import Bar, MissingDataError, Table, bar_table, read_tables, show_progress, table
from benchmarks.reports import main
from experiments.study import READING, Run, Tables, as_list, span
from kernelrank.losses import PairwiseHinge, PairwiseSquaredHinge
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Bundle, LinearOracle, Newton, Result, SmoothLinearOracle, largest_alpha, make_products

ABOUT = """
`RankSVMCV` follows 20 alphas, from the one where the direction of the solution begins to change down to a
ten-thousandth of it. Each solution has its certificate. The path is compared with one fit at its smallest alpha.

- *alphas*: the ends of the default grid of `RankSVMCV`.
- *products* with X or its transpose, and *passes* over the pairs: of the whole path, and after the slash of the single
  fit.
- *path s* and *fit s*: best of three runs, taken in turns, one thread.
- *x products* and *x seconds*: path divided by fit.
- *worst gap*: the largest certified gap on the path.
"""
TITLE = "# A path of alphas"
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


def measure_path(
    name: str, rows: data.Dataset, loss: str, make: Callable[[], Any], alphas: np.ndarray, runs: int
) -> list:
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


def measure(run: Run) -> tuple[list[list[str]], list[str]]:
    """Return the lines of the table, and the data sets that are left out."""
    cells, left_out = [], []
    for name, (load, n_rows) in WORKLOADS.items():
        show_progress(name)
        try:
            rows = load(QUICK_ROWS if run.quick else n_rows)
        except MissingDataError as reason:
            left_out.append(f"{name} is left out: it {reason}.")
            continue
        alphas = grid(rows)
        for loss, make in makers(rows).items():
            cells.append(measure_path(name, rows, loss, make, alphas, 1 if run.quick else 3))
    return cells, left_out


def report(found: tuple[list[list[str]], list[str]], _: Run) -> list[str]:
    cells, left_out = found
    lines = table(HEADING, cells)
    return [TITLE, ABOUT, as_list(left_out), lines, READING, "## Bars", bar_table(judge(read_tables(lines)[""][0]))]


def judge(lines: Table) -> Iterator[Bar]:
    for unit in ("products", "seconds"):
        for loss in ("hinge", "squared hinge"):
            worst = max(lines.select(loss=loss).column(f"x {unit}"))
            yield Bar(f"{loss}: {unit} of a path, divided by those of a fit", worst, BAR)


def readings(tables: Tables) -> list[str]:
    [lines] = tables[TITLE.strip("# ")]
    squared = lines.select(loss="squared hinge")
    hinge, both = (span(rows.column("x seconds")) for rows in (lines.select(loss="hinge"), squared))

    def of_fit(row: dict[str, str], column: str) -> int:
        return int(row[column].split("/")[1])

    easy, hard = (pick(squared, key=lambda row: of_fit(row, "products")) for pick in (min, max))
    return [
        f"With the hinge, the path of {N_ALPHAS} alphas takes {hinge} times as long as one fit, and with the squared "
        f"hinge {both} times as long. That depends on how hard the single fit is. On the data {easy['workload']!r}, it "
        f"takes {of_fit(easy, 'products')} products and {of_fit(easy, 'passes')} passes, while {N_ALPHAS} "
        f"certificates cannot take fewer than {N_ALPHAS} gradients and {N_ALPHAS} passes: the path takes "
        f"{easy['x seconds']} times as long. On {hard['workload']!r}, it takes {of_fit(hard, 'products')} products, "
        f"and the path {hard['x seconds']} times as long."
    ]


if __name__ == "__main__":
    main(sys.modules[__name__])
