"""Fits to rows that stay in files: the products with X read them block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import ArrayLike

from kernelrank.io import RowStore
from kernelrank.solvers import Products
from kernelrank.solvers._blocks import Block, make_block_products


class _StoredBlocks:
    """Blocks of a store, as the solvers take them."""

    stay = False  # their memory is used again

    def __init__(self, store: RowStore) -> None:
        self._store, (self.n_rows, self.n_columns) = store, store.shape

    def __iter__(self) -> Iterator[Block]:
        return (Block(*rows) for rows in self._store.blocks())


def stored_products(store: RowStore, n_threads: int) -> Products:
    """Return the products with the rows of a store; each of them reads all files once."""
    return make_block_products(_StoredBlocks(store), n_threads)


def with_queries(X: Any, qid: ArrayLike | None) -> ArrayLike | None:
    """Return the queries of a store, or else those that are given; both are an error."""
    if not isinstance(X, RowStore):
        return qid
    _refuse("qid", qid)
    return X.query_codes()


def with_labels(X: Any, y: ArrayLike | None, qid: ArrayLike | None) -> tuple[ArrayLike | None, ArrayLike | None]:
    """Return utilities and queries: those of a store, or else those that are given; both are an error."""
    if isinstance(X, RowStore):
        _refuse("y", y)
    qid = with_queries(X, qid)
    return X.y if isinstance(X, RowStore) else y, qid


def _refuse(name: str, given: ArrayLike | None) -> None:
    if given is not None:
        raise ValueError(f"{name} must not be passed with a RowStore, which has its own; leave it out.")
