"""A part of the rows on its worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank._dense import multiply
from kernelrank._query_ids import encode_queries
from kernelrank._validation import CheckedRows, scale_weights
from kernelrank.dask._rows import PartRows
from kernelrank.dask._squares import SHARE_OF_A_ROW, Rows, SquaresLoss
from kernelrank.estimators._rank_svm import total_weight
from kernelrank.losses import BinnedHinge, PairwiseHinge, PairwiseSquaredHinge, PairwiseSquares, normaliser
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import BlockRows, Columns, Part, make_block_products

Vector = NDArray[np.float64]


class Counted(NamedTuple):
    """Pairs of a part.

    Attributes
    ----------
    normaliser : float
        Queries with a pair, or pairs, in units of the weights that the loss has.
    n_pairs : int or float
        In units of the weights that were given.
    """

    normaliser: float
    n_pairs: int | float


class SquaresSums(NamedTuple):
    """Sums over the rows of a part.

    Attributes
    ----------
    total : float
        The normaliser of the queries, or the weight of the rows of one ranking.
    features, targets : ndarray
        Weighted sums of the rows of one ranking, of shape (n,) and (p,).
    """

    total: float
    features: Vector
    targets: Vector


class WorkerPart(Part):
    """Rows of a part, which answer requests; products and loss are made by the first of them.

    Parameters
    ----------
    rows : PartRows
    n_threads : int, optional
        Those of the worker by default.
    """

    def __init__(self, rows: PartRows, n_threads: int | None = None) -> None:
        super().__init__(None, None)  # type: ignore[arg-type]
        self._rows, self._source = rows, BlockRows(rows)
        self._n_threads = _threads_of_worker() if n_threads is None else n_threads
        self._pairs: UtilityPairs | None = None
        self._squares: PairwiseSquares | None = None  # of queries
        self._row_weights = self._weights = np.empty(0)  # in units, and divided by the normaliser of one ranking

    def full_columns(self) -> NDArray[np.intp]:
        """Return the columns with a stored element in every row."""
        return self._source.full_columns()

    def sample(self, columns: NDArray[np.intp], share: float) -> Vector:
        """Return a share of the rows, of some columns."""
        return self._source.sample(columns, int(np.ceil(share * self._rows.n_rows)))

    def are_constant(self, columns: NDArray[np.intp], values: Vector) -> NDArray[np.bool_]:
        """Return in which of the columns all rows have the value given for the column."""
        return self._source.are_constant(columns, values)

    def prepare_products(self, columns: Columns | None) -> None:
        """Prepare products; `columns` are those that are shifted in all parts alike."""
        self._products = make_block_products(self._rows, self._n_threads, columns=columns)

    def count_pairs(
        self, query_weighting: Literal["query", "pair"], unit: float, train: NDArray[np.bool_] | None
    ) -> Counted:
        """Rank the rows, or those to train on, within their queries."""
        rows, scaled = self._checked(train), unit
        per_query = query_weighting == "query" and rows.queries is not None
        if rows.weights is not None:
            weights, scaled = scale_weights(rows.weights, rows.queries) if per_query else (rows.weights / unit, unit)
            rows = rows._replace(weights=weights)
        self._pairs = pairs = UtilityPairs.of_checked(rows, self._n_threads)
        n_pairs = pairs.n_pairs if rows.weights is None else total_weight(pairs.pairs_per_query, scaled, power=2)
        return Counted(normaliser(pairs, query_weighting), n_pairs)

    def prepare_loss(
        self, loss: Literal["hinge", "squared_hinge"], query_weighting: Literal["query", "pair"], total: float
    ) -> None:
        """Prepare the loss of the pairs that were counted."""
        assert self._pairs is not None
        make = PairwiseHinge if loss == "hinge" else PairwiseSquaredHinge
        self._loss = make(self._pairs, query_weighting, total=total)

    def prepare_binned_loss(self, by_levels: bool, unit: float, total: float) -> None:
        """Prepare the loss of one ranking, of which the part has some levels, or a range of utilities."""
        y, weights = self._rows.y[:, 0], self._rows.weights
        weights = None if weights is None else weights / unit
        if by_levels:
            own = np.unique(y)
            self._loss = BinnedHinge(np.searchsorted(own, y).astype(np.int32), len(own), weights, None, total)
            return
        assert self._pairs is not None
        within = PairwiseHinge(self._pairs, "pair", total=total) if self._pairs.n_pairs else None
        self._loss = BinnedHinge(np.zeros(len(y), np.int32), 1, weights, within, total)

    def prepare_squares(self, loss: SquaresLoss) -> SquaresSums:
        """Prepare the squared error of differences of targets; return sums over the rows."""
        weights = np.ones(self._rows.n_rows) if self._rows.weights is None else self._rows.weights / loss.unit
        self._row_weights, self._squares = weights, None
        if self._rows.codes is not None:
            rows = Rows(None, self._rows.y, self._rows.codes, weights, None)  # type: ignore[arg-type]
            self._squares = loss.of(rows)
            return SquaresSums(self._squares.total, np.empty(0), np.empty(0))
        return SquaresSums(float(weights.sum()), self._products.backward(weights), weights @ self._rows.y)

    def normalise_squares(self, total: float) -> None:
        """Divide the loss by the normaliser of the queries of all parts, or the weight of the rows of one ranking."""
        if self._squares is None:
            self._weights = self._row_weights / (SHARE_OF_A_ROW * total)  # requests may come twice
        else:
            self._squares = replace(self._squares, normaliser=total)

    def pull(self, mean: Vector) -> list[Vector]:
        """Return the share of the right-hand side of each output; `mean` is that of the targets of one ranking."""
        pulls = self._weights[:, None] * (self._rows.y - mean) if self._squares is None else self._squares.pulls
        return [self._products.backward(column) for column in pulls.T]

    def multiply_squares_of_differences(self, v: Vector, level: float) -> Vector:
        """Return the share of X'LX v; `level` is the mean score of one ranking."""
        scores = self._products.forward(v)
        bent = self._weights * (scores - level) if self._squares is None else self._squares.multiply(scores)
        return self._products.backward(bent)

    def diagonal_of_squares(self) -> Vector:
        """Return the share of the diagonal of X'LX, approximately; of one ranking, before its mean is subtracted."""
        if self._squares is None:
            return self._products.squares(self._weights)
        degrees = self._squares.diagonal()
        return self._products.diagonal(degrees) if degrees.any() else np.zeros(self._products.n_columns)

    def sum_scores(self, weights: Vector) -> Vector:
        """Return the weighted sum of the scores of the rows as they were given, of each output."""
        scores = [multiply(block.X, weights, n_threads=1) for block in self._rows]
        return np.asarray(self._weights @ np.concatenate(scores))

    def utilities(self) -> tuple[Vector, Vector | None, NDArray[np.int64] | None]:
        """Return the utilities, the weights, and the numbers of the queries of the rows."""
        rows = self._rows
        return rows.y[:, 0], rows.weights, None if rows.numbers is None else rows.numbers[np.asarray(rows.codes)]

    def levels(self) -> Vector:
        """Return the distinct utilities."""
        return np.unique(self._rows.y[:, 0])

    def weight(self, unit: float) -> int | float:
        """Return the number of the rows, or their weight in a unit."""
        return self._rows.n_rows if self._rows.weights is None else float((self._rows.weights / unit).sum())

    def _checked(self, train: NDArray[np.bool_] | None) -> CheckedRows:
        y, queries, weights = np.ascontiguousarray(self._rows.y[:, 0]), self._rows.codes, self._rows.weights
        n_queries = 1 if self._rows.numbers is None else len(self._rows.numbers)
        if train is not None:
            # Rows that are held out form a query of their own without comparable pairs.
            numbers = np.zeros(len(y), np.int32) if queries is None else queries
            queries, n_queries = encode_queries(np.where(train, numbers, -1), len(y))
            y = np.where(train, y, 0.0)
        return CheckedRows(y, queries, n_queries, weights)


def _threads_of_worker() -> int:
    from distributed import get_worker

    return int(get_worker().state.nthreads)
