"""Held-out predictions of one ranking, whose rows are all compared with each other and weigh the same.

The residual operator has one row per row of the data, and fits a mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from kernelrank._arrays import Array, like, slices
from kernelrank.solvers.least_squares import _residual
from kernelrank.solvers.least_squares._blocks import blocks
from kernelrank.solvers.least_squares._hold_out import HoldOut, check_once, require_four_rows
from kernelrank.solvers.least_squares._pairs import HeldOutPairs
from kernelrank.solvers.least_squares._ties import EPS, SAFETY, Predicted

Rows = NDArray[np.intp]


class RankingHoldOut(HoldOut):
    """Held-out predictions of one ranking.

    Parameters
    ----------
    make : callable
        Returns the hold-outs of pairs, with the residual operator; called when first needed.
    """

    shortcuts = frozenset({"folds", "outputs", "pairs"})

    def __init__(self, make: Callable[[], HeldOutPairs]) -> None:
        super().__init__()
        self._make = make

    @cached_property
    def held_out(self) -> HeldOutPairs:
        """Hold-outs of pairs, at the alpha of the refit."""
        return self._make()

    def folds(self, folds: Sequence[Rows], alpha: float) -> list[Predicted]:
        """Predict the rows of each fold; folds of the same size are solved together."""
        m, found = self.held_out.W.n_rows, dict[int, Predicted]()
        for rows in folds:
            check_once(rows)
            if m - len(rows) < 2:
                raise ValueError("A fold must leave two rows at least.")
        sizes = np.array([len(rows) for rows in folds], dtype=np.intp)
        for size in np.unique(sizes).tolist():
            numbers = np.flatnonzero(sizes == size)
            for some in self._folds_at_once(len(numbers), size):
                values, errors = self._predict(np.stack([folds[number] for number in numbers[some]]), alpha)
                for k, number in enumerate(numbers[some].tolist()):
                    found[number] = Predicted(values[k, ...], errors[k, ...])
        return [found[number] for number in range(len(folds))]

    def _folds_at_once(self, n_folds: int, size: int) -> Iterator[slice]:
        W = self.held_out.W
        if self.held_out.basis is not None or W.by_vectors(size):
            return slices(n_folds, 1)
        return blocks(n_folds, size * (size + W.rank))

    def _predict(self, rows: Rows, alpha: float) -> Predicted:
        """Predict folds of one size, of shape (n_folds, size)."""
        W, alpha = self.held_out.W, self._refit_alpha(alpha, rows.shape[1])
        if self.held_out.basis is not None:
            W = self.held_out.basis.without(rows, W, alpha)
        e, errors = W.residuals(rows, alpha)
        return self._limited(_residual.take_stacked(W.targets, rows) - e, SAFETY * errors)

    def each_row(self, alpha: float) -> Predicted:
        """Predict every row, held out alone."""
        alpha = self._refit_alpha(alpha, 1)
        e, amplified = self.held_out.each_row(alpha)
        errors = amplified[:, None] * like(self.held_out.tolerances(alpha), e)
        return self._limited(self.held_out.W.targets - e, errors)

    def _limited(self, predictions: Array, errors: Array) -> Predicted:
        errors = array_namespace(errors).minimum(errors, like(self.held_out.limits, errors))
        return Predicted(predictions, errors + EPS * abs(predictions))

    def pairs(self, pairs: Rows, alpha: float) -> Array:
        """Predict both rows of each pair; shape (n_pairs, 2, p)."""
        return self.held_out.pairs(pairs, self._refit_alpha(alpha, 2, "leave_pair_out"))

    def all_pairs(self, alpha: float) -> Array:
        """Return F, ``F[i, j]`` the prediction of row i with i and j held out; shape (p, m, m), NaN on the diagonal."""
        return self.held_out.all_pairs(self._refit_alpha(alpha, 2, "leave_pair_out"))

    def order(self, alpha: float) -> NDArray[np.int8]:
        """Return the signs of ``F[i, j] - F[j, i]``; shape (p, m, m)."""
        return self.held_out.order(self._refit_alpha(alpha, 2, "leave_pair_out_order"))

    def concordances(self, alphas: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of pairs in the right order when they are held out; shape (n_alphas, p)."""
        refits = [self._refit_alpha(alpha, 2, "leave_pair_out_concordance") for alpha in alphas.tolist()]
        return np.stack([self.held_out.count(alpha).concordance for alpha in refits])

    def _refit_alpha(self, alpha: float, n_held_out: int, method: str | None = None) -> float:
        """Return the alpha of the refit, in units of the whole problem."""
        m = self.held_out.W.n_rows
        if method is not None:
            require_four_rows(m, method)
        return alpha * (1 - n_held_out / m)
