import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from kernelrank import (
    RLS,
    RLSCV,
    GreedyRankRLS,
    NystromMap,
    OrdinalSVM,
    RankingClassifier,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
)
from kernelrank.inspection import explain
from kernelrank.kernels import Gaussian, Polynomial
from kernelrank.model_selection import FScoreClassifier
from kernelrank.persistence import load_model, save_model
from kernelrank.pipelines import make_query_pipeline, make_table_ranker

M = 40
QID = np.arange(M) // 8


def assert_sums(found, model, a, b, output=None):
    """Assert that contributions sum to the difference of the model's own scores, and are sorted."""
    score = model.score_samples if hasattr(model, "score_samples") else model.predict
    scores = [np.asarray(score(row), dtype=float).reshape(-1)[output or 0] for row in (a, b)]
    assert found.difference == pytest.approx(scores[0] - scores[1], rel=1e-9, abs=1e-12)
    size = np.abs(found.contributions).sum()
    assert found.contributions.sum() == pytest.approx(found.difference, abs=1e-10 * (1 + size))
    assert (np.diff(np.abs(found.contributions)) <= 0).all()
    assert (found.contributions != 0).all()


def as_dict(found):
    return dict(zip(found.names, found.contributions, strict=True))


@pytest.fixture
def data(rng):
    X = rng.normal(size=(M, 4))
    return X, np.round(X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=M))


@pytest.fixture
def frame(rng):
    table = pd.DataFrame(
        {
            "rooms": rng.integers(1, 6, M).astype(float),
            "age": np.where(rng.random(M) < 0.3, np.nan, rng.uniform(0, 90, M)),
            "district": rng.choice(["north", "south", "north_east"], M),
            "district_north": rng.choice(["yes", "no"], M),  # the name that an encoder gives a column of "district"
            "words": rng.choice(["bright quiet garden", "quiet", "garden bright bright", "dark"], M),
        }
    )
    return table, table["rooms"] + (table["district"] == "north") + rng.normal(size=M)


def table_transformer():
    return make_column_transformer(
        (StandardScaler(), ["rooms"]),
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["age"]),
        (OneHotEncoder(handle_unknown="ignore"), ["district", "district_north"]),
        (CountVectorizer(), "words"),
    )


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(),
        RankSVM(loss="squared_hinge"),
        RankRLS(),
        RankRLS(kernel="linear", n_basis=7),
        RankRLSCV(alphas=3),
        RLS(),
        GreedyRankRLS(2),
        Ridge(),
    ],
)
def test_linear_models_by_features(data, model):
    X, y = data
    model.fit(X, y)
    found = explain(model, X[0], X[1])
    assert_sums(found, model, X[:1], X[1:2])
    expected = {f"x{j}": model.coef_[j] * (X[0, j] - X[1, j]) for j in range(4) if model.coef_[j] != 0}
    assert as_dict(found) == pytest.approx(expected)
    values = {name: (a, b) for name, _, a, b in found.table[["feature", "contribution", "a", "b"]].tolist()}
    assert values == {name: (X[0, int(name[1])], X[1, int(name[1])]) for name in expected}


def test_forms_of_rows(data):
    X, y = data
    model = RankSVM().fit(sp.csr_array(X), y)
    expected = as_dict(explain(model, X[0], X[1]))
    forms = [X[0].tolist(), X[:1], sp.csr_array(X[:1]), sp.csr_matrix(X[:1]), sp.coo_array(X[0])]
    for form in forms:
        assert as_dict(explain(model, form, X[1])) == pytest.approx(expected)
    named = as_dict(explain(model, X[0], X[1], list("pqrs")))
    assert [named[name] for name in "pqrs"] == [expected[name] for name in ("x0", "x1", "x2", "x3")]
    float32 = explain(model, X[0].astype(np.float32), X[1].astype(np.float32))
    assert as_dict(float32) == pytest.approx(expected, rel=1e-5)


