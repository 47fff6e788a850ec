"""How many threads to use."""

from __future__ import annotations

from functools import cache

import joblib
from threadpoolctl import ThreadpoolController

from kernelrank._rules import N_JOBS


def resolve_threads(n_jobs: int | None) -> int:
    """Turn scikit-learn's n_jobs into a number of threads."""
    N_JOBS("n_jobs", n_jobs)
    return int(joblib.effective_n_jobs(n_jobs))


def blas_threads() -> int:
    """Return how many threads BLAS may use, as the environment, threadpoolctl or joblib have set it.

    What has no ``n_jobs`` uses as many, as if it were BLAS. The number is never set here: it is one for the whole
    process, and threadpoolctl lets only one thread of a process change it.
    """
    return max((each.get_num_threads() or 1 for each in _blas().lib_controllers), default=1)


@cache
def _blas() -> ThreadpoolController:
    # Looks through all loaded libraries: once is enough.
    return ThreadpoolController().select(user_api="blas")
