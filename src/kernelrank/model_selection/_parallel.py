"""Many fits in parallel, with progress and an estimate of the time they take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

import joblib

from kernelrank._progress import FoldProgress, duration
from kernelrank._warnings import Recorded, record, warn_once

Result = TypeVar("Result")

_TIMED = 3  # first fits, of which the fastest is the estimate: imports and the like happen once
_SHORT = 2.0  # seconds; shorter work shows no progress


def run_in_parallel(
    function: Callable[..., Result],
    arguments: Iterable[tuple[Any, ...]],
    total: int,
    *,
    n_jobs: int | None,
    verbose: int,
    what: str,
    expected: tuple[float, str] | None = None,
) -> Iterator[Result]:
    """Yield the results of a function for all arguments, in their order; `arguments` is consumed as needed.

    Warnings of the function are shown at the end: one of each kind, with their number. `expected` is the time of all
    calls, if it is known, and a text that is shown before they begin.
    """
    rest, fastest, recorded = iter(arguments), float("inf"), list[Recorded]()
    n_timed = _TIMED if expected is None else 0
    for each in islice(rest, n_timed):
        started = time.perf_counter()
        found, warned = record(function, *each)
        fastest = min(fastest, time.perf_counter() - started)
        recorded += warned
        yield found
    if total > n_timed:
        seconds = fastest * total / joblib.effective_n_jobs(n_jobs)
        seconds, text = expected or (seconds, f"{total:,} {what}, about {duration(seconds)}")
        with FoldProgress(bool(verbose) and seconds > _SHORT, what=what.partition(" ")[0]) as progress:
            progress.show(0.0, text)
            work = joblib.Parallel(n_jobs=n_jobs, return_as="generator")
            calls = (joblib.delayed(record)(function, *each) for each in rest)
            for done, (found, warned) in enumerate(work(calls), n_timed + 1):
                recorded += warned
                progress(done, total)
                yield found
    warn_once(recorded, f"{total:,} {what}")
