"""The table of apartments that the package ships."""

import csv
import runpy
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from kernelrank.datasets import apartments_path, load_apartments
from kernelrank.io import _tables

NUMBERS = ("area", "rooms", "floor", "built", "rent")


@pytest.fixture(scope="module")
def lines():
    with open(apartments_path(), newline="") as file:
        return list(csv.DictReader(file))


def test_the_file_is_the_one_that_the_script_writes():
    script = runpy.run_path(str(Path(__file__).with_name("make_apartments.py")))
    assert apartments_path().read_bytes() == script["make"]().encode()


def test_the_file_is_small():
    assert apartments_path().stat().st_size < 60_000


@pytest.mark.parametrize("backend", ["polars", "pandas"])
def test_the_table_is_that_of_the_file(lines, backend, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    X, y, qid = load_apartments()
    assert type(X).__module__.startswith(backend)
    assert list(X.columns) == [name for name in lines[0] if name not in ("search", "grade")]
    np.testing.assert_array_equal(y, [float(line["grade"]) for line in lines])
    assert y.dtype == np.float64
    assert qid.tolist() == [line["search"] for line in lines]
    for name in NUMBERS:
        expected = [float(line[name]) if line[name] else np.nan for line in lines]
        np.testing.assert_array_equal(np.asarray(X[name].to_numpy(), dtype=float), expected)
    assert list(X["furnished"]) == [line["furnished"] == "true" for line in lines]
    assert list(X["description"]) == [line["description"] for line in lines]


def test_what_the_documentation_says_of_it(lines):
    assert len(lines) == 972
    assert len({line["search"] for line in lines}) == 100
    counts = sorted(Counter(line["district"] for line in lines).values())
    assert len(counts) == 12
    assert counts[2] < 10 < 40 < counts[3]
    assert [name for name in lines[0] if any(line[name] == "" for line in lines)] == ["area", "floor", "built"]
    assert {line["grade"] for line in lines} == set("0123")
    assert {len(line["description"].split(", ")) for line in lines} == {1, 2, 3}


def test_searches_have_levels_of_their_own(lines):
    """Rents vary more between searches than within them, so that the query column is needed."""
    rents = np.log([float(line["rent"]) for line in lines])
    searches = np.unique([line["search"] for line in lines], return_inverse=True)[1]
    means = np.bincount(searches, rents) / np.bincount(searches)
    assert np.var(means) > np.var(rents - means[searches])
