"""Seconds over rows, both logarithmic: slopes are exponents."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes

from benchmarks.figures import add_legend, new_figure
from benchmarks.peers.bars import Records
from benchmarks.peers.workloads import Workload

# The same colour for the same competitor in every plot.
_COLOURS = {
    "kernelrank": "tab:blue",
    "kernelrank, 2 threads": "tab:cyan",
    "scikit-survival rbtree": "tab:red",
    "scikit-survival avltree": "tab:orange",
    "LinearSVC on pairs": "tab:green",
    "dlib": "tab:purple",
}


def plot_scaling(records: Records, work: Workload, path: Path) -> Path:
    """Draw a panel per loss, with the unit u for comparison."""
    with new_figure(path, (9, 3.8)) as figure:
        panels = figure.subplots(1, 2, sharex=True, sharey=True)
        for axes, loss in zip(panels, ("hinge", "squared_hinge"), strict=True):
            _panel(axes, records, work.name, loss)
            axes.set(title=f"{work.title}, {loss.replace('_', ' ')}", xlabel="rows")
        panels[0].set_ylabel("seconds to fit")
        add_legend(figure, ncols=6)
    return path


def _panel(axes: Axes, records: Records, workload: str, loss: str) -> None:
    measured = [r for r in records.all if (r["workload"], r["loss"]) == (workload, loss)]
    lines: dict[str, list[tuple[int, float]]] = {}
    for r in measured:
        name = r["competitor"] if r["n_threads"] == 1 else f"{r['competitor']}, {r['n_threads']} threads"
        lines.setdefault(name, []).append((r["n_rows"], r["seconds"]))
        if name == "kernelrank":
            lines.setdefault("u", []).append((r["n_rows"], r["u"]))
    for name, points in lines.items():
        style = {"color": "0.5", "ls": "--"} if name == "u" else {"color": _COLOURS.get(name), "marker": "o", "ms": 4}
        axes.loglog(*zip(*sorted(points), strict=True), label=name, **style)
    axes.grid(alpha=0.3)
