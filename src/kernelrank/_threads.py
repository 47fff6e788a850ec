"""Number of threads."""

from __future__ import annotations

from functools import cache

import joblib
from threadpoolctl import ThreadpoolController

from kernelrank._rules import N_JOBS


def resolve_threads(n_jobs: int | None) -> int:
    """Convert scikit-learn's n_jobs to a number of threads."""
    N_JOBS("n_jobs", n_jobs)
    return int(joblib.effective_n_jobs(n_jobs))


def blas_threads() -> int:
    """Return the number of BLAS threads, as set by the environment, threadpoolctl or joblib.

    Functions without ``n_jobs`` use the same number. It is never set here: it applies to the whole process, and
    threadpoolctl lets only one thread of a process change it.
    """
    return max((each.get_num_threads() or 1 for each in _blas().lib_controllers), default=1)


@cache
def _blas() -> ThreadpoolController:
    # Cached, as it searches all loaded libraries.
    return ThreadpoolController().select(user_api="blas")
