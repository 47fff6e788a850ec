r"""Held-out pairs of one ranking whose ties do not count.

Utilities fall into classes. Without a row of class c and one of class d, m_k rows of each class k remain, m in all, and
the loss is the same function of errors e for every such pair: with means over the classes, and N pairs,

    ``sum over k of a_k (sum over class k of (e_i - mean_k)^2) + mean' R mean``,

    ``a_k = (m - m_k) / N``,  ``R = (m diag(m_k) - m_k m_k') / N``.

That is least squares with an unknown constant, and errors of covariance ``B = diag(v_k) + H M H'``, with H the
indicators of the classes, ``v_k = 1 / a_k`` and ``M = R^+ - diag(v_k / m_k)``: one decomposition serves all pairs of
the two classes. With W the inverse of ``K / alpha + B`` off the constants, the residual operator of ``_residual.py``,
``e_S = W_SS^-1 (W y)_S`` are the errors of two held-out rows S, but of predictions that know the classes of the rows.
The sums over classes of the coefficients, ``H' (W y - W_S e_S)``, tell how much of a prediction is due to that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import cast

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from kernelrank._arrays import is_foreign, to_host
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.pairs import PairLaplacian, members
from kernelrank.solvers.least_squares._basis import HeldOutBasis
from kernelrank.solvers.least_squares._hold_out import NO_CLOSED_FORM, HoldOut, require_four_rows
from kernelrank.solvers.least_squares._pair_equations import PairEquations, equal_if_tied
from kernelrank.solvers.least_squares._pairs import HeldOutPairs
from kernelrank.solvers.least_squares._problem import LeastSquares
from kernelrank.solvers.least_squares._residual import Residual
from kernelrank.solvers.least_squares._spectrum import decompose_completely, decompose_kernel

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_PAIRS_OF_CLASSES = 55  # at most, each of which takes a decomposition: ten classes, with themselves and each other


@dataclass(frozen=True)
class PairOfClasses:
    """Hold-outs of a row of one class and a row of another, or of two rows of one class.

    Attributes
    ----------
    held_out : HeldOutPairs
        Its outputs are y, and what the model knows about a row of the first class, and of the second: times the
        coefficients, these are to be subtracted from predictions.
    """

    held_out: HeldOutPairs

    def pairs(self, pairs: Rows, alpha: float) -> Array:
        """Predict both rows of each pair; shape (n_pairs, 2)."""
        equations, (first, second) = self.held_out.equations(pairs, alpha), self.held_out.W.targets[:, 0][pairs.T]
        return np.stack(self._predict(equations, first, second, alpha), axis=1)

    def blocks(self, rows: Rows, columns: Rows, alpha: float) -> Iterator[tuple[Rows, Array, Array]]:
        """Yield some of the rows, which are of the first class, and predictions for them and all columns."""
        y = self.held_out.W.targets[:, 0]
        for some, equations in self.held_out.blocks(rows, columns, alpha):
            yield some, *self._predict(equations, y[some, None], y[columns], alpha)

    def _predict(self, equations: PairEquations, y_first: Array, y_second: Array, alpha: float) -> tuple[Array, Array]:
        """Predict both rows of each pair, without knowing their classes; ties have the same value (``_ties.py``).

        What the model knows about a class is ``z'Wy - r_S'e_S`` of the output z, with residuals r of that output.
        """
        first, second = (errors[0] for errors in equations.solve())
        due = equations.products - equations.r_first * first - equations.r_second * second
        # The difference of the predictions has the errors of e, times these; those of r, times e; and of z'Wy.
        by_first = equations.r_first[1] - equations.r_first[2] - 1.0
        by_second = equations.r_second[1] - equations.r_second[2] + 1.0
        b = self.held_out.tolerances(alpha)
        lengths = np.linalg.norm(self.held_out.W.apply(alpha)[:, 1:], axis=0)
        noise = b[0] * (equations.amplify(by_first, by_second) + lengths.sum())
        noise = noise + b[1:].sum() * (equations.s_first * abs(first) + equations.s_second * abs(second))
        noise = np.minimum(noise, self.held_out.limits[0])
        return equal_if_tied(y_first - first - due[1], y_second - second - due[2], noise)


class ClassesHoldOut(HoldOut):
    """Held-out pairs of one ranking with ``ties="drop"``; of NumPy's arrays.

    Parameters
    ----------
    problem : LeastSquares
        With one output.
    """

    def __init__(self, problem: LeastSquares) -> None:
        super().__init__(f'{NO_CLOSED_FORM} with ties="drop": refit, or use sklearn.model_selection.')
        self._problem, self._y = problem, problem.y
        _, self._classes = np.unique(to_host(self._y)[:, 0], return_inverse=True)
        self._sizes = np.bincount(self._classes).astype(np.float64)
        self._rows = members(self._classes, len(self._sizes))
        self._last: tuple[tuple[int, int], PairOfClasses] | None = None
        n = len(self._sizes)
        self.shortcuts = frozenset({"pairs"} if n * (n + 1) // 2 <= _PAIRS_OF_CLASSES else ())

    def pairs(self, pairs: Rows, alpha: float) -> Array:
        """Predict both rows of each pair; shape (n_pairs, 2, 1)."""
        order = np.argsort(self._classes[pairs], axis=1)
        ordered = np.take_along_axis(pairs, order, axis=1)
        of_pair = self._classes[ordered]
        kinds = np.unique(of_pair, axis=0)
        self._require_few("leave_pair_out", len(kinds))
        found = np.empty(pairs.shape)
        for c, d in kinds:
            ours = (of_pair == (c, d)).all(axis=1)
            found[ours] = self._decompose(c, d).pairs(ordered[ours], alpha)
        return np.take_along_axis(found, np.argsort(order, axis=1), axis=1)[:, :, None]

    def all_pairs(self, alpha: float) -> Array:
        """Return F, ``F[i, j]`` the prediction of row i with i and j held out; shape (1, m, m).

        It is NaN on the diagonal, and where nothing would be left to learn from.
        """
        self._require_few("leave_pair_out")
        found = np.full((len(self._y), len(self._y)), np.nan)
        for c, d, rows, first, second in self._all_blocks(alpha):
            here, there = np.ix_(rows, self._rows[d]), np.ix_(self._rows[d], rows)
            # A pair of one class comes twice: the predictions of its lower row are taken, so that ties agree.
            mine = (rows[:, None] < self._rows[d]) | (c != d)
            found[here] = np.where(mine, first, found[here])
            found[there] = np.where(mine.T, second.T, found[there])
        return found[None]

    def order(self, alpha: float) -> NDArray[np.int8]:
        """Return the signs of ``F[i, j] - F[j, i]``; 0 where nothing would be left to learn from; shape (1, m, m)."""
        self._require_few("leave_pair_out_order")
        found = np.zeros((len(self._y), len(self._y)), np.int8)
        for _, d, rows, first, second in self._all_blocks(alpha):
            signs = (first > second).astype(np.int8) - (first < second)  # 0 for a row and itself: NaN
            found[np.ix_(rows, self._rows[d])], found[np.ix_(self._rows[d], rows)] = signs, -signs.T
        return found[None]

    def concordances(self, alphas: Array) -> Array:
        """Return the share of pairs of different utilities in the right order when held out; shape (n_alphas, 1)."""
        self._require_few("leave_pair_out_concordance")
        right, total = np.zeros(len(alphas)), 0.0
        for c, d in combinations(range(len(self._sizes)), 2):
            total += self._sizes[c] * self._sizes[d]
            for k, alpha in enumerate(alphas):
                for _, first, second in self._blocks(c, d, float(alpha)):
                    right[k] += np.count_nonzero(second > first) + np.count_nonzero(second == first) / 2
        return (right / total)[:, None]

    def _require_few(self, method: str, n_pairs: int | None = None) -> None:
        """Raise if the pairs of classes are too many, or the rows too few."""
        require_four_rows(len(self._classes), method)
        if is_foreign(self._y):
            raise ValueError('Pairs are held out of data with ties="drop" by NumPy alone: fit to NumPy arrays.')
        n = len(self._sizes)
        n_pairs = n * (n + 1) // 2 if n_pairs is None else n_pairs
        if n_pairs > _PAIRS_OF_CLASSES:
            raise ValueError(
                f'With ties="drop", leave_pair_out takes a decomposition for each of {n_pairs} pairs of utilities: keep'
                " ties, ask for other pairs, or refit."
            )

    def _all_blocks(self, alpha: float) -> Iterator[tuple[int, int, Rows, Array, Array]]:
        """Yield two classes, some rows of the first, and predictions for them and all rows of the second."""
        for c in range(len(self._sizes)):
            for d in self._others(c):
                for rows, first, second in self._blocks(c, d, alpha):
                    yield c, d, rows, first, second

    def _others(self, c: int) -> list[int]:
        """Return the classes from c on of which a row can be held out together with one of c."""
        lefts = {d: self._left(c, d) for d in range(c, len(self._sizes))}
        return [d for d, left in lefts.items() if left.min() >= 0 and np.count_nonzero(left) >= 2]

    def _blocks(self, c: int, d: int, alpha: float) -> Iterator[tuple[Rows, Array, Array]]:
        """Yield some rows of one class, and predictions for them and all of the other."""
        return self._decompose(c, d).blocks(self._rows[c], self._rows[d], alpha)

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

        basis = self._problem.held_out_basis
        if basis is not None:
            spectrum = decompose_completely(whiten(self._contrasts_of_features))
        else:
            M, noise = self._kernel_of_contrasts
            spectrum = decompose_kernel(whiten(whiten(M).T), noise * float(np.max(1.0 / variances)))
        vectors = spectrum.vectors
        back = np.vstack(
            [scale * vectors[:n], scipy.linalg.solve_triangular(factor, vectors[n:], lower=True, trans="T")]
        )
        spectrum = replace(spectrum, vectors=self._laplacian.lift(back))
        outputs = np.column_stack([self._y, known[c][self._classes], known[d][self._classes]])
        basis = None if basis is None else HeldOutBasis(basis.basis, spectrum, len(outputs))
        found = PairOfClasses(HeldOutPairs(Residual(spectrum, True, outputs, mean=True), basis))
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

    @property
    def _laplacian(self) -> PairLaplacian:
        return cast(PairLaplacian, self._problem.loss.laplacian)

    @cached_property
    def _contrasts_of_features(self) -> Array:
        return np.asarray(self._problem.contrasts_of_features())

    @cached_property
    def _kernel_of_contrasts(self) -> tuple[Array, float]:
        return self._problem.kernel_of_contrasts(np.ones(len(self._problem.loss.root)))
