"""Fitting of the columns of large tables, and what was done to each of them."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder

from kernelrank._columns import as_frame
from kernelrank.pipelines._columns import TEXTS, count_missing


def fit_columns(transformer: ColumnTransformer, frame: Any) -> Any:
    """Fit the first step of :func:`~kernelrank.pipelines.make_table_ranker`, and return the transformed rows.

    The result is that of ``transformer.fit_transform(frame)``. For polars, which finds the values of text columns much
    faster than scikit-learn, the encoder is fitted to the numbers of the values in their order, and gets the values
    afterwards.
    """
    table = as_frame(frame)
    assert table is not None
    encoded = _encoded(transformer) if table.implementation.is_polars() else []
    types = [table[name].dtype for name in encoded]
    has_text = any(dtype in TEXTS for dtype in types)
    if not has_text or any(dtype not in TEXTS and dtype != nw.Boolean for dtype in types):
        return transformer.fit_transform(frame)
    values = {name: _values(table[name]) for name in encoded}
    numbered = table.with_columns(_numbers(table[name], values[name]) for name in encoded)
    X = transformer.fit_transform(numbered.to_native())
    encoder: OneHotEncoder = transformer.named_transformers_["categories"]
    encoder.categories_ = [np.array(values[name], dtype=object) for name in encoded]
    return X


def _encoded(transformer: ColumnTransformer) -> list[str]:
    return next((names for name, _, names in transformer.transformers if name == "categories"), [])


def _values(series: nw.Series[Any]) -> list[Any]:
    """Return the values of a column as OneHotEncoder orders them: None is the last."""
    found = series.unique().to_list()
    return sorted(value for value in found if value is not None) + [None] * (None in found)


def _numbers(series: nw.Series[Any], values: list[Any]) -> nw.Series[Any]:
    texts = [str(value).lower() if isinstance(value, bool) else value for value in values if value is not None]
    # A missing value is the last one.
    found = series.cast(nw.String).replace_strict(texts, range(len(texts)), default=len(texts), return_dtype=nw.Int32)
    return found.alias(series.name)


def describe_columns(transformer: ColumnTransformer, frame: Any, left_out: dict[str, str]) -> list[dict[str, Any]]:
    """Return what a fitted first step of `make_table_ranker` does to each column, in the order of the table.

    Each record has the `column`, its `kind`, the `treatment`, the number of `features` it becomes, and how many of its
    values are `missing`, and `rare`, if it is a category.
    """
    table = as_frame(frame)
    assert table is not None
    found = {
        name: {"kind": "left out", "treatment": reason, "features": 0, "missing": count_missing(table[name])}
        for name, reason in left_out.items()
    }
    for part, fitted, names in transformer.transformers_:
        for k, name in enumerate(names if part in ("numbers", "categories") else ()):
            missing = count_missing(table[name])
            describe = _describe_number if part == "numbers" else _describe_category
            found[name] = {**describe(fitted, k, missing), "missing": missing}
    return [{"column": name, **found[name]} for name in table.columns if name in found]


def _describe_number(fitted: Any, _: int, missing: int) -> dict[str, Any]:
    words = ["mean 0, variance 1"] if hasattr(fitted, "steps") else []
    words += ["missing: mean, marked"] if missing else []
    return {"kind": "number", "treatment": "; ".join(words) or "as it is", "features": 1 + bool(missing)}


def _describe_category(encoder: OneHotEncoder, k: int, _: int) -> dict[str, Any]:
    rare = encoder.infrequent_categories_[k]
    n_rare = 0 if rare is None else len(rare)
    n_values = len(encoder.categories_[k])
    treatment = "one feature per value" + (f"; {n_rare} rare ones together" if n_rare else "")
    return {"kind": "category", "treatment": treatment, "features": n_values - n_rare + bool(n_rare), "rare": n_rare}
