r"""Learning in the span of the rows, for a dense matrix with far more columns than rows.

The solution of a regularised risk is a combination of the rows, ``w = Z' g`` (Z: the rows, centred in every query,
which changes no difference that counts). With ``Z' = Q F'``, Q having orthonormal columns, as many as the rank of Z,

    Z w = F v,    ||w|| = ||v||    for    w = Q v,

so F, which is at most m x m, has the same solutions, objectives and certificates as the m x n matrix Z. Q is never
formed: ``F' g = v`` gives g, and ``w = Z' g``.

``Z' = Q R`` is found from blocks of columns of Z, each by a QR decomposition of the R so far on top of a block. A
second decomposition, with pivots, finds the rank. Unlike a decomposition of ``Z Z'``, these lose no digits: every row
of Z is reproduced up to rounding relative to its own norm. O(n m^2) once; an iteration of a solver then costs O(m^2)
instead of O(n m).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank.solvers._oracle import finite, quiet

Vector = NDArray[np.float64]

# Where the decomposition costs less than the iterations that it spares: measured at 100 to 1,000 rows.
_MOST_ROWS, _COLUMNS_PER_ROW = 300, 10
_BLOCK_ELEMENTS = 1 << 20  # of a block of columns: it takes a fraction of a second to decompose


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
                stacked = np.concatenate([R.T, block], axis=1).T  # in the memory order of LAPACK
                R = scipy.linalg.qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0][:m]
        norms = np.linalg.norm(finite(R), axis=0)  # of the rows of Z
        self._norms = np.where(norms > 0, norms, 1.0)
        triangle, self._pivots = scipy.linalg.qr(R / self._norms, mode="r", pivoting=True, check_finite=False)
        # What is left of a row by those before it is nothing but rounding, compared with the row itself. A space
        # without a dimension would be a special case.
        rank = max(int(np.count_nonzero(np.abs(np.diagonal(triangle)) > m * np.finfo(np.float64).eps)), 1)
        self._triangle = triangle[:rank]
        self.features = np.empty((m, rank))
        self.features[self._pivots] = self._triangle.T
        self.features *= self._norms[:, None]

    @classmethod
    def if_wide(cls, X: Any, queries: NDArray[np.int32] | None = None) -> RowSpace | None:
        """Return the space of the rows where working in it is faster."""
        m, n = X.shape
        return cls(X, queries) if not sp.issparse(X) and m <= _MOST_ROWS and n >= _COLUMNS_PER_ROW * m else None

    def lift(self, v: Vector) -> Vector:
        """Return the weights of the columns of X that belong to coordinates `v`."""
        rank = len(v)
        independent = self._pivots[:rank]
        g = np.zeros(len(self._X))  # a combination of independent rows will do
        if self._triangle[-1, rank - 1] != 0:
            g[independent] = scipy.linalg.solve_triangular(self._triangle[:, :rank], v) / self._norms[independent]
        w = np.empty(self._X.shape[1])
        for columns, block in self._blocks():
            w[columns] = g @ block
        return w

    def project(self, w: Vector) -> Vector:
        """Return the coordinates of the part of `w` that lies in the space."""
        independent = self._pivots[: self.features.shape[1]]
        scores = np.zeros(len(independent))
        for columns, block in self._blocks():
            scores += block[independent] @ w[columns]
        if not self.features.any():
            return scores
        triangle = self._triangle[:, : len(independent)]
        return np.asarray(scipy.linalg.solve_triangular(triangle, scores / self._norms[independent], trans=1))

    def _blocks(self) -> Iterator[tuple[slice, Vector]]:
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
