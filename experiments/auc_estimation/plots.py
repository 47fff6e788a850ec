"""Four figures: bias and spread over rows, bias over the share of positives, coverage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
FIGURES = ("bias-by-rows", "spread-by-rows", "bias-by-share", "coverage")
Lines = dict[Setting, np.ndarray]


def draw_all(lines: Lines, found: dict[Setting, Coverage], folder: Path) -> None:
    # Text stays text and nothing depends on the time of day, so that two versions can be compared.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "kernelrank", "font.size": 9}):
        figures = (
            _by_rows(lines, lambda each: each.bias, "mean deviation from the true AUC"),
            _by_rows(lines, lambda each: each.conditional, "standard deviation from the conditional AUC"),
            _by_share(lines),
            _coverage(found),
        )
        for name, figure in zip(FIGURES, figures, strict=True):
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


def _by_rows(lines: Lines, value: Callable[[Deviations], float], label: str) -> Figure:
    figure = Figure(figsize=(9, 4), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, n_signal in zip(panels, (0, 4), strict=True):
        settings = [each for each in BY_ROWS if each.n_signal == n_signal]
        _curves(axes, lines, settings, [each.m for each in settings], value)
        _rows_axis(axes, n_signal, [each.m for each in settings])
    panels[0].set_ylabel(label)
    _legend(figure, panels)
    return figure


def _by_share(lines: Lines) -> Figure:
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    settings = [each for each in BY_SHARE if each.n_signal == 0]
    _curves(axes, lines, settings, [100 * each.share for each in settings], lambda each: 0.5 + each.bias)
    axes.set(title="30 rows without signal: the true AUC is 0.5", xlabel="positive rows, %", ylabel="mean estimate")
    _legend(figure, [axes])
    return figure


def _curves(
    axes: Axes, lines: Lines, settings: list[Setting], at: list[float], value: Callable[[Deviations], float]
) -> None:
    found = [summarise(lines[setting]) for setting in settings]
    for name in found[0]:
        style = {"color": COLOURS[name], "ls": "--" if name == TOURNAMENT else "-"}
        axes.plot(at, [value(each[name]) for each in found], marker="o", ms=3, label=name, **style)
    axes.grid(alpha=0.3)


def _coverage(found: dict[Setting, Coverage]) -> Figure:
    figure = Figure(figsize=(9, 4), layout="constrained")
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
    _legend(figure, panels)
    return figure


def _rows_axis(axes: Axes, n_signal: int, rows: list[int]) -> None:
    axes.set(title=f"{n_signal} of 10 features carry signal" if n_signal else "no signal", xlabel="rows", xscale="log")
    axes.set_xticks(rows, [f"{m:,}" for m in rows])
    axes.minorticks_off()
    axes.grid(alpha=0.3)


def _legend(figure: Figure, panels: object) -> None:
    lines = {line.get_label(): line for line in np.ravel(panels)[0].get_lines() if not line.get_label().startswith("_")}
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=4, frameon=False)
