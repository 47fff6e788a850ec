r"""Least squares over pairs, in closed form.

    minimise  (y - f)' L (y - f) + alpha ||f||^2,     L = P' diag(root^2) P

over linear functions f of rows, or functions of the space of a kernel. With ``Z = root * P X`` and ``u = root * P y``
this is ridge regression (``_ridge.py``); the kernel matrix K gives ``M = root * P K P' * root``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank.pairs import DenseLaplacian, PairLaplacian, scale_both
from kernelrank.solvers._hold_out import OneRanking
from kernelrank.solvers._hold_out_queries import WholeQueries
from kernelrank.solvers._ridge import Spectrum, decompose_features, decompose_kernel, solve_features, solve_kernel

Array = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
_MANY = 1e3


class LeastSquares:
    """One problem, for any alpha.

    Parameters
    ----------
    laplacian : PairLaplacian or DenseLaplacian
    root : ndarray of shape (k,)
        Square roots of the weights of its contrasts, such that the loss is an average.
    y : ndarray of shape (m, p)
        Targets.
    queries : ndarray of shape (m,)
        Query of each row, 0, 1, ...
    rows : ndarray of shape (m, n), optional
        Features, less their means: an offset common to all rows would cost digits.
    offset : ndarray of shape (n,), optional
        These means.
    matrix : ndarray of shape (m, m), optional
        Kernel matrix, instead.
    """

    def __init__(
        self,
        laplacian: PairLaplacian | DenseLaplacian,
        root: Array,
        y: Array,
        queries: NDArray[np.int32],
        *,
        rows: Array | None = None,
        offset: Array | None = None,
        matrix: Array | None = None,
    ) -> None:
        self._laplacian, self._root, self._y, self._queries = laplacian, root, y, queries
        self._u = root[:, None] * laplacian.project(y - y.mean(axis=0))
        self._rows, self._offset, self._matrix = rows, offset, matrix
        # With fewer features than contrasts, features are what is decomposed.
        self._primal = rows is not None and rows.shape[1] <= len(root)

    def solve(self, alpha: float) -> Array:
        """Find weights of the features, (n, p), or of the rows' kernels, (m, p).

        Takes a Cholesky factor, unless a decomposition is at hand.
        """
        if "spectrum" in self.__dict__:
            return self._weights(self.spectrum.dual(alpha, self._u))
        if self._primal:
            return solve_features(self._features, self._u, alpha)
        M, noise = self._contrasts_kernel()
        if alpha <= _MANY * noise:  # or rounding would be taken for eigenvalues
            return self._weights(self.spectrum.dual(alpha, self._u))
        return self._weights(solve_kernel(M, self._u, alpha))

    def fitted(self, solution: Array) -> Array:
        """Predict the training rows."""
        if self._rows is not None:
            return self._rows @ solution + (0.0 if self._offset is None else self._offset @ solution)
        assert self._matrix is not None
        return self._matrix @ solution

    def path(self, alphas: Array) -> Array:
        """Find the weights for many alphas, from one decomposition; shape (n_alphas, n or m, p)."""
        return np.stack([self._weights(self.spectrum.dual(float(alpha), self._u)) for alpha in alphas])

    @cached_property
    def spectrum(self) -> Spectrum:
        """The decomposition that all shortcuts share; it is made when first asked for, and kept."""
        return decompose_features(self._features) if self._primal else decompose_kernel(*self._contrasts_kernel())

    @cached_property
    def one_ranking(self) -> OneRanking:
        """Hold-outs of rows that are all compared with each other, and weigh the same."""
        vectors = self._laplacian.lift(self.spectrum.vectors)
        return OneRanking(Spectrum(self.spectrum.values, vectors), self.spectrum.complete, self._y)

    @cached_property
    def whole_queries(self) -> WholeQueries:
        """Hold-outs of queries, whose rows weigh the same and are all compared."""
        assert isinstance(self._laplacian, PairLaplacian)
        sizes = np.bincount(self._queries)
        means = sp.csr_array((1.0 / sizes[self._queries], (self._queries, np.arange(len(self._queries)))))
        if self._rows is not None:
            offset = 0.0 if self._offset is None else self._offset
            levels = (means @ self._rows + offset) @ self._features.T
        else:
            assert self._matrix is not None
            levels = (self._root[:, None] * self._laplacian.project((means @ self._matrix).T)).T
        return WholeQueries(self.spectrum, self._u, self._laplacian.queries, levels @ self.spectrum.vectors)

    def centred_predictions(self, contrasts: Array) -> Array:
        """Turn fitted contrasts, times `root`, into predictions whose mean over each query is zero."""
        return self._laplacian.lift(contrasts / self._root[:, None])

    @cached_property
    def _features(self) -> Array:
        assert self._rows is not None
        return self._root[:, None] * self._laplacian.project(self._rows)

    def _contrasts_kernel(self) -> tuple[Array, float]:
        """Return M, and up to where its eigenvalues may be rounding: of M, and of the matrix it is made from."""
        if self._rows is not None:
            M = self._features @ self._features.T
            largest = float(np.trace(M))
        else:
            assert self._matrix is not None
            M = self._laplacian.project_both(self._matrix.copy())
            scale_both(M, self._root)
            largest = float(np.max(self._root) ** 2 * np.trace(self._matrix))
        return M, _EPS * largest

    def _weights(self, dual: Array) -> Array:
        if self._rows is not None:
            return self._features.T @ dual
        return self._laplacian.lift(self._root[:, None] * dual)
