"""Results that several commands show."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank._query_ids import encode_queries
from kernelrank.cli._data import Data, names_of, shown_names
from kernelrank.io import RowStore

Vector = NDArray[np.float64]


def describe(data: Data) -> dict[str, Any]:
    """Return the sizes of the data, and the names of the features."""
    if isinstance(store := data.X, RowStore):
        return {"n_rows": store.n_rows, "n_features": store.n_features, "n_queries": store.n_queries or None}
    n_queries = None if data.qid is None else encode_queries(data.qid, data.n_rows)[1]
    sizes = {"n_rows": data.n_rows, "n_features": int(data.X.shape[1]), "n_queries": n_queries}
    if data.preparation is not None and data.preparation.names is not None:
        names = data.preparation.names
        made = {"n_features": len(names), "n_encoded_features": sizes["n_features"]}
        return {**sizes, **made, "features": shown_names(names), "columns": data.preparation.columns}
    return sizes if (found := names_of(data.X)) is None else {**sizes, "features": found}


def describe_path(model: Any) -> list[dict[str, float]]:
    """Return the scores of each alpha of a fitted search."""
    scored = zip(model.alphas_, model.scores_, strict=True)
    return [{"alpha": float(alpha), **spread(scores)} for alpha, scores in scored]


def describe_selection(model: Any, data: Data, args: argparse.Namespace) -> dict[str, Any]:
    """Return the selected features of a model that selects some, in their order, with the held-out errors."""
    if not hasattr(model, "selected_"):
        return {}
    made = None if data.preparation is None else data.preparation.features
    # A ColumnTransformer puts the name of the transformer before that of the column.
    names = getattr(model, "feature_names_in_", None) if made is None else [name.split("__", 1)[-1] for name in made]
    first = 0 if args.zero_based else 1
    rows = zip(model.selected_.tolist(), model.errors_.tolist(), strict=True)
    return {
        "selected": [
            {"feature": str(number + first) if names is None else str(names[number]), "error": error}
            for number, error in rows
        ]
    }


def spread(values: Vector) -> dict[str, float]:
    """Return the mean and standard deviation over the folds where a metric is defined."""
    known = values[~np.isnan(values)]
    return {
        "mean": float(known.mean()) if len(known) else np.nan,
        "std": float(known.std(ddof=1)) if len(known) > 1 else np.nan,
    }


def summary(values: Vector) -> dict[str, Any]:
    """Return the mean over the queries where a metric is defined, and its standard error."""
    known = values[~np.isnan(values)]
    return {
        "mean": float(known.mean()) if len(known) else np.nan,
        "std_error": float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else np.nan,
        "n_queries": len(known),
    }
