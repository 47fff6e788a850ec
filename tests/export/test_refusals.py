"""Models that cannot be exported: one error that names the reason, in every format."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from kernelrank import NystromMap, OrdinalSVM, RankingClassifier, RankRLS, RankSVM
from kernelrank.export import to_elasticsearch, to_onnx, to_opensearch, to_solr, to_sql
from kernelrank.kernels import Gaussian
from kernelrank.pipelines import QueryScaler, make_query_pipeline

FORMATS = {
    "ONNX": to_onnx,
    "Elasticsearch": lambda model, names=None: to_elasticsearch(model, "m", names),
    "OpenSearch": lambda model, names=None: to_opensearch(model, "m", names),
    "Solr": lambda model, names=None: to_solr(model, "m", names),
    "SQL": to_sql,
}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.round(2 * X[:, 0])


@pytest.fixture(params=FORMATS)
def target(request):
    return request.param


def assert_refused(target, kind, words, model, names=None):
    with pytest.raises(kind, match=words):
        FORMATS[target](model, names)


def test_models_that_are_not_fitted(target):
    for model in (RankSVM(), make_pipeline(StandardScaler(), RankRLS())):
        assert_refused(target, NotFittedError, "not fitted", model)


def test_models_that_do_not_score(target):
    ours = rf"model cannot be exported to {target}: it must be one of .*RankSVM.*, got "
    assert_refused(target, TypeError, ours + "OrdinalSVM", OrdinalSVM().fit(X, Y))
    assert_refused(target, TypeError, ours + "RankingClassifier", RankingClassifier().fit(X, Y))
    assert_refused(target, TypeError, ours + "Ridge", make_pipeline(StandardScaler(), Ridge()).fit(X, Y))
    assert_refused(target, TypeError, ours + "StandardScaler", make_pipeline(StandardScaler()).fit(X))
    search = GridSearchCV(RankRLS(), {"alpha": [1.0]}, cv=2).fit(X, Y)
    assert_refused(target, TypeError, ours + r"GridSearchCV\. Pass its best_estimator_", search)
    FORMATS[target](search.best_estimator_)


def test_kernels_of_linear_formats(target):
    model = RankSVM(kernel=Gaussian(0.5)).fit(X, Y)
    nystrom = make_pipeline(NystromMap(n_basis=5), RankRLS()).fit(X, Y)
    if target == "ONNX":
        FORMATS[target](model)
        FORMATS[target](nystrom)
        return
    for each in (model, nystrom):
        assert_refused(target, TypeError, f"The kernel Gaussian cannot be exported to {target}, which has lin", each)


def test_kernels_whose_matrix_was_given(target):
    model = RankRLS(kernel="precomputed").fit(X @ X.T, Y)
    assert_refused(target, TypeError, f"The kernel Precomputed cannot be exported to {target}", model)


def test_several_outputs_of_linear_formats(target):
    model = RankRLS().fit(X, np.stack([Y, -Y], axis=1))
    if target == "ONNX":
        FORMATS[target](model)
    else:
        assert_refused(target, ValueError, f"cannot be exported to {target}: it predicts 2 outputs", model)


@pytest.mark.parametrize("step", [TruncatedSVD(2), PolynomialFeatures(2), FunctionTransformer(np.abs)], ids=str)
def test_steps_that_cannot_be_exported(target, step):
    model = make_pipeline(StandardScaler(), step, RankRLS()).fit(X, Y)
    name = type(step).__name__
    assert_refused(target, TypeError, rf"The step '{name.lower()}' \({name}\) cannot be exported", model)
    inner = ColumnTransformer([("part", make_pipeline(step), [0, 1])])
    nested = make_pipeline(inner, RankRLS()).fit(X, Y)
    assert_refused(target, TypeError, rf"step 'columntransformer__part__{name.lower()}' \({name}\)", nested)


def test_scaling_inside_queries(target):
    model = make_query_pipeline(QueryScaler(), RankRLS()).fit(X, Y, qid=np.arange(40) // 8)
    assert_refused(target, TypeError, r"The step 'queryscaler' \(QueryScaler\) cannot be exported", model)


def test_settings_that_cannot_be_exported(target):
    clipped = make_pipeline(MinMaxScaler(clip=True), RankRLS()).fit(X, Y)
    assert_refused(target, ValueError, r"The step 'minmaxscaler' \(MinMaxScaler\) cannot be .* clip=True", clipped)
    codes = make_pipeline(SimpleImputer(missing_values=-1), RankRLS()).fit(X, Y)
    assert_refused(target, ValueError, r"'simpleimputer' \(SimpleImputer\) cannot be .* missing_values=-1", codes)
    texts = np.array([["a"], ["b"], [np.nan], ["a"]], dtype=object)
    marked = make_pipeline(SimpleImputer(strategy="most_frequent", add_indicator=True), OneHotEncoder(), RankRLS())
    marked.fit(texts, np.arange(4.0))
    assert_refused(target, ValueError, r"'simpleimputer' \(SimpleImputer\) cannot .* add_indicator=True", marked)
    scaled = make_pipeline(StandardScaler(), OneHotEncoder(), RankRLS()).fit(X, Y)
    assert_refused(target, ValueError, r"'onehotencoder' \(OneHotEncoder\) can be .* original columns only", scaled)
    late = make_pipeline(OneHotEncoder(sparse_output=False), SimpleImputer(), RankRLS()).fit(X, Y)
    assert_refused(target, ValueError, r"'simpleimputer' \(SimpleImputer\) cannot be exported after an encoder", late)
    again = make_pipeline(NystromMap(n_basis=5), StandardScaler(), RankRLS()).fit(X, Y)
    assert_refused(target, TypeError, r"'standardscaler' \(StandardScaler\) .* after a NystromMap", again)
    two = make_pipeline(NystromMap(n_basis=5), RankRLS(kernel="gaussian")).fit(X, Y)
    assert_refused(target, TypeError, "its kernel is one of the features of a NystromMap", two)


def test_columns_that_are_numbers_and_categories(target):
    codes = np.round(X)
    columns = ColumnTransformer([("codes", OneHotEncoder(), [0, 1])], remainder="passthrough")
    FORMATS[target](make_pipeline(columns, RankRLS()).fit(codes, Y))
    columns = ColumnTransformer([("codes", OneHotEncoder(), [0, 1]), ("numbers", "passthrough", [1, 2])])
    model = make_pipeline(columns, RankRLS()).fit(codes, Y)
    assert_refused(target, ValueError, "The column 'x1' cannot be exported: it is used as a number and as a c", model)


def test_two_kinds_of_missing_categories(target):
    texts = np.array([["x"], [None], [np.nan]] * 5, dtype=object)
    model = make_pipeline(OneHotEncoder(), RankRLS()).fit(texts, np.arange(15.0))
    assert_refused(target, ValueError, "distinguishes None and NaN", model)


@pytest.mark.parametrize("category", [np.datetime64("2026-01-02", "s"), b"x", (1, 2)], ids=str)
def test_categories_of_other_types(target, category):
    dates = np.empty((10, 1), dtype=object)
    dates[:, 0] = [category] * 10
    encoder = OneHotEncoder(handle_unknown="ignore").fit(dates)
    model = make_pipeline(encoder, RankRLS().fit(np.arange(10.0)[:, None], np.arange(10)))
    words = r"The step 'onehotencoder' \(OneHotEncoder\) cannot be exported: its categories must be text, numbers or"
    assert_refused(target, ValueError, words, model)


def test_numbers_that_overflow(target):
    model = make_pipeline(StandardScaler(), RankRLS()).fit(X, Y)
    model[0].scale_[0], model[1].coef_[0] = 1e-100, 1e300
    if target == "ONNX":  # it divides before it multiplies
        FORMATS[target](model)
    else:
        assert_refused(target, ValueError, f"model cannot be exported to {target}", model)


def test_feature_names(target):
    model = RankSVM().fit(X, Y)
    FORMATS[target](model, ["a", "b", "c"])
    FORMATS[target](model, np.array(["a", "b", "c"]))
    assert_refused(target, ValueError, "feature_names has 2 names, but the model was fitted to 3", model, ["a", "b"])
    assert_refused(target, ValueError, "feature_names must be distinct, but 'b' is rep", model, ["a", "b", "b"])
    assert_refused(target, ValueError, "feature_names must be non-empty strings", model, ["a", "", "c"])
    assert_refused(target, ValueError, "feature_names must be non-empty strings", model, ["a", 1, "c"])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_coefficients_that_are_not_finite(target, value):
    model = RankSVM().fit(X, Y)
    model.coef_ = np.array([1.0, value, 0.0])
    assert_refused(target, ValueError, f"cannot be exported to {target}: some of its coefficients are NaN or", model)
