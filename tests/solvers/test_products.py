"""Products with X: any storage, any number of threads, the same float64 sums."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernelrank._dense import multiply
from kernelrank.solvers import make_products


def storages(X):
    padded = np.zeros((X.shape[0] * 2, X.shape[1] * 3))
    padded[::2, ::3] = X
    read_only = X.copy()
    read_only.flags.writeable = False
    wide_indices = sp.csr_matrix(X)
    wide_indices.indices, wide_indices.indptr = (
        part.astype(np.int64) for part in (wide_indices.indices, wide_indices.indptr)
    )
    return {
        "C": X,
        "Fortran": np.asfortranarray(X),
        "strided": padded[::2, ::3],
        "read-only": read_only,
        "csr": sp.csr_matrix(X),
        "csc": sp.csc_matrix(X),
        "csr array": sp.csr_array(X),
        "csr, 64-bit indices": wide_indices,
        "csr, unsorted": sp.csr_matrix(X[:, ::-1])[:, ::-1],
    }


def sparse_data(rng, m, n):
    X = rng.normal(size=(m, n))
    X[rng.random((m, n)) < 0.7] = 0
    return X


@pytest.mark.parametrize("storage", list(storages(np.eye(2))))
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_products_are_those_of_the_matrix(rng, storage, n_threads):
    X = sparse_data(rng, 700, 13)
    w, g = rng.normal(size=13), rng.normal(size=700)
    g -= g.mean()
    products = make_products(storages(X)[storage], n_threads)
    np.testing.assert_allclose(products.forward(w), X @ w, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(products.backward(g), X.T @ g, rtol=1e-12, atol=1e-12)


@pytest.mark.pairwise
@pytest.mark.parametrize("storage", ["C", "Fortran", "csr", "csc"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_do_not_show_in_the_last_bit(rng, storage, dtype):
    X = sparse_data(rng, 40_000, 12).astype(dtype)
    w, g = rng.normal(size=12), rng.normal(size=40_000)
    results = [(p.forward(w), p.backward(g)) for p in (make_products(storages(X)[storage], n) for n in (1, 2, 5))]
    for forward, backward in results[1:]:
        np.testing.assert_array_equal(forward, results[0][0])
        np.testing.assert_array_equal(backward, results[0][1])


@pytest.mark.parametrize("storage", ["C", "Fortran", "csr", "csc"])
def test_float32_is_summed_in_float64(rng, storage):
    X = sparse_data(rng, 3000, 40).astype(np.float32)
    exact = X.astype(np.float64)
    w, g = rng.normal(size=40), rng.normal(size=3000)
    products = make_products(storages(X)[storage])
    np.testing.assert_allclose(products.forward(w), exact @ w, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(products.backward(g), exact.T @ g, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(multiply(storages(X)[storage], w), exact @ w, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("storage", ["C", "csr", "csc"])
def test_an_offset_costs_no_digits(rng, storage):
    """Differences of scores, and products with a g that sums to zero, do not see offsets."""
    X = np.round(rng.normal(size=(2000, 3)) * 2**20) / 2**20  # exact with the offset added
    w, g = rng.normal(size=3), rng.normal(size=2000)
    g -= g.mean()
    shifted = make_products(storages(X + [2.0**30, 0, -(2.0**30)])[storage])
    differences = np.diff(shifted.forward(w))
    np.testing.assert_allclose(differences, np.diff(X @ w), rtol=0, atol=1e-12)
    np.testing.assert_allclose(shifted.backward(g), X.T @ g, rtol=0, atol=1e-9)  # g sums to zero up to 1e-16 only


@pytest.mark.parametrize("storage", ["C", "Fortran", "strided", "csr", "csc"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_offsets_of_queries_cost_no_digits(rng, storage, dtype):
    """Differences inside queries do not see what is added to a whole query, whichever rows are first."""
    unit = 2.0 ** (-9 if dtype == np.float64 else 3)
    queries = rng.integers(40, size=2000).astype(np.int32)
    offsets = np.round(rng.normal(size=(40, 2)) * 1e12 * (1 if dtype == np.float64 else 1e-5))
    X = np.round(40 * rng.normal(size=(2000, 3)) / unit) * unit  # exact with the offset added
    moved = X.copy()
    moved[:, 1:] += offsets[queries]
    stored = storages(moved.astype(dtype))[storage].astype(dtype)
    w, g = rng.normal(size=3), rng.normal(size=2000)
    g -= (np.bincount(queries, g) / np.bincount(queries))[queries]
    for n_threads in (1, 3):
        products = make_products(stored, n_threads, queries)
        scores, expected = products.forward(w), X @ w
        for query in range(40):
            rows = queries == query
            found = scores[rows] - scores[rows][0]
            np.testing.assert_allclose(found, expected[rows] - expected[rows][0], rtol=0, atol=1e-11)
        np.testing.assert_allclose(products.backward(g), X.T @ g, rtol=0, atol=1e-9)


def test_a_column_that_seldom_differs_inside_a_query(rng):
    """A sample of rows may not see its spread."""
    queries = np.repeat(np.arange(5000, dtype=np.int32), 2)
    column = 1e12 * np.repeat(np.arange(5000.0), 2)
    column[2001] += 1.0
    g = np.tile([1.0, -1.0], 5000)
    for X in (column[:, None], sp.csr_matrix(column[:, None] + 1e12)):
        assert make_products(X, queries=queries).backward(g)[0] == -1.0
        scores = make_products(X, queries=queries).forward(np.ones(1))
        np.testing.assert_array_equal(np.diff(scores)[::2], (np.arange(5000) == 1000).astype(float))


@pytest.mark.parametrize("storage", ["C", "Fortran", "csr", "csc"])
def test_constant_columns_get_exactly_nothing(rng, storage):
    X = np.column_stack([rng.normal(size=900), np.full(900, 1e8), np.zeros(900), np.full(900, 0.1)])
    backward = make_products(storages(X)[storage]).backward(rng.normal(size=900))
    np.testing.assert_array_equal(backward[1:], 0.0)
    assert backward[0] != 0


@pytest.mark.parametrize("storage", ["C", "Fortran", "csr", "csc"])
def test_columns_that_are_constant_in_every_query_get_exactly_nothing(rng, storage):
    queries = np.concatenate([np.arange(40), rng.integers(40, size=860)]).astype(np.int32)
    X = np.column_stack([rng.normal(size=900), rng.normal(size=40)[queries] * 1e9])
    almost = X[:, 1].copy()
    almost[850] += 1.0
    products = make_products(storages(np.column_stack([X, almost]))[storage], queries=queries)
    g = rng.normal(size=900)
    backward, squares = products.backward(g), products.squares(np.abs(g))
    assert backward[1] == squares[1] == 0.0
    assert backward[0] != 0 != backward[2]


@pytest.mark.parametrize("storage", ["C", "csr", "csc"])
def test_columns_of_queries_need_not_be_stored_everywhere(rng, storage):
    queries = np.concatenate([np.arange(30), rng.integers(30, size=470)]).astype(np.int32)
    some = np.where(queries % 3 == 0, 1e9 * rng.normal(size=30)[queries], 0.0)
    almost = some.copy()
    almost[np.flatnonzero(queries == 3)[-1]] = 0.0
    huge = np.where(queries == 7, 1e300, 0.0)
    X = np.column_stack([rng.normal(size=500), some, almost, huge, np.zeros(500)])
    products = make_products(storages(X)[storage], queries=queries)
    with np.errstate(over="ignore", invalid="ignore"):
        backward = products.backward(rng.normal(size=500))
    np.testing.assert_array_equal(backward == 0, [False, True, False, True, True])


def test_a_column_constant_but_for_one_row_is_not_constant(rng):
    X = np.full((5000, 2), 3.0)
    X[1234, 1] = 4.0
    g = rng.normal(size=5000)
    for storage in ("C", "csr", "csc"):
        assert make_products(storages(X)[storage]).backward(g)[1] != 0


def test_the_matrix_is_not_changed(rng):
    X = sp.csr_matrix(rng.normal(size=(50, 3)) + 1e9)
    before = X.data.copy()
    make_products(X).forward(np.ones(3))
    np.testing.assert_array_equal(X.data, before)


@pytest.mark.parametrize("shape", [(1, 1), (5, 1), (1, 5), (3, 0)])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_small_shapes(shape, convert):
    X = np.ones(shape)
    products = make_products(convert(X))
    assert products.forward(np.ones(shape[1])).shape == (shape[0],)
    assert products.backward(np.ones(shape[0])).shape == (shape[1],)


def test_an_empty_sparse_matrix():
    products = make_products(sp.csr_matrix((4, 3)))
    np.testing.assert_array_equal(products.forward(np.ones(3)), np.zeros(4))
    np.testing.assert_array_equal(products.backward(np.ones(4)), np.zeros(3))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_diagonals_are_those_of_rows_less_their_mean(rng, form):
    X, d = sparse_data(rng, 30, 4) + [0.0, 0.0, 5.0, 0.0], rng.random(30)
    centred = X - d @ X / d.sum()
    np.testing.assert_allclose(make_products(form(X)).diagonal(d), d @ centred**2)


def test_zeros_may_be_stored_in_part_of_a_query():
    """A column that is constant in every query, as zeros are, stored or not."""
    queries = np.repeat(np.arange(2, dtype=np.int32), 3)
    stored = np.array([0, 1, 2, 4])  # 0.1 in the first query, and one of the zeros of the second
    X = sp.csc_array((np.array([0.1, 0.1, 0.1, 0.0]), stored, np.array([0, 4])), shape=(6, 1))
    g = np.array([0.1, 0.2, -0.3, 0.0, 0.0, 0.0])  # which sums to zero but for rounding
    assert (0.1 * g).sum() != 0
    for form in (X, X.tocsr()):
        assert make_products(form, queries=queries).backward(g) == 0
