"""Explicitly given pairs of rows."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._core import Preferences
from kernelrank._query_ids import encode_queries
from kernelrank._rules import COUNT
from kernelrank._validation import as_array, check_weights
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.pairs._violated import ViolatedPairs


class CheckedPreferences(NamedTuple):
    """Pairs of rows that have been checked.

    Attributes
    ----------
    pairs : ndarray of shape (n_pairs, 2)
        Rows, ``[winner, loser]``.
    n_rows : int
    queries : ndarray of shape (n_pairs,) or None
        Query of each PAIR; None for a single query.
    n_queries : int
    weights : ndarray of shape (n_pairs,) or None
    """

    pairs: NDArray[np.integer]
    n_rows: int
    queries: NDArray[np.int32] | None
    n_queries: int
    weights: NDArray[np.float64] | None

    def take(self, some: Any) -> CheckedPreferences:
        """Return some of the pairs."""
        queries, weights = (None if each is None else each[some] for each in (self.queries, self.weights))
        return self._replace(pairs=self.pairs[some], queries=queries, weights=weights)


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
        Numbers of rows and of queries.
    n_pairs : int, or float with weights
        Number of pairs, or their total weight.
    pairs_per_query : ndarray of shape (n_queries,)
        Number of pairs of each query, or their weight.

    Notes
    -----
    A count takes O(n_pairs) time, in one thread. Memory is 9 bytes per pair, plus 12 with queries and weights.

    Examples
    --------
    >>> from kernelrank.pairs import PreferencePairs
    >>> PreferencePairs([[0, 1], [1, 2]], n_rows=3).n_pairs
    2
    """

    censored = False

    def __init__(
        self,
        pairs: ArrayLike,
        n_rows: int,
        *,
        weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> None:
        self._keep(check_preferences(pairs, n_rows, weight, qid))

    @classmethod
    def of_checked(cls, preferences: CheckedPreferences) -> Self:
        """Return pairs that have been checked, without checking them again.

        Parameters
        ----------
        preferences : CheckedPreferences
            Checked pairs, with their weights and queries.

        Returns
        -------
        PreferencePairs
            The pairs.
        """
        pairs = cls.__new__(cls)
        pairs._keep(preferences)
        return pairs

    def _keep(self, given: CheckedPreferences) -> None:
        self.n_rows, self.n_queries = given.n_rows, given.n_queries
        winners, losers = (np.ascontiguousarray(given.pairs[:, side], dtype=np.int32) for side in (0, 1))
        self._arguments = (winners, losers, given.queries, given.weights, given.n_rows, given.n_queries)
        numbers = np.zeros(len(given.pairs), np.int32) if given.queries is None else given.queries
        self.pairs_per_query = np.bincount(numbers, given.weights, minlength=self.n_queries)
        self.n_pairs = self.pairs_per_query.sum().item()

    def violated(self) -> ViolatedPairs:
        """Return the violated pairs for a loss.

        Returns
        -------
        ViolatedPairs
            Pairs with working memory of their own.
        """
        return ViolatedPairs(Preferences(*self._arguments), self.n_rows, self.n_queries, n_threads=1)


def check_preferences(
    pairs: ArrayLike, n_rows: int, weight: ArrayLike | None, qid: ArrayLike | None
) -> CheckedPreferences:
    """Check pairs of rows, their weights, and the queries of the rows."""
    COUNT("n_rows", n_rows)
    edges = check_pairs(pairs, n_rows)
    codes, n_queries = encode_queries(qid, n_rows)
    queries = None if codes is None else queries_of_pairs(edges, codes)
    weights = check_weights(weight, len(edges), "weight", of="pairs")
    return CheckedPreferences(edges, n_rows, queries, n_queries, weights)


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
