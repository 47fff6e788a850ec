"""The benchmarks run, at sizes that say nothing about speed; their committed reports have one shape."""

import re
import time

import numpy as np
import pytest

MODULES = {
    **{
        name: f"benchmarks.{name}"
        for name in ("counting", "training", "path", "scaling", "metrics", "reading", "tables")
    },
    "relational": "benchmarks.relational",
    "out_of_core": "benchmarks.out_of_core",
    "exports": "benchmarks.exports",
    **{
        name: f"benchmarks.peers.{name}"
        for name in ("concordance", "survival", "ndcg", "least_squares", "dask_rankers")
    },
    "peers": "benchmarks.peers.run",
}
OPTIONAL = {"rlscore": "benchmarks.peers.rlscore"}  # it needs an old version of Python


@pytest.fixture
def quick(root, run, tables):
    """Return the tables of a quick run, which leaves the committed reports as they are."""

    def quick(name):
        folder = root / "benchmarks" / "results"
        before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
        output = run(MODULES[name], "--quick")
        assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
        assert output.count("**Quick run**") == output.count(" --quick`, ") == 1
        assert re.search(r"^- Commit \w+.*, \d{4}-\d\d-\d\d$", output, re.MULTILINE)
        return output, tables(output)

    return quick


def test_every_benchmark_has_a_report(root):
    found = {path.stem for path in root.glob("benchmarks/results/*.md")}
    assert set(MODULES) <= found <= set(MODULES | OPTIONAL)


@pytest.mark.parametrize("name", MODULES | OPTIONAL)
def test_reports_have_one_shape(root, load, check_provenance, name):
    path, module = root / "benchmarks" / "results" / f"{name}.md", (MODULES | OPTIONAL)[name]
    if name in OPTIONAL and not path.exists():
        pytest.skip(f"{module} has not been run")
    title, about, *_ = path.read_text().split("\n\n")
    assert title.startswith("# ")
    assert about.startswith(f"- Written by `python -m {module}`")
    part = load("benchmarks.peers.report" if name == "peers" else module)
    assert load("experiments.study").with_readings(path.read_text(), part) == path.read_text(), "run it with --readings"
    check_provenance(about)


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
    assert Bar("passes", 3.14159, 2).cells == ("passes", "3.14", "≤ 2", "NOT met")
    assert Bar("passes", None, 2, at_least=True).cells == ("passes", "", "≥ 2", "not measured")


def test_a_file_that_is_not_there(load, monkeypatch, tmp_path):
    harness = load("benchmarks.harness")
    monkeypatch.setenv("KERNELRANK_DATA", str(tmp_path))
    with pytest.raises(harness.MissingDataError, match=r"needs a/b\.npz, which is not in the folder"):
        harness.data_file("a/b.npz")
    (tmp_path / "b.npz").touch()
    assert harness.data_file("b.npz") == tmp_path / "b.npz"


def test_counting(quick):
    _, found = quick("counting")
    rows, bars = found["One counting pass"], found["Bars"]
    heading = list(rows[0])
    assert heading[:5] == ["workload", "rows", "argsort ms", "risk ms", "risk"]
    assert heading[5:] == ["auto", "tree", "levels", "rbtree", "pairs", "of random"]
    names = [row["workload"] for row in rows]
    assert {"distinct", "2 levels", "5 levels", "queries of 50", "sorted", "organ pipe", "large"} <= set(names)
    by_name = {row["workload"]: row for row in rows}
    assert by_name["distinct"]["levels"] == ""
    assert all(by_name["5 levels"].values())
    assert all(float(row["risk"]) > 0 for row in rows)
    assert len(bars) >= 9
    assert {bar["verdict"] for bar in bars} <= {"met", "NOT met", "not measured"}
    assert bars[-1]["what"] == "memory: bytes per row"


def test_relational(quick):
    _, found = quick("relational")
    tasks = found["All entries known"]
    assert {row["model"] for row in tasks} == {"KroneckerRLS", "KroneckerRLS, ranking", "TwoStepRLS"}
    assert [row["task"] for row in tasks[:5]] == ["fit", "entry", "row", "column", "both"]
    assert tasks[4]["refits"] == "3,600"
    [steps] = found["Some entries known"]
    assert float(steps["residual"]) <= 1e-6
    assert len(found["Bars"]) == 7


def test_training(quick):
    output, found = quick("training")
    rows, [bar] = found["Training"], found["Bars"]
    heading = list(rows[0])
    assert {"iterations", "products", "passes", "gap", "test error", "Python %"} <= set(heading)
    assert [(row["workload"], row["line search"]) for row in rows] == [
        (name, line_search) for name in ("dense", "text-like") for line_search in ("yes", "no")
    ]
    for row in rows:
        assert -1e-12 <= float(row["gap"]) <= 1e-3
        assert float(row["test error"]) < 0.5
        shares = [float(row[name]) for name in ("products %", "counting %", "QP %", "Python %")]
        assert min(shares) >= 0
        assert sum(shares) == pytest.approx(100, abs=0.5)
    for name, file in (
        ("California housing", "regression/california_housing.csv.gz"),
        ("20 newsgroups", "text/news20_counts.npz"),
    ):
        assert f"{name} is left out: it needs {file}" in output
    assert bar["what"].startswith("Python overhead at")


