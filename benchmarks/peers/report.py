"""From records to the tables and plots of the report."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import bar_table, table, versions
from benchmarks.peers.bars import Record, Records, judge
from benchmarks.peers.workloads import WORKLOADS, Rows, Workload
from experiments.study import Run, Tables, as_list
from kernelrank.pairs import UtilityPairs

HEADING = (
    *("who", "rows", "fit s", "convert s", "fit u", "objective", "gap", "certified", "gradient"),
    *("test error", "iterations", "passes", "bytes/row"),
)
OF_WORKLOADS = (
    *("workload", "rows", "rows to test", "queries", "features", "non-zeros per row"),
    *("levels of utility", "tied pairs, %", "alpha"),
)


def report(results: dict[str, Any], run: Run) -> list[str]:
    """Return the paragraphs of the report, and draw its plots."""
    records = Records(results["records"])
    plots = draw(records, run.results)
    found = ["# Training, beside other packages", versions(sorted(results["packages"]))]
    found += [as_list(results["left_out"])]
    found += ["## Workloads", table(OF_WORKLOADS, results["workloads"])]
    found += ["## Bars", bar_table(judge(records))]
    for name, work in WORKLOADS.items():
        measured = [record for record in results["records"] if record["workload"] == name]
        for loss in ("hinge", "squared_hinge"):
            rows = [as_cells(record, records) for record in measured if record["loss"] == loss]
            if rows:
                title = f"## {work.title}, {loss.replace('_', ' ')} (alpha {work.alpha:g})"
                found += [title, table(*without_empty_columns(HEADING, rows))]
        if name in plots:
            found.append(f"![Seconds over rows, {work.title}]({plots[name].name})")
    return [*found, "## Conversions", conversions_table(results["conversions"])]


def readings(_: Tables) -> list[str]:
    return []


def describe(work: Workload, sizes: Sequence[int], train: Rows, test: Rows) -> list[str]:
    """Return the line of a workload; all but the sizes are of its largest training set."""
    (m, n), pairs = train.X.shape, UtilityPairs(train.y, qid=train.qid)
    _, counts = (None, [m]) if train.qid is None else np.unique(train.qid, return_counts=True)
    of_queries = sum(int(count) * (int(count) - 1) // 2 for count in counts)
    levels = len(np.unique(train.y))
    return [
        *(work.title, ", ".join(f"{size:,}" for size in sizes), f"{len(test.y):,}"),
        *("" if train.qid is None else f"{len(counts):,}", f"{n:,}"),
        *(f"{train.X.nnz / m:.0f}" if sp.issparse(train.X) else "all", f"{levels:,}"),
        *(f"{100 * (1 - pairs.n_pairs / of_queries):.1f}", f"{work.alpha:g}"),
    ]


def draw(records: Records, folder: Path) -> dict[str, Path]:
    """Plot seconds over rows for each workload with several sizes, if matplotlib is there."""
    names = [name for name in WORKLOADS if len({r["n_rows"] for r in records.all if r["workload"] == name}) > 2]
    if not names or importlib.util.find_spec("matplotlib") is None:
        return {}
    from benchmarks.peers.plots import plot_scaling

    return {name: plot_scaling(records, WORKLOADS[name], folder / f"{name}.svg") for name in names}


def as_cells(record: Record, records: Records) -> list[str]:
    threads = record["n_threads"]
    name = record["competitor"] if threads == 1 else f"{record['competitor']}, {threads} threads"
    start = [name, f"{record['n_rows']:,}"]
    if record["status"] != "ok":
        return [*start, f"{record['status']}: {record['reason']}", *[""] * (len(HEADING) - 3)]

    def cell(value: float | None, form: str) -> str:
        return "" if value is None else f"{value:{form}}"

    peak = record["peak_bytes"]
    return [
        *start,
        *(f"{record['seconds']:.3g}", f"{record['convert_seconds']:.2g}" if record["convert_seconds"] > 1e-4 else ""),
        f"{record['seconds'] / record['u']:,.1f}",
        *(cell(record["objective"], ".6f"), cell(records.gap(record), ".1e"), cell(record["certified_gap"], ".1e")),
        cell(record["relative_gradient"], ".1e"),
        f"{record['test_error']:.4f}",
        cell(record["iterations"], "d") + ("" if record["converged"] else " (not converged)"),
        cell(record["passes"], "d"),
        cell(None if peak is None else peak / record["n_rows"], ",.0f"),
    ]


def without_empty_columns(heading: Sequence[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    used = [i for i in range(len(heading)) if any(row[i] for row in rows)]
    return [heading[i] for i in used], [[row[i] for i in used] for row in rows]


def conversions_table(conversions: list[Record]) -> str:
    rows = [
        (c["competitor"], c["data"], c["loss"].replace("_", " "), f"{c['excess']:.1e}", f"{c['distance']:.1e}")
        for c in conversions
    ]
    return table(("who", "data", "loss", "objective, less ours", "relative distance of weights"), rows)
