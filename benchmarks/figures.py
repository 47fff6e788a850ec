"""Figures of benchmarks and studies: SVG files that can be compared from version to version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from matplotlib.figure import Figure

Point = tuple[float, float]


@contextmanager
def new_figure(path: Path, size: tuple[float, float]) -> Iterator[Figure]:
    """Save the figure that is drawn inside the block."""
    # Text stays text and nothing depends on the time of day, so that two versions can be compared.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "kernelrank", "font.size": 9}):
        figure = Figure(figsize=size, layout="constrained")
        yield figure
        figure.savefig(path, metadata={"Date": None})


def add_legend(figure: Figure, ncols: int = 4) -> None:
    """Add one legend for all panels, with each label once."""
    lines = {line.get_label(): line for axes in figure.axes for line in axes.get_lines()}
    shown = {label: line for label, line in lines.items() if not label.startswith("_")}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=ncols, frameon=False)


class Panel(NamedTuple):
    """Lines over one pair of axes, both logarithmic by default; a line whose name ends with "…" is dashed."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[Point]]
    yscale: str = "log"
    xticks: Sequence[float] = ()


def draw(panels: Sequence[Panel], path: Path) -> None:
    """Draw panels side by side, with the same colour for the same name."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    colours = {name: f"C{i % 10}" for i, name in enumerate(names)}
    with new_figure(path, (4.5 * max(len(panels), 1.4), 4)) as figure:
        for axes, panel in zip(np.ravel(figure.subplots(1, len(panels))), panels, strict=True):
            for name, points in panel.lines.items():
                style = {"ls": "--"} if name.endswith("…") else {"marker": "o", "ms": 3.5}
                axes.plot(*zip(*points, strict=True), color=colours[name], label=name, **style)
            axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y, xscale="log", yscale=panel.yscale)
            if panel.xticks:
                axes.set_xticks(panel.xticks, [f"{tick:,}" for tick in panel.xticks])
            axes.minorticks_off()  # they would be most of the file
            axes.grid(alpha=0.3)
        add_legend(figure)
