r"""Ridge regression from one decomposition, for any alpha and any number of outputs.

    minimise  ||u - Z w||^2 + alpha ||w||^2

Least squares over pairs has this form: the rows of Z are weighted contrasts between rows, as the Laplacian of the pairs
defines them (``kernelrank.pairs._laplacian``), and u are their targets. Kernels give ``M = Z Z'`` instead of Z.

========== ============================================================= ==================
symbol     meaning                                                       here
========== ============================================================= ==================
lambda, U  eigenvalues and eigenvectors of Z Z'                          ``Spectrum``
c          (Z Z' + alpha I)^-1 u, the dual solution; w = Z' c            ``Spectrum.dual``
========== ============================================================= ==================

Eigenvalues that are zero up to rounding are set to zero; otherwise rounding errors would be divided by alpha. A single
alpha is solved by a Cholesky factor, which is several times cheaper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace

from kernelrank._arrays import Array, eigh, matmul, solve_shifted, svd

_EPS = float(np.finfo(np.float64).eps)
MANY = 1e3  # times rounding errors: the least alpha that a Cholesky factor is used for


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues and eigenvectors of Z Z': all of them, or those of a Z with few columns.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Non-negative.
    vectors : ndarray of shape (k, r)
        Orthonormal columns. If r < k, all other eigenvalues are zero.
    error : float
        Bound of the rounding errors of the matrix that was decomposed, besides those of the decomposition itself.
    """

    values: Array
    vectors: Array
    right: Array | None = None  # right singular vectors, if Z is known: (n, r)
    error: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether these are all eigenvectors."""
        return bool(self.vectors.shape[0] == self.vectors.shape[1])

    def dual(self, alpha: float, u: Array) -> Array:
        """Return ``(Z Z' + alpha I)^-1 u``, for the columns of a matrix, if the vectors are `complete`."""
        return self.vectors @ _scale(1.0 / (self.values + alpha), self.vectors.T @ u)

    def weights(self, alpha: float, u: Array) -> Array:
        """Return w, computed from the singular vectors of Z: small numbers alone are divided by alpha."""
        assert self.right is not None
        singular = array_namespace(self.values).sqrt(self.values)
        return self.right @ _scale(singular / (self.values + alpha), self.vectors.T @ u)


def decompose_features(Z: Array) -> Spectrum:
    """Return the spectrum of Z Z', from the singular values of Z, which keep the digits that squares lose."""
    singular, vectors, right = svd(Z)
    singular[singular <= max(Z.shape) * _EPS * largest(singular)] = 0.0
    return Spectrum(singular**2, vectors, right)


def decompose_completely(Z: Array) -> Spectrum:
    """Return all eigenvectors of Z Z', for NumPy; right vectors are zero where Z has fewer columns than rows."""
    (k, n), (singular, vectors, right) = Z.shape, svd(Z, complete=True)
    singular[singular <= max(k, n) * _EPS * largest(singular)] = 0.0
    values, padded = np.zeros(k), np.zeros((n, k))
    values[: len(singular)], padded[:, : len(singular)] = singular**2, right[:, : len(singular)]
    return Spectrum(values, vectors, padded)


def decompose_kernel(M: Array, noise: float) -> Spectrum:
    """Return the spectrum of M = Z Z'; eigenvalues up to `noise` are set to zero."""
    values, vectors = eigh(M)
    values[values <= noise] = 0.0
    return Spectrum(values, vectors, error=noise)


def solve_features(Z: Array, u: Array, alpha: float) -> Array:
    """Return w for one alpha, from a Cholesky factor of Z'Z + alpha I."""
    return solve_shifted(matmul(Z.T, Z), alpha, Z.T @ u)


def solve_kernel(M: Array, u: Array, alpha: float) -> Array:
    """Return c for one alpha, from a Cholesky factor of M + alpha I; M is overwritten."""
    return solve_shifted(M, alpha, u)


def solve_moments(gram: Array, right: Array, alpha: float, noise: float) -> Array:
    """Return w from Z'Z, which is overwritten, and Z'u; eigenvalues up to `noise` are set to zero."""
    if alpha > MANY * noise:
        return solve_shifted(gram, alpha, right)
    values, vectors = eigh(gram)
    # In ascending order: the positive ones come last.
    first = values.shape[0] - int(array_namespace(values).count_nonzero(values > noise))
    values, vectors = values[first:], vectors[:, first:]
    return vectors @ _scale(1.0 / (values + alpha), vectors.T @ right)


def largest(values: Array) -> float:
    """Return the largest of non-negative values; 0 if there are none."""
    return float(array_namespace(values).max(values)) if values.shape[0] else 0.0


def trace(matrix: Array) -> float:
    """Return the sum of the diagonal."""
    return float(array_namespace(matrix).linalg.trace(matrix))


def _scale(factors: Array, columns: Array) -> Array:
    return columns * factors[(slice(None), *(None,) * (columns.ndim - 1))]
