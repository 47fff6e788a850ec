"""Rankers for tables with numbers, text, booleans and missing values."""

import io
import re
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from kernelrank import GreedyRankRLS, OrdinalSVM, RankRLS, RankSVM
from kernelrank.exceptions import MissingQueryWarning, QueryColumnWarning
from kernelrank.pipelines import QueryPipeline, RankingPipeline, _table_ranker, make_table_ranker
from kernelrank.pipelines._columns import sort_columns
from kernelrank.pipelines._fitting import describe_columns, fit_columns
from kernelrank.pipelines._inputs import Inputs, inputs_of

N = 240
kinds = pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])


def columns_of(rng):
    """Return the columns of a table; those that are left out are named after the reason."""
    return {
        "price": rng.gamma(2.0, 50.0, size=N),
        "rooms": rng.integers(1, 6, size=N),
        "age": [
            None if missing else float(age)
            for missing, age in zip(rng.random(N) < 0.2, rng.integers(90, size=N), strict=True)
        ],
        "colour": rng.choice(["red", "green", "blue"], size=N).tolist(),
        "seller": [*rng.choice(["a", "b", None], size=N - 3).tolist(), "rare 1", "rare 2", "rare 1"],
        "new": (rng.random(N) < 0.3).tolist(),
        "unit": [1.0] * N,
        "country": ["x"] * N,
        "name": [f"name {k}" for k in range(N)],
    }


@pytest.fixture
def columns(rng):
    return columns_of(rng)


@pytest.fixture
def y(columns):
    colour = np.array(columns["colour"])
    return (
        np.log(columns["price"])
        + (colour == "red")
        - 2.0 * (np.array(columns["seller"]) == "a")
        + np.array(columns["new"])
    )


def by_hand(columns, part):
    """Return the features that columns should become, by name."""
    found = {}
    for name in ("price", "rooms"):
        found[f"numbers__{name}"] = np.array(columns[name], dtype=float)
    age = np.array(columns["age"], dtype=float)
    mean = np.nanmean(age)
    found["numbers__age"] = np.where(np.isnan(age), mean, age)
    found["numbers__missingindicator_age"] = np.isnan(age).astype(float)
    if part == "standard":
        found = {name: (values - values.mean()) / values.std() for name, values in found.items()}
    for name, values in (("colour", ["blue", "green", "red"]), ("seller", ["a", "b", None]), ("new", [False, True])):
        for value in values:
            found[f"categories__{name}_{value}"] = np.array([float(each == value) for each in columns[name]])
        if name == "seller":
            found["categories__seller_infrequent_sklearn"] = np.array(
                [float(str(v)[:4] == "rare") for v in columns[name]]
            )
    return found


@kinds
@pytest.mark.parametrize("scale", ["standard", "none"])
def test_features(columns, y, kind, scale):
    frame = kind(columns)
    model = make_table_ranker(frame, scale=scale).fit(frame, y)
    assert type(model) is RankingPipeline
    assert list(model.named_steps) == ["columns", "ranksvm"]
    expected, names = by_hand(columns, scale), model[0].get_feature_names_out().tolist()
    assert [name.replace("seller_nan", "seller_None") for name in names] == list(expected)
    X = model[0].transform(frame)
    np.testing.assert_allclose(X, np.column_stack(list(expected.values())), atol=1e-12)
    alone = RankSVM().fit(X, y)
    np.testing.assert_array_equal(model.predict(frame), alone.predict(X))
    assert model.score(frame, y) > 0.9


@kinds
def test_new_rows_are_matched_by_name(columns, y, kind):
    frame = kind(columns)
    model = make_table_ranker(frame).fit(frame, y)
    expected = model.predict(frame)
    order = ["name", "new", "seller", "other", "colour", "age", "rooms", "price"]  # without those that are left out
    other = kind({**columns, "other": ["?"] * N})[order]
    np.testing.assert_array_equal(model.predict(other), expected)
    with pytest.raises(ValueError, match="seller"):
        model.predict(kind({name: values for name, values in columns.items() if name != "seller"}))
    with pytest.raises(ValueError, match="price"):
        model.predict(kind({("cost" if name == "price" else name): values for name, values in columns.items()}))


