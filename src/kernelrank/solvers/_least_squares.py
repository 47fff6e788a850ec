r"""Least squares over pairs, in closed form.

    minimise  (t - P f)' diag(root^2) (t - P f) + alpha ||f||^2

over linear functions f of rows, or functions of the space of a kernel; P takes rows to contrasts between them
(``kernelrank.pairs``), and t are the targets of these. With ``Z = root * P X`` and ``u = root * t`` this is ridge
regression (``_ridge.py``); the kernel matrix K gives ``M = root * P K P' * root``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from kernelrank._arrays import Array, GroupSums, is_foreign, like, matmul, take, to_host
from kernelrank.losses import PairwiseSquares
from kernelrank.pairs import GraphLaplacian, PairLaplacian, scale_both
from kernelrank.solvers._held_out_basis import Basis, HeldOutBasis
from kernelrank.solvers._hold_out import OneRanking
from kernelrank.solvers._hold_out_classes import WithoutTies
from kernelrank.solvers._hold_out_queries import HeldOutQueries
from kernelrank.solvers._ridge import (
    MANY,
    Spectrum,
    decompose_features,
    decompose_kernel,
    largest,
    solve_features,
    solve_kernel,
    trace,
)
from kernelrank.solvers._ties import Predicted

Rows = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)


class LeastSquares:
    """One problem, for any alpha.

    It is solved in the namespace and on the device of the features, or of the kernel matrix.

    Parameters
    ----------
    loss : PairwiseSquares
        Contrasts that are not orthonormal, those of given pairs, take features.
    y : ndarray of shape (m, p)
        Targets of the rows.
    queries : ndarray of shape (m,)
        Query of each row, 0, 1, ...
    rows : array of shape (m, n), optional
        Features, less their means: an offset common to all rows would cost digits.
    offset : array of shape (n,), optional
        These means.
    basis : Basis, optional
        Rows that the features are made of: where these are held out, features are lost.
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
        self._loss, self._laplacian, self._root, self._queries = loss, loss.laplacian, loss.root, queries
        self._rows, self._offset, self._basis, self._make_matrix = rows, offset, basis, matrix
        self._y, self._column = self._like(y), self._like(loss.root)[:, None]
        self._u = self._column * self._like(loss.targets)
        # With fewer features than contrasts, features are what is decomposed.
        self._primal = rows is not None and rows.shape[1] <= len(loss.root)

    def solve(self, alpha: float) -> Array:
        """Find weights of the features, (n, p), or of the rows' kernels, (m, p).

        Takes a Cholesky factor, unless a decomposition is at hand.
        """
        if "spectrum" in self.__dict__:
            return self._solve_again(alpha)
        if self._primal:
            if alpha <= MANY * _EPS * float(
                array_namespace(self._features).sum(self._features**2)
            ):  # squares would lose what is small
                return self._solve_again(alpha)
            return solve_features(self._features, self._u, alpha)
        M, noise = self._kernel_of_contrasts(self._root)
        if alpha <= MANY * noise:  # or rounding would be taken for eigenvalues
            return self._solve_again(alpha)
        return self._weights(solve_kernel(M, self._u, alpha))

    @cached_property
    def _matrix(self) -> Array | None:
        return None if self._make_matrix is None else self._make_matrix()

    def forget_matrices(self) -> None:
        """Keep nothing that can be computed again, unless a decomposition has been asked for: more will be."""
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
        """Find the weights for many alphas, from one decomposition."""
        return [self._solve_again(float(alpha)) for alpha in alphas]

    def _solve_again(self, alpha: float) -> Array:
        if self.spectrum.right is not None:
            return self.spectrum.weights(alpha, self._u)
        return self._weights(self.spectrum.dual(alpha, self._u))

    @cached_property
    def spectrum(self) -> Spectrum:
        """The decomposition that all shortcuts share; it is made when first asked for, and kept."""
        return (
            decompose_features(self._features)
            if self._primal or self._basis is not None
            else decompose_kernel(*self._kernel_of_contrasts(self._root))
        )

    @cached_property
    def orthonormal(self) -> LeastSquares:
        """The same problem with orthonormal contrasts, which hold-outs take, for given pairs: O(sum of m_q^3).

        Other problems have them: one that kept itself here would stay in memory when nobody needs it any more.
        """
        assert isinstance(self._laplacian, GraphLaplacian)
        loss = self._loss.diagonalised(self._queries)
        return LeastSquares(
            loss, to_host(self._y), self._queries, rows=self._rows, offset=self._offset, basis=self._basis
        )

    @cached_property
    def one_ranking(self) -> OneRanking:
        """Hold-outs of rows that are all compared with each other, and weigh the same."""
        whole = self.spectrum
        spectrum = replace(whole, vectors=self._laplacian.lift(whole.vectors))
        # As many threads as BLAS takes for the products.
        return OneRanking(spectrum, whole.complete, self._y, n_jobs=-1, basis=self._held_out_basis)

    @cached_property
    def without_ties(self) -> WithoutTies:
        """Hold-outs of pairs, where rows of the same utility are not compared."""
        assert isinstance(self._laplacian, PairLaplacian)
        if is_foreign(self._y):
            raise ValueError('Pairs are held out of data with ties="drop" by NumPy alone: fit to NumPy arrays.')
        if self._held_out_basis is not None:
            features = self._laplacian.project(self._rows), self._held_out_basis.basis
            return WithoutTies(self._laplacian, self._y, features=features)
        matrix = self._kernel_of_contrasts(np.ones_like(self._root))
        return WithoutTies(self._laplacian, self._y, matrix=matrix)

    @cached_property
    def held_out_queries(self) -> HeldOutQueries:
        """Hold-outs of queries, or of parts of them."""
        assert not isinstance(self._laplacian, GraphLaplacian)
        images = self._images()
        images *= like(np.asarray(to_host(self.spectrum.values) > 0.0, dtype=np.float64), images)
        return HeldOutQueries(
            self.spectrum,
            self._u,
            self._root,
            np.abs(self._loss.targets).max(axis=0) if self._loss.size is None else self._loss.size,
            self._laplacian.queries,
            self._queries,
            images,
            self._errors_of_images(),
            self._held_out_basis,
            self._whole_rows() if self._held_out_basis is not None else None,
        )

    @cached_property
    def _held_out_basis(self) -> HeldOutBasis | None:
        return None if self._basis is None else HeldOutBasis(self._basis, self.spectrum, self._y.shape[0])

    def _whole_rows(self) -> Array:
        """Features, as they were before their means were taken away."""
        return self._rows if self._offset is None else self._rows + self._offset

    def _images(self) -> Array:
        """Kernel of each row and the contrasts, times the eigenvectors."""
        vectors = self.spectrum.vectors
        if self._rows is not None:
            return matmul(self._whole_rows(), matmul(self._features.T, vectors))
        assert self._matrix is not None
        assert not isinstance(self._laplacian, GraphLaplacian)
        if not self._laplacian.tells_differences:
            return matmul((self._column * self._laplacian.project(self._matrix)).T, vectors)
        # Of contrasts the eigenvectors are known; what is missing is the mean row of each query.
        means = GroupSums(self._queries, 1.0 / np.bincount(self._queries)[self._queries])
        levels = (self._column * self._laplacian.project(means(self._matrix).T)).T @ vectors
        images = vectors * self.spectrum.values
        images /= self._column
        images = self._laplacian.lift(images)
        images += take(levels, self._queries)
        return images

    def _errors_of_images(self) -> Array:
        """Return sizes of the rounding errors of each row of the images."""
        if self._rows is not None:
            rows = self._whole_rows()
            norms = array_namespace(rows).linalg.vector_norm(rows, axis=1)
            return _EPS * largest(self.spectrum.values) ** 0.5 * norms
        # Errors of the matrix of the contrasts, in units of the rows: without their weights, the least of a query.
        assert not isinstance(self._laplacian, GraphLaplacian)
        root = np.full(int(self._queries.max()) + 1, np.inf)
        np.minimum.at(root, self._laplacian.queries, self._root)
        root[np.isinf(root)] = np.max(self._root)
        error = max(self.spectrum.error, _EPS * largest(self.spectrum.values))
        return self._like(error / root[self._queries])

    def predict_without(
        self, held_out: Rows, queries: NDArray[np.integer], alpha: float, rest: Rows, left: PairwiseSquares | None
    ) -> Predicted:
        """Predict rows that are held out, at the alpha of the refit.

        Parameters
        ----------
        held_out : ndarray
            Rows.
        queries : ndarray
            All queries that these are from.
        alpha : float
        rest : ndarray
            The other rows of these queries, in any order.
        left : PairwiseSquares or None
            What the loss of these queries is, over the rest; None if there is none.
        """
        assert not isinstance(self._laplacian, GraphLaplacian)
        holder = self.held_out_queries
        contrasts = holder.contrasts_of(queries)
        if left is None or len(left.weights) == 0:
            return holder.predict(held_out, contrasts, alpha)
        # Differences between rows, as a function of the contrasts that they make.
        units = np.zeros((len(self._root), len(contrasts)))
        units[contrasts, np.arange(len(contrasts))] = 1.0 / self._root[contrasts]
        root = np.sqrt(left.weights / self._loss.total)[:, None]
        Q = root * left.laplacian.project(self._laplacian.invert(units)[rest])
        return holder.predict(held_out, contrasts, alpha, (self._like(Q), self._like(root * left.targets)))

    def moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Z'Z and Z'u, averages over pairs; for features only."""
        return to_host(matmul(self._features.T, self._features)), to_host(self._features.T @ self._u)

    def mean_row(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean of the rows; for features only."""
        assert self._rows is not None
        mean = self._like(weights / weights.sum()) @ self._rows
        return np.asarray(to_host(mean if self._offset is None else mean + self._offset))

    @cached_property
    def _features(self) -> Array:
        assert self._rows is not None
        return self._column * self._laplacian.project(self._rows)

    def _kernel_of_contrasts(self, root: NDArray[np.float64]) -> tuple[Array, float]:
        """Return M, and up to where its eigenvalues may be rounding: of M, and of the matrix it is made from."""
        if self._rows is not None:
            Z = self._like(root)[:, None] * self._laplacian.project(self._rows)
            M = matmul(Z, Z.T)
            size = trace(M)
        else:
            assert self._matrix is not None
            assert not isinstance(self._laplacian, GraphLaplacian)
            M = self._laplacian.project_both(self._matrix)
            scale_both(M, root)
            size = float(np.max(root)) ** 2 * trace(self._matrix)
        return M, _EPS * size

    def _weights(self, dual: Array) -> Array:
        if self._rows is not None:
            return self._features.T @ dual
        return self._laplacian.lift(self._column * dual)

    def _like(self, values: NDArray[np.float64]) -> Array:
        return like(values, self._matrix if self._rows is None else self._rows)
