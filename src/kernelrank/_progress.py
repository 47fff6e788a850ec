"""Progress of long computations: a bar on a terminal or in a notebook, plain lines elsewhere."""

from __future__ import annotations

import math
import shutil
import sys
from time import monotonic
from types import TracebackType
from typing import Any, NamedTuple, Self, TextIO

_WIDTH = 24


class _Pace(NamedTuple):
    """Seconds between updates, which increase from the first to the longest pause by a factor."""

    first: float
    factor: float
    longest: float


_TERMINAL = _Pace(0.0, 1.0, 0.0)
# An update is a message to the browser, and all of them stay in a notebook that is executed without one: ten per second
# at first, one per second after a minute and a half, and one in ten seconds after a quarter of an hour.
_NOTEBOOK = _Pace(0.1, 1.01, 10.0)
_LINES = _Pace(1.0, 2.0, 60.0)


class Progress:
    """Display of progress.

    On a terminal, a single line is overwritten and disappears at the end. In a notebook, a single line is overwritten
    up to ten times per second, and its final state stays. In a pipe or a file, new lines are written at increasing
    intervals: after one second, after two more, and so on, up to one per minute.

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
        self._shown = shown
        self._notebook = shown and in_notebook(self._stream)
        self._terminal = shown and not self._notebook and self._stream.isatty()
        self._pace = _NOTEBOOK if self._notebook else _TERMINAL if self._terminal else _LINES
        self._last, self._pause = -math.inf, self._pace.first
        self._untold: tuple[float | None, str] | None = None  # the latest state, if it was not shown
        self._length = 0  # of the line that is to be overwritten

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._shown or self._last == -math.inf:
            return
        if self._terminal:
            self._stream.write("\r\x1b[K")
        else:
            # A log ends with the final state. So does a notebook: it is read again when the work is over, and without
            # the text, an empty box of standard error would remain.
            if self._untold is not None:
                self._write(*self._untold)
            if self._notebook:
                self._stream.write("\n")
        self._stream.flush()

    def show(self, share: float | None, text: str) -> None:
        """Show the completed share, from 0 to 1 or None if it is not known, and a text."""
        now = monotonic()
        self._untold = share, text
        if not self._shown or now < self._since or now - self._last < self._pause:
            return
        if self._last > -math.inf:
            self._pause = min(self._pace.factor * self._pause, self._pace.longest)
        self._last, self._untold = now, None
        self._write(share, text)
        self._stream.flush()

    def _write(self, share: float | None, text: str) -> None:
        line = text if share is None else f"{_bar(share)} {text}"
        if self._terminal:
            # A line that wraps could not be overwritten.
            self._stream.write(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K")
        elif self._notebook:
            # Some notebooks do not know the code that erases the rest of a line; spaces do it in all of them.
            again = "\r" if self._length else ""
            self._stream.write(again + line.ljust(self._length))
            self._length = len(line)
        else:
            self._stream.write(f"{text}\n")


def in_notebook(stream: Any) -> bool:
    """Return whether a stream is shown by a notebook, which obeys carriage returns though it is not a terminal."""
    return type(stream).__module__.partition(".")[0] == "ipykernel"


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
