"""Fits with one copy of X or two, to see whether the second is worth its memory.

The paper kept X by rows and by columns, and saw a sevenfold time without the second. Here both products are timed from
either form, by SciPy and by ours, and so are fits with rows only, columns only, and both. One thread and seconds of
processor time, or two threads and seconds of the clock; the best of several runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks._timing import best_times
from benchmarks.harness import show_progress, table
from benchmarks.peers.workloads import Rows
from experiments.linearithmic_ranksvm._shared import ALPHAS, Found, Study, matrix_bytes, method
from experiments.study import READING, Run, Tables, span
from kernelrank.losses import PairwiseHinge
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import Bundle, LinearOracle, Products, make_products

SIZES = (32_000, 128_000, 512_000)
PRODUCTS = ("X w, SciPy", "X w, rows", "X w, columns", "X' g, SciPy", "X' g, rows", "X' g, columns")
FORMS = ("rows", "columns", "both")
PRODUCTS_TITLE, FITS_TITLE = "The two products, by the form of X", "A whole fit, by the copies of X"


def measure(run: Run) -> Found:
    study = Study(run)
    records, runs = [], (1, 1) if run.quick else (3, 7)
    for m in study.sizes("text") if study.quick else SIZES:
        show_progress(f"copies: {m:,} rows")
        rows, _ = study.rows("text", m)
        by_column = rows.X.tocsc()
        fits = [{"threads": n_threads, **time_fits(rows, by_column, n_threads, runs)} for n_threads in (1, 2)]
        records.append({"rows": m, "X": matrix_bytes(rows.X), **time_products(rows, by_column), "fits": fits})
    return {"records": records}


def products_of(rows: Rows, by_column: Any, n_threads: int = 1) -> dict[str, Products]:
    forms = {"rows": make_products(rows.X, n_threads), "columns": make_products(by_column, n_threads)}
    return {**forms, "both": replace(forms["rows"], backward=forms["columns"].backward)}


def time_products(rows: Rows, by_column: Any) -> dict[str, float]:
    X, forms = rows.X, products_of(rows, by_column)
    rng = np.random.default_rng(0)
    w, g = rng.normal(size=X.shape[1]), rng.normal(size=X.shape[0])
    tasks: dict[str, Callable[[], Any]] = {"X w, SciPy": lambda: X @ w, "X' g, SciPy": lambda: X.T @ g}
    for form in ("rows", "columns"):
        tasks[f"X w, {form}"] = lambda products=forms[form]: products.forward(w)
        tasks[f"X' g, {form}"] = lambda products=forms[form]: products.backward(g)
    return best_times(tasks, 7, 15, process_time)


def time_fits(rows: Rows, by_column: Any, n_threads: int, runs: tuple[int, int]) -> dict[str, float]:
    forms = products_of(rows, by_column, n_threads)
    tasks = {form: lambda products=products: fit(products, rows.y, n_threads) for form, products in forms.items()}
    return best_times(tasks, *runs, process_time if n_threads == 1 else perf_counter)


def fit(products: Products, y: np.ndarray, n_threads: int) -> float:
    loss = PairwiseHinge(UtilityPairs(y, n_jobs=n_threads))
    return Bundle(LinearOracle(products, loss)).minimize(ALPHAS["text"]).gap


def report(found: Found, run: Run) -> list[str]:
    heading = ["rows", "X MB", *(f"{name} ms" for name in PRODUCTS), "X' g: rows / columns"]
    times = [
        [
            *(f"{r['rows']:,}", f"{r['X'] / 1e6:.0f}", *(f"{1e3 * r[name]:.3g}" for name in PRODUCTS)),
            f"{r[PRODUCTS[4]] / r[PRODUCTS[5]]:.2f}",
        ]
        for r in found["records"]
    ]
    fits = [
        [
            *(f"{r['rows']:,}", str(each["threads"]), *(f"{each[form]:.3g}" for form in FORMS)),
            *(f"{each[form] / each['both']:.2f}" for form in FORMS[:2]),
        ]
        for r in found["records"]
        for each in r["fits"]
    ]
    return [
        "# One copy of X or two (A11, section 5.2)",
        method(__doc__),
        f"## {PRODUCTS_TITLE}",
        table(heading, times),
        f"## {FITS_TITLE}",
        table(["rows of X", "threads", *(f"{form} s" for form in FORMS), "rows / both", "columns / both"], fits),
        READING,
    ]


def readings(tables: Tables) -> Iterator[str]:
    [products], [fits] = tables[PRODUCTS_TITLE], tables[FITS_TITLE]
    one, two = (span(fits.select(threads=n).column("rows / both")) for n in ("1", "2"))
    columns = fits.column("columns s") / fits.column("rows s")
    last = products[-1]
    transposed = products.column("X' g, SciPy ms") / products.column("X w, SciPy ms")
    yield f"""
        A second copy {"is not" if fits.column("rows / both").max() <= 1 else "may be"} worth its memory: a fit with
        rows only takes {one} times as long as with both forms in one
        thread, and {two} times in two. From rows, X' g adds multiples of each row to a vector of features, which stays
        in the cache. From columns, it gathers from a vector of rows, which does not fit with many rows: at
        {last["rows"]} rows, X' g takes {last["X' g: rows / columns"]} times as long from rows as from columns. The
        paper does not say why one copy took it seven times as long; SciPy today multiplies with the transpose in
        {span(transposed)} times the time of X w. So RankSVM keeps one copy, the one that it is given. Rows are the
        better form: columns take {span(columns, ".1f")} times as long."""
