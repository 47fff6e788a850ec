"""Columns of a matrix or data frame: detection of query ids, and explanations of columns that are not numeric."""

from __future__ import annotations

import re
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

# A transformer of scikit-learn may prefix the name of a column with its own: "remainder__qid".
_QUERY_NAMES = re.compile(r"(?:.*__)?(?:qid|query_?id|groups?|group_?id)", re.IGNORECASE)
_MOST_NAMED = 5  # columns named in a message


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return X as a narwhals data frame; None if it is not a data frame."""
    if isinstance(X, np.ndarray | list | tuple) or sp.issparse(X):
        return None  # narwhals would take far longer to find out
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"X must have distinct column names. {error}") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def text_columns(X: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a data frame, if they are all text."""
    names = tuple(getattr(X, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def query_columns(X: Any) -> list[str]:
    """Return the columns of a data frame that are named like query ids."""
    frame = as_frame(X)
    names = [] if frame is None else frame.columns
    return [name for name in names if isinstance(name, str) and _QUERY_NAMES.fullmatch(name)]


def explain_dates(X: Any) -> str | None:
    """Return a message about columns of dates, times or durations; None if there are none.

    NumPy converts some of them to numbers without an error.
    """
    frame = as_frame(X)
    if frame is not None:
        named = _join([_show(name) for name, dtype in frame.schema.items() if dtype.is_temporal()])
    else:
        named = "all of its elements" if getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M") else None
    if named is None:
        return None
    return (
        f"X must hold numbers, but it has dates, times or durations: {named}. Convert them to meaningful"
        " numbers, such as days since a fixed date, or drop them."
    )


def explain_text(X: Any) -> str | None:
    """Return a message about columns that are not numeric; None if all are."""
    found = []
    for name, column in _columns(X):
        try:
            if column.dtype.kind not in "fiubc":
                column.astype(np.float64)
        except (TypeError, ValueError):
            found.append(f"{name} (such as {_first_text(column)!r})")
    named = _join(found)
    if named is None:
        return None
    return (
        f"X has columns that are not numbers: {named}. Encode them, for example with OneHotEncoder or OrdinalEncoder of"
        " sklearn.preprocessing in a ColumnTransformer, or drop them."
    )


def explain_missing(X: Any, user: str) -> str | None:
    """Return a message about missing values; None if there are none."""
    matrix = X.tocoo() if sp.issparse(X) else None
    if matrix is not None:
        missing = np.isnan(matrix.data)
        rows, columns = matrix.row[missing], matrix.col[missing]
    else:
        rows, columns = np.nonzero(np.isnan(np.asarray(X, dtype=np.float64)))
    if len(rows) == 0:
        return None
    frame = as_frame(X)
    names = [_show(k if frame is None else frame.columns[k]) for k in np.unique(columns).tolist()]
    return (
        f"Input X contains NaN: {len(np.unique(rows))} of {X.shape[0]} rows have missing values, in {_join(names)}."
        f" {user} does not support them. Impute them, for example with"
        " sklearn.impute.SimpleImputer(add_indicator=True) as a step of a pipeline before it, or drop these rows."
    )


def _columns(X: Any) -> list[tuple[str, NDArray[Any]]]:
    frame = as_frame(X)
    if frame is not None:
        return [
            (_show(name), column.to_numpy()) for name, column in zip(frame.columns, frame.iter_columns(), strict=True)
        ]
    table = np.asarray(X)
    return [(_show(k), column) for k, column in enumerate(table.T)] if table.ndim == 2 else []


def _show(name: Any) -> str:
    return repr(name) if isinstance(name, str) else f"column {name}"


def _first_text(column: NDArray[Any]) -> Any:
    for each in column.tolist():
        try:
            float(each)
        except (TypeError, ValueError):
            return each
    return column[0]


def _join(names: list[str]) -> str | None:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(map(str, names[:_MOST_NAMED])) + more if names else None