def test_rows_of_data_frames(data):
    X, y = data
    table = pd.DataFrame(X, columns=list("pqrs")).assign(qid=QID)
    model = RankSVM().fit(table, y)
    expected = explain(model, table.iloc[[0]], table.iloc[[1]])
    assert set(expected.names) == set("pqrs")
    for a, b in [(table.iloc[0], table.iloc[1]), (pl.from_pandas(table)[0], pl.from_pandas(table)[1])]:
        found = explain(model, a, b)
        assert as_dict(found) == pytest.approx(as_dict(expected))
        assert found.table["a"].tolist() == expected.table["a"].tolist()


@pytest.mark.parametrize("form", ["frames", "series"])
def test_pipelines_to_original_columns(frame, form):
    table, y = frame
    model = make_pipeline(table_transformer(), RankRLS(alpha=0.1)).fit(table, y)
    weights, columns = model[-1].coef_, np.asarray(model[:-1].get_feature_names_out())
    made = model[:-1].transform(table)
    made = made.toarray() if sp.issparse(made) else made
    tokens = model[0].named_transformers_["countvectorizer"].get_feature_names_out()
    # Which columns are summed, written down by hand.
    groups = {"rooms": [0], "age": [1, 2], "district": [3, 4, 5], "district_north": [6, 7]}
    assert len(columns) == 8 + len(tokens)
    groups |= {f"words: {token}": [8 + k] for k, token in enumerate(tokens)}
    for i, j in [(0, 1), (5, 9), (11, 3)]:
        a, b = (table.iloc[i], table.iloc[j]) if form == "series" else (table.iloc[[i]], table.iloc[[j]])
        found = explain(model, a, b)
        assert_sums(found, model, table.iloc[[i]], table.iloc[[j]])
        parts = weights * (made[i] - made[j])
        expected = {name: parts[numbers].sum() for name, numbers in groups.items()}
        found_parts = as_dict(found)
        for name, value in expected.items():
            assert found_parts.get(name, 0.0) == pytest.approx(value, abs=1e-12)
        assert set(found_parts) <= set(expected)
        for name, value in zip(found.names, found.table["a"], strict=True):
            if name in table.columns:
                assert value == table.iloc[i][name] or (pd.isna(value) and pd.isna(table.iloc[i][name]))


@pytest.mark.parametrize("kind", [object, "category", "str"])
def test_series_without_a_text(rng, kind):
    """A Series does not tell whether its NaN is a missing text or a missing number."""
    codes = np.where(rng.random(40) < 0.3, np.nan, rng.integers(3, size=40))
    table = pd.DataFrame(
        {"colour": rng.choice(["red", "blue", np.nan], 40), "size": rng.normal(size=40), "code": codes}
    )
    table.loc[table["colour"] == "nan", "colour"] = np.nan
    table.loc[::7, "size"] = np.nan
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["colour", "code"]), (SimpleImputer(add_indicator=True), ["size"])
    )
    table = table.astype({"colour": kind})
    model = make_pipeline(columns, RankRLS()).fit(table, rng.normal(size=40))
    assert table["colour"].isna().any()
    for i in range(39):
        assert_sums(explain(model, table.iloc[i], table.iloc[i + 1]), model, table.iloc[[i]], table.iloc[[i + 1]])


def test_polars_and_query_pipelines(frame):
    table, y = frame
    table = table.assign(qid=QID)
    model = make_query_pipeline(table_transformer(), RankSVM()).fit(table, y)
    a, b = pl.from_pandas(table)[0], pl.from_pandas(table)[1]
    found = explain(model, table.iloc[0], table.iloc[1])
    assert_sums(found, model, table.iloc[[0]], table.iloc[[1]])
    transformer = ColumnTransformer([("scale", StandardScaler(), ["rooms"]), ("one", OneHotEncoder(), ["district"])])
    model = make_query_pipeline(transformer, RankSVM()).fit(pl.from_pandas(table), y)
    found = explain(model, a, b)
    assert_sums(found, model, a, b)
    assert set(found.names) <= {"rooms", "district"}


