"""Pairs of held-out rows that are basis rows, or one of which is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from kernelrank._arrays import Array, like, take, take_rows, to_host
from kernelrank.solvers._pair_equations import LostOfPairs, PairEquations, row_products

if TYPE_CHECKING:
    from kernelrank.solvers._hold_out import OneRanking

Rows = NDArray[np.intp]

_PARALLEL = 1e-6  # a square of a sine, from which on ten digits are left


class PairsOfBasis:
    """Equations of such pairs, for one alpha.

    What each basis row loses alone tells what two of them do, but for those whose losses are next to parallel: for
    these few, it is found from the two.

    Parameters
    ----------
    ranking : OneRanking
        With a basis.
    alpha : float
        That of the refit.
    """

    def __init__(self, ranking: OneRanking, alpha: float) -> None:
        assert ranking.basis is not None
        self._ranking, self._alpha, self._basis = ranking, alpha, ranking.basis
        self._scale = ranking.scale_of_lost(alpha)
        xp, lost = array_namespace(ranking.y), ranking.basis.each_alone(alpha)
        self._shrunk, self._directions = lost.shrunk, xp.concat([lost.inside, lost.outside])
        self._along = ranking.along.T @ lost.shrunk  # (p, n_basis + 1)
        self._vectors = ranking.spectrum.vectors
        own = xp.vecdot(take(self._vectors, self._basis.basis.rows), lost.shrunk[:, :-1].T)
        self._own = xp.concat([own, like(np.zeros(1), own)])

    def every_row(self) -> tuple[Array, Array]:
        """Return what W_ii and the residuals gain for every row that is held out alone; shapes (m,) and (m, p)."""
        own = take(self._own, self._basis.position)
        return own**2, own[:, None] * take(self._along, self._basis.position, axis=1).T

    def correct(self, equations: PairEquations, pairs: Rows) -> PairEquations:
        """Correct the equations of given pairs."""
        xp, (first, second) = array_namespace(self._own), pairs.T
        i, j = self._basis.position[first], self._basis.position[second]
        parallel = row_products(self._directions.T, i, self._directions.T, j)
        special = _next_to_parallel(parallel)
        lost = LostOfPairs(
            take(self._own, i),
            row_products(self._vectors, second, self._shrunk.T, i),
            row_products(self._vectors, first, self._shrunk.T, j),
            take(self._own, j),
            xp.where(like(special, parallel), 0.0, parallel),
            take(self._along, i, axis=1),
            take(self._along, j, axis=1),
        )
        found = equations.without(lost, self._scale)
        for k in np.flatnonzero(special):
            self._find(found, pairs[k], (int(k),))
        return found

    def correct_block(self, equations: PairEquations, rows: Rows, columns: Rows) -> PairEquations:
        """Correct the equations of every combination of some rows with others."""
        xp, i, j = array_namespace(self._own), self._basis.position[rows], self._basis.position[columns]
        of_rows, same = take(self._shrunk, i, axis=1), rows[:, None] == columns
        parallel = take(take(self._directions, i, axis=1).T @ self._directions, j, axis=1)
        special = _next_to_parallel(parallel) & ~same
        lost = LostOfPairs(
            take(self._own, i)[:, None],
            (take_rows(self._vectors, columns) @ of_rows).T,
            take(take(self._vectors, rows) @ self._shrunk, j, axis=1),
            take(self._own, j),
            xp.where(like(special | same, parallel), 0.0, parallel),
            take(self._along, i, axis=1)[:, :, None],
            take(self._along, j, axis=1)[:, None, :],
        )
        found = equations.without(lost, self._scale)
        for k, column in np.argwhere(special):
            self._find(found, np.array([rows[k], columns[column]]), (int(k), int(column)))
        return found

    def _find(self, equations: PairEquations, pair: Rows, where: tuple[int, ...]) -> None:
        """Replace the equations of one pair."""
        matrix, residuals, products, scales = self._ranking.equations(pair, self._alpha)
        equations.first[where], equations.second[where] = matrix[0, 0], matrix[1, 1]
        equations.between[where], equations.s_first[where], equations.s_second[where] = (
            matrix[0, 1],
            scales[0],
            scales[1],
        )
        for k in range(residuals.shape[1]):
            equations.r_first[(k, *where)], equations.r_second[(k, *where)] = residuals[0, k], residuals[1, k]
            equations.products[(k, *where)] = products[k]


def _next_to_parallel(parallel: Array) -> NDArray[np.bool_]:
    return np.asarray(1.0 - to_host(parallel) ** 2 < _PARALLEL)
