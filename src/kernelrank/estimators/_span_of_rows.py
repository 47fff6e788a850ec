r"""Matrices with far more columns than rows, replaced by the inner products of their rows.

The solution of a regularised risk is a combination of the rows, ``w = Z' c``. Z holds the rows centred in every query,
which changes no difference between rows of a query. So a wide matrix is a linear kernel of few rows. Its m x m inner
products take O(n m^2) once; an iteration of a solver then takes O(m^2) instead of O(n m). The weights of the n columns
are computed at the end. With bounds on the weights, the inner products are taken over the columns with positive weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._arrays import GroupSums, is_foreign, slices
from kernelrank._dense import multiply, multiply_transposed

Vector = NDArray[np.float64]
Columns = NDArray[np.intp]

# Shapes for which the inner products cost less than the iterations that they save.
_MOST_ROWS, _COLUMNS_PER_ROW = 500, 10
_BLOCK_ELEMENTS = 1 << 20  # of a block of columns


def is_wide(X: Any) -> bool:
    """Return whether a matrix is dense, of NumPy, and so wide that its inner products are worth computing."""
    m, n = X.shape
    return not (sp.issparse(X) or is_foreign(X)) and m <= _MOST_ROWS and n >= _COLUMNS_PER_ROW * m


class SpanOfRows:
    """Combinations of the rows of a dense matrix, centred in every query.

    Parameters
    ----------
    X : ndarray of shape (m, n)
    queries : ndarray of shape (m,), optional
        Query of each row, 0, 1, ...; none missing.
    """

    def __init__(self, X: NDArray[Any], queries: NDArray[np.int32] | None) -> None:
        self._X, self._queries = X, np.zeros(X.shape[0], np.int32) if queries is None else queries
        self._firsts = np.unique(self._queries, return_index=True)[1][self._queries]
        self._means = GroupSums(self._queries, 1.0 / np.bincount(self._queries)[self._queries])

    def inner_products(self, columns: Columns | None = None, signs: Vector | None = None) -> Vector:
        """Compute Z Z', or the sum over some columns of their products, each multiplied by its sign."""
        products = np.zeros((self._X.shape[0], self._X.shape[0]))
        with np.errstate(over="ignore", invalid="ignore"):  # solvers look for numbers that are not finite
            for part, block in self._blocks(columns):
                products += multiply(block if signs is None else block * signs[part], block.T)
        return (products + products.T) / 2

    def combine(self, c: Vector) -> Vector:
        """Compute Z' c; a column that is constant in every query gets exactly 0."""
        w = np.empty(self._X.shape[1])
        for columns, block in self._blocks():
            w[columns] = multiply_transposed(block, c)
        return w

    def _blocks(self, columns: Columns | None = None) -> Iterator[tuple[slice, Vector]]:
        """Yield blocks of centred columns, of all or of some."""
        m, n = self._X.shape
        for number in slices(n if columns is None else len(columns), _BLOCK_ELEMENTS // m):
            part = self._X[:, number] if columns is None else self._X.take(columns[number], axis=1)
            # First the difference from a row of the query, which is exactly zero where a column is constant.
            block = np.subtract(part, part[self._firsts], dtype=np.float64)
            block -= self._means(block)[self._queries]
            yield number, block
