"""Timing of tasks and of the parts of a task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from time import perf_counter
from typing import Any

_SLOW = 0.5  # seconds: such a task is not repeated more often than it must be


def best_times(
    tasks: dict[str, Callable[[], Any]],
    at_least: int = 5,
    at_most: int = 15,
    clock: Callable[[], float] = perf_counter,
) -> dict[str, float]:
    """Return the least seconds of each task; with ``time.process_time`` as `clock`, of the processor.

    The tasks take turns, so that a disturbance affects all of them. Every other turn is in reverse order, so that no
    task always profits from the memory that the one before it freed.
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
