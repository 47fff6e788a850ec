"""Kinds of the columns of a table: numbers, categories, and those that say nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from kernelrank._columns import as_frame
from kernelrank._validation import QID_COLUMN

TEXTS = (nw.String, nw.Categorical, nw.Enum)
_LARGEST = 1e150  # number whose square, times the number of rows, is finite
_MOSTLY = 0.5  # share of numbers among the values of a text column from which the others are taken for mistakes


class Columns(NamedTuple):
    """Columns of a table by what is done to them.

    Attributes
    ----------
    numbers, categories : list of str
    left_out : dict
        Reasons by column.
    n_values : int
        Number of values of all rows when categories have one feature per value.
    """

    numbers: list[str]
    categories: list[str]
    left_out: dict[str, str]
    n_values: int


def sort_columns(
    frame: Any,
    categorical: Sequence[str],
    drop: Sequence[str],
    keep: Sequence[str] | None,
    min_frequency: int,
) -> Columns:
    """Return the columns of a data frame by kind; raise an error for a column that cannot be a feature."""
    table = as_frame(frame)
    if table is None:
        raise TypeError(
            "frame must be a data frame with named columns, of polars, pandas or pyarrow, got"
            f" {type(frame).__name__}. For a matrix, use sklearn.pipeline.make_pipeline."
        )
    for name in table.columns:
        if not isinstance(name, str):
            raise ValueError(
                f"frame must have columns named by strings, but {name!r} is of type {type(name).__name__}; rename them,"
                " as in frame.set_axis([str(name) for name in frame.columns], axis=1)."
            )
    chosen = _choose(table.columns, categorical, drop, keep)
    if chosen and len(table) == 0:  # a frame without columns has no number of rows
        raise ValueError("frame has no rows.")
    numbers, categories, left_out, n_features = list[str](), list[str](), dict[str, str](), 0
    for name in chosen:
        series = table[name]
        is_category = _can_be_category(series) if name in categorical else _is_category(series)
        if is_category:
            _refuse_na(series)
            counts = value_counts(series)
            if name not in categorical:
                _refuse_numbers(series, counts)
                _refuse_dates(series.name, counts)
            reason, n = _why_not_category(counts, min_frequency), _count_features(counts, min_frequency)
        else:
            reason, n = _why_not(series), 2
        if reason is not None:
            left_out[name] = reason
        else:
            (categories if is_category else numbers).append(name)
            n_features += n
    if not numbers and not categories:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise ValueError(f"frame has no column that can be a feature ({reasons or 'there are none'}).")
    return Columns(numbers, categories, left_out, n_features * len(table))


def _choose(
    columns: list[str], categorical: Iterable[str], drop: Iterable[str], keep: Iterable[str] | None
) -> list[str]:
    """Return the names of the features, in the order of the table."""
    for argument, names in (("categorical", categorical), ("drop", drop), ("keep", keep or ())):
        for name in names:
            if name not in columns:
                raise ValueError(f"{argument}: there is no column {name!r}; the columns are {', '.join(columns)}.")
    left_out = {*drop, QID_COLUMN}
    chosen = [name for name in columns if name not in left_out and (keep is None or name in keep)]
    for argument, names in (("categorical", categorical), ("keep", keep or ())):
        for name in names:
            if name not in chosen:
                raise ValueError(f"{argument}: the column {name!r} is not among the features.")
    return chosen


def _is_category(series: nw.Series[Any]) -> bool:
    """Return whether a column holds text, categories or booleans; raise an error if it holds no numbers either."""
    dtype = series.dtype
    if dtype.is_numeric():
        return False
    if dtype in TEXTS or dtype == nw.Boolean:
        return True
    if series.is_null().all():
        return False  # a column of no type
    types = types_of_objects(series)
    if len(types) == 1 and issubclass(types.pop(), bool | str):
        return True
    raise _neither_number_nor_category(series)


def _can_be_category(series: nw.Series[Any]) -> bool:
    """Return True for a column of values that an encoder, and a model file, can hold; raise an error for others."""
    dtype = series.dtype
    is_plain = dtype in TEXTS or dtype == nw.Boolean or (dtype.is_numeric() and dtype != nw.Decimal)
    types = types_of_objects(series)
    if is_plain or (types and all(issubclass(each, bool | str | int | float) for each in types)):
        return True
    if series.is_null().all():
        return True
    raise _neither_number_nor_category(series)


def types_of_objects(series: nw.Series[Any]) -> set[type]:
    """Return the types of the values of a column of Python objects; an empty set for other columns."""
    return {type(value) for value in series.drop_nulls().to_list()} if series.dtype == nw.Object else set()


def _neither_number_nor_category(series: nw.Series[Any]) -> ValueError:
    dtype = series.dtype
    remedy = (
        "Convert it to numbers, such as days since a fixed date"
        if dtype.is_temporal()
        else "Convert it to numbers or text"
    )
    found = "not categories" if dtype.is_numeric() else "neither numbers nor categories"
    return ValueError(
        f"The column {series.name!r} holds values of type {dtype}, which are {found}. {remedy}, or leave it out (drop)."
    )


def _refuse_na(series: nw.Series[Any]) -> None:
    """Raise an error for pandas's NA in text, which encoders of scikit-learn do not take."""
    if not series.implementation.is_pandas() or series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return
    if any(repr(value) == "<NA>" for value in series.filter(series.is_null()).to_list()):
        raise ValueError(
            f"The column {series.name!r} marks missing text by pandas.NA, which OneHotEncoder does not take. Mark it by"
            " None, as in column.astype(object).where(column.notna(), None), or leave it out (drop)."
        )


