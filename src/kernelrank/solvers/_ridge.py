r"""Ridge regression from one decomposition, for any alpha and any number of outputs.

    minimise  ||u - Z w||^2 + alpha ||w||^2

Least squares over pairs is of this form, with Z and u the rows and targets as the Laplacian of the pairs
sees them (``kernelrank.pairs._laplacian``): every row of Z is a contrast. Kernels give ``M = Z Z'`` instead of Z.

========== ============================================================= ==================
symbol     meaning                                                       here
========== ============================================================= ==================
lambda, U  eigenvalues and eigenvectors of Z Z'                          ``Spectrum``
c          (Z Z' + alpha I)^-1 u, the dual solution; w = Z' c            ``Spectrum.dual``
========== ============================================================= ==================

Eigenvalues that are zero but for rounding are set to zero: what a solution made of them would be rounding, divided
by alpha. One alpha alone takes a Cholesky factor, which is several times cheaper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
MANY = 1e3  # times rounding: what a Cholesky factor needs alpha to be


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues and eigenvectors of Z Z': all of them, or those of a Z with few columns.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Not negative.
    vectors : ndarray of shape (k, r)
        Orthonormal columns. If r < k, all other eigenvalues are zero.
    """

    values: Array
    vectors: Array
    right: Array | None = None  # singular vectors of the other side, if Z is known: (n, r)

    @property
    def complete(self) -> bool:
        """Whether all eigenvectors are there."""
        return bool(self.vectors.shape[0] == self.vectors.shape[1])

    def dual(self, alpha: float, u: Array) -> Array:
        """(Z Z' + alpha I)^-1 u, for a vector or the columns of a matrix."""
        along = self.vectors.T @ u
        if self.complete:
            return self.vectors @ _scale(1.0 / (self.values + alpha), along)
        fitted = self.vectors @ _scale(self.values / (self.values + alpha), along)
        return (u - fitted) / alpha

    def weights(self, alpha: float, u: Array) -> Array:
        """Find w from Z itself: nothing is divided by alpha that is not small as well."""
        assert self.right is not None
        singular = np.sqrt(self.values)
        return np.asarray(self.right @ _scale(singular / (self.values + alpha), self.vectors.T @ u))


def decompose_features(Z: Array) -> Spectrum:
    """Find the spectrum of Z Z' from Z, whose singular values keep the digits that squares lose."""
    vectors, singular, right = scipy.linalg.svd(Z, full_matrices=False, check_finite=False)
    singular[singular <= max(Z.shape) * _EPS * np.max(singular, initial=0.0)] = 0.0
    return Spectrum(singular**2, np.ascontiguousarray(vectors), right.T)


def decompose_kernel(M: Array, noise: float) -> Spectrum:
    """Find the spectrum of M = Z Z'; eigenvalues up to `noise` are zero."""
    values, vectors = scipy.linalg.eigh(M, check_finite=False, driver="evd")
    values[values <= noise] = 0.0
    return Spectrum(values, np.ascontiguousarray(vectors))  # hold-outs take rows of it


def solve_features(Z: Array, u: Array, alpha: float) -> Array:
    """Find w for one alpha, from a Cholesky factor of Z'Z + alpha I."""
    return solve_kernel(Z.T @ Z, Z.T @ u, alpha)


def solve_moments(gram: Array, right: Array, alpha: float, noise: float) -> Array:
    """Find w from Z'Z, which is overwritten, and Z'u; eigenvalues up to `noise` are zero."""
    if alpha > MANY * noise:
        return solve_kernel(gram, right, alpha)
    values, vectors = scipy.linalg.eigh(gram, check_finite=False, driver="evd")
    kept = values > noise
    vectors = vectors[:, kept]
    return np.asarray(vectors @ _scale(1.0 / (values[kept] + alpha), vectors.T @ right))


def solve_kernel(matrix: Array, right: Array, alpha: float) -> Array:
    """Solve for one alpha, from a Cholesky factor of matrix + alpha I; the matrix is overwritten."""
    matrix.flat[:: len(matrix) + 1] += alpha
    # The transpose of a symmetric array in C order is the array in Fortran's: LAPACK needs no copy.
    factor = scipy.linalg.cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False))


def _scale(factors: Array, columns: Array) -> Array:
    return columns * factors[(slice(None), *(None,) * (columns.ndim - 1))]
