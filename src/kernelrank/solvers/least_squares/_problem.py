r"""Least squares over pairs, in closed form.

    minimise  (t - P f)' diag(root^2) (t - P f) + alpha ||f||^2

over linear functions f of rows, or functions of the space of a kernel; P takes rows to contrasts between them
(``kernelrank.pairs``), and t are the targets of these. With ``Z = root * P X`` and ``u = root * t`` this is ridge
regression (``_spectrum.py``); the kernel matrix K gives ``M = root * P K P' * root``.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cached_property

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from kernelrank._arrays import Array, GroupSums, is_foreign, like, matmul, take, to_host
from kernelrank._memory import require_memory
from kernelrank.losses import PairwiseSquares
from kernelrank.pairs import scale_both
from kernelrank.solvers.least_squares._basis import Basis, HeldOutBasis
from kernelrank.solvers.least_squares._pairs import HeldOutPairs
from kernelrank.solvers.least_squares._residual import Residual
from kernelrank.solvers.least_squares._spectrum import (
    MANY,
    Spectrum,
    decompose_features,
    decompose_kernel,
    largest,
    solve_features,
    solve_kernel,
    trace,
)

_EPS = float(np.finfo(np.float64).eps)


class LeastSquares:
    """One problem, for any alpha.

    It is solved in the namespace and on the device of the features, or of the kernel matrix.

    Parameters
    ----------
    loss : PairwiseSquares
        With a kernel matrix, its contrasts must be orthonormal.
    y : ndarray of shape (m, p)
        Targets of the rows.
    queries : ndarray of shape (m,)
        Query of each row, 0, 1, ...
    rows : array of shape (m, n), optional
        Features, less their means: an offset common to all rows would cost digits.
    offset : array of shape (n,), optional
        These means.
    basis : Basis, optional
        Rows that the features are computed from.
    matrix : callable, optional
        Computes the kernel matrix, of shape (m, m), instead.
    """

    def __init__(
        self,
        loss: PairwiseSquares,
        y: NDArray[np.float64],
        queries: NDArray[np.int32],
        *,
        rows: Array | None = None,
        offset: Array | None = None,
        basis: Basis | None = None,
        matrix: Callable[[], Array] | None = None,
    ) -> None:
        self.loss, self.queries = loss, queries
        self._rows, self._offset, self._basis, self._make_matrix = rows, offset, basis, matrix
        self.y, self._column = self._like(y), self._like(loss.root)[:, None]
        self.u = self._column * self._like(loss.targets)
        # With fewer features than contrasts, features are what is decomposed.
        self._primal = rows is not None and rows.shape[1] <= len(loss.root)

    def solve(self, alpha: float) -> Array:
        """Return weights of the features, of shape (n, p), or of the kernels of the rows, of shape (m, p).

        Computes a Cholesky factor, unless a decomposition is known.
        """
        if "spectrum" in self.__dict__:
            return self._solve_again(alpha)
        if self._primal:
            size = float(array_namespace(self._features).sum(self._features**2))
            if alpha <= MANY * _EPS * size:  # squares would lose what is small
                return self._solve_again(alpha)
            return solve_features(self._features, self.u, alpha)
        M, noise = self.kernel_of_contrasts(self.loss.root)
        if alpha <= MANY * noise:  # rounding errors would be taken for eigenvalues
            return self._solve_again(alpha)
        return self._weights(solve_kernel(M, self.u, alpha))

    def with_targets(self, loss: PairwiseSquares, y: NDArray[np.float64]) -> LeastSquares:
        """Return the problem with other targets; the loss has the same contrasts. Matrices are shared."""
        other = copy(self)
        other.loss, other.y = loss, self._like(y)
        other.u = self._column * self._like(loss.targets)
        return other

    @cached_property
    def _matrix(self) -> Array | None:
        return None if self._make_matrix is None else self._make_matrix()

    def forget_matrices(self) -> None:
        """Release what can be computed again, unless a decomposition was needed: others are likely to follow."""
        if "spectrum" not in self.__dict__:
            for name in ("_matrix", "_features"):
                self.__dict__.pop(name, None)

    def fitted(self, solution: Array) -> Array:
        """Predict the training rows."""
        if self._rows is not None:
            return self._rows @ solution + (0.0 if self._offset is None else self._offset @ solution)
        assert self._matrix is not None
        return self._matrix @ solution

    def path(self, alphas: NDArray[np.float64]) -> list[Array]:
        """Return the weights for many alphas, from one decomposition."""
        return [self._solve_again(float(alpha)) for alpha in alphas]

    def influence(self, alpha: float, direction: Array) -> Array:
        """Return the derivatives of ``direction' solve(alpha)`` with respect to the targets of the contrasts.

        Parameters
        ----------
        alpha : float
        direction : array of shape (n,), or (m,) with a kernel matrix
            Of features, or of kernels with the rows.

        Returns
        -------
        array of shape (k,)
        """
        spectrum, column = self.spectrum, self._column[:, 0]
        if spectrum.right is not None:
            factors = array_namespace(spectrum.values).sqrt(spectrum.values) * (spectrum.right.T @ direction)
        elif self._rows is not None:
            factors = spectrum.vectors.T @ (self._features @ direction)
        else:
            factors = spectrum.vectors.T @ (column * self.loss.laplacian.project(direction[:, None])[:, 0])
        # Where an eigenvalue is zero, so is the factor, up to rounding errors that alpha would magnify.
        factors = array_namespace(factors).where(spectrum.values > 0.0, factors, 0.0)
        return column * (spectrum.vectors @ (factors / (spectrum.values + alpha)))

    def _solve_again(self, alpha: float) -> Array:
        if self.spectrum.right is not None:
            return self.spectrum.weights(alpha, self.u)
        return self._weights(self.spectrum.dual(alpha, self.u))

    @cached_property
    def spectrum(self) -> Spectrum:
        """The decomposition that all shortcuts share; computed when first needed, and kept."""
        return (
            decompose_features(self._features)
            if self._primal or self._basis is not None
            else decompose_kernel(*self.kernel_of_contrasts(self.loss.root))
        )

    @property
    def orthonormal(self) -> LeastSquares:
        """The same problem with orthonormal contrasts, which held-out predictions need."""
        # Not kept if it is this one, which would then wait for the garbage collector.
        return self if self.loss.laplacian.orthonormal else self._diagonalised

    @cached_property
    def _diagonalised(self) -> LeastSquares:
        """O(sum of m_q^3) over the queries."""
        m = len(self.queries)
        if not is_foreign(self.y):
            require_matrices(m, m, "The graph of the pairs as a dense matrix")
        loss = self.loss.diagonalised(self.queries)
        return LeastSquares(
            loss, to_host(self.y), self.queries, rows=self._rows, offset=self._offset, basis=self._basis
        )

    def held_out_pairs(self) -> HeldOutPairs:
        """Return hold-outs of one ranking, whose residual operator has one row per row of the data."""
        spectrum = replace(self.spectrum, vectors=self.loss.laplacian.lift(self.spectrum.vectors))
        W = Residual(spectrum, self.spectrum.complete, self.y, mean=True)
        return HeldOutPairs(W, self.held_out_basis, n_jobs=-1)  # as many threads as BLAS takes for the products

    @cached_property
    def held_out_basis(self) -> HeldOutBasis | None:
        """Basis rows that may be held out."""
        return None if self._basis is None else HeldOutBasis(self._basis, self.spectrum, self.y.shape[0])

    def whole_rows(self) -> Array:
        """Return the features before their means were subtracted."""
        return self._rows if self._offset is None else self._rows + self._offset

    def images(self) -> Array:
        """Return the kernel of each row and the contrasts, times the eigenvectors; shape (m, r)."""
        images = self._images_of_all()
        images *= self._like(np.asarray(to_host(self.spectrum.values) > 0.0, dtype=np.float64))
        return images

    def _images_of_all(self) -> Array:
        vectors = self.spectrum.vectors
        if self._rows is not None:
            return matmul(self.whole_rows(), matmul(self._features.T, vectors))
        assert self._matrix is not None
        if not self.loss.contrasts.tells_differences:
            return matmul((self._column * self.loss.laplacian.project(self._matrix)).T, vectors)
        # Contrasts are known by their eigenvectors; the mean row of each query is missing.
        means = GroupSums(self.queries, 1.0 / np.bincount(self.queries)[self.queries])
        levels = (self._column * self.loss.laplacian.project(means(self._matrix).T)).T @ vectors
        images = vectors * self.spectrum.values
        images /= self._column
        images = self.loss.laplacian.lift(images)
        images += take(levels, self.queries)
        return images

    def errors_of_images(self) -> Array:
        """Return sizes of the rounding errors of each row of the images."""
        if self._rows is not None:
            rows = self.whole_rows()
            norms = array_namespace(rows).linalg.vector_norm(rows, axis=1)
            return _EPS * largest(self.spectrum.values) ** 0.5 * norms
        # Errors of the matrix of the contrasts, in units of the rows: without their weights, the least of a query.
        root = np.full(int(self.queries.max()) + 1, np.inf)
        np.minimum.at(root, self.loss.contrasts.queries, self.loss.root)
        root[np.isinf(root)] = np.max(self.loss.root)
        error = max(self.spectrum.error, _EPS * largest(self.spectrum.values))
        return self._like(error / root[self.queries])

    def contrasts_of_features(self) -> Array:
        """Return the contrasts of the features, without weights."""
        return self.loss.laplacian.project(self._rows)

    def moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return Z'Z and Z'u, averages over pairs; for features only."""
        return to_host(matmul(self._features.T, self._features)), to_host(self._features.T @ self.u)

    def mean_row(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of the rows; for features only."""
        assert self._rows is not None
        mean = self._like(weights / weights.sum()) @ self._rows
        return np.asarray(to_host(mean if self._offset is None else mean + self._offset))

    @cached_property
    def _features(self) -> Array:
        assert self._rows is not None
        return self._column * self.loss.laplacian.project(self._rows)

    def kernel_of_contrasts(self, root: NDArray[np.float64]) -> tuple[Array, float]:
        """Return M, and the size of eigenvalues that may be rounding errors of M or of the kernel matrix."""
        if self._rows is not None:
            Z = self._like(root)[:, None] * self.loss.laplacian.project(self._rows)
            M = matmul(Z, Z.T)
            size = trace(M)
        else:
            assert self._matrix is not None
            M = self.loss.contrasts.project_both(self._matrix)
            scale_both(M, root)
            size = float(np.max(root)) ** 2 * trace(self._matrix)
        return M, _EPS * size

    def _weights(self, dual: Array) -> Array:
        if self._rows is not None:
            return self._features.T @ dual
        return self.loss.laplacian.lift(self._column * dual)

    def _like(self, values: NDArray[np.float64]) -> Array:
        return like(values, self._matrix if self._rows is None else self._rows)


def bytes_of_matrices(m: int, n: int) -> int:
    """Return the memory of a matrix, its contrasts and its decomposition."""
    return 8 * (4 * m * n)


def require_matrices(m: int, n: int, what: str) -> None:
    """Fail early when a matrix, its contrasts and its decomposition will not fit into memory."""
    require_memory(
        bytes_of_matrices(m, n),
        f"{what} of shape {(m, n)}, with what is computed from it,",
        'Train on fewer rows, or with n_basis; a linear RankRLS has solver="cg", which needs no such matrix.',
    )
