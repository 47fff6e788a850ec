r"""What ridge regression would predict for queries, or parts of them, that it has not seen: from one decomposition.

Contrasts, the rows of Z, belong to one query each. Holding rows out touches the contrasts T of their queries: these go,
and with parts of queries others come instead, Q times T with the targets t. With ``Z Z' = V diag(lambda) V'`` and
``D = diag(lambda / (lambda + alpha))``, the new model scores a row by its kernel with the contrasts, times V, times

    ``(lambda + alpha)^-1 (V'u - V_T' e)``,     ``e = N^-1 (g - Q' c)``,

    ``N = I - V_T D V_T'``,  ``g = u_T - V_T D V'u``,  ``(I - Q Q' + Q N^-1 Q') c = t - Q u_T + Q N^-1 g``.

For whole queries e = N^-1 g are the residuals of T without T (Pahikkala et al. 2009, section 3.3); c are the dual
coefficients of what comes instead. Of two forms of N and g, that which keeps its digits is taken: with all
eigenvectors, ``1 - D`` instead of D, and no difference. Where the touched contrasts outnumber the eigenvectors, the
equations are solved in the space of these; where parts of queries touch many contrasts, or alpha is small, for what
remains.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernelrank.pairs import members
from kernelrank.solvers._ridge import Spectrum

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_BLOCK_ELEMENTS = 1 << 22  # of some eigenvectors, times factors for several alphas: 32 MiB
_SHARE = 0.3  # of the contrasts: if more are touched by parts of queries, the others are few
_WELL = 1e3  # condition up to which its square costs no digits that matter


@dataclass(frozen=True)
class HeldOutQueries:
    """Hold-outs of rows with their queries.

    Attributes
    ----------
    spectrum : Spectrum
        Of the contrasts.
    u : ndarray of shape (k, p)
        Targets of the contrasts.
    of_contrast, of_row : ndarray of shape (k,) and (m,)
        Query of each contrast, and of each row: 0, 1, ...
    images : ndarray of shape (m, r)
        Kernel of each row and the contrasts, times the eigenvectors.
    """

    spectrum: Spectrum
    u: Array
    of_contrast: NDArray[np.integer]
    of_row: NDArray[np.integer]
    images: Array

    def every_query(self, alphas: Array) -> Array:
        """Predict the rows of every query without it, at the alpha of its refit.

        Parameters
        ----------
        alphas : ndarray of shape (n_alphas, n_queries)

        Returns
        -------
        ndarray of shape (n_alphas, m, p)
        """
        predictions = np.empty((len(alphas), len(self.images), self.u.shape[1]))
        for query, rows in enumerate(self._rows):
            predictions[:, rows] = self._predict(rows, self._contrasts[query], alphas[:, query])
        return predictions

    def predict(self, rows: Rows, contrasts: Rows, alpha: float, left: tuple[Array, Array] | None = None) -> Array:
        """Predict rows, at the alpha of the refit; shape (len(rows), p).

        Parameters
        ----------
        rows : ndarray
        contrasts : ndarray
            All of the queries that are touched.
        alpha : float
        left : tuple of Q and t, optional
            What is left of these queries; nothing by default.
        """
        return np.asarray(self._predict(rows, contrasts, np.array([alpha]), left)[0])

    def contrasts_of(self, queries: NDArray[np.integer]) -> Rows:
        """Contrasts of some queries."""
        return np.concatenate([np.empty(0, np.intp), *(self._contrasts[query] for query in queries)])

    def _predict(self, rows: Rows, contrasts: Rows, alphas: Array, left: tuple[Array, Array] | None = None) -> Array:
        images, blocks = _take(self.images, rows), self._split(alphas, len(contrasts))
        return np.concatenate([_multiply(images, self._coefficients(contrasts, some, left)) for some in blocks])

    def _split(self, alphas: Array, n_contrasts: int) -> Iterator[Array]:
        size = max(1, _BLOCK_ELEMENTS // max(1, n_contrasts * len(self.spectrum.values)))
        for start in range(0, len(alphas), size):
            yield alphas[start : start + size]

    def _coefficients(self, contrasts: Rows, alphas: Array, left: tuple[Array, Array] | None) -> Array:
        """Solve for several alphas; shape (r, n_alphas, p)."""
        values, along = self.spectrum.values, self._along[:, None]
        vectors, u = _take(self.spectrum.vectors, contrasts), self.u[contrasts]
        inverse = 1.0 / (values[:, None] + alphas)
        shrunk = values[:, None] * inverse
        if len(contrasts) > len(values):
            gone, right = vectors.T @ vectors, self._along - vectors.T @ u
            if left is not None:
                new = left[0] @ vectors
                gone, right = gone - new.T @ new, right + new.T @ left[1]
            matrix = np.eye(len(values)) - gone * shrunk.T[:, None, :]
            return np.asarray(inverse[:, :, None] * np.moveaxis(np.linalg.solve(matrix, right[None]), 0, 1))
        if left is not None and self.spectrum.complete:
            many = len(contrasts) > _SHARE * len(values)
            if many or np.max(values, initial=0.0) > _WELL * np.min(alphas):
                return self._refit(contrasts, alphas, left)
        if self.spectrum.complete:
            rest = alphas * inverse
            N = _weighted_gram(vectors, rest)
            g = _multiply(vectors, rest[:, :, None] * along)
        else:
            N = np.eye(len(u)) - _weighted_gram(vectors, shrunk)
            g = u - _multiply(vectors, shrunk[:, :, None] * along)
        e = np.asarray(np.linalg.solve(N, g), dtype=np.float64)
        if left is not None:
            Q, t = left
            spread = np.linalg.solve(N, Q.T[None])
            c = np.linalg.solve(np.eye(len(Q)) - Q @ Q.T + Q @ spread, t - Q @ (u - e))
            e -= spread @ c
        back = _multiply(vectors.T, np.moveaxis(e, 0, 1))
        return np.asarray(inverse[:, :, None] * (along - np.moveaxis(back, 0, 1)))

    def _refit(self, contrasts: Rows, alphas: Array, left: tuple[Array, Array]) -> Array:
        """Solve for what remains, in the coordinates of the eigenvectors: a refit, but for the kernel matrix.

        Above, parts of queries err as the square of the condition, if rows recur in other queries; this does not.
        """
        others = np.setdiff1d(np.arange(len(self.u)), contrasts)
        A = np.vstack([self.spectrum.vectors[others], left[0] @ self.spectrum.vectors[contrasts]])
        targets, matrix = np.vstack([self.u[others], left[1]]), (A * self.spectrum.values) @ A.T
        found = [A.T @ np.linalg.solve(matrix + alpha * np.eye(len(A)), targets) for alpha in alphas]
        return np.stack(found, axis=1)

    @cached_property
    def _contrasts(self) -> list[Rows]:
        return members(self.of_contrast, int(self.of_row.max()) + 1)

    @cached_property
    def _rows(self) -> list[Rows]:
        return members(self.of_row, int(self.of_row.max()) + 1)

    @cached_property
    def _along(self) -> Array:
        return self.spectrum.vectors.T @ self.u


def _take(matrix: Array, rows: Rows) -> Array:
    """Rows of a matrix; no copy if they follow each other."""
    in_a_row = len(rows) > 0 and bool((np.diff(rows) == 1).all())
    return matrix[rows[0] : rows[-1] + 1] if in_a_row else matrix[rows]


def _multiply(vectors: Array, columns: Array) -> Array:
    """Multiply with (r, n_alphas, p) columns, all at once; shape (n_alphas, len(vectors), p)."""
    r, n, p = columns.shape
    return np.moveaxis((vectors @ columns.reshape(r, n * p)).reshape(len(vectors), n, p), 1, 0)


def _weighted_gram(vectors: Array, weights: Array) -> Array:
    """``vectors diag(w) vectors'`` for each column w of the weights; shape (n_weights, t, t)."""
    t, n = len(vectors), weights.shape[1]
    if t > n:
        return np.asarray((vectors * weights.T[:, None, :]) @ vectors.T)
    # Products of rows are shared by the weights: half of the work, and less to write.
    i, j = np.triu_indices(t)
    gram = np.empty((n, t, t))
    gram[:, i, j] = gram[:, j, i] = ((vectors[i] * vectors[j]) @ weights).T
    return gram
