"""Pairs of held-out rows that are basis rows, or one of which is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from kernelrank._arrays import Array, like, slices, take, to_host
from kernelrank.solvers._pair_equations import BLOCK_ELEMENTS, LostOfPairs, PairEquations, row_products

if TYPE_CHECKING:
    from kernelrank.solvers._hold_out import OneRanking

Rows = NDArray[np.intp]

_PARALLEL = 1e-6  # a square of a sine, from which on ten digits are left


class PairsOfBasis:
    """Equations of such pairs, for one alpha.

    What each basis row loses alone tells what two of them do, but for those whose losses are next to parallel, or that
    lose more together: for these few, it is found from the two.

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
        special = self._special(parallel, i, j)
        lost = LostOfPairs(
            take(self._own, i),
            row_products(self._vectors, second, self._shrunk.T, i),
            row_products(self._vectors, first, self._shrunk.T, j),
            take(self._own, j),
            xp.where(like(special, parallel), 0.0, parallel),
            take(self._along, i, axis=1),
            take(self._along, j, axis=1),
        )
        found = equations.without(lost)
        for k in np.flatnonzero(special):
            self._find(found, pairs[k], (int(k),))
        return found

    def blocks(self) -> Iterator[tuple[Rows, PairEquations]]:
        """Yield some basis rows, and their equations with all rows; NaN for a row with itself."""
        ranking, basis = self._ranking, self._basis
        xp, m, p = array_namespace(self._own), basis.n_rows, self._along.shape[0]
        residuals, diagonal = ranking.residuals(self._alpha).T, ranking.diagonal(self._alpha)
        for some in slices(len(basis.basis.rows), BLOCK_ELEMENTS // (4 * m * p)):
            rows = basis.basis.rows[some]
            vectors = take(self._vectors, rows)
            same = rows[:, None] == np.arange(m)
            W = ranking.between(vectors, self._alpha)
            own = PairEquations(
                take(diagonal, rows)[:, None],
                diagonal,
                xp.where(like(same, W), xp.nan, W),
                take(residuals, rows, axis=1)[:, :, None],
                residuals[:, None, :],
            )
            parallel = take(self._directions[:, some].T @ self._directions, basis.position, axis=1)
            special = self._special(parallel, np.arange(some.start, some.stop)[:, None], basis.position) & ~same
            lost = LostOfPairs(
                self._own[some, None],
                (self._vectors @ self._shrunk[:, some]).T,
                take(vectors @ self._shrunk, basis.position, axis=1),
                take(self._own, basis.position),
                xp.where(like(special | same, parallel), 0.0, parallel),
                self._along[:, some, None],
                take(self._along, basis.position, axis=1)[:, None, :],
            )
            found = own.without(lost)
            for k, j in np.argwhere(special):
                self._find(found, np.array([rows[k], j]), (int(k), int(j)))
            yield rows, found

    def _special(self, parallel: Array, i: Rows, j: Rows) -> NDArray[np.bool_]:
        return np.asarray((1.0 - to_host(parallel) ** 2 < _PARALLEL) | self._basis.together[i, j])

    def _find(self, equations: PairEquations, pair: Rows, where: tuple[int, ...]) -> None:
        """Replace the equations of one pair."""
        matrix, residuals = self._ranking.equations(pair, self._alpha)
        equations.first[where], equations.second[where] = matrix[0, 0], matrix[1, 1]
        equations.between[where] = matrix[0, 1]
        for k in range(residuals.shape[1]):
            equations.r_first[(k, *where)], equations.r_second[(k, *where)] = residuals[0, k], residuals[1, k]
