"""Damaged files raise ModelFormatError and nothing else."""

import copy
import json
import pickle
import struct
import sys
import zipfile

import numpy as np
import pytest
from covering import PROFILE
from model_files import assert_same_model, npy, pack, small_model, small_models, unpack

import kernelrank
from kernelrank.exceptions import ModelFormatError
from kernelrank.persistence import load_model, save_model

CLASSES = {type(model) for model in small_models()}
COEF = "attributes/coef_.npy"


@pytest.fixture
def path(tmp_path):
    save_model(small_model(), tmp_path / "model")
    return tmp_path / "model"


def refused(path, message):
    with pytest.raises(ModelFormatError, match=message) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: ")


def load_or_refuse(path, data):
    with path.open("r+b") as file:  # creating thousands of files is slow on some file systems
        file.write(data)
        file.truncate()
    try:
        return load_model(path)
    except ModelFormatError:
        return None


# Damage


def test_every_truncation_is_refused(path):
    data = path.read_bytes()
    for length in range(len(data)):
        assert load_or_refuse(path, data[:length]) is None


def check_changes(path, model, flips):
    save_model(model, path)
    data = path.read_bytes()
    n_refused = n_same = 0
    for position in range(len(data)):
        for flip in flips:
            loaded = load_or_refuse(path, data[:position] + bytes([data[position] ^ flip]) + data[position + 1 :])
            if loaded is None:
                n_refused += 1
            else:
                n_same += 1
                assert_same_model(loaded, model)
    assert n_refused > n_same  # the others differ in dates, permissions and the like


@pytest.mark.parametrize("model", small_models(), ids=repr)
def test_changed_bytes_are_refused_or_harmless(path, model):
    check_changes(path, model, [0xFF])


@pytest.mark.slow
@pytest.mark.parametrize("model", small_models(), ids=repr)
def test_changed_bits_are_refused_or_harmless(path, model):
    check_changes(path, model, [1 << bit for bit in range(8)])


def mutate(data, rng):
    """Change, remove, repeat or move pieces."""
    for _ in range(rng.integers(1, 5)):
        start, stop, other = np.sort(rng.integers(len(data) + 1, size=3))
        match rng.integers(5):
            case 0:
                data = data[:start] + rng.bytes(min(stop - start, 8)) + data[start + min(stop - start, 8) :]
            case 1:
                data = data[:start] + data[stop:]
            case 2:
                data = data[:stop] + data[start:]
            case 3:
                data = data[:start] + data[stop:other] + data[start:stop] + data[other:]
            case 4:
                number = struct.pack("<I", int(rng.choice([0, 1, 2**31, 2**32 - 1, len(data)])))
                data = data[:start] + number + data[start + 4 :]
    return data


def check_mutations(path, model, n_cases, seed):
    save_model(model, path)
    data = path.read_bytes()
    rng = np.random.default_rng(seed)
    for _ in range(n_cases):
        loaded = load_or_refuse(path, mutate(data, rng))
        if loaded is not None:
            assert_same_model(loaded, model)


@pytest.mark.parametrize("seed", range(len(small_models())))
def test_random_mutations(path, seed):
    check_mutations(path, small_models()[seed], 500, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(len(small_models())))
def test_many_random_mutations(path, seed):
    check_mutations(path, small_models()[seed], 10_000, seed)


# Files with correct checksums and invalid contents, as an attacker could write

JUNK = [
    *(None, True, False, 0, -1, 1, 2**70, 1.5, 1e308, "", "x", "coef_", [], [[]], {}, {"float": "nan"}, {"float": 1}),
    *({"tuple": []}, {"strings": []}, {"strings": ["a", 1]}, {"array": COEF}, {"array": "no"}, {"array": COEF, "x": 1}),
    *({"numpy": "int8", "value": 300}, {"numpy": "float32", "value": 1e300}, {"numpy": "float64", "value": "1"}),
    *(
        {"numpy": "object", "value": 1},
        {"numpy": "int64", "value": True},
        {"numpy": "int64"},
        {"numpy": "str", "value": "a"},
    ),
    *({"numpy": "float64", "value": [1.0]}, {"numpy": "float64", "value": {"float": "inf"}}),
]


def places(document):
    """Yield each object or list in the document, with each of its keys."""
    if isinstance(document, dict | list):
        for key in document if isinstance(document, dict) else range(len(document)):
            yield document, key
            yield from places(document[key])


def usable(model):
    with np.errstate(all="ignore"):
        return type(model) in CLASSES and len(model.predict(np.ones((3, model.n_features_in_)))) == 3


