"""Fits to rows that stay in files: the products with X read them block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from kernelrank._dense import multiply
from kernelrank._rules import check_parameters
from kernelrank.io import RowStore
from kernelrank.kernels import Linear, make_kernel
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


def check_store(model: Any, store: RowStore, *, reset: bool) -> dict[str, Any]:
    """Check that a model can use a store; return the attributes that scikit-learn sets in a fit.

    Raises
    ------
    ValueError
        If the kernel is not linear, or the store has other features than the model.
    """
    check_parameters(model)
    if not isinstance(make_kernel(model.kernel), Linear):
        raise ValueError(
            "A RowStore requires kernel='linear'. For a kernel, transform the rows while they are written, for example"
            " with kernelrank.NystromMap fitted to some of them."
        )
    names = None if store.feature_names is None else np.array(store.feature_names, dtype=object)
    noted: dict[str, Any] = {"n_features_in_": store.n_features}
    if names is not None:
        noted["feature_names_in_"] = names
    if not reset and store.n_features != model.n_features_in_:
        raise ValueError(
            f"The store has {store.n_features} features, but {type(model).__name__} was fitted with"
            f" {model.n_features_in_}."
        )
    known = getattr(model, "feature_names_in_", None)
    if not reset and known is not None and names is not None and list(known) != list(names):
        raise ValueError(f"The features of the store are {list(names)}, but the model was fitted with {list(known)}.")
    return noted


def predict_stored(model: Any, store: RowStore) -> NDArray[np.float64]:
    """Return the scores of a linear model for the rows of a store."""
    check_is_fitted(model)
    check_store(model, store, reset=False)
    scores = np.empty(store.n_rows)
    for start, X, _ in store.blocks():
        scores[start : start + X.shape[0]] = multiply(X, model.coef_)
    return scores
