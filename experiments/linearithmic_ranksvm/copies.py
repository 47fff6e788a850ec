"""One copy of X or two: whether the second is worth its memory.

The paper kept X by rows and by columns, and saw a sevenfold time without the second. Here both products are timed from
either form, by SciPy and by ours with one and two threads, and so are fits with rows only, columns only, and both.
Processor time with one thread, seconds of the clock with two; the best of several runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from _shared import ALPHAS, Found, Study, clock_for, matrix_bytes

from benchmarks._timing import best_times, show_progress, table
from benchmarks.peers.workloads import Rows
from kernelrank.losses import PairwiseHinge
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Bundle, LinearOracle, Products, make_products

SIZES = (32_000, 128_000, 512_000)
THREADS = (1, 2)
PRODUCTS = ("X w, SciPy", "X w, rows", "X w, columns", "X' g, SciPy", "X' g, rows", "X' g, columns")
FITS = ("fit, rows", "fit, columns", "fit, both")
READING = """
"""


def measure(study: Study) -> Found:
    records = []
    for m in study.sizes("text") if study.quick else SIZES:
        rows, _ = study.rows("text", m)
        start = perf_counter()
        by_column = rows.X.tocsc()
        convert = perf_counter() - start
        for n_threads in THREADS:
            show_progress(f"copies: {m:,} rows, {n_threads} threads")
            seconds = time_copies(rows, by_column, n_threads)
            about = {"rows": m, "threads": n_threads, "X": matrix_bytes(rows.X), "convert": convert}
            records.append({**about, **seconds})
    return {"records": records}


def time_copies(rows: Rows, by_column: Any, n_threads: int) -> dict[str, float]:
    X, forms = rows.X, {"rows": make_products(rows.X, n_threads), "columns": make_products(by_column, n_threads)}
    forms["both"] = replace(forms["rows"], backward=forms["columns"].backward)
    rng = np.random.default_rng(0)
    w, g = rng.normal(size=X.shape[1]), rng.normal(size=X.shape[0])
    tasks: dict[str, Callable[[], Any]] = {"X w, SciPy": lambda: X @ w, "X' g, SciPy": lambda: X.T @ g}
    for form in ("rows", "columns"):
        tasks[f"X w, {form}"] = lambda products=forms[form]: products.forward(w)
        tasks[f"X' g, {form}"] = lambda products=forms[form]: products.backward(g)
    fits = {
        f"fit, {form}": lambda products=products: fit(products, rows.y, n_threads) for form, products in forms.items()
    }
    clock = clock_for(n_threads)
    return best_times(tasks, 7, 15, clock) | best_times(fits, 3, 7, clock)


def fit(products: Products, y: np.ndarray, n_threads: int) -> float:
    loss = PairwiseHinge(UtilityPairs(y, n_jobs=n_threads))
    return Bundle(LinearOracle(products, loss)).minimize(ALPHAS["text"]).gap


def report(found: Found, folder: Path) -> list[str]:
    heading = ["rows, threads", "X MB", *(f"{name} ms" for name in PRODUCTS), "rows / columns"]
    times = [
        [
            f"{r['rows']:,}, {r['threads']}",
            f"{r['X'] / 1e6:.0f}",
            *(f"{1e3 * r[name]:.3g}" for name in PRODUCTS),
            f"{r[PRODUCTS[4]] / r[PRODUCTS[5]]:.2f}",
        ]
        for r in found["records"]
    ]
    fits = [
        [
            f"{r['rows']:,}, {r['threads']}",
            *(f"{r[form]:.3g}" for form in FITS),
            *(f"{r[form] / r[FITS[2]]:.2f}" for form in FITS[:2]),
            f"{r['convert']:.3g}",
        ]
        for r in found["records"]
    ]
    return [
        "# One copy of X or two (A11, section 5.2)",
        "## The two products, by the form of X",
        table(heading, times),
        "*rows / columns*: what X' g costs from rows, compared with columns.",
        "## A whole fit, by the copies that there are",
        table(
            [
                *("rows, threads", "rows s", "columns s", "both s"),
                *("rows / both", "columns / both", "making the copy s"),
            ],
            fits,
        ),
        READING.strip(),
    ]
