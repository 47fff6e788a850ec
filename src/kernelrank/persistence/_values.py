"""JSON representation of parameters and attributes.

JSON has strings, numbers, lists, ``true``, ``false`` and ``null``; any other value becomes an object that names its
kind: ``{"float": "nan"}``, ``{"numpy": "int64", "value": 3}``, ``{"tuple": [1, 2]}``,
``{"strings": ["a", "b"]}`` for an array of strings, with ``"numpy": "str"`` for one of NumPy's strings,
``{"objects": ["a", null]}`` for an array of mixed values,
``{"array": "name of a member"}``, a sparse matrix by its arrays, ``{"sparse": "csr_matrix", ...}``,
``{"kernel": "Gaussian", "parameters": {"gamma": 0.5}}``, ``{"slice": [0, 3, null]}``,
``{"keys": ..., "values": ...}`` for a dictionary, ``{"dtype": "float64"}`` and ``{"type": "numpy.float64"}`` for a
type, ``{"function": "f_regression"}`` for one of a few functions, and ``{"class": "RankSVM", ...}`` for an object,
where the caller allows it.
"""

from __future__ import annotations

import math
from collections import UserList
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import feature_selection
from sklearn.base import BaseEstimator

from kernelrank.exceptions import ModelFormatError
from kernelrank.kernels import Gaussian, Kernel, Linear, NamedKernel, Polynomial, Precomputed, Product, Scaled, Sum
from kernelrank.persistence._archive import Archive, is_plain

_DEEPEST = 100  # nested lists: folds of cross-validation need three levels; a sum of k kernels is nested k - 1 deep

# Allowance beyond the size of the file, so that a small file never becomes a large model. NumPy's strings are all as
# wide as the longest; columns of a sparse matrix take no memory here, but rows to predict may.
_FREE_CHARACTERS, _PADDING = 1 << 16, 16
_FREE_COLUMNS = 1 << 24
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_SCALARS = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "str"),
)

# Closed lists: a file cannot name anything else.
_SPARSE: dict[str, type] = {kind.__name__: kind for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix)}
_FEW = 16  # integers as values of a dictionary that are written as a list
_SPARSE_PARTS = ("data", "indices", "indptr")
_KERNELS: dict[str, type[Kernel]] = {
    kind.__name__: kind for kind in (Linear, Polynomial, Gaussian, NamedKernel, Precomputed, Sum, Product, Scaled)
}
_TYPES: dict[str, type] = {
    **{kind.__name__: kind for kind in (bool, int, float, str, object)},
    **{f"numpy.{name}": np.dtype(name).type for name in _SCALARS if name != "str"},
}
_DTYPES = (*(name for name in _SCALARS if name != "str"), "object")
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(feature_selection, name)
    for name in ("chi2", "f_classif", "f_regression", "mutual_info_classif", "mutual_info_regression", "r_regression")
}
_PARAMETERS = {name: signature(kind).parameters.keys() for name, kind in _KERNELS.items()}

# Encodes an object: given it, the start of the names of its arrays, its depth, and its name in a list of steps.
EncodeObject = Callable[[Any, str, int, str | None], Any]
DecodeObject = Callable[[dict[str, Any], int], Any]


class NotDataError(TypeError):
    """A value cannot be written to a file; the message completes the sentence "it is ..."."""


def encode(
    value: Any,
    name: str,
    arrays: dict[str, NDArray[Any]],
    depth: int = 0,
    encode_object: EncodeObject | None = None,
    label: str | None = None,
) -> Any:
    """Encode a value in JSON; arrays are added to `arrays`, under names that start with `name`.

    Raises
    ------
    NotDataError
        If the value is not data: a number, a string, None, an array, a kernel, or a list or tuple of these.
    """
    if depth > _DEEPEST:
        raise NotDataError(f"nested more than {_DEEPEST} deep")
    if isinstance(value, UserList):  # as older versions of scikit-learn have for the columns of a remainder
        value = value.data
    kind = type(value)
    if value is None or kind in (bool, int, str) or (kind is float and math.isfinite(value)):
        return value
    if kind is float:
        return {"float": repr(value)}
    if kind in (list, tuple):
        label = value[0] if kind is tuple and value and type(value[0]) is str else label
        items = [encode(item, f"{name}/{k}", arrays, depth + 1, encode_object, label) for k, item in enumerate(value)]
        return items if kind is list else {"tuple": items}
    if encode_object is not None and isinstance(value, BaseEstimator) and not isinstance(value, Kernel):
        return encode_object(value, name, depth, label)
    if kind is slice:
        return {"slice": [encode(each, name, arrays, depth + 1) for each in (value.start, value.stop, value.step)]}
    if kind is dict:
        return _encode_dict(value, name, arrays, depth)
    if isinstance(value, np.dtype) and value.name in _DTYPES:
        return {"dtype": value.name}
    for entry, known in (("type", _TYPES), ("function", _FUNCTIONS)):
        for each, meaning in known.items():
            if value is meaning:
                return {entry: each}
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
        if value.dtype.kind == "U" and value.ndim == 1 and _are_short(value.tolist()):
            return {"numpy": "str", "strings": value.tolist()}
        if value.dtype.kind == "O" and value.ndim == 1 and all(map(_is_scalar, value)):
            return {"objects": [encode(item, name, arrays, depth + 1) for item in value]}
        raise NotDataError(f"an array of type {value.dtype} with {value.ndim} dimensions")
    if kind in _SPARSE.values():
        return _encode_sparse(value, name, arrays, depth)
    if kind in _KERNELS.values():
        parameters = value.get_params(deep=False).items()
        encoded = {each: encode(item, f"{name}/{each}", arrays, depth + 1) for each, item in parameters}
        return {"kernel": kind.__name__, "parameters": encoded}
    raise NotDataError(f"of type {kind.__name__}")


