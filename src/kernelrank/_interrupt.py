"""Long calls of BLAS and LAPACK that Ctrl-C need not wait for.

Python handles Ctrl-C between two of its own instructions, and a decomposition of a large matrix is one instruction.
Such a call is made by another thread, for which the main thread waits; the wait can be interrupted. The call itself
cannot: it ends in the background, and its result is dropped. At most one call per interrupt goes on like that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")

_LONG = 1e9  # floating-point operations: a few hundredths of a second
_PAUSE = 1.0  # seconds between two looks for a signal, where the operating system does not interrupt a wait


def interruptible(work: Callable[[], T], n_flops: float) -> T:
    """Return what `work` returns; Ctrl-C ends the wait for it.

    Parameters
    ----------
    work : callable
        It must not change anything that is used after an interrupt.
    n_flops : float
        About how many floating-point operations it takes; short work is done at once. So is work of another thread
        than the main one, which no Ctrl-C reaches.
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

    # No daemon: BLAS must not be taken down while it computes, so leaving the program waits for the call. Error states
    # of NumPy are those of the context.
    threading.Thread(target=copy_context().run, args=(run,)).start()
    while not done.wait(_PAUSE):
        pass
    if "error" in outcome:
        raise outcome["error"]
    value: T = outcome["value"]
    return value
