"""The command ``report``."""

from html.parser import HTMLParser

import pytest


def test_a_report_of_a_model_file(shell, train, held_out, tmp_path):
    model, page = tmp_path / "model.kr", tmp_path / "report.html"
    shell("train", train.path, "-o", model)
    shell("report", model, held_out.path, "-o", page, "--json", "--confidence", 0.9, "--learning-curve")
    assert shell.code == 0, shell.err
    text = page.read_text()
    assert shell.json["size"] == len(text.encode())
    HTMLParser().feed(text)
    for words in ("model.kr on test.txt", "feature 1", "90 % interval", "Would more data help?", "q14"):
        assert words in text


def test_a_report_of_a_table(shell, tmp_path, rng):
    table = tmp_path / "houses.csv"
    lines = [f"{a:.3f},{'red' if b > 0 else ''},{a + b:.3f}" for a, b in rng.normal(size=(60, 2))]
    table.write_text("\n".join(["rooms,colour,price", *lines]) + "\n")
    model, page = tmp_path / "model.kr", tmp_path / "report.html"
    shell("train", table, "--target", "price", "-o", model)
    shell("report", model, table, "--target", "price", "-o", page, "--title", "Houses & flats")
    assert shell.code == 0, shell.err
    assert "<h1>Houses &amp; flats</h1>" in page.read_text()


@pytest.mark.parametrize("method", ["ranksvm", "rankrls"])
def test_a_report_of_a_kernel_model_and_sparse_rows(shell, train, tmp_path, method):
    model, page = tmp_path / "model.kr", tmp_path / "report.html"
    shell("train", train.path, "-o", model, "--kernel", "gaussian", "--gamma", 0.5, "--method", method)
    shell("report", model, train.path, "-o", page)
    assert shell.code == 0, shell.err
    assert "has no coefficients" in page.read_text()


def test_mistakes(shell, train, tmp_path):
    model = tmp_path / "model.kr"
    shell("train", train.path, "-o", model)
    shell("report", model, train.path, "-o", tmp_path / "no" / "report.html").assert_refused("report.html")
    shell("report", model, train.path).assert_refused("--output")
    shell("report", model, tmp_path / "none.txt", "-o", tmp_path / "r.html").assert_refused("none.txt")
    shell("report", model, train.path, "-o", tmp_path / "r.html", "--confidence", 2).assert_refused("confidence")
    shell("report", model, train.path, "-o", tmp_path / "r.html", "--observed", "a").assert_refused("--observed")
    assert not (tmp_path / "r.html").exists()
