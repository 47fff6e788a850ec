"""Cutting a stream of rows into blocks of about equal size that split no query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._memory import require_memory
from kernelrank.io._row_chunks import Part


def cut(parts: Iterator[Part], block_bytes: int) -> Iterator[Part]:
    """Yield the rows of all parts in blocks of at most `block_bytes`; a larger query is a block of its own.

    The blocks depend on the rows only, not on the parts that they come in.
    """
    waiting: list[Part] = []
    for part in parts:
        waiting.append(part)
        n_bytes = sum(_bytes_of(each.X) for each in waiting)
        if n_bytes <= block_bytes:
            continue
        if _is_one_query(waiting):
            what = f"Query {waiting[0].ids[0]!r}, of which {n_bytes} bytes were read," if waiting[0].ids else ""
            require_memory(2.0 * n_bytes, what, "Split the query, or use fewer features.")
            continue
        rest = _join(waiting)
        while (n_rows := _first_block(rest, block_bytes)) is not None:
            yield _rows_of(rest, 0, n_rows)
            rest = _rows_of(rest, n_rows, len(rest.y))
        waiting = [rest]
    if waiting:
        rest = _join(waiting)
        while (n_rows := _first_block(rest, block_bytes)) is not None:
            yield _rows_of(rest, 0, n_rows)
            rest = _rows_of(rest, n_rows, len(rest.y))
        yield rest


def _bytes_of(X: Any) -> int:
    return int(_ends_of_rows(X)[-1]) if sp.issparse(X) else int(X.nbytes)


def _ends_of_rows(X: Any) -> NDArray[np.int64]:
    """Return the bytes before each row of a sparse matrix, and in all."""
    return np.asarray(X.indptr * np.int64(X.dtype.itemsize + 4) + 4 * np.arange(len(X.indptr)), np.int64)


def _first_block(rows: Part, block_bytes: int) -> int | None:
    """Return the number of rows of the first block, None if later rows may belong to it."""
    if sp.issparse(rows.X):
        fits = int(np.searchsorted(_ends_of_rows(rows.X), block_bytes, side="right")) - 1
    else:
        fits = block_bytes // (rows.X.shape[1] * rows.X.dtype.itemsize)
    fits = max(fits, 1)
    if fits >= len(rows.y):
        return None
    if rows.sizes is None:
        return fits
    stops = np.cumsum(rows.sizes)
    n_whole = int(np.searchsorted(stops, fits, side="right"))
    if n_whole == 0 and len(stops) == 1:
        return None
    return int(stops[max(n_whole - 1, 0)])


def _is_one_query(parts: list[Part]) -> bool:
    ids = parts[0].ids
    return ids is not None and all(each.ids is not None and {*each.ids} == {ids[0]} for each in parts)


def _join(parts: list[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    y = np.concatenate([each.y for each in parts])
    if sp.issparse(parts[0].X):
        width = max(each.X.shape[1] for each in parts)
        for each in parts:
            each.X.resize((each.X.shape[0], width))
        X = sp.vstack([each.X for each in parts], format="csr")
        X.has_canonical_format = True  # as those of the parts
    else:
        X = np.concatenate([each.X for each in parts])
    if parts[0].ids is None:
        return Part(X, y, None, None)
    ids: list[str] = []
    sizes: list[int] = []
    for part in parts:
        assert part.ids is not None
        assert part.sizes is not None
        more = part.sizes.tolist()
        if ids and part.ids[0] == ids[-1]:
            sizes[-1] += more[0]
            ids += part.ids[1:]
            sizes += more[1:]
        else:
            ids += part.ids
            sizes += more
    return Part(X, y, np.array(sizes), ids)


def _rows_of(rows: Part, start: int, stop: int) -> Part:
    """Return consecutive rows, which begin and end with queries."""
    X = rows.X[start:stop]
    if sp.issparse(X):
        X.has_canonical_format = True
    if rows.sizes is None or rows.ids is None:
        return Part(X, rows.y[start:stop], None, None)
    bounds = np.append(0, np.cumsum(rows.sizes))
    first, last = np.searchsorted(bounds, [start, stop])
    return Part(X, rows.y[start:stop], rows.sizes[first:last], rows.ids[first:last])
