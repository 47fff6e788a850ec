"""The span of a few rows in the space of a kernel, as features; and what is lost of it with some of these rows."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.linalg
from array_api_compat import array_namespace, device
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf
from sklearn.utils import check_random_state, check_scalar

from kernelrank._arrays import Array, eigh, like, svd, take, take_both, to_host
from kernelrank.kernels import Kernel

Rows = NDArray[np.intp]
Matrix = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
_MARGIN = 100  # times rounding: what a row must have of its own
_ASYMMETRY = 1e-8  # relative to the largest element of a kernel matrix


def draw_order(m: int, n_basis: Any, random_state: Any) -> Rows:
    """Return m rows in the order in which they become basis rows."""
    check_scalar(n_basis, "n_basis", Integral, min_val=1)
    order: Rows = check_random_state(random_state).permutation(m)
    return order


def whitening(kernel: Kernel, basis: Any, columns: Any = None) -> tuple[Rows, Array]:
    """Find rows that all others depend on, up to rounding, and T with ``T' K T = I`` for their kernel matrix K.

    ``k(x, basis) T`` are then features whose inner products are those of the projections onto the span of the basis:
    a linear model w of them is the function with the coefficients T w, and ``||w||`` is its norm. The matrix of
    the rows that are kept is regular: a row that is taken out of the basis takes one direction with it.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what is no number is refused below
        K = kernel(basis, columns)
    matrix = np.asarray(to_host(K))
    largest = _check_kernel_matrix(matrix)
    tolerance = _MARGIN * len(matrix) * _EPS * largest
    while True:
        kept = _independent(matrix, tolerance)
        if len(kept) == 0:  # of a kernel that is zero, one row stays, without a feature
            return np.zeros(1, np.intp), like(np.zeros((1, 0)), K)
        values, vectors = eigh(K if len(kept) == len(matrix) else take_both(K, kept, kept))
        if float(values[0]) > len(kept) * _EPS * float(values[-1]):
            return kept, vectors / array_namespace(K).sqrt(values)
        tolerance *= 10.0


def whitening_of_rows(basis: Array) -> tuple[Rows, Array, Array]:
    """Find the same for the linear kernel, from the basis rows B themselves; with ``B' T`` between, orthonormal."""
    rows = np.asarray(to_host(basis))
    factor, order = scipy.linalg.qr(rows.T, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diagonal(factor))
    kept = np.sort(order[: np.count_nonzero(sizes > _MARGIN * max(rows.shape) * _EPS * np.max(sizes, initial=0.0))])
    if len(kept) == 0:
        return np.zeros(1, np.intp), like(np.zeros((rows.shape[1], 0)), basis), like(np.zeros((1, 0)), basis)
    singular, vectors, right = svd(take(basis, kept))
    ascending = np.arange(len(kept))[::-1].copy()  # as above
    return kept, take(right, ascending, axis=1), take(vectors, ascending, axis=1) / take(singular, ascending)


def map_rows(kernel: Kernel, X: Any, basis: Any, T: Array) -> Array:
    """Compute ``k(X, basis) T``, without all of ``k(X, basis)`` in memory."""
    xp = array_namespace(T)
    features = xp.empty((X.shape[0], T.shape[1]), dtype=xp.float64, device=device(T))
    for rows, block in kernel.blocks(X, basis):
        features[rows, :] = block @ T
    return features


def lost_directions(T: Matrix, gone: NDArray[np.bool_]) -> Matrix:
    """Find an orthonormal basis of what only the basis rows that are gone can tell; shape (n_basis, n_gone).

    With ``K = V diag(lambda) V'`` and ``T = V / sqrt(lambda)``, the features of the basis are ``V sqrt(lambda)``; those
    of the rows that stay are orthogonal to the rows of T that are gone.
    """
    found: Matrix = np.linalg.qr(T[gone].T)[0]
    return found


def lost_alone(T: Matrix) -> Matrix:
    """Find the direction that is lost with each basis row alone; shape (n_basis, n_basis)."""
    return np.asarray(T.T / np.linalg.norm(T, axis=1)) if T.shape[1] else T.T


def _check_kernel_matrix(matrix: Matrix) -> float:
    """Return the largest element of the diagonal of a matrix that may be one of a kernel."""
    if not np.isfinite(matrix).all():
        raise ValueError("The kernel of some rows is no finite number: scale the features, or change the kernel.")
    largest = float(np.max(np.diagonal(matrix)))
    if np.max(np.abs(matrix - matrix.T)) > _ASYMMETRY * max(largest, 0.0):
        raise ValueError("A kernel matrix must be symmetric.")
    return largest


def _independent(matrix: Matrix, tolerance: float) -> Rows:
    """Find rows that leave no other row more than `tolerance` of its own, by Cholesky's method with pivots."""
    factor, pivots, rank, _ = dpstrf(matrix, tol=tolerance)
    order = np.asarray(pivots, dtype=np.intp) - 1
    kept, others = order[:rank], order[rank:]
    explained = np.triu(factor)[:rank, rank:]
    rest = matrix[np.ix_(others, others)] - explained.T @ explained
    if np.max(np.abs(rest), initial=0.0) > 10.0 * max(tolerance, 0.0):
        raise ValueError("A kernel matrix must be positive semidefinite, but it has negative eigenvalues.")
    return np.sort(kept)
