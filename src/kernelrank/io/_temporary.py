"""Temporary files that replace a target when complete, and the removal of those that a killed process left behind.

The writer of a temporary file holds a lock on it, which the operating system releases when the process ends. A file
that can be locked is therefore a leftover; one that cannot be locked is in use. On systems without such locks, nothing
is removed.
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not POSIX
    fcntl = None  # type: ignore[assignment]

HAS_LOCKS = fcntl is not None

_NAME = re.compile(r"\.kernelrank-[0-9a-f]{16}\.tmp")


def is_temporary(path: Any) -> bool:
    """Return whether a path is named like a temporary file of this module."""
    return isinstance(path, str | os.PathLike) and _NAME.fullmatch(os.path.basename(path)) is not None


def open_temporary(folder: Path) -> tuple[Path, int]:
    """Create a temporary file with a unique name and lock it; return its path and descriptor."""
    while True:
        path = folder / f".kernelrank-{secrets.token_hex(8)}.tmp"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        if HAS_LOCKS:
            with suppress(OSError):  # a file system without locks: other processes cannot lock it, either
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        if path.exists():
            return path, descriptor
        os.close(descriptor)  # another process removed it as a leftover before it was locked


def lock(descriptor: int) -> bool:
    """Lock an open file or folder until it is closed; return False if another process has locked it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files that killed processes left in a folder; errors are ignored."""
    if not HAS_LOCKS:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if is_temporary(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove_unless_locked(entry.path)


def _remove_unless_locked(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    finally:
        os.close(descriptor)
