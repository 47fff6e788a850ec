"""Ten million sparse rows on two threads: seconds, passes, certified gap, memory.

Each row has 50 non-zeros among 100,000 features: one in each of 50 groups of features, its frequencies falling as
Zipf's, so that a row needs no sorting and no feature is there twice. Utilities are linear, with as much noise as
signal, all different. X is float32 with 32-bit indices, 4 GB, and is made some rows at a time where it will stay.
alpha is 1e-5, tol 0.001. *fit s* is of the clock, *processor s* of both threads together.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter, process_time

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks.harness import number, show_progress, table
from benchmarks.peers.measure import PeakMemory
from benchmarks.peers.workloads import Rows
from experiments.linearithmic_ranksvm._shared import Found, Study, matrix_bytes, method
from experiments.study import READING, Run, Tables, alone
from kernelrank import RankSVM

FITS = ((1_000_000, "hinge"), (1_000_000, "squared_hinge"), (10_000_000, "hinge"))
QUICK = ((2_000, "hinge"), (2_000, "squared_hinge"))
N_TEST = 100_000
N_FEATURES = 100_000
NON_ZEROS = 50
AT_ONCE = 100_000  # rows made at a time
ALPHA = 1e-5
TITLE = "Ten million rows on two threads"


def measure(run: Run) -> Found:
    study = Study(run)
    records = []
    for m, loss in QUICK if study.quick else FITS:
        show_progress(f"large: {m:,} rows, {loss}")
        # Another process only where there is memory to be measured.
        records.append(fit(m, loss) if study.quick else alone(fit, m, loss))
    return {"records": records}


def fit(n_rows: int, loss: str) -> Found:
    memory = PeakMemory()
    start = perf_counter()
    train, test = make_rows(n_rows, 0), make_rows(min(N_TEST, n_rows), 1)
    made, made_bytes = perf_counter() - start, memory.growth()
    with threadpool_limits(limits=1):
        RankSVM(ALPHA, loss=loss, n_jobs=2).fit(train.X[:100], train.y[:100])  # loads what is loaded late
        memory = PeakMemory()
        start, busy = perf_counter(), process_time()
        model = RankSVM(ALPHA, loss=loss, n_jobs=2).fit(train.X, train.y)
        seconds, busy, growth = perf_counter() - start, process_time() - busy, memory.growth()
    return {
        "rows": n_rows,
        "loss": loss,
        "make": made,
        "make_bytes": made_bytes,
        "X": matrix_bytes(train.X),
        "seconds": seconds,
        "processor": busy,
        "growth": growth,
        "iterations": model.n_iter_,
        "products": int(model.history_["n_products"][-1]),
        "passes": int(model.history_["n_evaluations"][-1]),
        "pairs": model.n_pairs_,
        "gap": model.gap_,
        "objective": model.objective_,
        "error": 1 - model.score(test.X, test.y),
    }


def make_rows(n_rows: int, seed: int) -> Rows:
    group = N_FEATURES // NON_ZEROS
    shares = np.cumsum(1 / np.arange(1, group + 1)).astype(np.float32)
    shares /= shares[-1]
    w = np.random.default_rng(2).standard_normal(N_FEATURES)
    starts = np.arange(n_rows + 1, dtype=np.int32)
    starts *= NON_ZEROS
    numbers, indices = np.empty(n_rows * NON_ZEROS, np.float32), np.empty(n_rows * NON_ZEROS, np.int32)
    y = np.empty(n_rows)
    rng = np.random.default_rng([3, seed])
    for first in range(0, n_rows, AT_ONCE):
        m = min(AT_ONCE, n_rows - first)
        here = slice(first * NON_ZEROS, (first + m) * NON_ZEROS)
        which = np.searchsorted(shares, rng.random((m, NON_ZEROS), np.float32))
        which = np.minimum(which, group - 1) + group * np.arange(NON_ZEROS)
        values = 1 - rng.random((m, NON_ZEROS), np.float32)  # never zero: X with stored zeros would be copied
        values /= np.linalg.norm(values, axis=1, keepdims=True)
        numbers[here], indices[here] = values.ravel(), which.ravel()
        # Rows have length one: the standard deviation of their products with w is one.
        y[first : first + m] = (values * w[which]).sum(axis=1) + rng.standard_normal(m)
    return Rows(sp.csr_matrix((numbers, indices, starts), shape=(n_rows, N_FEATURES)), y)


def report(found: Found, run: Run) -> list[str]:
    def gigabytes(value: int | None) -> str:
        return "" if value is None else f"{value / 1e9:.3g}"

    heading = [
        *("rows, loss", "pairs", "X GB", "GB to make it", "GB beyond it", "bytes per row", "fit s", "processor s"),
        *("iterations", "products", "passes", "certified gap", "objective", "test error"),
    ]
    cells = [
        [
            *(f"{r['rows']:,}, {r['loss'].replace('_', ' ')}", f"{r['pairs']:.1e}", gigabytes(r["X"])),
            *(gigabytes(r["make_bytes"]), gigabytes(r["growth"])),
            "" if r["growth"] is None else f"{r['growth'] / r['rows']:.0f}",
            *(
                f"{r['seconds']:.3g}",
                f"{r['processor']:.3g}",
                str(r["iterations"]),
                str(r["products"]),
                str(r["passes"]),
            ),
            *(f"{r['gap']:.1e}", f"{r['objective']:.6f}", f"{r['error']:.4f}"),
        ]
        for r in found["records"]
    ]
    return [
        f"# {TITLE}",
        method(__doc__),
        table(heading, cells),
        READING,
    ]


def readings(tables: Tables) -> Iterator[str]:
    [found] = tables[TITLE]
    small, _, large = found
    times = float(large["processor s"]) / float(small["processor s"])
    m, n = number(large["rows, loss"]), number(small["rows, loss"])
    busy = float(large["processor s"]) / (2 * float(large["fit s"]))
    share = float(large["GB beyond it"]) / float(large["X GB"])
    yield f"""
        The {large["pairs"]} pairs of {m:,.0f} rows are ordered to a certified gap of {large["certified gap"]} in
        {large["passes"]} passes and {large["fit s"]} seconds, with {large["bytes per row"]} bytes per row beyond X,
        {share:.0%} of the size of X. {m / n:.0f} times the rows take {large["iterations"]} iterations instead of
        {small["iterations"]}, and {times:.0f} times the processor time. m log m would be
        {m * np.log(m) / (n * np.log(n)):.0f} times; the rest is likely to be memory, since scores, positions and counts
        of ten million rows fit in no cache. Both threads are busy for {busy:.0%} of the time."""
