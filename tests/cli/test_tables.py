"""Preprocessing of tables on the command line: it is a part of the model, and the same as in Python."""

import lzma
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RankRLS, RankSVM, RankSVMCV
from kernelrank.io import _tables, load_svmlight, load_table
from kernelrank.persistence import load_model, save_model
from kernelrank.pipelines import QueryPipeline, QueryScaler, make_query_pipeline, make_table_ranker

N = 160
both_readers = pytest.mark.parametrize("backend", ["polars", "pandas"])


@pytest.fixture
def houses(tmp_path, rng):
    """Return the path of a table with text, categories, missing values, and a column that says nothing."""
    age, seller = rng.integers(90, size=N), rng.choice(["agency, city", "private"], size=N)
    columns = {
        "rooms": rng.integers(1, 6, size=N),
        "age": [None if missing else int(each) for missing, each in zip(rng.random(N) < 0.2, age, strict=True)],
        "zip": rng.choice(["01234", "1234", "99"], size=N),
        "seller": [None if missing else str(each) for missing, each in zip(rng.random(N) < 0.2, seller, strict=True)],
        "new": rng.random(N) < 0.3,
        "unit": ["m"] * N,
        "area": rng.gamma(2.0, 50.0, size=N),
        "town": [f"town {k}" for k in range(10) for _ in range(16)],
    }
    price = (
        np.log(columns["area"])
        + columns["rooms"]
        - (columns["zip"] == "99")
        + 3.0 * rng.integers(9, size=10).repeat(16)
    )
    path = tmp_path / "houses.csv"
    pl.DataFrame(columns).with_columns(price=price).write_csv(path)
    return path


KNOWN = ("--target", "price", "--qid", "town")


def changed(path, name="other.csv", **columns):
    """Write the table again with its columns in another order, and some changed; None leaves a column out."""
    table = pl.read_csv(path, schema_overrides={"zip": pl.String})
    table = table.with_columns(**{name: values for name, values in columns.items() if values is not None})
    table = table.drop(name for name, values in columns.items() if values is None)
    table.select(reversed(table.columns)).write_csv(path.with_name(name))
    return path.with_name(name)


