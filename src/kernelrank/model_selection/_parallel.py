"""Many fits, several at a time, with a word on how long they take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

import joblib

from kernelrank._progress import FoldProgress, duration
from kernelrank._warnings import Recorded, record, warn_once

Result = TypeVar("Result")

_TIMED = 3  # of the first fits, the fastest: what is done once, as imports, does not count
_SHORT = 2.0  # seconds: work that is done before its progress can be read


def run_in_parallel(
    function: Callable[..., Result],
    arguments: Iterable[tuple[Any, ...]],
    total: int,
    *,
    n_jobs: int | None,
    verbose: int,
    what: str,
) -> Iterator[Result]:
    """Yield the results of a function for all arguments, in their order; these are only drawn as they are needed.

    Warnings of the function are shown in the end, one of each kind and how many there were.
    """
    rest, fastest, recorded = iter(arguments), float("inf"), list[Recorded]()
    for each in islice(rest, _TIMED):
        started = time.perf_counter()
        found, warned = record(function, *each)
        fastest = min(fastest, time.perf_counter() - started)
        recorded += warned
        yield found
    if total > _TIMED:
        seconds = fastest * total / joblib.effective_n_jobs(n_jobs)
        with FoldProgress(bool(verbose) and seconds > _SHORT) as progress:
            progress.show(0.0, f"{total:,} {what}, about {duration(seconds)}")
            work = joblib.Parallel(n_jobs=n_jobs, return_as="generator")
            calls = (joblib.delayed(record)(function, *each) for each in rest)
            for done, (found, warned) in enumerate(work(calls), _TIMED + 1):
                recorded += warned
                progress(done, total)
                yield found
    warn_once(recorded, f"{total:,} {what}")
