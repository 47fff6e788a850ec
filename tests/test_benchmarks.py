"""The benchmarks run, at sizes that say nothing about speed."""

import numpy as np
import pytest


def test_tables_are_read_as_they_were_written(load):
    harness = load("benchmarks.harness")
    first = harness.table(["who", "ours", "ours"], [["a b", "1,234", ""], ["c", "0.5 ± 0.1", "-1e-03"]])
    text = f"# Title\n\n{first}\n\ntext\n\n{first}\n\n## Other\n\n{harness.table(['x'], [['1']])}\n"
    found = harness.read_tables(text)
    assert list(found) == ["Title", "Other"]
    one, again = found["Title"]
    assert (
        one
        == again
        == [
            {"who": "a b", "ours": "1,234", "ours (2)": ""},
            {"who": "c", "ours": "0.5 ± 0.1", "ours (2)": "-1e-03"},
        ]
    )
    np.testing.assert_array_equal(one.column("ours"), [1234, 0.5])
    np.testing.assert_array_equal(one.column("ours (2)"), [np.nan, -0.001])
    assert one.value("c", "ours") == 0.5
    assert one.select(who="c") == one[1:]
    with pytest.raises(KeyError, match="no row 'd'"):
        one.row("d")


def test_bars(load):
    Bar = load("benchmarks.harness").Bar
    assert [Bar("x", value, 2).verdict for value in (1.0, 2.0, 3.0, None)] == ["met", "met", "NOT met", "not measured"]
    assert [Bar("x", value, 2, at_least=True).verdict for value in (1.0, 2.0, 3.0)] == ["NOT met", "met", "met"]
    assert str(Bar("passes", 3.14159, 2)) == "NOT met  passes: 3.14 (bar: ≤ 2)"


def test_a_file_that_is_not_there(load, monkeypatch, tmp_path):
    harness = load("benchmarks.harness")
    monkeypatch.setenv("KERNELRANK_DATA", str(tmp_path))
    with pytest.raises(harness.MissingDataError, match=r"needs a/b\.npz, which is not in the folder"):
        harness.data_file("a/b.npz")
    (tmp_path / "b.npz").touch()
    assert harness.data_file("b.npz") == tmp_path / "b.npz"


def test_counting(run, tables):
    output = run("benchmarks.counting", "--quick")
    [rows] = tables(output).values()
    heading = list(rows[0])
    assert heading[:5] == ["workload", "rows", "argsort ms", "risk ms", "risk"]
    assert heading[5:] == ["auto", "tree", "levels", "rbtree", "pairs", "of random"]
    names = [row["workload"] for row in rows]
    assert {"distinct", "2 levels", "5 levels", "queries of 50", "sorted", "organ pipe", "large"} <= set(names)
    by_name = {row["workload"]: row for row in rows}
    assert by_name["distinct"]["levels"] == ""
    assert all(by_name["5 levels"].values())
    assert all(float(row["risk"]) > 0 for row in rows)
    verdicts = [line for line in output.splitlines() if line.strip().startswith(("met", "NOT met"))]
    assert len(verdicts) >= 9
    assert "memory: " in output


def test_training(run, tables):
    output = run("benchmarks.training", "--quick")
    [rows] = tables(output).values()
    heading = list(rows[0])
    assert {"iterations", "products", "passes", "gap", "test error", "Python %"} <= set(heading)
    assert [(row["workload"], row["line search"]) for row in rows] == [
        (name, line_search) for name in ("dense", "text-like") for line_search in ("yes", "no")
    ]
    for found in rows:
        assert -1e-12 <= float(found["gap"]) <= 1e-3
        assert float(found["test error"]) < 0.5
        shares = [float(found[name]) for name in ("products %", "counting %", "QP %", "Python %")]
        assert min(shares) >= 0
        assert sum(shares) == pytest.approx(100, abs=0.5)
    for name, file in (
        ("California housing", "regression/california_housing.csv.gz"),
        ("20 newsgroups", "text/news20_counts.npz"),
    ):
        assert f"{name} is left out: it needs {file}" in output
    assert "Python overhead at" in output


def test_path(run, tables):
    output = run("benchmarks.path", "--quick")
    [rows] = tables(output).values()
    heading = list(rows[0])
    assert {"workload", "loss", "products", "x products", "x seconds", "worst gap"} <= set(heading)
    assert [(row["workload"], row["loss"]) for row in rows] == [
        (name, loss) for name in ("dense", "text-like") for loss in ("hinge", "squared hinge")
    ]
    for found in rows:
        assert float(found["x products"]) > 0
        if found["loss"] == "hinge":
            assert -1e-12 <= float(found["worst gap"]) <= 1e-3
    assert output.count("of a path, divided by those of a fit") == 4


def test_reading(run, tables):
    output = run("benchmarks.reading", "--quick")
    [rows] = tables(output).values()
    heading = list(rows[0])
    assert {"1 thread", "2 threads", "scikit-learn", "ratio", "x arrays"} <= set(heading)
    assert [row["file"] for row in rows] == ["LETOR-like", "text-like"]
    for found in rows:
        assert float(found["ratio"]) > 0
        assert float(found["1 thread"]) > 0
    assert output.count("times as fast as scikit-learn") == 2


def test_metrics(run, tables):
    output = run("benchmarks.metrics", "--quick")
    [rows] = tables(output).values()
    heading = list(rows[0])
    assert heading[:3] == ["metric", "one query", "queries"]
    assert {"ndcg", "err", "auc_interval", "kendall_tau"} <= {row["metric"] for row in rows}
    assert all(float(row["one query"]) > 0 and float(row["queries"]) > 0 for row in rows)
    assert output.count("sorts of the slowest") == len(heading) - 1
