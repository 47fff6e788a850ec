"""Training on rows that stay in files, in a process that may take 8 GB of memory in all.

Run ``python -m benchmarks.out_of_core`` in the folder of the repository; ``--quick`` takes small
sizes, to test that everything runs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Bar, bar_table, show_progress, table
from benchmarks.reports import main, parser_of
from experiments.study import Run, Tables
from kernelrank.io import RowStore

ABOUT = """
Rows of 20 features of float32, and utilities that are linear, with as much noise as signal, are made chunk by chunk and
written with `RowStore.write`. `RankSVM(n_jobs=2).fit(store)` then runs in a process of its own, whose address space is
limited to 8 GB with `resource.setrlimit`: the interpreter, its libraries, and everything else.

- *GB*: size of the files. *write s*: making and writing the rows.
- *read cold s*, *read s*: reading all blocks once, after the files were dropped from the cache of the operating system,
  and again; the fit reads them from the cache as far as they fit there. A fit reads them once per product.
- *fit s*: all of the fit: reading and ranking the utilities, a first look at the columns, and the iterations.
- *s / iteration*, and *reads*: the same divided by *read s*. An iteration has two products.
- *products %*, *counting %*: shares of *fit s*.
- *peak MB*: resident memory beyond that of the interpreter after a small fit; *bytes/row*: the same per row.
"""
N_FEATURES = 20
CHUNK = 500_000  # rows made at a time
LIMIT = 8 * 10**9  # bytes of address space
FITS = ((10_000_000, "hinge"), (10_000_000, "squared_hinge"), (100_000_000, "hinge"))
QUICK = ((20_000, "hinge"), (20_000, "squared_hinge"))
HEADING = (
    *("rows", "loss", "GB", "write s", "read cold s", "read s", "fit s", "iterations", "products", "passes"),
    *("s / iteration", "reads", "products %", "counting %", "peak MB", "bytes/row", "gap"),
)

FIT = """
import json, os, resource, sys
from pathlib import Path
from time import perf_counter
import numpy as np
from benchmarks._timing import Stopwatch
from kernelrank import RankSVM
from kernelrank.io import RowStore
from kernelrank.solvers import LinearOracle

folder, loss, limit = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

def status(field):
    return 1024 * int(Path("/proc/self/status").read_text().split(field + ":")[1].split()[0])

def drop():
    for path in folder.iterdir():
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)

def read():
    start = perf_counter()
    for _ in store.blocks():
        pass
    return perf_counter() - start

model = RankSVM(loss=loss, n_jobs=2).fit(np.arange(4.0)[:, None], np.arange(4.0))  # loads what is loaded late
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = status("VmRSS")
store = RowStore(folder)
read()  # compares the checksums
drop()
cold, warm = read(), min(read(), read())
watch = Stopwatch(perf_counter)
parts = {"scores": "products", "subgradient": "products", "risk": "counting", "curvature": "counting"}
for name, part in parts.items():
    owner = next(each for each in (LinearOracle, *LinearOracle.__subclasses__()) if name in vars(each))
    setattr(owner, name, watch.timed(part, getattr(owner, name)))
start = perf_counter()
model.fit(store)
seconds = perf_counter() - start
history = model.history_
print(json.dumps({
    "cold": cold, "warm": warm, "fit": seconds, "iterations": model.n_iter_, "gap": model.gap_,
    "iterating": float(history["seconds"][-1] - history["seconds"][0]), **watch.seconds,
    "n_products": int(history["n_products"][-1]), "n_evaluations": int(history["n_evaluations"][-1]),
    "peak": status("VmHWM") - before,
}))
"""


class Fit(NamedTuple):
    """A fit, the rows it was made to, and what was measured."""

    rows: int
    loss: str
    n_bytes: int
    write: float
    found: dict[str, Any]

    @property
    def per_iteration(self) -> float:
        """Return the seconds of an iteration but the first record, at which there is no step yet."""
        return self.found["iterating"] / max(self.found["iterations"] - 1, 1)

    @property
    def cells(self) -> list[str]:
        """Return the line of the table."""
        found = self.found
        return [
            *(f"{self.rows:,}", self.loss.replace("_", " "), f"{self.n_bytes / 1e9:.2f}", f"{self.write:.1f}"),
            *(f"{found[name]:.2f}" for name in ("cold", "warm")),
            *(f"{found['fit']:.1f}", str(found["iterations"]), str(found["n_products"]), str(found["n_evaluations"])),
            *(f"{self.per_iteration:.2f}", f"{self.per_iteration / found['warm']:.1f}"),
            *(f"{100 * found[name] / found['fit']:.0f}" for name in ("products", "counting")),
            *(f"{found['peak'] / 1e6:.0f}", f"{found['peak'] / self.rows:.1f}", f"{found['gap']:.1e}"),
        ]


def chunks(n_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    w = rng.standard_normal(N_FEATURES)
    for start in range(0, n_rows, CHUNK):
        k = min(CHUNK, n_rows - start)
        X = rng.standard_normal((k, N_FEATURES), dtype=np.float32)
        yield X, X @ w + np.linalg.norm(w) * rng.standard_normal(k)


def fit(store: RowStore, loss: str) -> dict[str, Any]:
    command = [sys.executable, "-c", FIT, str(store.path), loss, str(LIMIT)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout))


def measure(run: Run, folder: str | None = None) -> list[Fit]:
    """Return the fits; the rows are written to `folder`, or to a temporary one."""
    fits: list[Fit] = []
    chosen = QUICK if run.quick else FITS
    with tempfile.TemporaryDirectory() if folder is None else nullcontext(folder) as parent:
        for n_rows in sorted({n_rows for n_rows, _ in chosen}):
            show_progress(f"{n_rows:,} rows")
            start = perf_counter()
            store = RowStore.write(Path(parent, f"{n_rows}.store"), chunks(n_rows))
            write = perf_counter() - start
            size = sum(path.stat().st_size for path in store.path.iterdir())
            fits += [Fit(n_rows, loss, size, write, fit(store, loss)) for m, loss in chosen if m == n_rows]
    return fits


def report(found: list[Fit], _: Run) -> list[str]:
    bars = [
        *(
            Bar(f"{each.rows:,} rows, hinge: peak, relative to 200 MB + 64 bytes per row", share_of_memory(each), 1)
            for each in found
            if each.loss == "hinge"
        ),
        Bar("largest gap", max(each.found["gap"] for each in found), 1e-3),
    ]
    lines = [each.cells for each in found]
    return ["# Data larger than memory", ABOUT, table(HEADING, lines, n_texts=2), "## Bars", bar_table(bars)]


def share_of_memory(found: Fit) -> float:
    return float(found.found["peak"] / (200e6 + 64 * found.rows))


def readings(_: Tables) -> list[str]:
    return []


if __name__ == "__main__":
    this = sys.modules[__name__]
    parser = parser_of(this)
    parser.add_argument("--folder", help="where to write the rows, and leave them (default: a temporary folder)")
    options = parser.parse_args()
    part = SimpleNamespace(
        __spec__=__spec__, measure=lambda run: measure(run, options.folder), report=report, readings=readings
    )
    main(part, options=options)
