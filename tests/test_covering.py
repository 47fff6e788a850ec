"""Covering arrays leave out combinations, but no pair of values."""

import os
import subprocess
import sys
from itertools import combinations, product
from pathlib import Path

import pytest
from covering import covering_array


def full(*levels):
    return [dict(zip("abcdef", row, strict=False)) for row in product(*map(range, levels))]


def combined(rows, strength):
    return {each for row in rows for each in combinations(sorted(row.items()), strength)}


@pytest.mark.parametrize("levels", [(2, 2, 2), (5, 4, 4, 2, 2), (1, 3, 1), (4,), (3, 2), (6, 5, 2, 2, 2)], ids=str)
@pytest.mark.parametrize("strength", [1, 2, 3])
def test_nothing_is_missing(levels, strength):
    rows = full(*levels)
    chosen = [rows[k] for k in covering_array(rows, strength)]
    for size in range(1, min(strength, len(levels)) + 1):
        assert combined(chosen, size) == combined(rows, size)
    assert len(covering_array(chosen, strength)) == len(chosen)


def test_few_are_enough():
    assert len(covering_array(full(2, 2, 2))) == 4
    assert len(covering_array(full(3, 3, 3, 3))) <= 12  # 9 are possible
    assert len(covering_array(full(5, 4, 4, 2, 2))) <= 24  # of 320; 20 are possible


def test_rows_that_exist_are_covered():
    rows = [row for row in full(3, 3, 3) if row["a"] <= row["b"]]
    assert combined([rows[k] for k in covering_array(rows)], 2) == combined(rows, 2)
    assert covering_array([]) == []
    assert covering_array([{"a": 1}, {"a": 1}, {"a": 2}]) == [0, 2]


TESTS = """
import pytest

@pytest.fixture(params=[0, 1])
def seed(request):
    return request.param

@pytest.mark.pairwise
@pytest.mark.parametrize("a", [1, 2, 3])
@pytest.mark.parametrize(("b", "c"), [(1, 1), (2, 2)])
def test_some(seed, a, b, c):
    pass

@pytest.mark.pairwise(each=["seed"])
@pytest.mark.parametrize("a", [1, 2, 3])
@pytest.mark.parametrize("b", [1, 2])
def test_some_of_each(seed, a, b):
    pass

@pytest.mark.pairwise
@pytest.mark.parametrize("a", [1, 2, 3])
@pytest.mark.parametrize(("b", "c"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_levels_of_two_names(seed, a, b, c):
    pass

@pytest.mark.parametrize("a", [1, 2, 3])
@pytest.mark.parametrize("b", [1, 2])
def test_all(seed, a, b):
    pass

@pytest.mark.pairwise
def test_alone():
    pass
"""


def test_marked_tests_are_reduced(tmp_path):
    (tmp_path / "test_marked.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from covering import Covering\n"
        "def pytest_configure(config): config.pluginmanager.register(Covering())\n"
    )
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        "/dev/null",
        "--rootdir",
        tmp_path,
        "--collect-only",
        "-q",
        tmp_path,
    ]
    output = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment).stdout
    counts = {
        name: output.count(f"::{name}[")
        for name in ("test_some", "test_some_of_each", "test_levels_of_two_names", "test_all")
    }
    assert counts == {"test_some": 6, "test_some_of_each": 12, "test_levels_of_two_names": 12, "test_all": 12}, output
    assert "test_alone" in output
