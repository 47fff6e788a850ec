"""The concordance indices and areas of survival packages and of kernelrank: the same numbers from the same pairs.

The script asserts that they are. Peers that are not installed are left out.

Run ``python -m benchmarks.peers.concordance`` in the folder of the repository; ``--quick`` takes fewer rows.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import best_times
from benchmarks.harness import table, versions
from benchmarks.reports import main
from experiments.study import READING, Run, Tables, as_list, span
from kernelrank.metrics import concordance_index, cumulative_dynamic_auc
from kernelrank.pairs import UtilityPairs

Floats = NDArray[np.float64]

TITLE = "# Concordance index"
ABOUT = """
For times T, of which some may be censored, flags E that are true where the event was observed, and scores S,

- `lifelines.utils.concordance_index(T, S, E)` is `concordance_index(T, S, observed=E)`;
- `sksurv.metrics.concordance_index_censored(E, T, -S)`, whose estimate is a risk (higher is sooner), is the same, and
  counts as many concordant, discordant and tied pairs;
- two events at the same time are not compared, an event and a censoring are: the event came first. Equal scores count
  half. That is so in all three. But scikit-survival also takes scores that differ by 1e-8 or less for equal, unless its
  `tied_tol` is 0.

If every event is observed, a time is a utility like any other. The script fails if numbers differ in 12 digits, or if a
count differs. Milliseconds are the best of several calls in turns, one thread.
"""
UNO = "## Uno's concordance"
OF_UNO = """
`concordance_index(T, S, observed=E, truncation=tau)` is `sksurv.metrics.concordance_index_ipcw(Y, Y, -S, tau=tau)`,
which takes times and flags as Y. Nine tenths of the observed times are below the truncation. lifelines has no such
function.
"""
AREAS = "## Time-dependent areas"
OF_AREAS = """
`cumulative_dynamic_auc(T, S, times, observed=E)` is `sksurv.metrics.cumulative_dynamic_auc(Y, Y, -S, times)`: the area
at each of nine times (fewer if times are tied), and their mean, which the table shows.
"""
PACKAGES = ("scikit-survival", "lifelines")
MODULES = {"kernelrank": "kernelrank", "scikit-survival": "sksurv", "lifelines": "lifelines"}
SHARES = (0.0, 0.5, 0.9)
HEADING = ("data", "censored, %", "who", "rows", "concordance", "concordant", "discordant", "tied", "ms")
COUNTS = slice(5, 8)  # columns of the heading that other tables do not have


@dataclass(frozen=True)
class Case:
    """Times, scores, and which times are observed."""

    name: str
    times: Floats
    scores: Floats
    observed: NDArray[np.bool_]

    @cached_property
    def truncation(self) -> float:
        """Return a time below which most events are."""
        return float(np.quantile(self.times[self.observed], 0.9))

    @cached_property
    def at(self) -> Floats:
        """Return some times of events."""
        return np.unique(np.quantile(self.times[self.observed], np.arange(1, 10) / 10))

    @cached_property
    def labels(self) -> Any:
        """Return times and flags as scikit-survival takes them."""
        from sksurv.util import Surv

        return Surv.from_arrays(self.observed, self.times)


def cases(m: int) -> Iterator[Case]:
    """Yield times and scores: distinct ones, and two that are full of ties; each with some shares of censored times."""
    rng = np.random.default_rng(0)
    true, until = rng.exponential(size=(2, m))
    scores = np.log(true) + rng.normal(size=m)
    for share in SHARES:
        limits = until * (1 - share) / share if share else np.full(m, np.inf)
        times, observed = np.minimum(true, limits), true <= limits
        yield Case("no ties", times, scores, observed)
        yield Case("tied scores", times, np.round(scores), observed)
        yield Case("tied times and scores", np.ceil(5 * times / times.mean()), np.round(scores), observed)


def harrell_of_kernelrank(case: Case) -> tuple[Any, ...]:
    pairs = UtilityPairs(case.times, observed=case.observed)
    concordant, discordant = (int(pairs.count_totals(s, margin=0.0)[0]) for s in (-case.scores, case.scores))
    index = concordance_index(case.times, case.scores, observed=case.observed)
    return index, concordant, discordant, pairs.n_pairs - concordant - discordant


def harrell_of_scikit_survival(case: Case) -> tuple[Any, ...]:
    from sksurv.metrics import concordance_index_censored

    return tuple(concordance_index_censored(case.observed, case.times, -case.scores, tied_tol=0.0)[:4])


def harrell_of_lifelines(case: Case) -> tuple[Any, ...]:
    from lifelines.utils import concordance_index as of_theirs

    return (of_theirs(case.times, case.scores, case.observed),)


def uno_of_kernelrank(case: Case) -> tuple[Any, ...]:
    return (concordance_index(case.times, case.scores, observed=case.observed, truncation=case.truncation),)


def uno_of_scikit_survival(case: Case) -> tuple[Any, ...]:
    from sksurv.metrics import concordance_index_ipcw

    return concordance_index_ipcw(case.labels, case.labels, -case.scores, tau=case.truncation, tied_tol=0.0)[:1]


def areas_of_kernelrank(case: Case) -> tuple[Any, ...]:
    found = cumulative_dynamic_auc(case.times, case.scores, case.at, observed=case.observed)
    return found.mean, *found.auc


def areas_of_scikit_survival(case: Case) -> tuple[Any, ...]:
    from sksurv.metrics import cumulative_dynamic_auc as of_theirs

    areas, mean = of_theirs(case.labels, case.labels, -case.scores, case.at, tied_tol=0.0)
    return mean, *areas


# Functions of a case: the number of the table first, then others that must agree.
Finders = Mapping[str, Callable[[Case], tuple[Any, ...]]]
HARRELL: Finders = {
    "kernelrank": harrell_of_kernelrank,
    "scikit-survival": harrell_of_scikit_survival,
    "lifelines": harrell_of_lifelines,
}
OTHERS: dict[str, tuple[str, str, Finders]] = {
    UNO: (OF_UNO, "concordance", {"kernelrank": uno_of_kernelrank, "scikit-survival": uno_of_scikit_survival}),
    AREAS: (OF_AREAS, "mean area", {"kernelrank": areas_of_kernelrank, "scikit-survival": areas_of_scikit_survival}),
}


def is_installed(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def compare(case: Case, finders: Finders, turns: int) -> Iterator[list[str]]:
    """Assert that all find the same, and yield lines of the table."""
    tasks = {peer: partial(find, case) for peer, find in finders.items()}
    expected = tasks["kernelrank"]()
    seconds = best_times(tasks, turns, 3 * turns)
    for peer, task in tasks.items():
        found = task()
        for theirs, ours in zip(found, expected, strict=len(found) > 1):
            assert math.isclose(theirs, ours, rel_tol=1e-12), f"{case.name}: {peer} finds {theirs}, not {ours}"
        counts = [f"{each:,}" for each in found[1:]] if isinstance(found[-1], int | np.integer) else []
        yield [
            *(case.name, f"{100 * (1 - case.observed.mean()):.0f}", peer, f"{len(case.times):,}"),
            *(f"{found[0]:.12f}", *(counts or [""] * 3), f"{1e3 * seconds[peer]:.1f}"),
        ]


def check_tolerance() -> str:
    """Assert what scikit-survival does with scores that are nearly equal."""
    from sksurv.metrics import concordance_index_censored

    times, scores = np.array([1.0, 2.0]), np.array([0.0, 1e-9])
    theirs = concordance_index_censored(np.ones(2, bool), times, -scores)[0]
    ours = concordance_index(times, scores)
    assert (theirs, ours) == (0.5, 1.0)
    return f"Two scores 1e-9 apart: scikit-survival finds {theirs} by default, kernelrank {ours}."


def measure(run: Run) -> tuple[dict[str, list[list[str]]], list[str]]:
    """Return the lines of the tables, and notes on the peers."""
    peers = [peer for peer, module in MODULES.items() if is_installed(module)]
    notes = [f"{peer} is left out: it is not installed." for peer in MODULES if peer not in peers]
    lines: dict[str, list[list[str]]] = {}
    for title, finders in {TITLE: HARRELL, **{title: finders for title, (_, _, finders) in OTHERS.items()}}.items():
        chosen = {peer: find for peer, find in finders.items() if peer in peers}
        lines[title] = []
        for case in cases(200 if run.quick else 5_000):
            lines[title] += compare(case, chosen, 1 if run.quick else 3)
    if "scikit-survival" in peers:
        notes.append(check_tolerance())
    return lines, notes


def report(found: tuple[dict[str, list[list[str]]], list[str]], _: Run) -> list[str]:
    lines, notes = found
    paragraphs = [TITLE, versions(PACKAGES), ABOUT, table(HEADING, lines[TITLE]), as_list(notes), READING]
    for title, (about, value, _) in OTHERS.items():
        heading = ["data", "censored, %", "who", "rows", value, "ms"]
        shown = [line[: COUNTS.start] + line[COUNTS.stop :] for line in lines[title]]
        paragraphs += [title, about, table(heading, shown), READING]
    return paragraphs


def readings(tables: Tables) -> list[str]:
    same = "The numbers are the same to 12 digits, with and without censoring and ties"
    found = []
    for title in (TITLE, UNO, AREAS):
        [lines] = tables[title.strip("# ")]
        times = {who: lines.select(who=who).column("ms") for who in MODULES}
        ours = times["kernelrank"]
        others = [
            f"{who} {span(ms, ',.0f')} milliseconds, {span(ms / ours, ',.0f')} times as long"
            for who, ms in times.items()
            if who != "kernelrank" and len(ms)
        ]
        seconds = "; ".join([f"kernelrank takes {span(ours, '.1f')} milliseconds", *others])
        counts = ", and so are the counts" if title == TITLE else ""
        found.append(f"{same}{counts}. At {lines[0]['rows']} rows {seconds}.")
    return found


if __name__ == "__main__":
    main(sys.modules[__name__])
