"""A single row in any of the forms that a model takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelrank._arrays import is_foreign, refuse_mask, to_host
from kernelrank._columns import as_frame
from kernelrank._validation import separate_qid


def as_one_row(row: Any, name: str) -> Any:
    """Return a row as a matrix, data frame or list of one row; a column of queries is removed."""
    if isinstance(row, str):  # a document
        return [row]
    if hasattr(row, "to_frame") and hasattr(row, "index"):  # a row of pandas
        row = _frame_of_series(row)
    refuse_mask(row, name)
    frame = None if is_foreign(row) else as_frame(row)
    if frame is not None:
        if len(frame) != 1:
            raise ValueError(f"{name} must be one row, got a data frame of {len(frame)} rows.")
        return separate_qid(row, None)[0]
    if sp.issparse(row):
        matrix = sp.csr_array(row.reshape(1, -1) if row.ndim == 1 else row)
    elif isinstance(row, list | tuple) and any(isinstance(each, str) for each in row):
        matrix = np.asarray(row, dtype=object)  # numbers stay numbers
    else:
        matrix = row if is_foreign(row) else np.asarray(row)
    if matrix.ndim == 1 and matrix.shape[0]:
        matrix = matrix[None, :]
    if matrix.ndim != 2 or matrix.shape[0] != 1:
        raise ValueError(f"{name} must be one row: an array of shape (n_features,), got shape {tuple(matrix.shape)}.")
    return matrix


def _frame_of_series(row: Any) -> Any:
    """Return a pandas Series as a data frame of one row: its values have one type, the columns of the frame do not."""
    frame = row.to_frame().T
    if frame.iloc[:, 0].dtype != object:
        return frame
    # A missing value does not tell whether its column is one of numbers or of text; as an object, it may be in both.
    return frame.infer_objects().astype(dict.fromkeys(frame.columns[frame.isna().iloc[0]], object))


def column_names(row: Any, model: Any, feature_names: Any) -> list[str]:
    """Return the names of the columns of a row: given, of its data frame, of the fit, or else their numbers."""
    frame = None if isinstance(row, list) or is_foreign(row) else as_frame(row)
    n = 0 if isinstance(row, list) else row.shape[1]
    if feature_names is not None:
        names = [str(each) for each in feature_names]
        if len(names) != n or len(set(names)) != n:
            raise ValueError(f"feature_names must be {n} different names, one per column of a and b, got {len(names)}.")
        return names
    if frame is not None:
        return [str(each) for each in frame.columns]
    fitted = getattr(model, "feature_names_in_", None)
    return list(map(str, fitted)) if fitted is not None and len(fitted) == n else [f"x{j}" for j in range(n)]


def fitted_names(row: Any, names: list[str], first: Any) -> list[str]:
    """Return the names of the columns in the order of the fit of a first step, which finds those of a frame by name."""
    frame = None if isinstance(row, list) or is_foreign(row) else as_frame(row)
    fitted = getattr(first, "feature_names_in_", None)
    if frame is None or fitted is None:
        return names
    shown = dict(zip(frame.columns, names, strict=True))
    return [shown.get(each, str(each)) for each in fitted]


def column_values(row: Any) -> list[Any]:
    """Return the values of the columns of a row as Python objects."""
    if isinstance(row, list):
        return []
    frame = None if is_foreign(row) else as_frame(row)
    if frame is not None:
        return list(frame.row(0))
    dense = row.toarray() if sp.issparse(row) else np.asarray(to_host(row))
    return list(dense[0].tolist())


def as_vector(row: Any) -> Any:
    """Return one transformed row as a vector of float64."""
    dense = row.toarray() if sp.issparse(row) else np.asarray(to_host(row))
    return np.asarray(dense, dtype=np.float64).reshape(-1)
