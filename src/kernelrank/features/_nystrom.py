"""Features spanned by basis rows in the space of a kernel, and the directions lost with held-out basis rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from array_api_compat import array_namespace, device
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from kernelrank._arrays import Array, invert_triangular, like, matmul, pivoted_cholesky, to_host
from kernelrank._dense import multiply
from kernelrank._interrupt import interruptible
from kernelrank.kernels import Kernel
from kernelrank.kernels._matrices import check_kernel_matrix, raise_not_semidefinite, unit_diagonal

Rows = NDArray[np.intp]
Matrix = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
_MARGIN = 100  # times machine precision: the least residual norm of an independent row


def draw_order(m: int, n_basis: Any, random_state: Any) -> Rows:
    """Return m rows in the order in which they become basis rows.

    Parameters
    ----------
    m : int
        Number of rows.
    n_basis : int
        Number of basis rows; the order does not depend on it.
    random_state : int, RandomState instance or None
        Random number generator of the draw.

    Returns
    -------
    ndarray of shape (m,)
        A permutation of the rows.
    """
    # A generator of its own: shuffled folds of the same seed are the first m / k rows of its first permutation, and one
    # of them would hold out all basis rows.
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    order: Rows = check_random_state(int(seed)).permutation(m)
    return order


def whitening(kernel: Kernel, basis: Any, columns: Any = None) -> tuple[Rows, Array]:
    """Find independent rows and T with ``T' K T = I`` for their kernel matrix K.

    ``k(x, basis) T`` are features whose inner products are those of the projections onto the span of the basis. A
    linear model w of these features is the function with the coefficients T w, and ``||w||`` is its norm. The kernel
    matrix of the kept rows is regular: removing one basis row removes one direction.

    A row is dependent if its residual is rounding error relative to its own norm, whatever the norms of other rows:
    with N the diagonal matrix of norms, ``K = N C N`` and ``C = R' R``, T is ``N^-1 R^-1``.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite raise an error below
        K = kernel(basis, columns)
    matrix = np.asarray(to_host(K))
    check_kernel_matrix(matrix)
    scaled, norms = unit_diagonal(matrix)
    kept, inverse = _independent(scaled)
    if len(kept) == 0:  # for a kernel that is zero, one row without a feature is kept
        return np.zeros(1, np.intp), like(np.zeros((1, 0)), K)
    return kept, like(inverse / norms[kept, None], K)


def whitening_of_rows(basis: Array) -> tuple[Rows, Array, Array]:
    """Find independent rows B and T with ``T' B B' T = I``, for the linear kernel.

    Parameters
    ----------
    basis : ndarray of shape (n_rows, n_features)
        Candidates.

    Returns
    -------
    ndarray of shape (n_basis,)
        Indices of the independent rows.
    ndarray of shape (n_features, n_basis)
        Orthonormal matrix ``B' T``.
    ndarray of shape (n_basis, n_basis)
        The matrix T.
    """
    rows = np.asarray(to_host(basis))
    norms = np.sqrt(np.vecdot(rows, rows))
    norms[norms == 0] = 1.0
    (m, n), scaled = rows.shape, (rows / norms[:, None]).T

    def factorise() -> tuple[Matrix, Matrix, Rows]:
        Q, R, order = scipy.linalg.qr(scaled, mode="economic", pivoting=True, check_finite=False)
        rank = int(np.count_nonzero(np.abs(np.diagonal(R)) > _MARGIN * max(m, n) * _EPS))
        return Q[:, :rank], R[:rank, :rank], order[:rank]

    Q, R, order = interruptible(factorise, 4.0 * m * n * min(m, n))
    if len(order) == 0:
        return np.zeros(1, np.intp), like(np.zeros((n, 0)), basis), like(np.zeros((1, 0)), basis)
    by_row = np.argsort(order)
    kept = order[by_row]
    return kept, like(np.ascontiguousarray(Q), basis), like(invert_triangular(R)[by_row] / norms[kept, None], basis)


def map_rows(kernel: Kernel, X: Any, basis: Any, T: Array) -> Array:
    """Compute ``k(X, basis) T`` in blocks, without storing ``k(X, basis)``."""
    xp = array_namespace(T)
    features = xp.empty((X.shape[0], T.shape[1]), dtype=xp.float64, device=device(T))
    for rows, block in kernel.blocks(X, basis):
        features[rows, :] = multiply(block, T)
    return features


def lost_directions(T: Matrix, gone: NDArray[np.bool_]) -> Matrix:
    """Return an orthonormal basis of the directions lost with the removed basis rows; shape (n_basis, n_removed).

    The features of the basis are ``K T``, and ``(K T) T' = I``: the features of the remaining rows are orthogonal to
    the rows of T of the removed ones.

    Parameters
    ----------
    T : ndarray of shape (n_basis, n_components)
        Matrix that maps the kernel against the basis to the features.
    gone : ndarray of bool of shape (n_basis,)
        Mask of the removed basis rows.

    Returns
    -------
    ndarray of shape (n_components, n_removed)
        Orthonormal columns.
    """
    found: Matrix = np.linalg.qr(T[gone].T)[0]
    return found


def lost_alone(T: Matrix) -> Matrix:
    """Return the direction lost with each single basis row.

    Parameters
    ----------
    T : ndarray of shape (n_basis, n_components)
        Matrix that maps the kernel against the basis to the features.

    Returns
    -------
    ndarray of shape (n_components, n_basis)
        Unit vectors, one column per basis row.
    """
    return np.asarray(T.T / np.linalg.norm(T, axis=1)) if T.shape[1] else T.T


def _independent(scaled: Matrix) -> tuple[Rows, Matrix]:
    """Find a maximal set of independent rows, and ``R^-1`` of their matrix; the diagonal is 1."""
    tolerance = _MARGIN * len(scaled) * _EPS
    order, R = pivoted_cholesky(scaled, tolerance)
    rank = len(R)
    others, explained = order[rank:], R[:, rank:]
    rest = scaled[np.ix_(others, others)] - matmul(explained.T, explained)
    if np.max(np.abs(rest), initial=0.0) > 10.0 * tolerance:
        raise_not_semidefinite()
    by_row = np.argsort(order[:rank])
    return order[:rank][by_row], invert_triangular(R[:, :rank])[by_row]
