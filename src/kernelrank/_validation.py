"""The one gate every input passes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, column_or_1d, validation

from kernelrank.exceptions import NoComparablePairsError

QID_COLUMN = "qid"


def check_vector(values: ArrayLike, name: str, n_rows: int | None = None, of: str = "rows") -> NDArray[np.float64]:
    """Return `values` as a finite, contiguous float64 vector, of length `n_rows` if given."""
    vector = np.asarray(values)
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = column_or_1d(vector, warn=True)
    if vector.ndim != 1:
        raise ValueError(f"{name} must have one element a row, got an array of shape {vector.shape}.")
    if vector.dtype.kind in "USmM":
        raise ValueError(f"{name} must hold numbers, got dtype {vector.dtype}.")
    if vector.dtype.kind in "iu" and len(vector) and max(-int(vector.min()), int(vector.max())) > 2**53:
        raise ValueError(f"{name} has integers beyond 2**53, which float64 cannot tell apart; pass their ranks.")
    with _quiet():
        vector = check_array(
            vector, dtype=np.float64, order="C", ensure_2d=False, ensure_min_samples=0, input_name=name, copy=False
        )
    if n_rows is not None and len(vector) != n_rows:
        raise ValueError(f"{name} has {len(vector)} elements, but there are {n_rows} {of}.")
    return np.require(vector, requirements=["C_CONTIGUOUS", "ALIGNED"])


def check_weights(
    weights: ArrayLike | None, n_rows: int, name: str = "sample_weight", of: str = "rows"
) -> NDArray[np.float64] | None:
    """Return weights that are finite and not negative, or None."""
    if weights is None:
        return None
    vector = np.asarray(weights)
    if vector.ndim > 1:
        raise ValueError(f"{name} must be a 1D array, one element for each of the {of}, got shape {vector.shape}.")
    vector = check_vector(np.full(n_rows, vector) if vector.ndim == 0 else vector, name, n_rows, of)
    if (vector < 0).any():
        raise ValueError(f"{name} must not be negative.")
    if n_rows and not vector.any():
        raise NoComparablePairsError(f"{name} is zero everywhere, so no pair has a weight.")
    return vector


def scale_weights(weights: NDArray[np.float64] | None) -> tuple[NDArray[np.float64] | None, float]:
    """Divide by a power of two, which is exact, so that no product of two weights overflows; return it as well."""
    if weights is None or len(weights) == 0:
        return weights, 1.0
    unit = float(np.exp2(np.floor(np.log2(weights.max()))))
    return weights / unit, unit


def encode_queries(qid: ArrayLike | None, n_rows: int) -> tuple[NDArray[np.int32] | None, int]:
    """Return each row's query as a number 0, 1, ... (None for a single query) and how many there are.

    Query ids may be anything hashable, in any order; they are numbered as they first appear.
    """
    if qid is None:
        return None, 1
    if np.ma.is_masked(qid):
        raise ValueError("qid contains a missing value.")
    ids = qid if isinstance(qid, np.ndarray) else as_id_array(qid)
    if ids.ndim == 2 and ids.shape[1] == 1:
        ids = ids[:, 0]
    if ids.ndim != 1:
        raise ValueError(f"qid must have one element a row, got an array of shape {ids.shape}.")
    if len(ids) != n_rows:
        raise ValueError(f"qid has {len(ids)} elements, but there are {n_rows} rows.")
    if ids.dtype.kind == "O":
        return _encode_objects(ids)
    if ids.dtype.kind == "f" and not np.isfinite(ids).all():
        raise ValueError("qid contains NaN or infinity.")
    if ids.dtype.kind in "mM" and np.isnat(ids).any():
        raise ValueError("qid contains a missing value.")
    # Rows that come grouped, as they mostly do, need no sort: number the runs.
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1]))) if n_rows else np.empty(0, np.intp)
    heads, first_runs, head_of_run = np.unique(ids[starts], return_index=True, return_inverse=True)
    codes_of_runs = np.argsort(np.argsort(first_runs))[head_of_run]
    codes = np.repeat(codes_of_runs.astype(np.int32), np.diff(np.append(starts, n_rows)))
    return codes, len(heads)


def as_id_array(qid: ArrayLike) -> NDArray[Any]:
    """Make an array of ids without turning mixed types into text, or tuples into columns."""
    if hasattr(qid, "__array__") or np.isscalar(qid):
        return np.asarray(qid)
    ids = list(qid)  # type: ignore[arg-type]
    if len({type(each) for each in ids}) <= 1 and not isinstance(ids[0] if ids else None, tuple | list):
        array = np.asarray(ids)
        if array.ndim == 1:
            return array
    objects = np.empty(len(ids), dtype=object)
    objects[:] = ids
    return objects


def _encode_objects(ids: NDArray[np.object_]) -> tuple[NDArray[np.int32], int]:
    numbers: dict[Any, int] = {}
    codes = np.empty(len(ids), dtype=np.int32)
    for row, each in enumerate(ids):
        if _is_missing(each):
            raise ValueError("qid contains a missing value.")
        try:
            codes[row] = numbers.setdefault(each, len(numbers))
        except TypeError:
            raise ValueError(f"qid must have one element a row, each of them hashable, got {each!r}.") from None
    return codes, len(numbers)


def _is_missing(each: Any) -> bool:
    try:
        return each is None or bool(each != each)
    except (TypeError, ValueError):  # pandas' NA is neither equal nor different; an array is for the caller to refuse
        return not isinstance(each, np.ndarray)


def separate_qid(X: Any, qid: ArrayLike | None) -> tuple[Any, ArrayLike | None]:
    """Take a data-frame column named "qid" out of X, as the query ids."""
    columns = getattr(X, "columns", None)
    if columns is None or QID_COLUMN not in list(columns):
        return X, qid
    if qid is not None:
        raise ValueError("qid was given twice: as an argument and as a column of X. Drop one of them.")
    return X[[column for column in columns if column != QID_COLUMN]], np.asarray(X[QID_COLUMN])


def check_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X as a finite float32 or float64 matrix, dense or CSR/CSC; record or check its columns."""
    with _quiet():
        return validation.validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse=("csr", "csc"),
            dtype=(np.float64, np.float32),
            order=None,
            accept_large_sparse=True,
        )


def _quiet() -> np.errstate:
    """Silence the sums by which scikit-learn looks for infinities: finite numbers may overflow them."""
    return np.errstate(over="ignore", invalid="ignore")