def test_columns_in_another_order_and_further_ones(frame):
    X, y = frame
    columns = make_column_transformer((StandardScaler(), ["rooms"]), (OneHotEncoder(), ["district"]))
    model = make_pipeline(columns, RankRLS(alpha=0.1)).fit(X[["words", "district", "rooms"]], y)
    expected = explain(model, X.iloc[0], X.iloc[3])
    assert set(expected.table["feature"]) <= {"district", "rooms"}
    other = X.assign(id=np.arange(len(X)), note="new")[["id", "rooms", "note", "district", "words"]]
    for a, b in ((other.iloc[0], other.iloc[3]), (other[["district", "rooms"]].iloc[0], X.iloc[3])):
        found = explain(model, a, b)
        assert found.table.tolist() == expected.table.tolist()


def test_a_pipeline_of_polars_explains_rows_of_pandas(rng):
    text = [*[None] * 8, *rng.choice(["x", "y"], 22)]
    frame = pl.DataFrame({"text": text, "number": rng.normal(size=30), "qid": np.arange(30) // 10})
    model = make_table_ranker(frame).fit(frame, rng.normal(size=30))
    table = pd.DataFrame(frame.to_dict(as_series=False)).replace({"text": {None: np.nan}})
    expected, found = explain(model, frame[0], frame[9]), explain(model, table.iloc[[0]], table.iloc[9])
    assert found.difference == expected.difference
    assert found.table["contribution"].tolist() == expected.table["contribution"].tolist()


def test_columns_by_number_mask_and_slice(data):
    X, y = data
    expected = as_dict(explain(make_pipeline(StandardScaler(), RankRLS()).fit(X, y), X[0], X[1]))
    for parts in [
        [("a", StandardScaler(), [3, 1]), ("b", StandardScaler(), slice(0, 1)), ("c", StandardScaler(), -2)],
        [("a", StandardScaler(), [True, False, False, True]), ("b", StandardScaler(), slice(1, -1))],
        [("a", StandardScaler(), lambda X: [2, 0]), ("b", StandardScaler(), [1]), ("drop", "drop", [])],
    ]:
        parts = [(name, part, [k % 4] if (k := columns) == -2 else columns) for name, part, columns in parts]
        model = make_pipeline(ColumnTransformer(parts, remainder=StandardScaler()), RankRLS()).fit(X, y)
        assert as_dict(explain(model, X[0], X[1])) == pytest.approx(expected)
    table = pd.DataFrame(X, columns=list("pqrs"))
    by_name = ColumnTransformer([("a", StandardScaler(), slice("q", "r"))], remainder="passthrough")
    model = make_pipeline(by_name, RankRLS()).fit(table, y)
    found = explain(model, table.iloc[0], table.iloc[1])
    assert set(found.names) == set("pqrs")
    assert_sums(found, model, table.iloc[[0]], table.iloc[[1]])


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        ([VarianceThreshold(), MinMaxScaler()], {"x0", "x1", "x2", "x3"}),
        ([SelectKBest(f_regression, k=2), StandardScaler()], {"x0", "x1"}),
        ([PolynomialFeatures(2, include_bias=False)], {"x0", "x3", "x0 * x1", "x2 * x3"}),
        ([PCA(2)], {"pca0", "pca1"}),
        ([StandardScaler(), "passthrough"], {"x0", "x1", "x2", "x3"}),
        ([make_union(StandardScaler(), MinMaxScaler())], {"x0", "x1", "x2", "x3"}),
        ([FeatureUnion([("a", PCA(1)), ("b", "passthrough"), ("c", "drop")])], {"pca0", "x1"}),
        ([FunctionTransformer(np.tanh, feature_names_out="one-to-one")], {"x0", "x1", "x2", "x3"}),
        ([ColumnTransformer([("f", FunctionTransformer(np.tanh), [0])])], {"x0"}),
    ],
)
def test_other_transformers(data, steps, names):
    X, y = data
    model = make_pipeline(*steps, RankRLS()).fit(X, y)
    found = explain(model, X[0], X[1])
    assert_sums(found, model, X[:1], X[1:2])
    assert names <= set(found.names)


