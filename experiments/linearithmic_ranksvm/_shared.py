"""Workloads and their sizes, exponents, and other helpers of the parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures import Point
from benchmarks.harness import MissingDataError, show_progress
from benchmarks.peers.workloads import WORKLOADS, Rows, Split, load, prepare
from experiments.study import Run

SIZES = {
    "housing": (1_000, 2_000, 4_000, 8_000, 16_000),
    "text": (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000),
}
TITLES = {"housing": "California housing", "text": "Text-like"}
ALPHAS = {name: WORKLOADS[name].alpha for name in SIZES}  # those of the paper
LARGEST = 4  # sizes that exponents are fitted to

Found = dict[str, Any]


@dataclass(frozen=True)
class Study:
    """Rows of the workloads, at the sizes of a run; generated rows are kept in its build folder."""

    run: Run

    @property
    def quick(self) -> bool:
        """Return whether small sizes will do."""
        return self.run.quick

    def sizes(self, name: str) -> tuple[int, ...]:
        """Return the numbers of training rows."""
        return WORKLOADS[name].quick_sizes if self.quick else SIZES[name]

    def folder(self, name: str) -> Path:
        """Return the folder of the rows, which are generated if they are not there."""
        return prepare(WORKLOADS[name], self.run.build / "data", self.quick)

    def rows(self, name: str, n_rows: int | None = None) -> Split:
        """Return the first training rows and all test rows."""
        return load(self.folder(name), n_rows)

    def workloads(self, left_out: list[str]) -> Iterator[str]:
        """Yield the names of the workloads whose data are available; add a line to `left_out` for each other one."""
        for name in SIZES:
            show_progress(f"rows: {name}")
            try:
                self.folder(name)
            except MissingDataError as reason:
                left_out.append(f"{TITLES[name]} is left out: it {reason}.")
            else:
                yield name


def exponent(points: Sequence[Point]) -> float | None:
    """Return the slope of log seconds over log rows at the largest sizes; None for fewer than two."""
    used = points[-LARGEST:]
    if len(used) < 2:
        return None
    return float(np.polyfit(*np.log(np.array(used).T), 1)[0])


def linearithmic_error(points: Sequence[Point]) -> float | None:
    """Return the largest relative deviation of the largest sizes from the best ``a m log m``, or None."""
    m, seconds = np.array(points[-LARGEST:]).T
    if len(m) < 2:
        return None
    ratio = np.log(seconds / (m * np.log(m)))
    return float(np.expm1(np.abs(ratio - (ratio.max() + ratio.min()) / 2).max()))


def show(value: float | None, form: str = ".3g") -> str:
    """Format a number that may be missing; three digits would write thousands with an exponent."""
    if value is None:
        return ""
    return f"{value:,.0f}" if form == ".3g" and abs(value) >= 1000 else f"{value:{form}}"


def method(doc: str | None) -> str:
    """Return the paragraphs of a docstring after the first, which describe how a part measures."""
    return (doc or "").split("\n\n", 1)[1].strip()


def lines_of(records: Iterable[Mapping[str, Any]], name: str, x: str, y: str) -> dict[str, list[Point]]:
    """Return the points (x, y) of records by the field `name`."""
    lines: dict[str, list[Point]] = {}
    for record in records:
        if record.get(y) is not None:
            lines.setdefault(record[name], []).append((record[x], record[y]))
    return {key: sorted(points) for key, points in lines.items()}


def matrix_bytes(X: Any) -> int:
    """Return the bytes of the arrays of a dense or compressed matrix."""
    arrays = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)
    return sum(array.nbytes for array in arrays)


def first(rows: Any, n_rows: int) -> Rows:
    """Return the first training rows of a data set."""
    return Rows(rows.X[:n_rows], rows.y[:n_rows])
