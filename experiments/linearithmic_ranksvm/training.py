"""Figures 2, 3 and 4: seconds to a certified gap, peak memory, and test error, of ours and of others.

Each fit has a new process, see ``benchmarks/peers/measure.py``. Seconds are processor time of one thread. A
referee computes objective, gap and test error of all in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._timing import show_progress, table
from benchmarks.peers.competitors import COMPETITORS
from benchmarks.peers.measure import Job, measure_apart
from benchmarks.peers.measure import measure as measure_here
from benchmarks.peers.run import Entry
from experiments.linearithmic_ranksvm._shared import (
    ALPHAS,
    TITLES,
    Found,
    Panel,
    Study,
    as_list,
    draw,
    exponent,
    lines_of,
    number,
)

LIMIT = 900.0  # seconds of one process; a competitor that takes longer is left out at larger sizes
MEGABYTE = 1e6

_OURS = (
    Entry("kernelrank", "hinge"),
    Entry("kernelrank, no line search", "hinge"),
    Entry("kernelrank", "squared_hinge"),
    Entry("TreeRSVM", "hinge"),
)
ENTRIES = {
    "housing": (
        *_OURS,
        Entry("PairRSVM", "hinge"),
        Entry("scikit-survival rbtree", "squared_hinge"),
        Entry("LinearSVC on pairs", "hinge", 2_000),  # two million pairs
        Entry("LinearSVC on pairs", "squared_hinge", 2_000),
    ),
    "text": (
        *_OURS,
        Entry("PairRSVM", "hinge", 128_000),  # 512,000 would take half an hour
        Entry("scikit-survival rbtree", "squared_hinge", 8_000),  # 6 GB: it takes dense arrays only
    ),
}
NAMES = {
    ("kernelrank", "hinge"): "RankSVM",
    ("kernelrank, no line search", "hinge"): "no line search",
    ("kernelrank", "squared_hinge"): "squared hinge",
    ("scikit-survival rbtree", "squared_hinge"): "scikit-survival (sq.)",
    ("LinearSVC on pairs", "hinge"): "LinearSVC",
    ("LinearSVC on pairs", "squared_hinge"): "LinearSVC (sq.)",
}
READING = """
*RankSVM*: hinge with line search, to a certified gap of 0.001; *no line search*: the same without; *TreeRSVM*: the
paper's method, a red-black tree and no line search; *PairRSVM*: RankSVM's solver, going through the pairs; *squared
hinge*: of RankSVM, to the same gap and a gradient of 0.001 of the first; *(sq.)*: squared hinge of others, to their
defaults. *exponent*: slope of log seconds over log rows at the largest sizes that each one has, four at most. *Beyond
the data*: growth of resident memory in conversion and first fit. dlib is not here: it knows relevant rows and others,
no real-valued utilities; the page on benchmarks has it where it can take part, and RankSVM with two threads. SVM^rank
may not be shipped.

**Reading.** Figure 2: RankSVM is linearithmic, 1.2 seconds for 512,000 rows. The line search, which the paper proposes
as future work, saves more than half of the time on text, from 16,000 rows on; on house values, where an evaluation is
cheap beside it, little or nothing. With the tree of running counts a fit takes a fifth of what it takes with the
red-black tree: the paper's method needs 14 seconds here. On its machine it took 18 minutes, PairRSVM 122 hours and
SVM^rank 83. Going through the pairs is 160 times slower than counting them at 128,000 rows already, for the same
solution.

Figure 3: beyond the one copy of X, RankSVM needs about 100 bytes a row and some vectors of features, as its notes say:
an eighth of X for 512,000 text-like rows, but more than X where that is small, with 8 features or few rows. LinearSVC
needs 0.7 GB for the pairs of 2,000 houses. scikit-survival, which takes dense arrays only, needs 6.4 GB for 8,000
text-like rows.

