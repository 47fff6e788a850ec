"""Nystrom map against its definition, and without basis rows against a map that was fitted without them."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from array_checks import run_with_host_attributes
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelrank import RLS, NystromMap, RankSVM
from kernelrank.kernels import Gaussian, Kernel, Linear, Polynomial


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", Linear(), Gaussian(0.1) + 0.5 * Linear()])
def test_inner_products_are_those_of_the_approximation(rng, kernel):
    X, new = rng.normal(size=(80, 6)), rng.normal(size=(9, 6))
    nystrom = NystromMap(kernel, 12).fit(X)
    k, R = nystrom.kernel_, nystrom.basis_
    np.testing.assert_array_equal(R, X[nystrom.basis_indices_])
    features, mapped = nystrom.transform(X), nystrom.transform(new)
    expected = k(new, R) @ np.linalg.pinv(k(R), rcond=1e-12, hermitian=True) @ k(R, X)
    np.testing.assert_allclose(mapped @ features.T, expected, rtol=1e-8, atol=1e-9)
    w = rng.normal(size=(nystrom.n_components_, 2))
    np.testing.assert_allclose(k(new, R) @ nystrom.coefficients(w), mapped @ w, rtol=1e-8, atol=1e-9)


def test_all_rows_lose_nothing(rng):
    X = rng.normal(size=(40, 3))
    X[7] = X[30]
    for kernel in (Gaussian(0.2), Polynomial(2), Linear()):
        features = NystromMap(kernel, 40).fit_transform(X)
        np.testing.assert_allclose(features @ features.T, kernel(X), rtol=1e-8, atol=1e-9)
    assert NystromMap(Linear(), 40).fit(X).n_components_ == 3
    assert NystromMap(Gaussian(0.2), 100).fit(X).n_components_ == 39  # one of two equal rows is dependent


KERNELS = {
    "well": Gaussian(1.0),
    "ill": Gaussian(0.001),
    "of small rank": Polynomial(2),
    "linear": Linear(),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("n_gone", [0, 1, 7, 19])
def test_without_some_basis_rows(rng, kernel, n_gone):
    X = rng.normal(size=(90, 4))
    X[5] = X[60]
    nystrom = NystromMap(kernel, selection=np.append(rng.choice(50, 18, replace=False) + 8, [5, 60])).fit(X)
    assert np.isin([5, 60], nystrom.basis_indices_).sum() < 2  # one of two equal rows is dependent
    features = nystrom.transform(X)
    held_out = nystrom.basis_indices_[:n_gone]
    fold = np.union1d(held_out, np.setdiff1d(np.arange(70, 90), nystrom.basis_indices_))
    smaller, kept = nystrom.without(fold), np.setdiff1d(nystrom.basis_indices_, fold)
    again = NystromMap(kernel, selection=kept).fit(X).transform(X) if len(kept) else np.zeros((90, 1))
    scale = np.abs(kernel(X)).max()
    for found in (smaller.restrict(features), smaller.transform(X)):
        np.testing.assert_allclose(found @ found.T / scale, again @ again.T / scale, rtol=0, atol=1e-10)
    mask = np.zeros(90, dtype=bool)
    mask[fold] = True
    np.testing.assert_allclose(nystrom.without(mask).transform(X), smaller.transform(X), rtol=1e-12, atol=1e-12)
    step = nystrom.without(held_out[:3]).without(held_out)
    np.testing.assert_allclose(step.transform(X) @ features.T, smaller.transform(X) @ features.T, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(nystrom.transform(X), features)
    w = rng.normal(size=nystrom.n_components_)
    predicted = kernel(X, nystrom.basis_) @ smaller.coefficients(w)
    np.testing.assert_allclose(predicted, smaller.transform(X) @ w, rtol=1e-5, atol=1e-6 * np.abs(w).sum())


def test_rows_that_are_gone_have_no_coefficients(rng):
    X = rng.normal(size=(50, 3))
    nystrom = NystromMap(Gaussian(1.0), 15).fit(X)
    gone = nystrom.basis_indices_[::4]
    found = nystrom.without(gone).coefficients(rng.normal(size=15))
    np.testing.assert_allclose(found[::4], 0.0, atol=1e-12 * np.abs(found).max())
    assert np.abs(np.delete(found, np.arange(0, 15, 4))).min() > 0


def test_without_all_of_them_nothing_is_left(rng):
    X = rng.normal(size=(20, 3))
    nystrom = NystromMap(n_basis=5).fit(X)
    np.testing.assert_allclose(nystrom.without(np.arange(20)).transform(X), 0.0, atol=1e-12)


def test_linear_methods_become_kernel_methods(rng):
    X = rng.normal(size=(100, 2))
    y = np.sin(X[:, 0]) + X[:, 1] ** 2
    model = make_pipeline(NystromMap(Gaussian(0.5), 100), RLS(1e-3)).fit(X, y)
    np.testing.assert_allclose(
        model.predict(X[:9]), RLS(1e-3, kernel=Gaussian(0.5)).fit(X, y).predict(X[:9]), rtol=1e-6
    )
    assert make_pipeline(NystromMap("gaussian", 30), Ridge(1e-3)).fit(X, y).score(X, y) > 0.9
    assert make_pipeline(NystromMap("gaussian", 30), RankSVM()).fit(X, y).score(X, y) > 0.9


def test_draws(rng):
    X = rng.normal(size=(60, 3))
    one, two = (NystromMap(n_basis=10, random_state=seed).fit(X).basis_indices_ for seed in (1, 2))
    assert (one != two).any()
    np.testing.assert_array_equal(one, NystromMap(n_basis=10, random_state=1).fit(X).basis_indices_)
    qid = np.repeat([7, 3, 9, 1], [2, 40, 10, 8])[rng.permutation(60)]
    for n, expected in ((4, [1, 1, 1, 1]), (8, [2, 2, 2, 2]), (20, [6, 6, 2, 6]), (60, [8, 40, 2, 10])):
        rows = NystromMap(n_basis=n, selection="per-query").fit(X, qid=qid).basis_indices_
        counts = np.bincount(np.searchsorted([1, 3, 7, 9], qid[rows]))
        np.testing.assert_array_equal(counts, expected)
    given = NystromMap(selection=[5, 3]).fit(X)
    np.testing.assert_array_equal(given.basis_, X[[5, 3]])


def test_sparse_rows_frames_and_blocks(rng, monkeypatch):
    X = rng.normal(size=(70, 4))
    X[rng.random(X.shape) < 0.5] = 0.0
    dense = NystromMap(n_basis=10).fit(X)
    sparse = NystromMap(dense.kernel_, n_basis=10).fit(sp.csr_array(X))
    found, expected = sparse.transform(sp.csr_array(X)), dense.transform(X)  # equal up to signs
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, rtol=1e-7, atol=1e-9)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(qid=np.arange(70) // 7)
    framed = NystromMap(dense.kernel_, n_basis=10, selection="per-query").fit(frame)
    assert framed.n_features_in_ == 4
    assert framed.transform(frame).shape == (70, 10)
    assert list(framed.get_feature_names_out())[:2] == ["nystrommap0", "nystrommap1"]
    whole = dense.transform(X)
    monkeypatch.setitem(Kernel.blocks.__kwdefaults__, "n_elements", 130)
    np.testing.assert_allclose(dense.transform(X), whole, rtol=1e-12, atol=1e-12)
    monkeypatch.setattr("kernelrank._memory.available_memory", lambda: 100)
    with pytest.raises(MemoryError, match="smaller n_basis"):
        dense.transform(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selection": "best"}, "selection must be"),
        ({"selection": "per-query"}, "requires qid"),
        ({"selection": [1, 1]}, "distinct row indices"),
        ({"selection": [20]}, "from 0 to 19"),
        ({"selection": []}, "row indices"),
        ({"n_basis": 0}, "n_basis"),
        ({"kernel": "precomputed"}, "square"),
    ],
)
def test_bad_parameters(rng, options, message):
    with pytest.raises(ValueError, match=message):
        NystromMap(**options).fit(rng.normal(size=(20, 10)))


def test_precomputed_kernels(rng):
    X = rng.normal(size=(30, 3))
    K = Gaussian(0.5)(X)
    given = NystromMap("precomputed", 8).fit(K)
    reference = NystromMap(Gaussian(0.5), selection=given.basis_indices_).fit(X)
    found, expected = given.transform(K), reference.transform(X)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, rtol=1e-9, atol=1e-10)
    fold = np.arange(15)
    found, expected = given.without(fold).transform(K), reference.without(fold).transform(X)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, rtol=1e-8, atol=1e-9)


@pytest.mark.usefixtures("array_api")
@parametrize_with_checks([NystromMap(n_basis=5), NystromMap(Linear(), 3)])
def test_estimator_checks(estimator, check):
    run_with_host_attributes(check, estimator)


@pytest.mark.parametrize("store", [np.float32, sp.csr_array])
def test_the_kernel_matrix_is_never_there(rng, store, monkeypatch):
    monkeypatch.setitem(Kernel.blocks.__kwdefaults__, "n_elements", 1 << 16)
    X = store(rng.normal(size=(20_000, 3)))
    nystrom = NystromMap(n_basis=200).fit(X)
    tracemalloc.start()
    nystrom.transform(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * 20_000 * 200 + 2**22  # the features, and a few blocks of half a MiB


@pytest.mark.parametrize("fold", [[1000], [-1], [0.5], np.ones(5, dtype=bool), [[0, 1]]], ids=str)
def test_rows_that_are_not_there(rng, fold):
    nystrom = NystromMap(n_basis=5).fit(rng.normal(size=(20, 2)))
    with pytest.raises(ValueError, match="A fold must be a list of held-out row indices"):
        nystrom.without(fold)


def test_features_of_another_map(rng, monkeypatch):
    X = rng.normal(size=(20, 2))
    nystrom = NystromMap(n_basis=5).fit(X)
    smaller, features = nystrom.without(nystrom.basis_indices_[:2]), nystrom.transform(X)
    for call in (smaller.restrict, smaller.coefficients):
        with pytest.raises(ValueError, match="must have a length of 5 along"):
            call(np.ones((4, 4)))
    np.testing.assert_array_equal(smaller.restrict(np.ones((3, 5), dtype=int)), smaller.restrict(np.ones((3, 5))))
    whole = smaller.restrict(features)
    monkeypatch.setattr("kernelrank.features._nystrom_map._IN_CACHE", 15)
    np.testing.assert_allclose(smaller.restrict(features), whole, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(smaller.restrict(features[0]), whole[0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_no_fold_of_the_same_seed_holds_out_the_whole_basis(seed):
    X = np.random.default_rng(0).normal(size=(200, 3))
    basis = NystromMap(n_basis=30, random_state=seed).fit(X).basis_indices_
    held_out = [np.isin(basis, fold).mean() for _, fold in KFold(4, shuffle=True, random_state=seed).split(X)]
    assert min(held_out) > 0.05
    assert max(held_out) < 0.55
