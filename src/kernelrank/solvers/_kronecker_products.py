r"""Products with rows that are Kronecker products, which are never formed.

With W the weights as a matrix of shape (d1, d2), the scores are ``U W V'`` at the entries, and the transposed product
is ``U' G V``, where G is zero but for g at the entries.

Offsets carry no information, but would cost digits: see `_columns`. They cannot be taken out of the products of
features, which are not formed, but out of U and V. With s and t the centres of those columns of U and V that are far
from zero or constant, and ``u~ = u - s``, ``v~ = v - t``:

- if each query lies in one row, as with ``qid=rows``, then ``u' W t`` is the same for all of a query. So V is replaced
  by V~, which changes no difference. If each query lies in one column, U is replaced by U~ likewise;
- otherwise only ``s' W t`` is the same for all entries, and ``u' W v - s' W t = u' W v~ + u~' W t``: the first term is
  a product with V~, and the second one number per row of U. Without s or without t, no product of two columns is far
  from zero, and nothing is shifted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._dense import multiply
from kernelrank._entries import EntryProducts
from kernelrank._memory import require_memory
from kernelrank.features import KroneckerRows
from kernelrank.features._kronecker_rows import mirror
from kernelrank.solvers._columns import Rows, dense_part, find_common_columns, shift_full_columns
from kernelrank.solvers._products import Products

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

_MOST_VECTORS = 8  # of weights, which a solver has at least


class _RowTerm(NamedTuple):
    """The term ``u~' W t``."""

    U: Any
    t: Vector


class _KroneckerProducts:
    """The functions of `make_kronecker_products`."""

    def __init__(self, X: KroneckerRows, n_threads: int, queries: NDArray[np.int32] | None) -> None:
        U, V, self._row_term = _without_offsets(X, queries)
        self._products = EntryProducts(U, V, X.rows, X.columns, n_threads)
        self._rows, self._n_threads, self._symmetry, self._shape = X.rows, n_threads, X.symmetry, X.sides

    def forward(self, w: Vector, out: Vector | None = None) -> Vector:
        W = mirror(w.reshape(self._shape), self._symmetry)
        out = self._products.forward(W, out)
        if self._row_term is not None:
            out += multiply(self._row_term.U, multiply(W, self._row_term.t), self._n_threads)[self._rows]
        return out

    def backward(self, g: Vector) -> Vector:
        G = self._products.backward(g)
        if self._row_term is not None:
            G = G + np.outer(self._of_rows(self._row_term.U, g), self._row_term.t)
        return mirror(G, self._symmetry).ravel()

    def squares(self, d: Vector) -> Vector:
        """Compute the sums of squares; with a symmetry without those of ``u_a v_b u_b v_a``, which are not cheap."""
        U, V, row_term = self._products.U, self._products.V, self._row_term
        found = self._products.with_factors(_times(U, U), _times(V, V)).backward(d)
        if row_term is not None:
            mixed = self._products.with_factors(_times(U, row_term.U), V).backward(d)
            found = found + 2 * mixed * row_term.t
            found += np.outer(self._of_rows(_times(row_term.U, row_term.U), d), row_term.t**2)
        return np.maximum(found if self._symmetry is None else found + found.T, 0.0).ravel()

    def _of_rows(self, U: Any, g: Vector) -> Vector:
        """Compute the product of ``U'`` with the sums of g over the entries of each row."""
        return np.asarray(multiply(U.T, np.bincount(self._rows, g, minlength=U.shape[0]), self._n_threads))


def make_kronecker_products(X: KroneckerRows, n_threads: int = 1, queries: NDArray[np.int32] | None = None) -> Products:
    """Prepare the products with Kronecker products of rows.

    Parameters
    ----------
    X : KroneckerRows
        The rows.
    n_threads : int, default=1
        Number of threads.
    queries : ndarray of int32 of shape (n_rows,), optional
        Query of each row, 0, 1, ...: which rows are compared with each other. All are by default.

    Returns
    -------
    Products
        The products.

    Raises
    ------
    MemoryError
        If the weights, and the products of the features of one side with them, do not fit into memory.
    """
    (n_rows, n_columns), (d1, d2) = X.shape, X.sides
    lines = X.U.shape[0] * d2 if d2 <= d1 else X.V.shape[0] * d1
    require_memory(
        8.0 * (_MOST_VECTORS * n_columns + lines),
        f"Training with {d1} x {d2} weights, one per pair of features of U and V,",
        "Reduce the features of U and V, for example with sklearn.decomposition.TruncatedSVD, or use"
        " kernelrank.relational.KroneckerRLS, which needs no weights of pairs of features.",
    )
    products = _KroneckerProducts(X, n_threads, queries)
    return Products(n_rows, n_columns, products.forward, products.backward, products.squares)


def _without_offsets(X: KroneckerRows, queries: NDArray[np.int32] | None) -> tuple[Any, Any, _RowTerm | None]:
    """Return U and V as they are multiplied, and the term that is added."""
    if _are_constant_in_queries(X.rows, queries):
        return X.U, _shift(X.V)[0], None
    if _are_constant_in_queries(X.columns, queries):
        return _shift(X.U)[0], X.V, None
    (U, s), (V, t) = _shift(X.U), _shift(X.V)
    return (X.U, V, _RowTerm(U, t)) if s.any() and t.any() else (X.U, X.V, None)


def _are_constant_in_queries(numbers: NDArray[np.int32], queries: NDArray[np.int32] | None) -> bool:
    """Return whether the entries of each query all have the same number."""
    if queries is None or len(numbers) == 0:
        return False
    number_of = np.empty(int(queries.max()) + 1, np.int32)
    number_of[queries] = numbers  # of several, one stays
    return bool((number_of[queries] == numbers).all())


def _shift(features: Any) -> tuple[Any, Vector]:
    """Return the features without the centres of columns that are far from zero or constant, and these centres."""
    columns = find_common_columns(Rows(features))
    shift = columns.shift.copy()
    constant = np.isin(columns.full, columns.constant)
    shift[constant] = dense_part(features, slice(0, 1), columns.constant)[0]
    centres = np.zeros(features.shape[1])
    centres[columns.full] = shift
    if not centres.any():
        return features, centres
    if sp.issparse(features):
        first = np.zeros(features.shape[0], np.int32)
        return shift_full_columns(features, first, columns._replace(shift=shift)), centres
    return features - centres, centres


def _times(left: Any, right: Any) -> Any:
    """Multiply two matrices elementwise, in float64."""
    if sp.issparse(left):
        return left.astype(np.float64).multiply(right).tocsr()
    return np.multiply(left, right, dtype=np.float64)
