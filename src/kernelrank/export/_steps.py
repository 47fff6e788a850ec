"""Transformers of scikit-learn as functions of single columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan, nan
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from kernelrank._rules import show
from kernelrank.exceptions import InvalidParameterError
from kernelrank.export._form import Category, Column, Encoded, Feature, Number
from kernelrank.pipelines._selection import selected_columns

_NEVER_SEEN = "\0 a category that was never seen"


def encode(step: Any, name: str, features: list[Feature]) -> list[Feature]:
    """Return the features after a fitted transformer; `name` is that of the step."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return features
    for kind, rule in _RULES.items():
        if isinstance(step, kind):
            return rule(step, name, features)
    raise InvalidParameterError(
        f"The step {name!r} ({type(step).__name__}) cannot be exported: an exported step computes each feature from one"
        f" column of the row. Steps that can be exported are {', '.join(sorted(kind.__name__ for kind in _RULES))}."
    )


def finish(features: list[Feature]) -> list[Encoded]:
    """Return what a model gets: a column that no transformer has used is a number."""
    return [_encoded(feature) for feature in features]


def _encoded(feature: Feature) -> Encoded:
    return feature.as_number() if isinstance(feature, Column) else feature


def _pipeline(step: Any, name: str, features: list[Feature]) -> list[Feature]:
    for inner, each in step.steps:
        features = encode(each, f"{name}__{inner}", features)
    return features


def _columns(step: Any, name: str, features: list[Feature]) -> list[Feature]:
    """Apply the parts of a ColumnTransformer, whose outputs are side by side."""
    names = getattr(step, "feature_names_in_", None)
    weights = step.transformer_weights or {}
    found: list[Feature] = []
    for inner, each, columns in step.transformers_:
        if isinstance(each, str) and each == "drop":
            continue
        chosen = [features[k] for k in selected_columns(columns, len(features), names)]
        if not chosen:
            continue
        made = encode(each, f"{name}__{inner}", chosen)
        weight = weights.get(inner, 1.0)
        found += made if weight == 1 else [_encoded(feature).scaled(0.0, weight) for feature in made]
    return found


def _standard(step: Any, name: str, features: list[Feature]) -> list[Feature]:
    return _scale(features, step.mean_ if step.with_mean else None, step.scale_)


def _robust(step: Any, name: str, features: list[Feature]) -> list[Feature]:
    centres = step.center_ if step.with_centering else None
    return _scale(features, centres, step.scale_ if step.with_scaling else None)


def _largest(step: Any, name: str, features: list[Feature]) -> list[Feature]:
    _refuse_clipping(step, name)
    return _scale(features, None, step.scale_)


def _range(step: Any, name: str, features: list[Feature]) -> list[Feature]:
    _refuse_clipping(step, name)
    low = float(step.feature_range[0])
    parts = zip(features, step.data_min_.tolist(), step.scale_.tolist(), strict=True)
    return [_encoded(feature).scaled(centre, factor, low) for feature, centre, factor in parts]


def _refuse_clipping(step: Any, name: str) -> None:
    if getattr(step, "clip", False):
        raise ValueError(f"The step {name!r} ({type(step).__name__}) cannot be exported with clip=True.")


def _scale(features: list[Feature], centres: Any, scales: Any) -> list[Feature]:
    """Return ``(feature - centre) / scale``; None stands for zeros and ones."""
    n = len(features)
    centres = np.zeros(n) if centres is None else np.asarray(centres, np.float64)
    factors = np.ones(n) if scales is None else 1.0 / np.asarray(scales, np.float64)
    parts = zip(features, centres.tolist(), factors.tolist(), strict=True)
    return [_encoded(feature).scaled(centre, factor) for feature, centre, factor in parts]


def _impute(step: Any, name: str, features: list[Feature]) -> list[Feature]:
    if not _is_missing(step.missing_values):
        raise ValueError(
            f"The step {name!r} (SimpleImputer) cannot be exported with missing_values={step.missing_values!r}: a"
            " missing value is NaN or None."
        )
    if any(isinstance(feature, Category) for feature in features):
        raise ValueError(f"The step {name!r} (SimpleImputer) cannot be exported after an encoder; put it before.")
    statistics = step.statistics_.tolist()
    # A column without any value has no statistic, and is left out.
    pairs = [pair for pair in zip(features, statistics, strict=True) if not _is_missing(pair[1])]
    filled = [_fill(feature, value) for feature, value in pairs]
    if step.add_indicator:
        filled += [_indicate(features[k], statistics[k], name) for k in step.indicator_.features_.tolist()]
    return filled


def _fill(feature: Feature, value: Any) -> Feature:
    if isinstance(feature, Column):
        return feature if feature.fill is not None else Column(feature.column, value)
    assert isinstance(feature, Number)
    return feature if not isnan(feature.missing) else replace(feature, missing=float(value))


def _indicate(feature: Feature, value: Any, name: str) -> Feature:
    """Return 1 where a number is missing, and 0 elsewhere."""
    if not isinstance(value, Real):
        raise ValueError(
            f"The step {name!r} (SimpleImputer) cannot be exported with add_indicator=True for text: an encoder without"
            " an imputer has a feature for missing categories."
        )
    return Number(feature.column, factor=0.0, missing=1.0)


