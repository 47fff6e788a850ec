"""Query ids on the command line are compared as they are written in the file."""

import numpy as np
import pytest

IDS = ["01", "1", "001", "1.10", "1.1", "1e5", "100000", "12345678901234567890"]


def write_table(path, ids, rng):
    """Write a table with three rows per query."""
    rows = [f"{each},{rng.normal()!r},{grade}\n" for each in ids for grade in range(3)]
    path.write_text("query,a,y\n" + "".join(rows))
    return path


def write_svmlight(path, ids, rng):
    path.write_text("".join(f"{grade} qid:{each} 1:{rng.normal()!r}\n" for each in ids for grade in range(3)))
    return path


@pytest.mark.parametrize("kind", ["table", "svmlight"])
@pytest.mark.parametrize("ids", [IDS, ["18219", "1000000", "7"]], ids=["texts", "numbers"])
def test_ids_are_told_apart_and_shown_as_written(shell, tmp_path, rng, kind, ids):
    write = write_table if kind == "table" else write_svmlight
    path = write(tmp_path / "data.csv", ids, rng)
    options = ["--target", "y", "--qid", "query"] if kind == "table" else ["--format", "svmlight"]
    trained = shell("train", path, "-o", tmp_path / "m", "--json", *options).json
    assert trained["n_queries"] == len(ids)
    assert trained["n_pairs"] == 3 * len(ids)
    arguments = ["evaluate", path, "-m", tmp_path / "m", "--per-query", *options]
    found = [row["qid"] for row in shell(*arguments, "--json").json["per_query"]]
    assert found == (ids if ids == IDS else list(map(int, ids)))
    shown = shell(*arguments).out.splitlines()
    assert [line.split()[0] for line in shown[-len(ids) :]] == ids


def test_a_table_without_rows(shell, tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("qid,a,y\n")
    shell("train", path, "--target", "y", "-o", tmp_path / "m").assert_refused("empty.csv: there are no rows.")
    scores = tmp_path / "scores"
    np.savetxt(scores, [])
    shell("evaluate", path, "--target", "y", "-s", scores).assert_refused("empty.csv: there are no rows.")