@kinds
def test_values_that_were_not_there_in_training(columns, y, kind):
    frame = kind(columns)
    model = make_table_ranker(frame).fit(frame, y)

    def of(**changed):
        row = {name: [values[0]] for name, values in columns.items()} | {"age": [50.0]}
        return model[0].transform(kind({**row, **{name: [value] for name, value in changed.items()}}))[0]

    names = model[0].get_feature_names_out().tolist()
    colours = [k for k, name in enumerate(names) if name.startswith("categories__colour")]
    sellers = [k for k, name in enumerate(names) if name.startswith("categories__seller")]
    assert of(colour="violet")[colours].tolist() == [0, 0, 0]  # there were no rare ones
    assert of(seller="new")[sellers].tolist() == of(seller="rare 1")[sellers].tolist() == [0, 0, 0, 1]
    assert of(price=None if kind is pl.DataFrame else np.nan)[names.index("numbers__price")] == pytest.approx(
        0, abs=1e-12
    )
    assert np.isfinite(of(rooms=10**6)).all()


@pytest.mark.parametrize("ranker", [RankSVM(), RankSVM(kernel="gaussian"), RankRLS(), GreedyRankRLS(n_features=3)])
def test_rankers_and_small_tables_have_dense_features(columns, y, ranker):
    frame = pl.DataFrame(columns)
    model = make_table_ranker(frame, ranker).fit(frame, y)
    assert isinstance(model[0].transform(frame), np.ndarray)
    assert model.score(frame, y) > 0.8
    assert model[-1] is ranker


def test_large_tables_have_sparse_features(columns, y, monkeypatch):
    frame = pl.DataFrame(columns).select("price", "colour", "seller")
    dense = make_table_ranker(frame, RankSVM(tol=1e-6)).fit(frame, y)
    monkeypatch.setattr(_table_ranker, "_LARGE", 0)
    sparse = make_table_ranker(frame, RankSVM(tol=1e-6)).fit(frame, y)
    assert not sp.issparse(sparse[0].transform(frame))  # 3 of 8 are not 0
    frame = frame.with_columns(pl.Series("many", [f"value {k % 30}" for k in range(N)]))
    sparse = make_table_ranker(frame, RankSVM(tol=1e-6)).fit(frame, y)
    X = sparse[0].transform(frame)
    assert sp.issparse(X)
    dense = RankSVM(tol=1e-6).fit(X.toarray(), y)
    assert sparse[-1].objective_ == pytest.approx(dense.objective_, abs=2e-6)


@kinds
def test_choices(columns, y, kind):
    frame = kind({**columns, "y": y.tolist()})
    model = make_table_ranker(frame, categorical=["rooms"], drop=["y", "price"], min_frequency=20).fit(frame, y)
    lists = {name: chosen for name, _, chosen in model[0].transformers}
    assert lists["numbers"] == ["age"]
    assert lists["categories"] == ["rooms", "colour", "seller", "new"]
    assert lists["left_out"] == ["unit", "country", "name"]
    assert "categories__rooms_3" in model[0].get_feature_names_out()
    kept = make_table_ranker(frame, keep=["rooms", "colour"]).fit(frame, y)
    assert [name for _, _, chosen in kept[0].transformers for name in chosen] == ["rooms", "colour"]
    assert make_table_ranker(frame, drop=("y",), min_frequency=1)[0].transformers[2][2] == ["unit", "country"]


@kinds
def test_queries(columns, y, kind, rng):
    qid = np.repeat(np.arange(12), 20)
    frame, levels = kind({**columns, "qid": qid}), y + 100.0 * rng.permutation(12)[qid]
    model = make_table_ranker(frame)
    assert type(model) is QueryPipeline
    assert model.fit(frame, levels).score(frame, levels) > 0.9
    assert not any("qid" in name for name in model[0].get_feature_names_out())
    scaled = make_table_ranker(frame, RankSVM(tol=1e-5), scale="query").fit(frame, levels)
    assert list(scaled.named_steps) == ["columns", "queries", "ranksvm"]
    X = scaled[:-1].transform(frame)
    assert [X.min(), X.max()] == [0, 1]
    plain = make_table_ranker(frame, scale="none").fit(frame, levels)[0].transform(frame)
    for query in range(12):
        indicators = [k for k, name in enumerate(scaled[0].get_feature_names_out()) if name.startswith("categories")]
        both = X[qid == query][:, indicators] - plain[qid == query][:, indicators]
        np.testing.assert_array_equal(both, np.broadcast_to(both[0], both.shape))  # 0 and 1 stay as they are
    assert scaled.score(frame, levels) > 0.9
    features = frame.drop("qid") if kind is pl.DataFrame else frame.drop(columns="qid")
    with pytest.raises(ValueError, match="predict of a query pipeline requires queries"):
        scaled.predict(features)
    np.testing.assert_array_equal(scaled.predict(features, qid=qid), scaled.predict(frame))
    scores = cross_val_score(model, frame, levels, groups=qid, cv=GroupKFold(3), error_score="raise")
    assert scores.mean() > 0.8


