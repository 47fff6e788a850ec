"""Files that are compressed by suffix, standard streams as "-", and atomic replacement of files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, TypeAlias

from kernelrank.exceptions import DataFormatError
from kernelrank.io._temporary import HAS_LOCKS, is_temporary, open_temporary, remove_leftovers

PathOrFile: TypeAlias = str | os.PathLike[str] | IO[bytes]

COMPRESSED = (".gz", ".xz", ".bz2")

# bz2, and gzip for a file that is not gzip at all, raise a plain OSError.
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, OSError)


def is_path(source: Any) -> bool:
    """Return whether a source is a path, and not "-" or a file object."""
    return isinstance(source, str | os.PathLike) and source != "-"


def name_of(source: Any) -> str:
    """Return the name of a source for messages."""
    if is_path(source):
        return str(os.fspath(source))
    if source == "-":
        return "<stdin>"
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


@contextmanager
def open_for_reading(source: Any) -> Iterator[IO[bytes]]:
    """Open a path, decompressed by its suffix, or yield a binary file object or, for "-", standard input.

    Only files opened here are closed. Damaged compressed data raise DataFormatError, at any time while reading.
    """
    if not is_path(source):
        if source != "-" and not hasattr(source, "read"):
            raise TypeError(f'source must be a path, "-" or a binary file object, got {type(source).__name__}.')
        yield sys.stdin.buffer if source == "-" else source
        return
    path = Path(source)
    with open(path, "rb") as raw, _decompress(raw, path.suffix.lower()) as handle:
        if handle is raw:
            yield raw
            return
        try:
            yield handle
        except _DAMAGE as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # an error of the disk, not of the data
            raise DataFormatError(f"{path}: damaged or not {path.suffix} data: {error}") from error


@contextmanager
def replace_file(path: str | os.PathLike[str], *, compress: bool = True) -> Iterator[IO[bytes]]:
    """Open a new file for writing, compressed by the suffix of `path`, which replaces `path` when it is complete.

    The data go to a temporary file in the same folder, which is renamed once it is on disk: after a failure the old
    file is unchanged and the new one is removed. Temporary files left by killed processes are removed as well. Symbolic
    links are followed. A replaced file keeps its permissions; those of a new file follow the umask. Anything but a
    regular file, such as a pipe, is written directly. System errors name `path`.
    """
    suffix = Path(path).suffix.lower() if compress else ""
    old = _status(path)
    with naming_errors(path):
        if old is not None and not stat.S_ISREG(old.st_mode):
            with open(path, "wb") as raw, _compress(raw, suffix) as handle:
                yield handle
            return
        target = Path(os.path.realpath(path))
        remove_leftovers(target.parent)
        temporary, descriptor = open_temporary(target.parent)
        try:
            with open(descriptor, "wb") as raw:
                if old is not None:
                    os.chmod(temporary, stat.S_IMODE(old.st_mode))
                with _compress(raw, suffix) as handle:
                    yield handle
                raw.flush()
                os.fsync(raw.fileno())  # or, after a power failure, the new name could exist without the content
                if HAS_LOCKS:  # the lock is held until the file is closed
                    os.replace(temporary, target)
            if not HAS_LOCKS:  # not POSIX: an open file cannot be renamed
                os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise


@contextmanager
def naming_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the name of the requested file to system errors, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is None or not (error.filename is None or is_temporary(error.filename)):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _decompress(raw: IO[bytes], suffix: str) -> AbstractContextManager[IO[bytes]]:
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
    return openers[suffix](raw, "rb") if suffix in openers else nullcontext(raw)


def _compress(raw: IO[bytes], suffix: str) -> AbstractContextManager[IO[bytes]]:
    if suffix == ".gz":
        # Without a name and a time stamp, equal contents make equal files.
        return gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0)  # type: ignore[return-value]
    writers: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".bz2": bz2.open}
    return writers[suffix](raw, "wb") if suffix in writers else nullcontext(raw)
