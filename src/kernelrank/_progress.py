"""Progress of long computations: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import shutil
import sys
from time import monotonic
from types import TracebackType
from typing import Any, Self, TextIO

_WIDTH = 24
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds between lines


class Progress:
    """Display of progress.

    On a terminal, a single line is overwritten and disappears at the end. In a pipe, a file or a notebook, new lines
    are written at increasing intervals: after one second, after two more, and so on, up to one per minute.

    Parameters
    ----------
    shown : bool
        Whether to show progress.
    stream : file object, optional
        Standard error by default, as standard output is for results.
    patience : float, default=0
        Seconds before anything is shown, so that short work shows nothing.
    """

    def __init__(self, shown: bool = True, stream: TextIO | None = None, patience: float = 0.0) -> None:
        self._stream = stream or sys.stderr
        self._since = monotonic() + patience
        self._shown, self._terminal = shown, shown and self._stream.isatty()
        self._last, self._pause = -math.inf, _FIRST_PAUSE
        self._untold: str | None = None  # the latest text, if it was not shown

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._shown or self._last == -math.inf:
            return
        if self._terminal:
            self._stream.write("\r\x1b[K")
        elif self._untold is not None:
            self._stream.write(f"{self._untold}\n")  # a log ends with the final state
        self._stream.flush()

    def show(self, share: float | None, text: str) -> None:
        """Show the completed share, from 0 to 1 or None if it is not known, and a text."""
        now = monotonic()
        self._untold = text
        if not self._shown or now < self._since or (not self._terminal and now - self._last < self._pause):
            return
        if self._last > -math.inf:
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        self._last, self._untold = now, None
        if self._terminal:
            line = text if share is None else f"{_bar(share)} {text}"
            # A line that wraps could not be overwritten.
            self._stream.write(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K")
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()


def _bar(share: float) -> str:
    full = round(_WIDTH * min(max(share, 0.0), 1.0))
    return f"[{'#' * full}{'.' * (_WIDTH - full)}]"


class FitProgress(Progress):
    """Progress of a fit towards its tolerance; an estimator calls it as its ``verbose``.

    Parameters
    ----------
    shown, stream, patience
        As for :class:`Progress`.
    """

    def __init__(self, shown: bool = True, stream: TextIO | None = None, patience: float = 0.0) -> None:
        super().__init__(shown, stream, patience)
        self._share = 0.0

    def __call__(self, record: Any) -> None:
        """Show a record of ``history_``."""
        gap, goal = float(record["upper_bound"] - record["lower_bound"]), float(record["goal"])
        # Gaps decrease geometrically, from about 1 to the goal, which may decrease with the objective.
        if goal < 1:
            self._share = max(self._share, math.log(max(gap, goal)) / math.log(goal))
        self.show(
            self._share,
            f"objective {record['upper_bound']:.6f}  gap {gap:.1e} of {goal:.1e}  {record['seconds']:.1f} s",
        )


class FoldProgress(Progress):
    """Number of completed fits of a cross-validation, or of other steps, and the estimated remaining time.

    Timing restarts if the number of completed fits decreases or the total changes.

    Parameters
    ----------
    shown, stream, patience
        As for :class:`Progress`.
    what : str, default="fits"
        Name of the steps.

    Attributes
    ----------
    done : int
        Number of completed fits.
    """

    def __init__(
        self, shown: bool = True, stream: TextIO | None = None, patience: float = 0.0, what: str = "fits"
    ) -> None:
        super().__init__(shown, stream, patience)
        self._began = self._told = monotonic()
        self.done, self._total, self._what = 0, 0, what

    def __call__(self, done: int, total: int) -> None:
        """Show the number of completed fits."""
        if done < self.done or total != self._total:
            self._began = self._told
        self.done, self._total, self._told = done, total, monotonic()
        text = f"{done:,} of {total:,} {self._what}"
        left = (total - done) * (self._told - self._began) / done if done else 0.0
        self.show(done / total, f"{text}, about {duration(left)} left" if left >= 1 else text)


def duration(seconds: float) -> str:
    """Format a duration in a suitable unit."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:,.0f} h"
