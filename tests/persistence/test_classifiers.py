"""Models of ordered categories: classes of any kind, thresholds, and nested models."""

import json

import numpy as np
import pandas as pd
import pytest
from model_files import assert_same_model, data, npy, pack, unpack
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelrank import RLS, GreedyRankRLS, OrdinalSVM, RankingClassifier, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.exceptions import ModelFormatError
from kernelrank.kernels import Gaussian
from kernelrank.persistence import load_model, save_model


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def graded(rng, labels):
    X, y = data(rng)
    return X, labels[np.digitize(y, [-1.0, 2.0])]


def round_trip(model, path):
    save_model(model, path)
    return load_model(path)


LABELS = [
    np.array([3, 5, 9]),
    np.array([-1, 0, 1], dtype=np.int8),
    np.array([1.0, 2.0, 7.0]),
    np.array(["bad", "fair", "good"]),
    np.array(["a", "größer", "\U0001f600"]),
    np.array(["bad", "fair", "good"], dtype=object),
]
MODELS = [
    *(OrdinalSVM(0.1), OrdinalSVM(kernel="gaussian", n_basis=9), OrdinalSVM(kernel="polynomial")),
    *(RankingClassifier(), RankingClassifier(RankSVM(0.1, kernel=Gaussian(0.5))), RankingClassifier(RLS())),
    RankingClassifier(RankRLSCV([1.0, 0.1], cv=3, scoring="concordance")),
    *(RankingClassifier(GreedyRankRLS(2)), RankingClassifier(OrdinalSVM())),
]


@pytest.mark.parametrize("labels", LABELS, ids=repr)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_everything_survives(path, model, labels):
    X, y = graded(np.random.default_rng(0), labels)
    frame = pd.DataFrame(X, columns=["age", "größe", "price"])
    for classes in (None, list(labels.tolist()), labels[::-1]):
        model = clone(model).set_params(classes=classes).fit(frame, y)
        loaded = round_trip(model, path)
        assert_same_model(loaded, model)
        assert list(loaded.feature_names_in_) == list(frame.columns)
        assert loaded.predict(frame).dtype == model.predict(frame).dtype
        np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
        assert loaded.decision_function(frame).tobytes() == model.decision_function(frame).tobytes()
        np.testing.assert_array_equal(clone(loaded).fit(frame, y).predict(frame), model.predict(frame))


def test_two_classes_and_queries(path, rng):
    X, y = data(rng)
    qid = np.arange(60) // 6
    for model in (OrdinalSVM().fit(X, y > 0), RankingClassifier(RankSVM()).fit(X, y > 0, qid=qid)):
        loaded = round_trip(model, path)
        assert_same_model(loaded, model)
        assert loaded.classes_.dtype == bool
    assert loaded.ranker_._fitted_with_queries is True


def test_infinite_thresholds(path, rng):
    X, y = data(rng)
    model = RankingClassifier().fit(X, np.where(np.arange(60) == 7, 2, y > 0))  # a class with a single row
    model.thresholds_ = np.array([0.5, np.inf])
    assert_same_model(round_trip(model, path), model)


def test_strings_are_as_wide_as_need_be(path, rng):
    X, y = graded(rng, np.array(["bad", "fair", "good"], dtype="<U20"))
    model = OrdinalSVM().fit(X, y)
    loaded = round_trip(model, path)
    assert (model.classes_.dtype, loaded.classes_.dtype) == ("<U20", "<U4")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    first = path.read_bytes()
    save_model(loaded, path)
    assert path.read_bytes() == first


def test_a_ranker_that_was_fitted_is_one_that_is_not(path, rng):
    """A fit clones the parameter, so its own attributes are not used, and none of its rows are in the file."""
    X, y = data(rng)
    other = RankSVM(kernel="gaussian").fit(X + 1, y)
    model = RankingClassifier().fit(X, y > 0).set_params(ranker=other)
    loaded = round_trip(model, path)
    assert loaded.ranker.get_params().keys() == other.get_params().keys()
    assert not hasattr(loaded.ranker, "dual_coef_")
    assert not any("ranker/" in name for name in unpack(path)[1])


# Models that cannot be saved


@pytest.mark.parametrize(
    "ranker",
    [Ridge(), make_pipeline(StandardScaler(), Ridge())],
    ids=lambda model: type(model).__name__,
)
def test_rankers_that_cannot_be_saved(path, rng, ranker):
    path.write_text("old")
    X, y = data(rng)
    model = RankingClassifier(ranker).fit(X, (y > 0).astype(int))
    remedy = "Fit with an estimator of kernelrank; or pickle|Replace the step, or pickle"
    what = "parameter ranker cannot be saved: it is of type Ridge|The step 'ridge' of model.ranker is a Ridge"
    with pytest.raises(TypeError, match=f"({what}).*({remedy})"):
        save_model(model, path)
    what = "attribute ranker_ cannot be saved: it is of type Ridge|The step 'ridge' of model.ranker_ is a Ridge"
    with pytest.raises(TypeError, match=f"({what}).*({remedy})"):
        save_model(model.set_params(ranker=None), path)
    assert path.read_text() == "old"


