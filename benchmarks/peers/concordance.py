"""The concordance index of survival packages and of kernelrank: the same number from the same pairs.

The script asserts that they are. Peers that are not installed are left out.

Run ``python -m benchmarks.peers.concordance`` in the folder of the repository; ``--quick`` takes fewer rows.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import best_times
from benchmarks.harness import table, versions
from benchmarks.reports import main
from experiments.study import READING, Run, Tables, as_list, span
from kernelrank.metrics import concordance_index
from kernelrank.pairs import UtilityPairs

Floats = NDArray[np.float64]

TITLE = "# Concordance index"
ABOUT = """
If every event is observed, a survival time is a utility like any other. Then, for times T and scores S,

- `lifelines.utils.concordance_index(T, S)` is `concordance_index(T, S)`;
- `sksurv.metrics.concordance_index_censored(events, T, -S)`, whose estimate is a risk (higher is sooner), is the same,
  and counts as many concordant, discordant and tied pairs;
- pairs of equal times are not compared, and equal scores count half, in all three. But scikit-survival also takes
  scores that differ by 1e-8 or less for equal, unless its `tied_tol` is 0.

The script fails if an index differs in 12 digits, or if a count differs.
"""
PACKAGES = ("scikit-survival", "lifelines")
HEADING = ("data", "who", "rows", "concordance", "concordant", "discordant", "tied", "ms")


def datasets(m: int) -> Iterator[tuple[str, Floats, Floats]]:
    """Yield times and scores: distinct ones, and two that are full of ties."""
    rng = np.random.default_rng(0)
    times = rng.exponential(size=m)
    scores = np.log(times) + rng.normal(size=m)
    yield "no ties", times, scores
    yield "tied scores", times, np.round(scores)
    yield "tied times and scores", np.ceil(5 * times), np.round(scores)


def of_kernelrank(times: Floats, scores: Floats) -> tuple[Any, ...]:
    pairs = UtilityPairs(times)
    concordant, discordant = (int(pairs.count_totals(s, margin=0.0)[0]) for s in (-scores, scores))
    return concordance_index(times, scores), concordant, discordant, pairs.n_pairs - concordant - discordant


def of_scikit_survival(times: Floats, scores: Floats) -> tuple[Any, ...]:
    from sksurv.metrics import concordance_index_censored

    return tuple(concordance_index_censored(np.ones(len(times), bool), times, -scores, tied_tol=0.0)[:4])


def of_lifelines(times: Floats, scores: Floats) -> tuple[Any, ...]:
    from lifelines.utils import concordance_index as of_theirs

    return (of_theirs(times, scores),)


PEERS: dict[str, tuple[str, Callable[[Floats, Floats], tuple[Any, ...]]]] = {
    "kernelrank": ("kernelrank", of_kernelrank),
    "scikit-survival": ("sksurv", of_scikit_survival),
    "lifelines": ("lifelines", of_lifelines),
}


def is_installed(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def compare(name: str, times: Floats, scores: Floats, peers: list[str], turns: int) -> Iterator[list[str]]:
    """Assert that all find the same, and yield lines of the table."""
    expected = of_kernelrank(times, scores)
    tasks = {peer: lambda find=PEERS[peer][1]: find(times, scores) for peer in peers}
    seconds = best_times(tasks, turns, turns)
    for peer in peers:
        value, *counts = tasks[peer]()
        assert math.isclose(value, expected[0], rel_tol=1e-12), f"{name}: {peer} finds {value}, not {expected[0]}"
        assert not counts or tuple(counts) == expected[1:], f"{name}: {peer} counts {counts}, not {expected[1:]}"
        cells = [f"{count:,}" for count in counts] or [""] * 3
        yield [name, peer, f"{len(times):,}", f"{value:.12f}", *cells, f"{1e3 * seconds[peer]:.1f}"]


def check_tolerance() -> str:
    """Assert what scikit-survival does with scores that are nearly equal."""
    from sksurv.metrics import concordance_index_censored

    times, scores = np.array([1.0, 2.0]), np.array([0.0, 1e-9])
    theirs = concordance_index_censored(np.ones(2, bool), times, -scores)[0]
    ours = concordance_index(times, scores)
    assert (theirs, ours) == (0.5, 1.0)
    return f"Two scores 1e-9 apart: scikit-survival finds {theirs} by default, kernelrank {ours}."


def measure(run: Run) -> tuple[list[list[str]], list[str]]:
    """Return the lines of the table, and notes on the peers."""
    peers = [peer for peer, (module, _) in PEERS.items() if is_installed(module)]
    notes = [f"{peer} is left out: it is not installed." for peer in PEERS if peer not in peers]
    cells: list[list[str]] = []
    for name, times, scores in datasets(200 if run.quick else 5_000):
        cells += compare(name, times, scores, peers, 1 if run.quick else 3)
    if "scikit-survival" in peers:
        notes.append(check_tolerance())
    return cells, notes


def report(found: tuple[list[list[str]], list[str]], _: Run) -> list[str]:
    cells, notes = found
    return [TITLE, versions(PACKAGES), ABOUT, table(HEADING, cells), as_list(notes), READING]


def readings(tables: Tables) -> list[str]:
    [lines] = tables[TITLE.strip("# ")]
    times = {who: lines.select(who=who).column("ms") for who in PEERS}
    ours = times["kernelrank"]
    others = [
        f"{who} {span(ms, ',.0f')} milliseconds, {span(ms / ours, ',.0f')} times as long"
        for who, ms in times.items()
        if who != "kernelrank" and len(ms)
    ]
    found = "; ".join([f"At {lines[0]['rows']} rows kernelrank takes {span(ours, '.1f')} milliseconds", *others])
    return [f"The counts are the same, and the index is the same to 12 digits, with and without ties. {found}."]


if __name__ == "__main__":
    main(sys.modules[__name__])
