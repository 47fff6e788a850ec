"""One counting pass, measured in units of a sort.

Run ``python -m benchmarks.counting`` in the folder of the repository; ``--quick`` takes small
sizes, to test that everything runs.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import best_times
from benchmarks.harness import Bar, bar_table, show_progress, table
from benchmarks.reports import main
from experiments.study import Run, Tables
from kernelrank.pairs import UtilityPairs

ABOUT = """
A pass finds, for every row, the violated pairs above and below it: what training does in each evaluation of the loss.
It has to sort the scores, so `np.argsort` of the same scores is the unit: all columns but "rows" and "ms" are seconds
divided by seconds of that sort.

- *risk* is the pass of training: `UtilityPairs.violated().count`, on a prepared object.
- *auto*, *tree*, *levels*, *rbtree*, *pairs* are `UtilityPairs.count` with that method: checked scores, new arrays c
  and d.
- *of random* is the time of *risk* divided by that of the first row of the table, measured side by side; in the first
  row itself it shows the noise.

The tasks of a row take turns, and the best of at least five turns counts. One thread unless the row says otherwise.
Memory is the growth of the peak of a new process over its two inputs and the output, so it includes what a prepared
object keeps.
"""
METHODS = ("auto", "tree", "levels", "rbtree", "pairs")
HEADING = ("workload", "rows", "argsort ms", "risk ms", "risk", *METHODS, "of random")

_MOST_LEVELS = 64  # for "levels"
_MOST_ROWS = {"rbtree": 1_000_000, "pairs": 20_000}


@dataclass
class Sizes:
    """Rows of the workloads."""

    base: int = 1_000_000
    large: int = 10_000_000
    small: int = 16_000
    query: int = 50


QUICK = Sizes(base=2_000, large=20_000, small=500)


@dataclass
class Workload:
    """Utilities and scores to count; `n_levels` is the greatest number of utilities in a query."""

    name: str
    y: NDArray[np.float64]
    scores: NDArray[np.float64]
    n_levels: int
    qid: NDArray[np.intp] | None = None
    n_jobs: int = 1

    def methods(self) -> list[str]:
        """Return the methods that do not take too long."""
        m = len(self.y)
        left_out = {name for name, most in _MOST_ROWS.items() if m > most or self.n_jobs > 1}
        if self.n_levels > _MOST_LEVELS:
            left_out.add("levels")
        return [method for method in METHODS if method not in left_out]


def workloads(sizes: Sizes) -> Iterator[Workload]:
    rng = np.random.default_rng(0)
    m, query = sizes.base, sizes.query
    qid = np.arange(m) // query

    def with_scores(y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return y, y + 2 * rng.normal(size=len(y))

    def levels(r: int) -> NDArray[np.float64]:
        return rng.integers(r, size=m).astype(float)

    y, scores = with_scores(rng.normal(size=m))
    yield Workload("distinct", y, scores, m)
    yield Workload("2 levels", *with_scores(levels(2)), 2)
    yield Workload("5 levels", *with_scores(levels(5)), 5)
    yield Workload(f"queries of {query}", *with_scores(rng.normal(size=m)), query, qid)
    yield Workload(f"queries of {query}, 5 levels", *with_scores(levels(5)), 5, qid)
    up = np.argsort(scores)
    for name, order in (("sorted", up), ("reversed", up[::-1]), ("organ pipe", np.r_[up[::2], up[1::2][::-1]])):
        yield Workload(name, y[order], scores[order], m)
    yield Workload("all scores equal", y, np.zeros(m), m)
    yield Workload("distinct, 2 threads", y, scores, m, n_jobs=2)
    yield Workload("small", *with_scores(rng.normal(size=sizes.small)), sizes.small)
    y, scores = with_scores(rng.normal(size=sizes.large))
    yield Workload("large", y, scores, sizes.large)
    yield Workload("large, 2 threads", y, scores, sizes.large, n_jobs=2)


def prepare(work: Workload) -> dict[str, Callable[[], object]]:
    """Rank the utilities, and return the tasks to time by the name of their column."""
    pairs = UtilityPairs(work.y, qid=work.qid, n_jobs=work.n_jobs)
    violated, scale = pairs.violated(), np.ones(pairs.n_queries)
    tasks: dict[str, Callable[[], object]] = {
        "argsort": lambda: np.argsort(work.scores),
        "risk": lambda: violated.count(work.scores, scale),
    }
    for method in work.methods():
        tasks[method] = lambda method=method: pairs.count(work.scores, method=method)
    return tasks


def as_cells(work: Workload, best: dict[str, float]) -> list[str]:
    ratios = [f"{best[name] / best['argsort']:.2f}" if name in best else "" for name in ("risk", *METHODS)]
    times = [f"{1e3 * best[name]:.2f}" for name in ("argsort", "risk")]
    return [work.name, f"{len(work.y):,}", *times, *ratios, f"{best['risk'] / best['random']:.2f}"]


def peak_bytes() -> int:
    """Return the greatest resident memory so far."""
    # Not ru_maxrss: a child process starts with its parent's.
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def measure_memory(m: int) -> None:
    """Print the bytes per row of ranking and one pass, its result included."""
    warm_up = UtilityPairs([1.0, 2.0])
    warm_up.violated().count(np.zeros(2), np.ones(1))
    rng = np.random.default_rng(0)
    y, scores = rng.normal(size=m), rng.normal(size=m)
    scores *= 2
    scores += y
    before = peak_bytes()
    pairs = UtilityPairs(y, n_jobs=1)
    pairs.violated().count(scores, np.ones(1))
    print((peak_bytes() - before) / m)


def bytes_per_row(m: int) -> float | None:
    if not Path("/proc/self/status").exists():
        return None
    command = [sys.executable, "-m", "benchmarks.counting", "--memory", str(m)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def bars_of(found: dict[str, dict[str, float]], memory: float | None, sizes: Sizes) -> list[Bar]:
    def of_random(name: str) -> float:
        return found[name]["risk"] / found[name]["random"]

    distinct = found["distinct"]
    bars = [Bar("distinct: sort and both counts, in sorts", distinct["risk"] / distinct["argsort"], 5)]
    queries = f"queries of {sizes.query}"
    for name in ("2 levels", "5 levels", queries, f"{queries}, 5 levels"):
        bars.append(Bar(f"{name}: not slower than distinct", of_random(name), 1))
    for name in ("sorted", "reversed", "organ pipe"):
        bars.append(Bar(f"{name}: compared with random order", of_random(name), 2))
    bars.append(Bar("large: compared with distinct", of_random("large"), 15))
    return [*bars, Bar("memory: bytes per row", memory, 64)]


def measure(run: Run) -> tuple[list[list[str]], list[Bar]]:
    """Return the lines of the table, and the bars."""
    sizes = QUICK if run.quick else Sizes()
    found: dict[str, dict[str, float]] = {}
    cells = []
    random_risk = None
    for work in workloads(sizes):
        show_progress(work.name)
        tasks = prepare(work)
        random_risk = random_risk or tasks["risk"]
        found[work.name] = best_times({**tasks, "random": random_risk})
        cells.append(as_cells(work, found[work.name]))
    return cells, bars_of(found, bytes_per_row(sizes.base), sizes)


def report(found: tuple[list[list[str]], list[Bar]], _: Run) -> list[str]:
    cells, bars = found
    return ["# One counting pass", ABOUT, table(HEADING, cells), "## Bars", bar_table(bars)]


def readings(_: Tables) -> list[str]:
    return []


if __name__ == "__main__":
    if "--memory" in sys.argv:  # a process of its own, started by bytes_per_row
        measure_memory(int(sys.argv[-1]))
    else:
        main(sys.modules[__name__])
