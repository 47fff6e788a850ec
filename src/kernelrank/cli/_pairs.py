"""Files of preferences: a winner and a loser per line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank.cli._columns import read_column, without_columns
from kernelrank.cli._data import Data, read_data
from kernelrank.cli._targets import read_lines_of_csv
from kernelrank.io._files import open_for_reading

_ROWS, _NUMBERS = ("winner", "loser"), ("weight", "magnitude")
PAIR_ACCURACY = "pair-accuracy"
_MOST_DIGITS = 40
_HEADING = "winner,loser[,weight][,magnitude]"


class Preferences(NamedTuple):
    """Pairs of rows, the winner first, with their weights and magnitudes, if there are any."""

    pairs: NDArray[np.intp]
    weight: NDArray[np.float64] | None = None
    magnitude: NDArray[np.float64] | None = None


def read_preferences(args: argparse.Namespace, model: Any = None) -> tuple[Data, Preferences]:
    """Read the data file of a command, without utilities, and the preferences between its rows."""
    if args.target is not None:
        raise ValueError("--target cannot be used with --pairs, which take the place of utilities.")
    for option in ("weight", "observed"):
        if getattr(args, option) is not None:
            raise ValueError(f"--{option} is for utilities; with --pairs, the file of the pairs may have weights.")
    ids = None if args.id is None else read_column(args, "id")
    data = read_data(args if args.id is None else without_columns(args, args.id), model, target=False)
    return data, read_pairs(args.pairs, data, args.data, ids)


def refuse_ids(args: argparse.Namespace) -> None:
    """Raise an error if ids of rows are given, but no preferences that refer to them."""
    if args.id is not None and args.pairs is None:
        raise ValueError("--id is for --pairs, whose file has the ids.")


def read_pairs(path: str, data: Data, name: str, ids: NDArray[Any] | None = None) -> Preferences:
    """Read preferences between the rows of a data file: their numbers, from 1, or ids.

    Raises
    ------
    ValueError
        If a line is damaged, refers to a row that does not exist, or compares a row with itself or with one of another
        query; the message starts with the file and the line.
    """
    rows = _RowNumbers(data.n_rows, name, ids)
    pairs: list[tuple[int, int]] = []
    numbers: dict[str, list[float]] = {}
    for line, given in _read_lines(path):
        try:
            winner, loser = (rows.find(given.pop(each)) for each in _ROWS)
            if winner == loser:
                raise ValueError("a row is compared with itself")
            if data.qid is not None and data.qid[winner] != data.qid[loser]:
                raise ValueError(f"rows of the queries {data.qid[winner]} and {data.qid[loser]} are compared")
            for column, text in given.items():
                numbers.setdefault(column, []).append(_positive(column, text))
        except ValueError as error:
            raise ValueError(f"{path}:{line}: {error}.") from None
        pairs.append((winner, loser))
    if not pairs:
        raise ValueError(f"{path}: there are no pairs.")
    return Preferences(np.array(pairs), **{column: np.array(values) for column, values in numbers.items()})


class _RowNumbers:
    """Numbers of the rows of a data file, from 0, by their ids or their numbers from 1."""

    def __init__(self, n_rows: int, name: str, ids: NDArray[Any] | None) -> None:
        self._n_rows, self._name = n_rows, name
        self._of_id: dict[str, int] | None = None if ids is None else {}
        for row, each in enumerate([] if ids is None else ids.tolist()):
            if self._of_id is not None and self._of_id.setdefault(str(each), row) != row:
                first = self._of_id[str(each)] + 1
                raise ValueError(f"{name}: rows {first} and {row + 1} have the same id, {each}; ids must be unique.")

    def find(self, text: str) -> int:
        """Return the number of a row."""
        if self._of_id is not None:
            if text not in self._of_id:
                raise ValueError(f"{self._name} has no row with the id {text!r}")
            return self._of_id[text]
        if not (text.isdecimal() and len(text) < _MOST_DIGITS and 1 <= int(text) <= self._n_rows):
            found = repr(text[:_MOST_DIGITS])
            raise ValueError(f"expected the number of a row of {self._name}, from 1 to {self._n_rows}, got {found}")
        return int(text) - 1


def _read_lines(path: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number and the fields of each line; a comma in the first line tells CSV from two columns."""
    with open_for_reading(path) as file:
        text = file.read().decode(errors="replace").removeprefix("\ufeff")
    first = text.partition("\n")[0]
    yield from _read_csv(path, text) if "," in first else _read_columns(path, text)


def _read_csv(path: str, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    lines = read_lines_of_csv(path, text)
    heading = [name.strip() for name in next(lines)[1]]
    if not set(_ROWS) <= set(heading) or len(set(heading)) < len(heading) or set(heading) - {*_ROWS, *_NUMBERS}:
        raise ValueError(f"{path}:1: expected a header {_HEADING}, got {','.join(heading)[:60]!r}.")
    for number, fields in lines:
        if len(fields) not in (0, len(heading)):
            raise ValueError(f"{path}:{number}: expected {len(heading)} fields, got {len(fields)}.")
        if fields:
            yield number, dict(zip(heading, map(str.strip, fields), strict=True))


def _read_columns(path: str, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if len(fields) not in (0, 2):
            raise ValueError(
                f"{path}:{number}: expected a winner and a loser, separated by a space, got {line[:40]!r}; a CSV file"
                f" starts with a header {_HEADING}."
            )
        if fields:
            yield number, dict(zip(_ROWS, fields, strict=True))


def _positive(column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not (0 <= value < np.inf) or (column == "magnitude" and value == 0):
        sign = "positive" if column == "magnitude" else "non-negative"
        raise ValueError(f"{column} must be a {sign} number, got {text!r}")
    return value
