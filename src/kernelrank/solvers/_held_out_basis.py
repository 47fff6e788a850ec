r"""Basis rows that are held out: what ridge regression loses with them.

Features are made of basis rows (``kernelrank.features``), and the fold takes some of these: weights must then be
orthogonal to the directions N that only they could tell. With ``Z = V S U'`` and ``lambda = S^2``, an orthonormal basis
Q of the span of

    ``(lambda + alpha)^-1/2 U'N``,    and of ``alpha^-1/2 (N - U U'N)`` below it, where Z does not reach,

tells what that does: of ``A = V D V'``, which takes targets to predictions, ``Y Y'`` is lost, with ``Y = V G`` and
``G = D^1/2 Q``. So residuals and their matrix become those of ``I - A + Y Y'``: sums of what is not negative, which
cost no digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from kernelrank._arrays import Array, like, to_host
from kernelrank.features import lost_alone, lost_directions
from kernelrank.solvers._ridge import Spectrum

Rows = NDArray[np.intp]


class Basis(NamedTuple):
    """Which of m rows features are made of, and how."""

    rows: Rows
    whitening: Array  # of shape (n_basis, n), with as many features


class Directions(NamedTuple):
    """What is lost with some basis rows, for any alpha."""

    inside: Array  # U'N, of shape (r, n_lost)
    outside: Array | None  # N - U U'N, of shape (n, n_lost); None, if Z reaches everything

    @property
    def n_lost(self) -> int:
        """Number of directions."""
        return int(self.inside.shape[1])


class _Recent:
    """What was found last, up to a number of directions in all."""

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
    """What is lost with some basis rows, for one alpha."""

    inside: Array  # Q, as far as Z reaches; shape (r, n_lost)
    outside: Array  # the rest of it, of shape (n, n_lost); or (0, n_lost), if Z reaches everything
    shrunk: Array  # G, of shape (r, n_lost)


@dataclass(frozen=True)
class HeldOutBasis:
    """What is lost with basis rows.

    Attributes
    ----------
    basis : Basis
    spectrum : Spectrum
        Of the features' contrasts, with its right singular vectors; zeros, where there are more on the left.
    n_rows : int
    """

    basis: Basis
    spectrum: Spectrum
    n_rows: int

    @cached_property
    def position(self) -> Rows:
        """Which basis row each row is; n_basis, if it is none."""
        found = np.full(self.n_rows, len(self.basis.rows))
        found[self.basis.rows] = np.arange(len(self.basis.rows))
        return found

    def directions(self, rows: Rows) -> Directions | None:
        """Find what is lost with the basis rows among some rows; None if there are no such rows.

        It is kept for other alphas, of as many basis rows as there are: a set of folds has no more.
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
        """Find what is lost along directions, for one alpha."""
        L = self._coordinates(directions, alpha)
        return self._as_lost(array_namespace(L).linalg.qr(L)[0], alpha)

    def each_alone(self, alpha: float) -> Lost:
        """Find what is lost with each basis row alone: columns of length 1, and one of zeros for no row."""
        xp, L = array_namespace(self._right), self._coordinates(self._alone, alpha)
        lengths = xp.sqrt(xp.sum(L**2, axis=0))
        return self._as_lost(L / xp.where(lengths > 0.0, lengths, 1.0), alpha)

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
        outside -= U @ (U.T @ outside)  # once more, or rounding would be divided by a small alpha
        return Directions(inside, outside)

    @cached_property
    def _whitening(self) -> NDArray[np.float64]:
        return np.asarray(to_host(self.basis.whitening))

    @property
    def _right(self) -> Array:
        assert self.spectrum.right is not None
        return self.spectrum.right

    def _coordinates(self, directions: Directions, alpha: float) -> Array:
        """Stack what is to be made orthonormal, the greatest rows first: so the small ones keep their digits."""
        xp = array_namespace(directions.inside)
        inside = xp.flip(directions.inside / xp.sqrt(self.spectrum.values + alpha)[:, None], axis=0)
        return inside if directions.outside is None else xp.concat([directions.outside / alpha**0.5, inside])

    def _as_lost(self, Q: Array, alpha: float) -> Lost:
        xp, values = array_namespace(Q), self.spectrum.values
        n_outside = Q.shape[0] - values.shape[0]
        inside = xp.flip(Q[n_outside:, :], axis=0)
        return Lost(inside, Q[:n_outside, :], xp.sqrt(values / (values + alpha))[:, None] * inside)
