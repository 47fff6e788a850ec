"""Least-squares models: kernels, several outputs, and basis rows."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from model_files import assert_same_model, data, npy, pack, unpack
from sklearn.base import clone

from kernelrank import RLS, RLSCV, GreedyRankRLS, GreedyRLS, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.exceptions import ModelFormatError
from kernelrank.kernels import FunctionKernel, Gaussian, Linear, NamedKernel, Polynomial, Precomputed
from kernelrank.persistence import load_model, save_model

KERNELS = [
    *("linear", "gaussian", "polynomial", "cosine", "laplacian"),
    *(Linear(), Gaussian(0.25), Gaussian(), Polynomial(3, coef0=np.float32(0.5), gamma=2), NamedKernel("rbf")),
    *(Linear() + Gaussian(), 0.5 * Linear(), Gaussian(1) * Linear() + 3 * (Linear() + Polynomial())),
]
all_classes = pytest.mark.parametrize("cls", [RLS, RLSCV, RankRLS, RankRLSCV])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def round_trip(model, path):
    save_model(model, path)
    return load_model(path)


def targets(y, outputs):
    return np.stack([y, y**2], axis=1) if outputs else y


def few_alphas(cls):
    return {"alphas": [1.0, 0.01]} if cls in (RLSCV, RankRLSCV) else {}


@pytest.mark.pairwise
@all_classes
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("outputs", [False, True], ids=["one output", "two outputs"])
def test_everything_survives(path, cls, kernel, outputs):
    X, y = data(np.random.default_rng(0), 24)
    model = cls(kernel=kernel, **few_alphas(cls)).fit(X, targets(y, outputs))
    loaded = round_trip(model, path)
    assert_same_model(loaded, model)
    for rows in (X, X[:1] + 1, sp.csr_matrix(X), X.astype(np.float32)):
        assert loaded.predict(rows).tobytes() == model.predict(rows).tobytes()
    again = clone(loaded).fit(X, targets(y, outputs))
    assert again.predict(X).tobytes() == model.predict(X).tobytes()


@pytest.mark.parametrize(
    "layout",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        np.float32,
        *(sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array),
        lambda X: sp.csr_array(np.asarray(X, dtype=np.float32)),
    ],
)
def test_the_basis_is_kept_as_it_was(path, rng, layout):
    X, y = data(rng)
    model = RankRLS(kernel="gaussian").fit(layout(np.where(np.abs(X) > 0.5, X, 0.0)), y)
    loaded = round_trip(model, path)
    assert_same_model(loaded, model)
    for rows in (X, sp.csr_matrix(X)):
        assert loaded.predict(rows).tobytes() == model.predict(rows).tobytes()


def test_sparse_matrices_of_any_kind(path, rng):
    """Return CSR with wide unsorted indices, duplicates, and arrays longer than necessary."""
    X, y = data(rng, 4, 3)
    odd = sp.csr_matrix((np.arange(1.0, 8.0), [2, 0, 1, 1, 2, 0, 0], [0, 2, 4, 4, 7]), shape=(4, 3))
    odd.data, odd.indices = np.append(odd.data, 9.0), np.append(odd.indices, np.int32(99))
    wide = sp.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for matrix in (odd, wide, sp.csr_array((4, 2))):
        model = RLS(kernel="polynomial").fit(matrix, y)
        loaded = round_trip(model, path)
        rows = rng.normal(size=(5, matrix.shape[1]))
        assert loaded.predict(rows).tobytes() == model.predict(rows).tobytes()
        first = path.read_bytes()
        save_model(loaded, path)
        assert path.read_bytes() == first


def test_precomputed_kernels(path, rng):
    X, y = data(rng)
    for kernel in ("precomputed", Precomputed()):
        model = RankRLS(kernel=kernel).fit(X @ X.T, y)
        loaded = round_trip(model, path)
        assert_same_model(loaded, model)
        assert loaded.predict(X[:3] @ X.T).tobytes() == model.predict(X[:3] @ X.T).tobytes()


def test_fits_of_many_kinds(path, rng):
    X, y = data(rng)
    frame = pd.DataFrame(X, columns=["age", "größe", "price"])
    qid = np.repeat(np.arange(10), 6)
    for model in (
        RankRLS(kernel="gaussian").fit(frame, y, qid=qid),
        RankRLS(ties="drop", query_weighting="pair").fit(frame, y, qid=qid, sample_weight=np.ones(60)),
        RankRLS(cost="relative").fit_pairs(X, [[0, 1], [2, 3]], magnitude=[1.0, 2.0]),
        RankRLS(kernel="gaussian", n_basis=9, cost="unit").fit(X, y),
        RLS(n_basis=2).fit(X, y),
        RankSVM(kernel="polynomial").fit(X, y),
        RankSVM(kernel="precomputed", n_basis=9).fit(X @ X.T, y),
        RankSVMCV(alphas=3, kernel="gaussian", n_basis=9).fit(frame, y, qid=qid),
        GreedyRLS(2).fit(frame, np.stack([y, -y], axis=1)),
        GreedyRankRLS(2).fit(X, y, qid=qid),
        RankRLS(solver="cg", tol=1e-9).fit(sp.csr_matrix(X), y),
        RankRLSCV(2, cv="leave-query-out", scoring="ndcg@3").fit(frame, y - y.min(), qid=qid),
        RLSCV(np.logspace(-3, 0, 3), cv=3, random_state=np.int64(7)).fit(frame, y),
        RankRLSCV(3, kernel=["linear", Gaussian("scale")]).fit(frame, y),
    ):
        loaded = round_trip(model, path)
        assert_same_model(loaded, model)
        assert loaded._fitted_with_queries is model._fitted_with_queries


def kernels():
    simple = st.one_of(
        st.just(Linear()),
        st.builds(Gaussian, st.floats(1e-3, 1e3) | st.just("scale")),
        st.builds(Polynomial, st.integers(1, 4), st.floats(0, 9), st.floats(1e-3, 9)),
        st.sampled_from(["cosine", "rbf"]).map(NamedKernel),
    )
    return st.recursive(
        simple,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda two: two[0] + two[1]),
            st.tuples(inner, inner).map(lambda two: two[0] * two[1]),
            st.tuples(inner, st.floats(1e-3, 1e3)).map(lambda one: one[0] * one[1]),
        ),
        max_leaves=5,
    )


@given(kernels())
def test_any_kernel_survives(tmp_path_factory, kernel):
    X, y = data(np.random.default_rng(0), 6, 2)
    model = RankRLS(10.0, kernel=kernel).fit(X, y)
    loaded = round_trip(model, tmp_path_factory.getbasetemp() / "kernels")
    assert_same_model(loaded, model)
    assert loaded.predict(X).tobytes() == model.predict(X).tobytes()


def test_long_sums(path, rng):
    X, y = data(rng)
    total = Gaussian(1.0)
    for power in range(60):
        total = total + Gaussian(2.0**-power)
    model = RankRLS(kernel=total).fit(X, y)
    assert_same_model(round_trip(model, path), model)


# Contents that are not in a file


@all_classes
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_only_the_basis_is_training_data(path, rng, cls, kernel):
    X, y = data(rng)
    y = y + rng.normal(size=len(y))
    save_model(cls(kernel=kernel, **few_alphas(cls)).fit(X, y), path)
    document, members = unpack(path)
    assert ("basis_" in document["attributes"]) is (kernel == "gaussian")
    assert (X.tobytes() in b"".join(members.values())) is (kernel == "gaussian")
    assert "_training" not in json.dumps(document)
    sizes = [np.frombuffer(content[-8 * len(y) :]) for content in members.values() if len(content) > 8 * len(y)]
    assert not any(np.allclose(np.sort(found), np.sort(y)) for found in sizes)


def test_what_takes_the_training_data_takes_a_fit(path, rng):
    X, y = data(rng)
    loaded = round_trip(RankRLS(kernel="gaussian").fit(X, y), path)
    for shortcut in (loaded.leave_pair_out, loaded.leave_query_out, lambda: loaded.path([1.0])):
        with pytest.raises(ValueError, match="RankRLS has no training data any more"):
            shortcut()
    with pytest.raises(ValueError, match="no training data any more"):
        round_trip(RLS().fit(X, y), path).hold_out([[0, 1]])
    assert loaded.fit(X, y).leave_pair_out([[0, 1]]).shape == (1, 2)


class Mine(Gaussian):
    pass


@pytest.mark.parametrize(
    ("kernel", "what"),
    [
        (lambda X, Y: X @ Y.T, "function"),
        (FunctionKernel(lambda X, Y: X @ Y.T), "FunctionKernel"),
        (Linear() + 2 * FunctionKernel(lambda X, Y: X @ Y.T), "FunctionKernel"),
        (Mine(1.0), "Mine"),
    ],
    ids=["a function", "a kernel of one", "inside a sum", "of another class"],
)
def test_functions_are_not_data(path, rng, kernel, what):
    path.write_text("old")
    model = RankRLS(kernel=kernel).fit(*data(rng))
    remedy = r'Fit with a kernel of kernelrank\.kernels, or with kernel="precomputed"; or pickle the model\.'
    with pytest.raises(TypeError, match=f"parameter kernel cannot be saved: it is of type {what}.*{remedy}"):
        save_model(model, path)
    with pytest.raises(TypeError, match=f"attribute kernel_ cannot be saved.*{remedy}"):
        save_model(model.set_params(kernel="linear"), path)
    assert path.read_text() == "old"


# Files with invalid contents


@pytest.fixture
def parts(path):
    X, y = data(np.random.default_rng(0))
    save_model(RLS(kernel=Gaussian(0.5)).fit(sp.csr_matrix(X), np.stack([y, -y], axis=1)), path)
    return unpack(path)


def refused(path, document, members, message):
    pack(path, document, members)
    with pytest.raises(ModelFormatError, match=message):
        load_model(path)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            {"kernel": "AllPaths", "parameters": {}},
            "unknown kernel 'AllPaths'; the file was written by kernelrank '9.9.9'",
        ),
        ({"kernel": "FunctionKernel", "parameters": {"function": "os.system"}}, "unknown kernel 'FunctionKernel'"),
        ({"kernel": "sklearn.svm.SVC", "parameters": {}}, "unknown kernel 'sklearn.svm.SVC'"),
        (
            {"kernel": "Gaussian", "parameters": {"width": 1}},
            "Gaussian has no parameter 'width'; the file was written by kernelrank '9.9.9'",
        ),
        (
            {"kernel": "Sum", "parameters": {"left": {"kernel": "Linear", "parameters": {}}}},
            "a kernel Sum is invalid",
        ),
        ({"kernel": "Gaussian", "parameters": []}, "unknown kind of value"),
        ({"kernel": "Gaussian", "parameters": {}, "more": 1}, "unknown kind of value"),
        (
            {"kernel": "Gaussian", "parameters": {"gamma": -1.0}},
            "kernel .* cannot be computed .*gamma must be a positive",
        ),
        ({"kernel": "Polynomial", "parameters": {"degree": 0.5}}, "cannot be computed .*degree must be"),
        ({"kernel": "Polynomial", "parameters": {"coef0": "x"}}, "cannot be computed"),
        ({"kernel": "Scaled", "parameters": {"kernel": "linear", "factor": 1.0}}, "cannot be computed"),
        ({"kernel": "NamedKernel", "parameters": {"name": "os.system"}}, "cannot be computed"),
        ({"kernel": "Precomputed", "parameters": {}}, "dual_coef_ has shape .* but n_features_in_ is"),
        ({"kernel": "Linear", "parameters": {}}, "the attribute coef_ is missing"),
        ("gaussian", "kernel_ is of type str, expected Kernel"),
    ],
    ids=str,
)
def test_kernels_that_are_none(path, parts, kernel, message):
    document, members = parts
    attributes = {**document["attributes"], "kernel_": kernel}
    refused(path, {**document, "kernelrank": "9.9.9", "attributes": attributes}, members, message)


def test_kernels_get_defaults_for_parameters_that_are_missing(path, parts):
    document, members = parts
    document["attributes"]["kernel_"]["parameters"] = {}
    pack(path, document, members)
    assert load_model(path).kernel_.gamma == "scale"


def test_parameters_of_later_versions_are_refused(path, parts):
    document, members = parts
    document["parameters"]["n_rows"] = 3
    refused(path, document, members, "RLS has no parameter 'n_rows'; the file was written by kernelrank")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indices": [0, 1, 2**31 - 1]}, "out of bounds"),
        ({"indices": [0, 1, 3]}, "out of bounds"),
        ({"indices": [0, 1, -1]}, "out of bounds"),
        ({"indices": [0, 1]}, "out of bounds"),
        ({"data": np.ones(4)}, "out of bounds"),
        ({"indptr": [0, 2, 3, 3]}, "out of bounds"),
        ({"indptr": [1, 1, 3]}, "out of bounds"),
        ({"indptr": [0, 4, 3]}, "out of bounds"),
        ({"indptr": [0, -1, 3]}, "out of bounds"),
        ({"indptr": [0, 2**62, 3]}, "out of bounds"),
        ({"indptr": [0, 2, 4]}, "out of bounds"),
        ({"indptr": [0, 9, 0], "indices": np.zeros(0, "i8"), "data": np.zeros(0)}, "out of bounds"),
        ({"shape": [3, 3]}, "out of bounds"),
        ({"shape": [2, 2]}, "out of bounds"),
        ({"shape": [2]}, "numbers and indices"),
        ({"shape": [2, -3]}, "numbers and indices"),
        ({"shape": [2, 2**70]}, "numbers and indices"),
        ({"shape": [2, True]}, "numbers and indices"),
        ({"indices": np.arange(3.0)}, "numbers and indices"),
        ({"indices": np.arange(3, dtype=np.uint64)}, "numbers and indices"),
        ({"indices": np.arange(3, dtype=np.int8)}, "numbers and indices"),
        ({"data": np.ones((3, 1))}, "numbers and indices"),
        ({"data": np.ones(3, dtype=bool)}, "numbers and indices"),
        ({"sparse": "coo_matrix"}, "unknown kind of sparse matrix 'coo_matrix'"),
        ({"sparse": "csc_array"}, "out of bounds"),
        ({"shape": [2, 2**40]}, "sparse matrix of shape .* has only 3 elements"),
        ({"shape": [2, 2**24]}, "basis_ has shape"),
        ({}, "basis_ has shape"),
    ],
    ids=str,
)
def test_sparse_matrices_that_are_none(path, parts, changes, message):
    """The compiled products do not check indices."""
    document, members = parts
    arrays = {"data": np.ones(3), "indices": np.arange(3), "indptr": np.array([0, 2, 3]), **changes}
    for part in ("data", "indices", "indptr"):
        members[f"attributes/basis_/{part}.npy"] = npy(np.asarray(arrays[part]))
    document["attributes"]["basis_"].update(
        {"shape": [2, 3], **{name: value for name, value in changes.items() if name in ("shape", "sparse")}}
    )
    refused(path, document, members, message)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("_single", True, "dual_coef_ must be an array of float64 with 1 dimensions|intercept_ is of type ndarray"),
        ("_single", 1, "_single is of type int, expected bool"),
        ("intercept_", 1.0, "intercept_ must be an array of float64 with 1 dimensions"),
        ("n_features_in_", 4, "but n_features_in_ is 4"),
        ("basis_", 3, "basis_ must be an array of floating with 2 dimensions"),
        ("basis_", None, "the attribute basis_ is missing"),
        ("dual_coef_", None, "the attribute dual_coef_ is missing"),
        ("kernel_", None, "the attribute kernel_ is missing"),
        ("_training", 1, "'_training' is not an attribute"),
    ],
)
def test_attributes_that_do_not_fit(path, parts, name, value, message):
    document, members = parts
    document["attributes"][name] = value
    if value is None:
        del document["attributes"][name]
    refused(path, document, members, message)


def test_what_could_not_be_loaded_is_not_saved(path, rng):
    X, y = data(rng)
    model = RankRLS(kernel="gaussian").fit(X, y)
    model.kernel_.gamma = -1.0
    with pytest.raises(ValueError, match=r"changed after it was fitted: the kernel .* cannot be computed"):
        save_model(model, path)
    model.kernel_.gamma, model.basis_ = 1.0, X[1:]
    with pytest.raises(ValueError, match=r"basis_ has shape \(59, 3\), but n_basis is 60"):
        save_model(model, path)
