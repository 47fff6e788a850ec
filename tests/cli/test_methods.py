"""Methods, several targets, and the search for alpha: the results are those of the estimators in Python."""

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import GroupKFold

from kernelrank import (
    RLS,
    RLSCV,
    GreedyRankRLS,
    OrdinalSVM,
    RankRLS,
    RankRLSCV,
    RankSVMCV,
    metrics,
)
from kernelrank.io import load_svmlight, load_table
from kernelrank.persistence import load_model, save_model
from kernelrank.pipelines import make_table_ranker


@pytest.fixture
def two(tmp_path, rng):
    """Return a table with two targets, and its path."""
    X = rng.normal(size=(48, 3))
    Y = X @ rng.normal(size=(3, 2)) + 0.3 * rng.normal(size=(48, 2))
    path = tmp_path / "two.csv"
    rows = np.column_stack([X, Y, np.arange(48) // 6]).tolist()
    lines = [",".join(map(repr, [*row[:-1], int(row[-1])])) for row in rows]
    path.write_text("\n".join(["a,b,c,taste,price,qid", *lines]) + "\n")
    return path, load_table(path, target="taste", features=["a", "b", "c"]).X, Y, np.arange(48) // 6


MODELS = {
    "rls": (RLS, {}),
    "rankrls": (RankRLS, {"cost": "unit"}),
    "ordinal": (OrdinalSVM, {}),
    "greedy": (GreedyRankRLS, {"n_features": 2}),
}


@pytest.mark.parametrize("method", MODELS)
def test_a_method_is_its_estimator(shell, train, held_out, tmp_path, method):
    kind, parameters = MODELS[method]
    data = load_svmlight(train.path)
    given = {"qid": data.qid} if kind in (RankRLS, GreedyRankRLS) else {}
    expected = kind(alpha=0.01, **parameters).fit(data.X, data.y, **given)
    options = [part for name, value in parameters.items() for part in (f"--{name.replace('_', '-')}", value)]
    call = ("train", train.path, "-o", tmp_path / "m", "--method", method, "--alpha", 0.01, *options)
    result = shell(*call, "--json").json
    assert shell.code == 0
    assert type(load_model(tmp_path / "m")) is kind
    rows = load_svmlight(held_out.path).X
    scores = expected.score_samples(rows) if kind is OrdinalSVM else expected.predict(rows)
    assert shell("predict", held_out.path, "-m", tmp_path / "m", "--json").json["scores"] == scores.tolist()
    found = shell("evaluate", held_out.path, "-m", tmp_path / "m", "--metric", "concordance", "--json").json["metrics"]
    assert found["concordance"]["mean"] == metrics.concordance_index(held_out.y, scores, qid=held_out.qid)
    assert ("selected" in result) == (kind is GreedyRankRLS)
    if kind is GreedyRankRLS:
        assert [each["feature"] for each in result["selected"]] == [str(k + 1) for k in expected.selected_]
        assert [each["error"] for each in result["selected"]] == expected.errors_.tolist()
        assert "feature" in shell(*call).out


@pytest.mark.parametrize(
    ("method", "kind", "held_out_by"),
    [("ranksvm", RankSVMCV, "5 folds"), ("rankrls", RankRLSCV, "queries"), ("rls", RLSCV, "queries")],
)
def test_alpha_auto_is_the_search(shell, train, tmp_path, method, kind, held_out_by):
    data = load_svmlight(train.path)
    expected = kind().fit(data.X, data.y, **{"groups" if kind is RLSCV else "qid": data.qid})
    call = ("train", train.path, "-o", tmp_path / "m", "--method", method, "--alpha", "auto")
    result = shell(*call, "--json").json
    assert result["alpha"] == expected.alpha_
    assert [each["alpha"] for each in result["path"]] == expected.alphas_.tolist()
    assert result["score"] == expected.scores_.mean(axis=1).max() == max(each["mean"] for each in result["path"])
    assert result["held_out"] == held_out_by
    # Five folds and all rows, for each alpha; least squares decompose the data once.
    assert result["n_fits"] == (6 * result["n_alphas"] if kind is RankSVMCV else 1)
    np.testing.assert_array_equal(load_model(tmp_path / "m").coef_, expected.coef_)
    out = shell(*call).out
    assert "seconds" in out
    assert out.count("*") == 1


def test_cross_validation_of_least_squares_of_rows_keeps_queries_together(shell, train, tmp_path):
    call = ("cv", train.path, "--method", "rls", "--alphas", "1,0.01", "--folds", 3, "--metric", "ndcg@5")
    result = shell(*call, "-o", tmp_path / "m", "--json").json
    data = load_svmlight(train.path)
    numbers = [int(each[1:]) for each in data.qid]  # GroupKFold breaks ties by the order of the ids
    folds = list(GroupKFold(3).split(data.X, groups=numbers))
    for alpha in result["path"]:
        values = [
            metrics.concordance_index(data.y[test], refitted.predict(data.X[test]), qid=data.qid[test])
            for train_rows, test in folds
            for refitted in [RLS(alpha["alpha"]).fit(data.X[train_rows], data.y[train_rows])]
        ]
        assert alpha["mean"] == pytest.approx(np.mean(values), rel=1e-9)
    assert [each["n_queries"] for each in result["metrics"].values()][-1] == 30
    best = RLS(result["alpha"]).fit(data.X, data.y)
    np.testing.assert_allclose(load_model(tmp_path / "m").coef_, best.coef_, rtol=1e-9)


@pytest.mark.parametrize("method", ["rankrls", "rls", "greedy"])
def test_several_targets(shell, two, tmp_path, method):
    path, X, Y, qid = two
    both = ("--target", "taste", "--target", "price")
    assert shell("train", path, *both, "--method", method, "--scale", "none", "-o", tmp_path / "m").code == 0
    model = {"rankrls": RankRLS, "rls": RLS, "greedy": GreedyRankRLS}[method]()
    given = {} if method == "rls" else {f"{type(model).__name__.lower()}__qid": qid}
    expected = make_table_ranker(X, model, scale="none").fit(X, Y, **given).predict(X)
    assert shell("predict", path, "-m", tmp_path / "m", "-o", tmp_path / "s.csv").code == 0
    assert (tmp_path / "s.csv").read_text().startswith("taste,price\n")
    np.testing.assert_allclose(np.loadtxt(tmp_path / "s.csv", delimiter=",", skiprows=1), expected, rtol=1e-12)
    assert shell("predict", path, "-m", tmp_path / "m", "--json").json["targets"] == ["taste", "price"]
    measured = {}
    for source in (("-m", tmp_path / "m"), ("-s", tmp_path / "s.csv")):
        # Targets are found by name, in any order.
        call = ("evaluate", path, *source, "--target", "price", "--target", "taste", "--per-query")
        found = shell(*call, "--json").json
        measured[source[0]] = found
        for k, name in enumerate(("taste", "price")):
            value = metrics.concordance_index(Y[:, k], expected[:, k], qid=qid)
            assert found["targets"][name]["concordance"]["mean"] == pytest.approx(value, rel=1e-12)
        assert [row["target"] for row in found["per_query"]] == ["price"] * 8 + ["taste"] * 8
        assert shell(*call).out.startswith("target")
    for part in ("targets", "per_query"):
        assert measured["-m"][part] == measured["-s"][part]
    for source in (("-m", tmp_path / "m"), ("-s", tmp_path / "s.csv")):
        one = shell("evaluate", path, *source, "--target", "price", "--json").json
        assert one["metrics"]["concordance"] == measured["-m"]["targets"]["price"]["concordance"]


def test_names_of_targets_are_quoted(shell, tmp_path):
    names = ["taste, or so", 'the "price"']
    table = pl.DataFrame({"a": [1.0, 2.0, 4.0, 3.0], names[0]: [1.0, 2.0, 3.0, 4.0], names[1]: [4.0, 3.0, 1.0, 2.0]})
    table.write_parquet(tmp_path / "t.parquet")
    both = (tmp_path / "t.parquet", "--target", names[0], "--target", names[1])
    assert shell("train", *both, "--method", "rls", "-o", tmp_path / "m").code == 0
    assert shell("predict", both[0], "-m", tmp_path / "m", "-o", tmp_path / "s.csv").code == 0
    assert pl.read_csv(tmp_path / "s.csv").height == 4
    measured = [
        shell("evaluate", *both, *source, "--json").json
        for source in (("-m", tmp_path / "m"), ("-s", tmp_path / "s.csv"))
    ]
    assert measured[0]["targets"] == measured[1]["targets"]
    assert list(measured[0]["targets"]) == names


def test_cross_validation_measures_each_target(shell, two):
    path, X, Y, qid = two
    call = ("cv", path, "--target", "taste", "--target", "price", "--method", "rankrls", "--alphas", 0.1, "--folds", 4)
    call = (*call, "--scale", "none")
    result = shell(*call, "--json").json
    expected = RankRLSCV([0.1], cv=4).fit(X, Y, qid=qid).scores_[0]  # mean over the targets
    found = [result["targets"][name]["concordance"]["folds"] for name in ("taste", "price")]
    np.testing.assert_allclose(np.mean(found, axis=0), expected, rtol=1e-12)
    alone = shell("cv", path, "--target", "taste", "--drop", "price", *call[6:], "--json").json
    np.testing.assert_allclose(alone["metrics"]["concordance"]["folds"], found[0], rtol=1e-12)
    assert "taste" in shell(*call).out


def test_models_with_several_targets_from_elsewhere_have_no_names(shell, train, two, tmp_path):
    path, X, Y, _ = two
    save_model(RLS().fit(X, Y), tmp_path / "m")
    assert shell("predict", path, "-m", tmp_path / "m").out.startswith("target_1,target_2\n")
    assert shell("evaluate", path, "-m", tmp_path / "m", "--target", "taste", "--target", "price").code == 0
    shell("evaluate", path, "-m", tmp_path / "m", "--target", "taste").assert_refused("as many columns")


class TestMistakes:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--cost", "unit"), "--cost is for --method rankrls."),
            (("--method", "rls", "--ties", "drop"), "--ties is for --method rankrls."),
            (("--method", "ordinal", "--query-weighting", "pair"), "--query-weighting is for --method ranksvm"),
            (("--method", "greedy", "--kernel", "gaussian"), "--kernel is for --method ranksvm, rankrls, rls or ord"),
            (("--method", "greedy", "--tol", 1), "--tol is for --method ranksvm, rankrls, rls or ordinal"),
            (("--method", "rls", "-k", 1), "--n-features is for --method greedy"),
            (("--method", "greedy", "-k", 9), "--n-features is 9, but X has 4 features"),
            (("--method", "ordinal", "--n-basis", 3), "--n-basis is for --kernel gaussian or polynomial, or for"),
            (("--method", "greedy", "--alpha", "auto"), "has no search for alpha: set --alpha in train"),
            (("--method", "rls", "--alpha", "auto", "--tol", 1), "--tol is for --method ranksvm with --alpha auto"),
            (("--alpha", "much"), "must be a number or auto, got 'much'"),
            (("--alpha", "auto", "--out-of-core"), "--alpha auto cannot be used with data out of core"),
        ],
    )
    def test_of_methods(self, shell, train, tmp_path, options, words):
        shell("train", train.path, "-o", tmp_path / "m", *options).assert_refused(words)
        assert not (tmp_path / "m").exists()

    def test_of_searches(self, shell, train):
        shell("cv", train.path, "--method", "ordinal").assert_refused("has no search for alpha", "rankrls or rls")
        shell("cv", train.path, "--method", "greedy", "-k", 2).assert_refused("has no search for alpha")

    def test_of_targets(self, shell, two, tmp_path):
        path, model = two[0], tmp_path / "m"
        both = ("--target", "taste", "--target", "price")
        refused = shell("train", path, *both, "-o", model)
        refused.assert_refused("several columns is for --method rankrls, rls or greedy")
        shell("train", path, *both, "--target", "taste", "-o", model, "--method", "rls").assert_refused("twice")
        shell("train", path, *both, "--target", "no", "-o", model, "--method", "rls").assert_refused('no column "no"')
        shell("train", path, *both, "-o", model, "--method", "rls")
        shell("evaluate", path, "--target", "a", "-m", model).assert_refused("predicts taste, price", "got a")
        assert shell("train", path, *both[:2], "--drop", "price", "-o", tmp_path / "one").code == 0
        shell("evaluate", path, *both, "-m", tmp_path / "one").assert_refused("predicts one target", "taste, price")
        (tmp_path / "s").write_text("taste,price\n1,2\n1,x\n")
        shell("evaluate", path, *both, "-s", tmp_path / "s").assert_refused(f"{tmp_path / 's'}:3: ")
        (tmp_path / "s").write_text("1\n2\n")
        shell("evaluate", path, *both, "-s", tmp_path / "s").assert_refused(f"{tmp_path / 's'}:1: ", "taste, price")
        (tmp_path / "s").write_text("taste,price\n1,2\n")
        shell("evaluate", path, *both, "-s", tmp_path / "s").assert_refused("has 1 scores", "48 rows")
        shell("estimate", path, *both).assert_refused("must name one column")
