"""Products with the data matrix: X w and X' g.

X is never copied to float64, but every sum is a float64 sum: rounded scores would make the
certificate of a fit false. Every sum has a fixed order of additions, so neither the number of threads, the thread that
computes it nor the order of storage shows in the result, and equal rows have equal scores.

A column whose values are far from zero compared with their spread would drown its
differences, all that ranking depends on, in rounding. Such columns are shifted: all rows by the same, or, where the
values of different queries are far from each other, by the value of the first row of each query. A column
that is constant, or constant in every query, gets no weight at all: what it gets otherwise is
rounding, divided by alpha. Neither changes the order of the scores in any query.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._arrays import slices
from kernelrank._core import gather_product, multiply_columns, multiply_rows, scatter_product
from kernelrank._dense import contiguous, inner, readable

Vector = NDArray[np.float64]

_SEARCH_ELEMENTS = 1 << 17  # looked at at once to find columns that are constant: one MiB
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

    euclidean: ClassVar[bool] = True  # whether `inner` is the sum of products of elements

    n_rows: int
    n_columns: int
    forward: Callable[[Vector], Vector]
    backward: Callable[[Vector], Vector]
    squares: Callable[[Vector], Vector]

    def inner(self, u: Vector, v: Vector) -> Any:
        """Return the inner product of two weight vectors; `u` may hold one per row."""
        return inner(u, v)

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
    """Prepare the products with a dense matrix, or a CSR or CSC matrix in canonical form, of float32 or float64.

    `queries` tells which rows are compared with each other; without it all are.
    """
    first = _first_rows(queries, X.shape[0])
    if sp.issparse(X):
        return _sparse_products(X, n_threads, queries, first)
    return _dense_products(readable(np.asarray(X)), n_threads, first)


def restrict(products: Products, project: Callable[[Vector], Vector]) -> Products:
    """Return products with X P, where P is an orthogonal projection; the matrix X P is not formed."""
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


class _Columns(NamedTuple):
    """Shifts of the columns of a matrix."""

    shift: Vector  # subtracted from all rows
    drifts: NDArray[np.bool_]  # whether the value in the first row of its query is subtracted instead
    constant: NDArray[np.intp]  # columns that are constant in every query


def _dense_products(X: NDArray[Any], n_threads: int, first: NDArray[np.int32]) -> Products:
    m, n = X.shape
    shift, drifts, constant = _dense_columns(X, first)
    options: dict[str, Any] = {"n_threads": n_threads}
    if shift.any() or drifts.any():
        options["shift"] = shift
    if drifts.any():
        options.update(origins=np.ascontiguousarray(first), drifts=drifts.view(np.uint8))

    def forward(w: Vector) -> Vector:
        out = np.empty(m)
        multiply_rows(X, contiguous(w), out, **options)
        return out

    def backward(g: Vector, squared: bool = False) -> Vector:
        out = np.empty(n)
        multiply_columns(X, contiguous(g), out, squared=squared, **options)
        out[constant] = 0.0
        return out

    def squares(d: Vector) -> Vector:
        return backward(d, squared=True)

    return Products(m, n, forward, backward, squares)


def _dense_columns(X: NDArray[Any], first: NDArray[np.int32]) -> _Columns:
    """Find columns to be shifted, and constant columns, from a sample of rows.

    Columns that are constant in the sample are checked in all rows. The first row of each query is left out of the
    sample: its difference from itself says nothing about the spread.
    """
    n = X.shape[1]
    others = np.flatnonzero(first != np.arange(len(first)))
    if len(others) == 0 or n == 0:
        return _Columns(np.zeros(n), np.zeros(n, np.bool_), np.arange(n))
    some = others[:: -(-len(others) // _SAMPLE_ROWS)]
    blocks = list(slices(n, _SEARCH_ELEMENTS // len(some)))  # wide rows would need several copies of themselves
    if len(blocks) == 1:
        return _sampled_columns(X, first, some)
    found = [_sampled_columns(X[:, block], first, some) for block in blocks]
    shift, drifts = (np.concatenate(parts) for parts in list(zip(*found, strict=True))[:2])
    constant = [block.start + part.constant for block, part in zip(blocks, found, strict=True)]
    return _Columns(shift, drifts, np.concatenate(constant))


def _sampled_columns(X: NDArray[Any], first: NDArray[np.int32], some: NDArray[np.intp]) -> _Columns:
    """Find columns to be shifted, and constant columns, with `some` as the sample of rows."""
    sample = np.asarray(X[some], np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        centre = sample[0] + (sample - sample[0]).mean(axis=0)
        shift = np.where(_are_far(centre, np.abs(sample - centre).mean(axis=0)), centre, 0.0)
        inside = np.abs(sample - X[first[some]]).mean(axis=0)
        size = np.abs(sample - shift).mean(axis=0)
        suspects = np.flatnonzero(inside == 0)
        constant = _constant_columns(X, first, suspects)
        unknown = np.setdiff1d(suspects[size[suspects] > 0], constant)
        inside[unknown] = _differences(X, first, unknown)
        drifts = _are_far(size, inside)
    shift[constant], drifts[constant] = 0.0, False
    return _Columns(shift, drifts, constant)


def _are_far(distance: Vector, spread: Vector) -> NDArray[np.bool_]:
    """Return which columns are so far from zero that their differences lose digits."""
    return np.isfinite(spread) & (np.abs(distance) > _FAR * spread)


def _constant_columns(X: NDArray[Any], first: NDArray[np.int32], columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return those columns in which no row differs from the first of its query."""
    for rows in slices(len(X), _SEARCH_ELEMENTS // max(1, len(columns))):
        if len(columns) == 0:
            break
        columns = columns[(X[rows, columns] == X[first[rows][:, None], columns]).all(axis=0)]
    return columns


def _differences(X: NDArray[Any], first: NDArray[np.int32], columns: NDArray[np.intp]) -> Vector:
    """Return the mean difference of rows from the first of their query, over rows that differ from it."""
    total, n_different = np.zeros(len(columns)), np.zeros(len(columns), np.intp)
    for rows in slices(len(X) if len(columns) else 0, _SEARCH_ELEMENTS // max(1, len(columns))):
        found = np.abs(np.subtract(X[rows, columns], X[first[rows][:, None], columns], dtype=np.float64))
        total += found.sum(axis=0)
        n_different += np.count_nonzero(found, axis=0)
    return total / np.maximum(n_different, 1)


def _sparse_products(X: Any, n_threads: int, queries: NDArray[np.int32] | None, first: NDArray[np.int32]) -> Products:
    m, n = X.shape
    stored = X.indptr[-1]  # the arrays may be longer
    parts = (X.data[:stored], X.indices[:stored], X.indptr)
    X = type(X)(tuple(map(np.ascontiguousarray, parts)), shape=X.shape)
    X.check_format(full_check=True)  # an index out of range would be read, and written, out of bounds
    X, constant = _shift_full_columns(X, first)
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
    return suspects[[_is_constant(columns, k, queries, sizes) for k in range(len(suspects))]]


def _is_constant(columns: Any, k: int, queries: NDArray[np.int32], sizes: NDArray[np.intp]) -> bool:
    """Return whether a query stores the column in none of its rows or, with one value, in all."""
    stored = slice(columns.indptr[k], columns.indptr[k + 1])
    where, values = queries[columns.indices[stored]], columns.data[stored]
    order = np.argsort(where, kind="stable")
    where, values = where[order], values[order]
    starts = np.flatnonzero(np.append(True, where[1:] != where[:-1])) if len(where) else np.empty(0, np.intp)
    lengths = np.diff(starts, append=len(where))
    same = bool((values == np.repeat(values[starts], lengths)).all())
    return same and bool((lengths == sizes[where[starts]])[values[starts] != 0].all())


def _shift_full_columns(X: Any, first: NDArray[np.int32]) -> tuple[Any, NDArray[np.intp]]:
    """Shift columns that are stored in every row and far from zero; find those that are constant.

    Only such a matrix is copied, and only its values: a shift leaves no zero to stay unstored.
    """
    columns = _full_columns(X)
    if len(columns) == 0:
        return X, columns
    full = X[:, columns].toarray().astype(np.float64)
    shift, drifts, constant = _dense_columns(full, first)
    if shift.any() or drifts.any():
        full[:, drifts] -= full[first][:, drifts]
        full[:, ~drifts] -= shift[~drifts]
        by_row = X.format == "csr"
        of_stored = X.indices if by_row else np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        values = X.data.astype(np.float64)
        values[np.isin(of_stored, columns)] = (full if by_row else full.T).ravel()
        X = type(X)((values, X.indices, X.indptr), shape=X.shape)
    return X, columns[constant]


def _full_columns(X: Any) -> NDArray[np.intp]:
    """Return the columns with a stored element in every row."""
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
    return columns
