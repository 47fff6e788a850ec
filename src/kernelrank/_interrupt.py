"""Interruptible calls of BLAS and LAPACK.

Python handles Ctrl-C between two of its own instructions, and the decomposition of a large matrix is one instruction.
Such a call runs in another thread, for which the main thread waits; the wait can be interrupted. The call itself cannot
be interrupted: it finishes in the background, and its result is discarded. There is at most one such call per
interrupt.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")

_LONG = 1e9  # floating-point operations, a few hundredths of a second
_PAUSE = 1.0  # seconds between checks for a signal, if the operating system does not interrupt a wait


def interruptible(work: Callable[[], T], n_flops: float) -> T:
    """Return the result of `work`; Ctrl-C ends the wait for it.

    Parameters
    ----------
    work : callable
        Function without side effects on anything that is used after an interrupt.
    n_flops : float
        Approximate number of floating-point operations. Short work, and work outside the main thread, which Ctrl-C does
        not reach, is done directly.
    """
    if n_flops < _LONG or threading.current_thread() is not threading.main_thread():
        return work()
    outcome: dict[str, Any] = {}
    done = threading.Event()

    def run() -> None:
        try:
            outcome["value"] = work()
        except BaseException as error:
            outcome["error"] = error
        done.set()

    # Not a daemon: BLAS must not be stopped while it computes, so the program waits for the call at exit. The context
    # carries the error state of NumPy.
    threading.Thread(target=copy_context().run, args=(run,)).start()
    while not done.wait(_PAUSE):
        pass
    if "error" in outcome:
        raise outcome["error"]
    value: T = outcome["value"]
    return value
