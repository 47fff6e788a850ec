"""Long calls that Ctrl-C need not wait for: they return, raise and warn as if they were made at once."""

import signal
import threading
import time

import numpy as np
import pytest

from kernelrank._interrupt import interruptible

LONG = 1e12


def test_results_and_errors_come_back():
    assert interruptible(lambda: 7, LONG) == 7

    def fail():
        raise np.linalg.LinAlgError("singular")

    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        interruptible(fail, LONG)


def test_short_work_and_work_of_other_threads_is_done_at_once():
    assert interruptible(threading.current_thread, 1.0) is threading.current_thread()
    assert interruptible(threading.current_thread, LONG) is not threading.current_thread()
    found = []
    thread = threading.Thread(target=lambda: found.append(interruptible(threading.current_thread, LONG)))
    thread.start()
    thread.join()
    assert found == [thread]


def test_the_error_state_of_numpy_is_the_callers():
    with np.errstate(over="ignore"):
        assert interruptible(lambda: np.float64(1e300) * 1e300, LONG) == np.inf
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        interruptible(lambda: np.float64(1e300) * 1e300, LONG)


def test_the_wait_is_interrupted():
    ended = threading.Event()

    def work():
        time.sleep(1.5)
        ended.set()

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.1, lambda: signal.raise_signal(signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            interruptible(work, LONG)
        assert not ended.is_set()
        assert ended.wait(60)  # in the background
    finally:
        signal.signal(signal.SIGINT, handler)
