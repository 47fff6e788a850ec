"""Kernels of vectors: linear, polynomial and Gaussian."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from array_api_compat import array_namespace

from kernelrank._arrays import (
    Array,
    accepted_namespace,
    canonical,
    fill_diagonal,
    is_foreign,
    row_blocks,
    without_empty_columns,
)
from kernelrank._dense import multiply, multiply_transposed
from kernelrank._rules import COUNT, NOT_NEGATIVE, POSITIVE, choice
from kernelrank._validation import check_matrix
from kernelrank.kernels._base import Kernel, Matrix

_WIDE = 32  # columns per element of sparse rows, from which on empty columns are removed before products


class Linear(Kernel):
    """Linear kernel, the inner product ``x @ y``.

    Examples
    --------
    >>> from kernelrank.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[11.,  2.]])
    """

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Compute the matrix."""
        X, Y = check_rows(X), None if Y is None else check_rows(Y)
        return _inner_products(X, Y)

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
        return _squared_norms(check_rows(X))


class Polynomial(Kernel):
    """Polynomial kernel ``(gamma * x @ y + coef0) ** degree``: all products of up to `degree` features.

    Parameters
    ----------
    degree : int, default=2
        Degree, at least 1.
    coef0 : float, default=1.0
        Constant term, non-negative; larger values give more weight to products of few features.
    gamma : float, default=1.0
        Positive factor of the inner product.

    Examples
    --------
    >>> from kernelrank.kernels import Polynomial
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    def __init__(self, degree: int = 2, coef0: float = 1.0, gamma: float = 1.0) -> None:
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Compute the matrix."""
        X, Y = check_rows(X), None if Y is None else check_rows(Y)
        return self._of_products(_inner_products(X, Y))

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
        return self._of_products(_squared_norms(check_rows(X)))

    def _of_products(self, products: Array) -> Array:
        COUNT("degree", self.degree)
        NOT_NEGATIVE("coef0", self.coef0)  # otherwise it is not a kernel
        POSITIVE("gamma", self.gamma)
        products *= self.gamma
        products += self.coef0
        return products ** int(self.degree)


class Gaussian(Kernel):
    """Gaussian kernel ``exp(-gamma * ||x - y||^2)``.

    Parameters
    ----------
    gamma : float or "scale", default="scale"
        Positive. "scale" means ``1 / (n_features * X.var())`` of the training rows, as in scikit-learn's ``SVC``.

    Notes
    -----
    Distances are computed from inner products. Dense rows are centred first, so that a common offset does not cost
    accuracy. Sparse rows are not centred, to keep them sparse.

    Examples
    --------
    >>> from kernelrank.kernels import Gaussian
    >>> Gaussian(gamma=0.5)([[0.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    def __init__(self, gamma: float | Literal["scale"] = "scale") -> None:
        self.gamma = gamma

    def resolve(self, X: Any) -> Gaussian:
        """Return the kernel with the value of gamma, if gamma is "scale".

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.

        Returns
        -------
        Gaussian
            The kernel itself, if gamma is a number.
        """
        (POSITIVE | choice("scale"))("gamma", self.gamma)
        if self.gamma != "scale":
            return self
        X = check_rows(X)
        if not _differ(X):
            return Gaussian(1.0)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # the result is checked below
            if sp.issparse(X):
                size, mean = X.shape[0] * X.shape[1], X.mean()
                variance = float((np.sum((X.data - mean) ** 2) + (size - len(X.data)) * mean**2) / size)
            else:
                variance = float(array_namespace(X).var(X))
        if not 0 < variance < np.inf or not np.isfinite(1.0 / (X.shape[1] * variance)):
            raise ValueError(
                'gamma="scale" is 1 / (n_features * variance of X), but that variance overflows or underflows; scale'
                " the features, or set gamma."
            )
        return Gaussian(1.0 / (X.shape[1] * variance))

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Compute the matrix."""
        if isinstance(self.gamma, str):
            return self.resolve(X if Y is None else Y)(X, Y)
        POSITIVE("gamma", self.gamma)
        gamma = float(self.gamma)
        X, Y = check_rows(X), None if Y is None else check_rows(Y)
        if not (sp.issparse(X) or sp.issparse(Y)):
            centre = array_namespace(X).mean(X if Y is None else Y, axis=0)
            X, Y = X - centre, None if Y is None else Y - centre
        matrix = _inner_products(X, Y)
        norms, others = gamma * _squared_norms(X), gamma * _squared_norms(X if Y is None else Y)
        xp = array_namespace(matrix)
        for some in row_blocks(matrix):  # in the cache, and without a second matrix
            rows = matrix[some, :]
            rows *= 2.0 * gamma
            rows -= norms[some, None] + others  # this sum first, as it is symmetric
            matrix[some, :] = xp.exp(xp.minimum(rows, 0.0))
        return fill_diagonal(matrix, 1.0) if Y is None else matrix

    def diagonal(self, X: Any) -> Array:
        """Compute ``k(X[i], X[i])`` for all i, which is 1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Ones.
        """
        norms = _squared_norms(check_rows(X))
        return array_namespace(norms).ones_like(norms)


def check_rows(X: Any) -> Any:
    """Return rows as a dense float64 array, or as a canonical CSR matrix."""
    X = check_matrix(X, "A kernel", accept_sparse="csr", dtype=accepted_namespace(X).float64)
    return canonical(X) if sp.issparse(X) else X


def _differ(X: Any) -> bool:
    """Return whether any two elements differ."""
    if sp.issparse(X):
        return bool(X.min() != X.max())
    return bool(array_namespace(X).min(X) != array_namespace(X).max(X))


def _inner_products(X: Any, Y: Any) -> Matrix:
    others = X if Y is None else Y
    if not (sp.issparse(X) or sp.issparse(others)):
        return multiply(X, others.T)  # a fixed order of summation makes the matrix exactly symmetric if Y is X
    if sp.issparse(X) and sp.issparse(others) and X.shape[1] > _WIDE * (X.nnz + others.nnz):
        # SciPy needs memory and time for every row of a transposed matrix, most of which are empty here.
        X, others = without_empty_columns(X, others)
    product = X @ others.T
    return product.toarray() if sp.issparse(product) else product


def _squared_norms(X: Any) -> Array:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    if is_foreign(X):
        return array_namespace(X).vecdot(X, X)
    return multiply_transposed(X.T, np.ones(X.shape[1]), squared=True)
