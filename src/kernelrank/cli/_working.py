"""Progress of long work, on terminals only."""

from __future__ import annotations

import argparse
import sys
from threading import Event, Thread
from time import monotonic
from types import TracebackType
from typing import Any, Self

from kernelrank._progress import FitProgress, FoldProgress, Progress, duration

PATIENCE = 2.0  # seconds of work without a display
_PERIOD = 0.5  # seconds between updates


def on_terminal(args: argparse.Namespace) -> bool:
    """Return whether a command shows progress: on a terminal, unless it is told to be quiet."""
    return not args.quiet and sys.stderr.isatty()


def bar_of_rows(args: argparse.Namespace) -> Progress:
    """Return a display for a command that says itself what is done."""
    return Progress(on_terminal(args), patience=PATIENCE)


def bar_of_folds(args: argparse.Namespace) -> FoldProgress:
    """Return a display of the number of completed fits."""
    return FoldProgress(on_terminal(args), patience=PATIENCE)


class Working(Progress):
    """Display of the elapsed time of work that cannot say how much of it is done.

    Parameters
    ----------
    shown : bool
        Whether to show it.
    what : str
        Description of the work.
    """

    def __init__(self, shown: bool, what: str) -> None:
        super().__init__(shown, patience=PATIENCE)
        self._what, self._done, self._start = what, Event(), monotonic()
        self._thread = Thread(target=self._tell, daemon=True) if shown else None

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        super().__exit__(kind, error, trace)

    def _tell(self) -> None:
        while not self._done.wait(_PERIOD):
            self.show(None, f"{self._what}, {duration(monotonic() - self._start)}")


def progress_of(model: Any, shown: bool) -> FitProgress | FoldProgress | Working:
    """Return the display for the fit of an estimator, which is its ``verbose`` if it has one."""
    if "verbose" not in model.get_params(deep=False):
        return Working(shown, "training")
    if hasattr(model, "alphas"):
        return FoldProgress(shown, patience=PATIENCE)
    if hasattr(model, "n_features"):
        return FoldProgress(shown, patience=PATIENCE, what="features")
    return FitProgress(shown, patience=PATIENCE)
