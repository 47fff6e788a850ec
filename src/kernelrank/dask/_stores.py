"""Rows in files that all workers can read, as Dask arrays."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernelrank.io import RowStore


def read_store(store: RowStore | str | os.PathLike[str]) -> tuple[Any, Any, Any]:
    """Return the rows of a :class:`kernelrank.io.RowStore` as Dask arrays; workers read the files.

    Parameters
    ----------
    store : RowStore or path
        In a folder that all workers can read under this name.

    Returns
    -------
    X : dask.array.Array of shape (n_rows, n_features)
        The rows, one chunk per file.
    y : dask.array.Array of shape (n_rows,)
        Their utilities.
    qid : dask.array.Array of shape (n_rows,) or None
        Number of the query of each row; None without queries.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from kernelrank.dask import RankSVM, read_store
    >>> from kernelrank.io import RowStore
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = RowStore.write(folder, [(X[:200], X[:200, 0]), (X[200:], X[200:, 0])], block_bytes=2400)
    ...     model = RankSVM().fit(*read_store(store)[:2])
    >>> bool(model.gap_ <= 1e-3)
    True
    """
    import dask.array as da
    from dask.delayed import delayed

    found = store if isinstance(store, RowStore) else RowStore(store)
    shared, read = delayed(found, pure=False), delayed(RowStore.read_block, pure=False)
    parts: list[list[Any]] = [[], [], []]
    no_rows: Any = np.empty((0, found.n_features), found.dtype)
    metas = [sp.csr_matrix(no_rows) if found.format == "csr" else no_rows, np.empty(0), np.empty(0, np.int32)]
    for number, n_rows in enumerate(found.block_sizes):
        block = read(shared, number)
        shapes = [(n_rows, found.n_features), (n_rows,), (n_rows,)]
        for k, (some, shape, meta) in enumerate(zip(parts, shapes, metas, strict=True)):
            some.append(da.from_delayed(block[k], shape=shape, meta=meta))
    X, y, qid = (da.concatenate(some) for some in parts)
    return X, y, qid if found.n_queries else None
