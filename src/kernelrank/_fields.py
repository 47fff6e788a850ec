"""Censored utilities in one object: structured arrays, and data frames, of an event and a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._columns import as_frame

_CENSORED = (
    "Censored utilities are for RankSVM, RankSVMCV, RankRLS, and metrics of pairs; for others, pass the utilities"
    " alone."
)


def separate_observed(y: Any, observed: ArrayLike | None, name: str = "y") -> tuple[Any, ArrayLike | None]:
    """Split utilities and what is observed, if both are in y: an array of two fields, or a data frame of two columns.

    One of the two is boolean, as in scikit-survival's structured arrays; other arrays and frames are returned as they
    are.
    """
    fields = _two_fields(y)
    if fields is None:
        return y, observed
    events = [field for field in fields.items() if field[1].dtype.kind == "b"]
    if len(events) != 1:
        raise ValueError(
            f"{name} has the two fields {', '.join(map(repr, fields))}: one must be boolean, which says what is"
            " observed, and the other the utility, such as a time. Or pass them apart, as y and observed."
        )
    if observed is not None:
        raise ValueError(f"observed was given twice: as an argument and in {name}. Drop one of them.")
    [(event, mask)] = events
    [times] = [values for field, values in fields.items() if field != event]
    return times, mask


def refuse_two_columns(y: Any, name: str) -> None:
    """Raise an error about a data frame of two columns, which may be meant as censored utilities."""
    frame = as_frame(y)
    if frame is not None and len(frame.columns) == 2:
        raise ValueError(
            f"{name} has the two columns {', '.join(map(repr, frame.columns))}: one must be boolean, which says what is"
            " observed, and the other the utility, such as a time. Convert it by astype(bool), or pass them apart, as"
            f" {name} and observed."
        )


def refuse_two_fields(y: Any) -> None:
    """Raise an error if y says what is observed as well: as two outputs, it would be learnt like a utility."""
    if _two_fields(y) is not None:
        raise ValueError(f"y has a boolean and a numeric column. {_CENSORED}")


def refuse_fields(array: NDArray[Any], name: str) -> None:
    """Raise an error if an array is structured: what takes censored utilities has separated its fields before."""
    if array.dtype.names is not None:
        raise ValueError(f"{name} is a structured array with the fields {', '.join(array.dtype.names)}. {_CENSORED}")


def _two_fields(y: Any) -> dict[Any, NDArray[Any]] | None:
    """Return the fields of a structured array, or the columns of a data frame of which one of two is boolean."""
    if isinstance(y, np.ndarray) and y.dtype.names is not None:
        if len(y.dtype.names) != 2:
            raise ValueError(f"A structured array of utilities has two fields, not {len(y.dtype.names)}.")
        return {field: y[field] for field in y.dtype.names}
    frame = as_frame(y)
    if frame is None or len(frame.columns) != 2:
        return None
    columns = {column: frame[column].to_numpy() for column in frame.columns}
    return columns if [values.dtype.kind for values in columns.values()].count("b") == 1 else None
