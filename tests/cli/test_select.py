"""Selection of features: that of the estimators in Python."""

import numpy as np
import pytest

from kernelrank import GreedyRankRLS, GreedyRLS
from kernelrank.io import load_svmlight
from kernelrank.persistence import load_model


def test_of_held_out_queries(shell, train, held_out, tmp_path):
    rows = load_svmlight(train.path)
    expected = GreedyRankRLS(3, alpha=0.01).fit(rows.X, rows.y, qid=rows.qid)
    call = ("select", train.path, "-k", 3, "--alpha", 0.01, "-o", tmp_path / "m")
    found = shell(*call, "--json").json
    assert [each["feature"] for each in found["selected"]] == [str(k + 1) for k in expected.selected_]
    assert [each["error"] for each in found["selected"]] == expected.errors_.tolist()
    np.testing.assert_array_equal(load_model(tmp_path / "m").coef_, expected.coef_)
    assert shell("evaluate", held_out.path, "-m", tmp_path / "m").code == 0
    table = shell(*call).out.split("\n\n")[1].splitlines()
    assert [line.split()[0] for line in table] == ["feature", *(str(k + 1) for k in expected.selected_)]
    weighted = shell("select", train.path, "-k", 3, "--query-weighting", "pair", "--folds", 5, "--json").json
    expected = GreedyRankRLS(3, query_weighting="pair", cv=5).fit(rows.X, rows.y, qid=rows.qid)
    assert [each["error"] for each in weighted["selected"]] == expected.errors_.tolist()


def test_of_rows_of_a_table_by_name(shell, tmp_path, rng):
    X = rng.normal(size=(20, 3)).round(3)
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c,y\n" + "".join(f"{a},{b},{c},{b - 0.1 * a}\n" for a, b, c in X.tolist()))
    call = ("select", path, "--target", "y", "-k", 2, "--method", "rls", "--scale", "none", "--json")
    found = shell(*call).json["selected"]
    expected = GreedyRLS(2).fit(X, X[:, 1] - 0.1 * X[:, 0])
    assert [each["feature"] for each in found] == ["b", "a"]
    np.testing.assert_allclose([each["error"] for each in found], expected.errors_, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "-k"),
        (("-k", 0), "must be at least 1"),
        (("-k", 5), "--n-features is 5, but X has 4 features"),
        (("-k", 2, "--method", "rls", "--folds", 3), "--folds is for --method rankrls"),
        (("-k", 2, "--alpha", -1), "alpha"),
        (("-k", 2, "--method", "ordinal"), "ordinal"),
    ],
)
def test_mistakes(shell, train, options, words):
    shell("select", train.path, *options).assert_refused(words)
