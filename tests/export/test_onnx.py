"""ONNX graphs, run by onnxruntime."""

import json
import re
import sys
import warnings

import numpy as np
import onnx
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from exported import assert_same_order, make_table, make_table_pipeline, rows_of, utilities, with_surprises
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

import kernelrank
from kernelrank import RLS, RLSCV, GreedyRankRLS, GreedyRLS, NystromMap, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.export import to_onnx
from kernelrank.kernels import Gaussian, Linear, NamedKernel, Polynomial
from kernelrank.persistence import load_model, save_model
from kernelrank.pipelines import make_table_ranker

TO_ROUNDING = 1e-12


@pytest.fixture
def engines(load):
    return load("benchmarks.export_engines")


def make_rows(rng, m=60):
    X = rng.normal(size=(m, 4)) * [1.0, 10.0, 100.0, 0.1] + [0.0, 5.0, 1e4, -1.0]
    X[m // 2 :: 5] = X[0]  # ties
    return X, X[:, 0] - X[:, 1] / 10 + rng.normal(size=m)


def assert_equal(found, expected, tolerance=TO_ROUNDING):
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(1e-2),
        RankSVM(1e-2, loss="squared_hinge", positive=True),
        RankSVMCV(2, cv=2),
        RankRLS(),
        RankRLS(n_basis=3),
        RankRLSCV(2, cv=2),
        RLS(),
        RLSCV(2),
        GreedyRLS(2),
        GreedyRankRLS(2),
        RankSVM(kernel="gaussian"),
        RankSVM(kernel="gaussian", n_basis=10),
        RankRLS(kernel=Gaussian(0.1)),
        RankRLS(kernel=Polynomial(3, coef0=0.5, gamma=0.2), n_basis=10),
        RankRLS(alpha=0.1, kernel="rbf"),
        RankRLS(alpha=0.1, kernel="poly"),
        RLS(kernel=Gaussian(0.2) + 2 * Linear() * Polynomial(2)),
    ],
    ids=str,
)
def test_scores_are_those_of_predict(engines, rng, model):
    X, y = make_rows(rng)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
    new = make_rows(rng)[0]
    found = engines.onnx_scores(to_onnx(pipeline), new)
    assert found.dtype == np.float64
    assert_equal(found, pipeline.predict(new))
    # A model without a pipeline, whose rows are scaled already.
    rows = pipeline[0].transform(new)
    assert_equal(engines.onnx_scores(to_onnx(pipeline[-1]), rows), pipeline[-1].predict(rows))


@pytest.mark.parametrize("kernel", ["linear", "gaussian", "polynomial"])
def test_equal_rows_have_equal_scores(engines, rng, kernel):
    X, y = make_rows(rng)
    model = make_pipeline(StandardScaler(), RankRLS(kernel=kernel)).fit(X, y)
    assert_same_order(engines.onnx_scores(to_onnx(model), X), model.predict(X), np.zeros(len(X)))


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.1)], ids=str)
def test_several_outputs(engines, rng, kernel):
    X, y = make_rows(rng)
    model = RLS(kernel=kernel).fit(X, np.stack([y, -y, y**2], axis=1))
    found = to_onnx(model)
    assert_equal(engines.onnx_scores(found, X), model.predict(X), 1e-9)
    assert found.graph.output[0].type.tensor_type.shape.dim[1].dim_value == 3
    one = RLS(kernel=kernel).fit(X, y[:, None])
    assert engines.onnx_scores(to_onnx(one), X).shape == one.predict(X).shape == (len(X), 1)


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 2)),
        MaxAbsScaler(),
        RobustScaler(),
        RobustScaler(with_centering=False),
        RobustScaler(with_scaling=False),
        make_pipeline(MinMaxScaler((1, 2)), StandardScaler(), RobustScaler()),
        make_pipeline(SelectKBest(f_regression, k=2), StandardScaler()),
        make_pipeline(StandardScaler(), GreedyRLS(3)),
        "passthrough",
        SimpleImputer(strategy="median"),
    ],
    ids=lambda each: re.sub(" at 0x[0-9a-f]+", "", str(each)),  # functions have another address in each process
)
@pytest.mark.parametrize("ranker", [RankRLS(), RankRLS(kernel=Gaussian(0.5), n_basis=20)], ids=str)
def test_scalers_and_selectors(engines, rng, scaler, ranker):
    X, y = make_rows(rng)
    model = make_pipeline(scaler, ranker).fit(X, y)
    assert_equal(engines.onnx_scores(to_onnx(model), X), model.predict(X), 1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "linear"])
