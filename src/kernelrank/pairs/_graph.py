"""Laplacians of given pairs: as edges of a graph, or diagonalised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._arrays import eigh

Array = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class GraphLaplacian:
    """Laplacian of given edges: one row of P per edge, the value of the winner minus that of the loser.

    Products take O(edges).

    Attributes
    ----------
    winners, losers : ndarray of shape (k,)
        Rows of the edges.
    n_rows : int
        Number of rows.
    """

    winners: Codes
    losers: Codes
    n_rows: int

    orthonormal: ClassVar[bool] = False
    any_namespace: ClassVar[bool] = False

    @cached_property
    def _edges(self) -> sp.csr_array:
        k = len(self.winners)
        columns = np.stack([self.winners, self.losers], axis=1).ravel()
        return sp.csr_array((np.tile([1.0, -1.0], k), columns, np.arange(0, 2 * k + 1, 2)), shape=(k, self.n_rows))

    def project(self, V: Array) -> Array:
        """Return P V.

        Parameters
        ----------
        V : ndarray of shape (n_rows,) or (n_rows, k)
            Values of the rows.

        Returns
        -------
        ndarray of shape (n_edges,) or (n_edges, k)
            Their differences.
        """
        return np.asarray(self._edges @ V)

    def lift(self, C: Array) -> Array:
        """Return P' C.

        Parameters
        ----------
        C : ndarray of shape (n_edges,) or (n_edges, k)
            Values of the edges.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, k)
            Their sums over the edges of each row, with a minus where it is the loser.
        """
        return np.asarray(self._edges.T @ C)

    def diagonal(self, strengths: Array) -> Array:
        """Return the diagonal of ``P' diag(strengths) P``.

        Parameters
        ----------
        strengths : ndarray of shape (n_edges,)
            Weights of the edges.

        Returns
        -------
        ndarray of shape (n_rows,)
            The diagonal.
        """
        won, lost = (np.bincount(rows, strengths, self.n_rows) for rows in (self.winners, self.losers))
        return np.asarray(won + lost)

    def diagonalise(self, strengths: Array, queries: Codes) -> DenseLaplacian:
        """Return the Laplacian with orthonormal contrasts, query by query: O(sum of m_q^3).

        Parameters
        ----------
        strengths : ndarray of shape (n_edges,)
            Weights of the edges.
        queries : ndarray of shape (n_rows,)
            Query of each row, 0, 1, ...

        Returns
        -------
        DenseLaplacian
            The same Laplacian.
        """
        of_edge = queries[self.winners]
        n_queries = int(queries.max()) + 1
        edges = members(of_edge, n_queries)
        rows = members(queries, n_queries)
        position = np.empty(self.n_rows, dtype=np.intp)
        values, vectors, of_contrast = [np.empty(0)], [np.empty((0, self.n_rows))], [np.empty(0, np.intp)]
        for query in np.unique(of_edge):
            position[rows[query]] = np.arange(len(rows[query]))
            winners, losers = (position[side[edges[query]]] for side in (self.winners, self.losers))
            found, basis = _spectrum(winners, losers, strengths[edges[query]], len(rows[query]))
            placed = np.zeros((len(found), self.n_rows))
            placed[:, rows[query]] = basis
            values.append(found)
            vectors.append(placed)
            of_contrast.append(np.full(len(found), query))
        return DenseLaplacian(np.concatenate(values), np.concatenate(of_contrast), np.concatenate(vectors))


def members(codes: Codes, n: int) -> list[NDArray[np.intp]]:
    """Return the positions of each of the codes 0, 1, ..., n - 1.

    Parameters
    ----------
    codes : ndarray of shape (m,)
        Codes 0, 1, ...
    n : int
        Number of codes.

    Returns
    -------
    list of ndarray
        Positions of each code, in ascending order.
    """
    counts = np.bincount(codes, minlength=n)
    return np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])


def _spectrum(winners: Codes, losers: Codes, strengths: Array, m: int) -> tuple[Array, Array]:
    """Return the positive eigenvalues of a Laplacian, and their eigenvectors as rows."""
    L = np.zeros((m, m))
    np.add.at(L, (winners, losers), -strengths)
    L += L.T
    np.fill_diagonal(L, -L.sum(axis=1))
    values, vectors = eigh(L)
    kept = values > m * _EPS * values[-1]
    return values[kept], vectors[:, kept].T


@dataclass(frozen=True)
class DenseLaplacian:
    """Laplacian with orthonormal contrasts, as a dense matrix.

    Attributes
    ----------
    strengths : ndarray of shape (k,)
        Eigenvalues, all positive.
    queries : ndarray of shape (k,)
        Query of each contrast.
    vectors : ndarray of shape (k, m)
        The matrix P.
    """

    strengths: Array
    queries: Codes
    vectors: Array

    orthonormal: ClassVar[bool] = True
    any_namespace: ClassVar[bool] = False
    tells_differences: ClassVar[bool] = False  # no pair may connect some rows

    def diagonalise(self, strengths: Array, queries: Codes) -> None:
        """Return None, as the contrasts are orthonormal.

        Parameters
        ----------
        strengths : ndarray of shape (k,)
            Not used.
        queries : ndarray of shape (m,)
            Not used.
        """

    def diagonal(self, strengths: Array) -> Array:
        """Return the diagonal of ``P' diag(strengths) P``.

        Parameters
        ----------
        strengths : ndarray of shape (k,)
            Weights of the contrasts.

        Returns
        -------
        ndarray of shape (m,)
            The diagonal.
        """
        return np.asarray(strengths @ self.vectors**2)

    def project(self, V: Array) -> Array:
        """Return P V.

        Parameters
        ----------
        V : ndarray of shape (m,) or (m, p)
            Values of the rows.

        Returns
        -------
        ndarray of shape (k,) or (k, p)
            Their contrasts.
        """
        return self.vectors @ V

    def lift(self, C: Array) -> Array:
        """Return P' C.

        Parameters
        ----------
        C : ndarray of shape (k,) or (k, p)
            Contrasts.

        Returns
        -------
        ndarray of shape (m,) or (m, p)
            Values of the rows.
        """
        return self.vectors.T @ C

    def solve(self, C: Array) -> Array:
        """Return rows V with P V = C.

        Parameters
        ----------
        C : ndarray of shape (k,) or (k, p)
            Contrasts.

        Returns
        -------
        ndarray of shape (m,) or (m, p)
            Values of the rows.
        """
        return self.lift(C)

    def project_both(self, K: Array) -> Array:
        """Return P K P'.

        Parameters
        ----------
        K : ndarray of shape (m, m)
            Symmetric matrix.

        Returns
        -------
        ndarray of shape (k, k)
            The product.
        """
        M = self.vectors @ K @ self.vectors.T
        return np.asarray((M + M.T) / 2)
