r"""Pairs that are held out of one ranking whose ties do not count.

Utilities fall into classes. Without a row of class c and one of class d, m_k rows of each class k remain, m in all, and
the loss is the same function of errors e for every such pair: with means over the classes, and N pairs,

    ``sum over k of a_k (sum over class k of (e_i - mean_k)^2) + mean' R mean``,

    ``a_k = (m - m_k) / N``,  ``R = (m diag(m_k) - m_k m_k') / N``.

That is least squares with an unknown constant, and errors of covariance ``B = diag(v_k) + H M H'``, with H the
indicators of the classes, ``v_k = 1 / a_k`` and ``M = R^+ - diag(v_k / m_k)``: one decomposition serves all pairs of
the two classes. With W the inverse of ``K / alpha + B`` off the constants, ``e_S = W_SS^-1 (W y)_S`` are the errors of
two held-out rows S, but of predictions that know the rows' classes. The sums over classes of the coefficients,
``H' (W y - W_S e_S)``, tell how much is due to that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from kernelrank.exceptions import NoComparablePairsError
from kernelrank.pairs import PairLaplacian, members
from kernelrank.solvers._hold_out import OneRanking
from kernelrank.solvers._ridge import decompose_kernel

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_BLOCK_ELEMENTS = 1 << 21  # of pairs of rows at once: 16 MiB a matrix
_ROUNDING = 64 * float(np.finfo(np.float64).eps)
_WORST = 1e6


@dataclass(frozen=True)
class PairOfClasses:
    """Hold-outs of a row of one class and a row of another, or of two rows of one class.

    Attributes
    ----------
    ranking : OneRanking
        With one output.
    classes : ndarray of shape (m,)
    known : ndarray of shape (n_classes, n_classes)
        Times the coefficients' sums over classes: what a prediction for a row of each class has to lose.
    """

    ranking: OneRanking
    classes: Rows
    known: Array

    def pairs(self, pairs: Rows, alpha: float) -> Array:
        """Predict both rows of each pair; shape (n_pairs, 2)."""
        i, j = pairs.T
        found = self.ranking.pairs(pairs, alpha)[:, :, 0]
        first, second = found.T
        return np.stack([self._correct(i, j, first, second, alpha), self._correct(j, i, second, first, alpha)], axis=1)

    def block(self, rows: Rows, columns: Rows, alpha: float) -> tuple[Array, Array]:
        """Predict rows of one class and rows of the other, for every combination: those of `rows`, of `columns`."""
        first = self.ranking.all_pairs(alpha, rows, columns)[0]
        second = self.ranking.all_pairs(alpha, columns, rows)[0].T
        i, j = rows[:, None], columns
        return self._correct(i, j, first, second, alpha), self._correct(j, i, second, first, alpha)

    def _correct(self, i: Rows, j: Rows, predicted: Array, other: Array, alpha: float) -> Array:
        """Take from predictions for i, rows of one class, what is due to that."""
        y, known = self.ranking.y[:, 0], self.known[self.classes[i.flat[0]]][self.classes]
        vectors, values = self.ranking.spectrum.vectors, self.ranking.spectrum.values
        spread = vectors @ ((alpha / (values + alpha)) * (vectors.T @ known))  # W known
        effect = spread @ (y - y.mean()) - spread[i] * (y[i] - predicted) - spread[j] * (y[j] - other)
        return np.asarray(predicted - effect)


class WithoutTies:
    """All such hold-outs of a ranking.

    Parameters
    ----------
    M : ndarray of shape (m - 1, m - 1)
        Kernel matrix of the contrasts.
    noise : float
        What eigenvalues of it are but rounding.
    laplacian : PairLaplacian
        Of the pairs without ties, whose contrasts these are.
    y : ndarray of shape (m, 1)
    """

    def __init__(self, M: Array, noise: float, laplacian: PairLaplacian, y: Array) -> None:
        self._M, self._noise, self._laplacian, self._y = M, noise, laplacian, y
        _, self.classes = np.unique(y[:, 0], return_inverse=True)
        self._sizes = np.bincount(self.classes).astype(np.float64)
        self._rows = members(self.classes, len(self._sizes))
        self._last: tuple[tuple[int, int], PairOfClasses] | None = None

    @property
    def n_classes(self) -> int:
        """Number of distinct utilities."""
        return len(self._sizes)

    def pairs(self, pairs: Rows, alpha: float) -> Array:
        """Predict both rows of each pair; shape (n_pairs, 2)."""
        found = np.empty(pairs.shape)
        order = np.argsort(self.classes[pairs], axis=1)
        ordered = np.take_along_axis(pairs, order, axis=1)
        of_pair = self.classes[ordered]
        for c, d in np.unique(of_pair, axis=0):
            ours = (of_pair == (c, d)).all(axis=1)
            found[ours] = self._decompose(c, d).pairs(ordered[ours], alpha)
        return np.take_along_axis(found, np.argsort(order, axis=1), axis=1)

    def all_pairs(self, alpha: float) -> Array:
        """Return F, ``F[i, j]`` the prediction of row i with i and j held out.

        It is NaN on the diagonal, and where nothing would be left to learn from.
        """
        found = np.full((len(self._y), len(self._y)), np.nan)
        for c in range(self.n_classes):
            for d in range(c, self.n_classes):
                left = self._left(c, d)
                if left.min() < 0 or np.count_nonzero(left) < 2:
                    continue
                for rows, first, second in self._blocks(c, d, alpha):
                    found[np.ix_(rows, self._rows[d])] = first
                    found[np.ix_(self._rows[d], rows)] = second.T
        return found

    def concordances(self, alphas: Array) -> Array:
        """Share of the pairs of different utilities that are in the right order when held out, for each alpha."""
        right, total = np.zeros(len(alphas)), 0.0
        scale = _ROUNDING * np.sqrt(len(self._y)) * np.abs(self._y - self._y.mean()).max()
        for c in range(self.n_classes):
            for d in range(c + 1, self.n_classes):
                total += self._sizes[c] * self._sizes[d]
                largest = float(np.max(self._decompose(c, d).ranking.spectrum.values, initial=0.0))
                for k, alpha in enumerate(alphas):
                    # Rounding grows as the condition of the equations, that of equal rows as well.
                    rounding = scale * min(1.0 + largest / alpha, _WORST)
                    for _, first, second in self._blocks(c, d, float(alpha)):
                        second -= first
                        right[k] += np.count_nonzero(second > rounding)
                        right[k] += np.count_nonzero(np.abs(second) <= rounding) / 2
        return right / total

    def _blocks(self, c: int, d: int, alpha: float) -> Iterator[tuple[Rows, Array, Array]]:
        """Yield rows of class c, and predictions for them and for all rows of class d."""
        pair, columns = self._decompose(c, d), self._rows[d]
        size = max(1, _BLOCK_ELEMENTS // len(columns))
        for start in range(0, len(self._rows[c]), size):
            rows = self._rows[c][start : start + size]
            yield rows, *pair.block(rows, columns, alpha)

    def _decompose(self, c: int, d: int) -> PairOfClasses:
        """Decompose the contrasts in coordinates in which their errors have the covariance of the identity."""
        if self._last is not None and self._last[0] == (c, d):  # for the next alpha
            return self._last[1]
        variances, covariance, known = self._errors(c, d)
        inside, between = self._laplacian.levels
        n = len(inside.groups)
        scale = 1.0 / np.sqrt(variances[inside.groups])[:, None]
        lengths = inside.norms[:, None]
        means = between.split(np.diag(variances) + lengths * covariance * lengths.T)[0]
        factor = np.linalg.cholesky(between.split(means.T)[0])

        def whiten(A: Array) -> Array:
            return np.vstack([scale * A[:n], scipy.linalg.solve_triangular(factor, A[n:], lower=True)])

        spectrum = decompose_kernel(whiten(whiten(self._M).T), self._noise * float(np.max(1.0 / variances)))
        vectors = spectrum.vectors
        back = np.vstack(
            [scale * vectors[:n], scipy.linalg.solve_triangular(factor, vectors[n:], lower=True, trans="T")]
        )
        spectrum = type(spectrum)(spectrum.values, self._laplacian.lift(back))
        found = PairOfClasses(OneRanking(spectrum, True, self._y, averaged=False), self.classes, known)
        self._last = (c, d), found
        return found

    def _errors(self, c: int, d: int) -> tuple[Array, Array, Array]:
        """Return v_k, M, and what is to be known about it, without a row of each of two classes."""
        left = self._left(c, d)
        m, n_pairs = left.sum(), (left.sum() ** 2 - left @ left) / 2
        if n_pairs == 0:
            raise NoComparablePairsError("Without a pair, two utilities must be left: one is too rare.")
        inverse = np.linalg.pinv((m * np.diag(left) - np.outer(left, left)) / n_pairs, hermitian=True)
        variances = n_pairs / np.where(left < m, m - left, 1.0)
        # Of a class of one row, only the sum of its variance and its element of M counts: it may be split as we like.
        variances[left == 1] /= 2
        covariance = inverse - np.diag(np.where(left > 0, variances / np.where(left > 0, left, 1.0), 0.0))
        return variances, covariance, covariance - left @ inverse / m

    def _left(self, c: int, d: int) -> Array:
        left = self._sizes.copy()
        np.subtract.at(left, [c, d], 1.0)
        return left
