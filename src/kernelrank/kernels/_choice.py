"""Kernels given by a name, a function or a precomputed matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from array_api_compat import array_namespace, device
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import pairwise_kernels

from kernelrank._arrays import accepted_namespace, copied, is_foreign, place, slices, take
from kernelrank._rules import CALLABLE, choice, show
from kernelrank._validation import check_matrix
from kernelrank.kernels._base import Kernel, Matrix
from kernelrank.kernels._vectors import Gaussian, Linear, Polynomial, check_rows

_OURS: dict[str, type[Kernel]] = {"linear": Linear, "polynomial": Polynomial, "gaussian": Gaussian}
_OF_SCIKIT_LEARN = (*("additive_chi2", "chi2", "cosine", "laplacian", "poly", "rbf", "sigmoid"),)
_SAME = {"rbf": "gaussian", "poly": "polynomial"}  # with other default parameters
_NAME = choice(*_OF_SCIKIT_LEARN, "linear", "polynomial")


def _sigmoid(X: Any, Y: Any, gamma: float) -> Matrix:
    products = Linear()(X, Y)
    products *= gamma
    products += 1.0
    return np.tanh(products, out=products)


def _cosine(X: Any, Y: Any, _: float) -> Matrix:
    norms, others = (np.sqrt(Linear().diagonal(rows)) for rows in (X, X if Y is None else Y))
    norms[norms == 0], others[others == 0] = 1.0, 1.0
    products = Linear()(X, Y)
    products /= norms[:, None] * others
    return products


# Kernels that scikit-learn computes from inner products with BLAS, which may differ for equal rows.
_OF_PRODUCTS: dict[str, Callable[[Any, Any, float], Matrix]] = {
    "cosine": _cosine,
    "poly": lambda X, Y, gamma: Polynomial(3, gamma=gamma)(X, Y),
    "rbf": lambda X, Y, gamma: Gaussian(gamma)(X, Y),
    "sigmoid": _sigmoid,
}


def make_kernel(kernel: str | Kernel | Callable[[Any, Any], Any]) -> Kernel:
    """Return the kernel for the value of an estimator's parameter `kernel`.

    Parameters
    ----------
    kernel : str, Kernel or callable
        "linear", "polynomial" or "gaussian" with default parameters, "precomputed", a name accepted by
        ``sklearn.metrics.pairwise.pairwise_kernels``, a kernel object, or a function ``(X, Y) -> matrix``.

    Returns
    -------
    Kernel
        The kernel itself, if one is given.

    Examples
    --------
    >>> from kernelrank.kernels import make_kernel
    >>> make_kernel("gaussian")
    Gaussian()
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel in _OURS:
            return _OURS[kernel]()
        if kernel == "precomputed":
            return Precomputed()
        if kernel in _OF_SCIKIT_LEARN:
            return NamedKernel(kernel)
        known = ", ".join(sorted([*_OURS, "precomputed", *_OF_SCIKIT_LEARN]))
        raise ValueError(f"kernel must be a kernel, a function, or one of {known}; got {kernel!r}.")
    if isinstance(kernel, type):
        raise TypeError(f"kernel must be an instance, got the class {kernel.__name__}; use {kernel.__name__}().")
    if callable(kernel):
        return FunctionKernel(kernel)
    raise TypeError(f"kernel must be a kernel, a function or a name, got {show(kernel)}.")


def check_kernels(kernels: Sequence[Any]) -> list[Kernel]:
    """Return the kernels for a list of values; invalid values raise an error before any work is done."""
    if len(kernels) == 0:
        raise ValueError("kernel is an empty list; it must have at least one kernel to choose from.")
    made = [make_kernel(kernel) for kernel in kernels]
    if any(isinstance(kernel, Precomputed) for kernel in made):
        raise ValueError(
            'kernel="precomputed" cannot be one of several: X would be its matrix, but rows for the others. Fit each'
            " matrix separately, and compare scores_."
        )
    return made


class HasKernel(BaseEstimator):  # type: ignore[misc]
    """Base class of estimators whose parameter `kernel` has parameters that can be set, such as ``kernel__gamma``."""

    def set_params(self, **params: Any) -> Self:
        """Set the parameters of the estimator and of its kernel.

        Parameters
        ----------
        **params : dict
            Parameters by name. ``kernel__gamma`` is the `gamma` of the kernel; a kernel given by name is replaced by
            the corresponding object.

        Returns
        -------
        self
            The estimator, with the new parameters.
        """
        inner = [name.partition("__")[2].partition("__")[0] for name in params if name.startswith("kernel__")]
        if inner and hasattr(self, "kernel"):
            kernel = params.get("kernel", self.kernel)
            made = make_kernel(kernel) if isinstance(kernel, str) else kernel
            for name in inner:
                if not isinstance(made, Kernel) or name not in made.get_params(deep=False):
                    same = _SAME.get(kernel) if isinstance(kernel, str) else None
                    remedy = (
                        "Use a kernel object that has it, for example kernel=kernelrank.kernels.Gaussian(gamma=1.0) for"
                        " kernel__gamma."
                        if same is None
                        else f"Use kernel={same!r}, which is the same kernel with parameters."
                    )
                    raise ValueError(
                        f"kernel__{name} cannot be set: kernel={kernel!r} has no parameter {name!r}. {remedy}"
                    )
            params = {**params, "kernel": made}
        super().set_params(**params)
        return self