def test_nystrom_map_before_a_linear_ranker(engines, rng, kernel):
    X, y = make_rows(rng)
    model = make_pipeline(StandardScaler(), NystromMap(kernel, n_basis=15), RankSVM(1e-2)).fit(X, y)
    assert_equal(engines.onnx_scores(to_onnx(model), X), model.predict(X), 1e-9)
    # Without some of its basis rows, it has fewer features.
    rows = model[0].transform(X)
    fewer = model[1].without(np.arange(30))
    ranker = RankRLS().fit(fewer.transform(rows), y)
    removed = make_pipeline(model[0], fewer, ranker)
    assert_equal(engines.onnx_scores(to_onnx(removed), X), removed.predict(X), 1e-9)


def test_sparse_basis(engines, rng):
    X, y = make_rows(rng)
    sparse = sp.csr_array(X * (X > 0))
    model = make_pipeline(MaxAbsScaler(), RankSVM(kernel="gaussian", n_basis=10)).fit(sparse, y)
    assert_equal(engines.onnx_scores(to_onnx(model), sparse.toarray()), model.predict(sparse))


@pytest.mark.parametrize("ranker", [RankSVM(1e-2), RankRLS(kernel="gaussian"), RankRLS()], ids=str)
def test_tables(engines, rng, ranker):
    table = make_table(rng)
    model = make_table_pipeline(ranker).fit(table, utilities(rng, table))
    for rows in (table, with_surprises(table)):
        expected = model.predict(rows)
        found = engines.onnx_scores(to_onnx(model), rows_of(rows))
        assert_equal(found, expected)
        if isinstance(ranker, RankSVM):
            assert_same_order(found, expected, rows["qid"].to_numpy())


@pytest.mark.parametrize("scale", ["standard", "none"])
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_table_rankers(engines, rng, scale, kernel):
    table = make_table(rng)
    if scale == "none":
        table = table.with_columns(pl.col("floor's") - 1e6)
    y = utilities(rng, table)
    for frame in (table, table.to_pandas()):
        model = make_table_ranker(frame, RankRLS(kernel=kernel), scale=scale, categorical=["stars"]).fit(frame, y)
        found = engines.onnx_scores(to_onnx(model), rows_of(table))
        assert_equal(found, model.predict(frame), 1e-9)


def test_saved_pipelines(rng, tmp_path):
    table = make_table(rng)
    model = make_table_pipeline().fit(table, utilities(rng, table))
    save_model(model, tmp_path / "model")
    assert to_onnx(load_model(tmp_path / "model")) == to_onnx(model)


def test_tables_of_several_outputs(engines, rng):
    table = make_table(rng).drop("qid")
    y = rng.normal(size=(len(table), 2))
    model = make_pipeline(*(step for _, step in make_table_pipeline(RLS()).steps)).fit(table, y)
    assert_equal(engines.onnx_scores(to_onnx(model), rows_of(table)), model.predict(table))


