"""Files that are written aside before they replace others; those that a killed process has left are removed.

Whoever writes such a file holds a lock on it, which the system releases when the process ends. So a file that can be
locked is a leftover, and one that cannot belongs to somebody. Where there are no such locks, nothing is removed.
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


def is_aside(path: Any) -> bool:
    """Return whether this is the name of a file that is written aside."""
    return isinstance(path, str | os.PathLike) and _NAME.fullmatch(os.path.basename(path)) is not None


def open_aside(folder: Path) -> tuple[Path, int]:
    """Create a file of a name that nobody else has, and lock it; return its path and its descriptor."""
    while True:
        path = folder / f".kernelrank-{secrets.token_hex(8)}.tmp"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        if HAS_LOCKS:
            with suppress(OSError):  # a file system without locks: then nobody else can lock it, either
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        if path.exists():
            return path, descriptor
        os.close(descriptor)  # before it was locked, another process has removed it as a leftover


def remove_leftovers(folder: Path) -> None:
    """Remove the files that killed processes have left in a folder; errors are ignored."""
    if not HAS_LOCKS:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if is_aside(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove_unless_locked(entry.path)


def _remove_unless_locked(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    finally:
        os.close(descriptor)
