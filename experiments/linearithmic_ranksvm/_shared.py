"""What the parts share: where rows come from, exponents, figures, a process of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from matplotlib.figure import Figure

from benchmarks import data
from benchmarks._timing import show_progress
from benchmarks.peers.workloads import WORKLOADS, Rows, Split, load, prepare

SIZES = {
    "housing": (1_000, 2_000, 4_000, 8_000, 16_000),
    "text": (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000),
}
TITLES = {"housing": "California housing", "text": "Text-like"}
ALPHAS = {name: WORKLOADS[name].alpha for name in SIZES}  # those of the paper
LARGEST = 4  # sizes that exponents are fitted to

Found = dict[str, Any]
Point = tuple[float, float]
T = TypeVar("T")


@dataclass(frozen=True)
class Study:
    """Sizes that mean something or not, and where rows are kept that take a while to make."""

    quick: bool
    cache: Path

    def sizes(self, name: str) -> tuple[int, ...]:
        """Return how many rows to train on, in turn."""
        return WORKLOADS[name].quick_sizes if self.quick else SIZES[name]

    def folder(self, name: str) -> Path:
        """Return where the rows are; they are made if they are not there."""
        return prepare(WORKLOADS[name], self.cache, self.quick)

    def rows(self, name: str, n_rows: int | None = None) -> Split:
        """Return the first rows to train on, and all to test on."""
        return load(self.folder(name), n_rows)

    def workloads(self, left_out: list[str]) -> Iterator[str]:
        """Names of the workloads whose data are there; `left_out` gets a line for each of the others."""
        for name in SIZES:
            show_progress(f"rows: {name}")
            try:
                self.folder(name)
            except data.MissingDataError as reason:
                left_out.append(f"{TITLES[name]} is left out: it {reason}.")
            else:
                yield name


def exponent(points: Sequence[Point]) -> float | None:
    """Slope of log seconds over log rows, at the largest sizes; None for fewer than two."""
    used = points[-LARGEST:]
    if len(used) < 2:
        return None
    return float(np.polyfit(*np.log(np.array(used).T), 1)[0])


def linearithmic_error(points: Sequence[Point]) -> float | None:
    """Greatest relative deviation of the largest sizes from the best ``a m log m``; None for fewer than two."""
    m, seconds = np.array(points[-LARGEST:]).T
    if len(m) < 2:
        return None
    ratio = np.log(seconds / (m * np.log(m)))
    return float(np.expm1(np.abs(ratio - (ratio.max() + ratio.min()) / 2).max()))


def number(value: float | None, form: str = ".3g") -> str:
    """Format a number that may be missing."""
    return "" if value is None else f"{value:{form}}"


def as_list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


class Panel(NamedTuple):
    """Lines over one pair of axes, both logarithmic unless said otherwise; a name that ends with "…" is dashed."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[Point]]
    yscale: str = "log"


def draw(panels: Sequence[Panel], path: Path) -> None:
    """Draw panels side by side, the same name in the same colour."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    colours = {name: f"C{i % 10}" for i, name in enumerate(names)}
    # Text stays text and nothing depends on the time of day, so that two versions can be compared.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "kernelrank", "font.size": 9}):
        figure = Figure(figsize=(4.5 * max(len(panels), 1.4), 4), layout="constrained")
        handles = {}
        for axes, panel in zip(np.ravel(figure.subplots(1, len(panels))), panels, strict=True):
            for name, points in panel.lines.items():
                style = {"ls": "--"} if name.endswith("…") else {"marker": "o", "ms": 3.5}
                [handles[name]] = axes.plot(*zip(*points, strict=True), color=colours[name], label=name, **style)
            axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y, xscale="log", yscale=panel.yscale)
            axes.minorticks_off()  # they would be most of the file
            axes.grid(alpha=0.3)
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, frameon=False)
        figure.savefig(path, metadata={"Date": None})


def lines_of(records: Iterable[Mapping[str, Any]], name: str, x: str, y: str) -> dict[str, list[Point]]:
    """Group records by one field, and take two others of each."""
    lines: dict[str, list[Point]] = {}
    for record in records:
        if record.get(y) is not None:
            lines.setdefault(record[name], []).append((record[x], record[y]))
    return {key: sorted(points) for key, points in lines.items()}


def alone(work: Callable[..., T], *arguments: object) -> T:
    """Do it in a new process, so that its memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def matrix_bytes(X: Any) -> int:
    """Size of the arrays of a dense or compressed matrix."""
    arrays = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)
    return sum(array.nbytes for array in arrays)


def first(rows: Any, n_rows: int) -> Rows:
    """Return the first rows of a data set to train on."""
    return Rows(rows.X[:n_rows], rows.y[:n_rows])
