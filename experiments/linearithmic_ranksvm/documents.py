"""Real text with the paper's construction: rank documents by their similarity to one that is removed.

20 newsgroups and Reuters-21578 are read from the folder that KERNELRANK_DATA names. RCV1, the paper's data, is taken
where scikit-learn's ``fetch_rcv1`` keeps it: run that once, and it takes part; nothing is downloaded here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time
from typing import NamedTuple

import numpy as np

from benchmarks import data
from benchmarks._timing import best_times
from benchmarks.figures import Panel, draw
from benchmarks.harness import MissingDataError, show_progress, table
from benchmarks.peers.competitors import COMPETITORS, Loss, Problem
from benchmarks.peers.measure import unit_tasks
from benchmarks.peers.referee import Referee
from benchmarks.peers.workloads import Rows
from experiments.linearithmic_ranksvm._shared import Found, Study, exponent, first, lines_of, method
from experiments.study import READING, Run, Tables, as_list, span

ALPHA = 1e-5
N_TEST = 20_000  # at most
SMALL = (1_000, 2_000, 4_000, 8_000, 16_000)
QUICK = (250, 500, 1_000)
PAIRS_UP_TO = 64_000  # rows


class Collection(NamedTuple):
    """A function that loads the documents, and numbers of training documents."""

    title: str
    load: Callable[[int], data.Dataset]
    sizes: tuple[int, ...]


COLLECTIONS = (
    Collection("20 newsgroups", data.news20, SMALL),
    Collection("Reuters-21578", data.reuters, SMALL),
    Collection("RCV1", data.rcv1, (*SMALL, 32_000, 64_000, 128_000, 256_000, 512_000)),
)
FITS: dict[str, tuple[str, Loss]] = {
    "RankSVM": ("kernelrank", "hinge"),
    "no line search": ("kernelrank, no line search", "hinge"),
    "squared hinge": ("kernelrank", "squared_hinge"),
    "TreeRSVM": ("TreeRSVM", "hinge"),
    "PairRSVM": ("PairRSVM", "hinge"),
}
ABOUT = """
One thread, seconds of processor time; alpha is the paper's for RCV1, 1e-5. Collections of 20,000 documents are small
beside the paper's: they say more about iterations and errors than about exponents.
"""


def measure(run: Run) -> Found:
    study = Study(run)
    records: list[Found] = []
    left_out: list[str] = []
    made = (Collection("Generated", data.text_like, QUICK),) if study.quick else ()
    for title, load, sizes in (*made, *COLLECTIONS):
        try:
            rows = load(sizes[-1])
        except MissingDataError as reason:
            left_out.append(f"{title} is left out: it {reason}.")
            continue
        test = Rows(rows.X_test[:N_TEST], rows.y_test[:N_TEST])
        for m in sizes:
            show_progress(f"documents: {title}, {m:,} rows")
            records += [
                {"collection": title, **record} for record in fit_all(first(rows, m), test, 1 if run.quick else 5)
            ]
    return {"records": records, "left_out": left_out}


def fit_all(train: Rows, test: Rows, runs: int) -> list[Found]:
    problems = {name: Problem(train, ALPHA, loss) for name, (_, loss) in FITS.items()}
    if len(train.y) > PAIRS_UP_TO:
        del problems["PairRSVM"]
    fitted = {name: COMPETITORS[FITS[name][0]].fit(train, problem) for name, problem in problems.items()}
    tasks = {
        name: lambda name=name, problem=problem: COMPETITORS[FITS[name][0]].fit(train, problem)
        for name, problem in problems.items()
    }
    units = unit_tasks(train)
    seconds = best_times({**tasks, **units}, 1, runs, process_time)
    records = []
    for name, problem in problems.items():
        referee, found = Referee(train, test, ALPHA, problem.loss), fitted[name]
        objective = referee.objective(found.w)
        records.append(
            {
                "who": name,
                "rows": len(train.y),
                "non-zeros": train.X.nnz / len(train.y),
                "distinct": len(np.unique(train.y)),
                "seconds": seconds[name],
                "u": sum(seconds[unit] for unit in units),
                "iterations": found.iterations,
                "passes": found.passes,
                "gap": objective - found.lower_bound,
                "objective": objective,
                "error": referee.test_error(found),
            }
        )
    return records


def report(found: Found, run: Run) -> list[str]:
    parts = ["# Real text (A11, section 5.1)", method(__doc__), as_list(found["left_out"])]
    panels: list[Panel] = []
    for title in dict.fromkeys(r["collection"] for r in found["records"]):
        mine = [r for r in found["records"] if r["collection"] == title]
        lines = lines_of(mine, "who", "rows", "seconds")
        panels.append(Panel(title, "rows", "seconds to fit", lines))
        panels.append(Panel(title, "rows", "test error", lines_of(mine, "who", "rows", "error"), "linear"))
        slopes = ", ".join(f"{who} {exponent(points):.2f}" for who, points in lines.items())
        parts += [f"## {title}", documents_table(mine), f"Exponents of the seconds at the largest sizes: {slopes}."]
    draw(panels, run.results / "documents.svg")
    return [*filter(None, parts), "![Seconds and test error over rows](documents.svg)", ABOUT, READING]


def documents_table(records: list[Found]) -> str:
    heading = [
        *("who", "rows", "distinct utilities", "non-zeros per row", "seconds", "u", "iterations", "passes"),
        *("certified gap", "objective", "test error"),
    ]
    cells = [
        [
            *(r["who"], f"{r['rows']:,}", f"{r['distinct']:,}", f"{r['non-zeros']:.0f}", f"{r['seconds']:.3g}"),
            *(f"{r['seconds'] / r['u']:.1f}", str(r["iterations"]), str(r["passes"])),
            *(f"{r['gap']:.1e}", f"{r['objective']:.6f}", f"{r['error']:.4f}"),
        ]
        for r in records
    ]
    return table(heading, cells)


def readings(tables: Tables) -> Iterator[str]:
    collections = {title: tables[title][0] for title, *_ in COLLECTIONS[:2]}

    def column(title: str, who: str, name: str) -> np.ndarray:
        return collections[title].select(who=who).column(name)

    each = [f"{span(column(title, 'RankSVM', 'iterations'), '.0f')} on {title}" for title in collections]
    more = [column(t, "no line search", "iterations") / column(t, "RankSVM", "iterations") for t in collections]
    pairs = [column(t, "PairRSVM", "seconds")[-1] / column(t, "TreeRSVM", "seconds")[-1] for t in collections]
    largest = max(column(next(iter(collections)), "RankSVM", "rows"))
    hinges = ("no line search", "TreeRSVM", "PairRSVM")
    apart = [
        np.abs(column(t, who, "test error") - column(t, "RankSVM", "test error")).max()
        for t in collections
        for who in hinges
    ]
    better = [column(t, "RankSVM", "test error") - column(t, "squared hinge", "test error") for t in collections]
    falls = all(np.all(np.diff(column(t, who, "test error")) < 0) for t in collections for who in FITS)
    yield f"""
        As on generated text, iterations do not depend on the number of documents: {" and ".join(each)}. Without line
        search there are {span(np.ravel(more), ".1f")} times as many. At {largest:,.0f} documents, going through the
        pairs takes {span(pairs, ".1f")} times as long as the red-black tree. The test errors of all methods for the
        hinge are within {max(apart):.4f} of each other; that of the squared hinge is lower by
        {span((gain[-1] for gain in better), ".3f")} at {largest:,.0f} documents. {"Every" if falls else "Not every"}
        test error falls with more documents."""
