"""``kernelrank train`` on a table with numbers, categories and missing values, against reading it with polars.

Run ``python -m benchmarks.tables`` in the folder of the repository; ``--quick`` takes small sizes, to test that
everything runs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone

from benchmarks._timing import best_times
from benchmarks.harness import Bar, bar_table, show_progress, table
from benchmarks.reports import main
from experiments.study import READING, Run, Tables
from kernelrank import RankSVM
from kernelrank.io import load_table
from kernelrank.pipelines import make_table_ranker
from kernelrank.pipelines._fitting import fit_columns

ABOUT = """
A generated CSV file of 6 columns of numbers, 3 of text with 20, 5 and 60 values, one of numbers of which 10 % are
missing, and a target.

*Programs* are processes of their own, in turns, with the time that Python takes to start and to import; the best of
several runs. "polars" reads the file by `polars.read_csv(path)`, which takes the types of the columns from the first
100 rows; "polars, types from all rows" sets `infer_schema_length=None`; "kernelrank train" reads, prepares and trains,
and saves the model; "imports" is what it imports for that, and no more.

*Steps* are those of `kernelrank train` in one process that has been started; "preparing with scikit-learn" is
`fit_transform` of the same columns without the command line's treatment of text.
"""
ROWS, QUICK_ROWS = 1_000_000, 2_000
BAR = 3.0
READ = "import sys, polars; polars.read_csv(sys.argv[1]{})"
READERS = {"polars": "", "polars, types from all rows": ", infer_schema_length=None"}
TRAIN = "kernelrank train"


def write(path: Path, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n_rows, 6))
    texts = {
        "district": ([f"district {k}" for k in range(20)], rng.integers(20, size=n_rows)),
        "colour": (["black", "blue", "green", "red", "white"], rng.integers(5, size=n_rows)),
        "seller": ([f"seller {k:03d}" for k in range(60)], rng.zipf(1.5, size=n_rows).clip(1, 60) - 1),
    }
    age = rng.gamma(2.0, 3.0, size=n_rows).round(3)
    price = numbers @ [1.0, 0.5, -0.5, 0.2, 0.1, 0.0] + 0.1 * age + rng.normal(size=n_rows)
    for values, codes in texts.values():
        price += rng.normal(size=len(values))[codes]
    frame = pl.DataFrame(
        {
            **{f"n{k}": (numbers[:, k] * 10.0**k + 100 * k).round(4) for k in range(6)},
            **{name: np.array(values)[codes] for name, (values, codes) in texts.items()},
            "age": [None if missing else each for missing, each in zip(rng.random(n_rows) < 0.1, age, strict=True)],
            "price": price.round(3),
        }
    )
    frame.write_csv(path)


def programs(path: Path, runs: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the seconds of each program, and what training printed."""
    train = [sys.executable, "-m", "kernelrank", "train", path, "--target", "price", "-o", f"{path}.kr", "--json", "-q"]
    commands: dict[str, list[Any]] = {
        name: [sys.executable, "-c", READ.format(more), path] for name, more in READERS.items()
    }
    commands["imports"] = [sys.executable, "-c", "import polars, kernelrank.cli._train"]
    printed = []

    def call(command: list[Any]) -> None:
        printed[:] = [subprocess.run(command, capture_output=True, text=True, check=True).stdout]

    seconds = best_times(
        {name: lambda command=command: call(command) for name, command in {**commands, TRAIN: train}.items()},
        runs,
        runs,
    )
    call(train)
    return seconds, json.loads(printed[0])


def steps(path: Path) -> dict[str, float]:
    """Return the seconds of each step of training."""
    seconds: dict[str, float] = {}

    def timed(name: str, work: Any) -> Any:
        start = perf_counter()
        found = work()
        seconds[name] = perf_counter() - start
        return found

    rows = timed("reading", lambda: load_table(path, target="price", numeric=False))
    columns = timed("looking at the columns", lambda: make_table_ranker(rows.X))[0]
    X = timed("preparing", lambda: fit_columns(clone(columns), rows.X))
    theirs = timed("preparing with scikit-learn", lambda: clone(columns).fit_transform(rows.X))
    if abs(X - theirs).max() != 0:
        raise SystemExit("scikit-learn prepares other features")
    timed("training", lambda: RankSVM().fit(X, rows.y))
    return seconds


def measure(run: Run) -> dict[str, Any]:
    n_rows = QUICK_ROWS if run.quick else ROWS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        show_progress("writing")
        write(path, n_rows)
        show_progress("programs")
        seconds, printed = programs(path, 1 if run.quick else 5)
        show_progress("steps")
        parts = [steps(path) for _ in range(1 if run.quick else 3)]
        return {
            "rows": n_rows,
            "megabytes": path.stat().st_size / 1e6,
            "programs": seconds,
            "printed": printed,
            "steps": {name: min(part[name] for part in parts) for name in parts[0]},
        }


def report(found: dict[str, Any], _: Run) -> list[str]:
    seconds, printed = found["programs"], found["printed"]
    base = seconds["polars"]
    size = (
        f"{found['rows']:,} rows, {found['megabytes']:.0f} MB; {printed['n_encoded_features']} features after encoding"
    )
    bars = [Bar("seconds of kernelrank train, divided by those of polars", seconds[TRAIN] / base, BAR)]
    return [
        "# Training on tables",
        ABOUT,
        size + f"; {printed['iterations']} iterations to a relative gap of {printed['relative_gap']:.1e}.",
        "## Programs",
        table(("program", "seconds", "x polars"), [(n, f"{s:.2f}", f"{s / base:.2f}") for n, s in seconds.items()]),
        "## Steps",
        table(("step", "seconds"), [(name, f"{each:.2f}") for name, each in found["steps"].items()]),
        READING,
        "## Bars",
        bar_table(bars),
    ]


def readings(tables: Tables) -> list[str]:
    [programs], [steps] = tables["Programs"], tables["Steps"]
    ours, read, imports = (programs.value(name, "seconds") for name in (TRAIN, "polars", "imports"))
    prepare, train = (steps.value(name, "seconds") for name in ("preparing", "training"))
    whole = programs.value("polars, types from all rows", "seconds")
    gain = steps.value("preparing with scikit-learn", "seconds") / prepare
    return [
        f"Training takes {ours / read:.1f} times as long as reading the file by polars. That includes "
        f"{imports / read:.1f} times for imports, scikit-learn above all, and {train / read:.1f} times for training "
        f"one model on one thread. It is {ours / whole:.1f} times as long as reading with the types from all rows, "
        "which `load_table` guarantees: it takes types from the first 10,000 rows, and from all only if later "
        f"ones do not agree. Preparing takes {prepare / read:.1f} times as long as reading; "
        f"scikit-learn's `fit_transform` takes {gain:.1f} times as long for the same features."
    ]


if __name__ == "__main__":
    main(sys.modules[__name__])
