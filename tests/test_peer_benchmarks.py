"""The comparison with peers runs, and its referee and its workloads are what they say they are."""

import re
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning


@pytest.fixture
def quick_rows(load, tmp_path):
    workloads = load("benchmarks.peers.workloads")

    def quick_rows(name):
        folder = workloads.prepare(workloads.WORKLOADS[name], tmp_path, quick=True)
        return folder, *workloads.load(folder)

    return quick_rows


def test_quick_run(run, tables):
    ours = ["kernelrank", "LinearSVC on pairs"]  # also where peers happen to be installed
    output = run("benchmarks.peers.run", "--quick", "--competitors", *ours)
    assert "California housing is left out: it needs regression/california_housing.csv.gz" in output

    found = tables(output)
    assert [row["queries"] for row in found["Workloads"]] == ["", "20", ""]
    assert {row["verdict"] for row in found["Bars"]} <= {"met", "NOT met", "not measured"}
    assert len(found["Bars"]) > 15
    rows = found["Queries, hinge (alpha 0.001)"] + found["Queries, squared hinge (alpha 0.001)"]
    assert [row["who"] for row in rows] == 2 * ours
    for row in rows:
        assert -1e-9 <= float(row["gap"]) <= 1e-3
        assert float(row["test error"]) < 0.3
    assert len(found["Text-like, sparse, hinge (alpha 1e-05)"]) == 6
    assert len(found["Conversions"]) == 4
    assert "failed: " not in output
    assert "](text.svg)" in output


def test_a_run_of_some_parts_keeps_the_committed_report(load, monkeypatch):
    run = load("benchmarks.peers.run")
    written = []
    monkeypatch.setattr(run, "perform", lambda part, path, *_: written.append(path.parent.name))
    for arguments in ([], ["--readings"], ["--most-rows", "1000"], ["--workloads", "text"]):
        monkeypatch.setattr("sys.argv", ["run", *arguments])
        run.main()
    assert written == ["results", "results", "peers", "peers"]


def test_concordance_of_survival_packages(run, tables):
    found = tables(run("benchmarks.peers.concordance", "--quick"))
    names = ["no ties", "tied scores", "tied times and scores"]
    for title in ("Concordance index", "Uno's concordance", "Time-dependent areas"):
        ours = [line for line in found[title] if line["who"] == "kernelrank"]
        assert [line["data"] for line in ours] == 3 * names
        assert [float(line["censored, %"]) > 40 for line in ours] == 3 * [False] + 6 * [True]
    ours = [line for line in found["Concordance index"] if line["who"] == "kernelrank"]
    assert [line["tied"] == "0" for line in ours] == 3 * [True, False, False]


def test_numbers_of_survival_packages_that_differ(load):
    part = load("benchmarks.peers.concordance")
    case = next(part.cases(20))
    finders = {"kernelrank": lambda _: (0.7, 2), "other": lambda _: (0.7, 3)}
    with pytest.raises(AssertionError, match="no ties: other finds 3, not 2"):
        list(part.compare(case, finders, 1))


def test_survival(run, tables):
    output = run("benchmarks.peers.survival", "--quick")
    found = tables(output)
    lines = [line for line in found["Seconds"] if line["data"] == "generated"]
    assert [line["censored, %"] for line in lines] == ["0", "50", "88"]
    assert all(float(line["hinge"]) > 0 for line in lines)
    assert all(float(line["squared hinge"]) > 0.6 for line in found["Held-out concordance"])
    for line in found["Objective"]:
        assert float(line["tol 1e-06"]) <= float(line["squared hinge"]) < 1e-4
    first, *censored = (line["relative"] for line in found["Cost of censoring"])
    assert first == "1.00"  # without censoring, relative to itself
    assert all(float(relative) > 0 for relative in censored)
    assert "objective above that of FastSurvivalSVM" in output


def test_survival_models_that_fail_or_take_too_long(load, monkeypatch):
    part = load("benchmarks.peers.survival")
    data, models = load("benchmarks.peers.survival_data"), load("benchmarks.peers.survival_models")

    def slow(*_):
        time.sleep(60)

    def broken(*_):
        raise ValueError("no")

    def unfinished(rows, _):
        warnings.warn("not yet", ConvergenceWarning, stacklevel=1)
        return models.Fitted(lambda X: X[:, 0])

    fits = {"avltree": slow, "rbtree": broken, "Cox": unfinished}
    for name, fit in fits.items():
        monkeypatch.setitem(models.MODELS, name, models.Model("kernelrank", fit))
    monkeypatch.setattr(part, "LIMIT", 0.1)
    problem = part.Problem("generated", data.generated(60, 0.5))
    part.solve(problem, [part.OURS, part.OURS_TIGHT, *fits], 1)
    assert {name: part.seconds_cell(problem, name) for name in fits if name != "Cox"} == {
        "avltree": "> 0.1",
        "rbtree": "failed",
    }
    assert list(part.remarks([problem])) == [
        "generated, 60 rows, 52 % censored: rbtree failed: ValueError: no.",
        "generated, 60 rows, 52 % censored: not converged, as they say: Cox.",
    ]
    assert part.ratio_cells(problem) == []
    assert set(problem.concordance) == {part.OURS, part.OURS_TIGHT, "Cox"}


def test_survival_beside_a_tree(load):
    """The readings and the bars of two problems, of which the second is large."""
    part, data = load("benchmarks.peers.survival"), load("benchmarks.peers.survival_data")
    made = data.generated(part._LARGE, 0.5)
    problems = [part.Problem(name, made) for name in ("GBSG2", "generated")]
    for problem in problems:
        problem.seconds = {part.OURS: 0.1, part.OURS_TIGHT: 0.2, "avltree": 30.0, "rbtree": 10.0, "Cox": 1.0}
        problem.objective = {part.OURS: 0.501, part.OURS_TIGHT: 0.5, "avltree": 0.5, "rbtree": 0.5 + 1e-3}
        problem.concordance = {part.OURS: 0.7, "Cox": 0.75 if problem.name == "GBSG2" else 0.6}
    found = part.Found(problems, part.costs.measure(100, 1), [])
    bar, above, *costs = part.bars(found)
    assert (bar.value, bar.verdict) == (pytest.approx(50), "NOT met")
    assert (above.value, above.verdict) == (pytest.approx(-1e-3), "met")
    assert len(costs) == 6
    [reading] = part.readings(load("benchmarks.harness").read_tables("\n\n".join(part.report(found, None))))
    reading = " ".join(reading.split())
    assert "is 100 times faster than the faster tree with its default tolerance" in reading
    assert "higher; and 50 times with tol 1e-06" in reading
    assert "on 1, and is behind the best of them by 0.0500 at most (GBSG2, 16,000 rows, 50 % censored)" in reading


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_generated_survival_times(load, share):
    part, data = load("benchmarks.peers.survival"), load("benchmarks.peers.survival_data")
    train, test = data.generated(400, share)
    assert (len(train.y), len(test.y)) == (400, 200)
    assert 1 - np.r_[train.observed, test.observed].mean() == pytest.approx(share, abs=0.01)
    np.testing.assert_array_equal(np.argsort(train.ranks), np.argsort(train.y))
    assert part.average_loss(train, np.zeros(data.N_FEATURES)) == 1
    w = np.random.default_rng(0).normal(size=data.N_FEATURES)
    assert part.judge(train, w) == pytest.approx(part.average_loss(train, w) + part.ALPHA * w @ w)


@pytest.mark.parametrize("name", ["breast cancer", "GBSG2", "WHAS500", "veterans", "flchain"])
def test_survival_data_sets(load, name):
    pytest.importorskip("sksurv")
    train, test = load("benchmarks.peers.survival_data").real(name)
    assert len(train.y) == pytest.approx(2 * len(test.y), abs=2)
    np.testing.assert_allclose(train.X.mean(axis=0), 0, atol=1e-8)
    np.testing.assert_allclose(train.X.std(axis=0), 1)
    assert np.isfinite(test.X).all()
    assert train.ranks.min() == 1
    assert 0 < train.observed.mean() < 1


def test_ndcg_of_others(run, tables):
    lines = tables(run("benchmarks.peers.ndcg", "--quick"))["NDCG of other programs"]
    ours = {(line["who"], line["queries"]): line["ours"] for line in lines}
    assert {queries for _, queries in ours} == {"page", "random"}
    assert ours["scikit-learn ndcg_score", "page"] == ours["trec_eval, by ir-measures", "page"] == "0.416945"


def test_rankers_on_dask(run, load):
    pytest.importorskip("distributed")
    output = run("benchmarks.peers.dask_rankers", "--quick")
    found = load("benchmarks.harness").read_tables(output)
    [outcomes] = found["Rankers on Dask"]
    assert [(row["probe"], row["kernelrank"]) for row in outcomes] == [("NaN in X", "clear error")]
    [messages] = found["Messages"]
    assert "NaN" in messages.row("NaN in X")["found"]


def test_rankers_that_hang_or_die_are_reported(load, monkeypatch):
    part = load("benchmarks.peers.dask_rankers")
    monkeypatch.setattr(part, "DEADLINE", 0.2)
    assert part.probe_apart("NaN in X", "kernelrank").outcome in ("hang", "not finished")
    monkeypatch.setattr(part, "DEADLINE", 60)
    line = part.probe_apart("no such probe", "kernelrank")
    assert (line.outcome, line.detail) == (
        "obscure error",
        "the process of the user ended with 1: KeyError: 'no such probe'",
    )
    lines = [("a", "X", "hang", "", 1.0), ("a", "Y", "right model", "", 1.0), ("b", "X", "hang", "", 1.0)]
    lines = [part.Line(*each) for each in [*lines, ("b", "Y", "clear error", "", 1.0)]]
    text = "\n\n".join(part.report((lines, []), None))
    assert part.readings(load("benchmarks.harness").read_tables(text)) == [
        "Of 2 probes, X: 2 hang; Y: 1 right model, 1 clear error."
    ]


def test_least_squares(run, tables):
    output = run("benchmarks.peers.least_squares", "--quick")
    lines = tables(output)["Least squares"]
    assert [line["reference"] for line in lines] == [
        *("kernel + Cholesky", "path of one", "eigh", "eigh", "eigh", "eigh", "u"),
        *("rbf_kernel + product by BLAS", "RidgeCV", "KernelRidge, centred for it"),
    ]
    assert all(float(line["ratio"]) > 0 for line in lines)
    assert [line["verdict"] in {"met", "NOT met"} for line in lines] == 8 * [True] + 2 * [False]
    steps, without = map(int, re.search(r"(\d+) steps, without the preconditioner (\d+)", output).groups())
    assert 0 < steps < without


def test_rlscore(load, monkeypatch, tmp_path):
    part = load("benchmarks.peers.rlscore")
    model_rows = 12
    _, F = part.ours(part.Task("all pairs left out", model_rows))
    first, second = np.triu_indices(model_rows, 1)
    assert part.check(F, np.array([F[first, second], F[second, first]])) == 0
    with pytest.raises(AssertionError, match="predictions differ"):
        part.check(F, np.array([F[first, second], F[first, second]]))
    lines = [["one fit", "4,000", "2", "5", "2.5"], *(["all pairs", m, "1", m, m] for m in ("20", "400"))]
    [text] = part.report((lines, "RLScore 1", 1e-9), None)[3:4]
    tables = load("benchmarks.harness").read_tables(f"{part.TITLE}\n\n{text}")
    assert part.readings(tables) == [
        "RLScore takes 2.5 times as long for 'one fit', 20.0 to 400.0 times as long for 'all pairs'."
    ]
    monkeypatch.setattr(part, "PYTHON", tmp_path / "python")
    with pytest.raises(load("benchmarks.harness").MissingDataError, match="make bench-rlscore"):
        part.measure(None)


def test_conversions_to_peers(load):
    peers = [
        name
        for name, peer in load("benchmarks.peers.competitors").COMPETITORS.items()
        if peer.version() and name != "kernelrank"
    ]
    found = load("benchmarks.peers.conversions").check_conversions(peers)
    assert len(found) >= 4
    for row in found:
        assert abs(row["excess"]) < 1e-7, row
        assert row["distance"] < 1e-3, row


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", ["text", "queries", "bipartite"])
def test_referee_against_the_definition(load, quick_rows, name, loss):
    _, train, test = quick_rows(name)
    w = np.random.default_rng(0).normal(size=train.X.shape[1])
    scores, alpha = train.X @ w, 0.01
    qid = np.zeros(len(scores)) if train.qid is None else train.qid
    ordered = (train.y[:, None] < train.y) & (qid[:, None] == qid)
    hinge = np.maximum(0.0, 1.0 + scores[:, None] - scores)
    expected = np.mean(hinge[ordered] ** (1 if loss == "hinge" else 2)) + alpha * w @ w
    referee = load("benchmarks.peers.referee").Referee(train, test, alpha, loss)
    assert referee.objective(w) == pytest.approx(expected, rel=1e-11)
    if loss == "squared_hinge":
        here = squared_hinge_gradient(train.X, ordered, hinge) + 2 * alpha * w
        start = squared_hinge_gradient(train.X, ordered, np.ones_like(hinge))
        relative = np.linalg.norm(here) / np.linalg.norm(start)
        assert referee.relative_gradient(w) == pytest.approx(relative, rel=1e-11)


