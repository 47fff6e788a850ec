"""Metrics, measured in units of a sort.

Run ``python -m benchmarks.metrics`` in the folder of the repository; ``--quick`` takes small
sizes, to test that everything runs.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import best_times
from benchmarks.harness import Bar, bar_table, show_progress, table
from benchmarks.reports import main
from experiments.study import Run, Tables
from kernelrank import metrics
from kernelrank.exceptions import UndefinedQueryWarning

ABOUT = """
Every metric has to sort the scores, so `np.argsort` of distinct ones is the unit: the table shows seconds of a call,
checks of its input included, divided by seconds of that sort. There are {m:,} rows, in queries of {query} where there
are queries. Grades are 0 to 4, for metrics of two classes 0 and 1.

- *one query*, *queries*: distinct scores.
- *ties*: about a thousand distinct scores; *all equal*: one tie, the hardest case for metrics that average over the
  orders of tied rows.
- *ties=1*: the best order of the tied scores of *ties*, in queries.

All metrics of a column take turns, and the best of at least five turns counts. One thread. `auc_interval` with queries
draws 2,000 bootstrap samples of queries, so it has no bar there.
"""
BAR = 10
QUERY = 50
POSITIONS = ("average_precision", "precision_at", "reciprocal_rank", "ndcg", "err")
NAMES = ("concordance_index", "pairwise_error", "kendall_tau", "auc", "auc_interval", *POSITIONS)
NO_BAR = {("auc_interval", name) for name in ("queries", "queries, ties", "queries, all equal")}


@dataclass
class Workload:
    """Scores to evaluate, and the metrics that are defined for them."""

    name: str
    scores: NDArray[np.float64]
    qid: NDArray[np.intp] | None = None
    names: tuple[str, ...] = NAMES
    kwargs: dict[str, Any] = field(default_factory=dict)


def workloads(m: int, query: int) -> list[Workload]:
    scores = np.random.default_rng(1).normal(size=m)
    few, equal, qid = np.round(150 * scores), np.zeros(m), np.arange(m) // query
    defined = tuple(name for name in NAMES if name != "kendall_tau")  # which is not, for equal scores
    return [
        Workload("one query", scores),
        Workload("queries", scores, qid),
        Workload("ties", few),
        Workload("queries, ties", few, qid),
        Workload("all equal", equal, names=defined),
        Workload("queries, all equal", equal, qid, defined),
        Workload("queries, ties=1", few, qid, POSITIONS, {"ties": 1}),
    ]


def prepare(work: Workload, grades: NDArray[np.int64], yardstick: NDArray[np.float64]) -> dict[str, Callable[[], Any]]:
    """Return the tasks to time by their names."""
    tasks: dict[str, Callable[[], Any]] = {"argsort": lambda: np.argsort(yardstick)}
    for name in work.names:
        y = np.minimum(grades, 1) if name.startswith("auc") else grades
        kwargs = {**work.kwargs, **({"k": 10} if name == "precision_at" else {})}
        tasks[name] = partial(getattr(metrics, name), y, work.scores, qid=work.qid, **kwargs)
    return tasks


def measure(run: Run) -> tuple[int, dict[str, dict[str, float]]]:
    """Return the number of rows, and the sorts that each metric takes, by workload."""
    warnings.simplefilter("ignore", UndefinedQueryWarning)
    m = 2_000 if run.quick else 1_000_000
    rng = np.random.default_rng(0)
    grades, yardstick = rng.integers(0, 5, m), rng.normal(size=m)
    found = {}
    for work in workloads(m, QUERY):
        show_progress(work.name)
        best = best_times(prepare(work, grades, yardstick))
        found[work.name] = {name: best[name] / best["argsort"] for name in work.names}
    return m, found


def report(measured: tuple[int, dict[str, dict[str, float]]], _: Run) -> list[str]:
    m, found = measured
    cells = [[name, *(f"{column[name]:.1f}" if name in column else "" for column in found.values())] for name in NAMES]
    lines = table(("metric", *found), cells)
    return ["# Metrics", ABOUT.format(m=m, query=QUERY), lines, "## Bars", bar_table(judge(found))]


def judge(found: dict[str, dict[str, float]]) -> Iterator[Bar]:
    for workload, column in found.items():
        judged = {name: value for name, value in column.items() if (name, workload) not in NO_BAR}
        worst = max(judged, key=lambda name: judged[name])
        yield Bar(f"{workload}: sorts of the slowest, {worst}", judged[worst], BAR)


def readings(_: Tables) -> list[str]:
    return []


if __name__ == "__main__":
    main(sys.modules[__name__])
