r"""What ridge regression would predict for queries it has not seen, from one decomposition of all rows.

Rows of the Laplacian's coordinates belong to one query each, so with ``G = (Z Z' + alpha I)^-1`` the
held-out residuals of a query q are ``e_q = G_qq^-1 (G u)_q``. They tell the predictions up to their mean over the
query, which follows from the kernel between the query's mean and all contrasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernelrank.solvers._ridge import Spectrum

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class WholeQueries:
    """Hold-outs of whole queries.

    Attributes
    ----------
    spectrum : Spectrum
        Of the contrasts.
    u : ndarray of shape (k, p)
        Targets of the contrasts.
    queries : ndarray of shape (k,)
        Query of each contrast.
    levels : ndarray of shape (n_queries, r)
        Kernel of each query's mean row and the contrasts, times the eigenvectors.
    """

    spectrum: Spectrum
    u: Array
    queries: NDArray[np.integer]
    levels: Array

    def residuals(self, held_out: Sequence[int], alpha: float) -> tuple[Rows, Array, Array]:
        """Hold queries out, at the alpha of the refit.

        Returns
        -------
        rows : ndarray
            Contrasts of the queries.
        residuals : ndarray of shape (len(rows), p)
            Of these, held out.
        levels : ndarray of shape (len(held_out), p)
            Mean prediction of each of the queries.
        """
        values, vectors, along = self.spectrum.values, self.spectrum.vectors, self._along
        rows = np.concatenate([self._rows_of_query[query] for query in held_out])
        inverse = 1.0 / (values + alpha)
        in_a_row = len(rows) > 0 and bool((np.diff(rows) == 1).all())
        vectors = vectors[rows[0] : rows[-1] + 1] if in_a_row else vectors[rows]
        if self.spectrum.complete:
            block = (vectors * inverse) @ vectors.T
            dual = vectors @ (inverse[:, None] * along)
        else:  # alpha times both
            block = np.eye(len(rows)) - (vectors * (values * inverse)) @ vectors.T
            dual = self.u[rows] - vectors @ ((values * inverse)[:, None] * along)
        e = _solve(block, dual)
        remaining = inverse[:, None] * (along - vectors.T @ e)
        return rows, e, self.levels[list(held_out)] @ remaining

    def every_query(self, alphas: Array) -> tuple[Array, Array]:
        """Hold every query out, one after the other, each at the alpha of its refit.

        Returns
        -------
        residuals : ndarray of shape (k, p)
            Of all contrasts, held out with their query.
        levels : ndarray of shape (n_queries, p)
            Mean prediction of each query.
        """
        residuals, levels = np.empty_like(self.u), np.empty((len(self.levels), self.u.shape[1]))
        for query, alpha in enumerate(alphas):
            rows, residuals_here, [levels[query]] = self.residuals([query], float(alpha))
            residuals[rows] = residuals_here
        return residuals, levels

    @cached_property
    def _rows_of_query(self) -> list[Rows]:
        order = np.argsort(self.queries, kind="stable")
        counts = np.bincount(self.queries, minlength=len(self.levels))
        return np.split(order, np.cumsum(counts)[:-1])

    @cached_property
    def _along(self) -> Array:
        return self.spectrum.vectors.T @ self.u


def _solve(matrix: Array, right: Array) -> Array:
    """Solve with a symmetric, positive definite matrix."""
    return np.asarray(np.linalg.solve(matrix, right)) if len(right) else right
