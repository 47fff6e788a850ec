r"""Hold-outs of two rows at a time.

Alphas are those of the refit, in units of the whole problem. Pairs of NumPy's rows are solved by compiled code; pairs
with basis rows, and arrays of other libraries, in blocks of the equations of ``_pair_equations.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from kernelrank._arrays import Array, is_foreign, like, take, to_host
from kernelrank._core import HeldOutRows, count_held_out, order_held_out, predict_held_out
from kernelrank._memory import require_memory
from kernelrank._threads import resolve_threads
from kernelrank.solvers.least_squares._basis import HeldOutBasis, PairsOfBasis
from kernelrank.solvers.least_squares._blocks import blocks
from kernelrank.solvers.least_squares._pair_equations import PairCounts, PairEquations, PairIndex
from kernelrank.solvers.least_squares._residual import Residual
from kernelrank.solvers.least_squares._ties import LIMIT, SAFETY

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

BLOCK_ROWS = 256  # enough for the matrix product to be fast, few enough to save what is below the diagonal


@dataclass(frozen=True)
class HeldOutPairs:
    """Predictions of both rows of pairs by models without them.

    Attributes
    ----------
    W : Residual
    basis : HeldOutBasis, optional
        Rows whose features are lost when they are held out.
    n_jobs : int, optional
        Threads of the compiled code; matrix products have those of BLAS.
    """

    W: Residual
    basis: HeldOutBasis | None = None
    n_jobs: int | None = None

    def each_row(self, alpha: float) -> tuple[Array, Array]:
        """Return the residual of every row that is held out alone, and the factor of the error of its equation."""
        W = self.W
        diagonal, residuals, scales = W.diagonal(alpha), W.apply(alpha), W.scales(alpha)
        if self.basis is not None:
            of_diagonal, of_residuals = PairsOfBasis(W, self.basis, alpha).every_row()
            diagonal, residuals = diagonal + of_diagonal, residuals + of_residuals
            scales = scales + W.scale_of_lost(alpha) * of_diagonal**0.5
        return residuals / diagonal[:, None], scales / diagonal

    def pairs(self, pairs: Rows, alpha: float) -> Array:
        """Predict both rows of each pair; shape (n_pairs, 2, p)."""
        xp, y, index = array_namespace(self.W.targets), self.W.targets.T, PairIndex(*pairs.T)
        [equations] = self._equations([index], alpha)
        found = equations.predict(index.of_first(y), index.of_second(y), self.tolerances(alpha), self.limits)
        return xp.permute_dims(xp.stack(found), (2, 0, 1))

    def equations(self, pairs: Rows, alpha: float) -> PairEquations:
        """Return the equations of pairs."""
        [equations] = self._equations([PairIndex(*pairs.T)], alpha)
        return equations

    def blocks(self, rows: Rows, columns: Rows, alpha: float) -> Iterator[tuple[Rows, PairEquations]]:
        """Yield some of the rows, and their equations with all columns; NaN for a row with itself."""
        parts = blocks(len(rows), 4 * len(columns) * self.W.targets.shape[1])
        index = [PairIndex(rows[part], columns, combined=True) for part in parts]
        for some, equations in zip(index, self._equations(index, alpha), strict=True):
            yield some.first, equations

    def _equations(self, pairs: list[PairIndex], alpha: float) -> Iterator[PairEquations]:
        if not pairs:
            return
        W, xp = self.W, array_namespace(self.W.targets)
        diagonal, residuals, scales = W.diagonal(alpha), W.apply(alpha).T, W.scales(alpha)
        basis = None if self.basis is None else PairsOfBasis(W, self.basis, alpha)
        for some in pairs:
            between = W.of_pairs(some, alpha)
            equations = PairEquations(
                some.of_first(diagonal),
                some.of_second(diagonal),
                xp.where(like(some.same, between), xp.nan, between),
                some.of_first(residuals),
                some.of_second(residuals),
                xp.reshape(W.products(alpha), (-1, *(1,) * between.ndim)),
                some.of_first(scales),
                some.of_second(scales),
            )
            yield equations if basis is None else basis.correct(equations, some)

    def all_pairs(self, alpha: float) -> Array:
        """Return F, ``F[i, j]`` the prediction of row i with i and j held out; shape (p, m, m), NaN on the diagonal."""
        m, (xp, y) = self.W.n_rows, (array_namespace(self.W.targets), self.W.targets.T)
        ties = self.tolerances(alpha), self.limits
        if is_foreign(y):
            found = xp.full((y.shape[0], m, m), xp.nan, dtype=xp.float64, device=device(y))
        else:
            require_memory(
                8 * y.shape[0] * m * m,
                f"Predictions of all pairs, of shape {(y.shape[0], m, m)} with the outputs first,",
                "Ask for some of the pairs, or for their concordance.",
            )
            found = np.empty((y.shape[0], m, m))
        for block in self._compiled(alpha, ties):
            predict_held_out(out=found, **block)
        rows, turn = self._not_compiled, np.full(m, m)
        turn[rows] = np.arange(len(rows))
        for some, equations in self.blocks(rows, np.arange(m), alpha):
            first, second = equations.predict(take(y, some, axis=1)[:, :, None], y[:, None, :], *ties)
            # Both rows of a pair may have a line here: the predictions of the first are taken, so that ties agree.
            mine = like(turn[some][:, None] < turn, first)
            here: Any = slice(int(some[0]), int(some[-1]) + 1) if len(rows) == m else some
            found[:, here, :] = xp.where(mine, first, found[:, here, :])
            found[:, :, here] = xp.where(mine.T, xp.permute_dims(second, (0, 2, 1)), found[:, :, here])
        return found

    def order(self, alpha: float) -> NDArray[np.int8]:
        """Return, for each output, 1 where row i is predicted above row j with both held out, -1 below, 0 for ties.

        Shape (p, m, m).
        """
        m, y = self.W.n_rows, self.W.targets.T
        require_memory(
            y.shape[0] * m * m, f"The order of all pairs, of shape {(y.shape[0], m, m)},", "Ask for their concordance."
        )
        found, ties = np.zeros((y.shape[0], m, m), np.int8), (self.tolerances(alpha), self.limits)
        for block in self._compiled(alpha, ties):
            order_held_out(out=found, **block)
        for some, equations in self.blocks(self._not_compiled, np.arange(m), alpha):
            signs = equations.orders(take(y, some, axis=1)[:, :, None], y[:, None, :], *ties)
            for k, (_, higher, lower) in enumerate(signs):
                line = np.asarray(to_host(higher)).astype(np.int8) - np.asarray(to_host(lower))
                found[k, some, :], found[k, :, some] = line, -line
        return found

    def count(self, alpha: float) -> PairCounts:
        """Count the pairs with different targets, and those in the right order when both rows are held out."""
        m, y = self.W.n_rows, self.W.targets.T
        halves, pairs = np.zeros((2, y.shape[0]), np.int64)
        ties = self.tolerances(alpha), self.limits
        alone = np.ones(m, dtype=bool)  # columns without a line of their own: their pairs come once
        alone[self._not_compiled] = False
        for some, equations in self.blocks(self._not_compiled, np.arange(m), alpha):
            own = take(y, some, axis=1)[:, :, None]
            counts = equations.count(own, y[:, None, :], *ties, alone=like(alone, y))
            halves, pairs = halves + counts[0], pairs + counts[1]
        for block in self._compiled(alpha, ties, None if alone.all() else np.flatnonzero(alone)):
            count_held_out(halves=halves, pairs=pairs, **block)
        return PairCounts(halves, pairs)

    @property
    def _not_compiled(self) -> Rows:
        """Rows whose pairs are not left to compiled code."""
        if is_foreign(self.W.targets):
            return np.arange(self.W.n_rows)
        return np.empty(0, np.intp) if self.basis is None else self.basis.basis.rows

    def _compiled(self, alpha: float, ties: tuple[Floats, Floats], rows: Rows | None = None) -> Iterator[Any]:
        """Yield what is on and above the diagonal of W, a few rows at a time, as the compiled functions take it."""
        W = self.W
        if is_foreign(W.targets):
            return
        numbers = slice(None) if rows is None else rows
        parts = (
            *(W.diagonal(alpha)[numbers], W.apply(alpha).T[:, numbers]),
            *(W.targets.T[:, numbers], W.scales(alpha)[numbers]),
        )
        common = {
            "rows": HeldOutRows(*map(np.ascontiguousarray, parts)),
            "shift": W.constant,
            "tolerances": ties[0],
            "limits": ties[1],
            "n_threads": resolve_threads(self.n_jobs),
        }
        for first, between in W.blocks_above_diagonal(rows, alpha, BLOCK_ROWS):
            yield {**common, "between": between, "first": first}

    def tolerances(self, alpha: float) -> NDArray[np.float64]:
        """Bound the errors of the equations of rows and pairs, for each output, in units of the scales of the rows.

        The held-out model differs from that of all rows by its two residuals, which are at most about those of rows
        that are held out alone. Where those of a pair are larger, its determinant is small, and allows for it.
        """
        W, xp = self.W, array_namespace(self.W.targets)
        refit, zero = like(np.array([alpha]), W.targets), like(np.zeros((1, 1)), W.targets)
        found = W.rounding.size(W.along[:, None, :], zero, W.target_sizes, refit)[0, :]
        vectors, none, alone, most = W.spectrum.vectors, (zero[0, :], zero[0, :]), abs(self.each_row(alpha)[0]), []
        for part in blocks(W.n_rows, 8 * W.rank):
            of_rows = W.rounding.size(vectors[part, :].T[:, :, None], zero + 1.0, none, refit)
            most.append(xp.max(alone[part, :] * of_rows, axis=0))
        return np.asarray(SAFETY * to_host(found + 2.0 * xp.max(xp.stack(most), axis=0)))

    @cached_property
    def limits(self) -> NDArray[np.float64]:
        """Widest tie of each output."""
        return np.asarray(LIMIT * to_host(self.W.target_sizes[1]))