@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(drop="first"),
        OneHotEncoder(drop="if_binary", handle_unknown="ignore"),
        OneHotEncoder(max_categories=3, handle_unknown="infrequent_if_exist", drop="first"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        OrdinalEncoder(),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-2, encoded_missing_value=-1),
        OrdinalEncoder(min_frequency=5, handle_unknown="use_encoded_value", unknown_value=9, encoded_missing_value=-1),
        make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
        make_pipeline(SimpleImputer(strategy="constant", fill_value="none", add_indicator=False), OneHotEncoder()),
        make_pipeline(OneHotEncoder(sparse_output=False), StandardScaler()),
    ],
    ids=str,
)
def test_encoders(engines, rng, encoder):
    m = 80
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue", "", "grey"], m, p=[0.4, 0.3, 0.2, 0.05, 0.05]),
            "size": rng.choice(["s", "l", None], m, p=[0.5, 0.3, 0.2]),
        }
    ).astype(object)
    model = make_pipeline(encoder, RankRLS()).fit(frame[["colour"]], rng.normal(size=m))
    rows = frame.to_dict("records")
    # The empty text is a category of this column.
    found = to_onnx(model)
    assert_equal(engines.onnx_scores(found, rows), model.predict(frame[["colour"]]))
    [keys] = [each.t.string_data for node in found.graph.node for each in node.attribute if each.name == "keys_tensor"]
    assert len(set(keys)) == len(keys)
    if str(encoder) != "OrdinalEncoder()":  # it encodes a missing value as NaN, which models refuse
        model.fit(frame[["size"]], rng.normal(size=m))
        assert_equal(engines.onnx_scores(to_onnx(model), rows), model.predict(frame[["size"]]))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_categories_that_are_numbers(engines, rng, dtype):
    X = np.column_stack([rng.choice([1.0, 2.5, np.nan], 60), rng.normal(size=60), rng.integers(0, 4, 60)])
    columns = ColumnTransformer(
        [("codes", OneHotEncoder(handle_unknown="ignore"), [0, 2]), ("rest", StandardScaler(), [1])]
    )
    model = make_pipeline(columns, RankRLS()).fit(X, rng.normal(size=60))
    new = X.copy()
    new[::7, 0], new[::5, 2] = 7.0, 11
    assert_equal(engines.onnx_scores(to_onnx(model, dtype=dtype), new), model.predict(new), 1e-5)


def test_columns_are_found_by_any_kind_of_selection(engines, rng):
    X, y = make_rows(rng)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    for columns in (slice("b", "c"), slice(1, 3), [1, 2], [-3, -2], ["b", "c"], [False, True, True, False]):
        chosen = ColumnTransformer(
            [("scaled", StandardScaler(), columns), ("one", RobustScaler(), ["d"])],
            remainder="passthrough",
            transformer_weights={"scaled": 3.0},
        )
        model = make_pipeline(chosen, RankRLS()).fit(frame, y)
        assert_equal(engines.onnx_scores(to_onnx(model), frame.to_dict("records")), model.predict(frame), 1e-9)


def test_refused_rows_have_no_score(engines, rng):
    frame = pd.DataFrame({"colour": rng.choice(["red", "green"], 40), "size": rng.normal(size=40)})
    columns = ColumnTransformer([("colours", OneHotEncoder(), ["colour"])], remainder="passthrough")
    model = make_pipeline(columns, RankRLS()).fit(frame, rng.normal(size=40))
    rows = [{"colour": "blue", "size": 1.0}, {"colour": "red", "size": None}, {"colour": "red", "size": 1.0}]
    assert np.isnan(engines.onnx_scores(to_onnx(model), rows)).tolist() == [True, True, False]


@pytest.mark.parametrize(("kernel", "lost"), [("linear", 1e-6), (Gaussian(0.1), 1e-4)], ids=str)
def test_float32_loses_digits(engines, rng, kernel, lost):
    X, y = make_rows(rng)
    X[:, 2] -= 1e4  # an offset would cost digits of the input
    model = make_pipeline(StandardScaler(), RankRLS(alpha=0.1, kernel=kernel)).fit(X, y)
    found = engines.onnx_scores(to_onnx(model, dtype="float32"), X)
    assert found.dtype == np.float32
    assert_equal(found, model.predict(X), lost)
    assert len(to_onnx(model, dtype="float32").SerializeToString()) < len(to_onnx(model).SerializeToString())


def test_an_offset_costs_no_digits(engines, rng):
    X, y = make_rows(rng)
    model = make_pipeline(SimpleImputer(), StandardScaler(), RankRLS()).fit(X + 1e8, y)
    assert_equal(engines.onnx_scores(to_onnx(model), X + 1e8), model.predict(X + 1e8))


