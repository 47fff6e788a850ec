"""Products of dense matrices: correct, and equal in all bits wherever a row is."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernelrank._arrays import canonical
from kernelrank._core import multiply_columns, multiply_matrices, multiply_rows
from kernelrank._dense import dot, multiply, multiply_transposed, norm, readable

# Sizes around whole lanes, segments of 512 and blocks of 4096.
SHAPES = [(1, 1), (3, 5), (7, 37), (16, 16), (130, 9), (5000, 3), (4097, 13), (5, 9000), (600, 515), (2, 0), (0, 2)]


def layouts(X):
    """Return the same numbers in other storage orders."""
    m, n = X.shape
    wide, unaligned = np.zeros((2 * m, 3 * n)), np.zeros(X.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(m, n)
    wide[::2, ::3], unaligned[:] = X, X
    records = np.zeros((m, n), np.dtype({"names": ["x"], "formats": ["f8"], "offsets": [0], "itemsize": 12}))
    records["x"] = X
    return {
        "Fortran": np.asfortranarray(X),
        "strided": wide[::2, ::3],
        "strided Fortran": np.asfortranarray(wide)[::2, ::3],
        "backwards": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        "unaligned": unaligned,
        "parts of records": records["x"],
    }


@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_right_and_do_not_depend_on_storage_or_threads(rng, shape):
    X, w, g = rng.normal(size=shape), rng.normal(size=shape[1]), rng.normal(size=shape[0])
    forward, backward = multiply(X, w), multiply_transposed(X, g)
    # Bounds of n eps times the sum of absolute terms, with a margin.
    np.testing.assert_allclose(forward, X @ w, rtol=0, atol=1e-14 * max(1, shape[1]))
    np.testing.assert_allclose(backward, g @ X, rtol=0, atol=1e-14 * max(1, shape[0]))
    np.testing.assert_allclose(multiply_transposed(X, g, squared=True), g @ X**2, rtol=0, atol=1e-13 * max(1, shape[0]))
    for name, other in layouts(X).items():
        np.testing.assert_array_equal(multiply(other, w), forward, err_msg=name)
        np.testing.assert_array_equal(multiply_transposed(other, g), backward, err_msg=name)
    for n_threads in (2, 3, 9):
        rows, columns = np.empty(shape[0]), np.empty(shape[1])
        multiply_rows(X, w, rows, n_threads)
        multiply_columns(X, g, columns, n_threads)
        np.testing.assert_array_equal(rows, forward)
        np.testing.assert_array_equal(columns, backward)


def test_float32_is_multiplied_as_its_float64_copy(rng):
    X, w = rng.normal(size=(700, 37)).astype(np.float32), rng.normal(size=37)
    np.testing.assert_array_equal(multiply(X, w), multiply(X.astype(np.float64), w))
    W = rng.normal(size=(37, 3))
    np.testing.assert_array_equal(multiply(X, W), multiply(X.astype(np.float64), W))


@pytest.mark.parametrize("n", [1, 3, 8, 37, 300, 5000])
def test_equal_rows_have_equal_products_wherever_they_are(rng, n):
    row, w, W = rng.normal(size=n), rng.normal(size=n), rng.normal(size=(n, 21))
    one, several = multiply(row[None], w)[0], multiply(row[None], W)[0]
    for m in [*range(2, 20), 97, 200]:
        X = rng.normal(size=(m, n))
        at = rng.integers(m, size=3)
        X[at] = row
        for order in "CF":
            np.testing.assert_array_equal(multiply(np.asarray(X, order=order), w)[at], one)
            np.testing.assert_array_equal(multiply(np.asarray(X, order=order), W)[at], several[None].repeat(3, 0))


def test_a_row_that_is_not_finite_does_not_spoil_its_neighbours(rng):
    X, w = rng.normal(size=(11, 5)), rng.normal(size=5)
    found = multiply(X, w)
    X[4] = np.nan
    np.testing.assert_array_equal(np.delete(multiply(X, w), 4), np.delete(found, 4))


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (7, 37, 5), (200, 3, 17), (97, 600, 33), (5, 20, 600), (3, 0, 2), (0, 4, 2)]
)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_products_of_matrices(rng, shape, n_threads):
    m, n, p = shape
    left, right = rng.normal(size=(m, n)), rng.normal(size=(n, p))
    found = multiply(left, right)
    np.testing.assert_allclose(found, left @ right, rtol=0, atol=1e-14 * max(1, n))
    for other in layouts(left).values():
        np.testing.assert_array_equal(multiply(other, np.asfortranarray(right), n_threads), found)


def test_a_matrix_times_its_transpose_is_symmetric(rng):
    X = rng.normal(size=(131, 40))
    product = multiply(X, X.T)
    np.testing.assert_array_equal(product, product.T)


def test_vectors(rng):
    a, b = rng.normal(size=(2, 10_001))
    assert dot(a, b) == pytest.approx(float(np.sum(a.astype(np.longdouble) * b)), rel=0, abs=1e-12)
    assert dot(a[::2], b[::2]) == dot(a[::2].copy(), b[::2].copy())
    assert norm(np.array([3.0, 4.0])) == 5.0
    assert dot(np.empty(0), np.empty(0)) == 0.0


def test_what_does_not_fit_is_an_error():
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match="must match the shape"):
        multiply(X, np.zeros(3))
    with pytest.raises(ValueError, match="must match"):
        multiply(X, np.zeros((3, 2)))
    with pytest.raises(ValueError, match="the same length"):
        dot(np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="origins must be row indices"):
        multiply_rows(X, np.zeros(2), np.zeros(3), 1, np.zeros(2), np.array([0, 3, 0], np.int32), np.ones(2, np.uint8))
    with pytest.raises(TypeError):
        multiply_matrices(X.astype(np.int64), np.zeros((2, 1)), np.zeros((3, 1)), 1)


def test_canonical_form_is_a_copy_only_if_it_must_be(rng):
    X = sp.random(20, 10, 0.4, "csr", random_state=0)
    assert canonical(X) is X
    parts = [part.copy() for part in (X.data, X.indices, X.indptr)]
    backwards = X[:, ::-1]
    unsorted = sp.csr_matrix((backwards.data, 9 - backwards.indices, backwards.indptr), X.shape)
    unsorted.data[0] = 0.0
    before = [part.copy() for part in (unsorted.data, unsorted.indices, unsorted.indptr)]
    found = canonical(unsorted)
    assert found.has_canonical_format
    assert np.count_nonzero(found.data) == found.nnz
    np.testing.assert_array_equal(found.toarray(), unsorted.toarray())
    for part, was in zip((unsorted.data, unsorted.indices, unsorted.indptr), before, strict=True):
        np.testing.assert_array_equal(part, was)
    for part, was in zip((X.data, X.indices, X.indptr), parts, strict=True):
        np.testing.assert_array_equal(part, was)


def test_what_is_not_aligned_is_copied():
    unaligned = np.zeros(8 * 6 + 1, np.uint8)[1:].view(np.float64).reshape(2, 3)
    assert not unaligned.flags.aligned
    assert readable(unaligned).flags.aligned
