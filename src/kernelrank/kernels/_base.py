"""Base class of kernels, and their sums and products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from numbers import Real
from typing import Any, Self

from sklearn.base import BaseEstimator

from kernelrank._arrays import Array, slices
from kernelrank._rules import POSITIVE, Rule

Matrix = Array


class Kernel(BaseEstimator, ABC):  # type: ignore[misc]
    """Symmetric, positive semidefinite function of two rows.

    A subclass implements the matrix of rows against rows; its parameters are those of its constructor, as for any
    estimator of scikit-learn. With scikit-learn's ``array_api_dispatch``, the matrix belongs to the array library of
    its rows, and is on their device.
    """

    __array_ufunc__ = None  # so that NumPy scalars defer multiplication to this class

    @property
    def semidefinite(self) -> bool:
        """Whether its matrices are positive semidefinite by construction, so that no check is necessary."""
        return True

    @abstractmethod
    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Compute ``k(X[i], Y[j])`` for all i and j.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        Y : {array-like, sparse matrix} of shape (n_others, n_features), optional
            Other rows. By default X; the matrix is then exactly symmetric.

        Returns
        -------
        ndarray of shape (n_samples, n_others)
            Kernel matrix.
        """

    @abstractmethod
    def diagonal(self, X: Any) -> Array:
        """Compute ``k(X[i], X[i])`` for all i.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Diagonal of the kernel matrix.
        """

    def blocks(self, X: Any, Y: Any = None, *, n_elements: int = 1 << 21) -> Iterator[tuple[slice, Matrix]]:
        """Compute the matrix in blocks of rows.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Rows.
        Y : {array, sparse matrix} of shape (n_others, n_features), optional
            Other rows. By default X.
        n_elements : int, default=2,097,152
            Maximum number of elements per block, 16 MiB by default; a block has at least one row.

        Yields
        ------
        rows : slice
            Rows of the block.
        block : ndarray of shape (len(rows), n_others)
            Their part of the matrix.

        Examples
        --------
        >>> import numpy as np
        >>> from kernelrank.kernels import Gaussian
        >>> X = np.random.default_rng(0).normal(size=(1000, 3))
        >>> [block.shape for _, block in Gaussian(1.0).blocks(X, n_elements=400_000)]
        [(400, 1000), (400, 1000), (200, 1000)]
        """
        others = X if Y is None else Y
        for rows in slices(X.shape[0], n_elements // max(1, others.shape[0])):
            yield rows, self(X[rows, :], others)

    def resolve(self, X: Any) -> Kernel:
        """Return the kernel with data-dependent parameters replaced by their values for X.

        A model calls this once in `fit`, so that the kernel does not change with the rows to predict.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.

        Returns
        -------
        Kernel
            The kernel itself, if no parameter depends on data.
        """
        return self

    def __add__(self, other: object) -> Sum:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: object) -> Kernel:
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


_KERNEL = Rule("a kernel of kernelrank.kernels", lambda value: isinstance(value, Kernel))


class _Pair(Kernel):
    """Combination of two kernels."""

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    def resolve(self, X: Any) -> Self:
        """Return the combination of both kernels, each resolved.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.

        Returns
        -------
        Kernel
            Combination of the same kind.
        """
        left, right = self._both()
        return type(self)(left.resolve(X), right.resolve(X))

    def _both(self) -> tuple[Kernel, Kernel]:
        _KERNEL("left", self.left)
        _KERNEL("right", self.right)
        return self.left, self.right

    @property
    def semidefinite(self) -> bool:
        """Whether both kernels are positive semidefinite by construction."""
        return self.left.semidefinite and self.right.semidefinite


class Sum(_Pair):
    """Sum ``left(x, y) + right(x, y)``: the features of both kernels, concatenated.

    Parameters
    ----------
    left, right : Kernel
        Kernels to add.

    Examples
    --------
    >>> from kernelrank.kernels import Gaussian, Linear
    >>> Linear() + Gaussian(gamma=0.5)
    Sum(left=Linear(), right=Gaussian(gamma=0.5))
    """

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Compute the matrix."""
        left, right = self._both()
        matrix = left(X, Y)
        matrix += right(X, Y)
        return matrix

    def diagonal(self, X: Any) -> Array:
        """Compute ``k(X[i], X[i])`` for all i.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Diagonal of the kernel matrix.
        """
        left, right = self._both()
        return left.diagonal(X) + right.diagonal(X)


class Product(_Pair):
    """Product ``left(x, y) * right(x, y)``: all products of a feature of one kernel and a feature of the other.

    Parameters
    ----------
    left, right : Kernel
        Kernels to multiply.

    Examples
    --------
    >>> from kernelrank.kernels import Linear
    >>> (Linear() * Linear())([[1.0], [2.0]])
    array([[ 1.,  4.],
           [ 4., 16.]])
    """

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Compute the matrix."""
        left, right = self._both()
        matrix = left(X, Y)
        matrix *= right(X, Y)
        return matrix

    def diagonal(self, X: Any) -> Array:
        """Compute ``k(X[i], X[i])`` for all i.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Diagonal of the kernel matrix.
        """
        left, right = self._both()
        return left.diagonal(X) * right.diagonal(X)


class Scaled(Kernel):
    """Scaled kernel ``factor * kernel(x, y)``.

    Parameters
    ----------
    kernel : Kernel
        Kernel to scale.
    factor : float
        Positive factor.

    Examples
    --------
    >>> from kernelrank.kernels import Linear
    >>> 2 * Linear()
    Scaled(factor=2.0, kernel=Linear())
    """

    def __init__(self, kernel: Kernel, factor: float) -> None:
        self.kernel = kernel
        self.factor = factor

    def resolve(self, X: Any) -> Scaled:
        """Return the resolved kernel with the same factor.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.

        Returns
        -------
        Scaled
            The scaled kernel.
        """
        return Scaled(self._checked_kernel().resolve(X), self.factor)

    @property
    def semidefinite(self) -> bool:
        """Whether the kernel is positive semidefinite by construction."""
        return self.kernel.semidefinite

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Compute the matrix."""
        matrix = self._checked_kernel()(X, Y)
        matrix *= self._checked_factor()
        return matrix

    def diagonal(self, X: Any) -> Array:
        """Compute ``k(X[i], X[i])`` for all i.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Diagonal of the kernel matrix.
        """
        return self._checked_factor() * self._checked_kernel().diagonal(X)

    def _checked_kernel(self) -> Kernel:
        _KERNEL("kernel", self.kernel)
        return self.kernel

    def _checked_factor(self) -> float:
        POSITIVE("factor", self.factor)  # otherwise it is not a kernel
        return float(self.factor)
