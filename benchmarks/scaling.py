"""RankSVM on Dask clusters of up to 16 workers, beside the fit in memory, and a model of its time and traffic.

Run ``python -m benchmarks.scaling`` in the folder of the repository; ``--quick`` takes small sizes, to test that
everything runs.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import Bar, Table, bar_table, number, show_progress, table
from benchmarks.reports import main
from benchmarks.scaling_model import (
    MODEL,
    PREDICTIONS,
    SWITCH,
    Point,
    check_table,
    cost_table,
    fit_costs,
    prediction_table,
    switch_table,
)
from experiments.study import READING, Run, Tables, span
from kernelrank import RankSVM

TITLE = "# Scaling"
ABOUT = """
The workers are processes on this machine with one thread each; more workers than cores share the cores. The local fit,
the first line of each group, is in the memory of the client, with one thread. Chunks are generated from a seed on the
workers, and persisted there before the fits. All fits run one after another, those of one worker and the local ones in
turns. *fit s* is the best of seven whole fits, checks and planning included. The other columns are from that fit.

- *one ranking*: sparse rows with about 28 of 10,000 features, with Zipf-like frequencies; real-valued utilities.
  *gather* collects scores in the client, *bins* collects histograms. With one worker both are the same: pairs are
  counted on the worker.
- *queries*: 46 dense features, queries of 10 rows, five levels. Rows are moved by up to 30 places, so that queries are
  divided between chunks.
- *s/iteration*: seconds of the solver, divided by the iterations.
- *sent*, *received* and *rounds*: bytes and rounds of messages of the client per iteration, those of the preparation
  included.
- *difference*: the objective, less that of the local fit. Each is within its gap of the optimum.
"""
BYTES = "## Bytes per iteration"
ABOUT_BYTES = """
The same data with fewer rows, two workers. *kB/iteration* counts both directions. *5 levels*: one ranking whose
utilities are rounded to five values, so that rows stay where they are; otherwise bins need rows by ranges of the
utilities.
"""
BARS = "## Bars"
CHUNKS, LEAST = 16, 160  # chunks, and the least number of rows of one
MANY = 16  # workers of a small fit, which is little else than messages
LIMIT = 300  # seconds for one fit on the cluster
FEATURES, STORED, DENSE, QUERY = 10_000, 32, 46, 10
MEAN_STORED = 28  # of those drawn, some are the same
HEADING = (
    *("data", "counting", "rows", "workers", "fit s", "x local", "s/iteration", "iterations"),
    *("sent/iteration", "received/iteration", "rounds/iteration", "gap", "difference"),
)


class Work(NamedTuple):
    """Data, alpha, and how pairs are counted."""

    data: str
    counting: str
    alpha: float


QUERIES = Work("queries", "queries", 1e-4)
GATHER = Work("one ranking", "gather", 1e-2)
BINS = Work("one ranking", "bins", 1e-2)
LEVELS = Work("one ranking, 5 levels", "bins", 1e-2)
MAIN = (GATHER, BINS, QUERIES)


class TimeIsUpError(KeyboardInterrupt):
    """A fit took too long; such an error is not taken for the loss of a worker."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise an error after so many seconds."""

    def stop(*_: Any) -> None:
        raise TimeIsUpError(f"A fit took more than {seconds} seconds.")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def make_rows(data: str, k: int, m: int) -> tuple[Any, np.ndarray]:
    """Return features and utilities of chunk k, of m rows."""
    rng, weights = np.random.default_rng([2, k]), np.random.default_rng(0)
    if data == "queries":
        X = rng.random((m, DENSE))
        return X, np.clip(np.round((X - 0.5) @ weights.normal(size=DENSE) + rng.normal(size=m)), -2, 2)
    # The logarithm of a column is uniform: its frequency is proportional to 1 / column.
    columns = np.minimum((FEATURES + 1.0) ** rng.random((m, STORED)) - 1, FEATURES - 1).astype(np.int32)
    X = sp.csr_matrix((rng.random(m * STORED), columns.ravel(), np.arange(0, m * STORED + 1, STORED)), (m, FEATURES))
    X.sum_duplicates()
    y = X @ weights.normal(size=FEATURES) + 3 * rng.normal(size=m)
    return X, np.digitize(y, [-6, -2, 2, 6]).astype(float) if data.endswith("levels") else y


def make_qid(data: str, m: int) -> np.ndarray | None:
    if data != "queries":
        return None
    places = np.arange(m) + np.random.default_rng(3).uniform(0, 30, m)
    return np.argsort(places) // QUERY


