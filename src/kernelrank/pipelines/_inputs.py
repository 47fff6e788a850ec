"""Columns that a fitted pipeline, or another model, reads from a table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from kernelrank._columns import as_frame
from kernelrank.pipelines._columns import count_missing


class Inputs(NamedTuple):
    """Names of the columns that a model needs, in the order of training, and which of them hold text or booleans."""

    names: list[str]
    texts: frozenset[str] = frozenset()
    booleans: frozenset[str] = frozenset()
    nones: frozenset[str] = frozenset()  # where None is a category: missing text


def inputs_of(model: Any) -> Inputs | None:
    """Return the columns that a fitted model needs; None if it was fitted without names."""
    found = getattr(model, "feature_names_in_", None)
    if found is None:
        return None
    names = [str(name) for name in found]
    first = model.steps[0][1] if isinstance(model, Pipeline) else model
    if not isinstance(first, ColumnTransformer):
        kinds = {name: _kind(first, k) for k, name in enumerate(names)}
        return Inputs(names, _of_kind(str, kinds), _of_kind(bool, kinds))
    needed, nones, kinds = set[str](), set[str](), {}
    for _, part, given in first.transformers_:
        if isinstance(part, str) and part == "drop":
            continue
        is_named = isinstance(given, str) or all(isinstance(each, str) for each in _as_list(given))
        columns = _as_list(given) if is_named else np.asarray(names, dtype=object)[given].tolist()
        # Where columns are chosen by position, all must be there.
        needed.update(columns if is_named else names)
        for k, name in enumerate(columns):
            kinds[name] = kinds.get(name) or _kind(part, k)  # a column may have several parts
        nones.update(name for k, name in enumerate(columns) if _knows_none(part, k))
    kept = [name for name in names if name in needed]
    return Inputs(kept, _of_kind(str, kinds), _of_kind(bool, kinds), frozenset(nones))


def match_text(model: Any, X: Any) -> Any:
    """Return rows for a fitted model with missing text as in training; raise an error for numbers instead of text.

    To an encoder, numbers are unseen categories, and so is the NaN of pandas if missing text was None in training.
    """
    frame = as_frame(X)
    inputs = None if frame is None else inputs_of(model)
    if frame is None or inputs is None:
        return X
    texts = [name for name in frame.columns if name in inputs.texts]
    for name in texts:
        if frame[name].dtype.is_numeric() and count_missing(frame[name]) < len(frame):
            raise ValueError(
                f"The column {name!r} holds numbers, but the model was trained with text there. Read it as text, for"
                f" example by pandas.read_csv(..., dtype={{{name!r}: str}})."
            )
    if not frame.implementation.is_pandas():
        return X
    missing = [name for name in texts if name in inputs.nones and frame[name].is_null().any()]
    columns = {name: X[name].astype(object) for name in missing}
    return X.assign(**{name: column.where(column.notna(), None) for name, column in columns.items()}) if missing else X


def last_step(model: Any) -> Any:
    """Return the last step of a pipeline; other models as they are."""
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def _as_list(columns: Any) -> list[Any]:
    return [columns] if isinstance(columns, str) or not hasattr(columns, "__iter__") else list(columns)


def _first_of(part: Any) -> Any:
    """Return the transformer that sees the columns."""
    while isinstance(part, Pipeline):
        part = part.steps[0][1]
    return part


def _knows_none(part: Any, column: int) -> bool:
    """Return whether None is one of the categories of a column."""
    known = getattr(_first_of(part), "categories_", None)
    return known is not None and any(value is None for value in known[column][-2:])  # NumPy's order: None, NaN


def _of_kind(kind: type, kinds: dict[str, type | None]) -> frozenset[str]:
    return frozenset(name for name, found in kinds.items() if found is kind)


def _kind(part: Any, column: int) -> type | None:
    """Return whether a fitted transformer has met text, str, or only booleans, bool, in a column; None for others."""
    part = _first_of(part)
    if hasattr(part, "vocabulary_"):  # counts of words
        return str
    known = getattr(part, "categories_", None)
    if known is None and getattr(part, "statistics_", np.empty(0)).dtype == object:
        known = [[value] for value in part.statistics_]
    values = [] if known is None else [value for value in known[column] if value is not None]
    if any(isinstance(value, str) for value in values):
        return str
    return bool if values and all(isinstance(value, bool | np.bool_) for value in values) else None
