"""Container of a model file: an uncompressed ZIP archive of a JSON document and NumPy arrays.

Writing is deterministic. Reading trusts nothing: members are not compressed, so a size that the archive declares is
checked against the size of the file before anything is allocated.
"""

from __future__ import annotations

import io
import json
import math
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from kernelrank.exceptions import ModelFormatError

DOCUMENT = "model.json"

_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the earliest date that ZIP can represent
_UNIX, _READABLE = 3, 0o644 << 16
_UTF8_NAME = 0x800
_CHUNK = 1 << 20

# Members are arrays of numbers of at most 8 bytes, or of records of them.
_NUMBER = r"'[<|][biuf][1248]'"
_FIELD = rf"\('\w+', {_NUMBER}\)"
_LENGTH = r"(?:0|[1-9]\d{0,18})"
_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_DESCRIPTION = re.compile(rf"{_NUMBER}|\[{_FIELD}(?:, {_FIELD})*\]", re.ASCII)
_NPY_HEADER = re.compile(
    rf"{{'descr': (?:{_DESCRIPTION.pattern}), 'fortran_order': (?:True|False),"
    rf" 'shape': \((?:{_LENGTH},|{_LENGTH}(?:, {_LENGTH})+)?\), }} *\n".encode()
)

# Exceptions of zipfile, json and NumPy for invalid input; a RecursionError is a RuntimeError.
_UNREADABLE = (
    zipfile.BadZipFile,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Return whether arrays of this type can be members: they hold numbers, or records of numbers."""
    if dtype.kind not in "biufV":
        return False
    return _DESCRIPTION.fullmatch(repr(np.lib.format.dtype_to_descr(dtype.newbyteorder("<")))) is not None


def write_archive(handle: IO[bytes], document: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the document and the arrays; equal contents give equal bytes."""
    text = json.dumps(document, indent=1, sort_keys=True, allow_nan=False) + "\n"
    with zipfile.ZipFile(handle, "w") as archive:
        with _new_member(archive, DOCUMENT, len(text)) as member:
            member.write(text.encode("ascii"))
        for name in sorted(arrays):
            array = _little_endian(arrays[name])
            with _new_member(archive, name, array.nbytes) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def _new_member(archive: zipfile.ZipFile, name: str, size: int) -> IO[bytes]:
    info = zipfile.ZipInfo(name, _EARLIEST)
    info.create_system, info.external_attr = _UNIX, _READABLE
    info.file_size = size  # determines whether ZIP64 is used
    return archive.open(info, "w")


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


class Archive:
    """Model file opened for reading; each member can be read once.

    Raises
    ------
    ModelFormatError
        From the constructor and all methods, for invalid contents.
    """

    def __init__(self, handle: IO[bytes]) -> None:
        self._size = self._unread = handle.seek(0, io.SEEK_END)
        with _format_errors("not a ZIP archive, or a damaged one"):
            self._zip = zipfile.ZipFile(handle)
        members = self._zip.infolist()
        self._members = {info.filename: info for info in members}
        if len(self._members) < len(members):
            raise ModelFormatError("two members have the same name")

    def read_document(self) -> Any:
        """Return the contents of model.json."""
        with self._open(DOCUMENT) as member, _format_errors(f"member {DOCUMENT} cannot be read"):
            return json.loads(member.read().decode(), object_pairs_hook=_distinct, parse_constant=_reject_constant)

    def read_array(self, name: str) -> NDArray[Any]:
        """Return an array in native byte order; its size is checked before it is allocated."""
        with self._open(name) as member, _format_errors(f"member {name!r} cannot be read"):
            prefix = member.read(len(_NPY_MAGIC) + 2)
            header = member.read(int.from_bytes(prefix[-2:], "little"))
            if not prefix.startswith(_NPY_MAGIC) or not _NPY_HEADER.fullmatch(header):
                raise ValueError("not an array of numbers in NumPy's format 1.0")
            described = io.BytesIO(prefix[-2:] + header)
            shape, in_fortran_order, dtype = np.lib.format.read_array_header_1_0(described)
            size = math.prod(shape) * dtype.itemsize
            rest = self._zip.getinfo(name).file_size - len(prefix) - len(header)
            if size != rest:
                raise ValueError(
                    f"an array of shape {shape} and type {dtype} has {size} bytes, but the member has {rest}"
                )
            if max(shape, default=0) > self._size:  # an empty array, but others are allocated with its length
                raise ValueError(f"an array of shape {shape} is longer than the file")
            array = np.empty(shape, dtype, order="F" if in_fortran_order else "C")
            _fill(array, member)
            return array.astype(dtype.newbyteorder("="), copy=False)

    def _open(self, name: str) -> IO[bytes]:
        info = self._members.pop(name, None)
        if info is None:
            raise ModelFormatError(f"member {name!r} is missing, or used twice")
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & ~_UTF8_NAME:
            raise ModelFormatError(f"member {name!r} is compressed or encrypted; members must be stored uncompressed")
        self._unread -= info.file_size
        if info.file_size != info.compress_size or self._unread < 0 or not 0 <= info.header_offset < self._size:
            raise ModelFormatError(f"member {name!r} is larger than the file")
        with _format_errors(f"member {name!r} cannot be read"):
            return self._zip.open(info)


def _fill(array: NDArray[Any], member: IO[bytes]) -> None:
    """Read an array in chunks; the last chunk checks the CRC of the member."""
    values = array.reshape(-1, order="A").view(np.uint8)
    for start in range(0, len(values), _CHUNK):
        piece = values[start : start + _CHUNK]
        piece[:] = np.frombuffer(member.read(len(piece)), np.uint8)
    member.read(1)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) < len(pairs):
        raise ValueError("a name occurs twice")
    return names


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")


@contextmanager
def _format_errors(message: str) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as reason:
        raise ModelFormatError(f"{message} ({reason})") from reason
