"""Rankers on Dask beside each other, where data or workers are not as they should be.

Run ``python -m benchmarks.peers.dask_rankers`` in the folder of the repository; ``--quick`` runs one probe.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import psutil

from benchmarks.harness import show_progress, table, versions
from benchmarks.peers.dask_probes import CLEAR, HANG, KILL_AFTER, OBSCURE, PROBES, RIGHT, SETTLED, TOLERANCE, WRONG
from benchmarks.reports import main
from experiments.study import READING, Run, Tables, as_list

ROOT = Path(__file__).parents[2]
DEADLINE = 60
NOT_MEASURED, UNFINISHED = "not measured", "not finished"
TITLE = "# Rankers on Dask"
ABOUT = f"""
`kernelrank.dask.RankSVM`, XGBoost's `DaskXGBRanker` and LightGBM's `DaskLGBMRanker`, each in a new process with a new
cluster of two workers, which is stopped after {DEADLINE} seconds. This is about interfaces and failures, not about
speed or the quality of models: the first is linear, the others are trees.

- *{RIGHT}*: the test error is at most {TOLERANCE:g} above that of the same ranker in memory, on the same rows with
  whole queries. For three fits: the scores are the same to the last bit.
- *{WRONG}*: it is larger, and there was no error; or there is a model where nothing can be learnt.
- *{CLEAR}*: the message names the cause. *{OBSCURE}*: it does not. The messages are below.
- *{HANG}*: neither a model nor an error after {DEADLINE} seconds, and no process works. *{UNFINISHED}*: some process
  works.
- Ctrl-C comes {KILL_AFTER:.0f} seconds after the fit begins; *{CLEAR}* is a KeyboardInterrupt and workers that are free
  within {SETTLED:.0f} seconds, *{OBSCURE}* one and workers that are not.
- SIGKILL comes after as many seconds, and the cluster starts another worker. Fits are made long enough: 1,000 trees on
  320,000 rows, and a tolerance of 1e-12 on 2,400,000 rows.
- *queries split between partitions*: each query has two rows, one in each of two partitions. LightGBM takes sizes of
  queries for each partition, and no ids; it is given those of the partitions.
- XGBoost brings queries together only for data frames; it is given data frames, but arrays where chunks are sparse.
"""
MODULES = {"kernelrank": "kernelrank", "XGBoost": "xgboost", "LightGBM": "lightgbm"}
PACKAGES = ("dask", "distributed", "xgboost", "lightgbm")
QUICK = ("NaN in X",)
OBSERVED, BUSY = 2.0, 0.3  # seconds, processors
LENGTH = 220  # of a message


class Line(NamedTuple):
    """The outcome of a probe of a ranker."""

    probe: str
    who: str
    outcome: str
    detail: str
    seconds: float


def probe_apart(probe: str, who: str) -> Line:
    """Run a probe in a new process group, and end all of it at the deadline."""
    show_progress(f"{who}: {probe}")
    command = [sys.executable, "-m", "benchmarks.peers.dask_probes", probe, who]
    start = perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    found, errors = None, ""
    try:
        output, errors = process.communicate(timeout=DEADLINE)
        found = finding_in(output)
    except subprocess.TimeoutExpired as late:
        found = finding_in((late.stdout or b"").decode()) or state_of(process.pid)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()  # closes the pipes
    last = (errors.strip().splitlines() or [""])[-1]
    if found is None and re.search(r"MistakeError|ModuleNotFoundError|ImportError", errors):
        found = {"outcome": NOT_MEASURED, "detail": last}
    if found is None:
        found = {"outcome": OBSCURE, "detail": f"the process of the user ended with {process.returncode}: {last}"}
    return Line(probe, who, found["outcome"], found["detail"], perf_counter() - start)


def state_of(pid: int) -> dict[str, str]:
    """Return whether a process that is late works, or one that it started."""
    used = []
    for _ in range(2):
        seconds = 0.0
        for each in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
            with suppress(psutil.Error):  # it has ended
                seconds += sum(each.cpu_times()[:2])
        used.append(seconds)
        time.sleep(OBSERVED)
    share = (used[1] - used[0]) / OBSERVED
    detail = f"after {DEADLINE} s, using {share:.1f} processors"
    return {"outcome": UNFINISHED if share > BUSY else HANG, "detail": detail}


def finding_in(output: str) -> dict[str, str] | None:
    """Return the finding, which may be there although the process did not end."""
    lines = [line for line in output.splitlines() if line.startswith('{"outcome"')]
    return dict(json.loads(lines[-1])) if lines else None


def measure(run: Run) -> tuple[list[Line], list[str]]:
    """Return the outcomes, and the rankers that are left out."""
    rankers = [who for who, module in MODULES.items() if importlib.util.find_spec(module)]
    notes = [f"{who} is left out: it is not installed." for who in MODULES if who not in rankers]
    probes = QUICK if run.quick else tuple(PROBES)
    return [probe_apart(probe, who) for probe in probes for who in rankers], notes


def as_cell(detail: str) -> str:
    text = detail.replace("|", "/").replace("`", "'").replace(str(Path.home()), "~")
    return text if len(text) <= LENGTH else f"{text[:LENGTH]} ..."


def report(found: tuple[list[Line], list[str]], _: Run) -> list[str]:
    lines, notes = found
    rankers = list(dict.fromkeys(line.who for line in lines))
    outcomes = {(line.probe, line.who): line.outcome for line in lines}
    cells = [
        [probe, *(outcomes[probe, who] for who in rankers)] for probe in dict.fromkeys(line.probe for line in lines)
    ]
    details = [(line.probe, line.who, f"{line.seconds:.0f}", as_cell(line.detail)) for line in lines]
    return [
        *(
            TITLE,
            versions(PACKAGES),
            ABOUT,
            table(("probe", *rankers), cells, n_texts=1 + len(rankers)),
            as_list(notes),
        ),
        *(READING, "## Messages", table(("probe", "who", "seconds", "found"), details, n_texts=4)),
    ]


def readings(tables: Tables) -> list[str]:
    [outcomes] = tables[TITLE.strip("# ")]
    pieces = []
    for who in list(outcomes[0])[1:]:
        counts = Counter(row[who] for row in outcomes)
        names = (RIGHT, CLEAR, WRONG, OBSCURE, HANG, UNFINISHED, NOT_MEASURED)
        pieces.append(f"{who}: " + ", ".join(f"{counts[name]} {name}" for name in names if counts[name]))
    return [f"Of {len(outcomes)} probes, {'; '.join(pieces)}."]


if __name__ == "__main__":
    main(sys.modules[__name__])
