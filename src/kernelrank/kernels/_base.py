"""What all kernels share, and how they are combined."""

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
    """A symmetric, positive semidefinite function of two rows.

    A subclass says how to compute the matrix of rows against rows; parameters are those of its
    constructor, as for any estimator of scikit-learn. With scikit-learn's ``array_api_dispatch``, the matrix is of the
    array library of its rows, and on their device.
    """

    __array_ufunc__ = None  # so that NumPy's numbers leave the multiplication to us

    @property
    def semidefinite(self) -> bool:
        """Whether its matrices are known to be positive semidefinite, so that nobody need check them."""
        return True

    @abstractmethod
    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Compute ``k(X[i], Y[j])`` for all i and j.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Y : {array-like, sparse matrix} of shape (n_others, n_features), optional
            X itself by default; the matrix is then exactly symmetric.

        Returns
        -------
        ndarray of shape (n_samples, n_others)
        """

    @abstractmethod
    def diagonal(self, X: Any) -> Array:
        """Compute ``k(X[i], X[i])`` for all i.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """

    def blocks(self, X: Any, Y: Any = None, *, n_elements: int = 1 << 21) -> Iterator[tuple[slice, Matrix]]:
        """Compute the matrix some rows at a time.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
        Y : {array, sparse matrix} of shape (n_others, n_features), optional
            X itself by default.
        n_elements : int, default=2,097,152
            Of the matrix that are there at once, 16 MiB; one row at least.

        Yields
        ------
        rows : slice
        block : ndarray of shape (len(rows), n_others)

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
        """Replace parameters that depend on data by their values for X.

        A model does so once, when it is fitted: new rows, or fewer of them, must not change what a
        kernel means.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        Kernel
            Itself, if there are none.
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
    """Two kernels that become one."""

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    def resolve(self, X: Any) -> Self:
        """Resolve both kernels."""
        left, right = self._both()
        return type(self)(left.resolve(X), right.resolve(X))

    def _both(self) -> tuple[Kernel, Kernel]:
        _KERNEL("left", self.left)
        _KERNEL("right", self.right)
        return self.left, self.right

    @property
    def semidefinite(self) -> bool:
        """Whether both kernels are."""
        return self.left.semidefinite and self.right.semidefinite


class Sum(_Pair):
    """``left(x, y) + right(x, y)``: the features of both, side by side.

    Parameters
    ----------
    left, right : Kernel

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
        """Compute its diagonal."""
        left, right = self._both()
        return left.diagonal(X) + right.diagonal(X)


class Product(_Pair):
    """``left(x, y) * right(x, y)``: all products of a feature of one and a feature of the other.

    Parameters
    ----------
    left, right : Kernel

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
        """Compute its diagonal."""
        left, right = self._both()
        return left.diagonal(X) * right.diagonal(X)


class Scaled(Kernel):
    """``factor * kernel(x, y)``.

    Parameters
    ----------
    kernel : Kernel
    factor : float
        Positive.

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
        """Resolve the kernel."""
        return Scaled(self._checked_kernel().resolve(X), self.factor)

    @property
    def semidefinite(self) -> bool:
        """Whether the kernel is."""
        return self.kernel.semidefinite

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Compute the matrix."""
        matrix = self._checked_kernel()(X, Y)
        matrix *= self._checked_factor()
        return matrix

    def diagonal(self, X: Any) -> Array:
        """Compute its diagonal."""
        return self._checked_factor() * self._checked_kernel().diagonal(X)

    def _checked_kernel(self) -> Kernel:
        _KERNEL("kernel", self.kernel)
        return self.kernel

    def _checked_factor(self) -> float:
        POSITIVE("factor", self.factor)  # with others it is no kernel
        return float(self.factor)
