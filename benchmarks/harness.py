"""Common parts of all benchmarks and studies: options, data files, tables, bars, and the machine they ran on."""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info

import kernelrank

QUICK_HELP = "small data and few repetitions, to test that everything runs; the figures mean nothing"
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


class MissingDataError(Exception):
    """A file that is needed is not in the data folder."""


def data_file(name: str) -> Path:
    """Return the path of a file in the folder that KERNELRANK_DATA names."""
    folder = os.environ.get("KERNELRANK_DATA")
    if not folder:
        raise MissingDataError(f"needs {name} in the folder that KERNELRANK_DATA names, but that is not set")
    path = Path(folder) / name
    if not path.is_file():
        raise MissingDataError(f"needs {name}, which is not in the folder that KERNELRANK_DATA names")
    return path


def make_parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with the option ``--quick``; the first line of `doc` is the description."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help=QUICK_HELP)
    return parser


def show_progress(text: str) -> None:
    """Show the current step in one line of a terminal; an empty text clears the line."""
    if sys.stderr.isatty():
        print(f"\r{text:80}\r", end="", file=sys.stderr, flush=True)


def machine() -> str:
    """Return versions, processor and load, commit and date, in three lines."""
    load = f", load average {os.getloadavg()[0]:.1f} before" if hasattr(os, "getloadavg") else ""
    blas = {f"{each['internal_api']} {each['version']}" for each in threadpool_info() if each["user_api"] == "blas"}
    found = (
        *(f"Python {platform.python_version()}", f"NumPy {np.__version__}", f"SciPy {scipy.__version__}"),
        *(f"scikit-learn {sklearn.__version__}", f"kernelrank {kernelrank.__version__}", *sorted(blas)),
    )
    return "\n".join(
        (
            ", ".join(found),
            f"{_processor()}, {os.cpu_count()} hardware threads{load}",
            f"Commit {commit()}, {date.today()}",
        )
    )


def versions(packages: Iterable[str]) -> str:
    """Return the versions of the packages that are installed, as an item of a list."""
    found = []
    for package in packages:
        with suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    return f"- {', '.join(found)}" if found else ""


def commit() -> str:
    """Return the commit of the sources, marked if tracked sources differ from it.

    For sources that were copied without their history, set the environment variable KERNELRANK_COMMIT.
    """
    if given := os.environ.get("KERNELRANK_COMMIT"):
        return given
    git = ["git", "-C", str(Path(__file__).parent)]
    try:
        found = subprocess.run([*git, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    sources = [":/*.py", ":/*.cpp", ":/*.hpp"]
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", *sources], check=False).returncode
    return found.stdout.strip() + (" with changes" if changed else "")


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


@dataclass
class Bar:
    """A number that should be at most `bar`, or at least `bar`; None if it was not measured."""

    name: str
    value: float | None
    bar: float
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """Return whether the bar was met."""
        if self.value is None:
            return "not measured"
        met = self.value >= self.bar if self.at_least else self.value <= self.bar
        return "met" if met else "NOT met"

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Return name, value, bar and verdict, as a table shows them."""
        value = "" if self.value is None else f"{self.value:.3g}"
        return self.name, value, f"{'≥' if self.at_least else '≤'} {self.bar:g}", self.verdict


def table(heading: Sequence[str], rows: Iterable[Sequence[str]], *, n_texts: int = 1) -> str:
    """Return a Markdown table whose first `n_texts` columns are aligned to the left, the others to the right."""
    lines = [list(heading), *map(list, rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * (width - (i >= n_texts)) + ":" * (i >= n_texts) for i, width in enumerate(widths)])
    return "\n".join(
        "| " + " | ".join(f"{cell:{'<' if i < n_texts else '>'}{widths[i]}}" for i, cell in enumerate(line)) + " |"
        for line in lines
    )


def bar_table(bars: Iterable[Bar]) -> str:
    """Return a table of numbers, their bars, and whether these are met."""
    return table(("what", "measured", "bar", "verdict"), (bar.cells for bar in bars))


def number(cell: str) -> float:
    """Return the first number of a cell such as ``1,234`` or ``0.986 ± 0.002``; NaN if it has none."""
    found = _NUMBER.search(cell)
    return float(found[0].replace(",", "")) if found else float("nan")


class Table(list[dict[str, str]]):
    """Rows of a Markdown table, each a dict by column; a repeated column name gets a number, ``ours (2)``."""

    def row(self, name: str) -> dict[str, str]:
        """Return the row whose first cell is `name`."""
        for row in self:
            if next(iter(row.values())) == name:
                return row
        raise KeyError(f"no row {name!r}")

    def value(self, row: str, column: str) -> float:
        """Return the first number of a cell."""
        return number(self.row(row)[column])

    def column(self, name: str) -> np.ndarray:
        """Return the first number of each cell of a column."""
        return np.array([number(row[name]) for row in self])

    def select(self, **columns: str) -> Table:
        """Return the rows with these cells."""
        return Table(row for row in self if all(row[name] == cell for name, cell in columns.items()))


def read_tables(text: str) -> dict[str, list[Table]]:
    """Return the tables of a Markdown text by the heading above them, in their order."""
    found: dict[str, list[Table]] = {}
    title, columns = "", []
    for line in text.splitlines():
        if line.startswith("#"):
            title, columns = line.strip("# "), []
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not columns:
                columns = _distinct(cells)
                found.setdefault(title, []).append(Table())
            elif not set("".join(cells)) <= set("-: "):
                found[title][-1].append(dict(zip(columns, cells, strict=True)))
        else:
            columns = []
    return found


def _distinct(names: list[str]) -> list[str]:
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct
