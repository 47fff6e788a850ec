"""Commands of kernelrank, from input files to output files."""

import lzma
import os
import pty
import re
import signal
import subprocess
import sys
import time
from datetime import date

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from kernelrank import OrdinalSVM, RankingClassifier, RankRLS, RankRLSCV, RankSVM, RankSVMCV, cli, metrics
from kernelrank.cli import _data
from kernelrank.cli._terms import in_terms_of_options
from kernelrank.datasets import load_apartments
from kernelrank.estimators._alphas import warn_at_end
from kernelrank.exceptions import PathEndWarning
from kernelrank.io import dump_svmlight, load_svmlight
from kernelrank.kernels import Gaussian, Polynomial
from kernelrank.persistence import load_model, save_model, save_svmlight_model

PROGRAM = [sys.executable, "-c", "import sys; from kernelrank.cli import main; sys.exit(main())"]


def fitted(rows, **parameters):
    data = load_svmlight(rows.path)  # sparse, as in the programs, so that sums are equal to the last bit
    return RankSVM(**parameters).fit(data.X, data.y, qid=data.qid)


def test_train_and_predict_are_fit_and_predict(shell, train, held_out, tmp_path):
    model, scores = tmp_path / "model.kr", tmp_path / "scores.txt"
    assert shell("train", train.path, "-o", model, "--alpha", 0.01, "--loss", "squared_hinge").code == 0
    assert shell("predict", held_out.path, "-m", model, "-o", scores).code == 0
    expected = fitted(train, alpha=0.01, loss="squared_hinge").predict(load_svmlight(held_out.path).X)
    np.testing.assert_array_equal(np.loadtxt(scores), expected)
    assert shell("predict", held_out.path, "-m", model).out == scores.read_text()
    assert shell("predict", held_out.path, "-m", model, "--json").json == {"scores": expected.tolist()}


def test_train_reports_its_certificate(shell, train, tmp_path):
    result = shell("train", train.path, "-o", tmp_path / "m", "--json", "--tol", 1e-4, "--positive").json
    model = load_model(tmp_path / "m")
    assert result["objective"] == model.objective_
    assert result["gap"] == model.gap_ <= 1e-4
    assert result["relative_gap"] == model.gap_ / model.objective_
    assert result["converged"] is True
    assert (result["n_rows"], result["n_features"], result["n_queries"]) == (*train.X.shape, 30)
    assert result["n_pairs"] == model.n_pairs_
    assert (result["kernel"], result["n_basis"]) == ("linear", None)
    assert (model.coef_ >= 0).all()
    text = shell("train", train.path, "-o", tmp_path / "m").out
    assert "objective" in text
    assert re.search("converged +yes", text)


def test_not_converged_is_said_and_fails_only_when_strict(shell, train, tmp_path):
    few = ["train", train.path, "-o", tmp_path / "m", "--max-iter", 2, "--tol", 1e-9, "--json"]
    assert shell(*few).code == 0
    assert "warning: Not converged" in shell.err
    assert shell.json["converged"] is False
    assert shell(*few, "--strict").code == 1
    assert load_model(tmp_path / "m").n_iter_ == 2  # the best model so far is kept


def test_evaluate_agrees_with_the_metrics(shell, train, held_out, tmp_path):
    model = fitted(train)
    save_svmlight_model(model, tmp_path / "m")
    scores = model.predict(held_out.X)
    found = shell("evaluate", held_out.path, "-m", tmp_path / "m", "--json").json["metrics"]
    expected = {
        "concordance": metrics.concordance_index(held_out.y, scores, qid=held_out.qid, per_query=True),
        "pairwise-error": metrics.pairwise_error(held_out.y, scores, qid=held_out.qid, per_query=True),
        "kendall": metrics.kendall_tau(held_out.y, scores, qid=held_out.qid, per_query=True),
        "map": metrics.average_precision(held_out.y, scores, qid=held_out.qid, per_query=True),
        "mrr": metrics.reciprocal_rank(held_out.y, scores, qid=held_out.qid, per_query=True),
        "ndcg@10": metrics.ndcg(held_out.y, scores, qid=held_out.qid, k=10, per_query=True),
        "err@10": metrics.err(held_out.y, scores, qid=held_out.qid, k=10, per_query=True),
        "precision@10": metrics.precision_at(held_out.y, scores, qid=held_out.qid, k=10, per_query=True),
    }
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        known = values[~np.isnan(values)]
        assert found[name]["mean"] == pytest.approx(known.mean(), abs=1e-9)
        assert found[name]["std_error"] == pytest.approx(known.std(ddof=1) / np.sqrt(len(known)), abs=1e-9)
        assert found[name]["n_queries"] == len(known)


def test_evaluate_shows_queries_and_takes_scores_from_anywhere(shell, held_out, tmp_path):
    scores = tmp_path / "scores.txt"
    np.savetxt(scores, held_out.y)
    result = shell("evaluate", held_out.path, "-s", scores, "--metric", "concordance", "--per-query", "--json").json
    assert result["metrics"]["concordance"]["mean"] == 1.0
    assert [row["qid"] for row in result["per_query"]] == list(dict.fromkeys(held_out.qid.tolist()))
    text = shell("evaluate", held_out.path, "-s", scores, "--metric", "concordance", "--per-query").out
    assert "q14" in text


@pytest.fixture
def sparse_grades(tmp_path, rng):
    """Return a file of twelve queries with ids of five digits, a third without a relevant row, and a file of scores."""
    qid, x = np.repeat(np.arange(18_210, 18_222), 8), rng.normal(size=96)
    y = np.where(qid % 3 == 0, 0, (x + rng.normal(size=96) > 0.5).astype(int))
    y[::8] = (qid[::8] % 3 > 0).astype(int)
    data, scores = tmp_path / "grades.txt", tmp_path / "scores.txt"
    data.write_text("".join(f"{g} qid:{q} 1:{v!r}\n" for g, q, v in zip(y, qid, x.tolist(), strict=True)))
    np.savetxt(scores, x)
    return data, scores, (y, x, qid)


def table_of(text, heading="metric"):
    """Return the lines of a printed table by their first word."""
    lines = [line.split() for line in text.split("\n\n")[0 if text.startswith(heading) else -1].splitlines()]
    return {line[0]: line[1:] for line in lines}


@pytest.mark.parametrize("undefined", [None, "skip", 0, 1])
def test_evaluate_counts_undefined_queries_as_it_is_told(shell, sparse_grades, undefined):
    data, scores, rows = sparse_grades
    y, x, qid = rows
    told = [] if undefined is None else ["--undefined", undefined]
    names = ("map", "mrr", "ndcg@3", "concordance", "ndcg@3:convention=letor", "ndcg@mean:gain=linear:undefined=1")
    call = ["evaluate", data, "-s", scores, *(part for name in names for part in ("--metric", name)), *told]
    given = {} if undefined is None else {"undefined": undefined}
    expected = {
        "map": metrics.average_precision(y, x, qid=qid, per_query=True, **given),
        "mrr": metrics.reciprocal_rank(y, x, qid=qid, per_query=True, **given),
        "ndcg@3": metrics.ndcg(y, x, qid=qid, k=3, per_query=True, **given),
        "concordance": metrics.concordance_index(y, x, qid=qid, per_query=True, **given),
        "ndcg@3:convention=letor": metrics.ndcg(y, x, qid=qid, k=3, convention="letor", per_query=True),
        "ndcg@mean:gain=linear:undefined=1": metrics.ndcg(
            y, x, qid=qid, k="mean", gain="linear", undefined=1, per_query=True
        ),
    }
    found = shell(*call, "--json").json["metrics"]
    assert list(found) == list(names)
    for name, values in expected.items():
        assert found[name]["mean"] == pytest.approx(np.nanmean(values), rel=1e-12), name
        assert found[name]["n_queries"] == np.sum(~np.isnan(values)), name
    text = shell(*call).out
    table = table_of(text)
    assert {name: int(table[name][-1]) for name in names} == {name: found[name]["n_queries"] for name in names}
    assert ("--undefined 0" in text) == (undefined in (None, "skip"))


def test_cv_says_how_many_queries_a_mean_is_over(shell, sparse_grades, tmp_path):
    data, _, _ = sparse_grades
    call = ("cv", data, "--alphas", "2", "--folds", 3, "--metric", "map", "--metric", "mrr", "-o", tmp_path / "m")
    assert {name: line[-1] for name, line in table_of(shell(*call).out.split(":\n\n")[1]).items()} == {
        "metric": "queries",
        "concordance": "8",
        "map": "8",
        "mrr": "12",
    }
    result = shell(*call, "--select", "ndcg@3", "--undefined", "0", "--json").json
    assert {name: each["n_queries"] for name, each in result["metrics"].items()} == {"ndcg@3": 12, "map": 12, "mrr": 12}
    model = load_model(tmp_path / "m")
    assert model.scoring == "ndcg@3:undefined=0"
    rows = load_svmlight(data)
    np.testing.assert_array_equal(model.scores_, clone(model).fit(rows.X, rows.y, qid=rows.qid).scores_)


def test_cv_without_queries_says_how_many_folds(shell, tmp_path, rng):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "".join(f"{a},{a}\n" for a in rng.normal(size=30)))
    out = shell("cv", path, "--target", "y", "--alphas", "2", "--folds", 3, "--metric", "concordance").out
    assert table_of(out.split(":\n\n")[1])["metric"] == ["mean", "std", "folds"]
    assert table_of(out.split(":\n\n")[1])["concordance"][-1] == "3"


def test_ids_of_queries_are_shown_as_they_are(shell, sparse_grades):
    data, scores, _ = sparse_grades
    out = shell("evaluate", data, "-s", scores, "--metric", "mrr", "--per-query").out
    assert list(table_of(out, heading="qid"))[1:] == [str(each) for each in range(18_210, 18_222)]


def test_metrics_of_grades_are_left_out_for_measurements(shell, tmp_path, rng):
    path = tmp_path / "prices.txt"
    path.write_text("".join(f"{y} 1:{y}\n" for y in rng.normal(size=9) * 100))
    shell("train", path, "-o", tmp_path / "m")
    found = shell("evaluate", path, "-m", tmp_path / "m", "--json").json["metrics"]
    assert list(found) == ["concordance", "pairwise-error", "kendall"]
    shell("evaluate", path, "-m", tmp_path / "m", "--metric", "ndcg").assert_refused()


def test_two_levels_have_an_auc(shell, train, tmp_path):
    path = tmp_path / "two.txt"
    path.write_text("".join(f"{k % 2} 1:{k % 3}\n" for k in range(12)))
    shell("train", path, "-o", tmp_path / "m")
    assert "auc" in shell("evaluate", path, "-m", tmp_path / "m").out


def test_cv_chooses_alpha_and_measures_every_fold(shell, train, tmp_path):
    model_file = tmp_path / "m.kr"
    result = shell("cv", train.path, "--alphas", "1,0.01,1e-4", "--folds", 3, "-o", model_file, "--json").json
    data = load_svmlight(train.path)
    expected = RankSVMCV([1, 0.01, 1e-4], cv=3).fit(data.X, data.y, qid=data.qid)
    assert result["alpha"] == expected.alpha_
    np.testing.assert_allclose([p["mean"] for p in result["path"]], expected.scores_.mean(axis=1))
    best = list(expected.alphas_).index(expected.alpha_)
    np.testing.assert_allclose(result["metrics"]["concordance"]["folds"], expected.scores_[best], rtol=1e-12)
    assert len(result["metrics"]["ndcg@10"]["folds"]) == 3
    np.testing.assert_array_equal(load_model(model_file).coef_, expected.coef_)


def test_cv_chooses_by_what_it_is_told(shell, train):
    result = shell("cv", train.path, "--alphas", "3", "--folds", 3, "--select", "ndcg@5", "--json").json
    assert result["selected_by"] == "ndcg@5"
    best = max(result["path"], key=lambda p: p["mean"])
    assert result["alpha"] == best["alpha"]
    assert "chosen on the same folds" in shell("cv", train.path, "--alphas", "3", "--folds", 3).out


@pytest.mark.parametrize("select", ["ndcg@10", "NDCG@10:gain=linear", "kendall"])
def test_cv_shows_the_metric_that_it_chooses_by(shell, tmp_path, rng, select):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "".join(f"{a},{abs(100 * a)}\n" for a in rng.normal(size=30)))
    shell("cv", path, "--target", "y", "--alphas", "1,0.1", "--folds", 3, "--select", select, "--json", "-q")
    assert max(each["mean"] for each in shell.json["path"]) == shell.json["metrics"][select]["mean"]
    assert list(shell.json["metrics"]).count("kendall") == 1
    assert ("use ndcg@10:gain=linear" in shell.err) == (select == "ndcg@10")


def test_large_grades_with_exponential_gains_come_with_a_warning(shell, tmp_path):
    path = tmp_path / "grades.txt"
    path.write_text("40 1:1\n39 1:2\n1 1:3\n")
    (tmp_path / "s").write_text("1\n2\n3\n")
    shell("evaluate", path, "-s", tmp_path / "s", "--metric", "ndcg", "--metric", "ndcg@3:gain=linear")
    assert shell.err.splitlines() == [
        "kernelrank evaluate: warning: ndcg: targets go up to 40, and a gain of 2^target - 1 ignores all but the"
        " largest; use ndcg:gain=linear"
    ]


def test_cv_measures_err_by_the_top_grade_of_all_rows(shell, tmp_path):
    path = tmp_path / "grades.txt"
    grades = {"a": (0, 4, 0), "b": (0, 1, 1), "c": (1, 0, 0), "d": (0, 1, 0)}
    path.write_text("".join(f"{y} qid:{q} 1:{y + k} 2:{k}\n" for q, ys in grades.items() for k, y in enumerate(ys)))
    folds = shell("cv", path, "--alphas", "1", "--folds", 4, "--metric", "err", "--json").json["metrics"]["err"][
        "folds"
    ]
    assert sorted(folds)[2] < 0.1  # with a maximum grade of 4, a row of grade 1 stops one user in 16
    assert max(folds) > 0.3


def test_a_model_of_cv_says_how_it_was_made(shell, train, tmp_path):
    shell("cv", train.path, "--alphas", "3", "--folds", 3, "--select", "NDCG@3", "--seed", 7, "-o", tmp_path / "m")
    model = load_model(tmp_path / "m")
    assert (model.cv, model.scoring, model.random_state) == (3, "NDCG@3", 7)
    data = load_svmlight(train.path)
    np.testing.assert_array_equal(model.scores_, clone(model).fit(data.X, data.y, qid=data.qid).scores_)


def test_a_missing_target_or_output_is_reported_in_one_line(shell, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,town,price\n0,x,2\n1,y,4\n")
    shell("train", path, "-o", tmp_path / "m").assert_refused("t.csv: utilities", "--target", "a, town, price.")
    shell("train", path, "--target", "price").assert_refused("-o/--output", "kernelrank train --help")
    assert len(shell.err.splitlines()) == 1
    (tmp_path / "s").write_text("1\n2\n3\n")
    shell("evaluate", path, "-s", tmp_path / "s", "--target", "price").assert_refused(
        "has 3 scores", "t.csv has 2 rows"
    )


def test_options_of_other_commands_are_told_from_mistakes(shell, train, tmp_path):
    for command, option in (("cv", "--foo"), ("evaluate", "--foo=1")):
        given = ("-m", "model") if command == "evaluate" else ()
        shell(command, train.path, *given, option).assert_refused(
            f"kernelrank {command}: error: unrecognized arguments: {option} (kernelrank {command} --help shows"
        )
    for given in (("--select", "auc"), ("--select=auc",)):
        shell("train", train.path, "-o", tmp_path / "model", *given).assert_refused(
            "kernelrank cv --select METRIC chooses alpha by a metric (kernelrank train --help shows the options)"
        )
    shell("--foo", "cv", train.path).assert_refused(
        "kernelrank: error: unrecognized arguments: --foo (kernelrank --help"
    )


def test_messages_are_in_terms_of_options(shell, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,query_id,y\n" + "".join(f"{k % 5},{k // 4},{k % 7}\n" for k in range(24)))
    shell("train", path, "--target", "y", "-o", tmp_path / "m", "-q")
    assert shell.err.splitlines() == [
        "kernelrank train: warning: column 'query_id' is named like query ids, but it is used as an ordinary feature,"
        " and all rows are compared with each other; use --qid query_id, or --drop query_id"
    ]
    call = ("cv", path, "--target", "y", "--qid", "query_id", "--folds", 50, "-q")
    shell(*call).assert_refused("--folds asks for 50 folds of 6 queries")
    call = ("estimate", path, "--target", "y", "--drop", "query_id")
    shell(*call, "--folds", 1, "--strategy", "averaged").assert_refused("--folds must be at least 2, got 1")
    shell(*call, "--folds", 3, "--strategy", "leave-pair-out").assert_refused(
        "--folds cannot be used with --strategy leave-pair-out"
    )
    shell(*call[:4], "--qid", "query_id", "--strategy", "tournament").assert_refused(
        "--strategy tournament cannot be used with queries"
    )
    shell(*call, "--jobs", 0).assert_refused("--jobs must be an integer other than 0")
    shell(*call, "--seed", -1, "--strategy", "averaged").assert_refused("--seed must be an integer from 0 to")
    call = ("train", path, "--target", "y", "--drop", "query_id", "--method", "rankrls", "-o", tmp_path / "m")
    shell(*call, "--alpha", "auto", "--cost", "unit").assert_refused(
        "--cost unit has no search for alpha without queries: set --qid, or --alpha in train."
    )
    assert shell(*call, "--kernel", "gaussian").code == 0
    call = ("export", tmp_path / "m", "-o", tmp_path / "e", "--to")
    shell(*call, "sql").assert_refused("Use --to onnx, or train with --kernel linear.")
    (tmp_path / "names").write_text("a\nb\n")
    shell(*call, "onnx", "--feature-names", tmp_path / "names").assert_refused("--feature-names has 2 names")


def test_a_warning_is_shown_once(shell, tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{k % 5},{k % 7}\n" for k in range(70)))
    found = shell("estimate", tmp_path / "t.csv", "--target", "y", "--permutations", 3)
    assert found.code == 0
    assert [line for line in found.err.splitlines() if "identical row" in line] == [
        "kernelrank estimate: warning: 70 rows have an identical row in the training set when they are held out: the"
        " estimate is then optimistic. Set --groups to keep identical rows together, or drop duplicates."
    ]


@pytest.mark.parametrize(
    ("alphas", "means", "goes_on", "told"),
    [
        ([1.0, 0.1], [0.5, 0.9], True, "Standardise the features, or set smaller --alphas."),
        ([1.0, 0.1], [0.5, 0.9], False, "Set smaller --alphas as well, or a number of them: such"),
        ([1.0, 0.1], [0.9, 0.5], False, "Set larger --alphas as well."),
    ],
)
def test_the_remedy_at_the_end_of_a_path_is_an_option(alphas, means, goes_on, told):
    with pytest.warns(PathEndWarning) as caught:
        warn_at_end(np.array(alphas), np.array(means), goes_on=goes_on, limit=lambda: np.inf)
    assert told in in_terms_of_options(str(caught[0].message))


def test_a_column_without_a_name(shell, tmp_path):
    path = tmp_path / "index.csv"
    path.write_text(",a,y\n0,1,2\n1,3,4\n")
    call = ("train", path, "--target", "y", "-o", tmp_path / "m", "--json")
    shell(*call).assert_refused("index.csv: column 1 has no name", "leave it out with --drop ''.")
    assert shell(*call, "--drop", "").json["features"] == "a"


def test_cv_without_queries(shell, tmp_path, rng):
    path = tmp_path / "rows.csv"
    X = rng.normal(size=(60, 2))
    path.write_text("a,b,y\n" + "".join(f"{a},{b},{a - b}\n" for a, b in X))
    result = shell("cv", path, "--target", "y", "--alphas", "2", "--json").json
    assert result["n_queries"] is None
    assert result["metrics"]["concordance"]["mean"] > 0.9


class TestLeastSquares:
    @pytest.mark.parametrize("kernel", ["linear", "gaussian", "polynomial"])
    def test_train_and_predict_are_fit_and_predict(self, shell, train, held_out, tmp_path, kernel):
        options = ("--method", "rankrls", "--kernel", kernel, "--alpha", 0.01, "--ties", "drop", "--jobs", 1)
        result = shell("train", train.path, "-o", tmp_path / "m", "--json", *options).json
        assert shell.err == ""
        assert (result["method"], result["converged"], result["gap"]) == ("rankrls", True, None)
        data, others = load_svmlight(train.path), load_svmlight(held_out.path)
        expected = RankRLS(0.01, kernel=kernel, ties="drop").fit(data.X, data.y, qid=data.qid)
        scores = expected.predict(others.X)
        assert shell("predict", held_out.path, "-m", tmp_path / "m", "--json").json == {"scores": scores.tolist()}
        found = shell("evaluate", held_out.path, "-m", tmp_path / "m", "--metric", "concordance", "--json").json
        concordance = metrics.concordance_index(others.y, scores, qid=others.qid)
        assert found["metrics"]["concordance"]["mean"] == pytest.approx(concordance)
        text = shell("train", train.path, "-o", tmp_path / "m", *options).out
        assert "iterations  1" in text
        assert "gap" not in text

    def test_what_is_not_given_is_up_to_the_estimator(self, shell, train, tmp_path):
        shell("train", train.path, "-o", tmp_path / "m", "--method", "rankrls")
        assert load_model(tmp_path / "m").get_params() == RankRLS().get_params()
        shell("train", train.path, "-o", tmp_path / "m")
        assert load_model(tmp_path / "m").get_params() == RankSVM().get_params()

    def test_options_of_the_other_method_are_refused(self, shell, train, tmp_path):
        command = ("train", train.path, "-o", tmp_path / "m")
        for option in (("--loss", "hinge"), ("--positive",)):
            shell(*command, "--method", "rankrls", *option).assert_refused(f"{option[0]} is for --method ranksvm")
        shell(*command, "--ties", "drop").assert_refused("--ties is for --method rankrls")
        shell("cv", train.path, "--ties", "drop").assert_refused("--ties is for --method rankrls")
        for option in (("--loss", "hinge"), ("--positive",), ("--tol", 1e-3), ("--max-iter", 9)):
            found = shell("cv", train.path, "--method", "rankrls", *option)
            found.assert_refused(f"{option[0]} is for --method ranksvm")
        shell(*command, "--method", "rankrls", "--kernel", "precomputed").assert_refused("precomputed")
        assert not (tmp_path / "m").exists()

    def test_rows_are_as_dense_as_those_of_the_model(self, shell, tmp_path, rng, monkeypatch):
        """Some kernels require dense rows."""
        monkeypatch.setattr(_data, "_DENSE_AT_ONCE", 50)
        X = rng.uniform(size=(25, 3))
        path, scores = tmp_path / "rows.txt", tmp_path / "scores.txt"
        for kernel, rows in (("additive_chi2", X), ("precomputed", X @ X.T)):
            model = RankRLS(kernel=kernel).fit(rows, X[:, 0])
            save_model(model, tmp_path / "m")
            dump_svmlight(rows, X[:, 0], path)
            for program, command in (
                (cli.main, ("predict", path, "-m", tmp_path / "m", "-o", scores)),
                (cli.classify, (path, tmp_path / "m", scores)),
            ):
                assert shell(*command, program=program).code == 0
                np.testing.assert_allclose(np.loadtxt(scores), model.predict(rows), rtol=1e-12)


class TestKernels:
    FLAGS = (
        (("--kernel", "gaussian"), "gaussian"),
        (("--kernel", "gaussian", "--gamma", 0.3), Gaussian(0.3)),
        (("--kernel", "polynomial"), "polynomial"),
        (("--kernel", "polynomial", "--degree", 3, "--coef0", 0.5, "--gamma", 0.1), Polynomial(3, 0.5, 0.1)),
    )

    @pytest.mark.parametrize(("flags", "kernel"), FLAGS)
    @pytest.mark.parametrize("method", [RankSVM, RankRLS])
    @pytest.mark.parametrize("n_basis", [None, 20])
    def test_train_predict_and_evaluate(self, shell, train, held_out, tmp_path, flags, kernel, method, n_basis):
        options = (*flags, "--method", method.__name__.lower(), *(() if n_basis is None else ("--n-basis", n_basis)))
        result = shell("train", train.path, "-o", tmp_path / "m", "--alpha", 0.01, "--json", *options).json
        data, others = load_svmlight(train.path), load_svmlight(held_out.path)
        expected = method(0.01, kernel=kernel, n_basis=n_basis).fit(data.X, data.y, qid=data.qid)
        assert result["kernel"] == flags[1]
        assert result["n_basis"] == len(expected.dual_coef_) <= (n_basis or len(data.y))
        parameters = expected.kernel_.get_params()
        assert {name: result[name] for name in parameters} == parameters
        scores = expected.predict(others.X)
        assert shell("predict", held_out.path, "-m", tmp_path / "m", "--json").json == {"scores": scores.tolist()}
        found = shell("evaluate", held_out.path, "-m", tmp_path / "m", "--metric", "concordance", "--json").json
        concordance = metrics.concordance_index(others.y, scores, qid=others.qid)
        assert found["metrics"]["concordance"]["mean"] == pytest.approx(concordance)
        text = shell("train", train.path, "-o", tmp_path / "m", *options).out
        for line in (
            rf"kernel +{flags[1]}\n",
            rf"n basis +{result['n_basis']}\n",
            rf"gamma +{parameters['gamma']:.6g}\n",
        ):
            assert re.search(line, text)

    def test_of_a_table(self, shell, tmp_path, rng):
        X = rng.normal(size=(40, 2))
        pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.hypot(*X.T)}).write_csv(tmp_path / "t.csv")
        command = ("train", tmp_path / "t.csv", "--target", "y", "-o", tmp_path / "m", "--kernel", "gaussian")
        assert shell(*command).code == 0
        assert (
            shell("evaluate", tmp_path / "t.csv", "--target", "y", "-m", tmp_path / "m", "--json").json["metrics"][
                "concordance"
            ]["mean"]
            > 0.9
        )

    @pytest.mark.parametrize("n_basis", [None, 20])
    def test_cv(self, shell, train, tmp_path, n_basis):
        options = ("--alphas", "1,0.01", "--folds", 3, "--kernel", "gaussian", "--gamma", 0.2, "--seed", 7)
        options += () if n_basis is None else ("--n-basis", n_basis)
        result = shell("cv", train.path, *options, "-o", tmp_path / "m", "--json").json
        data = load_svmlight(train.path)
        expected = RankSVMCV([1, 0.01], cv=3, kernel=Gaussian(0.2), n_basis=n_basis, random_state=7)
        expected.fit(data.X, data.y, qid=data.qid)
        assert (result["alpha"], result["objective"], result["gap"]) == (
            *(expected.alpha_, expected.objective_, expected.gap_),
        )
        assert (result["kernel"], result["gamma"], result["n_basis"]) == ("gaussian", 0.2, n_basis or len(data.y))
        np.testing.assert_allclose([p["mean"] for p in result["path"]], expected.scores_.mean(axis=1), rtol=1e-12)
        np.testing.assert_array_equal(load_model(tmp_path / "m").dual_coef_, expected.dual_coef_)
        assert (
            f"kernel gaussian, gamma 0.2000, n basis {n_basis or len(data.y)}" in shell("cv", train.path, *options).out
        )

    @pytest.mark.parametrize(
        ("flags", "parameters"),
        [
            ((), {}),
            (("--kernel", "gaussian", "--n-basis", 20, "--ties", "drop"), {"kernel": "gaussian", "n_basis": 20}),
        ],
    )
    def test_cv_of_least_squares(self, shell, train, tmp_path, flags, parameters):
        options = ("--method", "rankrls", "--alphas", "1,0.01,1e-4", "--folds", 3, "--seed", 7, *flags)
        result = shell("cv", train.path, *options, "--select", "ndcg@5", "-o", tmp_path / "m", "--json").json
        data = load_svmlight(train.path)
        ties = {"ties": "drop"} if flags else {}
        expected = RankRLSCV([1, 0.01, 1e-4], cv=3, scoring="ndcg@5", random_state=7, **parameters, **ties)
        expected.fit(data.X, data.y, qid=data.qid)
        assert (result["method"], result["alpha"], result["n_folds"]) == ("rankrls", expected.alpha_, 3)
        assert (result["converged"], result["objective"], result["gap"]) == (True, None, None)
        np.testing.assert_allclose([p["mean"] for p in result["path"]], expected.scores_.mean(axis=1), rtol=1e-12)
        best = list(expected.alphas_).index(expected.alpha_)
        concordance = RankRLSCV([1, 0.01, 1e-4], cv=3, random_state=7, **parameters, **ties)
        concordance.fit(data.X, data.y, qid=data.qid)
        np.testing.assert_allclose(result["metrics"]["concordance"]["folds"], concordance.scores_[best], rtol=1e-12)
        loaded = load_model(tmp_path / "m")
        assert (loaded.cv, loaded.scoring, loaded.random_state) == (3, "ndcg@5", 7)
        np.testing.assert_array_equal(loaded.predict(data.X), expected.predict(data.X))
        text = shell("cv", train.path, *options).out
        assert ("kernel gaussian" in text) is bool(flags)
        assert "chosen on the same folds" in text

    def test_cv_of_least_squares_knows_no_weights(self, shell, tmp_path, rng):
        path = tmp_path / "w.csv"
        path.write_text("a,y,w\n" + "".join(f"{a},{a},1\n" for a in rng.normal(size=20)))
        command = ("cv", path, "--target", "y", "--weight", "w", "--method", "rankrls")
        shell(*command).assert_refused("--weight is for --method ranksvm")

    def test_mistakes(self, shell, train, tmp_path):
        for command in (("train", train.path, "-o", tmp_path / "m"), ("cv", train.path)):
            for flags, words in (
                (("--gamma", 1), "--gamma is for --kernel gaussian or polynomial"),
                (("--kernel", "linear", "--degree", 2), "--degree is for --kernel polynomial"),
                (("--kernel", "gaussian", "--coef0", 1), "--coef0 is for --kernel polynomial"),
                (("--kernel", "gaussian", "--gamma", 0), "gamma must be a positive number"),
                (("--kernel", "polynomial", "--degree", 0), "degree must be a positive integer"),
                (("--kernel", "polynomial", "--coef0", -1), "coef0 must be a non-negative finite number"),
                (("--n-basis", 5), "--n-basis is for --kernel gaussian or polynomial, or for --method rankrls"),
                (("--kernel", "gaussian", "--n-basis", 0), "--n-basis: must be at least 1"),
                (("--kernel", "gaussian", "--positive"), "positive=True is for the linear kernel"),
            ):
                shell(*command, *flags).assert_refused(words)
        assert not (tmp_path / "m").exists()

    def test_memory_that_is_not_there(self, shell, train, tmp_path, monkeypatch):
        monkeypatch.setattr("kernelrank._memory.available_memory", lambda: 1000)
        shell("train", train.path, "-o", tmp_path / "m", "--kernel", "gaussian").assert_refused("n_basis")


class TestClassifiers:
    @pytest.mark.parametrize(
        "model",
        [OrdinalSVM(), OrdinalSVM(kernel="gaussian"), RankingClassifier(RankSVM(kernel="chi2"))],
        ids=repr,
    )
    def test_their_scores_are_predicted(self, shell, train, tmp_path, model):
        train.X = np.abs(train.X)  # one of these kernels requires non-negative dense rows
        train.save()
        model.fit(train.X, np.array(["a", "b", "c", "d"])[train.y])
        save_model(model, tmp_path / "m")
        scores = model.score_samples(train.X)
        found = shell("predict", train.path, "-m", tmp_path / "m", "--json").json["scores"]
        np.testing.assert_allclose(found, scores, rtol=1e-9, atol=1e-12)
        found = shell("evaluate", train.path, "-m", tmp_path / "m", "--metric", "concordance", "--json").json
        concordance = metrics.concordance_index(train.y, scores, qid=train.qid)
        assert found["metrics"]["concordance"]["mean"] == pytest.approx(concordance)


class TestTables:
    @pytest.fixture
    def table(self, tmp_path, rng):
        X = rng.normal(size=(40, 3))
        frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "price": X[:, 0] - X[:, 1], "qid": ["x", "y"] * 20})
        frame.write_csv(tmp_path / "t.csv")
        frame.write_csv(tmp_path / "t.tsv", separator="\t")
        frame.write_parquet(tmp_path / "t.parquet")
        return frame

    @pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet"])
    def test_columns_have_names(self, shell, table, tmp_path, name):
        call = ("train", tmp_path / name, "--target", "price", "--scale", "none", "-o", tmp_path / "m")
        assert shell(*call).code == 0
        model = load_model(tmp_path / "m")
        assert model.feature_names_in_.tolist() == ["a", "b"]
        expected = RankSVM().fit(table.select("a", "b"), table["price"], qid=table["qid"].to_numpy())
        np.testing.assert_array_equal(model[-1].coef_, expected.coef_)

    def test_columns_are_found_by_name(self, shell, table, tmp_path):
        shell("train", tmp_path / "t.csv", "--target", "price", "-o", tmp_path / "m")
        one = shell("predict", tmp_path / "t.csv", "-m", tmp_path / "m").out
        table.select("b", "qid", "a").write_csv(tmp_path / "other.csv")  # no target, another order
        assert shell("predict", tmp_path / "other.csv", "-m", tmp_path / "m").out == one

    def test_weights_and_queries_by_name(self, shell, table, tmp_path):
        path = tmp_path / "w.csv"
        table.rename({"qid": "shop"}).with_columns(weight=table["a"].abs()).write_csv(path)
        call = ("train", path, "--target", "price", "--qid", "shop", "--weight", "weight", "--scale", "none")
        shell(*call, "-o", tmp_path / "m")
        expected = RankSVM().fit(
            table.select("a", "b"), table["price"], qid=table["qid"].to_numpy(), sample_weight=table["a"].abs()
        )
        np.testing.assert_array_equal(load_model(tmp_path / "m")[-1].coef_, expected.coef_)

    def test_mistakes(self, shell, table, tmp_path):
        path = tmp_path / "t.csv"
        shell("train", path, "-o", tmp_path / "m").assert_refused("--target")
        shell("train", path, "--target", "prize", "-o", tmp_path / "m").assert_refused('no column "prize"', "price")
        shell("train", path, "--target", "price", "--qid", "a", "-o", tmp_path / "m").assert_refused(
            't.csv: column "qid"', "--drop qid"
        )
        shell("train", path, "--target", "price", "--zero-based", "-o", tmp_path / "m").assert_refused("--zero-based")
        (tmp_path / "gap.csv").write_text("a,price\n1,2\n,3\n3,\n")
        shell("train", tmp_path / "gap.csv", "--target", "price", "-o", tmp_path / "m").assert_refused(
            '"price"', "row 3"
        )
        (tmp_path / "bad.parquet").write_text("no parquet")
        shell("train", tmp_path / "bad.parquet", "--target", "x", "-o", tmp_path / "m").assert_refused("bad.parquet")
        assert not (tmp_path / "m").exists()

    def test_weights_count_in_metrics_of_pairs(self, shell, table, tmp_path):
        path, scores = tmp_path / "w.csv", tmp_path / "scores.txt"
        table.with_columns(weight=table["a"].abs()).write_csv(path)
        np.savetxt(scores, table["a"].to_numpy())
        known = ("evaluate", path, "--target", "price", "-s", scores, "--metric", "concordance", "--json")
        weighted = shell(*known, "--weight", "weight").json["metrics"]["concordance"]["mean"]
        plain = shell(*known).json["metrics"]["concordance"]["mean"]
        y, a, qid = (table[name].to_numpy() for name in ("price", "a", "qid"))
        assert weighted == pytest.approx(metrics.concordance_index(y, a, qid=qid, sample_weight=np.abs(a)))
        assert plain == pytest.approx(metrics.concordance_index(y, a, qid=qid))
        assert weighted != plain

    def test_censored_utilities(self, shell, table, tmp_path):
        path, model, died = tmp_path / "c.csv", tmp_path / "m", table["a"].to_numpy() < 0.5
        table.with_columns(died=died).write_csv(path)
        known = ("--target", "price", "--observed", "died")
        plain = (*known, "--scale", "none")
        X, y, qid = table.select("a", "b"), table["price"], table["qid"].to_numpy()
        expected = RankSVM().fit(X, y, qid=qid, observed=died)
        assert shell("train", path, *plain, "-o", model, "--json").json["n_pairs"] == expected.n_pairs_
        np.testing.assert_array_equal(load_model(model)[-1].coef_, expected.coef_)
        found = shell("evaluate", path, *known, "-m", model, "--json").json["metrics"]
        assert list(found) == ["concordance", "pairwise-error", "kendall"]
        assert found["concordance"]["mean"] == pytest.approx(expected.score(X, y, qid=qid, observed=died))
        assert "warning: the model was trained with censored" in shell("evaluate", path, *known[:2], "-m", model).err
        options = ("--alphas", "1,0.01", "--folds", 2, "--json")
        chosen = RankSVMCV([1, 0.01], cv=2).fit(X, y, qid=qid, observed=died)
        means = [p["mean"] for p in shell("cv", path, *plain, *options).json["path"]]
        np.testing.assert_allclose(means, chosen.scores_.mean(axis=1), rtol=1e-12)
        least = RankRLS().fit(X, y, qid=qid, observed=died)
        shell("train", path, *plain, "--method", "rankrls", "-o", model)
        np.testing.assert_array_equal(load_model(model)[-1].coef_, least.coef_)
        shell("evaluate", path, *known, "-m", model, "--metric", "ndcg@5").assert_refused("not for censored utilities")
        shell("cv", path, *known, "--method", "rankrls").assert_refused("--observed is for --method ranksvm")
        shell("train", path, *known, "--out-of-core", "-o", model).assert_refused("--observed cannot be used")

    def test_cv_chooses_with_weights(self, shell, table, tmp_path):
        path = tmp_path / "w.csv"
        table.with_columns(weight=table["a"].abs()).write_csv(path)
        options = ("--alphas", "1,0.01", "--folds", 2, "--scale", "none", "--json")
        found = shell("cv", path, "--target", "price", "--weight", "weight", *options).json
        expected = RankSVMCV([1, 0.01], cv=2).fit(
            table.select("a", "b"), table["price"], qid=table["qid"].to_numpy(), sample_weight=table["a"].abs()
        )
        np.testing.assert_allclose([p["mean"] for p in found["path"]], expected.scores_.mean(axis=1), rtol=1e-12)

    def test_scores_from_a_file_need_no_features(self, shell, table, tmp_path):
        path, scores = tmp_path / "t.csv", tmp_path / "scores.txt"
        table.with_columns(url=table["qid"] + "/page").write_csv(path)
        np.savetxt(scores, table["a"].to_numpy())
        assert shell("evaluate", path, "--target", "price", "-s", scores).code == 0

    def test_a_model_with_names_refuses_rows_without(self, shell, table, train, tmp_path):
        shell("train", tmp_path / "t.csv", "--target", "price", "-o", tmp_path / "m")
        shell("predict", train.path, "-m", tmp_path / "m").assert_refused("named features (a, b)", train.path)

    def test_a_column_of_queries_can_be_dropped(self, shell, table, tmp_path):
        command = ("train", tmp_path / "t.csv", "--target", "price", "--drop", "qid", "-o", tmp_path / "m", "--json")
        assert shell(*command).json["n_queries"] is None

    def test_from_standard_input_and_compressed(self, shell, table, tmp_path, monkeypatch):
        with lzma.open(tmp_path / "t.csv.xz", "wb") as file:
            file.write((tmp_path / "t.csv").read_bytes())
        command = ("train", "--target", "price", "-o", tmp_path / "m", "--json")
        expected = shell(*command, tmp_path / "t.csv").json["objective"]
        assert shell(*command, tmp_path / "t.csv.xz").json["objective"] == expected
        with open(tmp_path / "t.csv") as rows:
            monkeypatch.setattr(sys, "stdin", rows)
            assert shell(*command, "-", "--format", "csv").json["objective"] == expected

    def test_dates_as_queries(self, shell, table, tmp_path):
        path, scores = tmp_path / "d.parquet", tmp_path / "s"
        days = pl.Series([date(2020, 1, 1 + k % 2) for k in range(40)])
        table.with_columns(qid=days).write_parquet(path)
        np.savetxt(scores, table["a"].to_numpy())
        found = shell("evaluate", path, "--target", "price", "-s", scores, "--per-query", "--json").json
        assert [row["qid"] for row in found["per_query"]] == ["2020-01-01", "2020-01-02"]


