"""Products with the data matrix: X w and X' g.

X is never copied to float64, but every sum is a float64 sum: rounded scores would make the
certificate of a fit false. Every sum has a fixed order of additions, so neither the number of threads, the thread that
computes it nor the order of storage shows in the result, and equal rows have equal scores.

Columns far from zero are shifted, and columns that are constant in every query get no weight: see `_columns`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from kernelrank._arrays import Array, in_double, is_foreign, like, row_blocks, take, to_host
from kernelrank._core import gather_product, multiply_columns, multiply_rows, scatter_product
from kernelrank._dense import contiguous, inner, readable
from kernelrank.solvers._columns import Columns, find_columns, first_rows, shift_full_columns

Vector = NDArray[np.float64]

_ROUNDING = 1e-9  # of a product, relative to its terms: less may be nothing but that


@dataclass(frozen=True)
class Products:
    """The two products with a matrix, each in O(number of stored elements).

    Attributes
    ----------
    n_rows, n_columns : int
        Numbers of rows and of columns.
    forward : callable
        Takes w to X w. Those of :func:`~kernelrank.solvers.make_products` and
        :func:`~kernelrank.solvers.make_block_products` take memory for the result as well.
    backward : callable
        Takes g to X' g, for g that sums to zero in every query.
    squares : callable
        Takes d to (X * X)' d, elementwise, of the columns as they are after the shift.
    """

    euclidean: ClassVar[bool] = True  # whether `inner` is the sum of products of elements

    n_rows: int
    n_columns: int
    forward: Callable[..., Vector]
    backward: Callable[[Vector], Vector]
    squares: Callable[[Vector], Vector]

    def zeros(self) -> Any:
        """Return a vector of zeros where vectors with one element per row are.

        Returns
        -------
        vector of rows
            Zeros.
        """
        return np.zeros(self.n_rows)

    def inner(self, u: Vector, v: Vector) -> Any:
        """Return the inner product of two weight vectors; `u` may hold one per row.

        Parameters
        ----------
        u : ndarray of shape (n_columns,) or (k, n_columns)
            Weights.
        v : ndarray of shape (n_columns,)
            Weights.

        Returns
        -------
        float or ndarray of shape (k,)
            Inner products.
        """
        return inner(u, v)

    def rounding(self, w: Vector) -> float:
        """Bound the error of ``inner(w, w)`` that is due to the rounding of X; 0 where X is what was given.

        Parameters
        ----------
        w : ndarray of shape (n_columns,)
            Weights of the features.

        Returns
        -------
        float
            The bound.
        """
        return 0.0

    def diagonal(self, d: Vector) -> Vector:
        """Compute the diagonal of ``X' (diag(d) - d d' / sum(d)) X``: two products.

        It stands for that of ``X' L X``, with L a weighted Laplacian of pairs whose diagonal is d: as if every row were
        compared with the mean row.

        Parameters
        ----------
        d : ndarray of shape (n_rows,)
            Diagonal of the Laplacian.

        Returns
        -------
        ndarray of shape (n_columns,)
            The diagonal.
        """
        total = float(array_namespace(d).sum(d))
        mean = self.backward(d) / total
        return np.asarray(np.maximum(self.squares(d) - total * mean**2, 0.0))


@dataclass(frozen=True)
class ArrayProducts(Products):
    """Products with a matrix of another library than NumPy.

    Vectors with one element per row are in its namespace and on its device; weights of features are NumPy's.

    Attributes
    ----------
    matrix : array of shape (n_rows, n_columns)
        The matrix.
    """

    matrix: Array

    def zeros(self) -> Array:
        """Return a vector of zeros where vectors with one element per row are.

        Returns
        -------
        vector of rows
            Zeros.
        """
        xp = array_namespace(self.matrix)
        return xp.zeros(self.n_rows, dtype=xp.float64, device=device(self.matrix))


def make_products(
    X: Any, n_threads: int = 1, queries: NDArray[np.int32] | None = None, columns: Columns | None = None
) -> Products:
    """Prepare the products with a dense matrix, or a CSR or CSC matrix in canonical form, of float32 or float64.

    A dense matrix of another library is multiplied on its device.

    `queries` tells which rows are compared with each other; without it all are. `columns` are those of
    ``inspect_columns`` or :func:`~kernelrank.solvers.find_common_columns`, if they are known already.

    Parameters
    ----------
    X : {ndarray, CSR matrix, CSC matrix, array} of shape (n_rows, n_columns)
        Matrix of float32 or float64; a sparse one in canonical form.
    n_threads : int, default=1
        Number of threads.
    queries : ndarray of int32 of shape (n_rows,), optional
        Query of each row, 0, 1, ...: which rows are compared with each other. All are by default.
    columns : Columns, optional
        Columns that are shifted, and constant columns, if they are known already.

    Returns
    -------
    Products
        The products.
    """
    X, first = _readable(X), first_rows(queries, X.shape[0])
    columns = _inspect(X, n_threads, queries, first) if columns is None else columns
    if is_foreign(X):
        return _array_products(X, first, columns)
    return (_sparse_products if sp.issparse(X) else _dense_products)(X, n_threads, first, columns)


def inspect_columns(X: Any, n_threads: int = 1, queries: NDArray[np.int32] | None = None) -> Columns:
    """Find columns to be shifted, and columns that are constant in every query."""
    return _inspect(_readable(X), n_threads, queries, first_rows(queries, X.shape[0]))


def _inspect(X: Any, n_threads: int, queries: NDArray[np.int32] | None, first: NDArray[np.int32]) -> Columns:
    columns = find_columns(X, first)
    if queries is None or not sp.issparse(X):
        return columns
    constant = _constant_in_queries(X, queries, _sparse_products(X, n_threads, first, columns))
    return columns._replace(constant=np.union1d(columns.constant, constant))


def _readable(X: Any) -> Any:
    """Return a matrix in the layout of the compiled products."""
    if not sp.issparse(X):
        return X if is_foreign(X) else readable(np.asarray(X))
    stored = X.indptr[-1]  # the arrays may be longer
    parts = (X.data[:stored], X.indices[:stored], X.indptr)
    X = type(X)(tuple(map(np.ascontiguousarray, parts)), shape=X.shape)
    X.check_format(full_check=True)  # an index out of range would be read, and written, out of bounds
    return X


def restrict(products: Products, project: Callable[[Vector], Vector]) -> Products:
    """Return products with X P, where P is an orthogonal projection; the matrix X P is not formed.

    Parameters
    ----------
    products : Products
        Products with X.
    project : callable
        Multiplies a vector with P.

    Returns
    -------
    Products
        Products with X P.
    """
    return replace(
        products,
        forward=lambda w, *out: products.forward(project(w), *out),
        backward=lambda g: project(products.backward(g)),
    )


def _dense_products(X: NDArray[Any], n_threads: int, first: NDArray[np.int32], columns: Columns) -> Products:
    m, n = X.shape
    options: dict[str, Any] = {"n_threads": n_threads}
    if columns.shifts:
        options["shift"] = columns.shift
    if columns.drifts.any():
        options.update(origins=np.ascontiguousarray(first), drifts=columns.drifts.view(np.uint8))

    def forward(w: Vector, out: Vector | None = None) -> Vector:
        out = np.empty(m) if out is None else out
        multiply_rows(X, contiguous(w), out, **options)
        return out

    def backward(g: Vector, squared: bool = False) -> Vector:
        out = np.empty(n)
        multiply_columns(X, contiguous(g), out, squared=squared, **options)
        out[columns.constant] = 0.0
        return out

    def squares(d: Vector) -> Vector:
        return backward(d, squared=True)

    return Products(m, n, forward, backward, squares)


def _array_products(X: Array, first: NDArray[np.int32], columns: Columns) -> ArrayProducts:
    xp, (m, n) = array_namespace(X), X.shape
    shift = like(np.where(columns.drifts, 0.0, columns.shift), X)
    drifts = like(columns.drifts.astype(np.float64), X)

    def block(rows: slice) -> Array:
        """Return rows in float64, with their columns shifted."""
        found = in_double(X[rows, :])
        found = found - shift if columns.shifts else found
        return found - in_double(take(X, first[rows])) * drifts if columns.drifts.any() else found

    # What is neither converted nor shifted is multiplied at once.
    blocks = [slice(0, m)] if X.dtype == xp.float64 and not columns.shifts else list(row_blocks(X))

    def forward(w: Vector) -> Array:
        weights = like(contiguous(w), X)
        return xp.concat([block(rows) @ weights for rows in blocks])

    def backward(g: Array) -> Vector:
        return sums(lambda rows: block(rows).T @ g[rows], blocks)

    def squares(d: Array) -> Vector:
        return sums(lambda rows: (block(rows) ** 2).T @ d[rows], row_blocks(X))

    def sums(part: Callable[[slice], Array], parts: Iterable[slice]) -> Vector:
        total = np.array(to_host(sum(map(part, parts), xp.zeros(n, dtype=xp.float64, device=device(X)))))
        total[columns.constant] = 0.0
        return total

    return ArrayProducts(m, n, forward, backward, squares, X)


def _sparse_products(X: Any, n_threads: int, first: NDArray[np.int32], columns: Columns) -> Products:
    m, n = X.shape
    X = shift_full_columns(X, first, columns)
    starts, indices, numbers = X.indptr, X.indices, X.data
    if starts.dtype != indices.dtype:
        starts, indices = (part.astype(np.int64, copy=False) for part in (starts, indices))

    def product(kernel: Callable[..., None], v: Vector, out: Vector, squared: bool = False) -> Vector:
        kernel(starts, indices, numbers, np.ascontiguousarray(v), out, n_threads, squared)
        return out

    by_row = X.format == "csr"

    def forward(w: Vector, out: Vector | None = None) -> Vector:
        return product(gather_product if by_row else scatter_product, w, np.empty(m) if out is None else out)

    def backward(g: Vector, squared: bool = False) -> Vector:
        out = product(scatter_product if by_row else gather_product, g, np.empty(n), squared)
        out[columns.constant] = 0.0
        return out

    def squares(d: Vector) -> Vector:
        return backward(d, squared=True)

    return Products(m, n, forward, backward, squares)


def _constant_in_queries(X: Any, queries: NDArray[np.int32], products: Products) -> NDArray[np.intp]:
    """Find columns that are constant in every query, stored or not, at the price of two products.

    Such a column has no product with a random vector whose sums over queries are zero, up to rounding; those few that
    have none are looked at.
    """
    g = np.random.default_rng(0).normal(size=len(queries))
    g -= (np.bincount(queries, g) / np.maximum(np.bincount(queries), 1))[queries]
    with np.errstate(over="ignore", invalid="ignore"):
        terms = np.sqrt(products.squares(g * g))
        suspects = np.flatnonzero(~(np.abs(products.backward(g)) > _ROUNDING * terms) & (terms != 0))
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
