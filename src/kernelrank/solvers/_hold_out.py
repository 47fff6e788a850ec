r"""What ridge regression would predict for rows it has not seen, from one decomposition of all rows.

The reference is always a refit of the same estimator on the rows that remain, with the same alpha. Losses are
averages, so fewer rows change how much the penalty weighs: in units of the whole problem, alpha becomes
``alpha * (what remains of the normaliser) / (the whole)``.

**One ranking.** With A the matrix that takes the targets y to the predictions (a mean is fitted as well), the
residuals of held-out rows S are ``e_S = (I - A)_SS^-1 ((I - A) y)_S`` (Pahikkala et al. 2009, section 3.4, for pairs;
Rifkin and Lippert 2007 for any rows). Two forms of I - A keep their digits in different places:

- all eigenvectors V of the centred kernel matrix: ``V diag(alpha / (lambda + alpha)) V'``,
- few of them: ``C - V diag(lambda / (lambda + alpha)) V'`` with C the centring matrix.

**Whole queries.** Rows of the Laplacian's coordinates belong to one query each, so with ``G = (Z Z' + alpha I)^-1`` the
held-out residuals of a query q are ``e_q = G_qq^-1 (G u)_q``. They tell the predictions up to their mean over the
query, which follows from the kernel between the query's mean and all contrasts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernelrank.solvers._ridge import Spectrum

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_BLOCK_ELEMENTS = 1 << 22  # of a block of rows against all rows: 32 MiB
_CACHED_ELEMENTS = 1 << 15


@dataclass(frozen=True)
class OneRanking:
    """Hold-outs of rows that are all compared with each other.

    Attributes
    ----------
    spectrum : Spectrum
        Of the centred rows; its vectors as long as there are rows.
    complete : bool
        Whether the vectors span all that is orthogonal to the constants.
    y : ndarray of shape (m, p)
    """

    spectrum: Spectrum
    complete: bool
    y: Array

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    def predict(self, rows: Rows, alpha: float) -> Array:
        """Predict some rows, all of them held out."""
        alpha *= 1 - len(rows) / self.n_rows
        block = self._matrix(rows, alpha)[:, rows]
        return self.y[rows] - _solve(block, self._residuals(alpha)[rows])

    def each_row(self, alpha: float) -> Array:
        """Predict every row, held out alone."""
        alpha *= 1 - 1 / self.n_rows
        return np.asarray(self.y - self._residuals(alpha) / self._diagonal(alpha)[:, None])

    def pairs(self, pairs: Rows, alpha: float) -> Array:
        """Predict both rows of each pair, the two of them held out; shape (n_pairs, 2, p)."""
        alpha *= 1 - 2 / self.n_rows
        residuals, diagonal = self._residuals(alpha), self._diagonal(alpha)
        first, second = pairs.T
        factors = self._factors(alpha)
        vectors = self.spectrum.vectors
        between = np.einsum("kr,r,kr->k", vectors[first], factors, vectors[second])
        if not self.complete:
            between -= 1 / self.n_rows
        return np.stack(
            [
                self._pair(first, second, residuals, diagonal, between),
                self._pair(second, first, residuals, diagonal, between),
            ],
            axis=1,
        )

    def all_pairs(self, alpha: float) -> Array:
        """Return F, ``F[i, j]`` the prediction of row i with i and j held out; shape (p, m, m).

        The diagonal means nothing: it is NaN.
        """
        found = np.empty((self.y.shape[1], self.n_rows, self.n_rows))
        for rows, between, inverse, residuals, diagonal in self._blocks(alpha):
            own, other = inverse * diagonal, inverse
            other *= between
            for k, r in enumerate(residuals.T):
                block = found[k, rows]
                np.multiply(other, r, out=block)
                block -= own * r[rows, None]
                block += self.y[rows, k, None]
        return found

    def concordance(self, alpha: float) -> Array:
        """Share of the pairs with different targets that are in the right order when held out; ties count half."""
        right, total = np.zeros(self.y.shape[1]), np.zeros(self.y.shape[1])
        for rows, between, inverse, residuals, diagonal in self._blocks(alpha):
            own, other = (diagonal + between) * inverse, inverse
            other *= diagonal[rows, None] + between
            for k, (y, r) in enumerate(zip(self.y.T, residuals.T, strict=True)):
                differences = y[rows, None] - y
                predicted = other * r
                predicted -= own * r[rows, None]
                predicted += differences  # F[i, j] - F[j, i]
                agreement = np.sign(differences) * np.sign(predicted)
                right[k] += (
                    np.count_nonzero(agreement > 0) + np.count_nonzero((agreement == 0) & (differences != 0)) / 2
                )
                total[k] += np.count_nonzero(differences)
        return right / total

    def _blocks(self, alpha: float) -> Iterator[tuple[slice, Array, Array, Array, Array]]:
        """Yield a few rows at a time, so that the work on them stays in the caches.

        Rows, theirs of I - A, the inverse determinants of their pairs (NaN for a row with itself), and of all
        rows the residuals and the diagonal of I - A.
        """
        alpha *= 1 - 2 / self.n_rows
        residuals, diagonal = self._residuals(alpha), self._diagonal(alpha)
        for part in _slices(self.n_rows, _BLOCK_ELEMENTS // self.n_rows):
            matrix = self._matrix(part, alpha)
            for few in _slices(len(matrix), _CACHED_ELEMENTS // self.n_rows):
                rows = slice(part.start + few.start, part.start + few.stop)
                between = matrix[few]
                determinant = diagonal[rows, None] * diagonal
                determinant -= between**2
                determinant[np.arange(len(between)), np.arange(rows.start, rows.stop)] = np.nan
                yield rows, between, 1.0 / determinant, residuals, diagonal

    def _pair(self, i: Rows, j: Rows, residuals: Array, diagonal: Array, between: Array) -> Array:
        determinant = diagonal[i] * diagonal[j] - between**2
        e = diagonal[j][:, None] * residuals[i] - between[:, None] * residuals[j]
        return np.asarray(self.y[i] - e / determinant[:, None])

    def _factors(self, alpha: float) -> Array:
        values = self.spectrum.values
        return alpha / (values + alpha) if self.complete else -values / (values + alpha)

    def _matrix(self, rows: Rows | slice, alpha: float) -> Array:
        """Rows of I - A."""
        vectors = self.spectrum.vectors
        block = (vectors[rows] * self._factors(alpha)) @ vectors.T
        if not self.complete:
            block -= 1 / self.n_rows
            numbers = np.arange(self.n_rows)[rows]
            block[np.arange(len(numbers)), numbers] += 1.0
        return np.asarray(block)

    def _diagonal(self, alpha: float) -> Array:
        diagonal = self.spectrum.vectors**2 @ self._factors(alpha)
        return np.asarray(diagonal if self.complete else diagonal + (1 - 1 / self.n_rows))

    def _residuals(self, alpha: float) -> Array:
        """(I - A) y."""
        vectors, y = self.spectrum.vectors, self.y - self.y.mean(axis=0)
        residuals = vectors @ (self._factors(alpha)[:, None] * (vectors.T @ y))
        return np.asarray(residuals if self.complete else residuals + y)


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


def _slices(n: int, size: int) -> Iterator[slice]:
    for start in range(0, n, max(1, size)):
        yield slice(start, min(n, start + max(1, size)))


def _solve(matrix: Array, right: Array) -> Array:
    """Solve with a symmetric, positive definite matrix."""
    return np.asarray(np.linalg.solve(matrix, right)) if len(right) else right
