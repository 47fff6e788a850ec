"""Cross-validation inside cross-validation, exactly, from one decomposition of a kernel matrix.

With M what takes targets y to residuals, ``M = I - A``, the residuals of rows S are ``M_SS^-1 (M y)_S`` when S is held
out. A model that has not seen a fold T has the M of the other rows R, ``M_RR - M_RT M_TT^-1 M_TR``, in which documents
can be held out once more. So no model is ever fitted: folds, documents and lambdas share one decomposition of all rows.

Lambda weighs the squared norm against the SUM of squares, as in the paper, and is the same whatever is held out; the
alpha of ``kernelrank.RLS`` is lambda / (number of rows that are left).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class Scores(NamedTuple):
    """Scores for one lambda, all of models that have not seen the fold."""

    fold: Array  # of the rows of the fold
    others: Array  # of the other rows, each by a model that has not seen its document either


class HeldOut:
    """Least squares with one kernel, of which any rows can be held out.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        The kernel matrix. It is overwritten.
    y : ndarray of shape (m,)
        Targets.
    mean : bool
        Whether the model has a mean, as that of ``kernelrank.RLS``.
    """

    def __init__(self, K: Array, y: Array, mean: bool = True) -> None:
        if mean:
            means = K.mean(axis=0)
            K -= means
            K -= (means - means.mean())[:, None]
        self._values, self._vectors = np.linalg.eigh(K)
        self._constant = 1 / len(K) if mean else 0.0
        self._y = y

    def at(self, lam: float) -> Residuals:
        """Return the model for a lambda."""
        values = np.maximum(self._values, 0.0)
        M = (self._vectors * (lam / (values + lam))) @ self._vectors.T - self._constant
        return Residuals(M, self._y)

    def weights(self, lam: float) -> Array:
        """Return the weights of the kernels of all rows; with a mean, of kernels less their means."""
        values = np.maximum(self._values, 0.0)
        along = self._vectors.T @ (self._y - self._y.mean() * (self._constant > 0))
        return self._vectors @ (along / (values + lam))


class Residuals:
    """What takes targets to residuals, and the residuals."""

    def __init__(self, M: Array, y: Array) -> None:
        self._M, self._y = M, y
        self._residuals = M @ y

    def hold_out(self, rows: Rows) -> Array:
        """Score rows by a model of all others."""
        return self._y[rows] - np.linalg.solve(self._M[np.ix_(rows, rows)], self._residuals[rows])

    def hold_out_each(self, groups: NDArray) -> Array:
        """Score all rows, each by a model that has not seen its group."""
        scores = np.empty(len(self._y))
        for rows in members(groups):
            scores[rows] = self.hold_out(rows)
        return scores

    def nested(self, fold: Rows, groups: NDArray) -> Scores:
        """Hold out a fold, and each group of the others as well."""
        others = np.setdiff1d(np.arange(len(self._y)), fold)
        factor = np.linalg.cholesky(self._M[np.ix_(fold, fold)])
        between = scipy.linalg.solve_triangular(factor, self._M[np.ix_(fold, others)], lower=True)
        inside = scipy.linalg.solve_triangular(factor, self._residuals[fold], lower=True)
        residuals = self._residuals[others] - between.T @ inside
        scores = self._y[others]
        for rows in members(groups[others]):
            lost, ours = between[:, rows], others[rows]
            scores[rows] -= np.linalg.solve(self._M[np.ix_(ours, ours)] - lost.T @ lost, residuals[rows])
        in_fold = scipy.linalg.solve_triangular(factor, inside, lower=True, trans=1)
        return Scores(self._y[fold] - in_fold, scores)


def members(groups: NDArray) -> Iterator[Rows]:
    """Yield the rows of each group."""
    order = np.argsort(groups, kind="stable")
    ends = np.flatnonzero(groups[order][1:] != groups[order][:-1]) + 1
    yield from np.split(order, ends)
