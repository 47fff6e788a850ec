"""Training from files that are not loaded, and commands on folders of rows."""

import numpy as np
import pytest

from kernelrank import RankSVM
from kernelrank.io import RowStore
from kernelrank.persistence import load_model


def test_a_file_is_written_to_a_store_and_trained_from(shell, terminal, monkeypatch, train, held_out, tmp_path):
    monkeypatch.setenv("COLUMNS", "500")
    shell("train", train.path, "--out-of-core", "-o", tmp_path / "m.kr", "--json")
    assert shell.code == 0
    assert shell.json["n_rows"] == len(train.y)
    assert shell.json["n_queries"] == 30
    assert shell.json["relative_gap"] < 0.02
    assert f"{len(train.y):,} rows written to {train.path}.store, 100%" in shell.err
    store = RowStore(f"{train.path}.store")
    model = load_model(tmp_path / "m.kr")
    np.testing.assert_array_equal(model.coef_, RankSVM().fit(store).coef_)
    before = store.path.joinpath("manifest.json").stat().st_mtime_ns
    assert shell("train", train.path, "--out-of-core", "-q", "-o", tmp_path / "m2.kr").code == 0
    assert store.path.joinpath("manifest.json").stat().st_mtime_ns == before
    assert shell("train", store.path, "-o", tmp_path / "m3.kr", "-q").code == 0
    np.testing.assert_array_equal(load_model(tmp_path / "m3.kr").coef_, model.coef_)
    assert shell("evaluate", held_out.path, "-m", tmp_path / "m.kr").code == 0


def test_commands_on_a_store_do_what_they_do_on_the_file(shell, train, tmp_path):
    folder, model = tmp_path / "rows", tmp_path / "m.kr"
    shell("train", train.path, "--out-of-core", folder, "-o", model, "-q")
    stored = shell("predict", folder, "-m", model).out
    assert stored == shell("predict", train.path, "-m", model).out
    stored = shell("evaluate", folder, "-m", model, "--per-query").out
    assert stored == shell("evaluate", train.path, "-m", model, "--per-query").out
    (tmp_path / "scores").write_text("1\n" * len(train.y))
    assert shell("evaluate", folder, "-s", tmp_path / "scores").code == 0


def test_a_table(shell, tmp_path, rng):
    rows = rng.normal(size=(40, 2))
    (tmp_path / "t.csv").write_text(
        "a,b,y,q\n" + "".join(f"{a},{b},{a + b},{k // 5}\n" for k, (a, b) in enumerate(rows))
    )
    arguments = ("train", tmp_path / "t.csv", "--target", "y", "--qid", "q", "-o", tmp_path / "m.kr", "--json")
    shell(*arguments, "--out-of-core")
    assert (shell.code, shell.json["n_queries"]) == (0, 8)
    assert load_model(tmp_path / "m.kr").feature_names_in_.tolist() == ["a", "b"]
    assert shell("predict", tmp_path / "t.csv", "--drop", "y", "-m", tmp_path / "m.kr").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("train", "FILE", "--out-of-core", "--kernel", "gaussian", "-o", "m"),
            "require --method ranksvm and --kernel",
        ),
        (("train", "FILE", "--out-of-core", "--method", "rankrls", "-o", "m"), "require --method ranksvm and --kernel"),
        (("train", "FILE", "--out-of-core", "--weight", "w", "-o", "m"), "--weight cannot be used with --out-of-core"),
        (("train", "FILE", "--out-of-core", "--target", "y", "-o", "m"), "--target applies to tables"),
        (("train", "FILE", "--out-of-core", "--format", "csv", "-o", "m"), "set their column with --target"),
        (("train", "-", "--out-of-core", "-o", "m"), "needs the name of a folder for standard input"),
        (("train", "STORE", "--out-of-core", "-o", "m"), "is a folder; leave it out"),
        (("train", "STORE", "--zero-based", "-o", "m"), "--zero-based applies to files, but"),
        (("train", "FOLDER", "-o", "m"), "this is not a row store"),
        (("cv", "STORE"), "only train, predict and evaluate can be used"),
        (("predict", "STORE", "-m", "KERNEL"), "the model must be a linear RankSVM"),
        (("train", "FILE", "--out-of-core", "FOLDER", "-o", "m"), "the folder has other files"),
        (("train", "MISSING", "--out-of-core", "-o", "m"), "missing.txt: No such file or directory"),
    ],
)
def test_mistakes_are_one_line(shell, train, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    shell("train", train.path, "--out-of-core", tmp_path / "rows", "-o", "linear.kr", "-q")
    shell("train", train.path, "--kernel", "gaussian", "-o", "kernel.kr", "-q")
    names = {
        "FILE": train.path,
        "STORE": tmp_path / "rows",
        "FOLDER": tmp_path,
        "KERNEL": "kernel.kr",
        "MISSING": "missing.txt",
    }
    shell(*(names.get(each, each) for each in arguments))
    assert shell.code == 2
    assert message in shell.err
    assert shell.err.count("\n") == 1
    assert shell.err.startswith(f"kernelrank {arguments[0]}: error: ")


def test_a_line_that_cannot_be_read(shell, train, tmp_path):
    with open(train.path, "a") as file:
        file.write("1 qid:q99 0:5\n")
    shell("train", train.path, "--out-of-core", "-q", "-o", tmp_path / "m.kr")
    assert shell.code == 2
    assert f"{train.path}:{len(train.y) + 1}: " in shell.err
    assert "use --zero-based" in shell.err
    shell("train", train.path, "--out-of-core", "-q", "--zero-based", "-o", tmp_path / "m.kr")
    assert shell.code == 0
    assert load_model(tmp_path / "m.kr").zero_based_