def _is_scalar(value: Any) -> bool:
    """Return whether a value is a number, a string or None."""
    return value is None or type(value) in (bool, int, float, str) or isinstance(value, np.generic)


def _encode_dict(value: dict[Any, Any], name: str, arrays: dict[str, NDArray[Any]], depth: int) -> dict[str, Any]:
    """Encode a dictionary by its keys and values; those of a vocabulary are many strings and their numbers."""
    keys, values = list(value), list(value.values())
    if len(values) > _FEW and all(type(each) is int and 0 <= each < 2**63 for each in values):
        values = np.array(values, dtype=np.int64)  # type: ignore[assignment]
    if not all(type(key) in (int, str) for key in keys):
        raise NotDataError("a dictionary with keys that are neither strings nor integers")
    return {
        "keys": keys,
        "values": encode(values, f"{name}/values", arrays, depth + 1),
    }


def _encode_sparse(matrix: Any, name: str, arrays: dict[str, NDArray[Any]], depth: int) -> dict[str, Any]:
    """Encode a sparse matrix by its arrays; indices have the smallest possible type, and unused memory is dropped."""
    used = slice(0, int(matrix.indptr[-1]))
    kind = type(matrix)
    stored = kind((matrix.data[used], matrix.indices[used], matrix.indptr), shape=matrix.shape)
    if not _is_in_proportion(matrix.shape, stored.data, stored.indices, stored.indptr):
        raise NotDataError(f"a sparse matrix of shape {matrix.shape} with only {len(stored.data)} elements")
    parts = {part: encode(getattr(stored, part), f"{name}/{part}", arrays, depth + 1) for part in _SPARSE_PARTS}
    return {"sparse": kind.__name__, "shape": list(map(int, matrix.shape)), **parts}


def decode(value: Any, archive: Archive, depth: int = 0, decode_object: DecodeObject | None = None) -> Any:
    """Decode a value from JSON; objects are allowed if the caller decodes them.

    Raises
    ------
    ModelFormatError
        If the JSON does not represent a value.
    """
    if depth > _DEEPEST:
        raise ModelFormatError(f"values are nested more than {_DEEPEST} deep")
    if isinstance(value, list):
        # Replaced in place, as the document is not needed again and may hold many lists.
        for place, item in enumerate(value):
            value[place] = decode(item, archive, depth + 1, decode_object)
        return value
    if not isinstance(value, dict):
        if isinstance(value, float) and not math.isfinite(value):
            raise ModelFormatError("a number overflows float64")
        return value
    match value:
        case {"float": str(text), **rest} if text in _NOT_FINITE and not rest:
            return _NOT_FINITE[text]
        case {"numpy": str(kind), "value": item, **rest} if kind in _SCALARS and not rest:
            return _decode_scalar(kind, decode(item, archive, depth + 1))
        case {"tuple": list(items), **rest} if not rest:
            return tuple(decode(items, archive, depth, decode_object))
        case {"strings": list(items), **rest} if all(isinstance(item, str) for item in items) and not rest:
            return np.array(items, dtype=object)
        case {"objects": list(items), **rest} if not rest:
            return _decode_objects(decode(items, archive, depth))
        case {"slice": [_, _, _] as ends, **rest} if not rest:
            return slice(*decode(ends, archive, depth))
        case {"keys": list(keys), "values": values, **rest} if not rest:
            return _decode_dict(keys, decode(values, archive, depth + 1))
        case {"dtype": str(name), **rest} if name in _DTYPES and not rest:
            return np.dtype(name)
        case {"type": str(name), **rest} if name in _TYPES and not rest:
            return _TYPES[name]
        case {"function": str(name), **rest} if name in _FUNCTIONS and not rest:
            return _FUNCTIONS[name]
        case {"class": _, **_rest} if decode_object is not None:
            return decode_object(value, depth)
        case {"numpy": "str", "strings": list(items), **rest} if _are_short(items) and not rest:
            return np.array(items, dtype=np.str_)
        case {"array": str(name), **rest} if not rest:
            return archive.read_array(name)
        case {"sparse": str(kind), "shape": list(shape), **parts} if parts.keys() == set(_SPARSE_PARTS):
            return _decode_sparse(kind, shape, {part: decode(parts[part], archive, depth + 1) for part in parts})
        case {"kernel": str(kind), "parameters": dict(parameters), **rest} if not rest:
            return _decode_kernel(kind, {name: decode(item, archive, depth + 1) for name, item in parameters.items()})
    raise ModelFormatError(f"unknown kind of value with the keys {' and '.join(map(repr, value))}")


