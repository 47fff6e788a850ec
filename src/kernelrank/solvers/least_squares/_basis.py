r"""Correction for basis rows that are held out.

Features are computed from basis rows (``kernelrank.features``). Without some of these, the weights must be orthogonal
to the directions N of the feature space that only the missing rows span. With ``Z = V S U'`` and ``lambda = S^2``, let
Q be an orthonormal basis of the span of

    ``(lambda + alpha)^-1/2 U'N``,    stacked on ``alpha^-1/2 (N - U U'N)``, the part outside the row space of Z.

Then the residual operator W (``_residual.py``) becomes ``W + Y Y'``, with ``Y = V G`` and ``G = D^1/2 Q``: a sum of
semidefinite matrices, in which no digits cancel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from kernelrank._arrays import Array, like, take, to_host
from kernelrank.features import lost_alone, lost_directions
from kernelrank.solvers.least_squares._pair_equations import LostOfPairs, PairEquations, PairIndex
from kernelrank.solvers.least_squares._residual import Residual
from kernelrank.solvers.least_squares._spectrum import Spectrum

Rows = NDArray[np.intp]

_PARALLEL = 1e-6  # a squared sine, from which on ten digits are left


class Basis(NamedTuple):
    """Basis rows among m rows, and the map from their kernels to features."""

    rows: Rows
    whitening: Array  # of shape (n_basis, n), with as many features


class Directions(NamedTuple):
    """Directions N that are lost with some basis rows."""

    inside: Array  # U'N, of shape (r, n_lost)
    outside: Array | None  # N - U U'N, of shape (n, n_lost); None if the row space of Z is everything

    @property
    def n_lost(self) -> int:
        """Number of directions."""
        return int(self.inside.shape[1])


class _Recent:
    """Cache of the directions found last, up to a number of directions in total."""

    def __init__(self, most: int) -> None:
        self._most, self._n_kept = most, 0
        self._kept: dict[bytes, Directions] = {}

    def get(self, key: bytes) -> Directions | None:
        return self._kept.get(key)

    def keep(self, key: bytes, directions: Directions) -> None:
        self._kept[key] = directions
        self._n_kept += directions.n_lost
        while self._n_kept > self._most and self._kept:
            self._n_kept -= self._kept.pop(next(iter(self._kept))).n_lost


class Lost(NamedTuple):
    """Q and G of some directions, for one alpha."""

    inside: Array  # the part of Q inside the row space of Z; shape (r, n_lost)
    outside: Array  # the part outside, of shape (n, n_lost); or (0, n_lost) if there is nothing outside
    shrunk: Array  # G, of shape (r, n_lost)


@dataclass(frozen=True)
class HeldOutBasis:
    """Basis rows; holding one out removes directions of the feature space.

    Attributes
    ----------
    basis : Basis
    spectrum : Spectrum
        Of the contrasts of the features, with its right singular vectors; columns of zeros where there are more on the
        left.
    n_rows : int
    """

    basis: Basis
    spectrum: Spectrum
    n_rows: int

    @cached_property
    def position(self) -> Rows:
        """Number of each row among the basis rows; n_basis for other rows."""
        found = np.full(self.n_rows, len(self.basis.rows))
        found[self.basis.rows] = np.arange(len(self.basis.rows))
        return found

    def directions(self, rows: Rows) -> Directions | None:
        """Find the directions that are lost with some rows; None if there is no basis row among them.

        They are kept for other alphas, as many as there are basis rows: a set of disjoint folds has no more.
        """
        gone = np.isin(self.basis.rows, rows)
        if not gone.any():
            return None
        key = np.packbits(gone).tobytes()
        found = self._recent.get(key)
        if found is None:
            found = self._split(lost_directions(self._whitening, gone))
            self._recent.keep(key, found)
        return found

    def whole(self, directions: Directions) -> Array:
        """Return N."""
        N = self._right @ directions.inside
        return N if directions.outside is None else N + directions.outside

    def lost(self, directions: Directions, alpha: float) -> Lost:
        """Return Q and G of some directions, for one alpha."""
        L = self._coordinates(directions, alpha)
        return self._as_lost(array_namespace(L).linalg.qr(L)[0], alpha)

    def each_alone(self, alpha: float) -> Lost:
        """Return Q and G of each basis row alone: one column of length 1 each, and a column of zeros for other rows."""
        xp, L = array_namespace(self._right), self._coordinates(self._alone, alpha)
        lengths = xp.sqrt(xp.sum(L**2, axis=0))
        return self._as_lost(L / xp.where(lengths > 0.0, lengths, 1.0), alpha)

    def without(self, rows: Rows, W: Residual, alpha: float) -> Residual:
        """Return the residual operator of the model without the basis rows among some rows, for one alpha."""
        directions = self.directions(rows)
        return W if directions is None else W.minus(self.lost(directions, alpha).shrunk)

    @cached_property
    def _recent(self) -> _Recent:
        return _Recent(len(self.basis.rows))

    @cached_property
    def _alone(self) -> Directions:
        return self._split(np.pad(lost_alone(self._whitening), ((0, 0), (0, 1))))

    def _split(self, found: NDArray[np.float64]) -> Directions:
        U = self._right
        N = like(found, U)
        inside = U.T @ N
        if U.shape[0] <= U.shape[1]:
            return Directions(inside, None)
        outside = N - U @ inside
        outside -= U @ (U.T @ outside)  # once more, because rounding errors are divided by a small alpha
        return Directions(inside, outside)

    @cached_property
    def _whitening(self) -> NDArray[np.float64]:
        return np.asarray(to_host(self.basis.whitening))

    @property
    def _right(self) -> Array:
        assert self.spectrum.right is not None
        return self.spectrum.right

    def _coordinates(self, directions: Directions, alpha: float) -> Array:
        """Stack what is to be made orthonormal, the largest rows first: QR then keeps the digits of small ones."""
        xp = array_namespace(directions.inside)
        inside = xp.flip(directions.inside / xp.sqrt(self.spectrum.values + alpha)[:, None], axis=0)
        return inside if directions.outside is None else xp.concat([directions.outside / alpha**0.5, inside])

    def _as_lost(self, Q: Array, alpha: float) -> Lost:
        xp, values = array_namespace(Q), self.spectrum.values
        n_outside = Q.shape[0] - values.shape[0]
        inside = xp.flip(Q[n_outside:, :], axis=0)
        return Lost(inside, Q[:n_outside, :], xp.sqrt(values / (values + alpha))[:, None] * inside)


class PairsOfBasis:
    """Corrections of the equations of pairs with basis rows, for one alpha.

    The columns of Y of two basis rows follow from those of each alone, unless these are nearly parallel. Then both are
    decomposed together.

    Parameters
    ----------
    W : Residual
    basis : HeldOutBasis
    alpha : float
        That of the refit.
    """

    def __init__(self, W: Residual, basis: HeldOutBasis, alpha: float) -> None:
        self._W, self._alpha, self._basis = W, alpha, basis
        self._scale = W.scale_of_lost(alpha)
        xp, lost = array_namespace(W.targets), basis.each_alone(alpha)
        self._shrunk, self._directions = lost.shrunk, xp.concat([lost.inside, lost.outside])
        self._along = W.along.T @ lost.shrunk  # (p, n_basis + 1)
        self._vectors = W.spectrum.vectors
        own = xp.vecdot(take(self._vectors, self._basis.basis.rows), lost.shrunk[:, :-1].T)
        self._own = xp.concat([own, like(np.zeros(1), own)])

    def every_row(self) -> tuple[Array, Array]:
        """Return what is added to W_ii and to residuals of rows held out alone; shapes (m,) and (m, p)."""
        own = take(self._own, self._basis.position)
        return own**2, own[:, None] * take(self._along, self._basis.position, axis=1).T

    def correct(self, equations: PairEquations, pairs: PairIndex) -> PairEquations:
        """Correct the equations of pairs."""
        xp, of_basis, same = array_namespace(self._own), pairs.map(self._basis.position), pairs.same
        i, j, shrunk, directions = of_basis.first, of_basis.second, self._shrunk.T, self._directions.T
        parallel = pairs.products(directions, i, directions, j)
        special = (1.0 - np.asarray(to_host(parallel)) ** 2 < _PARALLEL) & ~same
        lost = LostOfPairs(
            of_basis.of_first(self._own),
            pairs.products(shrunk, i, self._vectors, pairs.second),
            pairs.products(self._vectors, pairs.first, shrunk, j),
            of_basis.of_second(self._own),
            xp.where(like(special | same, parallel), 0.0, parallel),
            of_basis.of_first(self._along),
            of_basis.of_second(self._along),
        )
        found = equations.without(lost, self._scale)
        for where in map(tuple, np.argwhere(special).tolist()):
            self._find(found, np.array([pairs.first[where[0]], pairs.second[where[-1]]]), where)
        return found

    def _find(self, equations: PairEquations, pair: Rows, where: tuple[int, ...]) -> None:
        """Replace the equations of one pair."""
        W = self._basis.without(pair, self._W, self._alpha)
        matrix, scales = W.block(pair, self._alpha), W.scales(self._alpha, pair)
        residuals, products = W.apply(self._alpha, pair), W.products(self._alpha)
        equations.first[where], equations.second[where] = matrix[0, 0], matrix[1, 1]
        equations.between[where] = matrix[0, 1]
        equations.s_first[where], equations.s_second[where] = scales[0], scales[1]
        for k in range(residuals.shape[1]):
            equations.r_first[(k, *where)], equations.r_second[(k, *where)] = residuals[0, k], residuals[1, k]
            equations.products[(k, *where)] = products[k]