class NamedKernel(Kernel):
    """Kernel of ``sklearn.metrics.pairwise``.

    Parameters
    ----------
    name : str
        Name of the kernel, as in ``pairwise_kernels(metric=name)``.

    Examples
    --------
    >>> from kernelrank.kernels import NamedKernel
    >>> NamedKernel("cosine")([[3.0, 4.0]], [[4.0, 3.0]]).round(2)
    array([[0.96]])
    """

    semidefinite = False  # unknown

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Compute the matrix."""
        _NAME("name", self.name)
        if is_foreign(X) and accepted_namespace(X) is not np:
            raise ValueError(
                f"kernel={self.name!r} supports NumPy arrays only, got {place(X)}; use a kernel of kernelrank.kernels,"
                " or a function."
            )
        X, Y = check_rows(X), None if Y is None else check_rows(Y)
        if self.name in _OF_PRODUCTS:
            return _OF_PRODUCTS[self.name](X, Y, 1.0 / X.shape[1])
        return np.array(pairwise_kernels(X, Y, metric=self.name), dtype=np.float64)

    def diagonal(self, X: Any) -> Matrix:
        """Compute ``k(X[i], X[i])`` for all i, row by row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Diagonal of the kernel matrix.
        """
        X = check_rows(X)
        return np.array([self(X[k : k + 1])[0, 0] for k in range(X.shape[0])])


class FunctionKernel(Kernel):
    """Kernel given by a function that computes the matrix.

    Parameters
    ----------
    function : callable
        ``(X, Y) -> matrix`` of shape (len(X), len(Y)); symmetric and positive semidefinite.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank.kernels import FunctionKernel
    >>> FunctionKernel(lambda X, Y: np.minimum(X, Y.T))(np.array([[1.0], [2.0]]))
    array([[1., 1.],
           [1., 2.]])
    """

    semidefinite = False  # unknown

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Compute the matrix."""
        CALLABLE("function", self.function)
        other = X if Y is None else Y
        found, xp = self.function(X, other), accepted_namespace(X)
        if xp is np:
            matrix = np.array(found, dtype=np.float64)
        else:
            matrix = xp.asarray(found, dtype=xp.float64, device=device(X), copy=True)
        if matrix.shape != (X.shape[0], other.shape[0]):
            raise ValueError(
                f"The kernel function must return an array of shape {(X.shape[0], other.shape[0])}, got {matrix.shape}."
            )
        return matrix

    def diagonal(self, X: Any) -> Matrix:
        """Compute ``k(X[i], X[i])`` for all i, row by row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Diagonal of the kernel matrix.
        """
        rows = [self(X[k : k + 1, :])[0, :] for k in range(X.shape[0])]
        return array_namespace(*rows).concat(rows)


class Precomputed(Kernel):
    """Kernel whose matrix is given in place of rows.

    Estimators take the kernel matrix of the rows against the training rows as X.

    Examples
    --------
    >>> from kernelrank.kernels import Precomputed
    >>> Precomputed()([[2.0, 1.0], [1.0, 3.0]], [1])  # the second column
    array([[1.],
           [3.]])
    """

    semidefinite = False  # unknown

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the matrix, or the columns with the given indices."""
        matrix = check_matrix(X, "A kernel", dtype=accepted_namespace(X).float64)
        return copied(matrix) if Y is None else take(matrix, np.asarray(Y), axis=1)

    def blocks(self, X: Any, Y: Any = None, *, n_elements: int = 1 << 21) -> Iterator[tuple[slice, Matrix]]:
        """Return the matrix, or some of its columns, in blocks of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            Kernel matrix.
        Y : array-like of int of shape (n_others,), optional
            Indices of columns. By default all.
        n_elements : int, default=2,097,152
            Maximum number of elements per block; a block has at least one row.

        Yields
        ------
        rows : slice
            Rows of the block.
        block : ndarray of shape (len(rows), n_others)
            Their part of the matrix.
        """
        for rows in slices(X.shape[0], n_elements // max(1, X.shape[1] if Y is None else len(Y))):
            yield rows, self(X[rows, :], Y)

    def diagonal(self, X: Any) -> Matrix:
        """Return the diagonal of a kernel matrix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_samples)
            Kernel matrix.

        Returns
        -------
        ndarray of shape (n_samples,)
            Its diagonal.
        """
        matrix = self(X)
        return copied(array_namespace(matrix).linalg.diagonal(matrix))
