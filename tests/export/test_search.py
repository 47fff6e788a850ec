"""Models of search engines, evaluated as their documentation says."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from exported import make_table, make_table_pipeline, rows_of, utilities, with_surprises
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from kernelrank import GreedyRankRLS, RankRLS, RankSVM
from kernelrank.export import to_elasticsearch, to_opensearch, to_solr

FORMATS = {"ltr_scores": to_elasticsearch, "solr_scores": to_solr}
both = pytest.mark.parametrize("engine", FORMATS)


@pytest.fixture
def engines(load):
    return load("benchmarks.export_engines")


def assert_equal_up_to_a_constant(found, expected, tolerance=2e-6):
    """Assert that scores differ by one constant, in relation to the spread of the expected ones."""
    differences = found - expected
    assert np.ptp(differences) <= tolerance * np.ptp(expected)


def assert_same_order(found, expected, qid, tolerance=1e-5):
    """Assert that pairs of a query are in the same order, if float32 distinguishes them, and ties stay ties."""
    tolerance = tolerance * np.ptp(expected)
    for query in np.unique(qid):
        score, right = found[qid == query], expected[qid == query]
        differences = right[:, None] - right
        clear = np.abs(differences) > tolerance
        np.testing.assert_array_equal(np.sign(score[:, None] - score)[clear], np.sign(differences)[clear])
        assert (score[:, None] == score)[differences == 0].all()


@both
def test_tables(engines, rng, engine):
    # A column near 1e6 has few digits in float32.
    table = make_table(rng).with_columns(pl.col("floor's") - 1e6)
    model = make_table_pipeline().fit(table, utilities(rng, table))
    score, export = getattr(engines, engine), FORMATS[engine]
    for rows in (table, with_surprises(table)):
        expected = model.predict(rows)
        plain = score(export(model, "houses"), rows_of(rows))
        assert_equal_up_to_a_constant(plain, expected)
        assert_same_order(plain, expected, rows["qid"].to_numpy())
        shifted = score(export(model, "houses", bounds=table), rows_of(rows))
        assert shifted.min() >= 0
        assert_equal_up_to_a_constant(shifted, expected)
        assert_same_order(shifted, expected, rows["qid"].to_numpy())


@both
@pytest.mark.parametrize(
    "scaler", ["passthrough", StandardScaler(), MinMaxScaler((-1, 1)), MaxAbsScaler(), RobustScaler()], ids=str
)
def test_scalers(engines, rng, engine, scaler):
    X = rng.normal(size=(60, 3)) * [1.0, 50.0, 1e-3] + [0.0, 20.0, -2e-3]
    X[::6] = X[0]
    model = make_pipeline(scaler, RankSVM(1e-2)).fit(X, X[:, 0] - X[:, 1] / 50 + rng.normal(size=60))
    names = ["bm25", 'the "title"', "ä"]
    rows = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    score, export = getattr(engines, engine), FORMATS[engine]
    assert_equal_up_to_a_constant(score(export(model, "m", names), rows), model.predict(X))
    assert_same_order(score(export(model, "m", names), rows), model.predict(X), np.zeros(60))
    shifted = score(export(model, "m", names, bounds=X), rows)
    assert shifted.min() >= 0
    assert_equal_up_to_a_constant(shifted, model.predict(X))
    # A document that matches no query has zeros: still within the bounds.
    assert score(export(model, "m", names, bounds=X), [dict.fromkeys(names)]) >= 0


@both
@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("level", [-5.0, 5.0])
def test_documents_without_a_feature_are_within_the_bounds(engines, engine, sign, level):
    X = np.array([[0.0], [1.0], [2.0]]) + level
    model = RankSVM().fit(X, sign * X[:, 0])
    scores = getattr(engines, engine)(FORMATS[engine](model, "m", bounds=X), [{"x0": level}, {"x0": level + 2}, {}])
    assert scores.min() >= 0
    np.testing.assert_allclose(np.diff(scores), np.diff(model.predict([[level], [level + 2], [0.0]])), rtol=1e-6)


@both
def test_a_scaler_keeps_the_digits_of_a_large_offset(engines, rng, engine):
    """Dates in seconds are near 1.7e9; float32 has 128 of them between neighbours, but sums of them have fewer."""
    X = np.column_stack([np.float32(1.7e9 + 1e7 * rng.random(50)), rng.normal(size=50)]).astype(np.float64)
    model = make_pipeline(StandardScaler(), RankRLS()).fit(X, X[:, 0] / 1e7 + X[:, 1])
    rows = [dict(zip(("date", "b"), row, strict=True)) for row in X.tolist()]
    found = getattr(engines, engine)(FORMATS[engine](model, "m", ["date", "b"]), rows)
    assert_equal_up_to_a_constant(found, model.predict(X), 1e-4)


def test_bodies_are_json(rng):
    X = rng.normal(size=(30, 2)) + 5
    model = make_pipeline(StandardScaler(), RankSVM()).fit(X, X[:, 0])
    body = to_elasticsearch(model, "my model", ["a", "b"])
    assert to_opensearch(model, "my model", ["a", "b"]) == body
    assert json.loads(json.dumps(body)) == body
    assert list(body) == ["model"]
    assert body["model"]["name"] == "my model"
    assert sorted(body["model"]["model"]) == ["definition", "feature_normalizers", "type"]
    assert isinstance(body["model"]["model"]["definition"], str)
    assert "feature_normalizers" not in to_elasticsearch(RankSVM().fit(X, X[:, 0]), "m")["model"]["model"]
    solr = to_solr(model, "my model", ["a", "b"], store="shop")
    assert (solr["store"], solr["name"]) == ("shop", "my model")
    assert "store" not in to_solr(model, "my model")
    assert list(to_solr(model, "my model")["params"]["weights"]) == ["x0", "x1"]


def test_bounds_are_two_rows_or_the_columns_of_a_frame(rng):
    frame = pd.DataFrame(rng.normal(size=(30, 2)) + 5, columns=["a", "b"])
    model = make_pipeline(StandardScaler(), RankSVM()).fit(frame, frame["a"] - frame["b"])
    by_frame = to_solr(model, "m", bounds=frame)
    low, high = np.minimum(frame.min(), 0).tolist(), np.maximum(frame.max(), 0).tolist()
    assert to_solr(model, "m", bounds=[low, high]) == by_frame
    assert to_solr(model, "m", bounds=frame.assign(other="x")[["other", "b", "a"]]) == by_frame
    assert to_solr(model, "m", bounds=frame.to_numpy()) == by_frame


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (5, "bounds must be rows of 2 columns"),
        ([[1.0, 2.0], [1.0]], "bounds must be rows of 2 columns"),
        ([[1.0, 2.0, 3.0]], "bounds must be rows of 2 columns"),
        (np.empty((0, 2)), "bounds must be finite numbers, but those of 'x0' are not"),
        ([[1.0, np.inf]], "bounds must be finite numbers, but those of 'x1' are not"),
        ([[1.0, "x"]], "bounds must be finite numbers, but those of 'x1' are not"),
    ],
)
def test_bad_bounds(bounds, words):
    model = RankSVM().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    with pytest.raises(ValueError, match=words):
        to_elasticsearch(model, "m", bounds=bounds)


def test_bounds_without_a_column():
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    model = RankSVM().fit(frame, [0, 1])
    with pytest.raises(ValueError, match="bounds must have the columns of the model, but 'b' is missing"):
        to_elasticsearch(model, "m", bounds=frame[["a"]])


def test_names_that_meet():
    frame = pd.DataFrame({"a": [0.0, np.nan, 2.0], "a:missing": [1.0, 0.0, 1.0]})
    model = make_pipeline(SimpleImputer(), RankRLS()).fit(frame, [0, 1, 2])
    with pytest.raises(ValueError, match="there are two named 'a:missing': rename a column"):
        to_solr(model, "m")


@pytest.mark.parametrize("factor", [1e60, 1e-60])
def test_numbers_beyond_float32_are_refused(factor):
    model = RankSVM().fit([[0.0], [1.0]], [0, 1])
    model.coef_ = model.coef_ * factor
    with pytest.raises(ValueError, match="cannot be exported to Solr, which computes in float32"):
        to_solr(model, "m")


@both
def test_columns_without_weight_are_left_out(engines, rng, engine):
    X = rng.normal(size=(50, 6))
    model = make_pipeline(StandardScaler(), GreedyRankRLS(2)).fit(X, X[:, 1] - X[:, 4])
    body = FORMATS[engine](model, "m")
    assert "x1" in str(body)
    assert "x2" not in str(body)
    rows = [{"x1": row[1], "x4": row[4]} for row in X.tolist()]
    assert_equal_up_to_a_constant(getattr(engines, engine)(body, rows), model.predict(X))
    model[-1].coef_ = np.zeros(6)
    with pytest.raises(ValueError, match="all of its weights are 0, and rank nothing"):
        FORMATS[engine](model, "m")
