"""Dense linear algebra of this package, against definitions."""

import numpy as np
import pytest

from kernelrank._arrays import cholesky, invert_triangular, pivoted_cholesky


@pytest.mark.parametrize(("n", "rank"), [(1, 1), (5, 5), (300, 300), (300, 40), (300, 129), (200, 0)])
def test_cholesky_with_pivots(rng, n, rank):
    B = rng.normal(size=(n, rank))
    matrix = B @ B.T
    order, R = pivoted_cholesky(matrix, 1e-10)
    assert len(R) == rank
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    np.testing.assert_allclose(R.T @ R, matrix[np.ix_(order, order)], atol=1e-10)
    np.testing.assert_array_equal(R, np.triu(R))
    pivots = np.diagonal(R)
    assert (np.diff(pivots) <= 1e-12).all()  # pivots are the largest residuals
    np.testing.assert_array_equal(matrix, B @ B.T)


@pytest.mark.parametrize("n", [0, 1, 127, 300])
def test_triangular_matrices(rng, n):
    matrix = np.triu(rng.normal(size=(n, n))) + 20 * np.eye(n)
    inverse = invert_triangular(matrix)
    np.testing.assert_array_equal(inverse, np.triu(inverse))
    np.testing.assert_allclose(inverse @ matrix, np.eye(n), atol=1e-12)
    factor = cholesky(matrix.T @ matrix)
    np.testing.assert_allclose(factor, matrix.T, rtol=1e-9, atol=1e-9)
