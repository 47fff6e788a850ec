r"""Learning in the span of the rows, for a dense matrix with far more columns than rows.

The solution of a regularised risk is a combination of the rows, ``w = Z' g`` (Z: the rows, centred in every query,
which changes no difference that counts). With ``Z' = Q F'``, Q having orthonormal columns, as many as the rank of Z,

    Z w = F v,    ||w|| = ||v||    for    w = Q v,

so F, which is at most m x m, has the same solutions, objectives and certificates as the m x n matrix Z. Q is never
formed: ``F' g = v`` gives g, and ``w = Z' g``.

``Z' = Q R`` is found by Householder's reflections from blocks of columns of Z, each below the R so far; a second
decomposition, with pivots, finds the rank. Unlike a decomposition of ``Z Z'``, these lose no digits: every row of Z is
reproduced up to rounding relative to its own norm. They are written with products whose order of additions is fixed,
not with LAPACK, so that the result is the same whatever BLAS does. O(n m^2) once; an iteration of a solver then costs
O(m^2) instead of O(n m).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._dense import dot, multiply, multiply_transposed
from kernelrank.solvers._oracle import quiet

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

# Where the decomposition costs less than the iterations that it spares: measured at 100 to 1,000 rows.
_MOST_ROWS, _COLUMNS_PER_ROW = 150, 10
_BLOCK_ELEMENTS = 1 << 16  # of a block of columns, which is gone over for every row: it fits the second-level cache
_EPS = float(np.finfo(np.float64).eps)


class RowSpace:
    """An orthonormal basis of the span of the rows of a dense matrix, centred in every query.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
    queries : ndarray of shape (n_rows,), optional
        Query of each row, 0, 1, ...; none missing.

    Attributes
    ----------
    features : ndarray of shape (n_rows, rank)
        Coordinates of the rows in the basis.
    """

    def __init__(self, X: NDArray[Any], queries: NDArray[np.int32] | None = None) -> None:
        m = X.shape[0]
        self._X = X
        self._queries = np.zeros(m, np.int32) if queries is None else queries
        self._firsts = np.unique(self._queries, return_index=True)[1]
        # Times a block, the mean of each query.
        self._mean = sp.csr_array((1.0 / np.bincount(self._queries)[self._queries], (self._queries, np.arange(m))))
        R = np.zeros((m, m))
        with quiet():
            for _, block in self._blocks():
                _absorb(R, block)
            norms = np.sqrt((R**2).sum(axis=0))  # of the rows of Z
            self._norms = np.where(norms > 0, norms, 1.0)
            triangle, self._pivots = _pivoted(R.T / self._norms[:, None])
        # What is left of a row by those before it is nothing but rounding, compared with the row itself. A space
        # without a dimension would be a special case.
        rank = max(int(np.count_nonzero(np.abs(np.diagonal(triangle)) > m * _EPS)), 1)
        self._triangle = np.ascontiguousarray(triangle[:rank, :rank])
        self.features = np.empty((m, rank))
        self.features[self._pivots] = triangle[:, :rank]
        self.features *= self._norms[:, None]

    @classmethod
    def if_wide(cls, X: Any, queries: NDArray[np.int32] | None = None) -> RowSpace | None:
        """Return the space of the rows where working in it is faster, and float64 can hold squares of the features."""
        m, n = X.shape
        if sp.issparse(X) or m > _MOST_ROWS or n < _COLUMNS_PER_ROW * m:
            return None
        space = cls(np.asarray(X), queries)
        return space if np.isfinite(space.features).all() else None

    def lift(self, v: Vector) -> Vector:
        """Return the weights of the columns of X that belong to coordinates `v`."""
        independent = self._pivots[: len(v)]
        g = np.zeros(len(self._X))  # a combination of independent rows will do
        g[independent] = _solve_transposed(self._triangle, v) / self._norms[independent]
        w = np.empty(self._X.shape[1])
        for columns, block in self._blocks():
            w[columns] = multiply_transposed(block, g)
        return w

    def project(self, w: Vector) -> Vector:
        """Return the coordinates of the part of `w` that lies in the space."""
        independent = self._pivots[: self.features.shape[1]]
        scores = np.zeros(len(independent))
        for columns, block in self._blocks():
            scores += multiply(block[independent], w[columns], n_threads=1)
        return _solve(self._triangle, scores / self._norms[independent])

    def _blocks(self) -> Iterator[tuple[slice, Matrix]]:
        """Yield blocks of centred columns."""
        m, n = self._X.shape
        size = max(m, _BLOCK_ELEMENTS // m)
        for start in range(0, n, size):
            columns = slice(start, min(n, start + size))
            part = self._X[:, columns]
            # First the difference from a row, which is exactly zero where a column is constant.
            block = np.subtract(part, part[self._firsts[self._queries]], dtype=np.float64)
            block -= (self._mean @ block)[self._queries]
            yield columns, block


def _absorb(R: Matrix, block: Matrix) -> None:
    """Make R the triangle of the matrix of R and, below it, the transposed block, which is overwritten."""
    for k, row in enumerate(block):
        below = dot(row, row)
        if below == 0:
            continue
        head = R[k, k] + math.copysign(math.sqrt(R[k, k] ** 2 + below), R[k, k])
        reflected = multiply(block[k + 1 :], row, n_threads=1)
        reflected += head * R[k, k + 1 :]
        reflected *= 2.0 / (head * head + below)
        R[k, k] -= head
        R[k, k + 1 :] -= head * reflected
        block[k + 1 :] -= reflected[:, None] * row


def _pivoted(rows: Matrix) -> tuple[Matrix, NDArray[np.intp]]:
    """Rotate rows, the one with the most left first, into a lower triangle; return it and their order."""
    rows, pivots = rows.copy(), np.arange(len(rows))
    for k in range(len(rows)):
        left = k + int(np.argmax((rows[k:, k:] ** 2).sum(axis=1)))
        rows[[k, left]], pivots[[k, left]] = rows[[left, k]], pivots[[left, k]]
        mirror = rows[k, k:].copy()
        size = math.sqrt(dot(mirror, mirror))
        if size == 0 or not math.isfinite(size):
            break
        mirror[0] += math.copysign(size, mirror[0])
        rows[k, k:] = 0.0
        rows[k, k] = math.copysign(size, -mirror[0])
        reflected = multiply(rows[k + 1 :, k:], mirror, n_threads=1) * (2.0 / dot(mirror, mirror))
        rows[k + 1 :, k:] -= reflected[:, None] * mirror
    return rows, pivots


def _solve(triangle: Matrix, b: Vector) -> Vector:
    """Solve a lower triangular system; what a diagonal of zero leaves open is zero."""
    x = np.zeros_like(b)
    for i in range(len(b)):
        if triangle[i, i] != 0:
            x[i] = (b[i] - dot(triangle[i, :i], x[:i])) / triangle[i, i]
    return x


def _solve_transposed(triangle: Matrix, b: Vector) -> Vector:
    """Solve the system of the transposed matrix."""
    return _solve(triangle[::-1, ::-1].T, b[::-1])[::-1]
