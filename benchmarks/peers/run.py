"""Run kernelrank and its peers on the same data, one after the other, and report what a referee measures.

Every fit has a process and one thread of its own; see ``measure.py`` for what is measured. Peers that are not
installed, and data that is not there, are left out, and the report says so.

Run ``python -m benchmarks.peers.run`` in the folder of the repository; ``--quick`` takes small sizes, to test that
everything runs; ``--most-rows 16000`` gives a first impression. Such a run of some parts writes its report to
``build/peers``; only a run of everything replaces the committed one.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

from benchmarks.harness import MissingDataError, show_progress
from benchmarks.peers import report
from benchmarks.peers.competitors import COMPETITORS, Loss
from benchmarks.peers.conversions import check_conversions
from benchmarks.peers.measure import Job, measure, measure_apart
from benchmarks.peers.workloads import WORKLOADS, Workload, load, prepare
from benchmarks.reports import RESULTS, parser_of
from experiments.study import BUILD, Run, perform


@dataclass(frozen=True)
class Entry:
    """A competitor in a workload, with its loss and the most rows it takes part with."""

    competitor: str
    loss: Loss
    most_rows: int = sys.maxsize
    n_threads: int = 1


_OURS = (Entry("kernelrank", "hinge"), Entry("kernelrank", "squared_hinge"))
_TREES = ("scikit-survival rbtree", "scikit-survival avltree")

ENTRIES: dict[str, tuple[Entry, ...]] = {
    "housing": (
        *_OURS,
        *(Entry(name, "squared_hinge") for name in _TREES),
        Entry("LinearSVC on pairs", "hinge", 2_000),  # two million pairs
        Entry("LinearSVC on pairs", "squared_hinge", 2_000),
    ),
    "text": (
        *_OURS,
        Entry("kernelrank", "hinge", n_threads=2),
        Entry("kernelrank", "squared_hinge", n_threads=2),
        Entry("scikit-survival rbtree", "squared_hinge", 8_000),  # 6 GB: it takes dense arrays only
    ),
    "queries": (
        *_OURS,
        Entry("dlib", "hinge"),
        Entry("LinearSVC on pairs", "hinge"),
        Entry("LinearSVC on pairs", "squared_hinge"),
        Entry("XGBoost rank:pairwise", "hinge"),  # the loss is their own
        Entry("LightGBM lambdarank", "hinge"),
    ),
    "bipartite": (
        *_OURS,
        Entry("dlib", "hinge"),
        Entry("scikit-survival rbtree", "squared_hinge", 4_000),  # to show what it makes of ties
    ),
}


def plan(work: Workload, sizes: Sequence[int], chosen: Sequence[str]) -> Iterator[Job]:
    """Yield all jobs of a workload."""
    for n_rows in sizes:
        for entry in ENTRIES[work.name]:
            if entry.competitor in chosen and n_rows <= entry.most_rows:
                yield Job(work.name, n_rows, work.alpha, entry.loss, entry.competitor, entry.n_threads)


def measure_all(options: argparse.Namespace, run: Run) -> dict[str, Any]:
    """Return the records of all jobs, the check of the conversions, and what is left out."""
    chosen, missing = installed(options.competitors)
    results: dict[str, Any] = {
        "packages": {COMPETITORS[name].package for name in chosen},
        "left_out": [f"{name} is left out: it is not installed." for name in missing],
        "conversions": check_conversions(chosen),
        "workloads": [],
        "records": [],
    }
    for name in options.workloads:
        work = WORKLOADS[name]
        show_progress(f"making {name}")
        try:
            folder = prepare(work, run.build / "data", run.quick)
        except MissingDataError as reason:
            results["left_out"].append(f"{work.title} is left out: it {reason}.")
            continue
        sizes = [n for n in (work.quick_sizes if run.quick else work.sizes) if n <= options.most_rows]
        results["workloads"].append(report.describe(work, sizes, *load(folder)))
        for job in plan(work, sizes, chosen):
            show_progress(f"{name}, {job.n_rows:,} rows, {job.loss}: {job.competitor}")
            record = measure(job, folder, once=True) if run.quick else measure_apart(job, folder, options.limit)
            results["records"].append(record)
    return results


def installed(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the competitors that are installed, always with kernelrank, and those that are not."""
    asked = [name for name in COMPETITORS if name in {"kernelrank", *names}]
    missing = [name for name in asked if COMPETITORS[name].version() is None]
    return [name for name in asked if name not in missing], missing


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = parser_of(sys.modules[__name__])
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS), metavar="NAME")
    parser.add_argument("--competitors", nargs="+", choices=COMPETITORS, default=list(COMPETITORS), metavar="NAME")
    parser.add_argument("--most-rows", type=int, default=sys.maxsize, help="leave larger sizes out")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds after which a fit is cut off")
    return parser.parse_args(arguments)


def main() -> None:
    options = parse()
    build = BUILD / "peers"
    # A run of some parts does not replace the committed report.
    whole = options == parse(["--readings"] * options.readings)
    path = (RESULTS if whole else build) / "peers.md"
    part = SimpleNamespace(measure=partial(measure_all, options), report=report.report, readings=report.readings)
    arguments = [each for each in sys.argv[1:] if each != "--quick"]
    perform(part, path, build, shlex.join(["python", "-m", "benchmarks.peers.run", *arguments]), options)


if __name__ == "__main__":
    main()
