"""The Laplacian of given pairs, as edges of a graph or diagonalised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class GraphLaplacian:
    """``L = P' diag(strengths) P`` with a row of P an edge: the winner's value less the loser's.

    It has the products of :class:`PairLaplacian`, in O(edges); for a spectrum there is `diagonalise`.

    Attributes
    ----------
    winners, losers : ndarray of shape (k,)
    strengths : ndarray of shape (k,)
    n_rows : int
    """

    winners: Codes
    losers: Codes
    strengths: Array
    n_rows: int

    def project(self, V: Array) -> Array:
        """P V."""
        return np.asarray(V[self.winners] - V[self.losers])

    def lift(self, C: Array) -> Array:
        """P' C, for a vector."""
        won, lost = (np.bincount(rows, C, self.n_rows) for rows in (self.winners, self.losers))
        return np.asarray(won - lost)

    def diagonal(self, strengths: Array) -> Array:
        """Diagonal of ``P' diag(strengths) P``."""
        won, lost = (np.bincount(rows, strengths, self.n_rows) for rows in (self.winners, self.losers))
        return np.asarray(won + lost)

    def diagonalise(self, queries: Codes) -> DenseLaplacian:
        """Find the spectrum, query by query: O(sum of m_q^3). No edge joins two queries."""
        values, vectors = [], []
        order = np.argsort(queries[self.winners], kind="stable")
        counts = np.bincount(queries[self.winners], minlength=int(queries.max()) + 1)
        for query, edges in enumerate(np.split(order, np.cumsum(counts)[:-1])):
            if len(edges) == 0:
                continue
            rows = np.flatnonzero(queries == query)
            winners, losers = (np.searchsorted(rows, side[edges]) for side in (self.winners, self.losers))
            found, basis = _spectrum(winners, losers, self.strengths[edges], len(rows))
            placed = np.zeros((len(found), self.n_rows))
            placed[:, rows] = basis
            values.append(found)
            vectors.append(placed)
        return DenseLaplacian(np.concatenate(values), np.concatenate(vectors))


def _spectrum(winners: Codes, losers: Codes, strengths: Array, m: int) -> tuple[Array, Array]:
    """Positive eigenvalues of a Laplacian, and their eigenvectors as rows."""
    L = np.zeros((m, m))
    np.add.at(L, (winners, losers), -strengths)
    L += L.T
    np.fill_diagonal(L, -L.sum(axis=1))
    values, vectors = scipy.linalg.eigh(L, check_finite=False, driver="evd")
    kept = values > m * _EPS * values[-1]
    return values[kept], vectors[:, kept].T


@dataclass(frozen=True)
class DenseLaplacian:
    """``L = P' diag(strengths) P`` with orthonormal rows of P, as a matrix; see :class:`PairLaplacian`.

    Attributes
    ----------
    strengths : ndarray of shape (k,)
    vectors : ndarray of shape (k, m)
    """

    strengths: Array
    vectors: Array

    def project(self, V: Array) -> Array:
        """P V."""
        return self.vectors @ V

    def lift(self, C: Array) -> Array:
        """P' C."""
        return self.vectors.T @ C

    def project_both(self, K: Array) -> Array:
        """P K P'."""
        M = self.vectors @ K @ self.vectors.T
        return np.asarray((M + M.T) / 2)

    def solve(self, B: Array) -> Array:
        """Find the smallest V with L V = B, for a matrix whose columns are in the range of L."""
        return np.asarray(self.lift(self.project(B) / self.strengths[:, None]))