@kinds
def test_without_queries_it_is_an_ordinary_pipeline_that_ranks(columns, y, kind):
    frame = kind(columns)
    model, plain = make_table_ranker(frame), Pipeline(make_table_ranker(frame).steps)
    assert model.fit(frame, y).score(frame, y) == plain.fit(frame, y).score(frame, y)
    np.testing.assert_array_equal(model.rank(frame), plain[-1].rank(plain[0].transform(frame)))
    assert not hasattr(make_table_ranker(frame, OrdinalSVM()), "rank")
    qid = np.repeat(np.arange(12), 20)
    of_queries = model.fit(frame, y, ranksvm__qid=qid).rank(frame, qid)
    assert (of_queries.min(), of_queries.max()) == (1, 20)
    np.testing.assert_array_equal(model.rank(kind({**columns, "qid": qid})), of_queries)
    with pytest.warns(MissingQueryWarning):
        model.rank(frame)


def test_searches(columns, y):
    frame = pl.DataFrame(columns)
    grid = {"ranksvm__alpha": [1e-3, 1e-1], "columns__categories__max_categories": [None, 2]}
    search = GridSearchCV(make_table_ranker(frame), grid, cv=3, error_score="raise").fit(frame, y)
    assert search.best_score_ > 0.85


def test_a_column_named_like_query_ids(columns):
    frame = pl.DataFrame({**columns, "query_id": range(N)})
    with pytest.warns(QueryColumnWarning, match="'query_id' is named like"):
        make_table_ranker(frame)
    make_table_ranker(frame, drop=["query_id"])


# Errors


@kinds
@pytest.mark.parametrize("values", [[date(2020, 1, 1)] * N, [[1.0, 2.0]] * N], ids=["dates", "lists"])
def test_what_is_neither_number_nor_category(columns, kind, values):
    if kind is pd.DataFrame and isinstance(values[0], date):
        values = pd.to_datetime(values)
    frame = kind({**columns, "when": values})
    remedy = (
        "days since a fixed date"
        if not isinstance(values, list) or isinstance(values[0], date)
        else "to numbers or text"
    )
    with pytest.raises(ValueError, match=rf"The column 'when' holds values of type .*{remedy}.*leave it out \(drop\)"):
        make_table_ranker(frame)
    make_table_ranker(frame, drop=["when"])


@kinds
@pytest.mark.parametrize("hour", ["", " 12:30", "T12:30:00+01:00"])
def test_dates_as_text(columns, kind, hour):
    days = [None, *(f"2024-05-{1 + k % 28:02}{hour}" for k in range(N - 1))]
    frame = kind({**columns, "when": days})
    with pytest.raises(
        ValueError, match=rf"'when' holds dates as text, such as '2024-05-01{re.escape(hour)}'.*days since"
    ):
        make_table_ranker(frame)
    make_table_ranker(frame, drop=["when"])
    make_table_ranker(frame, categorical=["when"])
    make_table_ranker(kind({**columns, "when": [*days[:-1], "soon"]}))  # not a column of dates


@kinds
def test_infinite_values(columns, kind):
    columns["price"][7] = -np.inf
    with pytest.raises(ValueError, match=r"The column 'price' holds -inf in row 8\. Replace"):
        make_table_ranker(kind(columns))


@pytest.mark.parametrize("size", [1e-100, 1e-3, 1e140])
def test_units_of_columns_do_not_matter(columns, y, size):
    frame = pl.DataFrame(columns)
    other = frame.with_columns(pl.col("price") * size, pl.col("age") + 1e7)
    expected = make_table_ranker(frame, RankSVM(tol=1e-8)).fit(frame, y).predict(frame)
    found = make_table_ranker(other, RankSVM(tol=1e-8)).fit(other, y).predict(other)

    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_numbers_without_squares(columns):
    columns["price"][3] = -1e200
    with pytest.raises(ValueError, match=r"'price' holds numbers up to 1e\+200, whose squares.*Divide the column"):
        make_table_ranker(pl.DataFrame(columns))


@kinds
def test_numbers_as_text_are_no_categories(columns, y, kind):
    texts = [str(value) for value in columns["rooms"]]
    with pytest.raises(ValueError, match="The column 'rooms' holds numbers as text"):
        make_table_ranker(kind({**columns, "rooms": texts}))
    with pytest.raises(
        ValueError, match=r"'rooms' holds mostly numbers as text, but 'many' in row 4\. If it is a number, correct"
    ):
        make_table_ranker(kind({**columns, "rooms": [*texts[:3], "many", *texts[4:]]}))
    frame = kind({**columns, "rooms": texts})
    assert (
        "categories__rooms_3"
        in make_table_ranker(frame, categorical=["rooms"]).fit(frame, y)[0].get_feature_names_out()
    )
    make_table_ranker(kind({**columns, "rooms": [*texts[:50], *["many"] * (N - 50)]}))


