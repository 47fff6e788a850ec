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
from array_api_compat import array_namespace

from kernelrank._arrays import Array, eigh, matmul, solve_shifted, svd

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
    error : float
        How far the matrix that was decomposed may be from Z Z' by rounding, beside what the decomposition itself does.
    """

    values: Array
    vectors: Array
    right: Array | None = None  # singular vectors of the other side, if Z is known: (n, r)
    error: float = 0.0

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
        singular = array_namespace(self.values).sqrt(self.values)
        return self.right @ _scale(singular / (self.values + alpha), self.vectors.T @ u)


def decompose_features(Z: Array) -> Spectrum:
    """Find the spectrum of Z Z' from Z, whose singular values keep the digits that squares lose."""
    singular, vectors, right = svd(Z)
    singular[singular <= max(Z.shape) * _EPS * largest(singular)] = 0.0
    return Spectrum(singular**2, vectors, right)


def decompose_completely(Z: Array) -> Spectrum:
    """Find all eigenvectors of Z Z', for NumPy; with zeros on the right, where Z has fewer columns than rows."""
    (k, n), (singular, vectors, right) = Z.shape, svd(Z, complete=True)
    singular[singular <= max(k, n) * _EPS * largest(singular)] = 0.0
    values, padded = np.zeros(k), np.zeros((n, k))
    values[: len(singular)], padded[:, : len(singular)] = singular**2, right[:, : len(singular)]
    return Spectrum(values, vectors, padded)


def decompose_kernel(M: Array, noise: float) -> Spectrum:
    """Find the spectrum of M = Z Z'; eigenvalues up to `noise` are zero."""
    values, vectors = eigh(M)
    values[values <= noise] = 0.0
    return Spectrum(values, vectors, error=noise)


def solve_features(Z: Array, u: Array, alpha: float) -> Array:
    """Find w for one alpha, from a Cholesky factor of Z'Z + alpha I."""
    return solve_shifted(matmul(Z.T, Z), alpha, Z.T @ u)


def solve_kernel(M: Array, u: Array, alpha: float) -> Array:
    """Find c for one alpha, from a Cholesky factor of M + alpha I; M is overwritten."""
    return solve_shifted(M, alpha, u)


def solve_moments(gram: Array, right: Array, alpha: float, noise: float) -> Array:
    """Find w from Z'Z, which is overwritten, and Z'u; eigenvalues up to `noise` are zero."""
    if alpha > MANY * noise:
        return solve_shifted(gram, alpha, right)
    values, vectors = eigh(gram)
    # They ascend: those that are not zero are the last ones.
    first = values.shape[0] - int(array_namespace(values).count_nonzero(values > noise))
    values, vectors = values[first:], vectors[:, first:]
    return vectors @ _scale(1.0 / (values + alpha), vectors.T @ right)


def largest(values: Array) -> float:
    """Return the largest of values that are not negative; 0 if there are none."""
    return float(array_namespace(values).max(values)) if values.shape[0] else 0.0


def trace(matrix: Array) -> float:
    """Sum of the diagonal."""
    return float(array_namespace(matrix).linalg.trace(matrix))


def _scale(factors: Array, columns: Array) -> Array:
    return columns * factors[(slice(None), *(None,) * (columns.ndim - 1))]