def test_what_is_in_the_file(rng, tmp_path):
    table = make_table(rng)
    model = make_table_pipeline().fit(table, utilities(rng, table))
    found = to_onnx(model)
    onnx.save(found, tmp_path / "model.onnx")
    onnx.checker.check_model(str(tmp_path / "model.onnx"), full_check=True)
    assert found.SerializeToString() == to_onnx(model).SerializeToString()
    names = [name for name in table.columns if name != "qid"]
    assert [each.name for each in found.graph.input] == names
    facts = {each.key: each.value for each in found.metadata_props}
    assert facts == {"model": "RankSVM", "kernelrank": kernelrank.__version__, "feature_names": json.dumps(names)}
    assert found.producer_name == "kernelrank"


def test_unused_columns_are_not_inputs_and_names_can_be_given(engines, rng):
    X, y = make_rows(rng)
    frame = pd.DataFrame(X, columns=["a", "score", "c", "d"])
    model = make_pipeline(ColumnTransformer([("some", StandardScaler(), ["a", "score"])]), RankRLS()).fit(frame, y)
    found = to_onnx(model)
    assert [each.name for each in found.graph.input] == ["a", "score"]
    assert [each.name for each in found.graph.output] == ["score_"]
    renamed = to_onnx(model, ["p", "q", "r", "s"])
    assert [each.name for each in renamed.graph.input] == ["p", "q"]
    rows = frame.rename(columns={"a": "p", "score": "q"}).to_dict("records")
    assert_equal(engines.onnx_scores(renamed, rows), model.predict(frame))


def test_the_package_is_optional(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModuleNotFoundError, match=r'to_onnx requires the package onnx: pip install "kernelrank\[onnx'):
        to_onnx(RankSVM().fit(*make_rows(rng)))


@pytest.mark.parametrize(
    ("kernel", "named"),
    [(NamedKernel("laplacian"), "laplacian"), (lambda A, B: A @ B.T, "FunctionKernel"), ("sigmoid", "sigmoid")],
)
def test_other_kernels_are_refused(rng, kernel, named):
    X, y = make_rows(rng)
    model = RankRLS(kernel=kernel if named != "sigmoid" else NamedKernel("cosine") + Linear()).fit(X, y)
    with pytest.raises(TypeError, match=r"The kernel .* cannot be exported to ONNX"):
        to_onnx(model)


def test_numbers_beyond_float32_are_refused(rng):
    X, y = make_rows(rng)
    model = RankRLS().fit(X, y)
    model.coef_ *= 1e60
    to_onnx(model)
    with pytest.raises(ValueError, match='cannot be exported with dtype="float32"'):
        to_onnx(model, dtype="float32")


@pytest.mark.parametrize("kept", [False, True])
def test_imputers_of_columns_without_values(engines, rng, kept):
    X, y = make_rows(rng)
    X[:, 1], X[::4, 2] = np.nan, np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a column has no values
        imputer = SimpleImputer(add_indicator=True, keep_empty_features=kept)
        model = make_pipeline(imputer, StandardScaler(), RankRLS()).fit(X, y)
        assert_equal(engines.onnx_scores(to_onnx(model), X), model.predict(X), 1e-9)


def test_a_file_of_2_gib_is_refused(rng, monkeypatch):
    monkeypatch.setattr("kernelrank.export._graph._MOST_BYTES", 1000)
    X, y = make_rows(rng)
    with pytest.raises(ValueError, match="an ONNX file has at most 2 GiB"):
        to_onnx(RankRLS(kernel="gaussian").fit(X, y))


def test_categories_that_float32_does_not_distinguish(engines):
    X = np.array([[16_777_216.0], [16_777_217.0], [1e17]] * 5)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), RankRLS()).fit(X, np.arange(15.0))
    new = np.append(X, [[3.0]], axis=0)
    assert_equal(engines.onnx_scores(to_onnx(model), new), model.predict(new))
    with pytest.raises(ValueError, match="some of its categories are the same number in float32"):
        to_onnx(model, dtype="float32")