Figure 4: those that solve the same problem have the same test error, up to what a gap of 0.001 leaves open. The squared
hinge, another problem, is as good to 0.001 with few text-like rows, and better from 16,000 on: by 0.014 with 512,000.
On house values it is better by 0.018.
"""


def measure(study: Study) -> Found:
    records: list[Found] = []
    left_out = [f"{name} is left out: it is not installed." for name in missing()]
    for name in study.workloads(left_out):
        folder = study.folder(name)
        given_up: set[Entry] = set()
        for m in study.sizes(name):
            for entry in ENTRIES[name]:
                if entry.competitor in missing() or m > entry.most_rows or entry in given_up:
                    continue
                show_progress(f"training: {name}, {m:,} rows, {entry.loss}: {entry.competitor}")
                job = Job(name, m, ALPHAS[name], entry.loss, entry.competitor, processor_time=True)
                record = measure_here(job, folder) if study.quick else measure_apart(job, folder, LIMIT)
                if record["status"] != "ok":
                    given_up.add(entry)
                records.append({**record, "matrix_bytes": stored_bytes(folder / "train", m)})
    return {"records": records, "left_out": left_out}


def missing() -> list[str]:
    names = dict.fromkeys(entry.competitor for entries in ENTRIES.values() for entry in entries)
    return [name for name in names if COMPETITORS[name].version() is None]


def stored_bytes(folder: Path, n_rows: int) -> int:
    """Return how much of X there is in the first rows."""
    arrays = {path.stem: np.load(path, mmap_mode="r") for path in folder.iterdir()}
    if "X" in arrays:
        return int(arrays["X"][:n_rows].nbytes)
    stored, starts = int(arrays["indptr"][n_rows]), arrays["indptr"][: n_rows + 1]
    return stored * (arrays["data"].itemsize + arrays["indices"].itemsize) + int(starts.nbytes)


def report(found: Found, folder: Path) -> list[str]:
    records = [
        {
            **r,
            "who": NAMES.get((r["competitor"], r["loss"]), r["competitor"]),
            "rows": r["n_rows"],
            "MB": r["peak_bytes"] / MEGABYTE if r.get("peak_bytes") else None,
        }
        for r in found["records"]
    ]
    parts = ["# Training: seconds, memory, test error (A11, figures 2, 3 and 4)", as_list(found["left_out"])]
    failed = [f"{r['who']}, {r['rows']:,} rows: {r['status']}, {r['reason']}." for r in records if r["status"] != "ok"]
    parts.append(as_list(failed))
    panels: dict[str, list[Panel]] = {"seconds": [], "MB": [], "test_error": []}
    for name in dict.fromkeys(r["workload"] for r in records):
        mine = [r for r in records if r["workload"] == name and r["status"] == "ok"]
        title = f"{TITLES[name]}, alpha {ALPHAS[name]:g}"
        data = {r["rows"]: r["matrix_bytes"] / MEGABYTE for r in mine}
        parts += [
            f"## {title}: seconds of a fit",
            pivot(mine, "seconds", last=slopes),
            f"## {title}: megabytes beyond the data",
            pivot(mine, "MB", {"X": data}, form=".3g"),
            f"## {title}: test error",
            pivot(mine, "test_error", form=".4f"),
            f"## {title}: certificates and work at {max(data):,} rows",
            work_table([r for r in mine if r["rows"] == max(data)]),
        ]
        for field, label in (("seconds", "seconds to fit"), ("MB", "MB beyond the data"), ("test_error", "test error")):
            lines = dict(lines_of(mine, "who", "rows", field))
            if field == "MB":
                lines["X itself …"] = sorted(data.items())
            scale = "linear" if field == "test_error" else "log"
            panels[field].append(Panel(title, "rows", label, lines, scale))
    for field, file in (("seconds", "seconds"), ("MB", "memory"), ("test_error", "error")):
        draw(panels[field], folder / f"{file}.svg")
        parts.append(f"![{field} over rows]({file}.svg)".replace("_", " "))
    return [*filter(None, parts), READING.strip()]


def pivot(
    records: list[Found],
    field: str,
    more: dict[str, dict[int, float]] | None = None,
    form: str = ".3g",
    last: Callable[[dict[str, list[Any]]], list[list[str]]] | None = None,
) -> str:
    """Return a table with a line for each size and a column for each competitor."""
    lines = lines_of(records, "who", "rows", field)
    columns = {**(more or {}), **{who: dict(points) for who, points in lines.items()}}
    sizes = sorted({r["rows"] for r in records})
    cells = [[f"{m:,}", *(number(values.get(m), form) for values in columns.values())] for m in sizes]
    return table(["rows", *columns], cells + (last(lines) if last else []))


def slopes(lines: dict[str, list[Any]]) -> list[list[str]]:
    return [["exponent", *(number(exponent(points), ".2f") for points in lines.values())]]


def work_table(records: list[Found]) -> str:
    heading = ["who", "seconds", "u", "iterations", "passes", "objective", "certified gap", "MB / X", "bytes a row"]
    cells = [
        [
            *(r["who"], number(r["seconds"]), f"{r['seconds'] / r['u']:,.1f}"),
            *(number(r["iterations"], "d"), number(r["passes"], "d")),
            *(f"{r['objective']:.6f}", number(r["certified_gap"], ".1e")),
            number(r["peak_bytes"] / r["matrix_bytes"] if r["peak_bytes"] else None, ".2f"),
            number(r["peak_bytes"] / r["rows"] if r["peak_bytes"] else None, ",.0f"),
        ]
        for r in records
    ]
    return table(heading, cells)
