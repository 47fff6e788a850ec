"""Representations of the rows for the solvers of the RankSVM family: features, a reduced set, or kernel functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import is_foreign, like, place, take, to_host
from kernelrank._memory import require_memory
from kernelrank._unformed import UnformedRows
from kernelrank.estimators._span_of_rows import SpanOfRows, is_wide
from kernelrank.estimators._svm_solver import QueryWeighting, Solver, make_solver
from kernelrank.estimators._unformed_rows import products_of
from kernelrank.features import NystromMap
from kernelrank.kernels import Kernel, Linear, Precomputed, make_kernel
from kernelrank.kernels._matrices import check_kernel_matrix, check_semidefinite
from kernelrank.losses import PairwiseHinge
from kernelrank.pairs import Pairs
from kernelrank.solvers import (
    LinearOracle,
    Oracle,
    Products,
    WideProducts,
    make_kernel_products,
    make_products,
    restrict,
)

Vector = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Representation:
    """Products for a solver, and the conversion of its solution to a model.

    Attributes
    ----------
    products : Products
    kernel : Kernel or None
        With its parameters resolved; None for the linear one.
    basis : ndarray or None
        Rows whose kernels are combined; None for all of them.
    nystrom : NystromMap or None
        The map of a reduced set, which has fewer basis rows than rows.
    span : SpanOfRows or None
        Wide rows of the linear kernel; solutions are combinations of them.
    """

    products: Products
    kernel: Kernel | None = None
    basis: Rows | None = None
    nystrom: NystromMap | None = None
    span: SpanOfRows | None = None

    def oracle(self, pairs: Pairs, query_weighting: QueryWeighting) -> Oracle:
        """Return the hinge of pairs of the rows."""
        return LinearOracle(self.products, PairwiseHinge(pairs, query_weighting))

    def solver(self, pairs: Pairs, **options: Any) -> Solver:
        """Return the solver for pairs of the rows; options are those of `make_solver`."""
        return make_solver(self.products, pairs, **options)

    def coefficients(self, w: Vector) -> Vector:
        """Return the weights of the features, or of the basis rows' kernels, as a NumPy array."""
        if self.kernel is None:
            return w if self.span is None else self.span.combine(w[: self.products.n_rows])
        if self.nystrom is None:
            return w[: self.products.n_rows]
        return np.asarray(to_host(self.nystrom.coefficients(like(w, self.nystrom.whitening_))))

    def without(self, held_out: Rows) -> Representation:
        """Remove the feature directions of held-out basis rows; without a reduced set there are none to remove."""
        if self.nystrom is None:
            return self
        nystrom = self.nystrom.without(held_out)

        def project(w: Vector) -> Vector:
            return np.asarray(to_host(nystrom.restrict(like(w, nystrom.whitening_))))

        return replace(self, products=restrict(self.products, project))

    def attributes(self, X: Any, w: Vector) -> dict[str, Any]:
        """Return the attributes that a fitted estimator has for its solution; X are the rows of the fit."""
        weights = self.coefficients(w)
        if self.kernel is None:
            return {"coef_": like(weights, X)}
        found: dict[str, Any] = {"kernel_": self.kernel}
        if self.basis is not None:
            found["basis_indices_"] = self.basis
        if not isinstance(self.kernel, Precomputed):
            found["basis_"] = X.copy() if self.basis is None else take(X, self.basis)
        elif self.basis is not None:  # the columns of its matrix stand for the basis
            by_column = np.zeros(X.shape[1])
            by_column[self.basis] = weights
            weights = by_column
        return {**found, "dual_coef_": like(weights, X)}


def represent(
    X: Any,
    kernel: Any,
    n_basis: int | None,
    random_state: Any,
    *,
    n_threads: int,
    queries: NDArray[np.int32] | None = None,
    any_space: bool = False,
) -> Representation:
    """Prepare validated rows for training, with the kernel functions of all rows or of `n_basis` rows.

    `any_space` means that the solver may represent solutions other than by weights of the features.
    """
    kernel = make_kernel(kernel)
    if isinstance(kernel, Linear):
        if n_basis is not None:
            raise ValueError("n_basis is for non-linear kernels; with kernel='linear' it must be None.")
        if isinstance(X, UnformedRows):
            return Representation(products_of(X, n_threads, queries))
        span = SpanOfRows(X, queries) if is_wide(X) else None
        if any_space and span is not None:
            return Representation(make_kernel_products(span.inner_products(), n_threads), span=span)
        products = make_products(X, n_threads, queries)
        return Representation(products if span is None else WideProducts(**vars(products), gram=span.inner_products))
    m = X.shape[0]
    if n_basis is None or n_basis >= m:
        return _all_functions(X, kernel.resolve(X), None if n_basis is None else np.arange(m), n_threads)
    require_memory(
        8.0 * m * n_basis + 32.0 * n_basis**2,
        f"Features of {m} rows, made of {n_basis} basis rows,",
        "Use a smaller n_basis.",
    )
    nystrom = NystromMap(kernel, n_basis, random_state=random_state).fit(X)
    products = make_products(nystrom.transform(X), n_threads, queries)
    return Representation(products, nystrom.kernel_, nystrom.basis_indices_, nystrom)


def _all_functions(X: Any, kernel: Kernel, basis: Rows | None, n_threads: int) -> Representation:
    m = X.shape[0]
    if is_foreign(X):
        raise ValueError(
            f"A kernel with all rows is for NumPy arrays and sparse matrices, got {place(X)}: set n_basis to less than"
            f" the number of rows, {m}, or convert X to NumPy."
        )
    if isinstance(kernel, Precomputed) and X.shape[0] != X.shape[1]:
        raise ValueError(f"A kernel matrix to be fitted to is square, but X has shape {X.shape}.")
    require_memory(8.0 * m * m * (1 if kernel.semidefinite else 2), f"The kernel matrix of {m} rows", "Use n_basis.")
    with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused below
        K = kernel(X)
    check_kernel_matrix(K)
    if not kernel.semidefinite:
        check_semidefinite(K)
    return Representation(make_kernel_products(K, n_threads), kernel, basis)