def _decode_objects(items: list[Any]) -> NDArray[Any]:
    if not all(map(_is_scalar, items)):
        raise ModelFormatError("an array of mixed values has values that are neither numbers, strings nor None")
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _decode_dict(keys: list[Any], values: Any) -> dict[Any, Any]:
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind == "i":
        values = values.tolist()
    known = isinstance(values, list) and len(values) == len(keys) and all(type(key) in (int, str) for key in keys)
    if not known or len(set(keys)) < len(keys):
        raise ModelFormatError("a dictionary does not consist of different keys and as many values")
    return dict(zip(keys, values, strict=True))


def _are_short(items: list[Any]) -> bool:
    """Return whether the items are strings that take little memory as an array of NumPy's strings."""
    if not all(isinstance(item, str) for item in items):
        return False
    n_characters = len(items) * max(map(len, items), default=0)
    return n_characters <= max(_FREE_CHARACTERS, _PADDING * (len(items) + sum(map(len, items))))


def _decode_scalar(kind: str, item: Any) -> Any:
    """Return a NumPy scalar; raise an error if it does not equal the item exactly."""
    if isinstance(item, bool | int | float | str):
        try:
            with np.errstate(over="ignore"):
                scalar = np.dtype(kind).type(item)
        except (OverflowError, ValueError):
            scalar = None
        if scalar is not None and type(scalar.item()) is type(item) and (scalar.item() == item or item != item):
            return scalar
    raise ModelFormatError(f"a value is not a NumPy {kind}")


def _decode_sparse(kind: str, shape: list[Any], parts: dict[str, Any]) -> Any:
    """Return a sparse matrix after checking its indices, as the compiled products do not check them."""
    if kind not in _SPARSE:
        raise ModelFormatError(f"unknown kind of sparse matrix {kind!r}")
    data, indices, indptr = (parts[part] for part in _SPARSE_PARTS)
    if not (_is_vector(data, "f") and _is_vector(indices, "i") and _is_vector(indptr, "i") and _is_shape(shape)):
        raise ModelFormatError("a sparse matrix does not consist of numbers and indices")
    if not _is_in_proportion(shape, data, indices, indptr):
        raise ModelFormatError(f"a sparse matrix of shape {tuple(shape)} has only {len(data)} elements")
    n_major, n_minor = shape if kind.startswith("csr") else reversed(shape)
    if (
        len(indptr) != n_major + 1
        or indptr[0] != 0
        or (indptr[1:] < indptr[:-1]).any()
        or not indptr[-1] == len(indices) == len(data)
        or not (indices.min(initial=0) >= 0 and indices.max(initial=-1) < n_minor)
    ):
        raise ModelFormatError(f"a sparse matrix of shape {tuple(shape)} has indices out of bounds")
    return _SPARSE[kind]((data, indices, indptr), shape=tuple(shape))


def _is_vector(value: Any, kind: str) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == kind and value.itemsize >= 4


def _is_shape(value: list[Any]) -> bool:
    return len(value) == 2 and all(type(length) is int and 0 <= length < 2**63 for length in value)


def _is_in_proportion(shape: Sequence[int], *parts: NDArray[Any]) -> bool:
    """Return whether a matrix has few rows and columns, or at most as many as its parts have bytes."""
    return max(shape) <= max(_FREE_COLUMNS, sum(part.nbytes for part in parts))


def _decode_kernel(kind: str, parameters: dict[str, Any]) -> Kernel:
    """Return a kernel with the parameters in the file, and defaults for the others."""
    if kind not in _KERNELS:
        raise ModelFormatError(f"unknown kernel {kind!r}")
    for unknown in sorted(parameters.keys() - _PARAMETERS[kind]):
        raise ModelFormatError(f"the kernel {kind} has no parameter {unknown!r}")
    try:
        return _KERNELS[kind](**parameters)
    except TypeError as reason:  # a parameter without a default is missing
        raise ModelFormatError(f"a kernel {kind} is invalid ({reason})") from reason
