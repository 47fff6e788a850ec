"""Columns that are found in several matrices are those of the matrix that they make together."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernelrank.solvers._blocks import Block, BlockRows
from kernelrank.solvers._columns import Rows, find_columns, find_common_columns, first_rows


class Matrices:
    """Several matrices, whose rows are compared with each other."""

    stay = True

    def __init__(self, matrices):
        self._matrices, self.n_columns = matrices, matrices[0].shape[1]
        self.n_rows = sum(X.shape[0] for X in matrices)

    def __iter__(self):
        start = 0
        for X in self._matrices:
            yield Block(start, X, None)
            start += X.shape[0]


def awkward(rng, m=600):
    """Return a matrix with columns that are far from zero, constant, constant in parts, and ordinary."""
    X = rng.normal(size=(m, 7))
    X[:, 1] += 1e9
    X[:, 2] = 5.0
    X[:, 3] = np.repeat([1.0, 2.0, 3.0], m // 3)
    X[:, 4] = 0.0
    X[: m - 1, 5] = 7.0  # one row differs
    X[:, 6] = -1e-7 + 1e-12 * X[:, 6]
    return X


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("cuts", [[], [200, 400], [1, 599], [150]])
def test_columns_of_parts_are_those_of_the_whole(rng, form, cuts):
    X = awkward(rng)
    whole = find_columns(form(X), first_rows(None, len(X)))
    found = find_common_columns(BlockRows(Matrices([form(part) for part in np.split(X, cuts)])))
    np.testing.assert_array_equal(found.full, whole.full)
    np.testing.assert_array_equal(found.constant, whole.constant)
    assert 2 in found.constant
    assert 5 not in found.constant
    # Whether a sample sees the one row that differs is chance.
    shifted = [found.full[found.shift != 0], whole.full[whole.shift != 0]]
    np.testing.assert_array_equal(*(columns[columns != 5] for columns in shifted))
    # The shifts come from other samples, but both are within the values of the column.
    centre, spread = X[:, shifted[0]].mean(axis=0), np.ptp(X[:, shifted[0]], axis=0)
    assert (np.abs(found.shift[found.shift != 0] - centre) <= spread).all()


def test_a_column_must_be_stored_in_every_part(rng):
    X = np.ones((10, 2))
    X[:5, 0] = 0.0
    found = find_common_columns(BlockRows(Matrices([sp.csr_matrix(X[5:]), sp.csr_matrix(X[:5])])))
    np.testing.assert_array_equal(found.full, [1])


def test_a_single_row_has_constant_columns_only():
    found = find_common_columns(Rows(np.array([[1.0, 2.0]])))
    np.testing.assert_array_equal(found.constant, [0, 1])
