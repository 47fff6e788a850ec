"""Checks of kernel matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import cholesky, slices

Matrix = NDArray[np.float64]

_BLOCK_ELEMENTS = 1 << 20  # looked at together, without much memory
_ASYMMETRY = 1e-8  # relative to the largest element
_NEGATIVE = 1e3 * float(np.finfo(np.float64).eps)  # times the number of rows: eigenvalues that may be rounding


def check_kernel_matrix(K: Matrix) -> None:
    """Raise unless a matrix is finite and symmetric, with a diagonal that is not negative."""
    asymmetry = 0.0
    for rows in slices(len(K), _BLOCK_ELEMENTS // len(K)):
        block = K[rows, rows.start :]
        if not np.isfinite(block).all():
            raise ValueError("The kernel of some rows is no finite number: scale the features, or change the kernel.")
        asymmetry = max(asymmetry, float(np.max(np.abs(block - K[rows.start :, rows].T))))
    diagonal = np.diagonal(K)
    if not asymmetry <= _ASYMMETRY * max(float(np.max(diagonal)), 0.0):
        raise ValueError("A kernel matrix must be symmetric.")
    if np.min(diagonal) < 0:
        raise_not_semidefinite()


def check_semidefinite(K: Matrix) -> None:
    """Raise unless a matrix that passed the other checks has no negative eigenvalue, but for rounding: O(m^3 / 3)."""
    scaled, _ = unit_diagonal(K)
    scaled.flat[:: len(K) + 1] += _NEGATIVE * len(K)
    try:
        cholesky(scaled)
    except np.linalg.LinAlgError:
        raise_not_semidefinite()


def unit_diagonal(K: Matrix) -> tuple[Matrix, NDArray[np.float64]]:
    """Scale rows and columns so that the diagonal is 1; return the scaled copy, and the norms of the rows.

    A row of norm 0 stays as it is: its norm counts as 1.
    """
    norms = np.sqrt(np.diagonal(K))
    norms[norms == 0] = 1.0
    scaled = K / norms[:, None]
    scaled /= norms
    return scaled, norms


def raise_not_semidefinite() -> None:
    """Raise the error that names the fault."""
    raise ValueError("A kernel matrix must be positive semidefinite, but it has negative eigenvalues.")
