"""Independent tasks in several processes, each with one BLAS thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.harness import show_progress

Task = tuple[Any, ...]


def run_tasks(work: Callable[..., Any], tasks: Sequence[Task], jobs: int) -> dict[Task, Any]:
    """Call a function with the arguments of each task; return the results by task, in the order of the tasks."""
    found = {}
    with ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(_run, work, task): task for task in tasks}
        for done, future in enumerate(as_completed(waiting), 1):
            found[waiting[future]] = future.result()
            show_progress(f"{done} of {len(tasks)} done: {', '.join(map(str, waiting[future]))}")
    return {task: found[task] for task in tasks}


def _run(work: Callable[..., Any], task: Task) -> Any:
    with threadpool_limits(limits=1):  # the processes share the cores
        return work(*task)