@both_readers
@pytest.mark.parametrize("scale", ["standard", "none", "query"])
def test_predictions_are_those_of_the_pipeline_in_python(shell, houses, tmp_path, backend, scale, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    options = ("--scale", scale, "--categorical", "zip", "--drop", "unit")
    assert shell("train", houses, *KNOWN, *options, "-o", tmp_path / "m").code == 0
    table = load_table(houses, target="price", qid="town", drop=["unit"], numeric=False, text=["zip"])
    X = (
        table.X
        if backend == "polars"
        else table.X.astype({"seller": object}).assign(seller=lambda t: t["seller"].where(t["seller"].notna(), None))
    )
    model = make_table_ranker(X, scale=scale, categorical=["zip"])
    model = QueryPipeline(model.steps).fit(X, table.y, qid=table.qid)
    expected = model.predict(X, qid=table.qid)
    other = changed(houses, price=None, extra=pl.lit("?"))
    # Files are read by whichever library is there.
    for reader in ("polars", "pandas"):
        monkeypatch.setattr(_tables, "_BACKENDS", (reader,))
        found = shell("predict", other, "-m", tmp_path / "m", "--qid", "town", "--json").json["scores"]
        np.testing.assert_array_equal(found, expected)
    loaded = load_model(tmp_path / "m")
    assert type(loaded) is QueryPipeline
    np.testing.assert_array_equal(loaded.predict(X, qid=table.qid), expected)
    measured = shell("evaluate", houses, "-m", tmp_path / "m", *KNOWN, "--json").json["metrics"]["concordance"]["mean"]
    assert measured == pytest.approx(model.score(X, table.y, qid=table.qid), rel=1e-12)


def test_what_was_done_to_each_column_is_told(shell, houses, tmp_path):
    call = ("train", houses, *KNOWN, "--categorical", "zip", "-o", tmp_path / "m")
    result = shell(*call, "--json").json
    told = {each["column"]: each for each in result["columns"]}
    assert list(told) == ["rooms", "age", "zip", "seller", "new", "unit", "area"]
    table = pl.read_csv(houses)
    assert told["age"]["missing"] == table["age"].null_count() > 0
    assert told["age"]["features"] == 2
    assert told["zip"]["features"] == 3  # 01234 and 1234 are not the same
    assert told["seller"]["features"] == 3  # missing is a value
    assert told["unit"]["treatment"] == "all values are equal"
    assert result["n_encoded_features"] == sum(each["features"] for each in told.values()) == 12
    assert result["n_features"] == 7
    out = shell(*call).out
    assert [line.split()[0] for line in out.splitlines()[-8:]] == ["column", *told]
    assert "mean 0, variance 1; missing: mean, marked" in out


def test_wide_tables_are_told_in_part(shell, tmp_path, rng):
    frame = pl.DataFrame(rng.normal(size=(20, 60)), schema=[f"x{k}" for k in range(60)]).with_columns(
        y=pl.Series(range(20))
    )
    frame.write_csv(tmp_path / "wide.csv")
    call = ("train", tmp_path / "wide.csv", "--target", "y", "-o", tmp_path / "m")
    assert shell(*call).out.splitlines()[-1] == "... and 21 more columns; --json shows all"
    assert len(shell(*call, "--json").json["columns"]) == 60


def test_cross_validation_prepares_all_rows_and_says_so(shell, houses, tmp_path):
    call = ("cv", houses, *KNOWN, "--alphas", "1,0.01", "--folds", 3, "-o", tmp_path / "m")
    result = shell(*call, "--json").json
    table = load_table(houses, target="price", qid="town", numeric=False)
    X = make_table_ranker(table.X)[0].fit_transform(table.X)
    expected = RankSVMCV([1, 0.01], cv=3).fit(X, table.y, qid=table.qid)
    np.testing.assert_allclose([p["mean"] for p in result["path"]], expected.scores_.mean(axis=1), rtol=1e-12)
    model = load_model(tmp_path / "m")
    assert model[-1].alpha_ == result["alpha"] == expected.alpha_
    np.testing.assert_array_equal(model[-1].coef_, expected.coef_)
    out = shell(*call).out
    assert out.startswith("column")
    assert "categories of columns are those of all rows; targets were not used" in out


def test_only_some_columns(shell, houses, tmp_path):
    result = shell("train", houses, *KNOWN, "--keep", "area", "--keep", "rooms", "-o", tmp_path / "m", "--json").json
    assert [each["column"] for each in result["columns"]] == ["area", "rooms"]
    assert shell("predict", changed(houses, seller=None), "-m", tmp_path / "m").code == 0


@pytest.mark.parametrize("method", ["rankrls", "rls", "greedy"])
def test_other_methods(shell, houses, tmp_path, method):
    call = ("train", houses, *KNOWN, "--method", method, "-o", tmp_path / "m", "--json")
    assert shell(*call).code == 0
    scores = shell("predict", houses, "-m", tmp_path / "m", "--json").json["scores"]
    assert len(scores) == N
    # In Python, the model is a pipeline that can be fitted again.
    table = load_table(houses, target="price", numeric=False, text=["zip"])
    model = load_model(tmp_path / "m")
    X = table.X if method == "rls" else table.X.rename({"town": "qid"})
    np.testing.assert_allclose(model.fit(X, table.y).predict(X), scores, rtol=1e-6)
    if method == "greedy":
        names = {name.split("__", 1)[-1] for name in load_model(tmp_path / "m")[0].get_feature_names_out()}
        assert {each["feature"] for each in shell(*call).json["selected"]} <= names


def test_compressed_tables_and_kernels(shell, houses, tmp_path):
    with lzma.open(tmp_path / "houses.csv.xz", "wb") as file:
        file.write(houses.read_bytes())
    call = ("--kernel", "gaussian", "-o", tmp_path / "m")
    assert shell("train", tmp_path / "houses.csv.xz", *KNOWN, *call).code == 0
    assert (
        shell("evaluate", houses, "-m", tmp_path / "m", *KNOWN, "--json").json["metrics"]["concordance"]["mean"] > 0.8
    )


def test_pairs_of_rows_of_a_table(shell, houses, tmp_path):
    (tmp_path / "pairs.txt").write_text("1 2\n3 2\n5 4\n20 19\n")
    call = (
        "train",
        houses,
        "--pairs",
        tmp_path / "pairs.txt",
        "--qid",
        "town",
        "--drop",
        "price",
        "-o",
        tmp_path / "m",
    )
    assert shell(*call).code == 0
    assert type(load_model(tmp_path / "m")) is QueryPipeline


def test_types_of_columns_do_not_depend_on_the_file(shell, houses, tmp_path):
    shell("train", houses, *KNOWN, "--categorical", "zip", "-o", tmp_path / "m")
    scores = np.array(shell("predict", houses, "-m", tmp_path / "m", "--json").json["scores"])
    chosen = pl.read_csv(houses, schema_overrides={"zip": pl.String})
    rows = np.flatnonzero((chosen["zip"] == "1234").to_numpy() & chosen["age"].is_null().to_numpy())
    # All codes look like numbers, and all ages are missing.
    chosen[rows.tolist()].write_csv(tmp_path / "few.csv")
    found = shell("predict", tmp_path / "few.csv", "-m", tmp_path / "m", "--json").json["scores"]
    np.testing.assert_array_equal(found, scores[rows])


# svmlight text


def test_svmlight_text_is_scaled_on_demand(shell, train, held_out, tmp_path):
    rows, new = load_svmlight(train.path), load_svmlight(held_out.path)
    for scale, step in (("standard", StandardScaler(with_mean=False)), ("query", QueryScaler())):
        result = shell("train", train.path, "--scale", scale, "-o", tmp_path / "m", "--json").json
        expected = make_query_pipeline(step, RankSVM()).fit(rows.X, rows.y, qid=rows.qid)
        assert result["objective"] == expected[-1].objective_
        found = shell("predict", held_out.path, "-m", tmp_path / "m", "--json").json["scores"]
        np.testing.assert_array_equal(found, expected.predict(new.X, qid=new.qid))
        assert shell("evaluate", held_out.path, "-m", tmp_path / "m").code == 0
    plain = shell("train", train.path, "-o", tmp_path / "m", "--json").json["objective"]
    assert plain == RankSVM().fit(rows.X, rows.y, qid=rows.qid).objective_
    assert type(load_model(tmp_path / "m")) is RankSVM


def test_features_from_zero_are_known_to_the_model(shell, tmp_path):
    (tmp_path / "t.txt").write_text("1 qid:1 0:1 1:2\n2 qid:1 0:3\n1 qid:2 1:1\n0 qid:2 0:-1 2:1\n")
    shell("train", tmp_path / "t.txt", "--zero-based", "--scale", "standard", "-o", tmp_path / "m")
    assert load_model(tmp_path / "m")[-1].zero_based_
    assert shell("predict", tmp_path / "t.txt", "-m", tmp_path / "m").code == 0
    shell("train", tmp_path / "t.txt", "--keep", "a", "-o", tmp_path / "m").assert_refused("--keep applies to tables")
    shell("train", tmp_path / "t.txt", "--categorical", "a", "-o", tmp_path / "m").assert_refused(
        "--categorical applies"
    )


# Pipelines from Python


def test_pipelines_from_python(shell, houses, tmp_path):
    table = load_table(houses, target="price", qid="town", features=["rooms", "area"])
    model = make_pipeline(StandardScaler(), RankRLS()).fit(table.X, table.y, rankrls__qid=table.qid)
    save_model(model, tmp_path / "m")
    found = shell("predict", changed(houses), "-m", tmp_path / "m", "--json").json["scores"]
    np.testing.assert_array_equal(found, model.predict(table.X))
    assert isinstance(load_model(tmp_path / "m"), Pipeline)
    frame = pd.DataFrame({"area": table.X["area"].to_numpy()})
    save_model(RankSVM().fit(frame, table.y), tmp_path / "plain")
    path = changed(houses, area=pl.when(pl.col("area") > 100).then(pl.col("area")))
    shell("predict", path, "-m", tmp_path / "plain").assert_refused(
        'column "area" has missing values, the first in row'
    )


# Mistakes


def test_columns_that_differ_from_training(shell, houses, tmp_path):
    shell("train", houses, *KNOWN, "-o", tmp_path / "m")

    def predicted(**columns):
        return shell("predict", changed(houses, **columns), "-m", tmp_path / "m", "-o", tmp_path / "scores.txt")

    predicted(seller=None).assert_refused('other.csv: there is no column "seller"; the columns are')
    predicted(rooms=None, Rooms=pl.lit(1)).assert_refused('other.csv: there is no column "rooms"', "Rooms")
    rooms = ["3"] * 5 + ["many"] + ["4"] * (N - 6)
    predicted(rooms=pl.Series(rooms)).assert_refused("column \"rooms\" does not hold numbers, but 'many' in row 6")
    area = [50.0] * 7 + [float("inf")] + [60.0] * (N - 8)
    predicted(area=pl.Series(area)).assert_refused('column "area" holds inf in row 8')
    assert not (tmp_path / "scores.txt").exists()
    assert predicted(unit=None, zip=pl.lit("5"), seller=pl.lit("nobody"), age=None, extra=1).code == 2  # age
    assert predicted(unit=None, seller=pl.lit("nobody"), extra=pl.lit("x")).code == 0


def test_libraries_read_the_same_table(shell, tmp_path, rng, monkeypatch):
    lines = ["size,rooms,town,new,y"] + [
        f"{rng.normal():.3f},{rng.choice(['3', '7', ''])},{rng.choice(['a', 'NA', 'nan', ''])},{new},{rng.integers(4)}"
        for new in rng.choice(["true", "false", ""], size=80)
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "missing.csv").write_text(f"{lines[0]}\n1.0,,,,2\n2.0,,,,1\n")
    found = []
    for writer in ("polars", "pandas", "pyarrow"):
        monkeypatch.setattr(_tables, "_BACKENDS", (writer,))
        call = ("train", tmp_path / "t.csv", "--target", "y", "--method", "rankrls", "-o", tmp_path / "m")
        assert shell(*call).code == 0
        for reader in ("polars", "pandas", "pyarrow"):
            monkeypatch.setattr(_tables, "_BACKENDS", (reader,))
            texts = [shell("predict", tmp_path / name, "-m", tmp_path / "m").out for name in ("t.csv", "missing.csv")]
            found.append(np.array("".join(texts).split(), dtype=np.float64))
    assert len(found[0]) == 82
    for scores in found[1:]:
        np.testing.assert_allclose(scores, found[0], rtol=1e-9, atol=1e-12)


@both_readers
def test_types_that_differ_from_training(shell, tmp_path, backend, monkeypatch):
    monkeypatch.setattr(_tables, "_BACKENDS", (backend,))
    size, town, new = [1.0, 3.0, 2.0, 5.0, 4.0, 6.0] * 5, ["a", "b", None] * 10, [True, False, None] * 10
    pl.DataFrame({"size": size, "town": town, "new": new, "y": size}).write_parquet(tmp_path / "t.parquet")
    assert shell("train", tmp_path / "t.parquet", "--target", "y", "-o", tmp_path / "m").code == 0

    def predicted(**changed):
        table = {"size": [1.0, 2.0], "town": ["a", "b"], "new": [True, None], **changed}
        pl.DataFrame(table).write_parquet(tmp_path / "n.parquet")
        return shell("predict", tmp_path / "n.parquet", "-m", tmp_path / "m")

    for other in ([1, 2], [1.5, None], [date(2020, 1, 1)] * 2, [True, False]):
        predicted(town=other).assert_refused('n.parquet: column "town" holds values of', "trained with text there")
    for other in ([0, 1], ["true", None], [1.0, 0.0]):
        predicted(new=other).assert_refused('n.parquet: column "new" holds values of', "trained with booleans there")
    for nothing in ([None, None], pl.Series([None, None], dtype=pl.String), [float("nan"), None]):
        expected = predicted(town=pl.Series([None, None], dtype=pl.String), new=pl.Series([None] * 2, dtype=pl.Boolean))
        assert (expected.code, expected.out) == (0, predicted(town=nothing, new=nothing).out)


def test_queries_are_needed_where_they_scale(shell, houses, train, tmp_path):
    shell("train", houses, *KNOWN, "--scale", "query", "-o", tmp_path / "m")
    shell("predict", houses, "-m", tmp_path / "m").assert_refused("scales features inside each query", "--qid")
    shell("train", houses, "--target", "price", "--scale", "query", "-o", tmp_path / "m2").assert_refused(
        "requires queries"
    )
    (tmp_path / "t.txt").write_text("1 1:1\n0 2:1\n")
    shell("train", tmp_path / "t.txt", "--scale", "query", "-o", tmp_path / "m2").assert_refused("requires queries")
    assert not (tmp_path / "m2").exists()


def test_mistakes_in_training(shell, houses, tmp_path):
    def refused(path, *options):
        return shell("train", path, *KNOWN, *options, "-o", tmp_path / "m").assert_refused

    when = pl.Series(["2020-01-01"] * N).str.to_date()
    infinite = pl.Series([float("inf")] + [1.0] * (N - 1))
    table = pl.read_csv(houses)
    table.with_columns(when=when).write_parquet(tmp_path / "t.parquet")
    refused(tmp_path / "t.parquet")("t.parquet: The column 'when' holds values of type Date", "days since", "--drop")
    refused(changed(houses, when=pl.Series([f"2020-01-{1 + k % 9:02}" for k in range(N)])))(
        "other.csv: The column 'when' holds dates as text, such as '2020-01-01'", "(--drop)", "--categorical"
    )
    refused(changed(houses, area=infinite))("other.csv: The column 'area' holds inf in row 1")
    refused(changed(houses, rooms=pl.Series(["3"] * 9 + ["many"] * 3 + ["4"] * (N - 12))))(
        "'many' in row 10", "--categorical"
    )
    refused(houses, "--keep", "x")('houses.csv: there is no column "x"')
    refused(houses, "--categorical", "x")("houses.csv: ", "there is no column 'x'", "--categorical")
    refused(houses, "--categorical", "price")('--categorical: the column "price" is used as something else')
    shell("estimate", houses, "--target", "price", "--groups", "town", "--keep", "town").assert_refused(
        '--keep: the column "town" is used as something else'
    )
    refused(houses, "--keep", "area", "--drop", "area")('"area" is named by --keep and by --drop')
    refused(houses, "--keep", "area", "--categorical", "zip")("there is no column 'zip'")
    for values in ([Decimal(k % 3) for k in range(N)], [[1, 2], [3]] * (N // 2), [date(2020, 1, 1), None] * (N // 2)):
        table.with_columns(c=pl.Series(values)).write_parquet(tmp_path / "t.parquet")
        refused(tmp_path / "t.parquet", "--categorical", "c")("The column 'c' holds values of type", "--drop")
    refused(houses, *(option for name in table.columns for option in ("--drop", name) if name not in KNOWN))(
        "there is no column that can be a feature"
    )
    refused(houses, "--keep", "unit")("no column that can be a feature", "unit: all values are equal")
    refused(houses, "--out-of-core", tmp_path / "s", "--scale", "standard")("--scale standard cannot be used")
    refused(houses, "--out-of-core", tmp_path / "s", "--keep", "area")("--keep cannot be used")
    assert not (tmp_path / "m").exists()
    assert not (tmp_path / "s").exists()
