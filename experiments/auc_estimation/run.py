"""How to estimate AUC from few rows: the simulation study that section 5.4 of Airola's thesis (2011) summarises.

    [KERNELRANK_DATA=...] python -m experiments.auc_estimation.run [--quick]

Writes ``results.md`` and its figures beside this file. ``--quick`` does little of everything in less than a minute,
prints the tables, and writes nothing.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.auc_estimation import chance, dependent_rows, deviations, intervals, plots, speed
from experiments.auc_estimation._results import write
from kernelrank.exceptions import PathEndWarning

QUICK = 0.002  # of the repetitions


def main() -> None:
    warnings.simplefilter("ignore", PathEndWarning)  # the grids of alpha are fixed by design
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smoke run: prints, writes nothing")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    arguments = parser.parse_args()
    scale, jobs = QUICK if arguments.quick else 1.0, arguments.jobs
    seconds: dict[str, float] = {}

    def timed(name: str, work: Callable[..., Any], *options: Any) -> Any:
        began = time.perf_counter()
        found = work(*options)
        seconds[name] = time.perf_counter() - began
        return found

    found = timed("deviations", deviations.run, scale, jobs)
    mean_aucs = {setting: float(lines[:, 0].mean()) for setting, lines in found["lines"].items()}
    coverage = timed("intervals", intervals.run, scale, jobs, mean_aucs)
    tests = timed("tests and choices", chance.run, scale, jobs)
    with threadpool_limits(limits=jobs):
        dependent = timed("dependent rows", dependent_rows.run, scale)
    fast = timed("speed", speed.run, scale)
    text = write(found, coverage, tests, dependent, fast, seconds, jobs)
    print(text)
    if arguments.quick:
        with TemporaryDirectory() as folder:
            plots.draw_all(found["lines"], coverage, Path(folder))
        return
    here = Path(__file__).parent
    plots.draw_all(found["lines"], coverage, here)
    (here / "results.md").write_text(text)


if __name__ == "__main__":
    main()
