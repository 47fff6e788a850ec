"""Tables of text in the formats of public sets, with errors that name the line."""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank._rules import show
from kernelrank.exceptions import DataFormatError
from kernelrank.io._files import open_for_reading

Fields = Mapping[str, type]
_ROW = re.compile(rb"[^\r\n]")
_KINDS = {int: "an integer", float: "a number"}


def read_numbers(
    path: Path, separator: str, fields: Fields, *, has_header: bool = False
) -> tuple[NDArray[Any], Callable[[int], str]]:
    """Read lines of numbers, of which none may be missing, NaN or infinite.

    Return a structured array, and a function from the index of a row to ``file:line``.
    """
    content = _read(path)
    mark = separator
    if len(separator) > 1:  # NumPy's compiled reader takes separators of one character
        mark = "\x1f"  # which is not in numbers
        content = content.replace(separator.encode(), mark.encode())

    def where(row: int) -> str:
        return f"{path}:{next(number for k, (number, _) in enumerate(_rows(content, has_header)) if k == row)}"

    if has_header:
        header = content.partition(b"\n")[0].rstrip(b"\r").decode("utf-8", "replace")
        if header.split(separator) != list(fields):
            raise DataFormatError(f"{path}:1: expected the header {separator.join(fields)}, got {show(header)}.")
    if not _ROW.search(content, content.find(b"\n") + 1 if has_header else 0):
        raise DataFormatError(f"{path}: there are no rows.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # 1.5 in a field of integers
            numbers = np.loadtxt(
                io.BytesIO(content),
                dtype=list(fields.items()),
                comments=None,
                delimiter=mark,
                skiprows=int(has_header),
                ndmin=1,
                encoding="latin-1",
            )
    except (ValueError, DeprecationWarning) as error:
        raise _defect(path, content, mark, separator, fields, has_header) or DataFormatError(
            f"{path}: {error}"
        ) from None
    for name, kind in fields.items():
        if kind is float and not np.isfinite(numbers[name]).all():
            row = int(np.argmin(np.isfinite(numbers[name])))
            raise DataFormatError(f"{where(row)}: {name} must be a finite number, got {numbers[name][row]}.")
    return numbers, where


def read_texts(path: Path, separator: str, n_fields: int, *, header: str | None = None) -> list[tuple[int, list[str]]]:
    """Read lines of text, split at separators; a comma separates as in CSV files. Return them with line numbers."""
    content = _read(path)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # the older sets of MovieLens
    if separator == ",":
        reader = csv.reader(io.StringIO(text, newline=""))
        try:
            found = [(reader.line_num, cells) for cells in reader if cells]
        except csv.Error as error:  # such as a quote that is not closed
            raise DataFormatError(f"{path}:{reader.line_num}: {error}.") from None
    else:
        lines = text.split("\n")  # not at the other line ends of Unicode, which titles may hold
        found = [(number, line.rstrip("\r").split(separator)) for number, line in enumerate(lines, 1) if line.strip()]
    if header is not None:
        if not found or found[0][1] != header.split(separator):
            raise DataFormatError(f"{path}:1: expected the header {header}.")
        found = found[1:]
    for number, cells in found:
        if len(cells) != n_fields:
            raise DataFormatError(
                f'{path}:{number}: expected {n_fields} fields separated by "{separator}", got {len(cells)}.'
            )
    return found


def _read(path: Path) -> bytes:
    """Return the content of a file, decompressed, without a byte-order mark."""
    with open_for_reading(path) as file:
        return bytes(file.read()).removeprefix(codecs.BOM_UTF8)


def _rows(content: bytes, has_header: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the rows with their line numbers; empty lines are none."""
    for number, line in enumerate(io.BytesIO(content), 1):
        row = line.removesuffix(b"\n").removesuffix(b"\r")
        if row and not (has_header and number == 1):
            yield number, row


def _defect(
    path: Path, content: bytes, mark: str, separator: str, fields: Fields, has_header: bool
) -> DataFormatError | None:
    """Return an error for the first line with a wrong number of fields, or with a wrong one."""
    for number, row in _rows(content, has_header):
        cells = row.decode("latin-1").split(mark)
        if len(cells) != len(fields):
            shown = "a tab" if separator == "\t" else f'"{separator}"'
            return DataFormatError(
                f"{path}:{number}: expected {len(fields)} fields separated by {shown}, got {len(cells)}."
            )
        for cell, (name, kind) in zip(cells, fields.items(), strict=True):
            if not _is_number(cell, kind):
                return DataFormatError(f"{path}:{number}: {name} must be {_KINDS[kind]}, got {show(cell)}.")
    return None


def _is_number(cell: str, kind: type) -> bool:
    """Return whether NumPy's reader accepts a cell; Python accepts underscores and longer integers, too."""
    if kind is int:
        return bool(re.fullmatch(r"[ \t]*[+-]?0*[0-9]{1,18}[ \t]*", cell))
    try:
        float(cell)
    except ValueError:
        return False
    return not set(cell) & {"_", "\r"}
