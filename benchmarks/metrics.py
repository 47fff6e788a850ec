"""Metrics, measured in units of a sort.

Every metric has to sort the scores, so ``np.argsort`` of distinct ones is the yardstick: the table shows seconds
of a call, checks of its input included, divided by seconds of that sort. Grades are 0 to 4, for metrics of two
classes 0 and 1.

- ``one query``, ``queries``: distinct scores.
- ``ties``: a thousand distinct scores; ``all equal``: nothing but one tie, which the metrics average over.
- ``ties=1``: the best order of the tied scores of ``ties``, in queries.

All of a column's metrics take turns, and the best of at least five turns counts. One thread. The interval of
queries draws ``n_resamples`` times as many values as there are queries, so it has no bar.

Run ``python -m benchmarks.metrics`` in the folder of the repository; ``--quick`` takes small
sizes, to test that everything runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import best_times
from benchmarks.harness import Bar, machine, make_parser, show_progress, table
from kernelrank import metrics
from kernelrank.exceptions import UndefinedQueryWarning

BAR = 10
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


def main() -> None:
    quick = make_parser(__doc__).parse_args().quick
    m = 2_000 if quick else 1_000_000

    print(machine(), end="\n\n")
    warnings.simplefilter("ignore", UndefinedQueryWarning)
    rng = np.random.default_rng(0)
    grades, yardstick = rng.integers(0, 5, m), rng.normal(size=m)
    found = {}
    for work in workloads(m, query=50):
        show_progress(work.name)
        best = best_times(prepare(work, grades, yardstick))
        found[work.name] = {name: best[name] / best["argsort"] for name in work.names}
    show_progress("")
    cells = [[name, *(f"{column[name]:.1f}" if name in column else "" for column in found.values())] for name in NAMES]
    print(f"{m:,} rows, queries of 50; in units of np.argsort", end="\n\n")
    print(table(("metric", *found), cells), end="\n\n")
    for workload, column in found.items():
        judged = {name: value for name, value in column.items() if (name, workload) not in NO_BAR}
        worst = max(judged, key=lambda name: judged[name])
        print(Bar(f"{workload}: sorts of the slowest, {worst}", judged[worst], BAR))


if __name__ == "__main__":
    main()
