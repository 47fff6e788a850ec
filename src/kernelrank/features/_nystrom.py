"""The span of a few rows in the space of a kernel, as features; and what is lost of it with some of these rows."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray
from sklearn.utils import check_random_state, check_scalar

from kernelrank._arrays import Array, eigh, svd, take
from kernelrank.kernels import Kernel

Rows = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)


def draw_order(m: int, n_basis: Any, random_state: Any) -> Rows:
    """Return m rows in the order in which they become basis rows."""
    check_scalar(n_basis, "n_basis", Integral, min_val=1)
    order: Rows = check_random_state(random_state).permutation(m)
    return order


def whitening(K: Array) -> Array:
    """Find T with ``T' K T = I`` for the kernel matrix K of basis rows; shape (n_basis, rank).

    ``k(x, basis) T`` are then features whose inner products are those of the projections onto the span of the basis:
    a linear model w of them is the function with the coefficients T w, and ``||w||`` is its norm. Directions that are
    zero but for rounding are left out.
    """
    values, vectors = eigh(K)
    xp, n = array_namespace(K), K.shape[0]
    # They ascend: those that are kept are the last ones, and the largest the very last.
    first = n - int(xp.count_nonzero(values > n * _EPS * float(values[-1])))
    return vectors[:, first:] / xp.sqrt(values[first:])


def whitening_of_rows(basis: Array) -> tuple[Array, Array]:
    """Find the same for the linear kernel, from the basis rows B themselves: ``B' T``, orthonormal, and T."""
    singular, vectors, right = svd(basis)
    xp, rounding = array_namespace(basis), max(basis.shape) * _EPS * float(singular[0])
    rank = int(xp.count_nonzero(singular > rounding))
    order = np.arange(rank)[::-1].copy()  # ascending, as above
    return take(right, order, axis=1), take(vectors, order, axis=1) / take(singular, order)


def map_rows(kernel: Kernel, X: Any, basis: Any, T: Array) -> Array:
    """Compute ``k(X, basis) T``, without all of ``k(X, basis)`` in memory."""
    xp = array_namespace(T)
    features = xp.empty((X.shape[0], T.shape[1]), dtype=xp.float64, device=device(T))
    for rows, block in kernel.blocks(X, basis):
        features[rows, :] = block @ T
    return features


class BasisSpan:
    """What basis rows span, and what is lost of it with some of them.

    With ``K_RR = V diag(lambda) V'``, the features of the basis are ``V sqrt(lambda)``. Those of the rest do not reach
    v if ``V_H' V_H x = x`` for ``x = sqrt(lambda) v``: x is a singular vector of V_H, of value 1. What the rest reaches
    but for rounding, :func:`whitening` would leave out as well.

    Parameters
    ----------
    T : ndarray of shape (n_basis, rank)
        ``V / sqrt(lambda)``.
    """

    def __init__(self, T: NDArray[np.float64]) -> None:
        self._T = T
        self._root = 1.0 / np.linalg.norm(T, axis=0)  # of lambda
        self._vectors = T * self._root

    def lost(self, gone: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Find an orthonormal basis of what only the rows that are gone can tell; shape (rank, n_lost)."""
        _, singular, right = np.linalg.svd(self._vectors[gone], full_matrices=False)
        directions = right.T / self._root[:, None]
        lost = self._is_lost(singular**2, np.sum(directions**2, axis=0))
        found: NDArray[np.float64] = np.linalg.qr(directions[:, lost])[0]
        return found

    def lost_alone(self) -> NDArray[np.float64]:
        """Find the direction that is lost with each row alone; zeros if there is none; shape (rank, n_basis)."""
        squares, sizes = np.sum(self._vectors**2, axis=1), np.sum(self._T**2, axis=1)
        lost = self._is_lost(squares, sizes / np.where(squares > 0.0, squares, 1.0))
        return np.asarray(self._T.T * np.where(lost, 1.0 / np.sqrt(np.where(lost, sizes, 1.0)), 0.0))

    def lost_together(self) -> NDArray[np.bool_]:
        """Find pairs of rows with which more is lost than with each of them; shape (n_basis, n_basis).

        Such are rows that depend on each other, as equal ones, and on no third row.
        """
        n, rank = self._T.shape
        found = np.zeros((n, n), dtype=bool)
        if rank == n:
            return found
        inner, sizes = self._vectors @ self._vectors.T, self._T @ self._T.T
        alone = np.asarray(self.lost_alone().any(axis=0), dtype=np.intp)
        for i in range(n - 1):
            j = np.arange(i + 1, n)
            values, vectors = np.linalg.eigh(_two_by_two(inner, i, j))
            squares = np.einsum("kac,kab,kbc->kc", vectors, _two_by_two(sizes, i, j), vectors)
            lost = self._is_lost(values, squares / np.where(values > 0.0, values, 1.0))
            found[i, j] = found[j, i] = np.count_nonzero(lost, axis=1) != alone[i] + alone[j]
        return found

    def _is_lost(self, squares: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Compare squared singular values with 1, up to rounding; `sizes` are ``||v||^2`` of x of length 1."""
        rounding = len(self._T) * _EPS * np.maximum(64.0, np.max(self._root, initial=0.0) ** 2 * sizes)
        return np.asarray(1.0 - squares <= rounding)


def _two_by_two(matrix: NDArray[np.float64], i: int, j: Rows) -> NDArray[np.float64]:
    """Return the matrices of rows and columns i and each of j; shape (len(j), 2, 2)."""
    found = np.empty((len(j), 2, 2))
    found[:, 0, 0], found[:, 1, 1] = matrix[i, i], matrix[j, j]
    found[:, 0, 1] = found[:, 1, 0] = matrix[i, j]
    return found
