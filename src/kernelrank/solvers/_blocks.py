"""Products with a matrix that is there block by block: chunks in memory, or parts of files that are read in turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelrank.solvers._columns import Columns, Indices, Rows, find_common_columns
from kernelrank.solvers._products import Products, inspect_columns, make_products

Vector = NDArray[np.float64]


class Block(NamedTuple):
    """Consecutive rows.

    Attributes
    ----------
    start : int
        The first row.
    X : {ndarray, sparse matrix} of shape (k, n_columns)
        The rows, as for `make_products`.
    queries : ndarray of shape (k,) or None
        Numbers 0, 1, ... of the queries of the block; None if all rows of all blocks are compared with each other.
    kept : ndarray of shape (k,) or None
        If there are queries, X may have more rows than the block: these are the ones that the block has.
    """

    start: int
    X: Any
    queries: NDArray[np.int32] | None
    kept: NDArray[np.intp] | None = None

    @property
    def rows(self) -> slice:
        """Numbers of the rows."""
        return slice(self.start, self.start + (self.X.shape[0] if self.kept is None else len(self.kept)))


class Blocks(Protocol):
    """Blocks of the rows of a matrix. No query has rows in two of them."""

    n_rows: int
    n_columns: int
    stay: bool  # whether blocks stay valid, so that their products need to be prepared only once

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks in the order of their rows; a block need not stay valid when the next one is taken."""


class BlockRows:
    """Rows of all blocks, as a source for `find_common_columns`.

    Parameters
    ----------
    blocks : Blocks
        Blocks of the rows.
    """

    def __init__(self, blocks: Blocks) -> None:
        self._blocks, self.n_rows = blocks, blocks.n_rows

    def full_columns(self) -> Indices:
        """Return the columns with a stored element in every row.

        Returns
        -------
        ndarray of int
            Column indices.
        """
        full = np.arange(self._blocks.n_columns)
        for block in self._blocks:
            full = np.intersect1d(full, Rows(block.X).full_columns(), assume_unique=True)
            if len(full) == 0:
                break
        return full

    def sample(self, columns: Indices, n_rows: int) -> Vector:
        """Return some of the rows.

        The first row of all is the first of them.

        Parameters
        ----------
        columns : ndarray of int of shape (k,)
            Columns to return.
        n_rows : int
            Number of rows, approximately; all rows are returned if there are fewer.

        Returns
        -------
        ndarray of shape (n_sampled, k)
            Rows, in their order.
        """
        share = n_rows / self.n_rows
        found = [Rows(block.X).sample(columns, int(np.ceil(share * block.X.shape[0]))) for block in self._blocks]
        return np.concatenate(found)

    def are_constant(self, columns: Indices, values: Vector) -> NDArray[np.bool_]:
        """Find the columns in which all rows have a given value.

        Parameters
        ----------
        columns : ndarray of int of shape (k,)
            Columns to look at.
        values : ndarray of shape (k,)
            Value of each column.

        Returns
        -------
        ndarray of bool of shape (k,)
            Whether all rows have the value.
        """
        constant = np.ones(len(columns), np.bool_)
        for block in self._blocks:
            if not constant.any():
                break
            constant[constant] = Rows(block.X).are_constant(columns[constant], values[constant])
        return constant


class _BlockProducts:
    """The functions of `make_block_products`."""

    def __init__(self, blocks: Blocks, n_threads: int, columns: Columns | None) -> None:
        self._blocks, self._n_threads, self._common = blocks, n_threads, columns
        self.columns: list[Columns] = []  # of each block, found in the first pass
        self._prepared: list[tuple[Block, Products]] = []  # if blocks stay

    def forward(self, w: Vector, out: Vector | None = None) -> Vector:
        out = np.empty(self._blocks.n_rows) if out is None else out
        for block, products in self._products():
            products.forward(w, out[block.rows])
        return out

    def backward(self, g: Vector) -> Vector:
        return self._sum("backward", g)

    def squares(self, d: Vector) -> Vector:
        return self._sum("squares", d)

    def _sum(self, method: str, v: Vector) -> Vector:
        total: Vector | None = None
        for block, products in self._products():
            part: Vector = getattr(products, method)(v[block.rows])
            total = part if total is None else total + part
        assert total is not None
        return total

    def _products(self) -> Iterable[tuple[Block, Products]]:
        if not self._blocks.stay:
            return self._prepare()
        self._prepared = self._prepared or list(self._prepare())
        return self._prepared

    def _prepare(self) -> Iterator[tuple[Block, Products]]:
        for number, block in enumerate(self._blocks):
            columns, queries = self._common, _queries_of_matrix(block)
            if columns is None:
                if number == len(self.columns):
                    self.columns.append(inspect_columns(block.X, self._n_threads, queries))
                columns = self.columns[number]
            products = make_products(block.X, self._n_threads, queries, columns)
            if self._common is None:
                products = _leave_out(products, columns.constant)
            yield block, products if block.kept is None else _keep_rows(products, block.kept)


def _queries_of_matrix(block: Block) -> NDArray[np.int32] | None:
    """Return the query of each row of X; rows that the block does not have are queries of their own."""
    if block.kept is None or block.queries is None:
        return block.queries
    queries: NDArray[np.int32] = np.arange(block.X.shape[0], dtype=np.int32) + (block.queries.max() + np.int32(1))
    queries[block.kept] = block.queries
    return queries


def _leave_out(products: Products, constant: Indices) -> Products:
    """Return products without columns that are constant in every query of a block.

    In other blocks they may vary, and have weights. Here, these would add the same to all scores of a query, with a
    rounding error.
    """
    if len(constant) == 0:
        return products

    def forward(w: Vector, *out: Vector) -> Vector:
        w = w.copy()
        w[constant] = 0.0
        return products.forward(w, *out)

    return replace(products, forward=forward)


def _keep_rows(products: Products, kept: NDArray[np.intp]) -> Products:
    """Return the products with some of the rows, given in increasing order."""
    of_all = np.empty(products.n_rows)

    def forward(w: Vector, out: Vector | None = None) -> Vector:
        return products.forward(w, of_all).take(kept, out=out, mode="clip")  # other modes copy

    def spread(v: Vector) -> Vector:
        of_all.fill(0.0)
        of_all[kept] = v
        return of_all

    return replace(
        products,
        n_rows=len(kept),
        forward=forward,
        backward=lambda g: products.backward(spread(g)),
        squares=lambda d: products.squares(spread(d)),
    )


def make_block_products(blocks: Blocks, n_threads: int = 1, *, columns: Columns | None = None) -> Products:
    """Prepare the products with a matrix in blocks; each product is one pass over the blocks.

    `columns` are those that are shifted if all rows are compared with each other. They are found first, if they are not
    given. With queries, which blocks do not split, each block has its own, and they are found in the first product.

    Parameters
    ----------
    blocks : Blocks
        Blocks of the rows.
    n_threads : int, default=1
        Number of threads.
    columns : Columns, optional
        Columns that are shifted if all rows are compared with each other. They are found first, if they are not given.
        With queries, which blocks do not split, each block has its own, and they are found in the first product.

    Returns
    -------
    Products
        The products.
    """
    first = next(iter(blocks))
    if first.queries is None and columns is None:
        columns = find_common_columns(BlockRows(blocks))
    products = _BlockProducts(blocks, n_threads, columns)
    return Products(blocks.n_rows, blocks.n_columns, products.forward, products.backward, products.squares)
