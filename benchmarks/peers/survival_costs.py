"""What censoring costs: fits and counting passes of the same rows, of which more and more are censored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks._timing import best_times
from benchmarks.harness import Table
from benchmarks.peers.survival_data import ALPHA, SHARES, censor, latent
from experiments.study import span
from kernelrank import RankSVM
from kernelrank.pairs import UtilityPairs

ABOUT = """
The same rows, of which more and more are censored: a fit with either loss, and one counting pass, in turns. "Relative"
is to no censoring, and the bar is for these columns. Passes are those of the fit, each of which counts all pairs.
"""
_TASKS = ("squared_hinge", "hinge", "count")
HEADING = (
    *("rows", "censored, %", "squared hinge, ms", "relative", "passes"),
    *("hinge, ms", "relative", "passes", "count, ms", "relative"),
)


@dataclass
class Cost:
    """Seconds of the same rows with a share of them censored."""

    n_rows: int
    share: float
    seconds: dict[str, float]
    relative: dict[str, float]
    passes: dict[str, int]

    @property
    def cells(self) -> list[str]:
        """Return the cells of the table."""
        found = [f"{self.n_rows:,}", f"{100 * self.share:.0f}"]
        for name in _TASKS:
            found += [f"{1e3 * self.seconds[name]:,.1f}", f"{self.relative[name]:.2f}"]
            found += [f"{self.passes[name]}"] if name in self.passes else []
        return found


def measure(n_rows: int, turns: int) -> list[Cost]:
    """Measure the same rows with several shares censored."""
    X, scores, true, until = latent(n_rows)
    tasks: dict[tuple[float, str], Callable[[], Any]] = {}
    passes: dict[float, dict[str, int]] = {share: {} for share in SHARES}
    for share in SHARES:
        y, observed = censor(true, until, share)
        pairs = UtilityPairs(y, observed=observed)
        tasks[share, "count"] = lambda pairs=pairs: pairs.count(scores)
        for loss in _TASKS[:2]:
            model = RankSVM(ALPHA, loss=loss)
            tasks[share, loss] = lambda model=model, y=y, observed=observed: model.fit(X, y, observed=observed)
            passes[share][loss] = int(tasks[share, loss]().history_["n_evaluations"][-1])
    best = best_times(tasks, turns, 5 * turns)
    return [
        Cost(
            n_rows,
            share,
            {name: best[share, name] for name in _TASKS},
            {name: best[share, name] / best[0.0, name] for name in _TASKS},
            passes[share],
        )
        for share in SHARES
    ]


def reading(costs: Table) -> str:
    some = costs.column("censored, %") > 0
    fits = np.concatenate([costs.column(name)[some] for name in ("relative", "relative (2)")])
    per_pass = []
    for name, passes in (("squared hinge, ms", "passes"), ("hinge, ms", "passes (2)")):
        ms = costs.column(name) / costs.column(passes)
        per_pass += list(ms[some] / np.repeat(ms[~some], len(SHARES) - 1))
    return (
        f"With censoring, counting takes {span(costs.column('relative (3)')[some])} times as long as without, and a fit"
        f" {span(fits)} times: it is another problem, which needs another number of passes. A pass of a fit, with all"
        f" that goes with it, takes {span(per_pass)} times as long."
    )
