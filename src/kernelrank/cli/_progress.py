"""Progress of long work: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import shutil
import sys
import time
from types import TracebackType
from typing import Any, Self, TextIO

_WIDTH = 24
_SECONDS_BETWEEN_LINES = 1.0


class Progress:
    """Shows how far something is.

    On a terminal one line is written again and again, and goes away at the end; in a pipe or a
    file there is a new line at most every second.

    Parameters
    ----------
    shown : bool
        Whether to show anything at all.
    stream : file object, optional
        Standard error by default: standard output is for results.
    """

    def __init__(self, shown: bool = True, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._shown, self._terminal = shown, self._stream.isatty()
        self._last = -math.inf
        self._untold: str | None = None  # the newest text, if it was not shown

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
            self._stream.write(f"{self._untold}\n")  # a log ends with how it ended
        self._stream.flush()

    def show(self, share: float, text: str) -> None:
        """Show the share that is done, from 0 to 1, and a text."""
        now = time.monotonic()
        self._untold = text
        if not self._shown or (not self._terminal and now - self._last < _SECONDS_BETWEEN_LINES):
            return
        self._last, self._untold = now, None
        if self._terminal:
            full = round(_WIDTH * min(max(share, 0.0), 1.0))
            line = f"[{'#' * full}{'.' * (_WIDTH - full)}] {text}"
            # A line that wraps could not be written over.
            self._stream.write(f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K")
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()


class FitProgress(Progress):
    """Shows how a fit approaches its tolerance; an estimator calls it as its ``verbose``.

    Parameters
    ----------
    tol : float
        The gap to be reached.
    shown, stream
        As for :class:`Progress`.
    """

    def __init__(self, tol: float, shown: bool = True, stream: TextIO | None = None) -> None:
        super().__init__(shown, stream)
        self._tol, self._share = tol, 0.0

    def __call__(self, record: Any) -> None:
        """Show a record of ``history_``."""
        gap = max(float(record["upper_bound"] - record["lower_bound"]), 1e-300)
        # Gaps fall by factors, from about 1 to tol.
        self._share = max(self._share, math.log(gap) / math.log(self._tol) if self._tol < 1 else 0.0)
        self.show(
            self._share,
            f"objective {record['upper_bound']:.6f}  gap {gap:.1e} of {self._tol:.1e}  {record['seconds']:.1f} s",
        )


class FoldProgress(Progress):
    """Shows how many of the fits of a cross-validation are done."""

    def __call__(self, done: int, total: int) -> None:
        """Show that so many are done."""
        self.show(done / total, f"{done} of {total} fits")
