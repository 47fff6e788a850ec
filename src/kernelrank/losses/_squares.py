"""The squared error of differences, averaged over pairs, as a quadratic form of scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from kernelrank._memory import require_memory
from kernelrank.pairs import (
    GraphLaplacian,
    Laplacian,
    OrthonormalLaplacian,
    PairLaplacian,
    all_pairs,
    pairs_without_ties,
)

Array = NDArray[np.float64]

_BYTES_OF_A_PAIR = 120  # while they are sorted, weighed and put into a graph


@dataclass(frozen=True)
class PairwiseSquares:
    """``(t - P f)' diag(weights / total) (t - P f)`` of scores f, for contrasts P between rows of the same query.

    Attributes
    ----------
    laplacian : Laplacian
        With the contrasts P.
    weights : ndarray of shape (k,)
        Weights of the contrasts, before the average is taken.
    targets : ndarray of shape (k, p)
        Targets of the contrasts, with one column per output.
    importance : ndarray of shape (n_queries,)
        Weight of each query in the average.
    size : ndarray of shape (p,), optional
        Largest of the numbers that the targets are contrasts of: these have rounding errors of that size.
    normaliser : float, optional
        By what the weights are divided, if these are only some of the queries; the sum of `importance` otherwise.
    """

    laplacian: Laplacian
    weights: Array
    targets: Array
    importance: Array
    size: Array | None = None
    normaliser: float | None = None

    closed_form: ClassVar[bool] = True

    @property
    def contrasts(self) -> OrthonormalLaplacian:
        """The Laplacian, which must have orthonormal contrasts."""
        assert self.laplacian.orthonormal
        return cast(OrthonormalLaplacian, self.laplacian)

    @property
    def target_sizes(self) -> Array:
        """Largest of the numbers that the targets are contrasts of, per output; of the targets if it is not known."""
        return np.asarray(np.max(np.abs(self.targets), axis=0) if self.size is None else self.size)

    @property
    def total(self) -> float:
        """By what the weights are divided."""
        return float(self.importance.sum()) if self.normaliser is None else self.normaliser

    @cached_property
    def root(self) -> Array:
        """Square roots of the weights, divided by the normaliser."""
        return np.asarray(np.sqrt(self.weights / self.total))

    @property
    def pulls(self) -> Array:
        """Minus half the gradient at f = 0, per row."""
        return np.asarray(self.laplacian.lift((self.root**2)[:, None] * self.targets))

    def multiply(self, v: Array, *, overwrite: bool = False) -> Array:
        """Multiply half the Hessian with a vector: O(m), or O(edges) for given pairs.

        Parameters
        ----------
        v : ndarray of shape (n_rows,)
            Vector to multiply.
        overwrite : bool, default=False
            Whether the memory of the vector may be used.

        Returns
        -------
        ndarray of shape (n_rows,)
            The product.
        """
        return self._product(v if overwrite else v.copy())

    @cached_property
    def _product(self) -> Callable[[Array], Array]:
        laplacian, strengths = self.laplacian, self.root**2
        direct = laplacian.product(strengths) if isinstance(laplacian, PairLaplacian) else None
        return direct or (lambda v: np.asarray(laplacian.lift(strengths * laplacian.project(v))))

    def diagonal(self) -> Array:
        """Return the diagonal of half the Hessian.

        Returns
        -------
        ndarray of shape (n_rows,)
            The diagonal.
        """
        return self.laplacian.diagonal(self.root**2)

    def diagonalised(self, queries: NDArray[np.integer[Any]]) -> PairwiseSquares:
        """Return the loss with orthonormal contrasts.

        Parameters
        ----------
        queries : ndarray of shape (n_rows,)
            Query of each row, 0, 1, ...

        Returns
        -------
        PairwiseSquares
            The loss itself, or for edges that of the eigenvectors of their graph.
        """
        dense = self.laplacian.diagonalise(self.weights, queries)
        if dense is None:
            return self
        pulls = self.laplacian.lift(self.weights[:, None] * self.targets)
        targets = dense.project(pulls) / dense.strengths[:, None]  # the least-squares fit to the pairs
        return PairwiseSquares(dense, dense.strengths, targets, self.importance)


def mean_squares(y: Array, queries: NDArray[np.integer], weights: Array) -> PairwiseSquares:
    """Return the loss that compares all rows with their mean.

    Parameters
    ----------
    y : ndarray of shape (m, p)
        Targets, one column per output.
    queries : ndarray of shape (m,)
        Zeros: all rows are one query.
    weights : ndarray of shape (m,)
        Weights of the rows.

    Returns
    -------
    PairwiseSquares
        The loss.
    """
    if len(y) < 2:
        raise ValueError(f"RLS fits a mean and needs two rows at least, got n_samples = {len(y)}.")
    laplacian = all_pairs(queries, weights)
    wanted = y - y.mean(axis=0)
    targets = laplacian.project(wanted)
    return PairwiseSquares(laplacian, np.ones(len(targets)), targets, np.array([weights.sum()]), _largest(wanted))


def squares_of_utilities(
    y: Array, queries: NDArray[np.integer], weights: Array, ties: str, cost: str, query_weighting: str
) -> PairwiseSquares:
    """Return the loss that compares all rows of the same query.

    Parameters
    ----------
    y : ndarray of shape (m, p)
        Utilities, one column per output.
    queries : ndarray of shape (m,)
        0, 1, ...; none missing.
    weights : ndarray of shape (m,)
        Weights of the rows.
    ties : {"keep", "drop"}
        Whether pairs of rows with equal utilities count.
    cost : {"magnitude", "unit", "relative"}
        Target of a pair, as in :class:`~kernelrank.RankRLS`.
    query_weighting : {"query", "pair"}
        Whether every query or every pair counts the same.

    Returns
    -------
    PairwiseSquares
        The loss.
    """
    if y.shape[1] > 1 and (ties == "drop" or cost == "relative"):
        which = 'ties="drop"' if ties == "drop" else 'cost="relative"'
        raise ValueError(f"{which} leaves out or weighs other pairs for each output: fit them one by one.")
    if cost == "relative":
        return _relative_squares(y[:, 0], queries, weights, query_weighting)
    laplacian = pairs_without_ties(queries, y[:, 0], weights) if ties == "drop" else all_pairs(queries, weights)
    importance, scale = weigh(_count_pairs(queries, y[:, 0], weights, ties), query_weighting)
    laplacian = laplacian.only(scale[laplacian.queries] > 0)
    wanted = y - y.mean(axis=0) if cost == "magnitude" else _shares_of_wins(y, queries, weights)
    strengths = laplacian.strengths * scale[laplacian.queries]
    return PairwiseSquares(laplacian, strengths, laplacian.project(wanted), importance, _largest(wanted))


def squares_of_edges(
    winners: NDArray[np.integer],
    losers: NDArray[np.integer],
    sizes: Array,
    weights: Array,
    queries: NDArray[np.integer],
    cost: str,
    query_weighting: str,
) -> PairwiseSquares:
    """Return the loss that compares given pairs.

    Parameters
    ----------
    winners, losers : ndarray of shape (k,)
        Rows of the pairs.
    sizes : ndarray of shape (k,)
        Magnitudes of the pairs.
    weights : ndarray of shape (k,)
        Weights of the pairs.
    queries : ndarray of shape (m,)
        Query of each row, 0, 1, ...
    cost : {"magnitude", "unit", "relative"}
        Target of a pair, as in :class:`~kernelrank.RankRLS`.
    query_weighting : {"query", "pair"}
        Whether every query or every pair counts the same.

    Returns
    -------
    PairwiseSquares
        The loss.
    """
    if (weights == 0).any():
        kept = weights > 0
        winners, losers, sizes, weights = winners[kept], losers[kept], sizes[kept], weights[kept]
    of_edge = queries[winners]
    importance, scale = weigh(np.bincount(of_edge, weights, int(np.max(queries, initial=0)) + 1), query_weighting)
    strengths = weights * scale[of_edge]
    if cost == "relative":
        with np.errstate(divide="ignore", over="ignore"):
            strengths = strengths / sizes / sizes
        if not np.isfinite(strengths).all():
            raise ValueError('cost="relative" divides by magnitudes, and some are too small: drop such pairs.')
    targets = np.ones_like(sizes) if cost == "unit" else sizes
    return PairwiseSquares(GraphLaplacian(winners, losers, len(queries)), strengths, targets[:, None], importance)


def _largest(y: Array) -> Array:
    return np.asarray(np.max(np.abs(y), axis=0, initial=0.0))


def _relative_squares(y: Array, queries: NDArray[np.integer], weights: Array, query_weighting: str) -> PairwiseSquares:
    """Return the loss whose pairs are weighted by their own differences, for which all pairs must be formed."""
    members = np.bincount(queries)
    require_memory(
        _BYTES_OF_A_PAIR * float((members.astype(float) ** 2).sum()) / 2,
        f'cost="relative" forms all pairs inside queries, which for n_samples = {len(y)}',
        'Use cost="magnitude" or "unit", which need no pairs, or pick some pairs and use fit_pairs.',
    )
    order = np.lexsort((-y, queries))
    ends = np.cumsum(members)[queries[order]]
    counts = ends - np.arange(len(y)) - 1  # of rows further down the same query
    first = np.repeat(np.arange(len(y)), counts)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    winners, losers = order[first], order[second]
    kept = y[winners] > y[losers]
    winners, losers = winners[kept], losers[kept]
    return squares_of_edges(
        winners,
        losers,
        y[winners] - y[losers],
        weights[winners] * weights[losers],
        queries,
        "relative",
        query_weighting,
    )


def _shares_of_wins(y: Array, queries: NDArray[np.integer], weights: Array) -> Array:
    """Return, per row, the share of its query that it is better than, less the share of better rows, by weight.

    Targets of 1 for all ordered pairs have the same normal equations as these utilities.
    """
    totals = np.bincount(queries, weights)
    wins = np.empty_like(y)
    for column, of_column in zip(y.T, wins.T, strict=True):
        order = np.lexsort((column, queries))
        new = np.append(True, (np.diff(column[order]) != 0) | (np.diff(queries[order]) != 0))
        level = np.cumsum(new) - 1
        of_level = np.bincount(level, weights[order])
        before = np.cumsum(of_level) - of_level - (np.cumsum(totals) - totals)[queries[order][new]]
        of_column[order] = (2 * before + of_level)[level]
    return np.asarray(wins / np.where(totals > 0, totals, 1.0)[queries][:, None] - 1.0)


def _count_pairs(queries: NDArray[np.integer], y: Array, w: Array, ties: str) -> Array:
    """Return the weight of the pairs of each query: half of all ordered pairs."""
    squares = np.bincount(queries, w) ** 2
    if ties == "drop":
        _, values = np.unique(y, return_inverse=True)
        classes = queries.astype(np.int64) * (values.max(initial=0) + 1) + values
        _, first, members = np.unique(classes, return_index=True, return_inverse=True)
        squares = squares - np.bincount(queries[first], np.bincount(members, w) ** 2, len(squares))
    # A query of one row has no pair; that of a row with itself has no error.
    alone = np.bincount(queries, w > 0) < 2
    return np.where(alone, 0.0, squares / 2)


def weigh(totals: NDArray[Any], query_weighting: str) -> tuple[Array, Array]:
    """Return the weight of each query, and of each of its pairs."""
    importance = np.asarray(totals > 0 if query_weighting == "query" else totals, dtype=np.float64)
    return importance, np.divide(importance, totals, out=np.zeros_like(importance), where=totals > 0)
