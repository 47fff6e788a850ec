"""One competitor, one problem, one fresh process: seconds, memory, and the referee's verdict.

``python -m benchmarks.peers.measure JOB``, a job as JSON; the record is the last line printed. A
process of its own gives each fit the same start, a peak of memory that is its own, and an end
when it takes too long.

- ``seconds``: best of several fits; ``convert_seconds``: bringing the arrays into the form that
  the competitor takes, once.
- ``u``: one ``X @ w``, one ``X.T @ g`` and one ``np.argsort`` of as many numbers, in turns with
  the fits.
- ``lower_bound`` of the optimum, from kernelrank's certificate at a hundredth of the usual tolerance.
- ``peak_bytes``: growth of resident memory over the loaded rows, in the first conversion and fit.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks._timing import best_times
from benchmarks.peers.competitors import COMPETITORS, Fitted, Loss, Problem
from benchmarks.peers.referee import Referee
from benchmarks.peers.workloads import Rows, load

_ROOT = Path(__file__).parents[2]
_REPEATED_FOR = 10.0  # seconds: slower fits run once, most others five to fifteen times
_WARM_UP_ROWS = 50
_REFERENCE_TOL = 1e-5
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS"), "1"
)


@dataclass(frozen=True)
class Job:
    """A competitor and a problem."""

    workload: str
    n_rows: int
    alpha: float
    loss: Loss
    competitor: str
    n_threads: int = 1
    processor_time: bool = False  # instead of the clock, for machines that are busy with other work


def measure_apart(job: Job, folder: Path, limit: float) -> dict[str, Any]:
    """Measure in a new process. A record has `status` "ok", "cut off" or "failed"."""
    command = [sys.executable, "-m", "benchmarks.peers.measure", json.dumps({**asdict(job), "folder": str(folder)})]
    try:
        # The working directory is what makes the modules of this folder importable.
        done = subprocess.run(
            command, cwd=_ROOT, env=os.environ | ONE_THREAD, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {**asdict(job), "status": "cut off", "reason": f"more than {limit:g} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {**asdict(job), "status": "failed", "reason": lines[-1]}
    record: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return record


def measure(job: Job, folder: Path, once: bool = False) -> dict[str, Any]:
    """Measure in this process; `once` if the seconds need not be accurate."""
    train, test = load(folder, job.n_rows)
    competitor = COMPETITORS[job.competitor]
    problem = Problem(train, job.alpha, job.loss, job.n_threads)
    _ = problem.n_pairs  # counted here, so that it is part of nobody's time
    _warm_up(job, train)
    clock = process_time if job.processor_time else perf_counter
    memory = PeakMemory()
    start = clock()
    converted = competitor.convert(problem)
    ready = clock()
    fitted = competitor.fit(converted, problem)
    seconds = clock() - ready
    peak_bytes = memory.growth()
    units = unit_tasks(train)
    repeats = 1 if once else int(np.clip(_REPEATED_FOR / seconds, 1, 5))
    again = {"fit": lambda: competitor.fit(converted, problem)} if seconds < _REPEATED_FOR and not once else {}
    best = {"fit": seconds, **best_times({**again, **units}, repeats, 3 * max(repeats, 3), clock)}
    return {
        **asdict(job),
        "status": "ok",
        **judge(Referee(train, test, job.alpha, job.loss), fitted),
        "lower_bound": best_lower_bound(problem) if job.competitor == "kernelrank" else None,
        "seconds": min(seconds, best["fit"]),
        "convert_seconds": ready - start,
        "u": sum(best[name] for name in units),
        "peak_bytes": peak_bytes,
        "n_features": train.X.shape[1],
    }


def judge(referee: Referee, fitted: Fitted) -> dict[str, Any]:
    objective = None if fitted.w is None else referee.objective(fitted.w)
    return {
        "objective": objective,
        "certified_gap": None if fitted.lower_bound is None else objective - fitted.lower_bound,
        "relative_gradient": None if fitted.w is None else referee.relative_gradient(fitted.w),
        "test_error": referee.test_error(fitted),
        "iterations": fitted.iterations,
        "passes": fitted.passes,
        "n_vectors": fitted.n_vectors,
        "converged": fitted.converged,
    }


def best_lower_bound(problem: Problem) -> float | None:
    """Bound the optimum from below, by the certificate of a much more accurate fit."""
    return COMPETITORS["kernelrank"].fit(problem.rows, replace(problem, tol=_REFERENCE_TOL)).lower_bound


def unit_tasks(rows: Rows) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    w, g = rng.normal(size=rows.X.shape[1]), rng.normal(size=len(rows.y))
    scores = rows.X @ w
    return {"X w": lambda: rows.X @ w, "X' g": lambda: rows.X.T @ g, "sort": lambda: np.argsort(scores)}


def _warm_up(job: Job, rows: Rows) -> None:
    """Fit a few rows, so that modules loaded at the first use count for neither time nor memory."""
    few = Rows(*(None if part is None else part[:_WARM_UP_ROWS] for part in rows))
    problem = Problem(few, job.alpha, job.loss, job.n_threads)
    competitor = COMPETITORS[job.competitor]
    competitor.fit(competitor.convert(problem), problem)


class PeakMemory:
    """Growth of the peak of resident memory since the object was made; None without /proc."""

    def __init__(self) -> None:
        try:
            # What earlier work freed must go back, or it would be taken again without being seen.
            ctypes.CDLL(None).malloc_trim(0)
            Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
            self._before: int | None = _status("VmRSS")
        except (OSError, AttributeError):
            self._before = None

    def growth(self) -> int | None:
        """Return the growth in bytes."""
        return None if self._before is None else _status("VmHWM") - self._before


def _status(field: str) -> int:
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.split(f"{field}:")[1].split()[0])


def main() -> None:
    job = json.loads(sys.argv[1])
    folder = Path(job.pop("folder"))
    with threadpool_limits(limits=1):
        print(json.dumps(measure(Job(**job), folder)))


if __name__ == "__main__":
    main()
