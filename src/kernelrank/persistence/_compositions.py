"""Pipelines and column transformers that can be saved: objects that contain others."""

from __future__ import annotations

from collections import UserList
from collections.abc import Sequence
from string import Formatter
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import Pipeline

from kernelrank._rules import FLAG, N_JOBS, NONE, NUMBER, Rule, choice, whole
from kernelrank.exceptions import ModelFormatError
from kernelrank.persistence._kinds import KINDS, SIZE, Kind, is_fitted, number_of_inputs, register, require
from kernelrank.persistence._transformers import NAMES_IN, names_fit
from kernelrank.pipelines import QueryPipeline, RankingPipeline
from kernelrank.pipelines._selection import selected_columns

_TEXTS = (CountVectorizer, TfidfVectorizer)


def number_of_outputs(model: Any) -> int | None:
    """Return the number of columns of ``transform``; None if the object is not a transformer."""
    n_out = KINDS[type(model)].n_out
    return None if n_out is None else n_out(model)


def takes_texts(model: Any) -> bool:
    """Return whether an object takes one column of texts, not columns of numbers."""
    first = model
    while isinstance(first, Pipeline):
        (first, *_) = (step for _, step in first.steps if not _is_word(step, "passthrough", None))
    return isinstance(first, _TEXTS)


def _is_word(value: Any, *words: str | None) -> bool:
    return (value is None or type(value) is str) and value in words


# Pipelines


def _is_step(value: Any) -> bool:
    if not (type(value) is tuple and len(value) == 2 and type(value[0]) is str):
        return False
    return type(value[1]) in KINDS or _is_word(value[1], "passthrough", None)


def _are_steps(value: Any) -> bool:
    return (
        type(value) is list
        and len(value) > 0
        and all(map(_is_step, value))
        and len({name for name, _ in value}) == len(value)
    )


def _check_pipeline(model: Any, fitted: dict[str, Any]) -> None:
    """Raise an error unless every step is fitted, and takes what the step before it returns."""
    steps = [(name, step) for name, step in model.steps if not _is_word(step, "passthrough", None)]
    require(len(steps) > 0, "a pipeline has no step that is fitted")
    columns: int | None = None
    for place, (name, step) in enumerate(steps):
        require(is_fitted(step), f"the step {name!r} is not fitted")
        taken = number_of_inputs(step)
        if place:
            require(not takes_texts(step), f"the step {name!r} takes texts, but the step before it returns numbers")
            require(
                columns is None or taken is None or columns == taken,
                f"the step {name!r} takes {taken} columns, but the step before it returns {columns}",
            )
        last = step is model.steps[-1][1]
        if not last:
            require(KINDS[type(step)].n_out is not None, f"the step {name!r} is not a transformer")
            columns = number_of_outputs(step)


def _outputs_of_pipeline(model: Any) -> int:
    found = [number_of_outputs(step) for _, step in model.steps if not _is_word(step, "passthrough", None)]
    if found[-1] is None:
        raise ModelFormatError("the last step of a pipeline that transforms is not a transformer")
    return found[-1]


def pipeline_kind(cls: type) -> Kind:
    """Return the description of a class of pipelines."""
    return Kind(
        cls,
        parameters={
            "steps": Rule("a list of different names and steps", _are_steps),
            "memory": NONE,
            "transform_input": NONE | Rule("a list of strings", _are_strings),
            "verbose": FLAG,
        },
        check=_check_pipeline,
        n_out=_outputs_of_pipeline,
        inner_fitted=("steps",),
    )


def _are_strings(value: Any) -> bool:
    return type(value) is list and all(type(each) is str for each in value)


register(pipeline_kind(Pipeline))
register(pipeline_kind(RankingPipeline))
register(pipeline_kind(QueryPipeline))


# Column transformers


def _is_part(value: Any) -> bool:
    if not (type(value) is tuple and len(value) == 3 and type(value[0]) is str):
        return False
    return type(value[1]) in KINDS or _is_word(value[1], "passthrough", "drop")


def _are_parts(value: Any) -> bool:
    return type(value) is list and all(map(_is_part, value)) and len({part[0] for part in value}) == len(value)


def _are_weights(value: Any) -> bool:
    return type(value) is dict and all(NUMBER.accepts(each) for each in value.values())


def _is_plain_format(value: Any) -> bool:
    """Return whether a format consists of the two names, without widths, conversions and attributes."""
    if type(value) is not str:
        return False
    try:
        fields = list(Formatter().parse(value))
    except ValueError:
        return False
    return all(
        name is None or (name in ("transformer_name", "feature_name") and not spec and not conversion)
        for _, name, spec, conversion in fields
    )


def columns_of(key: Any, n_columns: int, names: Sequence[str] | None) -> list[int]:
    """Return the indices of the columns that a part of a column transformer names.

    Raises
    ------
    ModelFormatError
        If the columns do not exist.
    """
    try:
        return selected_columns(key, n_columns, names)
    except (IndexError, TypeError, ValueError) as reason:
        raise ModelFormatError(f"columns of a ColumnTransformer do not exist ({reason})") from reason