def test_columns_that_are_not_there(columns):
    frame = pl.DataFrame(columns)
    for argument in ("categorical", "drop", "keep"):
        with pytest.raises(ValueError, match=f"{argument}: there is no column 'x'; the columns are price, rooms"):
            make_table_ranker(frame, **{argument: ["x"]})
    with pytest.raises(ValueError, match="keep: the column 'price' is not among the features"):
        make_table_ranker(frame, keep=["price"], drop=["price"])
    with pytest.raises(ValueError, match=r"no column that can be a feature.*unit: all values are equal"):
        make_table_ranker(frame, keep=["unit", "name"])
    with pytest.raises(TypeError, match=r"data frame with named columns.*got ndarray"):
        make_table_ranker(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="no rows"):
        make_table_ranker(frame.head(0))


def test_columns_without_values(columns, y):
    frame = pl.DataFrame({**columns, "nothing": [None] * N, "nan": [float("nan")] * N, "gap": [None, *[1.0] * (N - 1)]})
    model = make_table_ranker(frame).fit(frame, y)
    assert {"nothing", "nan"} <= {
        column for part, _, names in model[0].transformers for column in names if part == "left_out"
    }
    assert "numbers__missingindicator_gap" in model[0].get_feature_names_out()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, "Int64", "Float64", "boolean"])
def test_types_of_numbers_do_not_matter(y, dtype):
    numbers = np.arange(N) % 2
    numbers[:7] = 1
    frame, other = pd.DataFrame({"a": numbers.astype(np.float64), "b": y}), pd.DataFrame({"a": numbers, "b": y})
    other["a"] = other["a"].astype(dtype)
    if isinstance(dtype, str):
        frame.loc[3, "a"] = np.nan
        other.loc[3, "a"] = pd.NA
    categorical = ["a"] if dtype == "boolean" else []
    found = make_table_ranker(other).fit(other, y).predict(other)
    expected = make_table_ranker(frame, categorical=categorical).fit(frame, y).predict(frame)

    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["string[python]", "string[pyarrow]"])