@pytest.mark.parametrize("model", small_models(), ids=repr)
def test_documents_with_junk_anywhere(path, model):
    save_model(model, path)
    document, members = unpack(path)
    n_refused = 0
    for place in range(len(list(places(document)))):
        for junk in JUNK if PROFILE == "thorough" else JUNK[place % 2 :: 2]:
            changed = copy.deepcopy(document)
            inside, key = list(places(changed))[place]
            inside[key] = junk
            pack(path, changed, members)
            loaded = load_or_refuse(path, path.read_bytes())
            assert loaded is None or usable(loaded)
            n_refused += loaded is None
    assert n_refused > 0


def test_documents_mutated_as_text(path):
    document, members = unpack(path)
    text = json.dumps(document).encode()
    rng = np.random.default_rng(0)
    for _ in range(700):
        pack(path, mutate(text, rng), members)
        loaded = load_or_refuse(path, path.read_bytes())
        assert loaded is None or usable(loaded)


@pytest.mark.parametrize("model", [small_model(), *small_models()[3:]], ids=lambda model: type(model).__name__)
def test_arrays_mutated_as_bytes(path, model):
    save_model(model, path)
    document, members = unpack(path)
    rng = np.random.default_rng(0)
    for _ in range(700):
        name = str(rng.choice(list(members)))
        pack(path, document, {**members, name: mutate(members[name], rng)})
        loaded = load_or_refuse(path, path.read_bytes())
        assert loaded is None or usable(loaded)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "model.json"),
        (b"\xff\xfe", "model.json"),
        (b"[" * 100_000, "model.json"),
        (b'{"format": "kernelrank model", "version": 1' + b"9" * 5000 + b"}", "model.json"),
        (b'{"a": NaN}', "NaN is not valid JSON"),
        (b'{"a": 1, "a": 2}', "a name occurs twice"),
        (b"[]", "not a model of kernelrank"),
        (b'{"format": "other"}', "not a model of kernelrank"),
        (b'{"format": "kernelrank model"}', "entry 'kernelrank' is missing"),
    ],
)
def test_documents_that_are_none(path, text, message):
    pack(path, text, {})
    refused(path, message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2, "kernelrank": "9.9.9"}, r"written by kernelrank '9\.9\.9' in format 2; .*: upgrade kernelrank"),
        ({"version": 0}, "in format 0; .*which reads format 1$"),
        ({"version": True}, "entry 'version'"),
        ({"class": "os.system"}, "unknown class 'os.system'"),
        ({"class": "BaseEstimator"}, "unknown class"),
        ({"parameters": []}, "entry 'parameters'"),
        ({"parameters": {"gamma": 1}}, "RankSVM has no parameter 'gamma'"),
        ({"parameters": {"alpha": 1e5, "tol": json.loads("[" * 102 + "]" * 102)}}, "nested"),
    ],
)
def test_headers_that_cannot_be_used(path, changes, message):
    document, members = unpack(path)
    pack(path, {**document, **changes}, members)
    refused(path, message)


def test_the_version_is_looked_at_first(path):
    """A later format may differ in any way."""
    pack(path, {"format": "kernelrank model", "version": 7, "kernelrank": "3.0.0", "models": []}, {"x": b"y"})
    refused(path, f"format 7; this is kernelrank {kernelrank.__version__}")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("coef_", None, "coef_ must be an array of float64"),
        ("coef_", [1.0, 2.0], "coef_ must be an array of float64"),
        ("n_features_in_", 3, r"coef_ has shape \(2,\), but n_features_in_ is 3"),
        ("n_features_in_", True, "n_features_in_ is of type bool, expected Integral"),
        ("n_iter_", 10**9, "history_ has shape"),
        ("objective_", "low", "objective_ is of type str, expected Real"),
        ("feature_names_in_", {"strings": ["a"]}, "feature_names_in_ has shape"),
        ("predict", 1, "'predict' is not an attribute of a fitted RankSVM"),
        ("__class__", 1, "'__class__' is not an attribute"),
        ("_private", 1, "'_private' is not an attribute"),
        ("other_", {"array": COEF}, "used twice"),
        ("other_", 1e400, "model.json|overflows"),
    ],
)
def test_attributes_that_do_not_fit(path, name, value, message):
    document, members = unpack(path)
    document["attributes"][name] = value
    pack(path, json.dumps(document).replace("Infinity", "1e400").encode(), members)
    refused(path, message)


@pytest.mark.parametrize("name", ["coef_", "n_features_in_", "_fitted_with_queries"])
def test_attributes_that_are_needed(path, name):
    document, members = unpack(path)
    del document["attributes"][name]
    pack(path, document, members)
    refused(path, f"the attribute {name} is missing")