class TestOtherFeatures:
    def test_features_beyond_the_model_are_told(self, shell, train, tmp_path):
        shell("train", train.path, "-o", tmp_path / "m")
        (tmp_path / "wide").write_text("1 qid:1 1:1 9:5\n0 qid:1 1:1\n")
        first, second = shell("predict", tmp_path / "wide", "-m", tmp_path / "m").out.split()
        assert first == second
        assert "5 more features than the model" in shell.err

    def test_a_model_remembers_how_features_are_counted(self, shell, tmp_path):
        path = tmp_path / "zero.txt"
        path.write_text("1 0:1 1:3\n0 0:3 1:1\n2 0:0.5 1:7\n")
        shell("train", path, "--zero-based", "-o", tmp_path / "m")
        (tmp_path / "later.txt").write_text("1 1:3\n")  # an index 0 need not occur
        score = float(shell("predict", tmp_path / "later.txt", "-m", tmp_path / "m").out)
        assert score == 3 * load_model(tmp_path / "m").coef_[1]
        (tmp_path / "one.txt").write_text("1 1:1\n0 1:3\n")
        shell("train", tmp_path / "one.txt", "-o", tmp_path / "m")
        shell("predict", path, "--zero-based", "-m", tmp_path / "m").assert_refused("count from 1")

    def test_missing_queries_are_told(self, shell, train, tmp_path):
        shell("train", train.path, "-o", tmp_path / "m")
        (tmp_path / "none.txt").write_text("1 1:1\n0 1:3\n")
        assert "trained with queries" in shell("evaluate", tmp_path / "none.txt", "-m", tmp_path / "m").err
        assert shell("predict", tmp_path / "none.txt", "-m", tmp_path / "m").err == ""


