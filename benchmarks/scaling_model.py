"""A model of the seconds and bytes of an iteration of RankSVM on a cluster, fitted to measured points."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from benchmarks.harness import table


class Point(NamedTuple):
    """A fit that was measured, or whose time is to be predicted.

    `solver` are the seconds of the iterations; the numbers of products, evaluations, rounds, messages and bytes are
    those of the whole fit. `stored` elements are there per row. `workers` is 0 for a fit in memory.
    """

    data: str
    counting: str
    rows: int
    workers: int
    seconds: float
    solver: float
    iterations: int
    products: int
    evaluations: int
    rounds: int
    messages: int
    sent: int
    received: int
    objective: float
    gap: float
    stored: int
    features: int


class Case(NamedTuple):
    """A fit that is predicted."""

    data: str
    counting: str
    rows: float
    workers: int


MODEL = """
## Model

The seconds of the solver are taken as a sum of costs: of counting, per row and evaluation (exact, or with bins); of
products, per element and product (sparse or dense); of each round of messages, of each message, and of each byte that
passes the client. Work on rows is divided by the number of workers, or of cores if these are fewer. Scores that are
gathered are counted in the client. The costs are found by non-negative least squares of relative errors, at the points
with one or two workers and the smallest and the largest number of rows, and with 16 workers that have few rows, where
most of the time is that of messages.
"""
SWITCH = """
## Gathering or bins

Numbers of rows above which the model finds bins faster than gathering, with the data of one ranking above, workers of
one core each, and the link of the predictions.
"""
PREDICTIONS = """
## Predictions

