"""SQL expressions, evaluated by SQLite."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from exported import assert_same_order, make_table, make_table_pipeline, rows_of, utilities, with_surprises
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler

from kernelrank import GreedyRankRLS, RankRLS, RankSVM
from kernelrank.export import to_sql


@pytest.fixture
def engines(load):
    return load("benchmarks.export_engines")


def assert_equal(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_tables(engines, rng):
    table = make_table(rng)
    model = make_table_pipeline().fit(table, utilities(rng, table))
    for rows in (table, with_surprises(table)):
        found = engines.sql_scores(to_sql(model), rows_of(rows))
        assert_equal(found, model.predict(rows))
        assert_same_order(found, model.predict(rows), rows["qid"].to_numpy())


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(1e-2),
        RankRLS(),
        GreedyRankRLS(2),
        make_pipeline(MinMaxScaler(), RankRLS()),
        make_pipeline(RobustScaler(), MinMaxScaler((1, 5)), RankRLS()),
        make_pipeline(SimpleImputer(), StandardScaler(), RankSVM(1e-2)),
        make_pipeline(
            ColumnTransformer([("raw", "passthrough", [0, 1]), ("scaled", StandardScaler(), [1, 0])]), RankRLS()
        ),
    ],
    ids=str,
)
def test_numbers(engines, rng, model):
    X = rng.normal(size=(60, 3)) * [1.0, 50.0, 1e-3] + [0.0, 1e6, 2.0]
    model.fit(X, X[:, 0] + rng.normal(size=60))
    rows = [dict(zip(("x0", "x1", "x2"), row, strict=True)) for row in X.tolist()]
    found = engines.sql_scores(to_sql(model), rows)
    expected = model.predict(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert to_sql(model, ["x0", "x1", "x2"]) == to_sql(model)


def test_a_whole_query(rng):
    X = rng.normal(size=(20, 2))
    model = RankSVM().fit(X, X[:, 0])
    with sqlite3.connect(":memory:") as database:
        database.execute('CREATE TABLE "my ""houses""" (a, b)')
        database.executemany('INSERT INTO "my ""houses""" VALUES (?, ?)', X.tolist())
        found = database.execute(to_sql(model, ["a", "b"], table='my "houses"'))
        assert [each[0] for each in found.description] == ["a", "b", "score"]
        assert_equal(np.array(found.fetchall())[:, 2], model.predict(X))


def test_any_names_categories_and_weights(engines):
    text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
    names = st.lists(text.filter(bool), min_size=2, max_size=2, unique_by=str.casefold)  # SQLite ignores case

    @settings(max_examples=30)
    @given(names, st.lists(text, min_size=2, max_size=5, unique=True), st.lists(st.floats(-1e300, 1e300), min_size=6))
    def check(names, categories, weights):
        frame = pd.DataFrame({names[0]: pd.Series(categories, dtype=object), names[1]: np.arange(len(categories)) / 10})
        columns = ColumnTransformer([("c", OneHotEncoder(), [names[0]])], remainder="passthrough")
        model = make_pipeline(columns, RankRLS()).fit(frame, np.arange(len(categories)))
        model[-1].coef_, model[-1].intercept_ = np.array(weights[: len(categories) + 1]), 0.0
        found, largest = engines.sql_scores(to_sql(model), frame.to_dict("records")), np.abs(weights).max()
        np.testing.assert_allclose(found, model.predict(frame), rtol=0, atol=largest * 1e-15)

    check()


def test_many_columns_and_categories(engines, rng):
    X = rng.normal(size=(5, 1500))
    model = RankSVM().fit(X, np.arange(5.0))
    # SQLite nests 1000 deep, and has tables of 2000 columns.
    rows = [{f"x{k}": value for k, value in enumerate(row)} for row in X.tolist()]
    assert_equal(engines.sql_scores(to_sql(model), rows), model.predict(X))
    frame = pd.DataFrame({"id": [f"category {k}" for k in range(3000)]})
    model = make_pipeline(OneHotEncoder(), RankRLS()).fit(frame, rng.normal(size=3000))
    assert_equal(engines.sql_scores(to_sql(model), frame.to_dict("records")), model.predict(frame))


def test_refused_rows_have_no_score(engines, rng):
    frame = pd.DataFrame({"colour": rng.choice(["red", "green"], 40), "size": rng.normal(size=40)})
    columns = ColumnTransformer([("colours", OneHotEncoder(), ["colour"])], remainder="passthrough")
    model = make_pipeline(columns, RankRLS()).fit(frame, rng.normal(size=40))
    rows = [{"colour": "blue", "size": 1.0}, {"colour": "red", "size": None}, {"colour": "red", "size": 1.0}]
    assert np.isnan(engines.sql_scores(to_sql(model), rows)).tolist() == [True, True, False]
    rows.append({"colour": None, "size": 1.0})
    assert np.isnan(engines.sql_scores(to_sql(model), rows)).tolist() == [True, True, False, True]


def test_a_model_without_weights_is_a_number(engines):
    model = RankSVM(1e6).fit([[0.0], [1.0]], [0, 1])
    model.coef_ = np.zeros(1)
    assert engines.sql_scores(to_sql(model), [{"x0": 3.0}]).tolist() == [0.0]


def test_characters_that_sql_cannot_hold():
    model = RankSVM().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="a column name cannot be written in SQL: it is empty or has a NUL"):
        to_sql(model, ["a\0b"])
    with pytest.raises(ValueError, match="table cannot be written in SQL"):
        to_sql(model, table="")
    frame = pd.DataFrame({"a": ["x", "\0"]})
    with pytest.raises(ValueError, match="a category cannot be written in SQL"):
        to_sql(make_pipeline(OneHotEncoder(), RankSVM()).fit(frame, [0, 1]))
