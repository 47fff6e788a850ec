"""Rows that are not a matrix in memory, as estimators take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank._unformed import UnformedRows
from kernelrank.estimators._stored_rows import stored_products
from kernelrank.features import KroneckerRows
from kernelrank.io import RowStore
from kernelrank.kernels import Linear, make_kernel
from kernelrank.solvers import Products, make_kronecker_products, make_products


def check_unformed(model: Any, X: UnformedRows, *, reset: bool) -> UnformedRows:
    """Return X, after checking that a model can use it; record or check its columns, as `check_features` does.

    Raises
    ------
    ValueError
        If the kernel is not linear, there is no row, or X has other features than the model.
    """
    name, (m, n) = type(X).__name__, X.shape
    kernels = model.kernel if isinstance(model.kernel, list | tuple) else [model.kernel]
    if not all(isinstance(make_kernel(kernel), Linear) for kernel in kernels):
        raise ValueError(f"A {name} requires kernel='linear'. {X.alternatives}")
    if m == 0:
        raise ValueError(f"Found array with 0 sample(s): the {name} has no row, while at least one is required.")
    names = None if X.feature_names is None else np.array(X.feature_names, dtype=object)
    if reset:
        model.n_features_in_ = n
        if names is not None:
            model.feature_names_in_ = names
        return X
    if n != model.n_features_in_:
        raise ValueError(
            f"The {name} has {n} features, but {type(model).__name__} was fitted with {model.n_features_in_}."
        )
    known = getattr(model, "feature_names_in_", None)
    if known is not None and names is not None and list(known) != list(names):
        raise ValueError(f"The features of the {name} are {list(names)}, but the model was fitted with {list(known)}.")
    return X


def products_of(X: Any, n_threads: int = 1, queries: NDArray[np.int32] | None = None) -> Products:
    """Prepare the products with the rows of X, in memory or not."""
    if isinstance(X, RowStore):
        return stored_products(X, n_threads)
    if isinstance(X, KroneckerRows):
        return make_kronecker_products(X, n_threads, queries)
    return make_products(X, n_threads, queries)
