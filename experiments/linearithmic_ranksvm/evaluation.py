"""Figure 1: seconds of one evaluation of loss and subgradient, by the way the pairs are counted.

Seconds of processor time in one thread, the best of several runs; what takes more than two seconds runs once. An
evaluation is ``p = X w``, the counts c and d, the loss, and ``X' (c - d)``; w is a trained solution of the same rows.
*training* is what `RankSVM` does: the counts are never stored.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from benchmarks._timing import best_times, show_progress, table
from benchmarks.peers.competitors import CountedHinge, Method
from benchmarks.peers.workloads import Rows
from experiments.linearithmic_ranksvm._shared import (
    ALPHAS,
    TITLES,
    Found,
    Panel,
    Study,
    as_list,
    draw,
    exponent,
    linearithmic_error,
    number,
)
from kernelrank import RankSVM
from kernelrank.losses import Loss, PairwiseHinge
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import make_products

METHODS: tuple[Method, ...] = ("pairs", "rbtree", "tree")
TASKS = (*METHODS, "training", "products", "argsort")
MOST_SECONDS = 200.0  # of one evaluation; the next size has four times as many pairs
ONCE = 2.0  # seconds: what takes longer is not repeated
PUBLISHED = {"rbtree": 7.0, "pairs": 2760.0}  # seconds at 512,000 rows
READING = """
*pairs*, *rbtree*, *tree*: the evaluation with that method of `UtilityPairs.count`; *products*: the two products with X
alone; *argsort*: one `np.argsort` of the scores. *exponent*: slope of log seconds over log rows at the four largest
sizes; *off a m log m*: how far these four are from the best such curve.

**Reading.** The claim holds. What training does grows as m log m, and on text most of it is the two products, which any
method needs: counting and sorting all pairs of 512,000 rows, 131 thousand million of them, adds a fifth to that. The
red-black tree grows somewhat faster than m log m, because its nodes leave the cache; the wide tree of running counts
does not, and takes a fraction of the time. Going through the pairs is quadratic, and worse once utilities and scores
leave the cache too. The paper's ratio of the two at 512,000 rows, 394, is between that of ours with a red-black tree
and that with the tree in use. Seconds cannot be compared with those of a machine of 2006; ratios can.
"""


def measure(study: Study) -> Found:
    records: list[Found] = []
    left_out: list[str] = []
    for name in study.workloads(left_out):
        seconds: dict[str, float] = {}
        for m in study.sizes(name):
            show_progress(f"evaluation: {name}, {m:,} rows")
            rows, _ = study.rows(name, m)
            seconds = time_evaluations(rows, ALPHAS[name], with_pairs=4 * seconds.get("pairs", 0.0) <= MOST_SECONDS)
            records.append({"workload": name, "rows": m, **seconds})
    return {"records": records, "left_out": left_out}


def time_evaluations(rows: Rows, alpha: float, with_pairs: bool) -> dict[str, float]:
    products, pairs = make_products(rows.X), UtilityPairs(rows.y, n_jobs=1)
    w = RankSVM(alpha).fit(rows.X, rows.y).coef_
    scores = products.forward(w)
    losses: dict[str, Loss] = {method: CountedHinge(pairs, method) for method in METHODS}
    losses["training"] = PairwiseHinge(pairs)
    if not with_pairs:
        del losses["pairs"]
    g = check_agreement(losses, scores)

    def evaluation(loss: Loss) -> Callable[[], Any]:
        return lambda: products.backward(loss(products.forward(w)).g)

    tasks = {name: evaluation(loss) for name, loss in losses.items()}
    tasks |= {
        "products": lambda: (products.forward(w), products.backward(g)),
        "argsort": lambda: np.argsort(scores),
    }
    once = best_times(tasks, 1, 1, process_time)
    again = {name: task for name, task in tasks.items() if once[name] < ONCE}
    more = best_times(again, 3, 10, process_time)
    return {name: min(seconds, more.get(name, seconds)) for name, seconds in once.items()}


def check_agreement(losses: dict[str, Loss], scores: np.ndarray) -> np.ndarray:
    """Whatever is compared finds the same subgradient; the pairs are looked at where that takes no time."""
    cheap = {name: loss for name, loss in losses.items() if name != "pairs" or len(scores) <= 10_000}
    found = [loss(scores).g for loss in cheap.values()]
    for g in found[1:]:
        np.testing.assert_allclose(g, found[0], rtol=1e-12, atol=1e-18)
    return found[0]


def report(found: Found, folder: Any) -> list[str]:
    parts = ["# One evaluation of loss and subgradient (A11, figure 1)", as_list(found["left_out"])]
    panels = []
    for name in dict.fromkeys(record["workload"] for record in found["records"]):
        records = [record for record in found["records"] if record["workload"] == name]
        points = {task: [(r["rows"], r[task]) for r in records if task in r] for task in TASKS}
        cells = [[f"{r['rows']:,}", *(number(r.get(task)) for task in TASKS), ratio(r)] for r in records]
        cells.append(["exponent", *(number(exponent(points[task]), ".2f") for task in TASKS), ""])
        cells.append(["off a m log m, %", *(number(percent(linearithmic_error(points[t])), ".0f") for t in TASKS), ""])
        heading = ["rows", *(f"{task} s" for task in TASKS), "pairs / training"]
        parts += [f"## {TITLES[name]}", table(heading, cells)]
        if records[-1]["rows"] == 512_000:
            parts.append(against_paper(records[-1]))
        panels.append(Panel(TITLES[name], "rows", "seconds of one evaluation", points))
    draw(panels, folder / "evaluation.svg")
    return [*filter(None, parts), "![Seconds of one evaluation over rows](evaluation.svg)", READING.strip()]


def ratio(record: Found) -> str:
    return f"{record['pairs'] / record['training']:,.0f}" if "pairs" in record else ""


def percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def against_paper(record: Found) -> str:
    cells = [
        [
            method,
            number(paper),
            number(record.get(method)),
            number(paper / record[method] if method in record else None),
        ]
        for method, paper in PUBLISHED.items()
    ]
    cells.append(["training", "", number(record["training"]), f"{PUBLISHED['rbtree'] / record['training']:.3g}"])
    if "pairs" in record:
        ours = [record["pairs"] / record[name] for name in ("rbtree", "training")]
        paper = PUBLISHED["pairs"] / PUBLISHED["rbtree"]
        cells.append(["pairs / rbtree", f"{paper:.0f}", f"{ours[0]:.0f}", ""])
        cells.append(["pairs / training", "", f"{ours[1]:,.0f}", ""])
    heading = ["at 512,000 rows", "paper s", "ours s", "times faster than the paper"]
    return table(heading, cells)
