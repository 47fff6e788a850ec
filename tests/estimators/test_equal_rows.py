"""Equal rows get equal scores, wherever they are and however many rows there are."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernelrank import RLS, GreedyRankRLS, GreedyRLS, NystromMap, OrdinalSVM, RankRLS, RankSVM, RankSVMCV
from kernelrank.kernels import Gaussian, Linear, Polynomial, make_kernel

N_FEATURES = 37
KERNELS = {
    "gaussian": "gaussian",
    "polynomial": Polynomial(3),
    "sum": Gaussian(0.1) + 0.5 * Linear(),
    "product": Gaussian(0.1) * Polynomial(2),
    **{name: name for name in ("rbf", "poly", "cosine", "laplacian")},
}
ESTIMATORS = {
    "RankSVM": RankSVM(),
    "RankSVMCV": RankSVMCV(alphas=[1e-2, 1e-1], cv=2),
    "OrdinalSVM": OrdinalSVM(),
    "RankRLS": RankRLS(),
    "RLS": RLS(),
    "GreedyRLS": GreedyRLS(20),
    "GreedyRankRLS": GreedyRankRLS(20),
    **{f"RankSVM, {name}": RankSVM(kernel=kernel, n_basis=20) for name, kernel in KERNELS.items()},
    **{f"RankRLS, {name}": RankRLS(kernel=kernel) for name, kernel in KERNELS.items()},
}
STORAGES = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, 0), 3, 1)[::2, ::3],
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_matrix,
    "csc": sp.csc_array,
}


def scores_of(model, X):
    if isinstance(model, NystromMap):
        return model.transform(X)
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def require_equal(model, rng, convert, sizes):
    """Put a row among others, at several positions, and compare its scores with those it has alone."""
    row = np.round(rng.normal(size=N_FEATURES), 2).astype(np.float32).astype(np.float64)
    alone = scores_of(model, convert(row[None]))[0]
    for m in sizes:
        X = rng.normal(size=(m, N_FEATURES))
        at = np.unique(np.concatenate([rng.integers(m, size=3), [0, m - 1]]))
        X[at] = row
        found = scores_of(model, convert(X))[at]
        np.testing.assert_array_equal(found, np.broadcast_to(alone, found.shape), err_msg=f"{m} rows")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, N_FEATURES))
    return X, np.round(X[:, 0] + X[:, 1] ** 2)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators(data, rng, name):
    model = ESTIMATORS[name].fit(*data)
    require_equal(model, rng, np.ascontiguousarray, [2, 3, 5, 7, 9, 16, 31, 100])


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("name", ["RankSVM", "RankRLS", "RankSVM, gaussian"])
def test_storages(data, rng, name, storage):
    model = ESTIMATORS[name].fit(*data)
    require_equal(model, rng, STORAGES[storage], [2, 3, 7, 50])


@pytest.mark.parametrize("name", ["RankRLS", "RLS", "RankRLS, gaussian", "GreedyRLS"])
def test_several_outputs(data, rng, name):
    X, y = data
    require_equal(
        ESTIMATORS[name].fit(X, np.stack([y, X[:, 3], X[:, 5]], axis=1)), rng, np.ascontiguousarray, [2, 7, 50]
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_features(data, rng, kernel):
    require_equal(NystromMap(KERNELS[kernel], 15).fit(data[0]), rng, np.ascontiguousarray, [2, 3, 7, 50])


@pytest.mark.parametrize("kernel", [*KERNELS, "sigmoid", "linear"])
def test_kernels(data, rng, kernel):
    kernel, (X, _) = make_kernel(KERNELS.get(kernel, kernel)).resolve(data[0]), data
    for m in range(1, 40, 3):
        rows = rng.normal(size=(m, N_FEATURES))
        rows[m // 2] = X[1]
        np.testing.assert_array_equal(kernel(rows, X)[m // 2], kernel(X[1:2], X)[0])


def test_features_without_basis_rows(data, rng):
    model = NystromMap("gaussian", 15).fit(data[0]).without(np.arange(20))
    require_equal(model, rng, np.ascontiguousarray, [2, 3, 7, 50])


def test_the_order_of_storage_does_not_show(data, rng):
    X = rng.normal(size=(60, N_FEATURES))
    for name in ("RankSVM", "RankRLS", "RankSVM, gaussian"):
        model = ESTIMATORS[name].fit(*data)
        np.testing.assert_array_equal(model.predict(np.asfortranarray(X)), model.predict(X))


def test_copies_of_a_row_are_tied(data):
    """Seven copies of a row once had ranks 1 and 5, and a score of 0.214."""
    X, y = data
    for name in ("RankSVM", "RankRLS", "RankSVM, gaussian"):
        model = ESTIMATORS[name].fit(X, y)
        for k in range(len(X)):
            copies = X[k][None].repeat(7, axis=0)
            assert model.score(copies, np.arange(7)) == 0.5
            assert set(model.rank(copies)) == {1}
