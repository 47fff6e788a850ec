"""Sorting of rows by score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelrank._core import Ranking


def sort_falling(values: NDArray[np.float64], codes: NDArray[np.int32] | None = None) -> NDArray[np.int64]:
    """Return the rows sorted by query and descending value, ties in the order of the rows.

    Unlike ``np.argsort`` it can be interrupted: Ctrl-C would otherwise wait over a second for ten million rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Finite numbers.
    codes : ndarray of shape (n_rows,), optional
        Query code of each row, 0, 1, ...
    """
    order = np.empty(len(values), np.int64)
    if len(values):
        Ranking(-values, codes, 1 if codes is None else int(codes.max()) + 1, None, None, 1).order(order)
    return order