def test_documents():
    documents = ["good bright room", "dark room", "good garden", "bad dark"] * 3
    y = [3, 1, 2, 0] * 3
    model = make_pipeline(TfidfVectorizer(), RankSVM()).fit(documents, y)
    found = explain(model, documents[0], documents[1])
    assert_sums(found, model, documents[:1], documents[1:2])
    assert set(found.names) <= {"good", "bright", "dark", "room"}
    assert found.sentence.startswith("a is above b by ")
    model = make_pipeline(TfidfVectorizer(), TruncatedSVD(2), RankSVM()).fit(documents, y)
    found = explain(model, documents[0], documents[1])
    assert set(found.names) == {"truncatedsvd0", "truncatedsvd1"}


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(kernel=Gaussian(0.5)),
        RankSVM(kernel=Polynomial(2), n_basis=9),
        RankSVM(kernel="rbf"),
        RankSVMCV(alphas=3, cv=3, kernel="gaussian"),
        OrdinalSVM(kernel=Gaussian(0.5)),
        RankRLS(kernel=Gaussian(0.5)),
        RLS(kernel=Gaussian(0.5), n_basis=9),
        make_pipeline(StandardScaler(), RankRLS(kernel="gaussian", n_basis=9)),
    ],
)
def test_kernel_models_by_basis(data, model, tmp_path):
    X, y = data
    y = np.clip(y, -1, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    found = explain(model, X[0], X[1])
    assert found.by == "basis"
    assert_sums(found, model, X[:1], X[1:2])
    last = model[-1] if hasattr(model, "steps") else model
    rows = (model[:-1].transform(X) if hasattr(model, "steps") else X)[found.table["row"]]
    given = model[:-1].transform(X[:2]) if hasattr(model, "steps") else X[:2]
    kernels = last.kernel_(given, rows)
    np.testing.assert_allclose(found.table["a"], kernels[0], rtol=1e-9)
    np.testing.assert_allclose(found.contributions, found.table["weight"] * (kernels[0] - kernels[1]), atol=1e-12)


def test_a_kernel_matrix(data):
    X, y = data
    K = Gaussian(0.5)(X)
    expected = explain(RankRLS(kernel=Gaussian(0.5)).fit(X, y), X[0], X[1])
    found = explain(RankRLS(kernel="precomputed").fit(K, y), K[0], K[1])
    assert as_dict(found) == pytest.approx(as_dict(expected))


LEAST_SQUARES = [
    (RankRLS(), {}),
    (RankRLS(), {"qid": QID}),
    (RankRLS(query_weighting="pair"), {"qid": QID % 3}),
    (RankRLS(ties="drop"), {}),
    (RankRLS(), {"sample_weight": np.arange(M) % 3 + 0.5}),
    (RankRLS(kernel=Gaussian(0.5)), {"qid": QID}),
    (RankRLS(kernel=Gaussian(0.5), n_basis=9), {}),
    (RankRLS(n_basis=9), {"qid": QID}),
    (RLS(), {}),
    (RLS(kernel=Gaussian(0.5)), {"sample_weight": np.arange(M) % 3 + 0.5}),
    (RLSCV(alphas=[0.1, 1.0]), {}),
]


@pytest.mark.parametrize(("model", "params"), LEAST_SQUARES)
def test_influence_of_rows_is_that_of_refits(data, model, params):
    X, y = data
    a, b = X[0] + 0.1, X[1] - 0.1
    found = explain(clone(model).fit(X, y, **params), a, b, by="rows")
    assert_sums(found, clone(model).fit(X, y, **params), a[None], b[None])
    alpha = getattr(clone(model).fit(X, y, **params), "alpha_", None)
    fixed = clone(model) if alpha is None else RLS(alpha=alpha)
    influence = dict(zip(found.table["row"].tolist(), found.table["influence"].tolist(), strict=True))
    levels = np.unique(y)
    for row in (2, 17, 33):
        changed = y.copy()
        # Dropped ties must stay ties: a whole level is moved, and the order of levels kept.
        moved = y == y[row] if getattr(model, "ties", "keep") == "drop" else np.arange(M) == row
        changed[moved] += 0.25 if len(levels) > 1 else 0.0
        scores = fixed.fit(X, changed, **params).predict([a, b])
        expected = found.difference + 0.25 * sum(influence.get(k, 0.0) for k in np.flatnonzero(moved).tolist())
        assert scores[0] - scores[1] == pytest.approx(expected, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("cost", ["magnitude", "unit", "relative"])
@pytest.mark.parametrize("qid", [None, QID])
@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.5)])
def test_pairs_of_utilities_are_given_pairs(data, cost, qid, kernel):
    """Explain by pairs of utilities as the same pairs that are passed to `fit_pairs`."""
    X, y = data
    model = RankRLS(cost=cost, kernel=kernel, ties="drop", alpha=0.01).fit(X, y, qid=qid)
    found = explain(model, X[0], X[1], by="pairs")
    assert_sums(found, model, X[:1], X[1:2])
    queries = np.zeros(M) if qid is None else qid
    edges = np.argwhere((y[:, None] > y) & (queries[:, None] == queries))
    sizes = y[edges[:, 0]] - y[edges[:, 1]]
    given = RankRLS(cost=cost, kernel=kernel, alpha=0.01).fit_pairs(X, edges, magnitude=sizes, qid=qid)
    expected = explain(given, X[0], X[1], by="pairs")
    assert_sums(expected, given, X[:1], X[1:2])
    assert as_dict(found) == pytest.approx(as_dict(expected), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.5)])
