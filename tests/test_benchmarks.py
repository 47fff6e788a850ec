"""The benchmarks run, at sizes that say nothing about speed."""

import pytest


def cells(output):
    """Lines of the table, each a list of cells."""
    lines = [line for line in output.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_counting(run):
    output = run("benchmarks.counting", "--quick")
    heading, _, *rows = cells(output)
    assert heading[:5] == ["workload", "rows", "argsort ms", "risk ms", "risk"]
    assert heading[5:] == ["auto", "tree", "levels", "rbtree", "pairs", "of random"]
    names = [row[0] for row in rows]
    assert {"distinct", "2 levels", "5 levels", "queries of 50", "sorted", "organ pipe", "large"} <= set(names)
    by_name = {row[0]: dict(zip(heading, row, strict=True)) for row in rows}
    assert by_name["distinct"]["levels"] == ""
    assert all(by_name["5 levels"].values())
    assert all(float(row[4]) > 0 for row in rows)
    verdicts = [line for line in output.splitlines() if line.strip().startswith(("met", "NOT met"))]
    assert len(verdicts) >= 9
    assert "memory: " in output


def test_training(run):
    output = run("benchmarks.training", "--quick")
    heading, _, *rows = cells(output)
    assert {"iterations", "products", "passes", "gap", "test error", "Python %"} <= set(heading)
    assert [(row[0], row[2]) for row in rows] == [
        (name, line_search) for name in ("dense", "text-like") for line_search in ("yes", "no")
    ]
    for row in rows:
        found = dict(zip(heading, row, strict=True))
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


def test_path(run):
    output = run("benchmarks.path", "--quick")
    heading, _, *rows = cells(output)
    assert {"workload", "loss", "products", "x products", "x seconds", "worst gap"} <= set(heading)
    assert [(row[0], row[1]) for row in rows] == [
        (name, loss) for name in ("dense", "text-like") for loss in ("hinge", "squared hinge")
    ]
    for row in rows:
        found = dict(zip(heading, row, strict=True))
        assert float(found["x products"]) > 0
        if found["loss"] == "hinge":
            assert -1e-12 <= float(found["worst gap"]) <= 1e-3
    assert output.count("a path costs at most") == 4


def test_reading(run):
    output = run("benchmarks.reading", "--quick")
    heading, _, *rows = cells(output)
    assert {"1 thread", "2 threads", "scikit-learn", "ratio", "x arrays"} <= set(heading)
    assert [row[0] for row in rows] == ["LETOR-like", "text-like"]
    for row in rows:
        found = dict(zip(heading, row, strict=True))
        assert float(found["ratio"]) > 0
        assert float(found["1 thread"]) > 0
    assert output.count("times as fast as scikit-learn") == 2


def test_metrics(run):
    output = run("benchmarks.metrics", "--quick")
    heading, _, *rows = cells(output)
    assert heading[:3] == ["metric", "one query", "queries"]
    assert {"ndcg", "err", "auc_interval", "kendall_tau"} <= {row[0] for row in rows}
    assert all(float(row[1]) > 0 and float(row[2]) > 0 for row in rows)
    assert output.count("the slowest is") == len(heading) - 1
