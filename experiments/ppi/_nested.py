"""Cross-validation inside cross-validation, exactly, from one inverse of a kernel matrix per lambda.

The residual operator W of least squares is ``lambda (K + lambda I)^-1``; with a mean, K is centred and 1/m is
subtracted from each element. The residuals of rows S are ``W_SS^-1 (W y)_S`` when S is held out. A model that has not
seen a fold T has the W of the other rows R, ``W_RR - W_RT W_TT^-1 W_TR``, in which documents can be held out once more.
So no model is ever fitted: splits, folds and documents share one W of all rows.

Lambda weighs the squared norm against the SUM of squares, as in the paper, and is the same whatever is held out; the
alpha of ``kernelrank.RLS`` is lambda / (number of rows that are left).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri

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
        self._K, self._y, self._mean = K, y, mean

    def at(self, lam: float) -> Residuals:
        """Return the model for a lambda."""
        shifted = self._K.copy()
        shifted.flat[:: len(shifted) + 1] += lam
        W = _invert(shifted)
        W *= lam
        if self._mean:
            W -= 1.0 / len(W)
        residuals = W @ self._y
        return Residuals(W, residuals, self._y, residuals / lam)


class Residuals:
    """The residual operator as a matrix, and the residuals.

    ``weights`` are those of the kernels of all rows; with a mean, of kernels less their means.
    """

    def __init__(self, W: Array, residuals: Array, y: Array, weights: Array) -> None:
        self._W, self._residuals, self._y, self.weights = W, residuals, y, weights

    def hold_out(self, rows: Rows) -> Array:
        """Score rows by a model of all others."""
        return self._y[rows] - np.linalg.solve(self._W[np.ix_(rows, rows)], self._residuals[rows])

    def hold_out_each(self, groups: NDArray) -> Array:
        """Score all rows, each by a model that has not seen its group."""
        scores = np.empty(len(self._y))
        for rows in members(groups):
            scores[rows] = self.hold_out(rows)
        return scores

    def nested(self, fold: Rows, groups: NDArray) -> Scores:
        """Hold out a fold, and each group of the others as well."""
        others = np.setdiff1d(np.arange(len(self._y)), fold)
        factor = np.linalg.cholesky(self._W[np.ix_(fold, fold)])
        between = scipy.linalg.solve_triangular(factor, self._W[np.ix_(fold, others)], lower=True)
        inside = scipy.linalg.solve_triangular(factor, self._residuals[fold], lower=True)
        residuals = self._residuals[others] - between.T @ inside
        scores = self._y[others]
        for rows in members(groups[others]):
            lost, ours = between[:, rows], others[rows]
            scores[rows] -= np.linalg.solve(self._W[np.ix_(ours, ours)] - lost.T @ lost, residuals[rows])
        in_fold = scipy.linalg.solve_triangular(factor, inside, lower=True, trans=1)
        return Scores(self._y[fold] - in_fold, scores)


def members(groups: NDArray) -> Iterator[Rows]:
    """Yield the rows of each group."""
    order = np.argsort(groups, kind="stable")
    ends = np.flatnonzero(groups[order][1:] != groups[order][:-1]) + 1
    yield from np.split(order, ends)


def _invert(K: Array) -> Array:
    """Return the inverse of a symmetric positive definite matrix, which is overwritten."""
    factor, failed = dpotrf(K.T, lower=True, overwrite_a=True)
    if failed:
        raise np.linalg.LinAlgError("the kernel matrix is not positive definite")
    half, _ = dpotri(factor, lower=True, overwrite_c=True)
    inverse = np.tril(half)
    inverse += np.tril(half, -1).T
    return inverse
