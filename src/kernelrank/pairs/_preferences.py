"""Explicitly given pairs of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._core import Preferences
from kernelrank._rules import COUNT
from kernelrank._validation import as_array, check_weights, encode_queries
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.pairs._violated import ViolatedPairs


class PreferencePairs:
    """Explicit preferences: the first row of each pair should have the higher score.

    A pair is *violated* by scores ``p`` when ``p[winner] < p[loser] + 1``. Duplicates and cycles are allowed: duplicate
    pairs count separately, and opposite pairs are both used.

    Parameters
    ----------
    pairs : array-like of shape (n_pairs, 2)
        Row indices ``[winner, loser]``.
    n_rows : int
        Number of rows of the data set.
    weight : array-like of shape (n_pairs,), optional
        Non-negative weights of the pairs.
    qid : array-like of shape (n_rows,), optional
        Query of each row (not of each pair). No pair may join two queries.

    Attributes
    ----------
    n_rows, n_queries : int
    n_pairs : int, or float with weights
        Number of pairs, or their total weight.
    pairs_per_query : ndarray of shape (n_queries,)

    Notes
    -----
    A count takes O(n_pairs) time, in one thread. Memory is 9 bytes per pair, plus 12 with queries and weights.

    Examples
    --------
    >>> from kernelrank.pairs import PreferencePairs
    >>> PreferencePairs([[0, 1], [1, 2]], n_rows=3).n_pairs
    2
    """

    def __init__(
        self,
        pairs: ArrayLike,
        n_rows: int,
        *,
        weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> None:
        COUNT("n_rows", n_rows)
        edges = check_pairs(pairs, n_rows)
        codes, self.n_queries = encode_queries(qid, n_rows)
        queries = None if codes is None else queries_of_pairs(edges, codes)
        self.n_rows = n_rows
        weights = check_weights(weight, len(edges), "weight", of="pairs")
        winners, losers = (np.ascontiguousarray(edges[:, side], dtype=np.int32) for side in (0, 1))
        self._arguments = (winners, losers, queries, weights, n_rows, self.n_queries)
        numbers = np.zeros(len(edges), np.int32) if queries is None else queries
        self.pairs_per_query = np.bincount(numbers, weights, minlength=self.n_queries)
        self.n_pairs = self.pairs_per_query.sum().item()

    def violated(self) -> ViolatedPairs:
        """Return the violated pairs for a loss, with separate working memory."""
        return ViolatedPairs(Preferences(*self._arguments), self.n_rows, self.n_queries, n_threads=1)


def check_pairs(pairs: ArrayLike, n_rows: int, of: str = "X") -> NDArray[np.integer]:
    """Return pairs of row indices below `n_rows`; `of` names the array of the rows in errors."""
    edges = as_array(pairs, "pairs")
    if edges.size == 0:
        raise NoComparablePairsError("pairs is empty; at least one pair is required.")
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError(f"pairs must have shape (n_pairs, 2), with rows [winner, loser], got {edges.shape}.")
    if edges.dtype.kind not in "iu":
        raise ValueError(f"pairs must hold integer row indices, got dtype {edges.dtype}.")
    outside = ((edges < 0) | (edges >= n_rows)).any(axis=1)
    if outside.any():
        k = int(outside.argmax())
        raise ValueError(f"pairs[{k}] is {edges[k].tolist()}, but {of} has {n_rows} rows, 0 to {n_rows - 1}.")
    with_itself = edges[:, 0] == edges[:, 1]
    if with_itself.any():
        k = int(with_itself.argmax())
        raise ValueError(f"pairs[{k}] compares row {edges[k, 0]} with itself.")
    return edges


def queries_of_pairs(edges: NDArray[np.integer], codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the query of each pair, given the queries of the rows."""
    queries: NDArray[np.int32] = codes[edges[:, 0]]
    others = codes[edges[:, 1]]
    if (queries != others).any():
        k = int((queries != others).argmax())
        raise ValueError(
            f"pairs[{k}] is {edges[k].tolist()}, two rows of different queries; pairs must be within a query."
        )
    return queries
