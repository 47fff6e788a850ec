r"""What ridge regression would predict for held-out rows of one ranking, from one decomposition of all rows.

The reference is always a refit of the same estimator on the rows that remain, with the same alpha. Losses are
averages, so fewer rows change how much the penalty weighs: in units of the whole problem, alpha becomes
``alpha * (what remains of the normaliser) / (the whole)``.

With A the matrix that takes the targets y to the predictions (a mean is fitted as well), the
residuals of held-out rows S are ``e_S = (I - A)_SS^-1 ((I - A) y)_S`` (Pahikkala et al. 2009, section 3.4, for pairs;
Rifkin and Lippert 2007 for any rows). Two forms of I - A keep their digits in different places:

- all eigenvectors V of the centred kernel matrix: ``V diag(alpha / (lambda + alpha)) V'``,
- few of them: ``C - V diag(lambda / (lambda + alpha)) V'`` with C the centring matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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


def _slices(n: int, size: int) -> Iterator[slice]:
    for start in range(0, n, max(1, size)):
        yield slice(start, min(n, start + max(1, size)))


def _solve(matrix: Array, right: Array) -> Array:
    """Solve with a symmetric, positive definite matrix."""
    return np.asarray(np.linalg.solve(matrix, right)) if len(right) else right
