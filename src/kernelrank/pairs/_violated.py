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

    def violated(self) -> ViolatedPairs:
        """Return the violated pairs, to be evaluated for many score vectors."""


class ViolatedPairs:
    """Pairs that a score vector violates: their counts, and the Laplacian L of their graph.

    ``(L v)[i]`` is the sum of ``v[i] - v[j]`` over the violated pairs of row i, and ``v . L v`` is the sum of
    ``(v[i] - v[j])^2`` over all violated pairs. Both refer to the scores of the last `count`. Vectors are not
    validated, because this is the inner loop of training.

    Parameters
    ----------
    core : compiled object
    n_rows, n_queries, n_threads : int
    """

    def __init__(self, core: Any, n_rows: int, n_queries: int, n_threads: int) -> None:
        self._core, self._n_rows, self._n_queries, self._n_threads = core, n_rows, n_queries, n_threads

    def count(self, scores: Vector, scale: Vector, out: Vector | None = None) -> tuple[Vector, Vector, Vector]:
        """Return ``scale * (c - d)``, one factor per query, and per query the violations and ``(c - d) . scores``.

        If `out` is given, the first is written to that array.
        """
        g = np.empty(self._n_rows) if out is None else out
        violations, inner = np.empty(self._n_queries), np.empty(self._n_queries)
        self._core.count(scores, scale, g, violations, inner, self._n_threads)
        return g, violations, inner

    def multiply(self, v: Vector, scale: Vector, add_to: Vector | None = None) -> tuple[Vector, Vector]:
        """Return ``scale * L v``, with one factor per query, and ``v . L v`` per query.

        If `add_to` is given, the first is added to that array.
        """
        out, inner = np.empty(self._n_rows) if add_to is None else add_to, np.empty(self._n_queries)
        self._core.multiply(v, scale, add_to is not None, out, inner, self._n_threads)
        return out, inner

    def degrees(self, scale: Vector) -> Vector:
        """Return ``scale * (c + d)``, the diagonal of ``scale * L``."""
        out = np.empty(self._n_rows)
        self._core.degrees(scale, out)
        return out
