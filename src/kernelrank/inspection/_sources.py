"""The original column, or token, of each column that a pipeline of transformers makes."""

from __future__ import annotations

import re
from copy import copy
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import FeatureUnion, Pipeline

from kernelrank.pipelines._selection import selected_columns

# Input columns get names that cannot occur in categories or tokens; names of output columns then tell their inputs.
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")


def trace(transformer: Any, sources: list[str], width: int | None, name: str = "") -> list[str]:
    """Return the source of each output column of a fitted transformer, given those of its input columns.

    Parameters
    ----------
    transformer : transformer or str
        "passthrough" and "drop" are accepted, as in scikit-learn.
    sources : list of str
        The source of each input column: an original column or a token. Empty if the input is a list of documents.
    width : int or None
        Number of output columns, if it is known.
    name : str
        Name of the step, for errors.

    Returns
    -------
    list of str
        A column that is made of several sources has all of their names; one whose inputs are unknown has the name that
        the transformer gives it.
    """
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return sources
    if isinstance(transformer, str):  # "drop"
        return []
    if isinstance(transformer, Pipeline):
        return _through_steps(transformer.steps, sources, width)
    if isinstance(transformer, ColumnTransformer):
        return _by_column(transformer, sources)
    if isinstance(transformer, FeatureUnion):
        parts = [trace(part, sources, None, part_name) for part_name, part in transformer.transformer_list]
        return [each for part in parts for each in part]
    if isinstance(transformer, CountVectorizer):
        column = f"{sources[0]}: " if sources else ""
        return [f"{column}{token}" for token in transformer.get_feature_names_out()]
    return _by_names(transformer, sources, width, name)


def _through_steps(steps: list[tuple[str, Any]], sources: list[str], width: int | None) -> list[str]:
    """Return the sources of the output of several transformers, one after the other."""
    for number, (name, step) in enumerate(steps):
        following = steps[number + 1][1] if number + 1 < len(steps) else None
        n_out = width if following is None else getattr(following, "n_features_in_", None)
        sources = trace(step, sources, n_out, name)
    return sources


def _by_column(transformer: ColumnTransformer, sources: list[str]) -> list[str]:
    """Return the sources of the output of a ColumnTransformer."""
    found = [""] * max((part.stop for part in transformer.output_indices_.values()), default=0)
    names = getattr(transformer, "feature_names_in_", None)
    for name, part, columns in transformer.transformers_:
        place = transformer.output_indices_.get(name, slice(0, 0))
        if place.stop > place.start:
            inputs = [sources[k] for k in selected_columns(columns, len(sources), names)]
            found[place] = trace(part, inputs, place.stop - place.start, name)
    return found


def _by_names(transformer: Any, sources: list[str], width: int | None, name: str) -> list[str]:
    """Return the sources of output columns by the names that a transformer gives them."""
    if not hasattr(transformer, "get_feature_names_out"):
        if len(set(sources)) == 1 and width is not None:
            return sources[:1] * width
        raise ValueError(
            f"The columns made by the step {name!r} ({type(transformer).__name__}) cannot be traced to those of the"
            " rows: it has no get_feature_names_out. A FunctionTransformer has one with"
            ' feature_names_out="one-to-one". Or explain the last step with transformed rows.'
        )
    unnamed = copy(transformer)
    vars(unnamed).pop("feature_names_in_", None)
    marks = [f"{_OPEN}{number}{_CLOSE}" for number in range(len(sources))]
    return [_source(str(each), sources) for each in unnamed.get_feature_names_out(marks)]


def _source(name: str, sources: list[str]) -> str:
    """Return the source of an output column from its name, which has marks of its input columns."""
    inputs = list(dict.fromkeys(sources[int(number)] for number in _MARK.findall(name)))
    if not inputs and len(set(sources)) == 1:
        return sources[0]
    return " * ".join(inputs) if inputs else name
