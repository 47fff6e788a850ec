"""Damaged files of pipelines raise ModelFormatError, or load to something that can be used."""

import copy
import json
import warnings

import numpy as np
import pytest
import sklearn
from covering import PROFILE
from model_files import assert_same_model, npy, pack, unpack
from pipelines_to_save import numbers, pipelines, small_pipelines, table, targets, targets_for
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, PolynomialFeatures, StandardScaler
from test_damaged_files import load_or_refuse, mutate, places
from test_memory_of_files import HUGE, read_in_proportion

from kernelrank import NystromMap, RankingClassifier, RankSVM
from kernelrank.exceptions import ModelFormatError
from kernelrank.kernels import AllPaths, Graph
from kernelrank.persistence import load_model, save_model

CASES = 4000 if PROFILE == "thorough" else 60

JUNK = [
    *(None, True, -1, 0, 1, 100, 2**70, 1.5, "", "x", "drop", "passthrough", [], [[]], {}, {"float": "nan"}),
    *({"tuple": []}, {"strings": ["a"]}, {"objects": [None, 1, "a"]}, {"slice": [0, 1, None]}, {"dtype": "float64"}),
    *({"keys": ["a"], "values": [1]}, {"type": "object"}, {"function": "chi2"}, {"numpy": "int64", "value": 3}),
    {"class": "StandardScaler", "parameters": {}, "attributes": {}},
    {"class": "Pipeline", "parameters": {"steps": []}, "attributes": {}},
    {"kernel": "Linear", "parameters": {}},
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def use(model, X):
    """Predict: other categories and numbers than in the fit may be errors of the data, and nothing else may."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = (model.predict if hasattr(model, "predict") else model.transform)(X)
        except ValueError:
            return
        except TypeError as reason:  # of scikit-learn, which looks for NaN among categories of text in a column of numbers
            assert "ufunc 'isnan' not supported" in str(reason)
            return
    assert found.shape[0] == (X.shape[0] if hasattr(X, "shape") else len(X))


def damage(document, members, rng):
    """Replace, remove or change a random part, with correct checksums."""
    document, members = copy.deepcopy(document), dict(members)
    for _ in range(rng.integers(1, 3)):
        found = list(places(document))
        inside, key = found[rng.integers(len(found))]
        kind = rng.random()
        if kind < 0.75:
            inside[key] = copy.deepcopy(JUNK[rng.integers(len(JUNK))])
        elif kind < 0.85 and isinstance(inside, dict):
            del inside[key]
        else:
            name = str(rng.choice(list(members)))
            members[name] = mutate(members[name], rng)
    return document, members


@pytest.mark.parametrize("number", range(len(small_pipelines())))
def test_random_damage(path, number):
    model, X = small_pipelines()[number]
    save_model(model, path)
    document, members = unpack(path)
    rng, n_refused = np.random.default_rng(number), 0
    for _ in range(CASES):
        pack(path, *damage(document, members, rng))
        loaded = load_or_refuse(path, path.read_bytes())
        n_refused += loaded is None
        if loaded is not None:
            use(loaded, X)
    assert 0 < n_refused < CASES


def test_damage_to_all_kinds_of_steps(path):
    rng = np.random.default_rng(0)
    for model, X in pipelines().values():
        save_model(model.fit(X, targets_for(model)), path)
        document, members = unpack(path)
        for _ in range(CASES // 12):
            pack(path, *damage(document, members, rng))
            loaded = load_or_refuse(path, path.read_bytes())
            if loaded is not None:
                use(loaded, X)


def test_truncated_and_changed_bytes(path):
    model, _ = small_pipelines()[1]
    save_model(model, path)
    content, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(CASES):
        assert load_or_refuse(path, content[: rng.integers(len(content))]) is None
        place = rng.integers(len(content))
        loaded = load_or_refuse(path, content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        if loaded is not None:
            assert_same_model(loaded, model)


# Values that an attacker could choose


def step(document, *places):
    """Return the document of a step of pipelines in pipelines."""
    for place in places:
        document = document["parameters"]["steps"][place]["tuple"][1]
    return document


def part(document, place):
    """Return the document of a fitted part of a column transformer that is the first step."""
    return step(document, 0)["attributes"]["transformers_"][place]["tuple"][1]


def refused(path, document, members, message):
    pack(path, document, members)
    with pytest.raises(ModelFormatError, match=message) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: ")


def fitted(name):
    model, X = pipelines()[name]
    return model.fit(X, targets_for(model))


@pytest.mark.parametrize(
    ("where", "what", "name", "value", "message"),
    [
        (lambda d: d, "parameters", "memory", "/tmp/cache", "memory must be None"),
        (lambda d: d, "parameters", "steps", [], "steps must be a list of different names and steps"),
        (lambda d: step(d, 0), "parameters", "sparse_threshold", "x", "sparse_threshold must be a number"),
        (lambda d: step(d, 0), "parameters", "n_jobs", 10**9 * 100, "n_jobs must be None or an integer other than 0"),
        (
            lambda d: step(d, 0),
            "parameters",
            "verbose_feature_names_out",
            "{feature_name:>999}",
            "format of the two names",
        ),
        (
            lambda d: step(d, 0),
            "parameters",
            "verbose_feature_names_out",
            "{feature_name.x}",
            "format of the two names",
        ),
        (lambda d: step(d, 0), "parameters", "verbose_feature_names_out", "{0", "format of the two names"),
        (lambda d: step(d, 0), "attributes", "output_indices_", {"keys": [], "values": []}, "output_indices_ are not"),
        (lambda d: step(d, 0), "attributes", "n_features_in_", 7, "7 columns|7 names|is 7"),
        (lambda d: step(d, 0), "attributes", "transform", 1, "'transform' is not an attribute"),
        (lambda d: step(d, 0), "attributes", "transformers", [], "'transformers' is not an attribute"),
        (lambda d: step(d, 0), "attributes", "_private", 1, "'_private' is not an attribute"),
        (lambda d: part(d, 1), "parameters", "dtype", {"type": "object"}, "dtype must be a type of numbers"),
        (lambda d: part(d, 1), "parameters", "dtype", {"type": "os.system"}, "unknown kind of value"),
        (lambda d: part(d, 1), "parameters", "handle_unknown", "maybe", "handle_unknown must be 'error'"),
        (lambda d: part(d, 1), "attributes", "_n_features_outs", [3, 10**9], "number of columns of OneHotEncoder"),
        (lambda d: part(d, 1), "attributes", "categories_", [{"strings": ["a", "a"]}] * 2, "has duplicates"),
        (lambda d: part(d, 1), "attributes", "drop_idx_", {"objects": [9, 9]}, "drop_idx_ does not agree"),
        (lambda d: part(d, 3), "parameters", "token_pattern", "(a)(b)", "token_pattern must be a regular expression"),
        (lambda d: part(d, 3), "parameters", "token_pattern", "(", "token_pattern must be a regular expression"),
        (lambda d: part(d, 3), "parameters", "input", "filename", "input must be 'content'"),
        (lambda d: part(d, 3), "parameters", "tokenizer", {"function": "chi2"}, "tokenizer must be None"),
        (lambda d: part(d, 3), "parameters", "ngram_range", {"tuple": [1, 1.5]}, "ngram_range must be two positive"),
        (lambda d: part(d, 3), "attributes", "vocabulary_", {"keys": ["a"], "values": [1]}, "must number the words"),
        (lambda d: part(d, 3), "attributes", "_tfidf", {"class": "RankSVM"}, "entry 'attributes' is missing"),
        (lambda d: step(part(d, 0), 0), "attributes", "indicator_", None, "indicator_ must be a MissingIndicator"),
        (lambda d: step(part(d, 0), 0), "attributes", "statistics_", {"objects": ["a", 1.0]}, "statistics_ are not of"),
        (lambda d: step(part(d, 0), 1), "attributes", "mean_", None, "with_mean is True, but mean_ is None"),
        (lambda d: step(d, 1), "attributes", "n_features_in_", 3, "coef_ has shape"),
    ],
    ids=lambda value: None if callable(value) else str(value)[:40],
)
def test_values_that_do_not_fit(path, where, what, name, value, message):
    save_model(fitted("columns"), path)
    document, members = unpack(path)
    where(document)[what][name] = value
    refused(path, document, members, message)


def test_every_attribute_of_every_step_is_needed(path):
    """Without an attribute that is not documented as optional, no transformer is loaded."""
    n_needed = 0
    for name in ("columns", "rest", "missing, infrequent", "texts 4 TfidfVectorizer", "numbers 11 PolynomialFeatures"):
        save_model(fitted(name), path)
        document, members = unpack(path)
        for inside, key in list(places(document)):
            if key == "attributes" and inside["class"] != "RankSVM":
                for each in list(inside[key]):
                    value = inside[key].pop(each)
                    pack(path, document, members)
                    try:
                        load_model(path)
                    except ModelFormatError as reason:
                        n_needed += f"the attribute {each} of {inside['class']} is missing" in str(reason)
                    else:
                        assert each in ("feature_names_in_", "idf_", "_fill_dtype")
                    inside[key][each] = value
    assert n_needed > 50


def test_steps_that_do_not_follow_each_other(path):
    save_model(make_pipeline(StandardScaler(), RankSVM()).fit(numbers(), targets()), path)
    document, members = unpack(path)
    steps = document["parameters"]["steps"]
    refused(path, {**document, "parameters": {"steps": [steps[1], steps[0]]}}, members, "is not a transformer")
    bare = {"tuple": ["ranksvm", "passthrough"]}
    refused(path, {**document, "parameters": {"steps": [bare, steps[1]]}}, members, "different names")
    wider = {**members, "parameters/steps/1/1/attributes/coef_.npy": npy(np.zeros(4))}
    steps[1]["tuple"][1]["attributes"]["n_features_in_"] = 4
    refused(path, document, wider, "the step 'ranksvm' takes 4 columns, but the step before it returns 3")
    steps[1]["tuple"][1].pop("attributes")
    refused(path, document, members, "the step 'ranksvm' is not fitted")


@pytest.mark.parametrize("depth", [9, 10, 150])
def test_pipelines_in_pipelines(path, depth):
    save_model(make_pipeline(RankSVM()).fit(numbers(), targets()), path)
    document, members = unpack(path)
    inner = {name: document[name] for name in ("class", "parameters", "attributes")}
    for _ in range(depth - 1):
        inner = {"class": "Pipeline", "parameters": {"steps": [{"tuple": ["a", inner]}]}, "attributes": {}}
    pack(path, {**document, **inner}, members)
    if depth == 9:
        assert load_model(path).predict(numbers()).shape == (len(numbers()),)
    elif depth == 150:
        refused(path, {**document, **inner}, members, "nested|cannot be read")
    else:
        assert load_model(path) is not None
        once_more = {"class": "Pipeline", "parameters": {"steps": [{"tuple": ["a", inner]}]}, "attributes": {}}
        refused(path, {**document, **once_more}, members, "objects are nested more than 10 deep")


@pytest.mark.parametrize("n", HUGE)
def test_claims_of_many_columns_take_no_memory(path, n):
    X, y = numbers(), targets()
    for model, names in (
        (make_pipeline(PolynomialFeatures(3), RankSVM()), ("n_features_in_", "n_output_features_", "_n_out_full")),
        (make_pipeline(PolynomialFeatures(3), RankSVM()), ("_max_degree",)),
        (make_pipeline(NystromMap(n_basis=3), RankSVM()), ("_n_rows", "n_features_in_")),
        (make_pipeline(MaxAbsScaler(), RankSVM()), ("n_features_in_",)),
        (fitted("numbers 9 FunctionTransformer"), ("n_features_in_",)),
        (fitted("columns"), ("n_features_in_",)),
        (fitted("columns by number"), ("n_features_in_",)),
    ):
        save_model(model if hasattr(model[-1], "coef_") else model.fit(X, y), path)
        document, members = unpack(path)
        for name in names:
            step(document, 0)["attributes"][name] = n
        if "_max_degree" in names:
            step(document, 0)["parameters"]["degree"] = n
        pack(path, document, members)
        assert isinstance(read_in_proportion(path), ModelFormatError)


@pytest.mark.parametrize("name", ["FunctionTransformer", "TfidfVectorizer"])
def test_documents_of_many_objects(path, name):
    save_model(make_pipeline(StandardScaler(), RankSVM()).fit(numbers(), targets()), path)
    document, members = unpack(path)
    many = [{"tuple": [f"{k}", {"class": name, "parameters": {}}]} for k in range(500)]
    document["parameters"]["steps"] = many + document["parameters"]["steps"]
    pack(path, json.dumps(document, separators=(",", ":")).encode(), members)
    read_in_proportion(path)


def test_sorted_labels_of_graphs(path):
    graphs = [Graph([["a"], ["b", "c"]], [[0, 1]], [0.5])] * 2
    save_model(AllPaths().fit(graphs), path)
    document, members = unpack(path)
    refused(path, document, {**members, "attributes/pairs_.npy": npy(np.array([[0, 1], [0, 9]]))}, "not indices of")
    refused(path, document, {**members, "attributes/pairs_.npy": npy(np.array([[0, 2], [0, 1]]))}, "is not sorted")
    document["attributes"]["labels_"] = {"strings": ["b", "a", "c"]}
    refused(path, document, members, "labels_ is not sorted")


# Versions of scikit-learn


def change_version(path, text):
    document, members = unpack(path)
    document["scikit-learn"] = text
    pack(path, document, members)
    return document, members


def test_transformers_of_a_newer_scikit_learn_are_refused(path):
    """Files with estimators of kernelrank alone do not depend on it."""
    save_model(fitted("columns"), path)
    refused(
        path,
        *change_version(path, "99.1.0"),
        f"upgrade scikit-learn; .*with scikit-learn '99.1.0', and this is scikit-learn {sklearn.__version__}",
    )
    for text in (None, 3, "x", "1"):
        refused(path, *change_version(path, text), "entry 'scikit-learn' is missing, or not a version")
    save_model(RankSVM().fit(numbers(), targets()), path)
    change_version(path, "99.1.0")
    assert type(load_model(path)) is RankSVM


def test_transformers_of_an_older_scikit_learn(path):
    model = fitted("rest")
    X = table()
    save_model(model, path)
    document, members = change_version(path, "1.6.1")
    columns = step(document, 0)
    columns["parameters"]["force_int_remainder_cols"] = True
    imputer = next(
        each["tuple"][1] for each in columns["attributes"]["transformers_"] if each["tuple"][0] == "remainder"
    )
    del imputer["attributes"]["_fill_dtype"]
    pack(path, document, members)
    np.testing.assert_array_equal(load_model(path).predict(X), model.predict(X))
    columns["parameters"]["force_int_remainder_cols"] = 3
    refused(path, document, members, "no parameter 'force_int_remainder_cols'.*'1.6.1', and this is scikit-learn")
    del columns["parameters"]["force_int_remainder_cols"], imputer["attributes"]["statistics_"]
    refused(path, document, members, "the attribute statistics_ of SimpleImputer is missing; .*'1.6.1', and this is")


def test_a_ranker_that_gives_no_scores(path):
    model = RankingClassifier(make_pipeline(StandardScaler(), RankSVM())).fit(numbers(), targets() > 0)
    save_model(model, path)
    document, members = unpack(path)
    inner = document["attributes"]["ranker_"]["parameters"]["steps"]
    inner.pop()
    refused(path, document, members, "ranker_ is not a model with one output")
