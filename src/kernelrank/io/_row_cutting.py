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
    n_bytes, is_one_query = 0, False
    for part in parts:
        waiting.append(part)
        n_bytes += _bytes_of(part.X)
        is_one_query = _has_one_query(part) and (len(waiting) == 1 or (is_one_query and part.ids == waiting[0].ids))
        if n_bytes <= block_bytes:
            continue
        if is_one_query:
            what = f"Query {waiting[0].ids[0]!r}, of which {n_bytes} bytes were read," if waiting[0].ids else ""
            require_memory(2.0 * n_bytes, what, "Split the query, or use fewer features.")
            continue
        blocks = _blocks(_join(waiting), block_bytes)
        last = next(blocks)  # to which later rows may belong
        for block in blocks:
            yield last
            last = block
        waiting, n_bytes, is_one_query = [last], _bytes_of(last.X), _has_one_query(last)
    if waiting:
        yield from _blocks(_join(waiting), block_bytes)


def _has_one_query(part: Part) -> bool:
    return part.ids is not None and len(part.ids) == 1


def _bytes_of(X: Any) -> int:
    return int(_bytes_before(X)[-1]) if sp.issparse(X) else int(X.nbytes)


def _bytes_before(X: Any) -> NDArray[np.int64]:
    """Return the bytes before each row of a matrix, and in all."""
    rows = np.arange(X.shape[0] + 1)
    if sp.issparse(X):
        return np.asarray(X.indptr * np.int64(X.dtype.itemsize + 4) + 4 * rows, np.int64)
    return np.asarray(rows * (X.shape[1] * X.dtype.itemsize), np.int64)


def _blocks(rows: Part, block_bytes: int) -> Iterator[Part]:
    """Yield consecutive rows of at most `block_bytes` or one query, each as large as possible."""
    X, y, sizes, ids = rows
    bounds = np.arange(len(y) + 1) if sizes is None else np.append(0, np.cumsum(sizes))
    n_bytes = _bytes_before(X)[bounds]
    first = 0
    while first < len(bounds) - 1:
        last = int(np.searchsorted(n_bytes, n_bytes[first] + block_bytes, side="right")) - 1
        last = max(last, first + 1)
        some = X[bounds[first] : bounds[last]]
        if sp.issparse(some):
            some.has_canonical_format = True
        labels = y[bounds[first] : bounds[last]]
        if sizes is None or ids is None:
            yield Part(some, labels, None, None)
        else:
            yield Part(some, labels, sizes[first:last], ids[first:last])
        first = last


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
