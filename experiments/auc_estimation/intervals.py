"""How often the intervals hold the truth: the AUC of the very model, and the mean AUC of such models."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import table
from experiments.auc_estimation._shared import ALPHA, Setting, draw, few, repeat, true_auc
from experiments.auc_estimation.deviations import (
    AVERAGED_5,
    AVERAGED_10,
    LEAVE_PAIR_OUT,
    POOLED_FOLDS,
    POOLED_ROWS,
    TOURNAMENT,
    ask,
)
from kernelrank import RankRLS

BY_STRATEGY = (POOLED_ROWS, POOLED_FOLDS, AVERAGED_5, AVERAGED_10, LEAVE_PAIR_OUT, TOURNAMENT)
JACKKNIFE = "leave-pair-out, jackknife"
INTERVALS = (*BY_STRATEGY, JACKKNIFE)
COUNTS = {30: 1_500, 100: 800, 300: 300, 1000: 100}  # data sets, by rows
REPETITIONS = {Setting(m, 0.5, n): count for n in (0, 4) for m, count in COUNTS.items()}
COUNTS_OF_JACKKNIFE = {30: 500, 100: 200, 300: 100}
OF_JACKKNIFE = {Setting(m, 0.5, n): count for n in (0, 4) for m, count in COUNTS_OF_JACKKNIFE.items()}

Coverage = dict[str, tuple[float, float, float]]  # of the conditional and unconditional AUC, and the mean width


def of_rows(setting: Setting, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return the true AUC, and both ends of the interval of each strategy."""
    return _intervals(setting, rng, n, BY_STRATEGY, "rows")


def of_jackknife(setting: Setting, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return the true AUC, and both ends of the jackknife's interval for leave-pair-out."""
    return _intervals(setting, rng, n, (LEAVE_PAIR_OUT,), "jackknife")


def _intervals(
    setting: Setting, rng: np.random.Generator, n: int, strategies: tuple[str, ...], kind: str
) -> np.ndarray:
    lines = []
    for _ in range(n):
        X, y = draw(setting, rng)
        model = RankRLS(ALPHA)
        line = [true_auc(model.fit(X, y).coef_, setting)]
        for strategy in strategies:
            line += ask(model, X, y, strategy, interval=kind).interval
        lines.append(line)
    return np.array(lines)


def coverage(lines: np.ndarray, strategies: tuple[str, ...], mean_auc: float) -> Coverage:
    truth, found = lines[:, 0], {}
    for k, name in enumerate(strategies):
        low, high = lines[:, 1 + 2 * k], lines[:, 2 + 2 * k]
        held = [float(((low <= auc) & (auc <= high)).mean()) for auc in (truth, mean_auc)]
        found[name] = (held[0], held[1], float((high - low).mean()))
    return found


def run(scale: float, jobs: int, mean_aucs: dict[Setting, float]) -> dict[Setting, Coverage]:
    """Measure the coverage in each setting; `mean_aucs` are the unconditional ones."""
    rows = repeat(of_rows, few(REPETITIONS, scale), jobs=jobs)
    jackknife = repeat(of_jackknife, few(OF_JACKKNIFE, scale), jobs=jobs)
    found = {setting: coverage(lines, BY_STRATEGY, mean_aucs[setting]) for setting, lines in rows.items()}
    for setting, lines in jackknife.items():
        found[setting] |= coverage(lines, (JACKKNIFE,), mean_aucs[setting])
    return found


def errors() -> dict[str, str]:
    """Return the standard errors of the coverages, by rows."""

    def each(coverage: float, counts: dict[int, int]) -> str:
        parts = [
            f"{100 * np.sqrt(coverage * (1 - coverage) / n):.1f} % ({m:,} rows, {n:,} data sets)"
            for m, n in counts.items()
        ]
        return ", ".join(parts)

    return {"of_rows": each(0.9, COUNTS), "of_jackknife": each(0.96, COUNTS_OF_JACKKNIFE)}


def coverage_table(found: dict[Setting, Coverage]) -> str:
    rows = []
    for setting, mine in found.items():
        cells = [
            f"{mine[name][0]:.1%} / {mine[name][1]:.1%} ({mine[name][2]:.2f})" if name in mine else ""
            for name in INTERVALS
        ]
        rows.append([f"{setting.m}, {setting.n_signal}", *cells])
    return table(["rows, signal", *INTERVALS], rows)
