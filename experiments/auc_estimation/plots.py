"""Four figures: bias and spread over rows, bias over the share of positives, coverage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.figures import add_legend, new_figure
from experiments.auc_estimation._shared import Setting
from experiments.auc_estimation.deviations import (
    AVERAGED_5,
    AVERAGED_10,
    BY_ROWS,
    BY_SHARE,
    LEAVE_PAIR_OUT,
    LEVELLED,
    POOLED_FOLDS,
    POOLED_ROWS,
    TOURNAMENT,
    Deviations,
    summarise,
)
from experiments.auc_estimation.intervals import INTERVALS, JACKKNIFE, Coverage

# The same colour for the same strategy in every figure.
COLOURS = {
    POOLED_ROWS: "tab:red",
    LEVELLED: "tab:pink",
    POOLED_FOLDS: "tab:orange",
    AVERAGED_5: "tab:olive",
    AVERAGED_10: "tab:green",
    LEAVE_PAIR_OUT: "tab:blue",
    TOURNAMENT: "tab:cyan",
    JACKKNIFE: "tab:purple",
}
Lines = dict[Setting, np.ndarray]


def draw_all(lines: Lines, found: dict[Setting, Coverage], folder: Path) -> None:
    with new_figure(folder / "bias-by-rows.svg", (9, 4)) as figure:
        _by_rows(figure, lines, lambda each: each.bias, "mean deviation from the true AUC")
    with new_figure(folder / "spread-by-rows.svg", (9, 4)) as figure:
        _by_rows(figure, lines, lambda each: each.conditional, "standard deviation from the conditional AUC")
    with new_figure(folder / "bias-by-share.svg", (6, 4)) as figure:
        _by_share(figure, lines)
    with new_figure(folder / "coverage.svg", (9, 4)) as figure:
        _coverage(figure, found)


def _by_rows(figure: Figure, lines: Lines, value: Callable[[Deviations], float], label: str) -> None:
    panels = figure.subplots(1, 2, sharey=True)
    for axes, n_signal in zip(panels, (0, 4), strict=True):
        settings = [each for each in BY_ROWS if each.n_signal == n_signal]
        _curves(axes, lines, settings, [each.m for each in settings], value)
        _rows_axis(axes, n_signal, [each.m for each in settings])
    panels[0].set_ylabel(label)
    add_legend(figure)


def _by_share(figure: Figure, lines: Lines) -> None:
    axes = figure.subplots()
    settings = [each for each in BY_SHARE if each.n_signal == 0]
    _curves(axes, lines, settings, [100 * each.share for each in settings], lambda each: 0.5 + each.bias)
    axes.set(title="30 rows without signal: the true AUC is 0.5", xlabel="positive rows, %", ylabel="mean estimate")
    add_legend(figure)


def _curves(
    axes: Axes, lines: Lines, settings: list[Setting], at: list[float], value: Callable[[Deviations], float]
) -> None:
    found = [summarise(lines[setting]) for setting in settings]
    for name in found[0]:
        style = {"color": COLOURS[name], "ls": "--" if name == TOURNAMENT else "-"}
        axes.plot(at, [value(each[name]) for each in found], marker="o", ms=3, label=name, **style)
    axes.grid(alpha=0.3)


def _coverage(figure: Figure, found: dict[Setting, Coverage]) -> None:
    panels = figure.subplots(1, 2, sharey=True)
    for axes, n_signal in zip(panels, (0, 4), strict=True):
        mine = {setting.m: each for setting, each in found.items() if setting.n_signal == n_signal}
        for name in INTERVALS:
            points = [(m, each[name][0]) for m, each in mine.items() if name in each]
            style = {"color": COLOURS[name], "ls": "--" if name == TOURNAMENT else "-"}
            axes.plot(*zip(*points, strict=True), marker="o", ms=4, label=name, **style)
        axes.axhline(0.95, color="0.5", ls=":")
        _rows_axis(axes, n_signal, list(mine))
    panels[0].set_ylabel("coverage of the conditional AUC")
    add_legend(figure)


def _rows_axis(axes: Axes, n_signal: int, rows: list[int]) -> None:
    axes.set(title=f"{n_signal} of 10 features carry signal" if n_signal else "no signal", xlabel="rows", xscale="log")
    axes.set_xticks(rows, [f"{m:,}" for m in rows])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
