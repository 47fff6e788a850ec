"""RankRLS and RLScore on the same rows, on the same machine.

RLScore has an environment of its own, ``.venv-rlscore``, because its release compiles with Python 3.6 only: ``make
bench-rlscore`` makes it and runs this. ``rlscore_tasks.py`` is what runs inside it.

Run ``python -m benchmarks.peers.rlscore`` in the folder of the repository; ``--quick`` takes small sizes, to test that
everything runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import MissingDataError, show_progress, table
from benchmarks.peers.least_squares import ALPHA, GRID, KERNEL, make_rows
from benchmarks.peers.measure import ONE_THREAD
from benchmarks.reports import main
from experiments.study import READING, Run, Tables, as_list, span
from kernelrank import RankRLS, RankRLSCV
from kernelrank.exceptions import PathEndWarning

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-rlscore" / "bin" / "python"
TITLE = "# RankRLS and RLScore"
ABOUT = """
The same tasks on the same rows, one after the other, each once and with one thread. The kernel is Gaussian. *one fit*:
`GlobalRankRLS` decomposes the kernel matrix, `RankRLS` takes a Cholesky factor of it. *all pairs left out*: predictions
for every pair of rows, after the fit and the decomposition; the script fails if those of the two packages differ.
*20 alphas*: `LeavePairOutRankRLS` and `LeaveQueryOutRankRLS`, beside `RankRLSCV`, everything included; the alphas of
leave-query-out have other scales, on which the time does not depend.
"""
HEADING = ("what", "rows", "kernelrank s", "RLScore s", "times as long")
AGREEMENT = 1e-6  # of the spread of the predictions


class Task(NamedTuple):
    """Task of both packages, and its number of rows."""

    what: str
    n_rows: int


TASKS = (
    Task("one fit", 2_000),
    Task("all pairs left out", 1_000),
    Task("all pairs left out", 2_000),
    Task("leave-pair-out, 20 alphas", 500),
    Task("leave-query-out, 20 alphas", 2_000),
)
QUICK = tuple(Task(what, 60) for what in dict.fromkeys(task.what for task in TASKS))


def ours(task: Task) -> tuple[float, Any]:
    """Return the seconds of kernelrank, and the predictions for left-out pairs."""
    X, y, qid = make_rows(task.n_rows)
    start = perf_counter()
    if task.what.endswith("20 alphas"):
        by_query = task.what.startswith("leave-query-out")
        model = RankRLSCV(GRID, cv="leave-query-out" if by_query else "leave-pair-out", kernel=KERNEL)
        model.fit(X, y, qid=qid if by_query else None)
        return perf_counter() - start, None
    model = RankRLS(ALPHA, kernel=KERNEL).fit(X, y)
    if task.what == "one fit":
        return perf_counter() - start, None
    model.path([ALPHA])  # the decomposition is made here
    start = perf_counter()
    F = model.leave_pair_out()
    return perf_counter() - start, F


def for_rlscore(task: Task, folder: Path) -> dict[str, Any]:
    """Save the rows, and return the task as its script takes it."""
    X, y, qid = make_rows(task.n_rows)
    path = folder / f"rows-{task.n_rows}.npz"
    np.savez(path, X=X, y=y, qid=np.asarray(qid))
    # Its penalty is a sum over pairs. A hold-out keeps the sum, here that of all pairs without two rows.
    alphas = GRID if task.what.endswith("20 alphas") else np.array([ALPHA])
    pairs = (task.n_rows - 2) ** 2 / 2
    return {"what": task.what, "rows": path.name, "gamma": KERNEL.gamma, "regparams": list(alphas * pairs)}


def check(F: Any, theirs: np.ndarray) -> float:
    """Return the largest difference of predictions, relative to their spread; fail if it is large."""
    first, second = np.triu_indices(len(F), 1)
    expected = np.array([F[first, second] - F[second, first]])
    found = theirs[0] - theirs[1]  # a ranking is determined up to a constant
    difference = float(np.max(np.abs(found - expected)) / np.std(expected))
    assert difference < AGREEMENT, f"predictions differ by {difference:.1e} of their spread"
    return difference


def measure(run: Run) -> tuple[list[list[str]], str, float]:
    """Return the lines of the table, the versions, and the largest difference of predictions."""
    if not PYTHON.exists():
        raise MissingDataError("needs RLScore in .venv-rlscore, which `make bench-rlscore` makes")
    warnings.simplefilter("ignore", PathEndWarning)  # the grids of alpha are fixed by design
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"  # what joblib, which we ask for the number of threads, takes for all cores
    tasks, lines, differences = (QUICK if run.quick else TASKS), [], []
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "tasks.json").write_text(json.dumps([for_rlscore(task, folder) for task in tasks]))
        show_progress("RLScore")
        command = [str(PYTHON), "-W", "ignore", "-m", "benchmarks.peers.rlscore_tasks", temporary]
        subprocess.run(command, cwd=ROOT, env=os.environ | ONE_THREAD, check=True, stdout=subprocess.DEVNULL)
        found = json.loads((folder / "found.json").read_text())
        for number, (task, theirs) in enumerate(zip(tasks, found["seconds"], strict=True)):
            show_progress(f"kernelrank: {task.what}, {task.n_rows:,} rows")
            seconds, F = ours(task)
            if F is not None:
                differences.append(check(F, np.load(folder / f"predictions-{number}.npy")))
            ratio = f"{theirs / seconds:,.1f}"
            lines.append([task.what, f"{task.n_rows:,}", f"{seconds:.3g}", f"{theirs:.3g}", ratio])
    return lines, found["versions"], max(differences)


def report(found: tuple[list[list[str]], str, float], _: Run) -> list[str]:
    lines, versions, difference = found
    agree = f"Differences of the predictions for two left-out rows agree to {difference:.0e} of their spread."
    return [TITLE, as_list([versions]), ABOUT, table(HEADING, lines), as_list([agree]), READING]


def readings(tables: Tables) -> list[str]:
    [lines] = tables[TITLE.strip("# ")]
    ratios = {row["what"]: span(lines.select(what=row["what"]).column("times as long"), ",.1f") for row in lines}
    return ["RLScore takes " + ", ".join(f"{ratio} times as long for {what!r}" for what, ratio in ratios.items()) + "."]


if __name__ == "__main__":
    main(sys.modules[__name__])