def test_influence_of_given_pairs_is_that_of_refits(data, kernel, rng):
    X, _ = data
    edges = np.array([[0, 1], [2, 3], [5, 4], [1, 2], [2, 0], [9, 8], [20, 21], [22, 20], [0, 1]])
    weight = np.array([1.0, 2.0, 0.0, 1.0, 0.5, 1.0, 1.0, 3.0, 1.0])
    sizes = rng.uniform(0.5, 2.0, len(edges))
    model = RankRLS(kernel=kernel, alpha=0.05)
    fitted = clone(model).fit_pairs(X, edges, magnitude=sizes, weight=weight)
    found = explain(fitted, X[0], X[10], by="pairs")
    assert_sums(found, fitted, X[:1], X[10:11])
    for k in (0, 4, 7):
        changed = sizes.copy()
        changed[k] += 0.5
        scores = clone(model).fit_pairs(X, edges, magnitude=changed, weight=weight).predict(X[[0, 10]])
        [influence] = found.table["influence"][found.table["target"] == sizes[k]]
        assert scores[0] - scores[1] == pytest.approx(found.difference + 0.5 * influence, rel=1e-8)


def test_several_outputs(data):
    X, y = data
    Y = np.column_stack([y, y[::-1]])
    for model in (RankRLS(), RankRLS(kernel=Gaussian(0.5))):
        model.fit(X, Y)
        with pytest.raises(ValueError, match=r"has 2 outputs: pass output=0, ..., or 1"):
            explain(model, X[0], X[1])
        for by in (None, "rows", "pairs"):
            found = explain(model, X[0], X[1], by=by, output=1)
            assert_sums(found, model, X[:1], X[1:2], output=1)
            alone = explain(clone(model).fit(X, Y[:, 1]), X[0], X[1], by=by)
            assert as_dict(found) == pytest.approx(as_dict(alone))
        with pytest.raises(ValueError, match="output must be below 2"):
            explain(model, X[0], X[1], output=2)