**Predictions, not measurements.** They take the costs above for workers of one core each, per-element costs that do not
grow with the size of a part, as many evaluations and products per iteration as with 1,000,000 rows, and a network of
1.25 GB/s (10 Gbit/s) at the client, unless the measured cost per byte is larger. *products*, *counting*, *messages* and
*link* are seconds per iteration. *worker GiB*: rows (8 bytes per dense element, 12 per stored one), without the copies
that checks and moves of rows make for a time. *client GiB*: 16 bytes per query (its id and its number of rows) at the
least, of which planning makes several copies; three vectors of scores; or five arrays of bins for each worker.
"""
COSTS = ("count", "bins", "sparse", "dense", "round", "message", "byte")
UNITS = ("row and evaluation", "row and evaluation", "element and product", "element and product", "one", "one", "one")
CASES = tuple(
    Case(data, counting, rows, workers)
    for data, counting in (("queries", "queries"), ("one ranking", "bins"), ("one ranking", "gather"))
    for rows, workers in ((1e9, 100), (1e10, 1_000))
)
LINK = 1.25e9  # bytes per second
QUERY = 10
GIB = 2.0**30


def work_of(point: Point, cores: int | None = None) -> np.ndarray:
    """Return how often each of `COSTS` occurs in a fit."""
    shared = point.rows / min(point.workers, cores or os.cpu_count() or 1)
    gathered = point.counting == "gather" and point.workers > 1
    binned = point.counting == "bins" and point.workers > 1
    elements = point.products * point.stored * shared
    dense = point.data == "queries"
    return np.array(
        [
            0.0 if binned else point.evaluations * (point.rows if gathered else shared),
            point.evaluations * shared if binned else 0.0,
            0.0 if dense else elements,
            elements if dense else 0.0,
            point.rounds,
            point.messages,
            point.sent + point.received,
        ],
        np.float64,
    )


def fit_costs(points: Sequence[Point]) -> np.ndarray:
    """Return the costs in seconds."""
    seconds = np.array([point.solver for point in points])
    relative = np.array([work_of(point) for point in points]) / seconds[:, None]
    scale = np.maximum(relative.max(axis=0), 1e-300)
    found, _ = nnls(relative / scale, np.ones(len(points)))
    return found / scale


def cost_table(costs: np.ndarray) -> str:
    lines = [(name, unit, f"{1e9 * cost:,.3g}") for name, unit, cost in zip(COSTS, UNITS, costs, strict=True)]
    return table(("cost", "per", "ns"), lines, n_texts=2)


def check_table(costs: np.ndarray, fitted: Sequence[Point], held_out: Sequence[Point]) -> str:
    """Return the table of measured and predicted seconds."""
    lines = []
    for known, points in (("yes", fitted), ("no", held_out)):
        for each in points:
            measured, predicted = each.solver / each.iterations, float(work_of(each) @ costs) / each.iterations
            lines.append(
                [
                    *(each.data, each.counting, known, f"{each.rows:,}", str(each.workers), f"{measured:.4f}"),
                    *(f"{predicted:.4f}", f"{predicted / measured:.2f}"),
                ]
            )
    heading = ("data", "counting", "fitted", "rows", "workers", "measured s", "predicted s", "predicted / measured")
    return table(heading, lines, n_texts=3)


def like(case: Case, points: Sequence[Point]) -> Point:
    """Return a fit that has the iterations of the largest one that was measured, and the traffic of its own size."""
    same = [each for each in points if each.data == case.data and each.counting == case.counting and each.workers > 1]
    known = max(same, key=lambda each: (each.rows, each.workers))
    per_message = (known.sent + known.received) / known.messages
    messages = known.messages / known.workers * case.workers
    traffic = per_message * messages
    if case.counting == "gather":  # scores, and weights of features
        traffic = known.products * (8 * case.rows + 8 * known.features * case.workers)
    return known._replace(rows=case.rows, workers=case.workers, messages=messages, sent=traffic, received=0)


def seconds_of(point: Point, costs: np.ndarray) -> np.ndarray:
    """Return the seconds per iteration due to each of `COSTS`, on workers of one core each."""
    slower = np.append(costs[:-1], max(costs[-1], 1 / LINK))
    return work_of(point, point.workers) * slower / point.iterations


def equal_rows(costs: np.ndarray, points: Sequence[Point], workers: int) -> float | None:
    """Return the least number of rows with which bins are faster than gathering."""
    for rows in np.logspace(4, 10, 601):
        gather, bins = (
            seconds_of(like(Case("one ranking", counting, rows, workers), points), costs).sum()
            for counting in ("gather", "bins")
        )
        if bins < gather:
            return float(rows)
    return None


def switch_table(costs: np.ndarray, points: Sequence[Point]) -> str:
    found = {workers: equal_rows(costs, points, workers) for workers in (2, 4, 16, 100)}
    lines = [(f"{workers}", "none" if rows is None else f"{rows / 1e6:.1f}") for workers, rows in found.items()]
    return table(("workers", "million rows"), lines)


def predictions(costs: np.ndarray, points: Sequence[Point]) -> Iterator[list[str]]:
    """Yield the lines of the table of predictions."""
    for case in CASES:
        point = like(case, points)
        n = point.iterations
        count, bins, sparse, dense, rounds, messages, link = seconds_of(point, costs)
        bins_of_worker = point.sent / point.evaluations / 16  # two numbers of 8 bytes travel for each
        on_client = {"queries": 16 * case.rows / QUERY, "gather": 24 * case.rows, "bins": 40 * bins_of_worker}
        row = point.stored * (8 if case.data == "queries" else 12)
        seconds = count + bins + sparse + dense + rounds + messages + link
        yield [
            *(case.data, case.counting, f"{case.rows:.0e}".replace("e+", "e"), f"{case.workers:,}"),
            *(f"{point.sent / n / 1e6:,.3g}", f"{seconds:,.3g}", f"{sparse + dense:,.3g}", f"{count + bins:,.3g}"),
            *(f"{rounds + messages:,.3g}", f"{link:,.3g}", f"{row * case.rows / case.workers / GIB:,.3g}"),
            f"{on_client[case.counting] / GIB:,.3g}",
        ]


def prediction_table(costs: np.ndarray, points: Sequence[Point]) -> str:
    heading = (
        *("data", "counting", "rows", "workers", "MB/iteration", "s/iteration", "products", "counting s"),
        *("messages", "link", "worker GiB", "client GiB"),
    )
    return table(heading, predictions(costs, points), n_texts=2)
