"""How many threads to use, and keeping BLAS to one of them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import joblib
from threadpoolctl import ThreadpoolController


def resolve_threads(n_jobs: int | None) -> int:
    """Turn scikit-learn's n_jobs into a number of threads."""
    return int(joblib.effective_n_jobs(n_jobs))


def single_threaded_blas() -> AbstractContextManager[Any]:
    """Keep BLAS from splitting sums by the number of its threads: results would depend on it.

    Threads are used above BLAS instead, on fixed blocks of rows.
    """
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looks through all loaded libraries: once is enough
