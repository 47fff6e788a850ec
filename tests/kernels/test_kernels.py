"""Kernels and their combinations, against their definitions."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from kernelrank.kernels import (
    FunctionKernel,
    Gaussian,
    Linear,
    NamedKernel,
    Polynomial,
    Precomputed,
    Product,
    Scaled,
    Sum,
    make_kernel,
)

DEFINITIONS = {
    "linear": (Linear(), lambda x, y: x @ y),
    "polynomial": (Polynomial(3, coef0=0.5, gamma=0.2), lambda x, y: (0.2 * (x @ y) + 0.5) ** 3),
    "gaussian": (Gaussian(0.3), lambda x, y: np.exp(-0.3 * np.sum((x - y) ** 2))),
    "sum": (Linear() + Gaussian(0.3), lambda x, y: x @ y + np.exp(-0.3 * np.sum((x - y) ** 2))),
    "product": (Linear() * Polynomial(), lambda x, y: (x @ y) * (x @ y + 1) ** 2),
    "scaled": (np.float64(0.5) * Linear(), lambda x, y: 0.5 * (x @ y)),
    "all": (
        2 * (Linear() + Gaussian(0.1)) * Polynomial() + Linear() * 3,
        lambda x, y: 2 * (x @ y + np.exp(-0.1 * np.sum((x - y) ** 2))) * (x @ y + 1) ** 2 + 3 * (x @ y),
    ),
}
kernels = pytest.mark.parametrize(("kernel", "definition"), DEFINITIONS.values(), ids=DEFINITIONS)


@kernels
@pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix])
def test_definition(rng, kernel, definition, store):
    X, Y = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    expected = [[definition(x, y) for y in Y] for x in X]
    np.testing.assert_allclose(kernel(store(X), store(Y)), expected, rtol=1e-12)
    square = kernel(store(X))
    np.testing.assert_array_equal(square, square.T)
    np.testing.assert_allclose(square, [[definition(x, y) for y in X] for x in X], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(store(X)), [definition(x, x) for x in X], rtol=1e-12)
    assert square.dtype == np.float64
    assert np.linalg.eigvalsh(square).min() > -1e-9 * np.abs(square).max()


@pytest.mark.pairwise
@kernels
@pytest.mark.parametrize("store", [np.asarray, np.float32, sp.csr_array])
@pytest.mark.parametrize("n_elements", [1, 60, 10_000])
def test_blocks(rng, kernel, definition, store, n_elements):
    X, Y = rng.normal(size=(50, 3)).astype(np.float32), rng.normal(size=(20, 3)).astype(np.float32)
    for given, others in (((store(X), store(Y)), Y), ((store(X),), X)):
        expected, found = kernel(X.astype(float), others.astype(float)), np.full((50, len(others)), np.nan)
        for rows, block in kernel.blocks(*given, n_elements=n_elements):
            assert block.size <= max(n_elements, len(others))
            assert block.dtype == np.float64
            found[rows] = block
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_blocks_of_a_matrix(rng):
    K, columns = rng.normal(size=(30, 12)), np.array([3, 1, 11])
    for given, expected in (((K,), K), ((K, columns), K[:, columns])):
        blocks = [block for _, block in Precomputed().blocks(*given, n_elements=40)]
        assert max(block.size for block in blocks) <= 40
        np.testing.assert_array_equal(np.vstack(blocks), expected)


@kernels
def test_parameters_can_be_searched_and_cloned(kernel, definition):
    assert repr(clone(kernel)) == repr(kernel)
    for name, value in kernel.get_params().items():
        kernel.set_params(**{name: value})


def test_parameters_of_parts():
    kernel = clone(Linear() + 2 * Gaussian(0.3))
    kernel.set_params(right__kernel__gamma=0.7, right__factor=5.0)
    assert repr(kernel) == repr(Linear() + 5.0 * Gaussian(0.7))


def test_an_offset_of_all_rows_costs_no_digits(rng):
    X = np.round(rng.normal(size=(30, 4)) * 2**20) / 2**20  # exact with the offset
    np.testing.assert_allclose(Gaussian(0.5)(X + 2.0**20), Gaussian(0.5)(X), rtol=1e-12)
    np.testing.assert_allclose(Gaussian(0.5)(X + 2.0**20, X[:7] + 2.0**20), Gaussian(0.5)(X, X[:7]), rtol=1e-12)


def test_nothing_given_is_changed(rng):
    X = rng.normal(size=(6, 2))
    before = X.copy()
    for kernel, _ in DEFINITIONS.values():
        kernel(X)
        kernel(X, X[:2])
    matrix = X @ X.T
    (2 * Precomputed())(matrix)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(matrix, X @ X.T)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_gamma_is_resolved_as_in_svc(rng, store):
    X = rng.normal(size=(40, 3)) * [1, 2, 3] + 1
    gamma = SVC(gamma="scale").fit(store(X), np.arange(40) % 2)._gamma
    kernel = (Linear() + 2 * Gaussian()).resolve(store(X))
    assert kernel.get_params()["right__kernel__gamma"] == pytest.approx(gamma, rel=1e-12)
    # A resolved kernel does not change.
    np.testing.assert_array_equal(kernel(X[:3], X), kernel.resolve(X[:5])(X[:3], X))
    assert Gaussian().resolve(np.ones((3, 2))).gamma == 1.0


@pytest.mark.parametrize(
    ("parameter", "kind"),
    [
        ("linear", Linear),
        ("polynomial", Polynomial),
        ("gaussian", Gaussian),
        ("precomputed", Precomputed),
        ("laplacian", NamedKernel),
        (lambda X, Y: X @ Y.T, FunctionKernel),
        (Linear() + Linear(), Sum),
        (Linear() * Linear(), Product),
        (2 * Linear(), Scaled),
    ],
)
def test_what_a_parameter_means(rng, parameter, kind):
    kernel = make_kernel(parameter)
    assert isinstance(kernel, kind)
    X = rng.random((6, 2))
    if kind is not Precomputed:
        np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(kernel(X)), rtol=1e-12)


@pytest.mark.parametrize("name", ["additive_chi2", "chi2", "cosine", "laplacian", "poly", "rbf", "sigmoid"])
def test_names_of_scikit_learn(rng, name):
    X, Y = rng.random((6, 3)), rng.random((4, 3))
    # Inner products are summed in another order: a few units in the last place.
    np.testing.assert_allclose(make_kernel(name)(X, Y), pairwise_kernels(X, Y, metric=name), rtol=1e-14)


def test_precomputed(rng):
    X = rng.normal(size=(5, 2))
    np.testing.assert_array_equal(Precomputed()(X @ X.T), X @ X.T)
    np.testing.assert_array_equal(Precomputed().diagonal(X @ X.T), np.diagonal(X @ X.T))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Gaussian(0), "gamma"),
        (Gaussian(np.nan), "gamma"),
        (Gaussian("auto"), "gamma"),
        (Polynomial(0), "degree"),
        (Polynomial(1.5), "degree"),
        (Polynomial(coef0=-1), "coef0"),
        (Polynomial(gamma=-1), "gamma"),
        (0 * Linear(), "positive"),
        (-1 * Linear(), "positive"),
        (FunctionKernel(lambda X, Y: X), "shape"),
    ],
)
def test_bad_parameters(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel(np.ones((3, 2)))


def test_what_is_no_kernel():
    with pytest.raises(ValueError, match="gausian"):
        make_kernel("gausian")
    with pytest.raises(TypeError, match="kernel must be"):
        make_kernel(3)
    for other in ("linear", None, [1, 2]):
        with pytest.raises(TypeError):
            Linear() + other
        with pytest.raises(TypeError):
            Linear() * other


def test_bad_rows():
    for kernel in (Linear(), Gaussian(1.0), Polynomial()):
        with pytest.raises(ValueError, match="NaN"):
            kernel([[np.nan]])


@pytest.mark.parametrize("factor", [1e200, 1e-200])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_a_variance_that_is_no_number(rng, factor, store):
    with pytest.raises(ValueError, match="variance overflows or underflows"):
        Gaussian().resolve(store(factor * rng.normal(size=(9, 2))))
    assert Gaussian().resolve(store(np.full((9, 2), 3.0))).gamma == 1.0


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(), Gaussian(0.5)], ids=repr)
def test_wide_sparse_rows_with_few_elements(rng, kernel):
    """Empty columns are left out of products; indices may be unsorted, repeated or unused."""
    n_features = 5000
    X = sp.csr_matrix(
        (rng.normal(size=7), np.array([40, 3, 3, 7, 9, 1, 2]), np.array([0, 3, 3, 5])), shape=(3, n_features)
    )
    Y = sp.csr_matrix((rng.normal(size=3), np.array([7, 3, 49]), np.array([0, 0, 3])), shape=(2, n_features))
    for others in (Y, X, None):
        expected = kernel(X.toarray(), None if others is None else others.toarray())
        np.testing.assert_allclose(kernel(X, others), expected, rtol=1e-12)
    assert X.shape == (3, n_features)
    empty = sp.csr_matrix((2, n_features))
    np.testing.assert_allclose(kernel(empty, Y), kernel(empty.toarray(), Y.toarray()), rtol=1e-12)
