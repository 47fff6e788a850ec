"""Values of parameters and attributes, as JSON.

JSON has strings, numbers, lists, ``true``, ``false`` and ``null``; what else there is becomes an object that names
its kind: ``{"float": "nan"}``, ``{"numpy": "int64", "value": 3}``, ``{"tuple": [1, 2]}``,
``{"strings": ["a", "b"]}`` for an array of strings, and ``{"array": "name of a member"}``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank.exceptions import ModelFormatError
from kernelrank.persistence._archive import Archive, is_plain

_DEEPEST = 10  # lists in lists: folds of cross-validation need three
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_SCALARS = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "str"),
)


def encode(value: Any, name: str, arrays: dict[str, NDArray[Any]], depth: int = 0) -> Any:
    """Express a value in JSON; arrays go to `arrays`, under names that begin with `name`.

    Raises
    ------
    TypeError
        If it is not data: neither a number, a string, None, an array, nor a list or tuple of these.
    """
    if depth > _DEEPEST:
        raise TypeError(f"lists nested more than {_DEEPEST} deep")
    kind = type(value)
    if value is None or kind in (bool, int, str) or (kind is float and math.isfinite(value)):
        return value
    if kind is float:
        return {"float": repr(value)}
    if kind in (list, tuple):
        items = [encode(item, f"{name}/{k}", arrays, depth + 1) for k, item in enumerate(value)]
        return items if kind is list else {"tuple": items}
    if isinstance(value, np.generic):
        scalar = "str" if kind is np.str_ else value.dtype.name
        if scalar in _SCALARS:
            return {"numpy": scalar, "value": encode(value.item(), name, arrays, depth + 1)}
    if kind in (np.ndarray, np.memmap):
        if is_plain(value.dtype):
            arrays[f"{name}.npy"] = value
            return {"array": f"{name}.npy"}
        if value.dtype.kind == "O" and value.ndim == 1 and all(type(item) is str for item in value):
            return {"strings": list(value)}
        raise TypeError(f"an array of type {value.dtype} with {value.ndim} dimensions")
    raise TypeError(f"of type {kind.__name__}")


def decode(value: Any, archive: Archive, depth: int = 0) -> Any:
    """Turn JSON into the value it expresses.

    Raises
    ------
    ModelFormatError
        If it expresses none.
    """
    if depth > _DEEPEST:
        raise ModelFormatError(f"its lists are nested more than {_DEEPEST} deep")
    if isinstance(value, list):
        return [decode(item, archive, depth + 1) for item in value]
    if not isinstance(value, dict):
        if isinstance(value, float) and not math.isfinite(value):
            raise ModelFormatError("it has a number beyond the range of float64")
        return value
    match value:
        case {"float": str(text), **rest} if text in _NOT_FINITE and not rest:
            return _NOT_FINITE[text]
        case {"numpy": str(kind), "value": item, **rest} if kind in _SCALARS and not rest:
            return _decode_scalar(kind, decode(item, archive, depth + 1))
        case {"tuple": list(items), **rest} if not rest:
            return tuple(decode(items, archive, depth))
        case {"strings": list(items), **rest} if all(isinstance(item, str) for item in items) and not rest:
            return np.array(items, dtype=object)
        case {"array": str(name), **rest} if not rest:
            return archive.read_array(name)
    raise ModelFormatError(f"it has a value of a kind that is not known, named {' and '.join(map(repr, value))}")


def _decode_scalar(kind: str, item: Any) -> Any:
    """Return a scalar of NumPy; it is refused if it is not exactly this item."""
    if isinstance(item, bool | int | float | str):
        try:
            with np.errstate(over="ignore"):
                scalar = np.dtype(kind).type(item)
        except (OverflowError, ValueError):
            scalar = None
        if scalar is not None and type(scalar.item()) is type(item) and (scalar.item() == item or item != item):
            return scalar
    raise ModelFormatError(f"it has a value that is no {kind} of NumPy")
