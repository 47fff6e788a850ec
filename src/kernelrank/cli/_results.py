"""Results that several commands show."""

from __future__ import annotations

from typing import Any

from kernelrank._validation import encode_queries
from kernelrank.cli._data import Data, names_of
from kernelrank.io import RowStore


def describe(data: Data) -> dict[str, Any]:
    """Return the sizes of the data, and the names of the features."""
    if isinstance(store := data.X, RowStore):
        return {"n_rows": store.n_rows, "n_features": store.n_features, "n_queries": store.n_queries or None}
    n_queries = None if data.qid is None else encode_queries(data.qid, data.n_rows)[1]
    sizes = {"n_rows": data.n_rows, "n_features": int(data.X.shape[1]), "n_queries": n_queries}
    return sizes if (names := names_of(data.X)) is None else {**sizes, "features": names}
