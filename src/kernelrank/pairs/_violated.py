"""Interface between pairs and losses."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Pairs(Protocol):
    """Pairs of rows of which one should have the higher score."""

    n_rows: int
    censored: bool  # whether some utilities are not observed
    pairs_per_query: NDArray[Any]

    def violated(self) -> Violated:
        """Return the violated pairs for a loss.

        Returns
        -------
        Violated
            Pairs to be evaluated for many score vectors.
        """


class Violated(Protocol):
    """Interface of `ViolatedPairs` to a loss; sums per query may come in parts, as many as there are factors."""

    def factors(self, scale: Vector) -> Vector:
        """Return factors of queries in the form that the other methods take."""

    def count(self, scores: Vector, scale: Vector, out: Vector | None = None) -> tuple[Vector, Vector, Vector]:
        """Count the violated pairs."""

    def multiply(self, v: Vector, scale: Vector, add_to: Vector | None = None) -> tuple[Vector, Vector]:
        """Multiply a vector with L."""

    def degrees(self, scale: Vector) -> Vector:
        """Return the diagonal of L, times the factors."""


class ViolatedPairs:
    """Pairs that a score vector violates: their counts, and the Laplacian L of their graph.

    ``(L v)[i]`` is the sum of ``v[i] - v[j]`` over the violated pairs of row i, and ``v . L v`` is the sum of
    ``(v[i] - v[j])^2`` over all violated pairs. Both refer to the scores of the last `count`. Vectors are not
    validated, because this is the inner loop of training.

    Parameters
    ----------
    core : compiled object
        Pairs in the compiled core.
    n_rows : int
        Number of rows.
    n_queries : int
        Number of queries.
    n_threads : int
        Number of threads.
    """

    def __init__(self, core: Any, n_rows: int, n_queries: int, n_threads: int) -> None:
        self._core, self._n_rows, self._n_queries, self._n_threads = core, n_rows, n_queries, n_threads

    def factors(self, scale: Vector) -> Vector:
        """Return factors of queries in the form that the other methods take, which is this one.

        Parameters
        ----------
        scale : ndarray of shape (n_queries,)
            Factor of each query.

        Returns
        -------
        ndarray of shape (n_queries,)
            The same.
        """
        return scale

    def count(self, scores: Vector, scale: Vector, out: Vector | None = None) -> tuple[Vector, Vector, Vector]:
        """Count the violated pairs.

        If `out` is given, the first is written to that array.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,)
            Scores of the rows.
        scale : ndarray of shape (n_queries,)
            Factor of each query.
        out : ndarray of shape (n_rows,), optional
            Array that the first result is written to.

        Returns
        -------
        g : ndarray of shape (n_rows,)
            ``scale * (c - d)``.
        violations : ndarray of shape (n_queries,)
            Violated pairs of each query.
        inner : ndarray of shape (n_queries,)
            ``(c - d) . scores`` of each query.
        """
        g = np.empty(self._n_rows) if out is None else out
        violations, inner = np.empty(self._n_queries), np.empty(self._n_queries)
        self._core.count(scores, scale, g, violations, inner, self._n_threads)
        return g, violations, inner

    def multiply(self, v: Vector, scale: Vector, add_to: Vector | None = None) -> tuple[Vector, Vector]:
        """Multiply a vector with L.

        If `add_to` is given, the first is added to that array.

        Parameters
        ----------
        v : ndarray of shape (n_rows,)
            Vector to multiply.
        scale : ndarray of shape (n_queries,)
            Factor of each query.
        add_to : ndarray of shape (n_rows,), optional
            Array that the first result is added to.

        Returns
        -------
        product : ndarray of shape (n_rows,)
            ``scale * L v``.
        inner : ndarray of shape (n_queries,)
            ``v . L v`` of each query.
        """
        out, inner = np.empty(self._n_rows) if add_to is None else add_to, np.empty(self._n_queries)
        self._core.multiply(v, scale, add_to is not None, out, inner, self._n_threads)
        return out, inner

    def degrees(self, scale: Vector) -> Vector:
        """Return ``scale * (c + d)``, the diagonal of ``scale * L``.

        Parameters
        ----------
        scale : ndarray of shape (n_queries,)
            Factor of each query.

        Returns
        -------
        ndarray of shape (n_rows,)
            The diagonal.
        """
        out = np.empty(self._n_rows)
        self._core.degrees(scale, out)
        return out