@pytest.mark.parametrize(
    "value",
    [
        {"numpy": "int8", "value": 300},
        {"numpy": "uint8", "value": -1},
        {"numpy": "int64", "value": True},
        {"numpy": "int64", "value": 1.5},
        {"numpy": "float32", "value": 1e300},
        {"numpy": "float32", "value": 0.1},
        {"numpy": "float64", "value": 1},
        {"numpy": "float64", "value": "1"},
        {"numpy": "str", "value": 1},
        {"numpy": "object", "value": 1},
        {"numpy": "float64", "value": [1.0]},
        {"numpy": "float64", "value": 1.0, "more": 1},
        {"float": "NaN"},
        {"float": 1.0},
        {"strings": ["a", 1]},
        {"tuple": 1},
        {"pickle": "gASVAAA="},
        {},
    ],
    ids=str,
)
def test_values_that_are_none(path, value):
    document, members = unpack(path)
    document["parameters"]["alpha"] = value
    pack(path, document, members)
    refused(path, "unknown kind of value|a value is not a NumPy|overflows|nested")


def test_parameters_of_later_versions_get_their_defaults(path):
    """Files of older versions must load."""
    document, members = unpack(path)
    del document["parameters"]["positive"]
    pack(path, document, members)
    assert load_model(path).positive is False


class Payload:
    def __reduce__(self):
        return sys.exit, ("the payload ran",)


def header(description, shape):
    text = f"{{'descr': {description}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not an array"),
        (npy(np.zeros(3)), r"coef_ has shape \(3,\)"),
        (npy(np.zeros((2, 1))), "with 1 dimensions"),
        (npy(np.zeros(2, np.float32)), "must be an array of float64"),
        (npy(np.zeros(2, complex)), "not an array of numbers"),
        (npy(np.array(["a", "b"])), "not an array of numbers"),
        (npy(np.array([Payload(), 1.0], dtype=object)), "not an array of numbers"),
        (pickle.dumps(Payload()), "not an array of numbers"),
        (npy(np.zeros(2))[:-1], "has 16 bytes, but the member has 15"),
        (npy(np.zeros(2)) + b"\0", "has 16 bytes, but the member has 17"),
        (header("'<f8'", "(1000000000000000,)") + bytes(16), "has 8000000000000000 bytes, but the member has 16"),
        (header("'<f8'", "(9999999999999999999, 0)"), "cannot be read"),
        (header("'<f8'", "(-1,)"), "not an array of numbers"),
        (header("'<f8'", "(2L,)") + bytes(16), "not an array of numbers"),
        (header("'<f8'", "(" + "1, " * 70 + "2)") + bytes(16), "cannot be read"),
        (header("'|O'", "(2,)") + bytes(16), "not an array of numbers"),
        (header("'|V0'", "(10000000000,)"), "not an array of numbers"),
        (header("[]", "(10000000000,)"), "not an array of numbers"),
        (header("'<f1'", "(16,)") + bytes(16), "cannot be read"),
        (header("[('a', '<f8'), ('a', '<f8')]", "(1,)") + bytes(16), "cannot be read"),
        (header("__import__('os').system('true')", "(2,)") + bytes(16), "not an array of numbers"),
        (b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535, "not an array of numbers"),
        (b"\x93NUMPY\x03\x00" + npy(np.zeros(2))[8:], "not an array of numbers"),
    ],
)
def test_arrays_that_are_none(path, content, message):
    document, members = unpack(path)
    pack(path, document, {**members, COEF: content})
    refused(path, message)


# Containers


def test_no_archive_at_all(path):
    for data in (b"", b"PK", b"SVM-light Version V6.20\n", pickle.dumps(Payload()), bytes(1000)):
        path.write_bytes(data)
        refused(path, "not a ZIP archive")


def test_missing_members(path):
    document, members = unpack(path)
    pack(path, document, {name: content for name, content in members.items() if name != COEF})
    refused(path, f"member '{COEF}' is missing")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "no model")
    refused(path, "member 'model.json' is missing")


def test_members_of_the_same_name(path):
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("model.json", "{}")
    refused(path, "same name")


def test_a_bomb_is_not_unpacked(path):
    document, members = unpack(path)
    bomb = header("'<f8'", "(100000000,)") + bytes(10**7)
    pack(path, document, {**members, COEF: bomb}, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 10**5
    refused(path, "is compressed or encrypted")


@pytest.mark.parametrize("size", [2**31, 2**32 - 2])
def test_declared_sizes_are_held_against_the_file(path, size):
    """Both sizes of coef_ in the directory are changed."""
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 4)
    assert data[entry + 46 :].startswith(COEF.encode())
    data[entry + 20 : entry + 28] = struct.pack("<II", size, size)
    path.write_bytes(data)
    refused(path, "is larger than the file")


def test_what_else_is_in_the_archive_does_not_matter(path):
    model = load_model(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("README", "Made for the demonstration on Monday.")
        archive.comment = b"a comment"
    assert_same_model(load_model(path), model)