def test_searches_classifiers_and_other_libraries(data):
    X, y = data
    search = GridSearchCV(make_pipeline(StandardScaler(), RankRLS()), {"rankrls__alpha": [0.1, 1.0]}, cv=2).fit(X, y)
    assert_sums(explain(search, X[0], X[1]), search.best_estimator_, X[:1], X[1:2])
    grades = np.clip(y, -1, 1)
    classifier = RankingClassifier(make_pipeline(StandardScaler(), RankSVM())).fit(X, grades)
    assert_sums(explain(classifier, X[0], X[1]), classifier, X[:1], X[1:2])
    classifier = FScoreClassifier(RankRLS(), cv=2).fit(X, (y > 0).astype(int))
    assert explain(classifier, X[0], X[1]).names
    binary = LogisticRegression().fit(X, y > 0)
    found = explain(binary, X[0], X[1])
    assert found.difference == pytest.approx(float(np.subtract(*binary.decision_function(X[:2]))))
    three = LogisticRegression().fit(*make_classification(60, 4, n_classes=3, n_informative=3, n_redundant=0))
    assert explain(three, X[0], X[1], output=2).by == "features"


def test_equal_rows(data):
    X, y = data
    found = explain(RankSVM().fit(X, y), X[0], X[0])
    assert (found.difference, len(found.table)) == (0.0, 0)
    assert str(found) == "a and b have the same score: nothing contributes to a difference."


def test_the_text(data):
    X, y = data
    model = RankRLS().fit(X, y)
    best, worst = X[model.predict(X).argmax()], X[model.predict(X).argmin()]
    above, below = explain(model, best, worst), explain(model, worst, best)
    assert above.sentence.startswith(f"a is above b by {above.difference:.3g}: mostly {above.names[0]} (+")
    assert below.sentence.startswith(f"a is below b by {above.difference:.3g}: mostly {above.names[0]} (-")
    lines = str(explain(model, best, worst, by="rows")).splitlines()
    assert lines[1].split() == ["contribution", "target", "influence"]
    assert len(lines) == 2 + 10 + 1
    assert lines[-1].startswith(f"{len(explain(model, best, worst, by='rows').table) - 10} others")


def test_what_cannot_be_explained(data, tmp_path):
    X, y = data
    a, b = X[0], X[1]
    with pytest.raises(TypeError, match=r"model must have kernel_ and dual_coef_ .* got RandomForestRegressor"):
        explain(RandomForestRegressor(5).fit(X, y), a, b)
    with pytest.raises(ValueError, match="scores of PoissonRegressor are not linear in the features"):
        explain(PoissonRegressor().fit(X, y - y.min()), a, b)
    with pytest.raises(TypeError, match=r'got RankSVM. For a kernel model, use by="basis"'):
        explain(RankSVM(kernel="gaussian").fit(X, y), a, b, by="features")
    with pytest.raises(TypeError, match="by='rows' is for least squares"):
        explain(RankSVM().fit(X, y), a, b, by="rows")
    with pytest.raises(ValueError, match="learns from rows"):
        explain(RLS().fit(X, y), a, b, by="pairs")
    with pytest.raises(ValueError, match="was fitted to pairs"):
        explain(RankRLS().fit_pairs(X, [[0, 1]]), a, b, by="rows")
    with pytest.raises(ValueError, match='cost="magnitude"; with'):
        explain(RankRLS(cost="unit").fit(X, y), a, b, by="rows")
    with pytest.raises(ValueError, match='Use solver="direct"'):
        explain(RankRLS(solver="cg").fit(X, y), a, b, by="rows")
    save_model(RankRLS().fit(X, y), tmp_path / "model.kr")
    loaded = load_model(tmp_path / "model.kr")
    assert explain(loaded, a, b).by == "features"
    with pytest.raises(ValueError, match="has no training data any more"):
        explain(loaded, a, b, by="rows")
    with pytest.raises(ValueError, match=r"'functiontransformer' .* cannot be traced"):
        explain(make_pipeline(FunctionTransformer(np.tanh), RankSVM()).fit(X, y), a, b)


