"""Cells of committed reports, which pages of the documentation cite.

``report("peers")`` is ``benchmarks/results/peers.md``, ``report("covtype")`` is ``experiments/covtype/results.md``, and
``report("ppi/pipeline")`` is ``experiments/ppi/results/pipeline.md``.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.harness import Table, number, read_tables
from benchmarks.reports import RESULTS

ROOT = Path(__file__).parents[1]


class Report:
    """A committed report. A table is found by the beginning of its title, a row by its first cells."""

    def __init__(self, path: Path) -> None:
        self.path, self.text = path, path.read_text()
        self._tables = read_tables(self.text)

    def tables(self, title: str, column: str = "") -> list[Table]:
        """Return all tables below titles that begin so, and that have the column."""
        found = [each for name, tables in self._tables.items() if name.startswith(title) for each in tables]
        kept = [each for each in found if not column or column in each[0]]
        if not kept:
            raise self._missing(f"table {title!r} with a column {column!r}" if column else f"table {title!r}")
        return kept

    def table(self, title: str, column: str = "") -> Table:
        """Return the first of these tables."""
        return self.tables(title, column)[0]

    def cell(self, title: str, row: str | tuple[str, ...], column: str) -> str:
        """Return a cell."""
        first = (row,) if isinstance(row, str) else row
        for each in self.table(title, column):
            if tuple(each.values())[: len(first)] == first:
                return each[column]
        raise self._missing(f"row {row!r} in the table {title!r}")

    def value(self, title: str, row: str | tuple[str, ...], column: str) -> float:
        """Return the first number of a cell."""
        found = number(self.cell(title, row, column))
        if np.isnan(found):
            raise self._missing(f"number in the row {row!r}, column {column!r} of the table {title!r}")
        return found

    def column(self, title: str, column: str) -> np.ndarray:
        """Return the numbers of a column, without empty cells."""
        found = self.table(title, column).column(column)
        return found[~np.isnan(found)]

    def find(self, pattern: str) -> tuple[str, ...]:
        """Return the groups of a pattern in the text, whose white space counts as one blank."""
        found = re.search(pattern, " ".join(self.text.split()))
        if found is None:
            raise self._missing(f"text like {pattern!r}")
        return found.groups()

    def minutes(self) -> float:
        """Return the minutes that the report took."""
        return float(self.find(r"Written by `[^`]+`, ([\d.]+) minutes")[0])

    def _missing(self, what: str) -> LookupError:
        return LookupError(f"{self.path.relative_to(ROOT)} has no {what}")


@cache
def report(name: str) -> Report:
    """Read a committed report."""
    study, _, part = name.partition("/")
    if (RESULTS / f"{name}.md").exists():
        return Report(RESULTS / f"{name}.md")
    folder = ROOT / "experiments" / study
    return Report(folder / "results" / f"{part}.md" if part else folder / "results.md")