def test_parameters_of_a_ranker_that_are_not_data(path, rng):
    X, y = data(rng)
    model = RankingClassifier(RankSVMCV(2, cv=GroupKFold(3))).fit(X, y > 0, qid=np.arange(60) // 6)
    with pytest.raises(TypeError, match=r"parameter cv cannot be saved.*model\.ranker\.set_params\(cv=None\)"):
        save_model(model, path)
    model.ranker.set_params(cv=None)
    with pytest.raises(TypeError, match=r"parameter cv cannot be saved.*model\.ranker_\.set_params\(cv=None\)"):
        save_model(model, path)
    model.ranker_.set_params(cv=None)
    assert_same_model(round_trip(model, path), model)


def test_what_could_not_be_loaded_is_not_saved(path, rng):
    X, y = data(rng)
    for thresholds, message in (
        ([1.0], "3 classes require 2 thresholds, got 1"),
        ([2.0, 1.0], "non-decreasing numbers"),
        ([0.0, np.nan], "non-decreasing numbers"),
    ):
        model = OrdinalSVM().fit(X, np.digitize(y, [0, 2]))
        model.thresholds_ = np.array(thresholds)
        with pytest.raises(ValueError, match=f"OrdinalSVM was changed after it was fitted: .*{message}"):
            save_model(model, path)
    model = RankingClassifier().fit(X, y > 0)
    model.ranker_.coef_ = np.zeros(9)
    with pytest.raises(ValueError, match=r"RankSVM was changed after it was fitted: coef_ has shape \(9,\)"):
        save_model(model, path)
    model.ranker_ = RankSVM()
    with pytest.raises(ValueError, match="RankSVM was changed after it was fitted: the attribute"):
        save_model(model, path)


# Files with invalid contents


@pytest.fixture
def parts(path):
    X, y = data(np.random.default_rng(0))
    save_model(RankingClassifier(RankSVM(0.1)).fit(X, np.digitize(y, [0, 2])), path)
    return unpack(path)


def refused(path, document, members, message):
    pack(path, document, members)
    with pytest.raises(ModelFormatError, match=message) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: ")


def inside(levels):
    """Models nested in models."""
    model = {"class": "RankSVM", "parameters": {}, "attributes": {}}
    for _ in range(levels):
        model = {"class": "RankingClassifier", "parameters": {}, "attributes": {"ranker_": model}}
    return model


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (None, "ranker_ is not a model with one output"),
        ("RankSVM", "ranker_ is not a model with one output"),
        ({}, "entry 'class' is missing"),
        ({"class": ["RankSVM"]}, "entry 'class' is missing"),
        ({"class": "os.system", "parameters": {}, "attributes": {}}, "unknown class 'os.system'"),
        ({"class": "RankSVM", "parameters": {}}, "entry 'attributes' is missing"),
        ({"class": "RankSVM", "attributes": {}}, "entry 'parameters' is missing"),
        ({"class": "RankSVM", "parameters": {}, "attributes": {}}, "the attribute n_features_in_ is missing"),
        ({"class": "RankSVM", "parameters": {"gamma": 1}, "attributes": {}}, "RankSVM has no parameter 'gamma'"),
        ({"class": "RankSVM", "parameters": {}, "attributes": {"predict": 1}}, "'predict' is not an attribute"),
        (
            {"class": "RankSVM", "parameters": {"ranker": inside(0)}, "attributes": {}},
            "unknown kind of value",
        ),
        (
            {"class": "RankSVM", "parameters": {}, "attributes": {"ranker_": inside(0)}},
            "unknown kind of value",
        ),
        (inside(9), "the attribute n_features_in_ is missing"),
        (inside(10), "objects are nested more than 10 deep"),
        (inside(300), "model.json|objects are nested more than 10 deep"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_rankers_that_are_none(path, parts, ranker, message):
    document, members = parts
    document["attributes"]["ranker_"] = ranker
    refused(path, document, members, message)


@pytest.mark.parametrize("ranker", [3, [], "RankSVM", {"tuple": []}, {"kernel": "Linear", "parameters": {}}])
def test_parameters_that_are_no_ranker(path, parts, ranker):
    document, members = parts
    document["parameters"]["ranker"] = ranker
    refused(path, document, members, "ranker must be None or a model|entry 'class' is missing")


def test_rankers_of_several_outputs(path, parts, rng):
    X, y = data(rng)
    save_model(RLS().fit(X, np.stack([y, -y], axis=1)), path)
    other, arrays = unpack(path)
    document, members = parts
    text = json.dumps({name: other[name] for name in ("class", "parameters", "attributes")})
    document["attributes"]["ranker_"] = json.loads(text.replace('"attributes/', '"attributes/ranker_/attributes/'))
    moved = {name.replace("attributes/", "attributes/ranker_/attributes/"): each for name, each in arrays.items()}
    refused(path, document, {**members, **moved}, "ranker_ is not a model with one output")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("classes_", None, "the attribute classes_ is missing"),
        ("thresholds_", None, "the attribute thresholds_ is missing"),
        ("ranker_", None, "the attribute ranker_ is missing"),
        ("classes_", [0, 1, 2], "classes_ must be an array of generic with 1 dimensions"),
        ("classes_", {"strings": ["a", "b"]}, "2 classes require 1 thresholds, got 2"),
        ("classes_", {"numpy": "str", "strings": ["a", "b", 3]}, "unknown kind of value"),
        ("classes_", {"numpy": "str", "strings": ["a" * 300, *[""] * 70_000]}, "unknown kind of value"),
        ("thresholds_", 1.0, "thresholds_ must be an array of float64"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_attributes_that_do_not_fit(path, parts, name, value, message):
    document, members = parts
    document["attributes"][name] = value
    if value is None:
        del document["attributes"][name]
    refused(path, document, members, message)


@pytest.mark.parametrize("thresholds", [[2.0, 1.0], [np.nan, 1.0], [0.0, np.nan]])
def test_thresholds_that_fall(path, parts, thresholds):
    document, members = parts
    refused(
        path, document, {**members, "attributes/thresholds_.npy": npy(np.array(thresholds))}, "non-decreasing numbers"
    )
