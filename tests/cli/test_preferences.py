"""Files of preferences: training, cross-validation and evaluation by pairs of winners and losers."""

import numpy as np
import pytest

from kernelrank import RankRLS, RankSVM, RankSVMCV, metrics
from kernelrank.io import load_svmlight
from kernelrank.persistence import load_model


@pytest.fixture
def rows(tmp_path, rng):
    """Return a data file of rows without queries, preferences between them with weights, and their numbers."""
    X = rng.normal(size=(30, 3)).round(3)
    path = tmp_path / "rows.txt"
    path.write_text("".join(f"0 1:{a} 2:{b} 3:{c}\n" for a, b, c in X.tolist()))
    pairs = np.array([rng.choice(30, 2, replace=False) for _ in range(60)])
    wrong = X[pairs[:, 0], 0] + 0.5 * rng.normal(size=60) < X[pairs[:, 1], 0]
    pairs[wrong] = pairs[wrong, ::-1]
    return path, pairs, rng.integers(1, 4, 60)


def write(path, pairs, **columns):
    names = ["winner", "loser", *columns]
    lines = zip(*(pairs + 1).T.tolist(), *(values.tolist() for values in columns.values()), strict=True)
    path.write_text("\n".join([",".join(names), *(",".join(map(str, line)) for line in lines)]) + "\n")
    return path


def test_training_is_fit_pairs(shell, rows, tmp_path):
    data, pairs, weight = rows
    X = load_svmlight(data).X
    file, model = write(tmp_path / "pairs.csv", pairs, weight=weight), tmp_path / "m"
    result = shell("train", data, "--pairs", file, "-o", model, "--json").json
    expected = RankSVM().fit_pairs(X, pairs, weight=weight)
    np.testing.assert_array_equal(load_model(model).coef_, expected.coef_)
    assert result["weight_of_pairs"] == expected.n_pairs_
    two_columns = tmp_path / "pairs.txt"
    two_columns.write_text("\n".join(f"{winner} {loser}" for winner, loser in pairs + 1))
    shell("train", data, "--pairs", two_columns, "-o", model)
    np.testing.assert_array_equal(load_model(model).coef_, RankSVM().fit_pairs(X, pairs).coef_)


@pytest.mark.parametrize("cost", ["magnitude", "relative"])
def test_magnitudes_are_for_least_squares(shell, rows, tmp_path, cost):
    data, pairs, magnitude = rows
    file, model = write(tmp_path / "pairs.csv", pairs, magnitude=magnitude), tmp_path / "m"
    assert shell("train", data, "--pairs", file, "--method", "rankrls", "--cost", cost, "-o", model).code == 0
    expected = RankRLS(cost=cost).fit_pairs(load_svmlight(data).X, pairs, magnitude=magnitude)
    np.testing.assert_array_equal(load_model(model).coef_, expected.coef_)
    shell("train", data, "--pairs", file, "-o", model).assert_refused("magnitudes of pairs are for --method rankrls")


def test_evaluation_is_the_share_of_pairs_in_the_right_order(shell, rows, tmp_path):
    data, pairs, weight = rows
    file, model = write(tmp_path / "pairs.csv", pairs, weight=weight), tmp_path / "m"
    shell("train", data, "--pairs", file, "-o", model)
    result = shell("evaluate", data, "--pairs", file, "-m", model, "--json").json
    scores = load_model(model).predict(load_svmlight(data).X)
    expected = metrics.pair_accuracy(pairs, scores, weight=weight)
    assert 0.5 < result["metrics"]["pair-accuracy"]["mean"] == expected < 1
    assert "pair-accuracy" in shell("evaluate", data, "--pairs", file, "-m", model).out


def test_cross_validation_holds_out_pairs(shell, rows, tmp_path):
    data, pairs, weight = rows
    file = write(tmp_path / "pairs.csv", pairs, weight=weight)
    call = ("cv", data, "--pairs", file, "--alphas", "10,1,0.1", "--folds", 3)
    result = shell(*call, "-o", tmp_path / "m", "--json").json
    expected = RankSVMCV([10, 1, 0.1], cv=3).fit_pairs(load_svmlight(data).X, pairs, weight=weight)
    assert result["alpha"] == expected.alpha_
    assert result["held_out"] == "pairs"
    best = expected.scores_[expected.alphas_ == expected.alpha_][0]
    assert result["metrics"]["pair-accuracy"]["folds"] == best.tolist()
    assert result["metrics"]["pair-accuracy"]["n_queries"] == 3  # without queries, that of folds
    np.testing.assert_array_equal(load_model(tmp_path / "m").coef_, expected.coef_)
    assert "further pairs of the same rows" in shell(*call).out
    automatic = shell("train", data, "--pairs", file, "--alpha", "auto", "-o", tmp_path / "m", "--json").json
    assert automatic["selected_by"] == "pair-accuracy"


