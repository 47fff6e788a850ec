"""The command ``kernelrank export``."""

import json

import numpy as np
import onnx
import polars as pl
import pytest

from kernelrank import RankRLS, RankSVM
from kernelrank.export import to_elasticsearch, to_onnx, to_opensearch, to_solr, to_sql
from kernelrank.io import load_svmlight
from kernelrank.persistence import load_model, save_model, save_svmlight_model


@pytest.fixture
def model(train, tmp_path):
    path = tmp_path / "shop.kr"
    save_model(RankSVM().fit(train.X, train.y, qid=train.qid), path)
    return path


def test_files_are_what_the_functions_return(shell, model, tmp_path):
    loaded, out = load_model(model), tmp_path / "out"
    assert shell("export", model, "--to", "onnx", "-o", out).code == 0
    assert onnx.load(out) == to_onnx(loaded)
    assert shell("export", model, "--to", "onnx", "--dtype", "float32", "-o", out).code == 0
    assert onnx.load(out) == to_onnx(loaded, dtype="float32")
    for name, function in (("elasticsearch", to_elasticsearch), ("opensearch", to_opensearch), ("solr", to_solr)):
        assert shell("export", model, "--to", name, "-o", out).code == 0
        assert json.loads(out.read_text()) == function(loaded, "shop")
        assert shell("export", model, "--to", name, "-o", out, "--name", "other").code == 0
        assert json.loads(out.read_text()) == function(loaded, "other")
    assert shell("export", model, "--to", "sql", "-o", out).code == 0
    assert out.read_text() == to_sql(loaded) + "\n"
    assert shell("export", model, "--to", "sql", "--table", "houses", "-o", out).code == 0
    assert out.read_text() == to_sql(loaded, table="houses") + "\n"


def test_names_and_bounds(shell, model, train, tmp_path):
    names, out = tmp_path / "names.txt", tmp_path / "out.json"
    names.write_text("title\nbody\nclicks\näge\n")
    assert shell("export", model, "--to", "solr", "-o", out, "--feature-names", names, "--bounds", train.path).code == 0
    loaded, X = load_model(model), load_svmlight(train.path).X
    expected = to_solr(loaded, "shop", ["title", "body", "clicks", "äge"], bounds=X)
    assert (
        json.loads(out.read_text())
        == expected
        == to_solr(loaded, "shop", ["title", "body", "clicks", "äge"], bounds=train.X)
    )


def test_tables_and_bounds(shell, tmp_path, rng):
    frame = pl.DataFrame({"rooms": rng.normal(size=30), "age": rng.normal(size=30) + 50})
    frame.with_columns(price=frame["rooms"] - frame["age"]).write_csv(tmp_path / "houses.csv")
    model, out = tmp_path / "m.kr", tmp_path / "out.json"
    save_model(RankSVM().fit(frame, frame["rooms"] - frame["age"]), model)
    assert shell("export", model, "--to", "opensearch", "-o", out, "--bounds", tmp_path / "houses.csv").code == 0
    assert json.loads(out.read_text()) == to_opensearch(load_model(model), "m", bounds=frame)