def _is_single(key: Any) -> bool:
    return type(key) is str or whole(-(2**62)).accepts(key)


def _check_columns(model: Any, fitted: dict[str, Any]) -> None:
    """Raise an error unless the parts are fitted, and take and return the columns that are recorded for them."""
    names_fit(model, fitted)
    n, names = fitted["n_features_in_"], fitted.get("feature_names_in_")
    names = None if names is None else names.tolist()
    indices = fitted["_transformer_to_input_indices"]
    parts = [part[0] for part in model.transformers]
    # Every column is that of a part or of the remainder, which bounds the number of columns by the size of the file.
    known = {index for some in indices.values() for index in some}
    require(len(known) == n and max(known, default=-1) < n, f"the parts of a ColumnTransformer do not have {n} columns")
    require(list(indices) == [*parts, "remainder"], "the columns of a ColumnTransformer are not those of its parts")
    require(len(fitted["_columns"]) == len(parts), "_columns must have an element for each part")
    for name, columns in zip(parts, fitted["_columns"], strict=True):
        require(columns_of(columns, n, names) == indices[name], f"the columns of the part {name!r} differ")
    given = {index for name in parts for index in indices[name]}
    require(indices["remainder"] == sorted(set(range(n)) - given), "the columns of the remainder are wrong")
    place, outputs = 0, {}
    for name, part, columns in fitted["transformers_"]:
        require(name in indices and columns_of(columns, n, names) == indices[name], f"the columns of {name!r} differ")
        require(not _is_word(part, "passthrough"), f"the part {name!r} is not fitted")
        width = 0
        if indices[name] and not _is_word(part, "drop"):
            width = _width_of_part(name, part, columns, indices[name], names)
            outputs[name] = slice(place, place + width)
        place += width
    for name in (*parts, "remainder"):
        outputs.setdefault(name, slice(0, 0))
    require(fitted["output_indices_"] == outputs, "output_indices_ are not those of the parts")


def _width_of_part(name: str, part: Any, columns: Any, indices: list[int], names: list[str] | None) -> int:
    """Return the number of columns that a part returns, after checking what it takes."""
    require(is_fitted(part), f"the part {name!r} is not fitted")
    require(takes_texts(part) == _is_single(columns), f"the part {name!r} must take columns, or one column of texts")
    taken = number_of_inputs(part)
    require(taken is None or taken == len(indices), f"the part {name!r} takes {taken} columns, not {len(indices)}")
    own = getattr(part, "feature_names_in_", None)
    require(
        own is None or (names is not None and own.tolist() == [names[index] for index in indices]),
        f"the part {name!r} takes columns with other names",
    )
    width = number_of_outputs(part)
    if width is None:
        raise ModelFormatError(f"the part {name!r} is not a transformer")
    return width


def _are_indices(value: Any) -> bool:
    return type(value) is dict and all(
        type(each) is list and all(whole(0).accepts(index) for index in each) for each in value.values()
    )


_REMAINDER = choice("drop", "passthrough") | Rule("a transformer", lambda value: type(value) in KINDS)

register(
    Kind(
        ColumnTransformer,
        parameters={
            "transformers": Rule("a list of different names, transformers and columns", _are_parts),
            "remainder": _REMAINDER,
            "sparse_threshold": NUMBER,
            "n_jobs": N_JOBS,
            "transformer_weights": NONE | Rule("a dictionary of names and numbers", _are_weights),
            "verbose": FLAG,
            "verbose_feature_names_out": FLAG | Rule("a format of the two names", _is_plain_format),
        },
        attributes={
            "n_features_in_": SIZE,
            "feature_names_in_": NAMES_IN,
            "transformers_": Rule("a list of different names, transformers and columns", _are_parts),
            "output_indices_": Rule("a dictionary", lambda value: type(value) is dict),
            "sparse_output_": FLAG,
            "_columns": Rule("a list", lambda value: type(value) is list),
            "_transformer_to_input_indices": Rule("a dictionary of names and lists of indices", _are_indices),
            "_remainder": Rule(
                "the remainder and its columns",
                lambda value: (
                    type(value) is tuple
                    and len(value) == 3
                    and value[0] == "remainder"
                    and _REMAINDER.accepts(value[1])
                    and isinstance(value[2], list | UserList)
                ),
            ),
            "_transformers_feature_names_out": NAMES_IN,
        },
        of_other_versions={"force_int_remainder_cols": (True, False, "deprecated")},
        optional=("feature_names_in_", "_transformers_feature_names_out"),
        check=_check_columns,
        n_out=lambda model: max((part.stop for part in model.output_indices_.values()), default=0),
        inner=("transformers", "remainder", "_remainder"),
        inner_fitted=("transformers_",),
    )
)
