"""Reading svmlight files against scikit-learn's ``load_svmlight_file(query_id=True)``.

Run ``python -m benchmarks.reading`` in the folder of the repository; ``--quick`` takes small
sizes, to test that everything runs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from benchmarks._timing import best_times
from benchmarks.harness import Bar, bar_table, show_progress, table
from benchmarks.reports import main
from experiments.study import Run, Tables
from kernelrank.io import load_svmlight

ABOUT = """
Reading svmlight lines with queries, in turns with scikit-learn's `load_svmlight_file(query_id=True)` in the same
process. Two files are generated: "LETOR-like", 46 features of six decimals in every row, with query ids and comments,
which scikit-learn skips; and "text-like", some 50 of 50,000 features per row, written in full precision.

- *MB/s*, with `n_jobs=1` and `n_jobs=2` (best of five runs), and of scikit-learn (best of two or more).
- *times as fast* as scikit-learn, with one thread and with two.
- *peak MB* of the process beyond what it held before, *peak / arrays* divided by the size of the arrays that are
  returned, and *its peak MB* of scikit-learn, each in a process of its own. Comments are left out for this.
"""
FILE_BYTES = 100_000_000
QUICK_BYTES = 200_000
BAR = 8.0
HEADING = (
    *("file", "MB", "rows", "1 thread MB/s", "2 threads MB/s", "scikit-learn MB/s", "times as fast", "with 2 threads"),
    *("peak MB", "peak / arrays", "its peak MB"),
)

MEMORY = """
import sys
from pathlib import Path
from sklearn.datasets import load_svmlight_file
from kernelrank.io import load_svmlight

def status(field):
    return 1024 * int(Path("/proc/self/status").read_text().split(field + ":")[1].split()[0])

load = {"ours": load_svmlight, "scikit-learn": lambda path: load_svmlight_file(path, query_id=True)}[sys.argv[1]]
load(sys.argv[3])  # a small file: what is loaded lazily is there
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = status("VmRSS")
X, y, qid = load(sys.argv[2])[:3]
arrays = (X.data, X.indices, X.indptr, y, qid)
print(status("VmHWM") - before, sum(array.nbytes for array in arrays))
"""


def letor_like(rng: np.random.Generator) -> Iterator[str]:
    row = 0
    while True:
        for features in np.abs(rng.normal(size=(1_000, 46))):
            numbers = " ".join(f"{k}:{number:.6f}" for k, number in enumerate(features, 1))
            yield f"{row % 3} qid:{row // 60} {numbers} #docid = GX{row:08d} inc = 1 prob = 0.5\n"
            row += 1


def text_like(rng: np.random.Generator) -> Iterator[str]:
    row = 0
    while True:
        for n in rng.poisson(50, 1_000):
            words = np.unique((50_000 ** rng.random(n)).astype(int)).tolist()
            numbers = zip(words, rng.random(len(words)).tolist(), strict=True)
            yield f"{rng.normal():.4f} qid:{row // 60} " + " ".join(f"{k}:{number!r}" for k, number in numbers) + "\n"
            row += 1


WORKLOADS: dict[str, Callable[[np.random.Generator], Iterator[str]]] = {
    "LETOR-like": letor_like,
    "text-like": text_like,
}


def write(path: Path, lines: Iterator[str], n_bytes: int) -> None:
    with open(path, "w") as file:
        while n_bytes > 0:
            n_bytes -= file.write(next(lines))


def without_comments(path: Path) -> Path:
    bare = path.with_suffix(".bare")
    with open(path, "rb") as file, open(bare, "wb") as out:
        out.writelines(line.partition(b"#")[0].rstrip() + b"\n" for line in file)
    return bare


def peak_memory(reader: str, path: Path, small: Path) -> list[str]:
    """Return the peak in megabytes, and divided by the size of the arrays."""
    if not Path("/proc/self/clear_refs").exists():
        return ["", ""]
    command = [sys.executable, "-c", MEMORY, reader, path, small]
    peak, arrays = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    return [f"{peak / 1e6:.0f}", f"{peak / arrays:.2f}"]


def measure_file(name: str, path: Path, small: Path, runs: int) -> tuple[list[str], float]:
    rows = load_svmlight(path)
    theirs = load_svmlight_file(path, query_id=True)
    if (theirs[0] != rows.X).nnz or not np.array_equal(rows.y, theirs[1]) or not np.array_equal(rows.qid, theirs[2]):
        raise SystemExit(f"{name}: scikit-learn reads other values")
    n_rows = len(rows.y)
    del rows, theirs  # memory that is held slows down what follows
    tasks = {
        "1": lambda: load_svmlight(path),
        "2": lambda: load_svmlight(path, n_jobs=2),
        "scikit-learn": lambda: load_svmlight_file(path, query_id=True),
    }
    seconds = best_times(tasks, min(runs, 2), runs)
    megabytes = path.stat().st_size / 1e6
    bare = without_comments(path)
    ratios = [seconds["scikit-learn"] / seconds[threads] for threads in ("1", "2")]
    cells = [
        *(name, f"{megabytes:.1f}", f"{n_rows:,}"),
        *(f"{megabytes / seconds[reader]:.0f}" for reader in ("1", "2", "scikit-learn")),
        *(f"{ratio:.1f}" for ratio in ratios),
        *(*peak_memory("ours", bare, small), peak_memory("scikit-learn", bare, small)[0]),
    ]
    return cells, ratios[0]


def measure(run: Run) -> tuple[list[list[str]], list[Bar]]:
    """Return the lines of the table, and the bars."""
    lines, bars = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, make in WORKLOADS.items():
            show_progress(name)
            path, small = Path(folder, name), Path(folder, "small")
            write(path, make(np.random.default_rng(1)), QUICK_BYTES if run.quick else FILE_BYTES)
            write(small, make(np.random.default_rng(2)), 10_000)
            cells, ratio = measure_file(name, path, small, 1 if run.quick else 5)
            lines.append(cells)
            bars.append(Bar(f"{name}: times as fast as scikit-learn", ratio, BAR, at_least=True))
            path.unlink()
    return lines, bars


def report(found: tuple[list[list[str]], list[Bar]], _: Run) -> list[str]:
    lines, bars = found
    return ["# Reading files", ABOUT, table(HEADING, lines), "## Bars", bar_table(bars)]


def readings(_: Tables) -> list[str]:
    return []


if __name__ == "__main__":
    main(sys.modules[__name__])
