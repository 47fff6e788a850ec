"""The result of an explanation: a table of contributions, and a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank._notebook import ShowsResult

_SHOWN = 10  # lines of a printed table
_NAMED = 2  # contributions in each part of the sentence


@dataclass(frozen=True)
class Explanation(ShowsResult):
    """Contributions that sum to the difference of two scores, up to rounding.

    It is returned by :func:`~kernelrank.inspection.explain`.

    Attributes
    ----------
    difference : float
        Score of row a minus that of row b.
    scores : (float, float)
        Scores of rows a and b.
    by : {"features", "basis", "rows", "pairs"}
        Kind of the contributions.
    table : structured ndarray
        One element per contribution that is not zero, the largest absolute values first. All have a field
        ``contribution``. The others are, for features, ``feature`` and its values ``a`` and ``b`` in the two rows
        (None where several columns were made of a feature, and the feature itself is not a column of the input). For
        the basis: ``row``, its kernel values ``a`` and ``b`` with the two rows, and its ``weight``. For rows: ``row``,
        ``target`` relative to the mean of its query, and ``influence``, the derivative of the difference with respect
        to the target. For pairs: ``winner``, ``loser``, ``target`` and ``influence``. ``pandas.DataFrame(table)``
        converts it.
    """

    difference: float
    scores: tuple[float, float]
    by: str
    table: NDArray[Any] = field(repr=False)

    @property
    def contributions(self) -> NDArray[np.float64]:
        """The contributions, the largest absolute values first."""
        return np.asarray(self.table["contribution"])

    @property
    def names(self) -> list[str]:
        """The name of each contribution, such as "rooms", "row 3" or "row 3 over row 5"."""
        return self._name(self.table)

    @property
    def sentence(self) -> str:
        """The largest contributions in words."""
        if self.difference == 0:
            start, sign = "a and b have the same score", 1.0
        else:
            side = "above" if self.difference > 0 else "below"
            start, sign = f"a is {side} b by {abs(self.difference):.3g}", np.sign(self.difference)
        parts = [
            f"{words} {', '.join(named)}"
            for words, wanted in (("mostly", sign), ("against it", -sign))
            if (named := self._largest(wanted))
        ]
        return f"{start}: {', '.join(parts)}." if parts else f"{start}: nothing contributes to a difference."

    def _largest(self, sign: float) -> list[str]:
        """Return the largest contributions of one sign in words."""
        places = np.flatnonzero(self.contributions * sign > 0)[:_NAMED]
        chosen = self.table[places]
        return [
            f"{name} ({value:+.3g})" for name, value in zip(self._name(chosen), chosen["contribution"], strict=True)
        ]

    def _name(self, lines: NDArray[Any]) -> list[str]:
        """Return the names of some lines of the table."""
        if self.by == "features":
            return [str(each) for each in lines["feature"]]
        if self.by == "pairs":
            return [
                f"row {winner} over row {loser}" for winner, loser in zip(lines["winner"], lines["loser"], strict=True)
            ]
        return [f"row {row}" for row in lines["row"]]

    def _lines(self) -> tuple[list[str], list[tuple[str, float, list[str]]]]:
        """Return the names of further columns, and lines: a name, a contribution, and its values in these columns."""
        columns = [name for name in self.table.dtype.names or () if name not in ("contribution", "feature", "row")]
        columns = [name for name in columns if name not in ("winner", "loser")]
        shown = self.table[:_SHOWN]
        lines = [
            (name, float(row["contribution"]), [_show(row[column]) for column in columns])
            for name, row in zip(self._name(shown), shown, strict=True)
        ]
        if len(self.table) > _SHOWN:
            others = self.contributions[_SHOWN:]
            lines.append((f"{len(others):,} others", float(others.sum()), [""] * len(columns)))
        return columns, lines

    def _html(self) -> list[Any]:
        from kernelrank.inspection._notebook import show_explanation

        return show_explanation(self)

    def __str__(self) -> str:
        columns, found = self._lines()
        if not found:
            return self.sentence
        lines = [["", "contribution", *columns], *([name, f"{value:+.3g}", *rest] for name, value, rest in found)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = (
            "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))])
            for line in lines
        )
        return "\n".join([self.sentence, *(row.rstrip() for row in rows)])


def sort_contributions(by: str, difference: float, scores: tuple[float, float], fields: dict[str, Any]) -> Explanation:
    """Return an explanation with the largest contributions first, and without those that are zero."""
    contributions = np.asarray(fields["contribution"], dtype=np.float64)
    order = np.argsort(-np.abs(contributions), kind="stable")
    order = order[contributions[order] != 0]
    columns = {name: _as_column(values) for name, values in fields.items()}
    table = np.empty(len(order), dtype=[(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        table[name] = values[order]
    table.flags.writeable = False
    return Explanation(difference, scores, by, table)


def _as_column(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ndarray):
        return values
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _show(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
