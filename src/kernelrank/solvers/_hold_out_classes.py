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
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from kernelrank.exceptions import NoComparablePairsError
from kernelrank.pairs import PairLaplacian, members
from kernelrank.solvers._held_out_basis import Basis, HeldOutBasis
from kernelrank.solvers._hold_out import OneRanking
from kernelrank.solvers._pair_equations import PairEquations, equal_if_tied
from kernelrank.solvers._ridge import decompose_completely, decompose_kernel

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class PairOfClasses:
    """Hold-outs of a row of one class and a row of another, or of two rows of one class.

    Attributes
    ----------
    ranking : OneRanking
        Its outputs are y, and what is known about a row of the first class, and about one of the second: times the
        coefficients, that is what a prediction has to lose.
    """

    ranking: OneRanking

    def pairs(self, pairs: Rows, alpha: float) -> Array:
        """Predict both rows of each pair; shape (n_pairs, 2)."""
        equations, (first, second) = self.ranking.equations_of_pairs(pairs, alpha), self.ranking.y[:, 0][pairs.T]
        return np.stack(self._predict(equations, first, second, alpha), axis=1)

    def blocks(self, rows: Rows, columns: Rows, alpha: float) -> Iterator[tuple[Rows, Array, Array]]:
        """Yield some of the rows, which are of the first class, and predictions for them and all columns."""
        y = self.ranking.y[:, 0]
        for some, equations in self.ranking.blocks_of_pairs(rows, columns, alpha):
            yield some, *self._predict(equations, y[some, None], y[columns], alpha)

    def _predict(self, equations: PairEquations, y_first: Array, y_second: Array, alpha: float) -> tuple[Array, Array]:
        """Predict both rows of each pair, without knowing their classes; ties have the same value (``_ties.py``).

        What is known about a class is lost: ``z'Wy - r_S'e_S`` of the output z, with residuals r of that output.
        """
        first, second = (errors[0] for errors in equations.solve())
        due = equations.products - equations.r_first * first - equations.r_second * second
        # The difference of the predictions has the errors of e, times these; those of r, times e; and of z'Wy.
        by_first = equations.r_first[1] - equations.r_first[2] - 1.0
        by_second = equations.r_second[1] - equations.r_second[2] + 1.0
        b = self.ranking.tolerances(alpha)
        lengths = np.linalg.norm(self.ranking.residuals(alpha)[:, 1:], axis=0)
        noise = b[0] * (equations.amplify(by_first, by_second) + lengths.sum())
        noise = noise + b[1:].sum() * (equations.s_first * abs(first) + equations.s_second * abs(second))
        noise = np.minimum(noise, self.ranking.limits[0])
        return equal_if_tied(y_first - first - due[1], y_second - second - due[2], noise)


class WithoutTies:
    """All such hold-outs of a ranking.

    Parameters
    ----------
    laplacian : PairLaplacian
        Of the pairs without ties.
    y : ndarray of shape (m, 1)
    matrix : tuple of ndarray of shape (m - 1, m - 1), and float
        Kernel matrix of the contrasts, and what eigenvalues of it are but rounding.
    features : tuple of ndarray of shape (m - 1, n), and Basis
        Those of the contrasts, and the rows that they are made of; instead of a matrix.
    """

    def __init__(
        self,
        laplacian: PairLaplacian,
        y: Array,
        *,
        matrix: tuple[Array, float] | None = None,
        features: tuple[Array, Basis] | None = None,
    ) -> None:
        self._laplacian, self._y, self._matrix, self._features = laplacian, y, matrix, features
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
            for d in self._others(c):
                for rows, first, second in self._blocks(c, d, alpha):
                    here, there = np.ix_(rows, self._rows[d]), np.ix_(self._rows[d], rows)
                    # A pair of one class is there twice: its predictions are those of its lower row, or ties differ.
                    mine = (rows[:, None] < self._rows[d]) | (c != d)
                    found[here] = np.where(mine, first, found[here])
                    found[there] = np.where(mine.T, second.T, found[there])
        return found

    def order(self, alpha: float) -> NDArray[np.int8]:
        """Return 1 where row i is predicted above row j with both held out, -1 below, and 0 where they are equal.

        It is 0 for rows without which nothing would be left to learn from.
        """
        found = np.zeros((len(self._y), len(self._y)), np.int8)
        for c in range(self.n_classes):
            for d in self._others(c):
                for rows, first, second in self._blocks(c, d, alpha):
                    signs = (first > second).astype(np.int8) - (first < second)  # 0 for a row and itself: NaN
                    found[np.ix_(rows, self._rows[d])], found[np.ix_(self._rows[d], rows)] = signs, -signs.T
        return found

    def _others(self, c: int) -> list[int]:
        """Classes from c on of which a row can be held out with one of c, and something is left to learn from."""
        lefts = {d: self._left(c, d) for d in range(c, self.n_classes)}
        return [d for d, left in lefts.items() if left.min() >= 0 and np.count_nonzero(left) >= 2]

    def _blocks(self, c: int, d: int, alpha: float) -> Iterator[tuple[Rows, Array, Array]]:
        """Yield some rows of one class, and predictions for them and all of the other."""
        return self._decompose(c, d).blocks(self._rows[c], self._rows[d], alpha)

    def concordances(self, alphas: Array) -> Array:
        """Share of the pairs of different utilities that are in the right order when held out, for each alpha."""
        right, total = np.zeros(len(alphas)), 0.0
        for c in range(self.n_classes):
            for d in range(c + 1, self.n_classes):
                total += self._sizes[c] * self._sizes[d]
                for k, alpha in enumerate(alphas):
                    for _, first, second in self._blocks(c, d, float(alpha)):
                        right[k] += np.count_nonzero(second > first) + np.count_nonzero(second == first) / 2
        return right / total

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

        if self._features is not None:
            spectrum = decompose_completely(whiten(self._features[0]))
        else:
            assert self._matrix is not None
            M, noise = self._matrix
            spectrum = decompose_kernel(whiten(whiten(M).T), noise * float(np.max(1.0 / variances)))
        vectors = spectrum.vectors
        back = np.vstack(
            [scale * vectors[:n], scipy.linalg.solve_triangular(factor, vectors[n:], lower=True, trans="T")]
        )
        spectrum = replace(spectrum, vectors=self._laplacian.lift(back))
        outputs = np.column_stack([self._y, known[c][self.classes], known[d][self.classes]])
        basis = None if self._features is None else HeldOutBasis(self._features[1], spectrum, len(outputs))
        found = PairOfClasses(OneRanking(spectrum, True, outputs, averaged=False, basis=basis))
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
