"""How many threads to use, and keeping BLAS to one of them."""

from __future__ import annotations

import threading
from functools import cache

import joblib
from threadpoolctl import ThreadpoolController

from kernelrank._rules import N_JOBS


def resolve_threads(n_jobs: int | None) -> int:
    """Turn scikit-learn's n_jobs into a number of threads."""
    N_JOBS("n_jobs", n_jobs)
    return int(joblib.effective_n_jobs(n_jobs))


class _SingleThreadedBlas:
    """Limits BLAS while anybody is inside; fits of several threads may overlap."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


# Keeps BLAS from splitting sums by the number of its threads: results would depend on it.
# Threads are used above BLAS instead, on fixed blocks of rows.
single_threaded_blas = _SingleThreadedBlas()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looks through all loaded libraries: once is enough
