"""How to estimate AUC from few rows: the simulation study that section 5.4 of Airola's thesis (2011) summarises.

    [KERNELRANK_DATA=...] python -m experiments.auc_estimation.run [--quick]

Only the part on OHSUMED reads data; without them it is left out.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.auc_estimation import _results, chance, dependent_rows, deviations, intervals, plots, speed
from experiments.study import Run, main

QUICK = 0.0002  # share of the repetitions
readings = _results.readings


def measure(run: Run) -> dict[str, Any]:
    scale = QUICK if run.quick else 1.0
    seconds: dict[str, float] = {}

    def timed(name: str, work: Callable[..., Any], *options: Any) -> Any:
        began = time.perf_counter()
        found = work(*options)
        seconds[name] = time.perf_counter() - began
        return found

    found = timed("deviations", deviations.run, scale, run.jobs)
    mean_aucs = {setting: float(lines[:, 0].mean()) for setting, lines in found["lines"].items()}
    found["coverage"] = timed("intervals", intervals.run, scale, run.jobs, mean_aucs)
    found["tests"] = timed("tests and choices", chance.run, scale, run.jobs)
    with threadpool_limits(limits=1 if run.quick else run.jobs):
        found["dependent"] = timed("dependent rows", dependent_rows.run, run.quick)
    found["speed"] = timed("speed", speed.run, scale)
    return found | {"seconds": seconds}


def report(found: dict[str, Any], run: Run) -> list[str]:
    plots.draw_all(found["lines"], found["coverage"], run.results)
    return _results.write(found, run.jobs)


PARTS = {"results": sys.modules[__name__]}

if __name__ == "__main__":
    main("auc_estimation", __doc__, PARTS)
