"""Leave-pair-out cross-validation in parts: decomposition, product, and the pass over all pairs (P09, section 3.4).

Times them apart against the number of rows, on the task of ``timing.py``: acq against the other topics of
Reuters-21578. One thread. Some minutes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks._timing import Stopwatch
from benchmarks.harness import Table, number, show_progress, table
from experiments.rankrls.timing import EXPONENT, EXPONENT_FROM, GAMMA, exponent, load_rows
from experiments.study import READING, Run, Tables, span
from kernelrank import RankRLS
from kernelrank._core import count_held_out, predict_held_out
from kernelrank.kernels import Gaussian, Linear
from kernelrank.solvers.least_squares._pairs import BLOCK_ROWS, HeldOutPairs

SIZES, QUICK_SIZES = (500, 700, 1000, 1400, 2000, 2800, 4000), (30, 60, 100)
ALPHA = 1e-3
N_WORDS = 50  # features of the linear kernel
N_OUTPUTS = 10
REPEATS, ENOUGH = 7, 10.0  # runs at a size, until they have taken so many seconds
PARTS = ("decomposition", "product", "rows", "pairs", f"pairs, {N_OUTPUTS} outputs", "predictions")


class Setting(NamedTuple):
    title: str
    kernel: Any
    features: Callable[[Any], Any]


def frequent_words(X: Any) -> np.ndarray:
    """Return the columns of the words that are in most rows."""
    columns = np.sort(np.argsort(-X.getnnz(axis=0), kind="stable")[:N_WORDS])
    return np.asarray(X[:, columns].toarray())


SETTINGS = (
    Setting("Gaussian kernel, as many eigenvectors as rows", Gaussian(GAMMA), lambda X: X),
    Setting(f"Linear kernel, {N_WORDS} features", Linear(), frequent_words),
)


def time_parts(setting: Setting, X: Any, y: np.ndarray) -> dict[str, float]:
    """Return the processor seconds of each part, in one run."""
    watch = Stopwatch(process_time)
    model = RankRLS(ALPHA, kernel=setting.kernel).fit(X, y)
    hold_out = model._fitted_model().hold_out
    held_out: HeldOutPairs = watch.timed("decomposition", lambda: hold_out.held_out)()
    alpha = hold_out._refit_alpha(ALPHA, 2)
    watch.timed("rows", of_rows)(held_out, alpha)
    watch.timed("product", form_product)(held_out, alpha)
    outputs = replace(held_out, W=replace(held_out.W, targets=np.repeat(y[:, None], N_OUTPUTS, axis=1)))
    for name, pairs in (("pairs", held_out), (f"pairs, {N_OUTPUTS} outputs", outputs)):
        blocks = copy_blocks(pairs, alpha)
        found = watch.timed(name, count)(blocks, pairs.W.targets.shape[1])
        if not np.allclose(found, model.leave_pair_out_concordance(), rtol=1e-12):
            raise RuntimeError("The parts do not give the concordance of RankRLS.leave_pair_out_concordance.")
    F = np.zeros((1, len(y), len(y)))
    F.fill(0.0)  # so that the memory is there before the clock starts
    watch.timed("predictions", predict)(copy_blocks(held_out, alpha), F)
    return {name: watch.seconds[name] for name in PARTS}


def copy_blocks(held_out: HeldOutPairs, alpha: float) -> list[dict[str, Any]]:
    """Return the residual operator in blocks, as the compiled functions take them, and all that they need."""
    ties = held_out.tolerances(alpha), held_out.limits
    return [{**block, "between": block["between"].copy(), "n_threads": 1} for block in held_out._compiled(alpha, ties)]


def of_rows(held_out: HeldOutPairs, alpha: float) -> None:
    """Compute the numbers of each row: residuals, elements of the diagonal, and bounds of rounding errors."""
    W = held_out.W
    W.apply(alpha), W.diagonal(alpha), W.scales(alpha), held_out.tolerances(alpha)


def form_product(held_out: HeldOutPairs, alpha: float) -> None:
    """Compute the residual operator from the eigenvectors, what is on and above its diagonal, and keep nothing."""
    for _ in held_out.W.blocks_above_diagonal(None, alpha, BLOCK_ROWS):
        pass


def count(blocks: list[dict[str, Any]], n_outputs: int) -> np.ndarray:
    """Return the concordance of each output, from the blocks of the residual operator."""
    halves, pairs = np.zeros((2, n_outputs), np.int64)
    for block in blocks:
        count_held_out(halves=halves, pairs=pairs, **block)
    return np.asarray(halves / (2 * pairs))


def predict(blocks: list[dict[str, Any]], F: np.ndarray) -> None:
    for block in blocks:
        predict_held_out(out=F, **block)


def best_parts(setting: Setting, X: Any, y: np.ndarray, repeats: int) -> dict[str, float]:
    """Return the least seconds of each part over several runs."""
    runs: defaultdict[str, list[float]] = defaultdict(list)
    start = process_time()
    for _ in range(repeats):
        for name, seconds in time_parts(setting, X, y).items():
            runs[name].append(seconds)
        if process_time() - start > ENOUGH:
            break
    return {name: min(seconds) for name, seconds in runs.items()}


def measure(run: Run) -> dict[str, dict[int, dict[str, float]]]:
    X, y = load_rows(run.quick)
    found: dict[str, dict[int, dict[str, float]]] = {}
    for setting in SETTINGS:
        rows, found[setting.title] = setting.features(X), {}
        for m in QUICK_SIZES if run.quick else SIZES:
            show_progress(f"{setting.title}: {m} rows")
            found[setting.title][m] = best_parts(setting, rows[:m], y[:m], 1 if run.quick else REPEATS)
    return found


def report(found: dict[str, dict[int, dict[str, float]]], run: Run) -> list[str]:
    tables = [part for title, of_sizes in found.items() for part in (f"## {title}", parts_table(of_sizes))]
    return [f"# {TITLE}", ABOUT, *tables, READING]


def parts_table(found: dict[int, dict[str, float]]) -> str:
    cells = [
        [f"{m:,}", *(f"{each[name]:.3g}" for name in PARTS), f"{each['pairs'] / (m * (m - 1) / 2) * 1e9:.2f}"]
        for m, each in found.items()
    ]
    slopes = [exponent(list(found), (each[name] for each in found.values())) for name in PARTS]
    return table(["rows", *(f"{name} s" for name in PARTS), NANOSECONDS], [*cells, [EXPONENT, *slopes, ""]])


TITLE, NANOSECONDS = "Leave-pair-out in parts", "ns per pair"
ABOUT = f"""
P09, section 3.4: "an algorithm that calculates an exact result of LPOCV in O(m2) time, again given that the inverse of
a certain m × m-matrix is already computed and stored in the memory". That matrix is Q: "its time complexity is O(m3) in
the worst case of K being of full rank"; if it is not, Q is computed as V Λ̂ V' from the eigenvectors. Then "only a
constant time is needed to compute (38) for each hold-out set", and with v outputs "the time complexity of the
cross-validation is O(m3 + m2v), since the complexity of calculating Q is not affected by the number of tasks".

