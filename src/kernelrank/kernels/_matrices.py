"""Checks of kernel matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import cholesky, slices

Matrix = NDArray[np.float64]

_BLOCK_ELEMENTS = 1 << 20  # elements per block, to limit memory
_ASYMMETRY = 1e-8  # relative to the largest element
_NEGATIVE = 1e3 * float(np.finfo(np.float64).eps)  # times the number of rows: eigenvalues below may be rounding errors


def check_kernel_matrix(K: Matrix) -> None:
    """Raise an error unless a matrix is finite and symmetric with a non-negative diagonal."""
    asymmetry = 0.0
    for rows in slices(len(K), _BLOCK_ELEMENTS // len(K)):
        block = K[rows, rows.start :]
        if not np.isfinite(block).all():
            raise ValueError("The kernel of some rows is not finite; scale the features, or use another kernel.")
        asymmetry = max(asymmetry, float(np.max(np.abs(block - K[rows.start :, rows].T))))
    diagonal = np.diagonal(K)
    if not asymmetry <= _ASYMMETRY * max(float(np.max(diagonal)), 0.0):
        raise ValueError("A kernel matrix must be symmetric.")
    if np.min(diagonal) < 0:
        raise_not_semidefinite()


def check_semidefinite(K: Matrix) -> None:
    """Raise an error if a matrix that passed the other checks has eigenvalues below rounding error, in O(m^3 / 3)."""
    scaled, _ = unit_diagonal(K)
    scaled.flat[:: len(K) + 1] += _NEGATIVE * len(K)
    try:
        cholesky(scaled)
    except np.linalg.LinAlgError:
        raise_not_semidefinite()


def unit_diagonal(K: Matrix) -> tuple[Matrix, NDArray[np.float64]]:
    """Scale rows and columns to a unit diagonal; return the scaled copy and the norms of the rows.

    A row of norm 0 is not scaled, and its norm is returned as 1.
    """
    norms = np.sqrt(np.diagonal(K))
    norms[norms == 0] = 1.0
    scaled = K / norms[:, None]
    scaled /= norms
    return scaled, norms


def raise_not_semidefinite() -> None:
    """Raise the error for a matrix with negative eigenvalues."""
    raise ValueError("A kernel matrix must be positive semidefinite, but it has negative eigenvalues.")
