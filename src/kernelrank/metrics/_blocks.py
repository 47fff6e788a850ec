"""Rows sorted by score within each query, with ties grouped into blocks.

All metrics of positions work on this representation of the data::

    query                 a               b
    scores        9   7 7 7   4       8 8   5
    blocks       [ ] [     ] [ ]     [   ] [ ]
    above         0   1       4       0     2

The rows of a block may come in any order; the rows above and below the block do not depend on it. A metric is a sum
over the rows of a block, and then a sum over the blocks of a query. Both are sums over segments that are contiguous in
memory. No sum runs across queries, so no digits are lost in a long total, and no Python loop over queries is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._query_ids import encode_queries
from kernelrank._rules import COUNT, NONE, choice, number
from kernelrank._validation import check_vector
from kernelrank.pairs._sorting import sort_falling

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ties = float | Literal["ordinal"]

_TIES = number("0, 0.5 or 1 in a metric of positions", lambda value: value in (0, 0.5, 1)) | choice("ordinal")


@dataclass(frozen=True)
class Blocks:
    """Rows sorted by query and descending score, in blocks of rows whose order is undetermined.

    Attributes
    ----------
    order : ndarray of shape (n_rows,)
        Row indices in sorted order.
    starts : ndarray of shape (n_blocks,)
        Index of the first sorted row of each block.
    query_starts : ndarray of shape (n_queries,)
        Index of the first sorted row of each query, queries in the order of their codes.
    """

    order: Ints
    starts: Ints
    query_starts: Ints

    @cached_property
    def sizes(self) -> Ints:
        """Number of rows per block."""
        return np.diff(self.starts, append=len(self.order))

    @cached_property
    def query_sizes(self) -> Ints:
        """Number of rows per query."""
        return np.diff(self.query_starts, append=len(self.order))

    @cached_property
    def above(self) -> Ints:
        """Number of rows of the same query above each block."""
        return self.positions[self.starts]

    @cached_property
    def positions(self) -> Ints:
        """Number of rows of the same query before each sorted row."""
        return np.arange(len(self.order)) - np.repeat(self.query_starts, self.query_sizes)

    @cached_property
    def first_blocks(self) -> Ints:
        """Index of the first block of each query."""
        return np.searchsorted(self.starts, self.query_starts)

    @cached_property
    def tied(self) -> bool:
        """Whether any block has several rows."""
        return len(self.starts) < len(self.order)

    def to_rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Expand values of blocks to the sorted rows."""
        return np.repeat(values, self.sizes) if self.tied else values

    def over_rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum values of sorted rows within each block."""
        return np.add.reduceat(values, self.starts) if self.tied else values

    def over_blocks(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum values of blocks within each query."""
        return np.add.reduceat(values, self.first_blocks)

    def over_queries(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum values of sorted rows within each query."""
        return np.add.reduceat(values, self.query_starts)

    def counted_above(self, counts: Ints) -> Ints:
        """Sum integer values of blocks over the blocks above each block in its query."""
        running = np.cumsum(counts) - counts  # exact for integers, so it may run across queries
        blocks_per_query = np.diff(self.first_blocks, append=len(counts))
        return running - np.repeat(running[self.first_blocks], blocks_per_query)


def check_rows(
    y_true: ArrayLike, y_score: ArrayLike, qid: ArrayLike | None
) -> tuple[Floats, Floats, NDArray[np.int32] | None]:
    """Return true values, scores and query codes (None for a single query)."""
    truth = check_vector(y_true, "y_true")
    if len(truth) == 0:
        raise ValueError("y_true is empty: there are no rows to rank.")
    codes, _ = encode_queries(qid, len(truth))
    return truth, check_vector(y_score, "y_score", len(truth)), codes


def check_depth(k: int | None) -> int | None:
    """Return the number of leading positions that count, None for all."""
    (COUNT | NONE)("k", k)
    return None if k is None else int(k)


def sort_rows(truth: Floats, scores: Floats, codes: NDArray[np.int32] | None, ties: Ties = 0.5) -> Blocks:
    """Sort by query and descending score; with `ties` other than 0.5 each row is a block of its own."""
    _TIES("ties", ties)
    ordinal = ties == "ordinal"
    sizes = np.bincount(codes) if codes is not None else np.array([len(scores)])
    query_starts = np.cumsum(sizes) - sizes
    order = sort_falling(scores, codes)
    starts = _block_starts(scores[order], query_starts)
    if ties != 0.5 and len(starts) < len(order):
        if not ordinal:
            # The sort is stable: rows are sorted by true value first, and keep that order where scores tie.
            first = sort_falling(truth if ties == 1 else -truth)
            order = first[sort_falling(scores[first], None if codes is None else codes[first])]
        starts = np.arange(len(order))
    return Blocks(order, starts, query_starts)


def accumulate(operation: np.ufunc, values: Floats, starts: Ints) -> Floats:
    """Apply ``operation.accumulate`` to each segment of the values.

    Partial results cover 1, 2, 4, ... values until they cover the longest segment. Segments are independent of each
    other, so no digits are lost in a total across segments.
    """
    if len(starts) == 1:
        return np.asarray(operation.accumulate(values))
    results = values.copy()
    lengths = np.diff(starts, append=len(values))
    positions = np.arange(len(values)) - np.repeat(starts, lengths)
    reach = 1
    while reach < lengths.max():
        further = np.where(positions[reach:] >= reach, results[:-reach], operation.identity)
        results[reach:] = operation(results[reach:], further)
        reach *= 2
    return results


def _block_starts(values: Floats, query_starts: Ints) -> Ints:
    """Return the indices where a sorted value differs from the one before it, or a query begins."""
    begins = np.append(True, values[1:] != values[:-1])
    begins[query_starts] = True
    return np.flatnonzero(begins)