def test_from_a_csv_to_a_served_model(shell, load, tmp_path, rng):
    """Text, missing values and a category that was never seen: the served scores are those of predict."""
    m = 80
    offers = pl.DataFrame(
        {
            "search": np.arange(m) // 8,
            "price": rng.gamma(4.0, 50.0, m),
            "district": rng.choice(["north", "south", "o'hare"], m),
            "liked": rng.normal(size=m),
        }
    ).with_columns(price=pl.when(pl.Series(rng.random(m) > 0.2)).then("price"))
    new = pl.DataFrame({"district": ["north", "moon", None], "price": [100.0, None, 20.0]})
    paths = {name: tmp_path / name for name in ("offers.csv", "new.csv", "m.kr", "m.onnx", "m.json", "m.sql", "scores")}
    offers.write_csv(paths["offers.csv"])
    new.write_csv(paths["new.csv"])
    train = ("train", paths["offers.csv"], "--target", "liked", "--qid", "search", "-o", paths["m.kr"])
    assert shell(*train).code == 0, shell.err
    assert shell("predict", paths["new.csv"], "-m", paths["m.kr"], "-o", paths["scores"]).code == 0, shell.err
    scores, engines = np.loadtxt(paths["scores"]), load("benchmarks.export_engines")
    assert shell("export", paths["m.kr"], "--to", "onnx", "-o", paths["m.onnx"]).code == 0
    np.testing.assert_allclose(engines.onnx_scores(onnx.load(paths["m.onnx"]), new.to_dicts()), scores, rtol=1e-12)
    assert shell("export", paths["m.kr"], "--to", "sql", "-o", paths["m.sql"]).code == 0
    np.testing.assert_allclose(engines.sql_scores(paths["m.sql"].read_text(), new.to_dicts()), scores, rtol=1e-12)
    to = ("--to", "elasticsearch", "--bounds", paths["offers.csv"], "-o", paths["m.json"])
    assert shell("export", paths["m.kr"], *to).code == 0, shell.err
    found = engines.ltr_scores(json.loads(paths["m.json"].read_text()), new.to_dicts())
    assert found.min() >= 0
    np.testing.assert_allclose(np.diff(found), np.diff(scores), atol=1e-6)


def test_models_of_svm_rank(shell, train, tmp_path):
    ours = RankSVM().fit(train.X, train.y, qid=train.qid)
    save_svmlight_model(ours, tmp_path / "model.dat")
    assert shell("export", tmp_path / "model.dat", "--to", "sql", "-o", tmp_path / "out").code == 0
    assert '"x3"' in (tmp_path / "out").read_text()


def test_the_result_is_shown(shell, model, tmp_path):
    out = tmp_path / "out.json"
    shown = shell("export", model, "--to", "solr", "-o", out, "--json").json
    assert shown == {"model": str(model), "format": "solr", "size": len(out.read_bytes()), "file": str(out)}
    assert "solr" in shell("export", model, "--to", "solr", "-o", out).out


def test_mistakes_leave_files_as_they_are(shell, model, tmp_path, train):
    out = tmp_path / "out"
    out.write_text("kept")
    shell("export", model, "--to", "sql", "--name", "x", "-o", out).assert_refused(
        "--name is for --to elasticsearch or"
    )
    shell("export", model, "--to", "solr", "--table", "x", "-o", out).assert_refused("--table is for --to sql")
    shell("export", model, "--to", "sql", "--dtype", "float32", "-o", out).assert_refused("--dtype is for --to onnx")
    shell("export", model, "--to", "pmml", "-o", out).assert_refused("invalid choice: 'pmml'")
    shell("export", tmp_path / "none", "--to", "sql", "-o", out).assert_refused("none: No such file")
    (tmp_path / "names").write_text("a\nb\n")
    refused = shell("export", model, "--to", "sql", "-o", out, "--feature-names", tmp_path / "names")
    refused.assert_refused("--feature-names has 2 names, but the model was fitted to 4 columns")
    (tmp_path / "names").write_bytes(b"\xff\n")
    refused = shell("export", model, "--to", "sql", "-o", out, "--feature-names", tmp_path / "names")
    refused.assert_refused("names must be UTF-8 text")
    save_model(RankRLS(kernel="gaussian").fit(train.X, train.y), tmp_path / "kernel.kr")
    refused = shell("export", tmp_path / "kernel.kr", "--to", "elasticsearch", "-o", out)
    refused.assert_refused("The kernel Gaussian cannot be exported to Elasticsearch", "--to onnx")
    assert out.read_text() == "kept"
    shell("export", model, "--to", "sql", "-o", tmp_path / "no" / "out").assert_refused("No such file or directory")
