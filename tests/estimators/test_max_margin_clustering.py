"""Maximum-margin clustering: its objective, its clusters, its invariances."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV

from kernelrank import RLS, MaxMarginClustering
from kernelrank.kernels import Gaussian, Linear
from kernelrank.persistence import load_model, save_model

MODELS = {
    "linear": MaxMarginClustering(),
    "gaussian": MaxMarginClustering(0.03, kernel="gaussian", min_share=0.4),
    "basis": MaxMarginClustering(kernel=Gaussian(0.3), n_basis=8, random_state=5),
    "linear basis": MaxMarginClustering(n_basis=2),
    "polynomial": MaxMarginClustering(1.0, kernel="polynomial", n_init=3),
}


def objective(model, X):
    """Return the objective of RLS, fitted to the labels."""
    y = 2.0 * model.labels_ - 1.0
    options = {name: getattr(model, name) for name in ("alpha", "kernel", "n_basis", "random_state")}
    fitted = RLS(**options).fit(X, y)
    if hasattr(fitted, "coef_"):
        norm = fitted.coef_ @ fitted.coef_
    else:
        norm = fitted.dual_coef_ @ fitted.kernel_(fitted.basis_) @ fitted.dual_coef_
    return np.mean((y - fitted.predict(X)) ** 2) + model.alpha * norm, fitted


@pytest.mark.parametrize("name", MODELS)
def test_the_objective_and_the_model_are_those_of_rls(rng, name):
    X, new = rng.normal(size=(60, 4)), rng.normal(size=(20, 4))
    model = clone(MODELS[name]).fit(X)
    expected, fitted = objective(model, X)
    assert model.objective_ == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(model.decision_function(new), fitted.predict(new), rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(model.predict(new), fitted.predict(new) > 0)


@pytest.mark.parametrize("min_share", [0.01, 0.2, 0.3, 0.45, 0.5])
@pytest.mark.parametrize("m", [2, 3, 10, 41])
def test_the_balance_is_respected(rng, m, min_share):
    model = MaxMarginClustering(min_share=min_share).fit(rng.normal(size=(m, 3)))
    smaller = np.bincount(model.labels_, minlength=2).min()
    assert smaller >= max(1, min(min_share * m, m // 2))
    assert model.labels_[0] == 0
    assert model.labels_.dtype.kind == "i"
    assert 0 <= model.objective_ <= 1


@pytest.mark.parametrize(("m", "min_share", "smallest"), [(100, 0.07, 7), (50, 0.14, 7), (25, 0.28, 7), (10, 0.3, 3)])
def test_a_share_is_not_rounded_up_by_its_last_bit(m, min_share, smallest):
    X = np.r_[np.zeros(m - smallest), np.full(smallest, 9.0)][:, None]
    model = MaxMarginClustering(min_share=min_share).fit(X + np.linspace(0, 0.1, m)[:, None])
    assert np.bincount(model.labels_).min() == smallest


def test_a_lower_share_allows_a_lower_objective():
    X = make_blobs(80, random_state=0)[0]
    found = [MaxMarginClustering(min_share=share, n_init=30).fit(X).objective_ for share in (0.5, 0.4, 0.2, 0.05)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < 4 * 0.05


def test_blobs_are_found(rng):
    X, y = make_blobs(120, centers=[[-4, 0, 0], [4, 0, 0]], random_state=int(rng.integers(99)))
    for model in (MaxMarginClustering(), MaxMarginClustering(kernel=Gaussian(0.05))):
        assert adjusted_rand_score(y, model.fit_predict(X)) == 1.0
        np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("shape", ["rings", "moons"])
def test_a_gaussian_kernel_finds_rings_and_moons(rng, shape):
    seed = int(rng.integers(99))
    if shape == "rings":
        X, y = make_circles(200, noise=0.05, factor=0.4, random_state=seed)
    else:
        X, y = make_moons(200, noise=0.05, random_state=seed)
    model = MaxMarginClustering(0.02, kernel=Gaussian(4.0), min_share=0.5, n_init=100)
    assert adjusted_rand_score(y, model.fit_predict(X)) > 0.95


def test_offsets_and_the_order_of_rows_do_not_matter(rng):
    X, order = rng.normal(size=(12, 2)), rng.permutation(12)
    model = MaxMarginClustering(n_init=60)  # enough to find the best of all labels
    labels = model.fit(X).labels_
    np.testing.assert_array_equal(model.fit(X + 100.0).labels_, labels)
    permuted = labels[order]
    np.testing.assert_array_equal(model.fit(X[order]).labels_, permuted ^ permuted[0])


@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.5)])
def test_sparse_rows_are_dense_rows(rng, kernel):
    X = np.where(rng.random((50, 6)) < 0.5, rng.normal(size=(50, 6)), 0.0)
    dense, sparse = (MaxMarginClustering(kernel=kernel).fit(rows) for rows in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), dense.predict(X))


def test_kernels_can_be_given_in_three_ways(rng):
    X = rng.normal(size=(40, 3))
    model = MaxMarginClustering(kernel="precomputed").fit(X @ X.T)
    for kernel in (Linear(), lambda A, B: A @ B.T):
        other = MaxMarginClustering(kernel=kernel).fit(X)
        np.testing.assert_array_equal(other.labels_, model.labels_)
        assert other.objective_ == pytest.approx(model.objective_, rel=1e-9)
    np.testing.assert_array_equal(model.predict(X @ X.T), other.predict(X))


def test_the_same_seed_gives_the_same_result(rng):
    X = rng.normal(size=(60, 5))
    model = MaxMarginClustering(1e-3, kernel="gaussian", n_init=8, random_state=7)
    np.testing.assert_array_equal(model.fit(X).labels_, clone(model).fit(X).labels_)


def test_parameters_of_the_kernel_can_be_searched(rng):
    X, y = make_blobs(60, centers=2, random_state=0)

    def score(model, X, y):
        return adjusted_rand_score(y, model.predict(X))

    search = GridSearchCV(MaxMarginClustering(kernel=Gaussian(1.0)), {"kernel__gamma": [0.01, 50.0]}, scoring=score)
    assert search.fit(X, y).best_params_ == {"kernel__gamma": 0.01}


def test_columns_of_a_frame_keep_their_names(rng):
    frame = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
    model = MaxMarginClustering().fit(frame)
    assert list(model.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
@pytest.mark.parametrize("kernel", ["linear", Gaussian(1.0)])
def test_equal_rows_have_no_clusters(value, kernel):
    with pytest.raises(ValueError, match="rows are all equal"):
        MaxMarginClustering(kernel=kernel).fit(np.full((10, 3), value))


def test_one_row_is_too_few():
    with pytest.raises(ValueError, match="at least two rows, got n_samples = 1"):
        MaxMarginClustering().fit([[1.0, 2.0]])


def test_two_rows_are_two_clusters():
    model = MaxMarginClustering().fit([[1.0], [2.0]])
    np.testing.assert_array_equal(model.labels_, [0, 1])
    np.testing.assert_array_equal(model.predict([[0.0], [3.0]]), [0, 1])


def test_groups_of_equal_rows_are_the_clusters():
    X = np.repeat([[0.0, 1.0], [5.0, 2.0]], [7, 9], axis=0)
    np.testing.assert_array_equal(MaxMarginClustering().fit_predict(X), np.repeat([0, 1], [7, 9]))


def test_too_large_a_kernel_matrix_is_refused_before_it_is_computed(monkeypatch, rng):
    monkeypatch.setattr("kernelrank._memory.available_memory", lambda: 8 * 4 * 100**2 - 1)
    X = rng.normal(size=(100, 2))
    with pytest.raises(MemoryError, match=r"kernel matrix of shape \(100, 100\)"):
        MaxMarginClustering(kernel=Gaussian(1.0)).fit(X)
    MaxMarginClustering(kernel=Gaussian(1.0), n_basis=10).fit(X)


def test_a_file_has_the_labels_and_the_model(rng, tmp_path):
    X = rng.normal(size=(30, 3))
    model = MaxMarginClustering(kernel="gaussian").fit(X)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    assert loaded.objective_ == model.objective_