def test_path(quick):
    _, found = quick("path")
    rows, bars = found["A path of alphas"], found["Bars"]
    heading = list(rows[0])
    assert {"workload", "loss", "products", "x products", "x seconds", "worst gap"} <= set(heading)
    assert [(row["workload"], row["loss"]) for row in rows] == [
        (name, loss) for name in ("dense", "text-like") for loss in ("hinge", "squared hinge")
    ]
    for row in rows:
        assert float(row["x products"]) > 0
        if row["loss"] == "hinge":
            assert -1e-12 <= float(row["worst gap"]) <= 1e-3
    worst = max(rows.select(loss="hinge").column("x seconds"))
    assert bars.value("hinge: seconds of a path, divided by those of a fit", "measured") == pytest.approx(
        worst, rel=5e-3
    )
    assert len(bars) == 4


def test_reading(quick):
    _, found = quick("reading")
    rows = found["Reading files"]
    assert [row["file"] for row in rows] == ["LETOR-like", "text-like"]
    for row in rows:
        assert float(row["times as fast"]) > 0
        assert float(row["1 thread MB/s"]) > 0
    assert len(found["Bars"]) == 2


def test_training_on_tables(quick):
    _, found = quick("tables")
    programs, steps, [bar] = found["Programs"], found["Steps"], found["Bars"]
    assert [row["program"] for row in programs] == [
        "polars",
        "polars, types from all rows",
        "imports",
        "kernelrank train",
    ]
    assert float(bar["measured"]) == pytest.approx(programs.value("kernelrank train", "x polars"), rel=1e-2)
    assert {"reading", "preparing", "preparing with scikit-learn", "training"} <= {row["step"] for row in steps}
    assert min(steps.column("seconds")) >= 0


def test_out_of_core(quick):
    _, found = quick("out_of_core")
    rows, bars = found["Data larger than memory"], found["Bars"]
    assert [row["loss"] for row in rows] == ["hinge", "squared hinge"]
    for row in rows:
        assert float(row["gap"]) <= 1e-3
        assert float(row["peak MB"]) > 0
        assert float(row["products %"]) + float(row["counting %"]) <= 100
    assert [bar["verdict"] for bar in bars] == ["met", "met"]


def test_metrics(quick):
    _, found = quick("metrics")
    rows = found["Metrics"]
    heading = list(rows[0])
    assert heading[:3] == ["metric", "one query", "queries"]
    assert {"ndcg", "err", "auc_interval", "kendall_tau"} <= {row["metric"] for row in rows}
    assert all(float(row["one query"]) > 0 and float(row["queries"]) > 0 for row in rows)
    assert len(found["Bars"]) == len(heading) - 1


def test_exports(quick):
    _, found = quick("exports")
    differences, orders = found["Largest difference"], found["Pairs of a query in another order"]
    assert [row["model"] for row in differences] == [row["model"] for row in orders]
    assert all(float(row["ONNX"]) <= 1e-6 for row in differences)
    linear = [row for row in differences if "linear" in row["model"] and "Gaussian" not in row["model"]]
    assert all(row["Solr"] != "–" for row in linear)
    assert {row["Solr"] for row in differences if row not in linear} == {"–"}
    assert [bar["verdict"] for bar in found["Bars"]] == ["met"] * 5


def test_scaling(quick):
    pytest.importorskip("distributed")
    _, found = quick("scaling")
    fits, sizes = found["Scaling"], found["Bytes per iteration"]
    assert [(row["counting"], row["workers"]) for row in fits] == [
        *(("", "local"), ("bins", "1"), ("gather", "2"), ("bins", "2")),
        *(("", "local"), ("queries", "1"), ("queries", "2")),
    ]
    for row in fits:
        assert -1e-12 <= float(row["gap"]) <= 1e-3
        assert row["workers"] == "local" or abs(float(row["difference"])) <= 1e-3
    assert {"one ranking", "one ranking, 5 levels", "queries"} == {row["data"] for row in sizes}
    gathered = sizes.select(data="one ranking", counting="gather").column("kB/iteration")
    assert gathered[-1] > gathered[0]
    assert {row["cost"] for row in found["Model"]} >= {"count", "bins", "round", "message", "byte"}
    assert min(found["Model: measured and predicted"].column("predicted s")) > 0
    assert [row["rows"] for row in found["Predictions"]] == 3 * ["1e09", "1e10"]


def test_costs_of_the_model_are_found(load):
    model = load("benchmarks.scaling_model")
    costs = np.array([6e-8, 3e-7, 1e-9, 2e-9, 1e-3, 5e-4, 3e-9])
    rng = np.random.default_rng(0)
    points = []
    for data, counting in (("one ranking", "gather"), ("one ranking", "bins"), ("queries", "queries")):
        for workers in (1, 2):
            for rows in (10_000, 1_000_000):
                counts = rng.integers(5, 40, 2).tolist() + rng.integers(10, 90, 2).tolist()
                traffic = rng.integers(1_000, 10**8, 2).tolist()
                point = model.Point(data, counting, rows, workers, 1.0, 1.0, 5, *counts, *traffic, 0.5, 1e-3, 30, 100)
                points.append(point._replace(solver=float(model.work_of(point) @ costs)))
    np.testing.assert_allclose(model.fit_costs(points), costs, rtol=1e-6)


def test_a_fit_on_a_cluster_has_a_limit(load):
    scaling = load("benchmarks.scaling")
    with pytest.raises(scaling.TimeIsUpError, match="more than 1 seconds"), scaling.limited(1):
        time.sleep(5)