Here the parts of `RankRLS.leave_pair_out_concordance` are timed apart, in seconds of processor time, one thread, the
best of up to {REPEATS} runs. *decomposition*: eigenvalues and eigenvectors. *product*: the residual operator from the
eigenvectors, what is on and above its diagonal; it has the part of Q. *rows*: numbers of each row, with bounds of
rounding errors. *pairs*: the concordance from all of these, O(1) per pair, for one output and for {N_OUTPUTS}.
*predictions*: the predictions of all pairs instead, an m × m-matrix. The parts together give the concordance that the
method returns; the study stops if they do not. Task: acq of Reuters-21578, tf-idf of the words; for the linear kernel,
the {N_WORDS} words that are in most documents.
"""


def readings(tables: Tables) -> Iterator[str]:
    full, low = (tables[setting.title][0] for setting in SETTINGS)
    slopes = [Table([each.row(EXPONENT)]) for each in (full, low)]

    def power(k: int, name: str) -> float:
        return float(slopes[k].column(f"{name} s")[0])

    large = [row for each in (full, low) for row in each[:-1] if number(row["rows"]) >= EXPONENT_FROM]
    last, last_low = full[-2], low[-2]
    shares = [number(each["pairs s"]) / sum_of_parts(each) for each in (last, last_low)]
    several = [number(row[f"pairs, {N_OUTPUTS} outputs s"]) / number(row["pairs s"]) for row in large]
    yield f"""
        Once the matrix is known, the pass over all pairs has the exponents {power(0, "pairs"):.2f} (Gaussian) and
        {power(1, "pairs"):.2f} (linear), where O(m²) operations have 2. That of the predictions, which writes an m × m
        matrix, has {power(0, "predictions"):.2f} and {power(1, "predictions"):.2f}; times of so few sizes include what
        caches do. From {EXPONENT_FROM:,} rows on a pair costs {span([number(row[NANOSECONDS]) for row in large])}
        nanoseconds.

        Decomposition and product have the exponents {power(0, "decomposition"):.2f} and {power(0, "product"):.2f} with
        a kernel of full rank, where O(m³) operations have 3. At {last["rows"]} rows they take {last["decomposition s"]}
        and {last["product s"]} seconds, the pass {last["pairs s"]}, which is {shares[0]:.1%} of all. With {N_WORDS}
        features the exponents are {power(1, "decomposition"):.2f} and {power(1, "product"):.2f}, and the pass is
        {shares[1]:.0%} of all.

        The pass for {N_OUTPUTS} outputs takes {span(several, ".1f")} times as long as for one. What the pairs have in
        common is computed once."""


def sum_of_parts(row: dict[str, str]) -> float:
    return sum(number(row[f"{name} s"]) for name in ("decomposition", "product", "rows", "pairs"))