def _why_not(series: nw.Series[Any]) -> str | None:
    """Return why a column of numbers says nothing; None if it does. Raise an error for infinite values."""
    n_missing = count_missing(series)
    if n_missing == len(series):
        return "all values are missing"
    if series.dtype.is_float():
        values = series.to_numpy()
        infinite = np.isinf(values)
        if infinite.any():
            row = int(np.argmax(infinite))
            raise ValueError(
                f"The column {series.name!r} holds {values[row]} in row {row + 1}. Replace infinite values by"
                " numbers or by missing values, or leave the column out (drop)."
            )
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        if max(-low, high) > _LARGEST:
            raise ValueError(
                f"The column {series.name!r} holds numbers up to {max(-low, high):.3g}, whose squares float64 cannot"
                " represent. Divide the column by a large number, or leave it out (drop)."
            )
    else:
        low, high = series.min(), series.max()
    return "all values are equal" if low == high and not n_missing else None


def _why_not_category(counts: dict[Any, int], min_frequency: int) -> str | None:
    """Return why a column of categories says nothing; None if it does."""
    if len(counts) < 2:
        return "all values are equal"
    if max(counts.values()) < min_frequency:
        return f"no value occurs in {min_frequency} rows"
    return None


def _count_features(counts: dict[Any, int], min_frequency: int) -> int:
    frequent = sum(n >= min_frequency for n in counts.values())
    return frequent + (frequent < len(counts))


def _refuse_numbers(series: nw.Series[Any], counts: dict[Any, int]) -> None:
    """Raise an error for a column of numbers, some of which are not: mistakes, not categories."""
    texts = {value: n for value, n in counts.items() if isinstance(value, str)}
    others = {value: n for value, n in texts.items() if not _is_number(value)}
    if texts and sum(others.values()) <= (1 - _MOSTLY) * sum(texts.values()):
        wrong = next((value for value in others), None)
        if wrong is None:
            found = "numbers as text"
        else:
            row = series.to_list().index(wrong)
            found = f"mostly numbers as text, but {wrong!r} in row {row + 1}"
        raise ValueError(
            f"The column {series.name!r} holds {found}. If it is a number, correct the values, or make them missing; if"
            " it is a category, name it in categorical."
        )


def _refuse_dates(name: str, counts: dict[Any, int]) -> None:
    """Raise an error for a column of dates that were read as text: nearly each would be a category of its own."""
    texts = [value for value in counts if value is not None]
    if texts and all(_is_date(value) for value in texts):
        raise ValueError(
            f"The column {name!r} holds dates as text, such as {min(texts)!r}. Convert it to numbers, such as days"
            " since a fixed date, or leave it out (drop). If it is a category, name it in categorical."
        )


def count_missing(series: nw.Series[Any]) -> int:
    """Return how many values are missing, NaN included."""
    if series.dtype.is_float():
        return int(np.isnan(series.to_numpy()).sum())
    return int(series.null_count())


def value_counts(series: nw.Series[Any]) -> dict[Any, int]:
    """Return how often each value occurs; all missing values are None."""
    found = series.drop_nulls().value_counts(name="n")
    counts = {None: missing} if (missing := int(series.null_count())) else dict[Any, int]()
    for value, n in zip(found[series.name].to_list(), found["n"].to_list(), strict=True):
        key = value if value == value else None  # NaN of polars
        counts[key] = counts.get(key, 0) + int(n)
    return counts


def _is_number(text: str) -> bool:
    try:
        return not math.isnan(float(text))
    except ValueError:
        return False


def _is_date(value: Any) -> bool:
    """Return whether a value is text of a date or time in the format of ISO 8601, with hyphens."""
    if not (isinstance(value, str) and value[4:5] == "-"):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True
