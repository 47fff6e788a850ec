"""What benchmarks and experiments share: timing, tables, and what they ran on."""

from __future__ import annotations

import os
import platform
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy

import kernelrank

_SLOW = 0.5  # seconds: such a task is not repeated more often than it must be


def best_times(
    tasks: dict[str, Callable[[], Any]],
    at_least: int = 5,
    at_most: int = 15,
    clock: Callable[[], float] = perf_counter,
) -> dict[str, float]:
    """Least seconds of each task; with ``time.process_time`` as `clock`, what the processor spent on it.

    They take turns, so that what disturbs one disturbs the others, and every other time in
    reverse order, so that none always profits from the memory that the one before it freed.
    """
    best = dict.fromkeys(tasks, float("inf"))
    for turn in range(at_most):
        for name in list(tasks)[:: -1 if turn % 2 else 1]:
            if turn >= at_least and best[name] > _SLOW:
                continue
            start = clock()
            tasks[name]()
            best[name] = min(best[name], clock() - start)
    return best


class Stopwatch:
    """Seconds spent inside functions, by the name they are timed under."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that does the same and is timed."""

        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            start = self._clock()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds[name] += self._clock() - start

        return wrapper


def table(heading: Sequence[str], rows: Iterable[Sequence[str]], *, n_texts: int = 1) -> str:
    """Align as Markdown: the first columns, which are texts, to the left, the others to the right."""
    lines = [list(heading), *map(list, rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * (width - (i >= n_texts)) + ":" * (i >= n_texts) for i, width in enumerate(widths)])
    return "\n".join(
        "| " + " | ".join(f"{cell:{'<' if i < n_texts else '>'}{widths[i]}}" for i, cell in enumerate(line)) + " |"
        for line in lines
    )


def show_progress(text: str) -> None:
    """Say what is under way, in one line, if somebody is watching; an empty text clears it."""
    if sys.stderr.isatty():
        print(f"\r{text:80}\r", end="", file=sys.stderr, flush=True)


def machine() -> str:
    """Versions, processor and how busy it is with other work, in two lines."""
    load = f", load average {os.getloadavg()[0]:.1f} before" if hasattr(os, "getloadavg") else ""
    return (
        f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__},"
        f" kernelrank {kernelrank.__version__}\n{_processor()}, {os.cpu_count()} hardware threads{load}"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
