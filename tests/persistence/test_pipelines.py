"""Pipelines with scikit-learn's transformers: saved as data, and equal to the last bit when loaded."""

import importlib
import inspect
import io
import pkgutil
import re
import warnings

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from model_files import assert_same_model, data, same, unpack
from pipelines_to_save import columns, numbers, pipelines, table, targets, targets_for
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, PowerTransformer, StandardScaler

import kernelrank
from kernelrank import NystromMap, RankingClassifier, RankRLS, RankSVM
from kernelrank.dask import RankSVM as DaskRankSVM
from kernelrank.kernels import AllPaths, Graph
from kernelrank.model_selection import FScoreClassifier
from kernelrank.persistence import load_model, save_model
from kernelrank.persistence._registry import KINDS
from kernelrank.pipelines import RankingPipeline


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def round_trip(model, path):
    save_model(model, path)
    return load_model(path)


def dense(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


@pytest.mark.parametrize("name", pipelines())
def test_a_loaded_pipeline_is_the_same(path, name):
    model, X = pipelines()[name]
    y = targets_for(model)
    model.fit(X, y)
    loaded = round_trip(model, path)
    first = path.read_bytes()
    assert_same_model(loaded, model)
    assert loaded.predict(X).tobytes() == model.predict(X).tobytes()
    assert getattr(loaded, "n_features_in_", None) == getattr(model, "n_features_in_", None)
    if isinstance(model, Pipeline) and len(model) > 1:
        ours, theirs = model[:-1].transform(X), loaded[:-1].transform(X)
        assert type(ours) is type(theirs)
        assert dense(ours).tobytes() == dense(theirs).tobytes()
    assert clone(loaded).fit(X, y).predict(X).tobytes() == model.predict(X).tobytes()
    save_model(loaded, path)
    assert path.read_bytes() == first


@pytest.mark.parametrize("name", ["columns", "rest", "queries"])
def test_columns_are_found_by_name(path, name):
    """Columns may be in any order, and others may be added, as in scikit-learn."""
    model, X = pipelines()[name]
    loaded = round_trip(model.fit(X, targets()), path)
    expected = model.predict(X)
    moved = X[X.columns[::-1]].assign(other="new")
    np.testing.assert_array_equal(loaded.predict(moved), expected)
    np.testing.assert_array_equal(loaded.feature_names_in_, model.feature_names_in_)
    np.testing.assert_array_equal(loaded[:-1].get_feature_names_out(), model[:-1].get_feature_names_out())
    with pytest.raises(ValueError, match=r"columns are missing: \{'shop'\}"):
        loaded.predict(X.drop(columns="shop"))


def test_frames_of_polars(path):
    rows = table()
    X = pl.DataFrame({name: [None if each != each else each for each in rows[name].tolist()] for name in rows})
    model = make_pipeline(columns(remainder="drop"), RankSVM()).fit(X, targets())
    loaded = round_trip(model, path)
    assert_same_model(loaded, model)
    np.testing.assert_array_equal(loaded.predict(X[:, ::-1]), model.predict(X))


def test_transformers_alone_and_maps_without_some_rows(path):
    X = numbers()
    for model in (StandardScaler().fit(X), NystromMap(n_basis=9).fit(X), MissingIndicator().fit(numbers(missing=True))):
        loaded = round_trip(model, path)
        assert_same_model(loaded, model)
        np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    reduced = NystromMap(n_basis=9).fit(X).without(np.arange(20))
    np.testing.assert_array_equal(round_trip(reduced, path).transform(X), reduced.transform(X))
    given = NystromMap("precomputed", n_basis=4).fit(X @ X.T)
    np.testing.assert_array_equal(round_trip(given, path).transform(X @ X.T), given.transform(X @ X.T))


def test_graphs(path):
    graphs = [Graph([["a"], ["b", "c"]], [[0, 1]], [0.5]), Graph([["c"], ["d"], ["a"]], [[0, 1], [2, 0]], [1.0, 2.0])]
    model = make_pipeline(AllPaths(max_length=2), RankRLS()).fit(graphs, [0, 1])
    loaded = round_trip(model, path)
    assert_same_model(loaded, model)
    np.testing.assert_array_equal(loaded.predict(graphs[::-1]), model.predict(graphs[::-1]))


def test_warnings_about_stop_words_are_not_repeated(path):
    texts = ["It isn't a dog", "A cat is here"] * 20
    model = make_pipeline(CountVectorizer(stop_words=["isn't", "a"]), RankSVM())
    with pytest.warns(UserWarning, match="stop_words may be inconsistent"):
        model.fit(texts, targets())
    loaded = round_trip(model, path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(loaded.predict(texts), model.predict(texts))


def test_an_unfitted_transformer_among_the_parameters_has_no_attributes(path):
    """A fit clones it, so none of its training data are in the file."""
    scaler = StandardScaler().fit(numbers() + 1)
    model = make_pipeline(ColumnTransformer([("all", scaler, [0, 1, 2])]), RankSVM()).fit(numbers(), targets())
    loaded = round_trip(model, path)
    assert not hasattr(loaded[0].transformers[0][1], "mean_")
    assert same(loaded[0].named_transformers_["all"].mean_, model[0].named_transformers_["all"].mean_)


# All public estimators


def public_estimators():
    """Return the estimators among the public names of all public modules."""
    found = set()
    for module in pkgutil.walk_packages(kernelrank.__path__, "kernelrank."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            names = vars(importlib.import_module(module.name))
            found |= {
                names[name]
                for name in names.get("__all__", ())
                if inspect.isclass(names[name]) and hasattr(names[name], "fit")
            }
    return sorted(found, key=lambda cls: (cls.__module__, cls.__name__))


def test_every_public_estimator_can_be_saved():
    """If this fails, add the class to kernelrank.persistence._registry, or to the tests below."""
    of_dask = [cls for cls in public_estimators() if cls.__module__.startswith("kernelrank.dask.")]
    assert len(of_dask) == 3
    assert all(hasattr(cls, "to_local") for cls in of_dask)
    others = set(public_estimators()) - set(of_dask)
    assert others == {cls for cls in KINDS if cls.__module__.startswith("kernelrank.")}
    assert len(others) > 15


RANKERS = [cls for cls in KINDS if cls.__module__.startswith("kernelrank.") and hasattr(cls, "predict")]


@pytest.mark.parametrize(
    "cls", [cls for cls in RANKERS if not issubclass(cls, RankingPipeline)], ids=lambda cls: cls.__name__
)
def test_every_public_estimator_alone_and_as_a_last_step(path, rng, cls):
    if cls.__module__.startswith("kernelrank.relational."):
        U, V, Y = rng.normal(size=(6, 2)), rng.normal(size=(5, 3)), rng.normal(size=(6, 5))
        model = cls().fit(U, V, Y)
        assert_same_model(round_trip(model, path), model)
        return
    X, y = data(rng)
    y = (y > 0).astype(int)
    alone = cls().fit(X, y)
    assert_same_model(round_trip(alone, path), alone)
    last = make_pipeline(StandardScaler(), cls()).fit(X, y)
    loaded = round_trip(last, path)
    assert_same_model(loaded, last)
    assert loaded.predict(X).tobytes() == last.predict(X).tobytes()


def test_estimators_of_dask_name_the_remedy(path):
    with pytest.raises(TypeError, match=r"got a RankSVM\. It is for Dask: save model\.to_local\(\)"):
        save_model(DaskRankSVM(), path)


@pytest.mark.parametrize("estimator", [RankRLS(), make_pipeline(StandardScaler(), RankSVM()), RankingClassifier()])
def test_thresholds_for_a_high_f_score(path, rng, estimator):
    X, y = data(rng)
    labels = np.where(y > 0, "good", "bad")
    model = FScoreClassifier(estimator, cv=3, classes=["bad", "good"]).fit(X, labels)
    loaded = round_trip(model, path)
    assert_same_model(loaded, model)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    model.threshold_ = -np.inf
    assert_same_model(round_trip(model, path), model)


# What cannot be saved


def first_letters(texts):
    return [text[:1] for text in texts]


def unsaveable():
    """Return fitted pipelines that cannot be saved, with the error."""
    X, y, rows = numbers(), targets(), table()
    dates = np.arange("2020-01-01", "2020-02-10", dtype="M8[D]")[:, None]
    chosen = ColumnTransformer([("n", StandardScaler(), make_column_selector(dtype_include=float))])
    inside = ColumnTransformer([("power", make_pipeline(PowerTransformer()), [0, 1])])
    return [
        (
            make_pipeline(PowerTransformer(), RankSVM()).fit(X, y),
            "step 'powertransformer' of model is a PowerTransformer",
        ),
        (make_pipeline(inside, RankSVM()).fit(X, y), "step 'powertransformer' of .* is a PowerTransformer"),
        (FeatureUnion([("a", StandardScaler())]).fit(X), "got a FeatureUnion"),
        (make_pipeline(StandardScaler(), Ridge()).fit(X, y), "step 'ridge' of model is a Ridge"),
        (
            make_pipeline(FunctionTransformer(np.abs), RankSVM()).fit(X, y),
            "func cannot be saved: in model.* of type ufunc",
        ),
        (
            make_pipeline(CountVectorizer(analyzer=first_letters), RankSVM()).fit(list("abcd" * 10), y),
            "analyzer cannot be",
        ),
        (make_pipeline(SelectFromModel(Ridge()), RankSVM()).fit(X, y), "estimator cannot be saved.*of type Ridge"),
        (
            make_pipeline(SelectKBest(lambda X, y: X.sum(axis=0), k=1), RankSVM()).fit(X, y),
            "score_func cannot be saved",
        ),
        (make_pipeline(SimpleImputer(strategy=np.max), RankSVM()).fit(X, y), "strategy cannot be saved"),
        (
            make_pipeline(chosen, RankSVM()).fit(rows.fillna({"price": 0}), y),
            "make_column_selector.*Give names or numbers",
        ),
        (
            make_pipeline(OneHotEncoder(), RankSVM()).fit(dates, y),
            "categories_ cannot be.*Convert the data before the fit",
        ),
        (make_pipeline(StandardScaler(), RankSVM(), memory="cache").fit(X, y), "memory must be None, got 'cache'"),
    ]


def test_what_is_not_data_is_named(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path.write_text("old")
    for model, message in unsaveable():
        with pytest.raises((TypeError, ValueError), match=message):
            save_model(model, path)
    assert path.read_text() == "old"


def test_steps_that_were_changed_after_the_fit(path):
    X, y = numbers(), targets()
    for changes, message in (
        ({"mean_": np.zeros(4)}, r"StandardScaler was changed after it was fitted: mean_ has shape \(4,\)"),
        ({"mean_": None}, "with_mean is True, but mean_ is None"),
        ({"_secret": 1}, "StandardScaler has an attribute '_secret', which this version of kernelrank does not know"),
        ({"n_features_in_": 2}, "has shape"),
    ):
        model = make_pipeline(StandardScaler(), RankSVM()).fit(X, y)
        vars(model[0]).update(changes)
        with pytest.raises((TypeError, ValueError), match=message):
            save_model(model, path)
    model.steps[0] = ("scale", StandardScaler().fit(X[:, :2]))
    with pytest.raises(ValueError, match="the step 'ranksvm' takes 3 columns, but the step before it returns 2"):
        save_model(model, path)
    model.steps[0] = ("scale", StandardScaler())
    with pytest.raises(ValueError, match="the step 'scale' is not fitted"):
        save_model(model, path)
    with pytest.raises(NotFittedError):
        save_model(make_pipeline(StandardScaler(), RankSVM()), path)
    assert not path.exists()


def test_objects_are_nested_at_most_ten_deep(path):
    ranker = model = RankSVM().fit(numbers(), targets())
    for _ in range(10):
        model = make_pipeline(model)
    loaded = round_trip(model, path)
    for _ in range(10):
        (loaded,) = (step for _, step in loaded.steps)
    assert_same_model(loaded, ranker)
    with pytest.raises(TypeError, match="objects are nested more than 10 deep"):
        save_model(make_pipeline(model), path)


def test_attributes_of_the_user_are_kept_if_they_end_in_an_underscore(path):
    model = make_pipeline(StandardScaler(), RankSVM()).fit(numbers(), targets())
    model[0].note_ = "scaled"
    assert round_trip(model, path)[0].note_ == "scaled"


def test_the_file_has_no_code(path):
    """Only names of the closed lists are in the document, and members are arrays of numbers."""
    model, X = pipelines()["columns"]
    save_model(model.fit(X, targets()), path)
    document, members = unpack(path)
    classes = set(re.findall(r'"class": "(\w+)"', str(document).replace("'", '"')))
    assert classes <= {cls.__name__ for cls in KINDS}
    assert {"Pipeline", "ColumnTransformer", "TfidfVectorizer", "TfidfTransformer", "MissingIndicator"} <= classes
    for content in members.values():
        assert np.load(io.BytesIO(content), allow_pickle=False).dtype.kind in "biufV"
