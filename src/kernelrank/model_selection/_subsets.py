"""Some of the rows of anything that an estimator may be fitted to."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import get_tags

from kernelrank._arrays import is_foreign, take, take_both
from kernelrank.features import KroneckerRows

Rows = NDArray[np.intp]


def take_rows(values: Any, rows: Rows) -> Any:
    """Return some rows of an array, sparse matrix, data frame, series or list, as an object of the same kind."""
    if is_foreign(values):
        return take(values, rows)
    if hasattr(values, "iloc"):  # pandas keeps its index, and may have columns of the same name
        return values.iloc[rows]
    if isinstance(values, np.ndarray | KroneckerRows) or sp.issparse(values):
        return values[rows]
    table = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(table, nw.DataFrame | nw.Series):
        return table[rows.tolist()].to_native()
    if hasattr(values, "__array__") or hasattr(values, "shape"):
        return np.asarray(values)[rows]
    return [values[row] for row in rows]


def take_features(estimator: Any, X: Any, rows: Rows, columns: Rows | None = None) -> Any:
    """Return some rows of X as an estimator takes them.

    An estimator that is fitted to a kernel matrix gets `columns` of it as well: the rows that it is, or was, trained
    on. They are `rows` if they are not given.
    """
    if not get_tags(estimator).input_tags.pairwise:
        return take_rows(X, rows)
    matrix = X if is_foreign(X) or sp.issparse(X) else np.asarray(X)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"X must be a square kernel matrix, got an array of shape {tuple(matrix.shape)}.")
    columns = rows if columns is None else columns
    return matrix[rows][:, columns] if sp.issparse(matrix) else take_both(matrix, rows, columns)


def take_params(params: dict[str, Any], rows: Rows) -> dict[str, Any]:
    """Return further arguments of ``fit``, each with one element per row, for some of the rows."""
    return {name: take_rows(values, rows) for name, values in params.items()}