def test_missing_text_of_pandas_nullable_types(y, dtype):
    frame = pd.DataFrame({"a": pd.Series(["x", None, "y"] * (N // 3) + ["x"] * (N % 3), dtype=dtype)})
    with pytest.raises(ValueError, match=r"'a' marks missing text by pandas\.NA.*astype\(object\)"):
        make_table_ranker(frame)
    column = frame["a"]
    frame["a"] = column.astype(object).where(column.notna(), None)  # the remedy of the message
    assert len(make_table_ranker(frame).fit(frame, y)[0].get_feature_names_out()) == 3
    make_table_ranker(frame.dropna().astype({"a": dtype}))


@pytest.mark.parametrize("names", [(0, 1), ("a", 1), (("a", "b"), ("a", "c"))])
def test_names_that_are_not_text(names):
    frame = pd.DataFrame(np.eye(7)[:, :2]).set_axis(list(names), axis=1)
    with pytest.raises(ValueError, match=r"columns named by strings, but .* rename them, as in frame\.set_axis"):
        make_table_ranker(frame)
    make_table_ranker(frame.set_axis([str(name) for name in frame.columns], axis=1))


# What the command line uses


@kinds
@pytest.mark.parametrize("low", [1, 3])
def test_fast_fits_are_those_of_scikit_learn(columns, kind, low):
    frame = kind({**columns, "kind": pd.Categorical(columns["colour"]) if kind is pd.DataFrame else columns["colour"]})
    if kind is pl.DataFrame:
        frame = frame.with_columns(pl.col("kind").cast(pl.Categorical))
    transformer = make_table_ranker(frame, min_frequency=low)[0]
    fast, plain = clone(transformer), clone(transformer)
    np.testing.assert_array_equal(fit_columns(fast, frame), plain.fit_transform(frame))
    np.testing.assert_array_equal(fast.transform(frame), plain.transform(frame))
    assert fast.get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()
    found, expected = (vars(each.named_transformers_["categories"]) for each in (fast, plain))
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert repr(found[name]) == repr(values), name


CELLS = {
    "number": st.none() | st.floats(-1e6, 1e6) | st.just(float("nan")),
    "count": st.none() | st.integers(-3, 3),
    "text": st.none() | st.sampled_from(["a", "b", "ä", "", "zz", "None"]),
    "flag": st.none() | st.booleans(),
}


@given(st.data(), st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=4), st.integers(2, 12), st.integers(1, 3))
def test_any_table_is_prepared_or_refused(data, names, n_rows, low):
    rows = st.lists(st.tuples(*map(CELLS.get, names)), min_size=n_rows, max_size=n_rows)
    types = {"number": pl.Float64, "count": pl.Int64, "text": pl.String, "flag": pl.Boolean}
    schema = {f"{name} {k}": types[name] for k, name in enumerate(names)}
    frame = pl.DataFrame(data.draw(rows), schema=schema, orient="row")
    try:
        transformer = make_table_ranker(frame, min_frequency=low)[0]
    except ValueError as error:
        assert "no column that can be a feature" in str(error)  # noqa: PT017 - other tables have features
        return
    fast, plain = clone(transformer), clone(transformer)
    X = fit_columns(fast, frame)
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(plain.fit_transform(frame), X)
    for fitted in (fast, plain):
        np.testing.assert_array_equal(fitted.transform(frame), X)
    told = describe_columns(fast, frame, {})
    assert sum(each["features"] for each in told) == X.shape[1]
    assert sum(each["missing"] for each in told) <= len(names) * n_rows


def test_descriptions_count_what_was_done(columns, y):
    frame = pl.DataFrame(columns)
    sorted_columns = sort_columns(frame, [], [], None, 5)
    model = make_table_ranker(frame).fit(frame, y)
    told = {each.pop("column"): each for each in describe_columns(model[0], frame, sorted_columns.left_out)}
    assert list(told) == list(columns)
    assert sum(each["features"] for each in told.values()) == len(model[0].get_feature_names_out())
    assert told["age"]["missing"] == columns["age"].count(None)
    assert told["age"]["features"] == 2
    assert told["seller"] == {
        "kind": "category", "treatment": "one feature per value; 2 rare ones together", "features": 4, "rare": 2,
        "missing": columns["seller"].count(None),
    }  # fmt: skip
    assert told["name"] == {"kind": "left out", "treatment": "no value occurs in 5 rows", "features": 0, "missing": 0}


def test_inputs_of_models(columns, y):
    frame = pd.DataFrame(columns)
    model = make_table_ranker(frame).fit(frame, y)
    assert inputs_of(model).names == ["price", "rooms", "age", "colour", "seller", "new"]
    assert inputs_of(model).texts == {"colour", "seller"}
    assert inputs_of(model).booleans == {"new"}
    by_position = Pipeline([
        ("columns", ColumnTransformer([("one", OneHotEncoder(), [3]), ("as it is", "passthrough", slice(0, 2))])),
        ("rank", RankSVM()),
    ]).fit(frame, y)  # fmt: skip
    assert inputs_of(by_position).names == list(frame.columns)
    assert inputs_of(by_position).texts == {"colour"}
    assert inputs_of(RankSVM().fit(frame[["price", "rooms"]], y)) == Inputs(["price", "rooms"])
    assert inputs_of(RankSVM().fit(frame[["price", "rooms"]].to_numpy(), y)) is None
    assert inputs_of(None) is None


def test_a_pipeline_of_polars_takes_the_text_of_pandas(columns, y):
    codes = [*[None] * 6, *(str(20095 + k % 3) for k in range(N - 6))]
    frame = pl.DataFrame({**columns, "code": codes, "qid": [k // 6 for k in range(N)]})
    model = make_table_ranker(frame, categorical=["code"]).fit(frame, y)
    table = pd.read_csv(io.StringIO(frame.write_csv()), dtype={"code": str})
    assert table["code"].isna().sum() == 6
    np.testing.assert_array_equal(model.predict(table), model.predict(frame))
    np.testing.assert_array_equal(model.rank(table), model.rank(frame))
    assert model.score(table, y) == model.score(frame, y)
    np.testing.assert_array_equal(model.predict(table[:1]), model.predict(frame)[:1])
    unknown = pd.DataFrame({**dict(table[:1]), "code": [np.nan]})  # numbers, to pandas
    np.testing.assert_array_equal(model.predict(unknown), model.predict(frame)[:1])
    for other in (frame.with_columns(pl.col("code").cast(pl.Int64)), table.astype({"code": float})):
        with pytest.raises(ValueError, match=r"'code' holds numbers, but the model was trained with text there\. Read"):
            model.predict(other)