def in_memory(data: str, m: int) -> dict[str, Any]:
    """Return the arguments of `fit`, in this process."""
    n = min(CHUNKS, m // LEAST)
    parts = [make_rows(data, k, m // n) for k in range(n)]
    X = [X for X, _ in parts]
    whole = np.concatenate(X) if data == "queries" else sp.vstack(X, format="csr")
    return {"X": whole, "y": np.concatenate([y for _, y in parts]), "qid": make_qid(data, m)}


def on_cluster(client: Any, data: str, m: int) -> dict[str, Any]:
    """Return the arguments of `fit`, as collections that are persisted on the workers."""
    import dask.array as da
    from dask.delayed import delayed
    from distributed import wait

    n = min(CHUNKS, m // LEAST)
    size, width = m // n, DENSE if data == "queries" else FEATURES
    parts = [delayed(make_rows, pure=False, nout=2)(data, k, size) for k in range(n)]
    empty = np.empty((0, 0)) if data == "queries" else sp.csr_matrix((0, 0))
    found = {
        "X": da.concatenate([da.from_delayed(X, (size, width), meta=empty) for X, _ in parts]),
        "y": da.concatenate([da.from_delayed(y, (size,), float) for _, y in parts]),
    }
    qid = make_qid(data, m)
    if qid is not None:
        found["qid"] = da.from_array(qid, chunks=size)
    kept = dict(zip(found, client.persist(list(found.values())), strict=True))
    wait(list(kept.values()))
    return kept


def best_fits(tasks: dict[int, tuple[Any, dict[str, Any]]], turns: int) -> dict[int, tuple[float, Any]]:
    """Return the least seconds of each fit, which take turns, and the model of that one."""
    found: dict[int, tuple[float, Any]] = {}
    for _ in range(turns):
        for name, (model, rows) in tasks.items():
            fresh = type(model)(**model.get_params())
            start = perf_counter()
            with limited(LIMIT):
                fresh.fit(**rows)
            seconds = perf_counter() - start
            if name not in found or seconds < found[name][0]:
                found[name] = seconds, fresh
    return found


def measure_cluster(client: Any, works: list[tuple[Work, int]], workers: int, turns: int) -> Iterator[Point]:
    """Yield the fits of works of these sizes; with one worker also those in memory, in turns."""
    from kernelrank.dask import RankSVM as OnDask

    last: tuple[Any, Any, Any] = (None, None, None)
    for work, m in works:
        show_progress(f"{work.data}, {work.counting}, {m:,} rows, {workers} workers")
        if last[0] != (work.data, m):
            last = (None, None, None)  # releases the chunks
            last = (work.data, m), on_cluster(client, work.data, m), in_memory(work.data, m) if workers == 1 else None
        counting = "auto" if work is QUERIES else work.counting
        tasks = {workers: (OnDask(work.alpha, counting=counting, client=client, n_jobs=1), last[1])}
        if workers == 1:
            tasks[0] = RankSVM(work.alpha, n_jobs=1), last[2]
        for place, best in sorted(best_fits(tasks, turns).items()):
            yield as_point(work, m, place, *best)


def as_point(work: Work, m: int, workers: int, seconds: float, model: Any) -> Point:
    last = model.history_[-1]
    rounds, messages, sent, received = getattr(model, "communication_", (0, 0, 0, 0))
    return Point(
        *(work.data, work.counting, m, workers, seconds, float(last["seconds"]), model.n_iter_),
        *(int(last["n_products"]), int(last["n_evaluations"]), rounds, messages, sent, received),
        *(model.objective_, model.gap_),
        DENSE if work is QUERIES else MEAN_STORED,
        DENSE if work is QUERIES else FEATURES,
    )


@contextmanager
def cluster_of(workers: int, processes: bool = True) -> Iterator[Any]:
    """Yield a client of workers that are processes, or threads, which start sooner."""
    from distributed import Client, LocalCluster

    options = {"processes": processes, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": 0}
    with (
        LocalCluster(n_workers=workers, silence_logs=logging.CRITICAL, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


class Found(NamedTuple):
    """Points of the local fits, of the main table, and of smaller sizes."""

    local: list[Point]
    main: list[Point]
    smaller: list[Point]


def measure(run: Run) -> Found:
    """Measure all fits."""
    sizes = [320, 640, 1_280] if run.quick else [16_000, 100_000, 1_000_000]
    turns = 1 if run.quick else 7
    numbers = [1, 2] if run.quick else [1, 2, 4] + ([8, 16] if (os.cpu_count() or 1) >= 16 else [])
    main_points, smaller = list[Point](), list[Point]()
    for workers in numbers:
        with cluster_of(workers, processes=not run.quick) as client:
            works = [work for work in MAIN if workers > 1 or work is not GATHER]
            main_points += measure_cluster(client, [(work, sizes[-1]) for work in works], workers, turns)
            few = [(QUERIES, sizes[0])]  # little else than rounds and messages
            if workers == 2:
                few = [(work, m) for m in sizes[:-1] for work in MAIN]
                few += [(LEVELS, m) for m in (sizes[:1] if run.quick else sizes)]
            smaller += measure_cluster(client, few, workers, turns)
    if MANY not in numbers:
        with cluster_of(MANY, processes=not run.quick) as client:
            smaller += measure_cluster(client, [(QUERIES, sizes[1] if run.quick else sizes[0])], MANY, turns)
    local = [each for each in main_points if each.workers == 0]
    return Found(local, [each for each in main_points if each.workers], [each for each in smaller if each.workers])


def main_table(found: Found) -> str:
    lines = []
    for point in found.local:
        lines.append(cells(point, point))
        lines += [cells(each, point) for each in found.main if each.data == point.data]
    return table(HEADING, lines, n_texts=2)


def cells(point: Point, local: Point) -> list[str]:
    n = point.iterations
    counting = point.counting if point.workers else ""
    per_iteration = [f"{each / n:,.0f}" for each in (point.sent, point.received)] + [f"{point.rounds / n:.1f}"]
    return [
        *(point.data, counting, f"{point.rows:,}", str(point.workers or "local"), f"{point.seconds:.2f}"),
        *(f"{point.seconds / local.seconds:.2f}", f"{point.solver / n:.3f}", str(n)),
        *(per_iteration if point.workers else [""] * 3),
        *(f"{point.gap:.1e}", f"{point.objective - local.objective:.1e}" if point.workers else ""),
    ]


def bytes_table(found: Found) -> str:
    points = [each for each in (*found.smaller, *found.main) if each.workers == 2]
    points.sort(key=lambda each: (each.data, each.counting, each.rows))
    lines = [
        [
            *(
                each.data,
                each.counting,
                f"{each.rows:,}",
                f"{(each.sent + each.received) / each.iterations / 1e3:,.1f}",
            ),
            *(f"{each.rounds / each.iterations:.1f}", f"{each.solver / each.iterations:.4f}", f"{each.gap:.1e}"),
        ]
        for each in points
    ]
    return table(
        ("data", "counting", "rows", "kB/iteration", "rounds/iteration", "s/iteration", "gap"), lines, n_texts=2
    )


def bars(found: Found) -> list[Bar]:
    """Return the times of one worker, divided by those in memory."""
    return [
        Bar(f"{local.data}: one worker on Dask, times the local fit", point.seconds / local.seconds, 1.5)
        for local in found.local
        for point in found.main
        if point.workers == 1 and point.data == local.data
    ]


def report(found: Found, run: Run) -> list[str]:
    points = [*found.main, *found.smaller]
    sizes = sorted({each.rows for each in points})
    fitted = [
        each
        for each in points
        if (each.workers < 4 and each.rows != sizes[-2]) or (each.workers == MANY and each.rows < sizes[-1])
    ]
    held_out = [each for each in points if each not in fitted]
    costs = fit_costs(fitted)
    return [
        *(TITLE, ABOUT, main_table(found), READING, BYTES, ABOUT_BYTES, bytes_table(found), READING),
        *(BARS, bar_table(bars(found))),
        *(MODEL.strip(), cost_table(costs), "## Model: measured and predicted", check_table(costs, fitted, held_out)),
        *(READING, SWITCH.strip(), switch_table(costs, points)),
        *(PREDICTIONS.strip(), prediction_table(costs, points)),
    ]


def readings(tables: Tables) -> list[str]:
    [lines], [sizes] = tables[TITLE.strip("# ")], tables[BYTES.strip("# ")]
    [checks] = tables["Model: measured and predicted"]
    return [of_main(lines), of_sizes(sizes), of_model(checks)]


def of_main(lines: Table) -> str:
    differences = lines.column("difference")
    most = np.nanmax(np.abs(differences))
    pieces = []
    for data, counting in (("one ranking", "gather"), ("one ranking", "bins"), ("queries", "queries")):
        some = lines.select(data=data, counting=counting)
        times = ", ".join(f"{row['s/iteration']} s with {row['workers']}" for row in some)
        pieces.append(f"{data}, {counting}: {times} {'workers' if len(some) > 1 else 'worker'}")
    return f"Seconds per iteration: {'; '.join(pieces)}. Objectives differ from the local one by at most {most:.0e}."


def of_sizes(lines: Table) -> str:
    pieces = []
    for data, counting in (("queries", "queries"), ("one ranking", "gather"), ("one ranking", "bins")):
        some = lines.select(data=data, counting=counting).column("kB/iteration")
        pieces.append(f"by a factor of {some[-1] / some[0]:,.1f} with {data}, {counting}")
    rows = lines.select(data="one ranking", counting="gather")
    pairs = {
        row["rows"]: (number(row["s/iteration"]), number(other["s/iteration"]))
        for row, other in zip(rows, lines.select(data="one ranking", counting="bins"), strict=True)
    }
    ratios = ", ".join(f"{gather / bins:.2f} at {m} rows" for m, (gather, bins) in pairs.items())
    factor = number(rows[-1]["rows"]) / number(rows[0]["rows"])
    return (
        f"With {factor:.0f} times as many rows, traffic grows {'; '.join(pieces)}. An iteration of gathering, divided"
        f" by one with bins: {ratios}."
    )


def of_model(lines: Table) -> str:
    fitted, held_out = (lines.select(fitted=each).column("predicted / measured") for each in ("yes", "no"))
    return (
        f"At the points that were fitted, predicted is {span(fitted)}"
        f" of measured; at the {len(held_out)} others, {span(held_out)}."
    )


if __name__ == "__main__":
    main(sys.modules[__name__])