class TestMistakes:
    def test_are_told_before_any_work(self, shell, train, tmp_path):
        for command in (("train", train.path), ("cv", train.path), ("predict", train.path, "-m", "no model")):
            shell(*command, "-o", tmp_path / "no" / "folder").assert_refused("no/folder", "No such file")
            assert "objective" not in shell.err
        shell("train", train.path, "-o", tmp_path).assert_refused("directory")

    def test_of_models(self, shell, train, tmp_path):
        for content in ("", "1 1:2\n"):
            (tmp_path / "m").write_text(content)
            shell("predict", train.path, "-m", tmp_path / "m").assert_refused("neither a model of kernelrank")

    def test_of_standard_streams(self, shell, train, tmp_path):
        shell("evaluate", "-", "-s", "-").assert_refused("both")
        for output in ("", "-"):
            shell("train", train.path, "-o", output).assert_refused("name of a file")

    def test_closed_streams(self, train, tmp_path):
        program = f"{sys.executable} -c '{PROGRAM[2]}'"
        for closed in (">&-", "2>&-"):
            command = f"{program} train {train.path} -o {tmp_path}/m {closed}"
            assert subprocess.run(["bash", "-c", command], capture_output=True).returncode == 0

    def test_a_bug_is_no_mistake_of_the_user(self, shell, train, monkeypatch, tmp_path):
        def fail(*_, **__):
            raise ZeroDivisionError("oops")

        monkeypatch.setattr(RankSVM, "fit", fail)
        assert shell("train", train.path, "-o", tmp_path / "m").code == 3
        assert "unexpected ZeroDivisionError: oops" in shell.err
        monkeypatch.setenv("KERNELRANK_TRACEBACK", "1")
        with pytest.raises(ZeroDivisionError):
            shell("train", train.path, "-o", tmp_path / "m")

    def test_of_numbers(self, shell, tmp_path):
        path = tmp_path / "bad.txt"
        path.write_text("1 1:2\n2 1:1 2:nan\n")
        shell("train", path, "-o", tmp_path / "m").assert_refused(f"{path}: row 2 has a value of nan")
        path.write_text("# nothing\n")
        shell("train", path, "-o", tmp_path / "m").assert_refused("there are no rows")

    def test_of_files(self, shell, train, tmp_path):
        model = tmp_path / "m"
        shell("train", tmp_path / "nowhere", "-o", model).assert_refused("nowhere", "No such file")
        bad = tmp_path / "bad.txt"
        bad.write_text("1 qid:1 1:2\n2 qid:1 1:x\n")
        shell("train", bad, "-o", model).assert_refused(f"{bad}:2: ")
        bad.write_text("1 0:1\n2 0:2\n")
        shell("train", bad, "-o", model).assert_refused(f"{bad}:1: ", "--zero-based")
        assert shell("train", bad, "--zero-based", "-o", model).code == 0
        bad.write_text("1 1:1\n1 1:2\n")
        shell("train", bad, "-o", model).assert_refused("no pair")
        shell("predict", train.path, "-m", bad).assert_refused("bad.txt")
        shell("train", train.path, "-o", tmp_path / "no" / "folder").assert_refused("folder")

    def test_of_scores(self, shell, train, tmp_path):
        scores = tmp_path / "s"
        scores.write_text("1.0\n2.0\n")
        shell("evaluate", train.path, "-s", scores).assert_refused("2 scores")
        scores.write_text("1.0\ntwo\n")
        shell("evaluate", train.path, "-s", scores).assert_refused(f"{scores}:2: ", "two")

    @pytest.mark.parametrize(
        ("metric", "word"),
        [
            ("recall", "recall"),
            ("auc@3", "auc"),
            ("precision", "precision@10"),
            ("ndcg@x", "ndcg@10"),
            ("ndcg@3:gain=cubic", "gain must be"),
            ("ndcg@3:depth=2", "one of the options gain"),
        ],
    )
    def test_of_metrics(self, shell, train, tmp_path, metric, word):
        (tmp_path / "s").write_text("0\n" * len(train.y))
        shell("evaluate", train.path, "-s", tmp_path / "s", "--metric", metric).assert_refused(word)

    @pytest.mark.parametrize("option", [("--alpha", "-1"), ("--alpha", "nan"), ("--tol", "0"), ("--max-iter", "0")])
    def test_of_parameters(self, shell, train, tmp_path, option):
        shell("train", train.path, "-o", tmp_path / "m", *option).assert_refused(option[0][2:].replace("-", "_"))

    def test_of_the_call(self, shell, train):
        shell("train", train.path).assert_refused("--output")
        shell("tarin").assert_refused("tarin")
        shell("train", train.path, "-o", "m", "--target", "y").assert_refused("--target")
        shell("cv", train.path, "--alphas", "many").assert_refused("--alphas")
        shell("cv", train.path, "--folds", "1").assert_refused()
        shell("cv", train.path, "--select", "pairwise-error").assert_refused("concordance")


