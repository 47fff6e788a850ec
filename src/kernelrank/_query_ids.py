"""Ids of queries: any hashable objects in any order, numbered by their first rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._arrays import refuse_mask, to_host


def encode_queries(qid: ArrayLike | None, n_rows: int, name: str = "qid") -> tuple[NDArray[np.int32] | None, int]:
    """Return the query code 0, 1, ... of each row (None for a single query) and the number of queries.

    Query ids may be any hashable objects in any order; codes follow their first rows. `name` is for errors.
    """
    if qid is None:
        return None, 1
    refuse_mask(qid, name)
    if isinstance(qid, Set | Mapping):
        raise ValueError(f"{name} must have one element per row, in the order of the rows, got a {type(qid).__name__}.")
    ids = qid if isinstance(qid, np.ndarray) else as_id_array(qid)
    if ids.ndim == 2 and ids.shape[1] == 1:
        ids = ids[:, 0]
    if ids.ndim != 1:
        raise ValueError(f"{name} must have one element per row, got an array of shape {ids.shape}.")
    if len(ids) != n_rows:
        raise ValueError(f"{name} has {len(ids)} elements, but there are {n_rows} rows.{_hint_of_sizes(ids, n_rows)}")
    if ids.dtype == np.int32 and _are_codes(ids):
        return np.ascontiguousarray(ids), int(ids.max()) + 1
    if ids.dtype.kind == "O":
        return _encode_objects(ids, name)
    if ids.dtype.kind == "f" and not np.isfinite(ids).all():
        raise ValueError(f"{name} contains NaN or infinity.")
    if ids.dtype.kind in "mM" and np.isnat(ids).any():
        raise ValueError(f"{name} contains a missing value.")
    # Rows are mostly grouped by query, so that there are few runs.
    starts = _run_starts(ids)
    codes_of_runs, n_queries = _number(ids[starts])
    return np.repeat(codes_of_runs, np.diff(np.append(starts, n_rows))), n_queries


def _hint_of_sizes(ids: NDArray[Any], n_rows: int) -> str:
    """Return a hint if ids may be group sizes, as in XGBoost and LightGBM."""
    if ids.dtype.kind not in "iu" or ids.sum() != n_rows:
        return ""
    return " If these are the sizes of groups of rows, pass numpy.repeat(numpy.arange(len(sizes)), sizes)."


def _number(ids: NDArray[Any]) -> tuple[NDArray[np.int32], int]:
    """Assign numbers to ids in the order of their first rows."""
    places, n_places = _places(ids)
    first = np.full(n_places, len(ids))
    first[places[::-1]] = np.arange(len(ids) - 1, -1, -1)  # duplicates: the last assignment is the first row
    numbers = np.empty(n_places, dtype=np.int32)
    numbers[np.argsort(first)] = np.arange(n_places, dtype=np.int32)
    return numbers[places], int((first < len(ids)).sum())


def _places(ids: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Map equal ids to the same integer and different ids to different ones, in a range of about the number of ids."""
    if len(ids) and ids.dtype.kind in "iu":
        span = int(ids.max()) - int(ids.min()) + 1
        if span <= 4 * len(ids):
            wide = np.int64 if ids.dtype.kind == "i" else np.uint64
            return np.subtract(ids, ids.min(), dtype=wide).astype(np.intp), span
    heads, places = np.unique(ids, return_inverse=True)
    return places, len(heads)


def _are_codes(ids: NDArray[np.int32]) -> bool:
    """Return whether ids are 0, 1, ... in the order of their first rows."""
    if len(ids) == 0 or ids[0] != 0 or ids.min() < 0:
        return False
    return bool((np.diff(np.maximum.accumulate(ids)) <= 1).all())


def as_id_array(qid: ArrayLike) -> NDArray[Any]:
    """Convert ids to an array, without converting mixed types to text or tuples to columns."""
    qid = to_host(qid)
    if hasattr(qid, "__array__") or not isinstance(qid, Iterable) or isinstance(qid, str | bytes):
        return np.asarray(qid)
    ids = list(qid)
    # Arrays of text lose trailing zero bytes, and arrays of large integers their last digits.
    if len({type(each) for each in ids}) <= 1 and not isinstance(ids[0] if ids else None, tuple | list | str):
        array = np.asarray(ids)
        if array.ndim == 1 and not (array.dtype.kind == "f" and ids and isinstance(ids[0], int)):
            return array
    objects = np.empty(len(ids), dtype=object)
    objects[:] = ids
    return objects


def _encode_objects(ids: NDArray[np.object_], name: str) -> tuple[NDArray[np.int32], int]:
    starts = _run_starts(ids)
    codes, n_queries = _encode_one_by_one(ids[starts], name)
    return np.repeat(codes, np.diff(np.append(starts, len(ids)))), n_queries


def _run_starts(ids: NDArray[Any]) -> NDArray[np.intp]:
    """Return the indices where an id differs from the one before; all indices, if ids cannot be compared."""
    try:
        differ = ids[1:] != ids[:-1]
        return np.flatnonzero(np.concatenate(([True], differ.astype(bool)))) if len(ids) else np.empty(0, np.intp)
    except (TypeError, ValueError):
        return np.arange(len(ids))


def _encode_one_by_one(ids: NDArray[np.object_], name: str) -> tuple[NDArray[np.int32], int]:
    numbers: dict[Any, int] = {}
    codes = np.empty(len(ids), dtype=np.int32)
    for row, each in enumerate(ids):
        if _is_missing(each):
            raise ValueError(f"{name} contains a missing value.")
        try:
            codes[row] = numbers.setdefault(each, len(numbers))
        except TypeError:
            raise ValueError(f"{name} must have one element per row, each of them hashable, got {each!r}.") from None
    return codes, len(numbers)


def _is_missing(each: Any) -> bool:
    try:
        return each is None or bool(each != each)
    except (TypeError, ValueError):  # comparing pandas' NA raises; the caller rejects arrays
        return not isinstance(each, np.ndarray)
