"""Least squares on the workers: sums over the rows of a part, and held-out predictions of its queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._dense import multiply
from kernelrank.dask._rows import PartRows
from kernelrank.losses import PairwiseSquares, squares_of_utilities
from kernelrank.pairs import members
from kernelrank.solvers.least_squares import HeldOutMoments, Moments, MomentsOfRows

Vector = NDArray[np.float64]

SHARE_OF_A_ROW = 0.5  # added to the normaliser by a row of weight 1 of one ranking
_ELEMENTS = 1 << 21  # of the rows that are looked at together, as a dense matrix


class SquaresLoss(NamedTuple):
    """Parameters of the loss.

    Attributes
    ----------
    ties, cost, query_weighting : str
        As in :class:`kernelrank.RankRLS`.
    unit : float
        That the weights are divided by.
    """

    ties: str
    cost: str
    query_weighting: str
    unit: float

    def of(self, rows: Any) -> PairwiseSquares:
        """Return the loss of rows of whole queries."""
        return squares_of_utilities(rows.y, rows.codes, rows.weights, self.ties, self.cost, self.query_weighting)


class Rows(NamedTuple):
    """Some rows of a part, dense; `places` are theirs in the part, and `codes` are 0, 1, ..."""

    X: Vector
    y: Vector
    codes: NDArray[np.int32] | None
    weights: Vector
    places: NDArray[np.intp]


def portions(part: PartRows, unit: float, kept: NDArray[np.bool_] | None = None) -> Iterator[Rows]:
    """Yield rows of a part, or those that are kept, a few at a time; queries stay whole."""
    most = max(1, _ELEMENTS // max(1, part.n_columns))
    for block in part:
        start, codes = block.start, block.queries
        places = np.arange(block.rows.stop - start) if kept is None else np.flatnonzero(kept[block.rows])
        if codes is not None:
            places = places[np.argsort(codes[places], kind="stable")]
        for some in _cut(places, None if codes is None else codes[places], most):
            chosen = block.X[some if block.kept is None else block.kept[some]]
            yield Rows(
                np.asarray(chosen.toarray() if sp.issparse(chosen) else chosen, np.float64),
                part.y[start + some],
                None if codes is None else np.unique(codes[some], return_inverse=True)[1].astype(np.int32),
                np.ones(len(some)) if part.weights is None else part.weights[start + some] / unit,
                start + some,
            )


def _cut(places: NDArray[np.intp], codes: NDArray[np.int32] | None, most: int) -> list[NDArray[np.intp]]:
    """Cut places into runs of about so many, between queries if there are any."""
    if len(places) == 0:
        return []
    cuts = np.arange(most, len(places), most)
    if codes is not None:
        ends = np.append(np.flatnonzero(np.diff(codes)) + 1, len(codes))
        cuts = np.unique(ends[np.searchsorted(ends, cuts)])
    return [run for run in np.split(places, cuts) if len(run)]


def sum_part(part: PartRows, loss: SquaresLoss, numbers: NDArray[np.int64] | None = None) -> Moments:
    """Return the sums over the rows of a part, or those with given numbers, which must be whole queries."""
    kept = None if numbers is None else np.isin(part.rows, numbers)
    shape = part.n_columns, part.y.shape[1]
    if part.codes is None:
        of_rows = MomentsOfRows.empty(*shape)
        for rows in portions(part, loss.unit):
            if rows.weights.any():
                of_rows = of_rows.change_rows(rows.X, rows.y, rows.weights, SHARE_OF_A_ROW, +1)
        return of_rows
    if kept is not None and np.isin(part.codes, part.codes[kept])[~kept].any():
        raise ValueError("A fold splits a query. Hold out whole queries, or use kernelrank.RankRLS for data in memory.")
    moments = Moments.empty(*shape)
    for rows in portions(part, loss.unit, kept):
        moments = moments.change_queries(rows.X, loss.of(rows), +1)
    return moments


def merge(left: Moments, right: Moments) -> Moments:
    """Return the sums of both."""
    return left.merge(right)


def predict_without_queries(part: PartRows, held_out: HeldOutMoments, loss: SquaresLoss, alpha: float) -> Vector:
    """Predict each row of a part by the model of all other queries; shape (n_rows, p)."""
    found: Vector = np.empty_like(part.y)
    for rows in portions(part, loss.unit):
        squares = loss.of(rows)
        root = np.sqrt(squares.weights)[:, None]
        Z = root * squares.laplacian.project(rows.X - rows.X.mean(axis=0))
        u, of_contrasts = root * squares.targets, members(squares.contrasts.queries, len(squares.importance))
        ends = np.append(0, np.cumsum(np.bincount(np.asarray(rows.codes))))  # rows are sorted by query
        for query, (contrasts, total) in enumerate(zip(of_contrasts, squares.importance.tolist(), strict=True)):
            own = slice(ends[query], ends[query + 1])
            weights = held_out.weights_without(Z[contrasts], u[contrasts], total, alpha)
            found[rows.places[own]] = multiply(rows.X[own], weights, n_threads=1)
    return found


def predict_numbers(part: PartRows, numbers: NDArray[np.int64], weights: Vector) -> tuple[Any, Vector]:
    """Return the places of a part's rows among given numbers, and their predictions."""
    if len(numbers) == 0:
        return numbers, np.empty((0, weights.shape[1]))
    order = np.argsort(numbers, kind="stable")
    at = np.minimum(np.searchsorted(numbers, part.rows, sorter=order), len(numbers) - 1)
    kept = numbers[order][at] == part.rows
    places, found = order[at], np.empty((part.n_rows, weights.shape[1]))
    for rows in portions(part, 1.0, kept):
        found[rows.places] = multiply(rows.X, weights, n_threads=1)
    return places[kept], found[kept]