def squared_hinge_gradient(X, ordered, hinge):
    losses = np.where(ordered, hinge, 0.0)
    return X.T @ (2 * (losses.sum(axis=1) - losses.sum(axis=0)) / ordered.sum())


def test_referee_does_not_believe_a_wrong_loss(load, quick_rows, monkeypatch):
    _, train, test = quick_rows("bipartite")
    module = load("benchmarks.peers.referee")
    referee = module.Referee(train, test, 0.01, "hinge")
    monkeypatch.setattr(module, "average_loss", lambda *_: 0.5)
    with pytest.raises(AssertionError, match="by definition"):
        referee.objective(np.ones(train.X.shape[1]))


@pytest.mark.parametrize("name", ["text", "queries", "bipartite"])
def test_workloads_are_made_from_their_seeds(load, quick_rows, name):
    workloads = load("benchmarks.peers.workloads")
    work = workloads.WORKLOADS[name]
    folder, *kept = quick_rows(name)
    for made, again in zip(work.make(**work.quick), kept, strict=True):
        for first, second in zip(made, again, strict=True):
            if sp.issparse(first):
                assert (first != second).nnz == 0
            else:
                np.testing.assert_array_equal(first, second)
    few, _ = workloads.load(folder, 100)
    assert few.X.shape == (100, kept[0].X.shape[1])
    assert abs(few.X - kept[0].X[:100]).max() == 0
    np.testing.assert_array_equal(few.y, kept[0].y[:100])


def test_workloads_are_those_of_the_published_table(load):
    # Numbers of the full sets: a generator that changes would make old and new results differ.
    workloads = load("benchmarks.peers.workloads")
    train, test = workloads.queries()
    assert train.X.shape == (60_002, 46)
    assert test.X.shape == (18_186, 46)
    assert train.X[0, 0] == 0.83522
    train, _ = workloads.bipartite()
    assert int(train.y.sum()) == 10_057
    assert train.X[-1, -1] == 0.972282


def test_a_fit_in_its_own_process(load, quick_rows):
    folder, train, _ = quick_rows("bipartite")
    measure = load("benchmarks.peers.measure")
    job = measure.Job("bipartite", len(train.y), 0.01, "hinge", "kernelrank")
    record = measure.measure_apart(job, folder, limit=600)
    assert record["status"] == "ok", record
    assert record["certified_gap"] <= 1e-3
    assert 0 < record["u"] < record["seconds"]
    cut_off = measure.measure_apart(job, folder, limit=0.01)
    assert (cut_off["status"], cut_off["reason"]) == ("cut off", "more than 0.01 s")
    failed = measure.measure_apart(job, folder / "nothing", limit=600)
    assert failed["status"] == "failed"
    assert "nothing" in failed["reason"]


def test_bars_are_judged_by_the_records(load):
    bars = load("benchmarks.peers.bars")
    record = {"workload": "queries", "n_rows": 60_002, "loss": "hinge", "n_threads": 1, "status": "ok", "u": 0.01}
    record |= {"certified_gap": None, "passes": None, "lower_bound": None, "peak_bytes": None, "objective": 0.5}
    record |= {"relative_gradient": None, "convert_seconds": 0.0}
    ours = record | {"competitor": "kernelrank", "seconds": 0.2, "test_error": 0.203, "lower_bound": 0.499}
    dlib = record | {"competitor": "dlib", "seconds": 0.1, "test_error": 0.2, "convert_seconds": 1.0}
    failed = record | {"competitor": "LinearSVC on pairs", "status": "failed"}
    found = {bar.name: bar for bar in bars.judge(bars.Records([ours, dlib, failed]))}
    fit, both = (
        found[f"hinge, queries: {name}"]
        for name in ("seconds, divided by those of dlib's fit alone", "times faster than dlib with its conversion")
    )
    error = found["test error above that of the best peer with the same problem"]
    assert (fit.value, fit.verdict) == (pytest.approx(2), "NOT met")
    assert (both.value, both.verdict) == (pytest.approx(5.5), "met")
    assert (error.value, error.verdict) == (pytest.approx(0.003), "NOT met")
    assert {bar.verdict for bar in found.values() if bar not in (fit, both, error)} == {"not measured"}
