"""Dask collections as chunks of rows that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import refuse_mask
from kernelrank._query_ids import as_id_array
from kernelrank._rules import show
from kernelrank._validation import as_numbers


class Given(NamedTuple):
    """One argument of `fit`.

    Attributes
    ----------
    values : collection or ndarray
        Each row of a collection is in one chunk.
    n_chunks : int
        Of a collection.
    sizes : list of int or None
        Rows of each chunk; None if they are not known.
    """

    values: Any
    n_chunks: int
    sizes: list[int] | None


def is_collection(value: Any) -> bool:
    """Return whether a value is a Dask array, data frame or column."""
    return all(hasattr(value, name) for name in ("__dask_graph__", "to_delayed", "ndim"))


def chunks_of_rows(X: Any, user: str) -> Given:
    """Return the chunks of a matrix; columns of several blocks are put together."""
    if not is_collection(X):
        raise TypeError(
            f"kernelrank.dask.{user} takes a Dask array or data frame, got {type(X).__name__}. Use"
            f" dask.array.from_array(X, chunks=...), or kernelrank.{user} for data in memory."
        )
    if X.ndim != 2:
        raise ValueError(f"X must be a matrix, got a collection of {X.ndim} dimensions.")
    return _chunks(with_whole_rows(X))


def with_whole_rows(value: Any) -> Any:
    """Return a collection each of whose rows is in one chunk."""
    several = getattr(value, "ndim", 1) == 2 and getattr(value, "numblocks", (1, 1))[1] > 1
    return value.rechunk({1: -1}) if several else value


def chunks_of_column(value: Any, name: str, X: Given) -> Given | None:
    """Return the chunks of y, qid or weights, one for each chunk of X, or the whole if it is in memory."""
    if value is None:
        return None
    if not is_collection(value):
        refuse_mask(value, name)
        return Given(as_id_array(value) if name == "qid" else as_numbers(value, name), 0, None)
    if value.ndim == 0:
        raise ValueError(f"{name} must have one element per row, got a collection without dimensions.")
    found = value
    if hasattr(value, "chunks") and _known(value.chunks[0]) and X.sizes is not None:
        if sum(value.chunks[0]) != sum(X.sizes):
            raise ValueError(f"{name} has {sum(value.chunks[0])} elements, but there are {sum(X.sizes)} rows.")
        found = with_whole_rows(value.rechunk({0: tuple(X.sizes)}))
    found = _chunks(found)
    if found.n_chunks != X.n_chunks:
        raise ValueError(
            f"{name} has {found.n_chunks} chunks, but X has {X.n_chunks}, and the sizes of some are not known."
            " Call compute_chunk_sizes() of Dask arrays, or take X and the others from the same data frame."
        )
    return found


def slices_of(given: Given, name: str, sizes: list[int]) -> list[Any]:
    """Return a column in memory in slices, one for each chunk of X."""
    whole: NDArray[Any] = given.values
    if whole.ndim == 0 and name == "sample_weight":
        whole = np.full(sum(sizes), whole)
    if whole.ndim == 0:
        raise ValueError(f"{name} must have one element per row, got {show(whole.item())}.")
    if len(whole) != sum(sizes):
        raise ValueError(f"{name} has {len(whole)} elements, but there are {sum(sizes)} rows.")
    return np.split(whole, np.cumsum(sizes)[:-1])


def delayed_chunks(collections: Sequence[Any]) -> list[list[Any]]:
    """Return the chunks of each collection as delayed values.

    What several arrays are made of stays one task, which an optimisation of each on its own would repeat. Data frames
    are optimised, so that only the columns that they have are read.
    """
    delayed = [each.to_delayed(optimize_graph=not hasattr(each, "chunks")) for each in collections]
    return [list(np.ravel(np.asarray(each, dtype=object))) for each in delayed]


def _chunks(value: Any) -> Given:
    sizes = value.chunks[0] if hasattr(value, "chunks") else (np.nan,) * value.npartitions
    return Given(value, len(sizes), [int(size) for size in sizes] if _known(sizes) else None)


def _known(sizes: Any) -> bool:
    return bool(np.isfinite(np.asarray(sizes, np.float64)).all())