@pytest.mark.parametrize(
    ("a", "message"),
    [
        (np.zeros(3), "a is not a row of the model: X has 3 features"),
        (np.zeros((2, 4)), r"a must be one row: an array of shape \(n_features,\), got shape \(2, 4\)"),
        (np.zeros(0), "a must be one row"),
        (5.0, "a must be one row"),
        ([np.nan, 0, 0, 0], "a is not a row of the model: Input X contains NaN"),
        (["x", 1, 2, 3], "a is not a row of the model: X has columns that are not numbers"),
        (pd.DataFrame(np.zeros((2, 4))), "a must be one row, got a data frame of 2 rows"),
        (np.ma.array(np.zeros(4), mask=[1, 0, 0, 0]), "a contains a missing value"),
    ],
)
def test_rows_that_are_no_rows(data, a, message):
    X, y = data
    with pytest.raises((TypeError, ValueError), match=message):
        explain(RankSVM().fit(X, y), a, X[1])


def test_names_that_are_no_names(data):
    X, y = data
    for names in (["p", "q"], ["p", "p", "q", "r"]):
        with pytest.raises(ValueError, match="feature_names must be 4 different names"):
            explain(RankSVM().fit(X, y), X[0], X[1], names)


def test_ordinal_encoding_and_an_imputer_that_drops_a_column(rng):
    table = pd.DataFrame(
        {
            "empty": np.full(M, np.nan),
            "age": np.where(rng.random(M) < 0.5, np.nan, 1.0),
            "size": rng.choice(list("sml"), M),
        }
    )
    imputer = SimpleImputer(add_indicator=True)
    model = make_pipeline(
        ColumnTransformer([("numbers", imputer, ["empty", "age"]), ("size", OrdinalEncoder(), ["size"])]), RankRLS()
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table, rng.normal(size=M))
        i, j = int(table["age"].isna().argmax()), int(table["age"].notna().argmax())
        found = explain(model, table.iloc[[i]], table.iloc[[j]])
        assert_sums(found, model, table.iloc[[i]], table.iloc[[j]])
    assert set(found.names) <= {"age", "size"}
    assert "age" in found.names


def test_a_linear_model_of_a_nystrom_map(data):
    X, y = data
    model = make_pipeline(StandardScaler(), NystromMap("gaussian", 5), RankSVM(tol=1e-6)).fit(X, y)
    found = explain(model, X[0], X[1])
    assert found.by == "basis"
    assert_sums(found, model, X[:1], X[1:2])
    assert set(found.table["row"]) == set(model[1].basis_indices_)
    scaled = model[0].transform(X)
    kernels = model[1].kernel_(scaled[:2], scaled[found.table["row"]])
    np.testing.assert_allclose(found.table["a"], kernels[0])
    by_features = explain(model, X[0], X[1], by="features")
    assert_sums(by_features, model, X[:1], X[1:2])
    assert by_features.names[0].startswith("nystrommap")


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.5)])
def test_arrays_of_other_libraries(data, kernel, array_api):
    xp = pytest.importorskip("array_api_strict")
    X, y = data
    expected = RankRLS(kernel=kernel).fit(X, y)
    with config_context(array_api_dispatch=True):
        model = RankRLS(kernel=kernel).fit(xp.asarray(X), xp.asarray(y))
        for by in (None, "rows", "pairs"):
            found = explain(model, xp.asarray(X[0]), xp.asarray(X[1]), by=by)
            assert as_dict(found) == pytest.approx(as_dict(explain(expected, X[0], X[1], by=by)), rel=1e-8, abs=1e-9)
