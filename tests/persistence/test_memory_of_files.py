"""Reading any model file takes memory in proportion to its size."""

import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from model_files import data, pack, small_model, unpack
from test_svmlight_model import RADIAL, RANK

from kernelrank import RLS, RankSVM
from kernelrank.cli import classify
from kernelrank.exceptions import ModelFormatError
from kernelrank.kernels import Gaussian, NamedKernel, Polynomial, Precomputed
from kernelrank.persistence import load_model, load_svmlight_model, save_model, save_svmlight_model

# Python's smallest values, such as an empty list (two bytes in a document), take 72 bytes including their references.
MULTIPLE, CONSTANT = 64, 1 << 18

HUGE = [10**8, 10**9, 10**12, 2**63 - 1]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def peak(function, *arguments):
    """Return the peak memory of a call in bytes, and its result or its ModelFormatError.

    The lower of two peaks: other threads of the process, such as those of a cluster, allocate memory as well.
    """
    peaks = []
    for _ in range(2):
        tracemalloc.start()
        try:
            result = function(*arguments)
        except ModelFormatError as error:
            result = error
        finally:
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    return min(peaks), result


def read_in_proportion(path, load=load_model):
    most, result = peak(load, path)
    assert most <= MULTIPLE * path.stat().st_size + CONSTANT
    return result


def sparse_model(kernel, rng, kind=sp.csr_matrix):
    X, y = data(rng, m=6, n=4)
    return RLS(kernel=kernel).fit(kind(X * (X > 0)), y)


def widen(path, n_features):
    """Widen the basis of a saved model by many empty columns."""
    document, members = unpack(path)
    attributes = document["attributes"]
    attributes["n_features_in_"] = attributes["basis_"]["shape"][1] = n_features
    pack(path, document, members)


@pytest.mark.parametrize("n_features", HUGE)
@pytest.mark.parametrize("kernel", [Gaussian(0.5), Polynomial(), NamedKernel("cosine")], ids=repr)
def test_a_basis_of_many_columns_is_refused(path, kernel, n_features):
    save_model(sparse_model(kernel, np.random.default_rng(0)), path)
    widen(path, n_features)
    refused = read_in_proportion(path)
    assert isinstance(refused, ModelFormatError)
    assert f"a sparse matrix of shape (6, {n_features}) has only" in str(refused)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("kernel", [Gaussian(0.5), Polynomial(), Gaussian(0.5) + 2 * Polynomial()], ids=repr)
def test_columns_of_hashed_features_take_no_memory(path, rng, kernel, kind):
    """Empty columns take no memory in the file, in reading it or in a prediction, and do not change scores."""
    n_features = 1 << 24
    model = sparse_model(kernel, rng, kind)
    save_model(model, path)
    widen(path, n_features)
    wide = read_in_proportion(path)
    assert wide.n_features_in_ == n_features
    rows = sp.csr_matrix(rng.normal(size=(5, 4)))
    expected = model.predict(rows)
    rows.resize((5, n_features))
    most, scores = peak(wide.predict, rows)
    np.testing.assert_array_equal(scores, expected)
    assert most < CONSTANT


def test_more_columns_than_can_be_read_are_not_written(path, rng):
    path.write_text("old")
    model = sparse_model(Gaussian(0.5), rng)
    model.basis_.resize((6, 1 << 25))
    model.n_features_in_ = 1 << 25
    with pytest.raises(
        TypeError, match=r"basis_ cannot be saved: it is a sparse matrix of shape .* Remove empty columns"
    ):
        save_model(model, path)
    assert path.read_text() == "old"


def npy_header(shape, description="'<f8'"):
    text = f"{{'descr': {description}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize("length", [10**7, 10**12])
def test_empty_arrays_have_no_long_axes(path, rng, length):
    """Without outputs, the coefficients of any number of rows take no bytes."""
    save_model(sparse_model(Gaussian(0.5), rng, sp.csc_matrix), path)
    document, members = unpack(path)
    document["attributes"].update(_single=False, intercept_={"array": "intercept"})
    document["attributes"]["basis_"]["shape"][0] = length
    members |= {"intercept": npy_header((0,)), "attributes/dual_coef_.npy": npy_header((length, 0))}
    pack(path, document, members)
    assert isinstance(read_in_proportion(path), ModelFormatError)


def test_a_precomputed_kernel_of_many_rows(path, rng):
    model = RLS(kernel=Precomputed()).fit(np.eye(6), rng.normal(size=6))
    save_model(model, path)
    document, members = unpack(path)
    document["attributes"].update(n_features_in_=10**12, _single=False, intercept_={"array": "intercept"})
    members |= {"intercept": npy_header((0,)), "attributes/dual_coef_.npy": npy_header((10**12, 0))}
    pack(path, document, members)
    assert isinstance(read_in_proportion(path), ModelFormatError)


