"""The columns that a part of a ColumnTransformer takes, which scikit-learn lets one name in several ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelrank._rules import whole


def selected_columns(key: Any, n_columns: int, names: Sequence[str] | None) -> list[int]:
    """Return the positions of the columns that a part of a fitted ColumnTransformer names.

    Parameters
    ----------
    key : str, int, slice, or list of names, of positions or of booleans
    n_columns : int
    names : sequence of str or None
        Names of the columns, if they have any.

    Raises
    ------
    TypeError, ValueError, IndexError
        If there are no such columns.
    """
    if isinstance(key, slice):
        given = [each for each in (key.start, key.stop) if each is not None]
        if given and all(isinstance(each, str) for each in given):  # both ends are included
            start = 0 if key.start is None else _position(key.start, names)
            stop = n_columns if key.stop is None else _position(key.stop, names) + 1
            return list(range(start, stop))
        return list(range(n_columns)[key])
    if isinstance(key, str):
        return [_position(key, names)]
    if whole(-n_columns).accepts(key):
        return [range(n_columns)[int(key)]]
    keys = key.tolist() if isinstance(key, np.ndarray) else list(key)
    if all(isinstance(each, bool | np.bool_) for each in keys):
        if keys and len(keys) != n_columns:
            raise ValueError(f"a mask of {len(keys)} elements for {n_columns} columns")
        return [place for place, each in enumerate(keys) if each]
    if all(isinstance(each, str) for each in keys):
        places = {} if names is None else {name: place for place, name in enumerate(names)}
        return [places[each] if each in places else _position(each, names) for each in keys]
    if not all(whole(-n_columns).accepts(each) for each in keys):
        raise TypeError("they are not names, integers or a mask")
    return [range(n_columns)[int(each)] for each in keys]


def _position(name: str, names: Sequence[str] | None) -> int:
    if names is None:
        raise ValueError("names of columns, but no feature_names_in_")
    return list(names).index(name)
