"""The study of linearithmic training runs, and what it compares is comparable."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

MODULE = "experiments.linearithmic_ranksvm.run"
PARTS = ["evaluation", "training", "copies", "iterations", "costs", "large", "documents"]


@pytest.fixture(scope="module")
def quick(run, tmp_path_factory):
    """Output of a quick run without any data, by part."""
    output = run(MODULE, "--quick", SCIKIT_LEARN_DATA=str(tmp_path_factory.mktemp("empty")))
    texts = ("\n" + output).split("\n# ")[1:]
    return dict(zip(PARTS, ("# " + text for text in texts), strict=True))


def test_evaluation(quick, tables):
    lines = tables(quick["evaluation"])["Text-like"]
    assert [line["rows"] for line in lines] == ["250", "500", "1,000", "exponent", "off a m log m, %"]
    assert all(float(line[f"{name} s"]) > 0 for line in lines[:3] for name in ("pairs", "rbtree", "tree", "training"))
    assert "California housing is left out: it needs regression/california_housing.csv.gz" in quick["evaluation"]


def test_training(quick, tables):
    found = tables(quick["training"])
    work = {line["who"]: line for line in found["Text-like, alpha 1e-05: certificates and work at 1,000 rows"]}
    names = {"RankSVM", "no line search", "squared hinge", "TreeRSVM", "PairRSVM"}
    assert names <= set(work)
    for name in names:
        assert float(work[name]["certified gap"]) <= 1e-3
    # They count the same pairs, so they take the same steps.
    for name in ("PairRSVM", "TreeRSVM"):
        assert work[name]["iterations"] == work["no line search"]["iterations"]
        assert work[name]["objective"] == work["no line search"]["objective"]
    beside = {line["data: method"]: line for line in found["Text: the paper's two methods, here and there"]}
    assert beside["RCV1, paper: TreeRSVM"]["iterations"] == "154"
    assert beside["text-like: PairRSVM"]["iterations"] == work["PairRSVM"]["iterations"]
    assert int(work["RankSVM"]["iterations"]) < int(work["TreeRSVM"]["iterations"])
    errors = found["Text-like, alpha 1e-05: test error"]
    assert [line["rows"] for line in errors] == ["250", "500", "1,000"]
    assert float(errors[-1]["RankSVM"]) < float(errors[0]["RankSVM"]) < 0.5


def test_copies(quick, tables):
    found = tables(quick["copies"])
    products, fits = found["The two products, by the form of X"], found["A whole fit, by the copies of X"]
    sizes = ["250", "500", "1,000"]
    assert [line["rows"] for line in products] == sizes
    assert [(line["rows of X"], line["threads"]) for line in fits] == [(m, n) for m in sizes for n in ("1", "2")]
    assert all(float(line["rows / both"]) > 0 for line in fits)


def test_iterations_stay_below_the_bound(quick, tables):
    found = tables(quick["iterations"])
    assert list(found) == ["Text-like: rows", "Text-like: alpha", "Text-like: tol"]
    for lines in found.values():
        for line in lines:
            plain = int(line["iterations, no line search"].replace(",", "").removesuffix(" (stopped)"))
            assert int(line["iterations"]) <= plain < float(line["bound 4 R² / (alpha eps)"])


def test_costs(quick, tables):
    found = tables(quick["costs"])
    searching, plain, covtype = found["Where the time of an iteration goes"]
    assert plain["data"] == f"{searching['data']}, no line search"
    assert plain["iterations"] == plain["passes"]
    shares = ("products %", "sort %", "other counting %", "QP %", "other %")
    for one in (searching, plain):
        assert one["rows"] == "1,000"
        assert sum(float(one[name]) for name in shares) == pytest.approx(100, abs=3)
    double, single = found["float32 and float64"]
    assert float(single["X MB"]) < float(double["X MB"])
    assert float(single["objective, float64 X"]) == pytest.approx(float(double["objective, float64 X"]), abs=1e-3)
    assert covtype["data"] == "covtype, 7 ordered classes"


def test_large(quick, tables):
    [lines] = tables(quick["large"]).values()
    assert [line["rows, loss"] for line in lines] == ["2,000, hinge", "2,000, squared hinge"]
    assert all(float(line["certified gap"]) <= 1e-3 for line in lines)
    assert all(float(line["test error"]) < 0.5 for line in lines)


def test_documents(quick, tables):
    text = quick["documents"]
    for name in ("20 newsgroups", "Reuters-21578", "RCV1"):
        assert f"{name} is left out: it needs" in text
    lines = tables(text)["Generated"]
    assert len(lines) == 15
    assert all(float(line["certified gap"]) <= 1e-3 for line in lines)


def test_unknown_part(root):
    done = subprocess.run(
        [sys.executable, "-m", MODULE, "figure"], cwd=root, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 2
    assert "no such part: figure" in done.stderr


def test_rcv1_with_the_papers_construction(load, monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(np.where(rng.random((40, 100)) < 0.7, rng.random((40, 100)), 0.0))
    asked = []

    def fetch_rcv1(**settings):
        asked.append(settings)
        return SimpleNamespace(data=X)

    monkeypatch.setattr("sklearn.datasets.fetch_rcv1", fetch_rcv1)
    rows = load("benchmarks.data").rcv1(30)
    assert asked == [{"download_if_missing": False}]
    assert rows.X.shape == (30, 100)
    assert rows.X_test.shape == (9, 100)  # one is taken out
    left = sp.vstack([rows.X, rows.X_test]).toarray()
    [target] = [row for row in X.toarray() if not (left == row).all(axis=1).any()]
    np.testing.assert_allclose(np.r_[rows.y, rows.y_test], left @ target)


def test_rcv1_is_not_downloaded(load, monkeypatch, tmp_path):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    data = load("benchmarks.data")
    with pytest.raises(data.MissingDataError, match="fetch_rcv1"):
        data.rcv1(10)


@pytest.mark.parametrize("method", ["auto", "rbtree", "pairs"])
@pytest.mark.parametrize("line_search", [True, False])
def test_variants_of_the_solver_find_the_optimum(load, method, line_search):
    competitors, workloads = load("benchmarks.peers.competitors"), load("benchmarks.peers.workloads")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    rows = workloads.Rows(X, np.round(X @ np.arange(4) + rng.normal(size=80)))  # with ties
    problem = competitors.Problem(rows, 0.01, "hinge", tol=1e-6)
    ours = competitors.COMPETITORS["kernelrank"].fit(rows, problem)
    variant = competitors.PlainBundle("variant", method, line_search).fit(rows, problem)
    assert variant.converged
    objective = load("benchmarks.peers.referee").Referee(rows, rows, 0.01, "hinge").objective
    assert objective(variant.w) == pytest.approx(objective(ours.w), abs=1e-6)
    assert variant.lower_bound <= objective(ours.w) + 1e-12
