"""Products with the data matrix: X w and X' g.

X is never copied to float64, but every sum is a float64 sum: rounded scores would make the
certificate of a fit false. Work is cut into fixed blocks that are added up in a fixed order,
so the number of threads does not show in the result.

A column whose values are far from zero compared with their spread would drown its
differences, all that ranking depends on, in rounding. Such columns are shifted; a column
that is constant, or constant in every query, gets no weight at all: what it gets otherwise is
rounding, divided by alpha. Neither changes the order of the scores in any query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._core import gather_product, scatter_product

Vector = NDArray[np.float64]

_BLOCK_ELEMENTS = 1 << 17  # of a dense block: one MiB of float64, which fits the second-level cache
_SAMPLE_ROWS = 512  # looked at to find columns that may need a shift
_SEARCH_ROWS = 4096  # looked at at once to find columns that are stored in every row
_ROUNDING = 1e-9  # of a product, relative to its terms: less may be nothing but that
_FAR = 1e3  # times its spread from zero: a column loses three digits or more


@dataclass(frozen=True)
class Products:
    """The two products with a matrix, each in O(number of stored elements).

    Attributes
    ----------
    n_rows, n_columns : int
    forward : callable
        w -> X w.
    backward : callable
        g -> X' g, for g that sums to zero in every query.
    squares : callable
        d -> (X * X)' d, elementwise, of the columns as they are after the shift.
    """

    n_rows: int
    n_columns: int
    forward: Callable[[Vector], Vector]
    backward: Callable[[Vector], Vector]
    squares: Callable[[Vector], Vector]

    def inner(self, u: Vector, v: Vector) -> Any:
        """Return the inner product of two weight vectors; `u` may hold one per row."""
        return u @ v

    def rounding(self, w: Vector) -> float:
        """Bound the error of ``inner(w, w)`` that is due to the rounding of X; 0 where X is what was given."""
        return 0.0

    def diagonal(self, d: Vector) -> Vector:
        """Compute the diagonal of ``X' (diag(d) - d d' / sum(d)) X``: two products.

        It stands for that of ``X' L X``, with L a weighted Laplacian of pairs whose diagonal is d: as if every row were
        compared with the mean row.
        """
        mean = self.backward(d) / d.sum()
        return np.asarray(np.maximum(self.squares(d) - d.sum() * mean**2, 0.0))


def make_products(X: Any, n_threads: int = 1, queries: NDArray[np.int32] | None = None) -> Products:
    """Prepare the products with a dense, CSR or CSC matrix of float32 or float64.

    `queries` tells which rows are compared with each other; without it all are.
    """
    if sp.issparse(X):
        return _sparse_products(X, n_threads, queries)
    return _dense_products(np.asarray(X), n_threads, _first_rows(queries, X.shape[0]))


def restrict(products: Products, project: Callable[[Vector], Vector]) -> Products:
    """Products with X P, for the matrix P of an orthogonal projection that is never multiplied with X."""
    return replace(
        products,
        forward=lambda w: products.forward(project(w)),
        backward=lambda g: project(products.backward(g)),
    )


def _first_rows(queries: NDArray[np.int32] | None, n_rows: int) -> NDArray[np.int32]:
    """Return for each row the first row of its query."""
    if queries is None:
        return np.broadcast_to(np.int32(0), n_rows)
    first = np.empty(int(queries.max()) + 1, np.int32)
    first[queries[::-1]] = np.arange(n_rows - 1, -1, -1, dtype=np.int32)  # of several, the last one stays
    return first[queries]


def multiply(X: Any, w: Vector) -> Vector:
    """X w for prediction: every row by itself, nothing shifted."""
    if sp.issparse(X) or X.dtype == np.float64:
        return np.asarray(X @ w)
    return np.concatenate([X[rows].astype(np.float64) @ w for rows in _row_blocks(X)])


def _row_blocks(X: NDArray[Any]) -> list[slice]:
    m, n = X.shape
    size = max(1, _BLOCK_ELEMENTS // max(n, 1))
    return [slice(start, min(m, start + size)) for start in range(0, m, size)]


def _dense_products(X: NDArray[Any], n_threads: int, first: NDArray[np.int32]) -> Products:
    m, n = X.shape
    shift, constant = _dense_columns(X, first)
    convert = X.dtype != np.float64 or shift.any()
    blocks = _row_blocks(X)

    def block_of(rows: slice) -> NDArray[Any]:
        return np.subtract(X[rows], shift, dtype=np.float64) if convert else X[rows]

    def forward(w: Vector) -> Vector:
        out = np.empty(m)

        def multiply(rows: slice) -> None:
            np.dot(block_of(rows), w, out=out[rows])

        for _ in _each(multiply, blocks, n_threads):
            pass
        return out

    def add_up(part_of: Callable[[slice], Vector]) -> Vector:
        out = np.zeros(n)
        for part in _each(part_of, blocks, n_threads):
            out += part
        out[constant] = 0.0
        return out

    def backward(g: Vector) -> Vector:
        return add_up(lambda rows: np.dot(g[rows], block_of(rows)))

    def squares(d: Vector) -> Vector:
        return add_up(lambda rows: np.dot(d[rows], np.square(block_of(rows))))

    return Products(m, n, forward, backward, squares)


def _each(work: Callable[[slice], Any], blocks: list[slice], n_threads: int) -> Iterator[Any]:
    """Results of work(block) in the order of the blocks."""
    if n_threads == 1 or len(blocks) == 1:
        yield from map(work, blocks)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        # A window of blocks at a time, or all their results would wait in memory.
        for start in range(0, len(blocks), 8 * n_threads):
            yield from pool.map(work, blocks[start : start + 8 * n_threads])


def _dense_columns(X: NDArray[Any], first: NDArray[np.int32]) -> tuple[Vector, NDArray[np.intp]]:
    """Shift of each column (mostly zero), and which columns are constant in every query."""
    some = slice(None, None, -(-len(X) // _SAMPLE_ROWS))
    shift, constant = _shifts(np.asarray(X[some], np.float64), np.asarray(X[first[some]], np.float64))
    for rows in _row_blocks(X):
        if len(constant) == 0:
            break
        constant = constant[(X[rows][:, constant] == X[first[rows]][:, constant]).all(axis=0)]
    shift[constant] = 0.0
    return shift, constant


def _shifts(sample: Vector, firsts: Vector) -> tuple[Vector, NDArray[np.intp]]:
    """Return shifts, and columns in which no row differs from the first of its query."""
    with np.errstate(over="ignore", invalid="ignore"):
        centre = sample[0] + (sample - sample[0]).mean(axis=0)
        spread = np.abs(sample - centre).mean(axis=0)
        far = np.isfinite(spread) & (np.abs(centre) > _FAR * spread)
    return np.where(far, centre, 0.0), np.flatnonzero((sample == firsts).all(axis=0))


def _sparse_products(X: Any, n_threads: int, queries: NDArray[np.int32] | None) -> Products:
    m, n = X.shape
    stored = X.indptr[-1]  # the arrays may be longer
    parts = (X.data[:stored], X.indices[:stored], X.indptr)
    X = type(X)(tuple(map(np.ascontiguousarray, parts)), shape=X.shape)
    X.check_format(full_check=True)  # an index out of range would be read, and written, out of bounds
    X, constant = _shift_full_columns(X)
    starts, indices, numbers = X.indptr, X.indices, X.data
    if starts.dtype != indices.dtype:
        starts, indices = (part.astype(np.int64, copy=False) for part in (starts, indices))

    def product(kernel: Callable[..., None], v: Vector, size: int, squared: bool = False) -> Vector:
        out = np.empty(size)
        kernel(starts, indices, numbers, np.ascontiguousarray(v), out, n_threads, squared)
        return out

    by_row = X.format == "csr"

    def forward(w: Vector) -> Vector:
        return product(gather_product if by_row else scatter_product, w, m)

    def backward(g: Vector, squared: bool = False) -> Vector:
        out = product(scatter_product if by_row else gather_product, g, n, squared)
        out[constant] = 0.0
        return out

    def squares(d: Vector) -> Vector:
        return backward(d, squared=True)

    if queries is not None:
        constant = np.union1d(constant, _constant_in_queries(X, queries, backward, squares))
    return Products(m, n, forward, backward, squares)


def _constant_in_queries(
    X: Any,
    queries: NDArray[np.int32],
    backward: Callable[[Vector], Vector],
    squares: Callable[[Vector], Vector],
) -> NDArray[np.intp]:
    """Find columns that are constant in every query, stored or not, at the price of two products.

    Such a column has no product with a random vector whose sums over queries are zero, up to rounding; those few that
    have none are looked at.
    """
    g = np.random.default_rng(0).normal(size=len(queries))
    g -= (np.bincount(queries, g) / np.maximum(np.bincount(queries), 1))[queries]
    with np.errstate(over="ignore", invalid="ignore"):
        terms = np.sqrt(squares(g * g))
        suspects = np.flatnonzero(~(np.abs(backward(g)) > _ROUNDING * terms) & (terms != 0))
    if len(suspects) == 0:
        return suspects
    columns, sizes = X[:, suspects].tocsc(), np.bincount(queries)
    columns.sum_duplicates()
    return suspects[[_is_constant(columns, k, queries, sizes) for k in range(len(suspects))]]


def _is_constant(columns: Any, k: int, queries: NDArray[np.int32], sizes: NDArray[np.intp]) -> bool:
    """Tell whether a query stores the column in none of its rows or, with one value, in all."""
    stored = slice(columns.indptr[k], columns.indptr[k + 1])
    where, values = queries[columns.indices[stored]], columns.data[stored]
    order = np.argsort(where, kind="stable")
    where, values = where[order], values[order]
    starts = np.flatnonzero(np.append(True, where[1:] != where[:-1])) if len(where) else np.empty(0, np.intp)
    lengths = np.diff(starts, append=len(where))
    same = bool((values == np.repeat(values[starts], lengths)).all())
    return same and bool((lengths == sizes[where[starts]])[values[starts] != 0].all())


def _shift_full_columns(X: Any) -> tuple[Any, NDArray[np.intp]]:
    """Shift columns that are stored in every row and far from zero; find those that are constant.

    Only such a matrix is copied, and only its values: a shift leaves no zero to stay unstored.
    """
    columns = _full_columns(X)
    if len(columns) == 0:
        return X, columns
    full = X[:, columns].toarray().astype(np.float64)
    shift, constant = _shifts(full, full[:1])
    shift[constant] = 0.0
    if shift.any():
        by_column = np.zeros(X.shape[1])
        by_column[columns] = shift
        stored = X.indices if X.format == "csr" else np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        X = type(X)((X.data - by_column[stored], X.indices, X.indptr), shape=X.shape)
    return X, columns[constant]


def _full_columns(X: Any) -> NDArray[np.intp]:
    """Columns with a stored element in every row."""
    m = X.shape[0]
    if X.format == "csc":
        columns: NDArray[np.intp] = np.flatnonzero(np.diff(X.indptr) == m)
    else:
        # A full column is stored in the first row, and in every block of rows: the first block mostly rules all out.
        columns = np.unique(X.indices[: X.indptr[1]])
        for start in range(0, m, _SEARCH_ROWS):
            if len(columns) == 0:
                break
            stop = min(m, start + _SEARCH_ROWS)
            stored = X.indices[X.indptr[start] : X.indptr[stop]]
            at = np.minimum(np.searchsorted(columns, stored), len(columns) - 1)
            counts = np.bincount(at[columns[at] == stored], minlength=len(columns))
            columns = columns[counts == stop - start]
    return columns if len(columns) and X.has_canonical_format else columns[:0]