@pytest.mark.parametrize("n_characters", [300, 3000, 100_000])
def test_one_long_string_among_many(path, n_characters):
    """NumPy's strings are all as wide as the longest."""
    save_model(small_model(), path)
    document, members = unpack(path)
    document["attributes"]["other_"] = {"numpy": "str", "strings": ["a" * n_characters] + [""] * n_characters}
    pack(path, document, members)
    assert isinstance(read_in_proportion(path), ModelFormatError)


MANY = 5000


@pytest.mark.parametrize(
    "value",
    [
        [[]] * MANY,
        [[[[[]]]]] * MANY,
        [{"tuple": []}] * MANY,
        [{"float": "nan"}] * MANY,
        [{"numpy": "int8", "value": 1}] * MANY,
        [{"kernel": "Linear", "parameters": {}}] * (MANY // 10),
        [1.5] * MANY,
        [10**3000] * 100,
        [{"objects": []}] * MANY,
        [{"keys": [], "values": []}] * MANY,
        [{"slice": [0, 1, 2]}] * MANY,
        [{"dtype": "int8"}] * MANY,
        {"strings": ["ab"] * MANY},
        {"objects": [1.5] * MANY},
        {"keys": [f"{k:x}" for k in range(MANY)], "values": [0] * MANY},
        {f"{k:x}": 0 for k in range(MANY)},
        "a" * MANY + "\U0001f600",
    ],
    ids=lambda value: json.dumps(value)[:20],
)
def test_documents_of_many_small_values(path, value):
    save_model(small_model(), path)
    document, members = unpack(path)
    document["attributes"]["other_"] = value
    pack(path, json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode(), members)
    read_in_proportion(path)


def test_archives_of_many_members_and_arrays_of_many_fields(path):
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(3000):
            archive.writestr(f"{number:x}", b"")
    assert isinstance(read_in_proportion(path), ModelFormatError)
    save_model(small_model(), path)
    document, members = unpack(path)
    fields = ", ".join(f"('f{k:x}', '|b1')" for k in range(500))
    for number in range(20):
        document["attributes"][f"a{number}_"] = {"array": f"a{number}"}
        members[f"a{number}"] = npy_header((0,), f"[{fields}]")
    pack(path, document, members)
    assert isinstance(read_in_proportion(path), RankSVM)


# SVM^light


@pytest.mark.parametrize(("text", "stated"), [(RANK, "6"), (RADIAL, "4")], ids=["linear", "radial"])
def test_a_header_that_states_many_features(path, text, stated):
    path.write_text(text.replace(f"{stated} # highest", "99999999 # highest"))
    refused = read_in_proportion(path, load_svmlight_model)
    assert isinstance(refused, ModelFormatError)
    assert str(refused).startswith(f"{path}:8: 99999999 features are implausible for a file of")
    assert "n_features=99999999" in str(refused)


@pytest.mark.parametrize("line", ["1 #\n", "{k} #\n", "1 1:{k} #\n"])
@pytest.mark.parametrize("text", [RANK, RADIAL], ids=["linear", "radial"])
def test_many_short_support_vectors(path, text, line):
    head = text[: text.index("\n", text.index("threshold")) + 1]
    old = "2 # number of s" if text == RANK else "4 # number of s"
    path.write_text(head.replace(old, f"{MANY + 1} # number of s") + "".join(line.format(k=k) for k in range(MANY)))
    assert isinstance(read_in_proportion(path, load_svmlight_model), RankSVM)


def test_wide_linear_models_are_read_for_wide_data(path, tmp_path):
    """A file with few weights and many features is read if the caller gives the number, or the data have so many."""
    model = small_model()
    n_features = (1 << 21) + 1
    model.coef_, model.n_features_in_ = np.zeros(n_features), n_features
    model.coef_[[0, -1]] = 1.0, 2.0
    save_svmlight_model(model, path)
    with pytest.raises(ModelFormatError, match=f"n_features={n_features}"):
        load_svmlight_model(path)
    np.testing.assert_array_equal(load_svmlight_model(path, n_features=n_features).coef_, model.coef_)
    (tmp_path / "data").write_text(f"1 qid:1 1:1\n2 qid:1 {n_features}:1\n")
    assert classify([str(tmp_path / "data"), str(path), str(tmp_path / "scores")]) == 0
    assert (tmp_path / "scores").read_text() == "1.0\n2.0\n"