def test_queries_are_respected(shell, tmp_path, rng):
    data, file = tmp_path / "rows.txt", tmp_path / "pairs.txt"
    X = rng.normal(size=(12, 2)).round(3)
    data.write_text("".join(f"0 qid:{k // 4} 1:{a} 2:{b}\n" for k, (a, b) in enumerate(X.tolist())))
    file.write_text("1 2\n5 6\n9 10\n3 4\n\n")
    assert shell("train", data, "--pairs", file, "-o", tmp_path / "m").code == 0
    pairs, qid = np.array([[0, 1], [4, 5], [8, 9], [2, 3]]), np.arange(12) // 4
    expected = RankSVM().fit_pairs(load_svmlight(data).X, pairs, qid=qid)
    np.testing.assert_array_equal(load_model(tmp_path / "m").coef_, expected.coef_)
    found = shell("evaluate", data, "--pairs", file, "-m", tmp_path / "m", "--json", "--per-query").json
    scores = expected.predict(load_svmlight(data).X)
    assert found["metrics"]["pair-accuracy"]["mean"] == metrics.pair_accuracy(pairs, scores, qid=qid)
    assert [row["qid"] for row in found["per_query"]] == [0, 1, 2]
    assert shell("cv", data, "--pairs", file, "--alphas", 1, "--folds", 2, "--json").json["held_out"] == "queries"
    file.write_text("1 2\n4 5\n")
    shell("train", data, "--pairs", file, "-o", tmp_path / "m").assert_refused(f"{file}:2: ", "queries 0 and 1")


def test_rows_have_ids(shell, tmp_path, rng):
    data, file = tmp_path / "rows.csv", tmp_path / "pairs.csv"
    X = rng.normal(size=(5, 2)).round(3).tolist()
    data.write_text("name,a,b\n" + "".join(f"{name},{a},{b}\n" for name, (a, b) in zip("vwxyz", X, strict=True)))
    file.write_text('winner,loser\nx,v\n"y", w\nz,x\n')
    call = ("train", data, "--pairs", file, "--id", "name", "-o", tmp_path / "m", "--scale", "none")
    assert shell(*call, "--json").json["n_features"] == 2
    found = shell("evaluate", data, "--pairs", file, "--id", "name", "-m", tmp_path / "m", "--json").json
    scores = RankSVM().fit_pairs(X, [[2, 0], [3, 1], [4, 2]]).predict(X)
    expected = metrics.pair_accuracy([[2, 0], [3, 1], [4, 2]], scores)
    assert found["metrics"]["pair-accuracy"]["mean"] == pytest.approx(expected)
    file.write_text("winner,loser\nx,v\nq,w\n")
    shell(*call).assert_refused(f"{file}:3: ", "no row with the id 'q'")
    data.write_text("name,a,b\nv,1,2\nw,2,1\nv,3,3\n")
    shell(*call).assert_refused("rows 1 and 3 have the same id, v")
    shell(*call[:4], "--id", "nobody", "-o", "m").assert_refused('no column "nobody"')


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "line", "words"),
        [
            ("1 2\n1 31\n", 2, "from 1 to 30, got '31'"),
            ("1 2\n0 3\n", 2, "got '0'"),
            ("1 2\n3\n", 2, "expected a winner and a loser"),
            ("1 2\n3 3\n", 2, "compared with itself"),
            ("one two\n", 1, "got 'one'"),
            ("winner,weight\n1,2\n", 1, "winner,loser[,weight][,magnitude]"),
            ("winner,loser,size\n1,2,3\n", 1, "winner,loser[,weight][,magnitude]"),
            ("winner,loser\n1,2\n1,2,3\n", 3, "expected 2 fields, got 3"),
            ("winner,loser,weight\n1,2,-1\n", 2, "weight must be a non-negative number, got '-1'"),
            ("winner,loser,weight\n1,2,1\n3,4,nan\n", 3, "got 'nan'"),
            ("winner,loser,magnitude\n1,2,0\n", 2, "magnitude must be a positive number"),
            (f"winner,loser\n1,{'9' * 5000}\n", 2, "from 1 to 30, got '999"),
            (f"winner,loser\n1,{'9' * 200_000}\n", 2, "field larger than field limit"),
        ],
    )
    def test_of_lines(self, shell, rows, tmp_path, text, line, words):
        file = tmp_path / "pairs"
        file.write_text(text)
        shell("train", rows[0], "--pairs", file, "-o", tmp_path / "m").assert_refused(f"{file}:{line}: ", words)

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--method", "rls"), "--pairs is for --method ranksvm or rankrls"),
            (("--method", "rankrls", "--alpha", "auto"), "--pairs is for --method ranksvm with --alpha auto"),
            (("--target", "y"), "--target cannot be used with --pairs"),
            (("--weight", "w"), "--weight is for utilities"),
            (("--id", "name"), "--id applies to tables"),
            (("--out-of-core",), "--pairs cannot be used with data out of core"),
        ],
    )
    def test_of_options(self, shell, rows, tmp_path, options, words):
        file = write(tmp_path / "pairs.csv", rows[1])
        shell("train", rows[0], "--pairs", file, "-o", tmp_path / "m", *options).assert_refused(words)

    def test_of_files(self, shell, rows, tmp_path):
        data, pairs, _ = rows
        file = write(tmp_path / "pairs.csv", pairs)
        shell("train", data, "--pairs", file, "-o", tmp_path / "m")
        shell("evaluate", data, "--pairs", file, "-m", tmp_path / "m", "--metric", "map").assert_refused("--metric")
        shell("cv", data, "--pairs", file, "--select", "map").assert_refused("--select is for utilities")
        (tmp_path / "s").write_text("0\n" * 30)
        shell("evaluate", data, "--pairs", file, "-s", tmp_path / "s").assert_refused("set it with --model")
        shell("train", data, "--id", "name", "-o", tmp_path / "m").assert_refused("--id is for --pairs")
        file.write_text("\n")
        shell("train", data, "--pairs", file, "-o", tmp_path / "m").assert_refused("there are no pairs")
        shell("train", data, "--pairs", tmp_path / "no", "-o", tmp_path / "m").assert_refused("no: No such file")