def _one_hot(step: Any, name: str, features: list[Feature]) -> list[Feature]:
    infrequent = getattr(step, "infrequent_categories_", [None] * len(features))
    dropped = [None] * len(features) if step.drop_idx_ is None else step.drop_idx_
    widths = [
        len(categories) - (0 if rare is None else len(rare) - 1) - (drop is not None)
        for categories, rare, drop in zip(step.categories_, infrequent, dropped, strict=True)
    ]
    return _probe(step, name, features, widths)


def _ordinal(step: Any, name: str, features: list[Feature]) -> list[Feature]:
    return _probe(step, name, features, [1] * len(features))


def _probe(step: Any, name: str, features: list[Feature], widths: Sequence[int]) -> list[Feature]:
    """Ask an encoder for the numbers of each category: infrequent and dropped ones are treated as it treats them."""
    columns = []
    for feature, categories in zip(features, step.categories_, strict=True):
        if not isinstance(feature, Column):
            raise ValueError(f"The step {name!r} ({type(step).__name__}) can be exported for original columns only.")
        gaps = [each for each in categories.tolist() if _is_missing(each)]
        if len(gaps) > 1:
            raise ValueError(
                f"The step {name!r} ({type(step).__name__}) cannot be exported: it distinguishes None and NaN."
            )
        known = [each for each in categories.tolist() if not _is_missing(each)]
        strange = next((each for each in known if not isinstance(each, str | Real | np.bool_)), None)
        if strange is not None:
            raise ValueError(
                f"The step {name!r} ({type(step).__name__}) cannot be exported: its categories must be text, numbers or"
                f" truth values, but one is {show(strange)}. Convert the column to text before training."
            )
        columns.append((feature, known, gaps))
    n_probes = max(len(known) + len(gaps) for _, known, gaps in columns)
    rows = np.empty((n_probes, len(columns)), dtype=object)
    for k, (_, known, gaps) in enumerate(columns):
        listed = known + gaps
        rows[:, k] = listed + listed[:1] * (n_probes - len(listed))
    found, ends = _transform(step, rows), np.cumsum([0, *widths]).tolist()
    assert found.shape[1] == ends[-1]
    encoded: list[Feature] = []
    for k, (feature, known, gaps) in enumerate(columns):
        unknown = _unseen(step, rows[0], k)[ends[k] : ends[k + 1]].tolist()
        block = found[: len(known) + len(gaps), ends[k] : ends[k + 1]].tocsc()
        places, values = np.split(block.indices, block.indptr[1:-1]), np.split(block.data, block.indptr[1:-1])
        shared = tuple(known)
        filled = known.index(feature.fill) if feature.fill in known else None
        for j in range(widths[k]):
            by_place = dict(zip(places[j].tolist(), values[j].tolist(), strict=True))
            missing = by_place.pop(len(known), 0.0) if gaps else unknown[j]
            if feature.fill is not None:
                missing = unknown[j] if filled is None else by_place.get(filled, 0.0)
            encoded.append(Category(feature.column, shared, by_place, 0.0, unknown[j], missing))
    return encoded


def _unseen(step: Any, row: NDArray[Any], k: int) -> NDArray[np.float64]:
    """Return the encoding of a row whose k-th category was never seen; NaN where the encoder raises an error."""
    if step.handle_unknown == "error":
        return np.full(_transform(step, row[None]).shape[1], nan)
    unseen = row.copy()
    known = step.categories_[k]
    # Twice the largest number is another one, also where adding 1 would be lost to rounding.
    unseen[k] = 2 * float(np.nanmax(np.abs(known), initial=1.0)) if known.dtype.kind in "iuf" else _NEVER_SEEN
    found: NDArray[np.float64] = _transform(step, unseen[None]).toarray()[0]
    return found


def _transform(step: Any, rows: NDArray[Any]) -> Any:
    """Return encoded rows as a sparse array; explicit zeros are removed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that rows have no names, and categories are unknown
        found = sp.csr_array(step.transform(rows), dtype=np.float64)
    found.eliminate_zeros()
    return found


def _is_missing(value: Any) -> bool:
    # pandas' NA is not equal to anything, and has no truth value.
    return value is None or (isinstance(value, Real) and isnan(value)) or type(value).__name__ == "NAType"


def _select(step: Any, name: str, features: list[Feature]) -> list[Feature]:
    return [feature for feature, kept in zip(features, step.get_support(), strict=True) if kept]


def _identity(step: Any, name: str, features: list[Feature]) -> list[Feature]:
    """Return the features: a ColumnTransformer stores "passthrough" in this way."""
    if step.func is not None:
        raise InvalidParameterError(
            f"The step {name!r} (FunctionTransformer) cannot be exported: it calls a function of Python."
        )
    return features


_RULES: dict[type, Callable[[Any, str, list[Feature]], list[Feature]]] = {
    ColumnTransformer: _columns,
    FunctionTransformer: _identity,
    MaxAbsScaler: _largest,
    MinMaxScaler: _range,
    OneHotEncoder: _one_hot,
    OrdinalEncoder: _ordinal,
    Pipeline: _pipeline,
    RobustScaler: _robust,
    SelectorMixin: _select,
    SimpleImputer: _impute,
    StandardScaler: _standard,
}
