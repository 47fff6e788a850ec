"""Memory is asked for before it is taken."""

from __future__ import annotations

import os


def require_memory(n_bytes: float, what: str, remedy: str) -> None:
    """Raise if so much memory is not available.

    Raises
    ------
    MemoryError
        With both sizes, and what to do.
    """
    available = available_memory()
    if available is not None and n_bytes > available:
        raise MemoryError(f"{what} takes {_show(n_bytes)} of memory, but {_show(available)} are available. {remedy}")


def available_memory() -> int | None:
    """Return how many bytes can be taken without pushing others out; None if the system does not tell."""
    try:
        with open("/proc/meminfo") as lines:
            return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _show(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:,.1f} GiB"
