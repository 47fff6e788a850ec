"""Cross-validation inside cross-validation, exactly, from one decomposition of a kernel matrix.

With W the residual operator of ``kernelrank.solvers.least_squares``, the residuals of rows S are ``W_SS^-1 (W y)_S``
when S is held out. A model that has not seen a fold T has the W of the other rows R, ``W_RR - W_RT W_TT^-1 W_TR``, in
which documents can be held out once more. So no model is ever fitted: folds, documents and lambdas share one
decomposition of all rows.

Lambda weighs the squared norm against the SUM of squares, as in the paper, and is the same whatever is held out; the
alpha of ``kernelrank.RLS`` is lambda / (number of rows that are left).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from kernelrank.solvers.least_squares import Residual, decompose_kernel

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
        spectrum = decompose_kernel(K, 0.0)
        if mean:
            spectrum = replace(spectrum, vectors=spectrum.vectors - spectrum.vectors.mean(axis=0))
        self._W = Residual(spectrum, True, y[:, None], mean=mean)

    def at(self, lam: float) -> Residuals:
        """Return the model for a lambda."""
        W = self._W
        return Residuals(W.block(np.arange(W.n_rows), lam), W.apply(lam)[:, 0], W.targets[:, 0])

    def weights(self, lam: float) -> Array:
        """Return the weights of the kernels of all rows; with a mean, of kernels less their means."""
        return self._W.spectrum.dual(lam, self._W.centred)[:, 0]


class Residuals:
    """The residual operator as a matrix, and the residuals."""

    def __init__(self, W: Array, residuals: Array, y: Array) -> None:
        self._W, self._residuals, self._y = W, residuals, y

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
