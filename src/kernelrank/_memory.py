"""Early failure of allocations that do not fit into memory."""

from __future__ import annotations

import os


def require_memory(n_bytes: float, what: str, remedy: str) -> None:
    """Raise an error if an allocation does not fit into memory.

    Raises
    ------
    MemoryError
        With the required and the available memory, and the remedy.
    """
    available = available_memory()
    if available is not None and n_bytes > available:
        raise MemoryError(
            f"{what} takes {_show(n_bytes)} of memory, but only {_show(available)} are available. {remedy}"
        )


def available_memory() -> int | None:
    """Return the number of bytes that can be allocated without swapping; None if it is unknown."""
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
