"""One side of relational data: the eigenvectors of the kernel matrix of the rows, or of the columns, of Y.

Let K be the kernel matrix of the n elements of a side. If only differences between the elements matter, it is centred:
with C the projection onto the vectors that sum to zero, K stands for ``C K C``.

========= =================================================== ======================
symbol    meaning                                             here
========= =================================================== ======================
U, l      eigenvectors and positive eigenvalues of K          ``vectors``, ``values``
a_i       the unit vector of element i, or C times it         row i of ``vectors``, in the basis U
kappa     squared norm of a_i: 1, or (n - 1) / n              ``axis``
o_i       squared norm of the part of a_i outside of U        ``outside``
========= =================================================== ======================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import eigh, matmul, svd

Array = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
_NEGATIVE = 1e3 * _EPS  # times n and the largest eigenvalue: more negative ones are no rounding errors


@dataclass(frozen=True)
class Side:
    """Eigenvectors of the kernel matrix of one side.

    Attributes
    ----------
    values : ndarray of shape (p,)
        Positive eigenvalues.
    vectors : ndarray of shape (n, p)
        Orthonormal columns.
    centred : bool
        Whether only differences between the elements matter.
    functions : ndarray of shape (n_functions, p)
        From the functions of any element, which are its features or its kernels, to its coordinates U'k.
    offset : ndarray of shape (p,)
        Mean coordinates of the elements, to be subtracted; zero unless `centred`.
    """

    values: Array
    vectors: Array
    centred: bool
    functions: Array
    offset: Array

    @property
    def n(self) -> int:
        """Number of elements."""
        return len(self.vectors)

    @property
    def axis(self) -> float:
        """Squared norm of the direction that belongs to one element."""
        return 1.0 - 1.0 / self.n if self.centred else 1.0

    @property
    def complete(self) -> bool:
        """Whether the vectors span everything that targets can be."""
        return len(self.values) == self.n - self.centred

    @property
    def largest(self) -> float:
        """The largest eigenvalue, or 0."""
        return float(np.max(self.values, initial=0.0))

    @cached_property
    def squares(self) -> Array:
        """Squares of the elements of the vectors."""
        return np.asarray(self.vectors**2)

    @cached_property
    def outside(self) -> Array:
        """Squared norm of the part of each direction that is outside of the span of the vectors."""
        if self.complete:
            return np.zeros(self.n)
        return np.asarray(np.maximum(self.axis - self.squares.sum(axis=1), 0.0))

    @cached_property
    def sums(self) -> Array:
        """Sums of the vectors, U'1."""
        return np.asarray(self.vectors.sum(axis=0))

    @cached_property
    def constant_outside(self) -> Array:
        """The part of the vector of ones that is outside of the span of the vectors."""
        outside = not (self.complete or self.centred)
        return np.asarray(1.0 - self.vectors @ self.sums if outside else np.zeros(self.n))

    def project_out(self, matrix: Array) -> Array:
        """Return the part of the columns of a matrix that is outside of the span of the vectors."""
        if self.complete:
            return np.zeros_like(matrix)
        return np.asarray(matrix - matmul(self.vectors, matmul(self.vectors.T, matrix)))


def decompose_matrix(K: Array, *, centred: bool) -> Side:
    """Return the side with a kernel matrix; the functions of an element are its kernels with all elements.

    Raises
    ------
    ValueError
        If an eigenvalue is negative by more than rounding errors.
    """
    means = K.mean(axis=0)
    if centred:
        K = K - means - means[:, None] + means.mean()
    values, vectors = eigh(K)
    noise = len(K) * _EPS * max(abs(values[0]), abs(values[-1]))
    if values[0] < -noise * (_NEGATIVE / _EPS):
        raise ValueError(
            f"A kernel matrix must be positive semidefinite, but its smallest eigenvalue is {values[0]:.3g}, and the"
            f" largest {values[-1]:.3g}. Add {-values[0]:.3g} to its diagonal, or use another kernel."
        )
    kept = values > noise
    if centred:
        kept[np.argmin(np.abs(values))] = False  # of the constant, which is zero
    vectors = np.ascontiguousarray(vectors[:, kept])
    offset = means @ vectors if centred else np.zeros(vectors.shape[1])
    return Side(values[kept], vectors, centred, vectors, offset)


def decompose_features(X: Array, *, centred: bool, functions: Array | None = None) -> Side:
    """Return the side with the linear kernel of features.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    centred : bool
    functions : ndarray of shape (n_functions, d), optional
        Matrix that the features are computed with; by default they are the functions of an element themselves.
    """
    mean = np.zeros(X.shape[1])
    if centred:  # differences to a row first: a large offset would round the mean
        X, mean = X - X[0], X[0]
        rest = X.mean(axis=0)
        X, mean = X - rest, mean + rest
    singular, vectors, right = svd(X)
    kept = singular > max(X.shape) * _EPS * np.max(singular, initial=0.0)
    if centred:
        kept[X.shape[0] - 1 :] = False
    singular, vectors, right = singular[kept], np.ascontiguousarray(vectors[:, kept]), right[:, kept] * singular[kept]
    return Side(singular**2, vectors, centred, right if functions is None else matmul(functions, right), mean @ right)