def test_help_shows_an_example_and_loads_nothing():
    script = """
import sys
from kernelrank import cli
for command in ("train", "predict", "evaluate", "cv", "estimate", "select", "relations", "demo"):
    try:
        cli.main([command, "--help"])
    except SystemExit as left:
        assert left.code == 0
assert "numpy" not in sys.modules and "sklearn" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.count("example:\n  kernelrank ") == 8


def test_version(shell):
    assert shell("--version").out.startswith("kernelrank 0.")
    assert shell.code == 0


def test_nothing_but_results_in_a_pipe(train, tmp_path):
    command = [*PROGRAM, "train", train.path, "-o", str(tmp_path / "m"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("{")
    assert done.stderr == ""


def test_standard_input(train, tmp_path):
    with open(train.path) as rows:
        subprocess.run([*PROGRAM, "train", "-", "-o", str(tmp_path / "m")], stdin=rows, capture_output=True, check=True)
    np.testing.assert_array_equal(load_model(tmp_path / "m").coef_, fitted(train).coef_)


def test_a_reader_that_has_seen_enough(train, tmp_path):
    subprocess.run([*PROGRAM, "train", train.path, "-o", str(tmp_path / "m"), "-q"], capture_output=True, check=True)
    with open(tmp_path / "long.txt", "w") as file:
        file.writelines(f"0 1:{k}\n" for k in range(100_000))
    command = f"{sys.executable} -c '{PROGRAM[2]}' predict {tmp_path}/long.txt -m {tmp_path}/m | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


def read_terminal(device):
    """Return what was written to a terminal; nothing once no program has it open."""
    try:
        return os.read(device, 1000)
    except OSError:  # Linux raises an error at the end
        return b""


def test_ctrl_c_is_clean(tmp_path, rng):
    path = tmp_path / "many.txt"
    with open(path, "w") as file:
        for y, *x in rng.normal(size=(30_000, 21)):  # hundreds of iterations, up to the precision of float64
            file.write(f"{y} " + " ".join(f"{k}:{value:.4f}" for k, value in enumerate(x, 1)) + "\n")
    old = tmp_path / "m"
    old.write_text("an older model")
    impatient = "import sys; from kernelrank.cli import _working, main; _working.PATIENCE = 0; sys.exit(main())"
    command = [
        *PROGRAM[:2],
        impatient,
        "train",
        str(path),
        "-o",
        str(old),
        "--tol",
        "1e-15",
        "--max-iter",
        "100000000",
        "--alpha",
        "1e-9",
    ]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while b"objective" not in shown:
            shown += os.read(ours, 1000)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        while chunk := read_terminal(ours):
            shown += chunk
        assert process.wait(timeout=10) == 130
    os.close(ours)
    assert b"interrupted" in shown
    assert b"Traceback" not in shown
    assert old.read_text() == "an older model"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m", "many.txt"]


def test_demo(shell, tmp_path):
    folder = tmp_path / "demo"
    assert shell("demo", "--folder", folder).code == 0
    names = {"train.csv", "test.csv", "model.kr", "path.png", "report.html"}
    assert {path.name for path in folder.iterdir()} == names
    assert re.findall(r"^\$ kernelrank (\w+)", shell.out, re.MULTILINE) == ["cv", "estimate", "evaluate", "report"]
    assert f"{folder / 'report.html'}\n" in shell.out
    train, test = (pl.read_csv(folder / name) for name in ("train.csv", "test.csv"))
    assert len(train) + len(test) == len(load_apartments().y)
    assert not set(train["search"]) & set(test["search"])
    estimate = float(re.search(r"^estimate +(\S+)", shell.out, re.MULTILINE)[1])
    tested = float(re.findall(r"^concordance +(\S+)", shell.out, re.MULTILINE)[1])
    assert min(estimate, tested) > 0.7
    assert abs(estimate - tested) < 0.1  # honest: of new searches, both times


class TestPaths:
    """Extension of paths, their ends, and the choice of kernels."""

    @pytest.fixture
    def wine(self, tmp_path):
        path = tmp_path / "wine.txt"
        dump_svmlight(*load_wine(return_X_y=True), path)
        return path

    def test_a_path_goes_on(self, shell, wine):
        result = shell("cv", wine, "--alphas", 8, "--folds", 3, "--json").json
        alphas = [each["alpha"] for each in result["path"]]
        assert len(alphas) > 8
        assert result["alpha_at_end"] is False
        assert max(each["mean"] for each in result["path"]) > 0.97

    def test_the_table_says_where_the_best_is_at_the_end(self, shell, wine):
        shell("cv", wine, "--alphas", "1000,100", "--folds", 3)
        assert re.search(r"^100 .*\* at the end of the path: values beyond it may be better$", shell.out, re.MULTILINE)
        assert "warning: The best alpha, 100, is the smallest" in shell.err
        assert "Set smaller --alphas as well, or a number of them: such a grid goes on" in shell.err
        assert shell("cv", wine, "--alphas", "1000,100", "--folds", 3, "--json").json["alpha_at_end"] is True

    @pytest.mark.parametrize("method", ["ranksvm", "rankrls"])
    def test_gamma_is_searched(self, shell, train, tmp_path, method):
        options = ("--method", method, "--kernel", "gaussian", "--folds", 3, "--alphas", "1,0.01", "--n-basis", 30)
        result = shell("cv", train.path, *options, "--gamma", "0.001,0.1,10", "-o", tmp_path / "m", "--json").json
        single = {
            gamma: shell("cv", train.path, *options, "--gamma", gamma, "--json").json for gamma in (0.001, 0.1, 10)
        }
        best = max(single, key=lambda gamma: max(each["mean"] for each in single[gamma]["path"]))
        assert [each["gamma"] for each in result["kernels"]] == list(single)
        assert result["gamma"] == best
        for name in ("path", "metrics", "alpha"):
            assert result[name] == single[best][name]
        assert load_model(tmp_path / "m").kernel_.gamma == best
        table = shell("cv", train.path, *options, "--gamma", "0.001,0.1,10").out
        assert re.search(rf"^{best:.4g} +0\.\d+ +\*$", table, re.MULTILINE)

    def test_one_of_several_equal_kernels_is_marked(self, shell, train):
        options = ("--kernel", "polynomial", "--degree", 1, "--gamma", "2,2", "--folds", 3, "--alphas", 0.1)
        table = shell("cv", train.path, *options, "--n-basis", 30, "-q").out.split("\n\n")[0]
        assert table.count("*") == 1

    def test_all_parameters_of_a_kernel_are_combined(self, shell, train):
        options = ("--kernel", "polynomial", "--degree", "1,2", "--coef0", "0,1", "--n-basis", 20, "--alphas", "1,0.1")
        kernels = shell("cv", train.path, *options, "--folds", 2, "--json").json["kernels"]
        assert [(each["degree"], each["coef0"]) for each in kernels] == [(1, 0), (1, 1), (2, 0), (2, 1)]

    def test_training_takes_one_kernel(self, shell, train, tmp_path):
        shell("train", train.path, "-o", tmp_path / "m", "--kernel", "gaussian", "--gamma", "1,2").assert_refused(
            "--gamma", "must be a number, got '1,2'; only cv takes several"
        )
        shell("cv", train.path, "--kernel", "gaussian", "--gamma", "1,wide").assert_refused("1,wide")
        shell("cv", train.path, "--kernel", "polynomial", "--degree", "1.5").assert_refused("integers")
