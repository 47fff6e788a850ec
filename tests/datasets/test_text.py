"""Tables of numbers, beside a reader that takes them apart cell by cell."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kernelrank.datasets._text import read_numbers
from kernelrank.exceptions import DataFormatError

FIELDS = {"user": int, "item": int, "rating": float}
CELLS = st.sampled_from(
    [
        "1",
        "2",
        "-3",
        "+4",
        "05",
        "1.5",
        "0.5",
        "1e3",
        "nan",
        "inf",
        "",
        " ",
        " 7 ",
        "x",
        "1_0",
        "0x1",
        '"1"',
        "#",
        "9" * 30,
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\n\n"])


def naive(text, separator):
    """Return the rows, or the number of the first line that is not three numbers."""
    rows = []
    for number, line in enumerate(re.split("\r\n|\n", text), 1):
        if line:
            cells = line.split(separator)
            try:
                row = tuple(kind(cell) for cell, kind in zip(cells, FIELDS.values(), strict=True))
            except ValueError:
                return number
            if not math.isfinite(row[2]) or max(abs(row[0]), abs(row[1])) >= 2**63 or set("_\r") & set(line):
                return number
            rows.append(row)
    return rows


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("text") / "ratings"


@pytest.mark.parametrize("separator", [",", "\t", "::"])
@given(
    lines=st.lists(st.tuples(st.lists(CELLS, min_size=3, max_size=3) | st.lists(CELLS, max_size=5), ENDS), max_size=4)
)
@example(lines=[(["1", "2", "3"], "\n\n"), (["1", "2", "nan"], "\n")])
def test_numbers_are_read_or_the_line_is_told(path, separator, lines):
    text = "".join(separator.join(cells) + end for cells, end in lines)
    Path(path).write_bytes(text.encode())
    expected = naive(text, separator)
    if isinstance(expected, list) and expected:
        rows, where = read_numbers(path, separator, FIELDS)
        assert rows.tolist() == expected
        assert re.fullmatch(rf"{path}:\d+", where(len(rows) - 1))
    else:
        with pytest.raises(DataFormatError) as raised:
            read_numbers(path, separator, FIELDS)
        if not expected:
            assert str(raised.value) == f"{path}: there are no rows."
        else:
            line = re.match(rf"{path}:(\d+): ", str(raised.value))
            assert line is not None, str(raised.value)
            told = re.split("\r\n|\n", text)[int(line[1]) - 1]
            assert naive(f"{told}\nx", separator) == 1
