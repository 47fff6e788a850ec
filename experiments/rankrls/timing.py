"""Training time of RankRLS and RankSVM with a Gaussian kernel against the number of rows (P09, table 1).

The task of the paper: acq against the other topics of Reuters-21578, here tf-idf of rows drawn from the 12,902
documents of ModApte, in ``text/reuters21578_counts.npz``. One BLAS thread. Some minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import process_time
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks.harness import number, show_progress, table
from experiments.rankrls._reuters import LAMBDAS, load_documents
from experiments.study import READING, Run, Tables, span
from kernelrank import RankRLS, RankSVM
from kernelrank.kernels import Gaussian

QUICK_SIZES = (30, 60, 100)
SIZES = (200, 500, 750, 1000, 1500, 2000, 2500, 4000, 6000)
PUBLISHED = (1, 3, 5, 10, 24, 48, 83, 280, 841)  # seconds of RankRLS
PUBLISHED_SVM = (2, 150, 579, 1740, 4685, 13707, 20055, None, None)
EXPONENT_FROM = 1000  # rows; below, what does not grow with them counts
ALPHA = 1e-3
GAMMA = 1.0  # of rows of length one
ENOUGH, QUICK_ENOUGH = 5.0, 0.01  # seconds of one task at one size
AT_MOST = 20  # runs of it
TITLE = "Training time with a Gaussian kernel"
COLUMNS = """
Seconds of processor time, one BLAS thread, the best of several runs taken in turns (*path* once at the largest sizes).
*kernel*: the kernel matrix of sparse rows; *unit*: the kernel matrix and its Cholesky factor; *fit*: `RankRLS.fit`, one
alpha; *path*: a fit, one eigenvalue decomposition, and the solutions for 31 lambdas. The paper's RankRLS computes a
decomposition in every fit, so its seconds compare with *path*. *RankSVM*: `RankSVM.fit` with all rows as basis, to a
certified gap of 0.001; alpha is that of C = 1 for a sum over pairs, close to the default of SVM-light for such rows.
Gamma is 1, for rows of length one; the paper took the default of its software.
"""


def load_rows(quick: bool, seed: int = 0) -> tuple[sp.csr_matrix, np.ndarray]:
    """Return documents in random order, as tf-idf rows of length one, and whether they are about acq."""
    documents = load_documents(quick)
    order = np.random.default_rng(seed).permutation(documents.counts.shape[0])
    acq = documents.labels[:, documents.topics.index("acq")]
    return TfidfTransformer().fit_transform(documents.counts[order]), acq[order]


def best_seconds(tasks: dict[str, Callable[[], Any]], enough: float) -> dict[str, float]:
    """Return the least processor time of each task; they take turns, each until `enough` is spent on it."""
    runs: dict[str, list[float]] = {name: [] for name in tasks}
    while waiting := [name for name, seconds in runs.items() if sum(seconds) < enough and len(seconds) < AT_MOST]:
        for name in waiting:
            start = process_time()
            tasks[name]()
            runs[name].append(process_time() - start)
    return {name: min(seconds) for name, seconds in runs.items()}


def time_fits(X: sp.csr_matrix, y: np.ndarray, enough: float) -> dict[str, float]:
    kernel = Gaussian(GAMMA)

    def unit() -> None:
        K = kernel(X)
        K.flat[:: len(K) + 1] += ALPHA
        scipy.linalg.cholesky(K.T, lower=True, overwrite_a=True, check_finite=False)

    def fit() -> RankRLS:
        return RankRLS(ALPHA, kernel=kernel).fit(X, y)

    n_pairs = len(y) ** 2 / 2
    relevant = y.sum() * (1 - y).sum()
    tasks = {
        "kernel": lambda: kernel(X),
        "unit": unit,
        "fit": fit,
        "path": lambda: fit().path(LAMBDAS / n_pairs),
        "RankSVM": lambda: RankSVM(1 / (2 * relevant), kernel=kernel).fit(X, y),
    }
    return best_seconds(tasks, enough)


def exponent(sizes: list[int], seconds: Iterable[float | None]) -> str:
    """Return the slope of log seconds against log rows, of the larger sizes."""
    used = [(m, each) for m, each in zip(sizes, seconds, strict=True) if m >= EXPONENT_FROM and each is not None]
    return f"{np.polyfit(*np.log(np.transpose(used)), 1)[0]:.2f}" if len(used) > 1 else ""


def measure(run: Run) -> dict[int, dict[str, float]]:
    X, y = load_rows(run.quick)
    found = {}
    for m in QUICK_SIZES if run.quick else SIZES:
        show_progress(f"timing: {m} rows")
        found[m] = time_fits(X[:m], y[:m], QUICK_ENOUGH if run.quick else ENOUGH)
    return found


def report(found: dict[int, dict[str, float]], run: Run) -> list[str]:
    sizes, names = list(found), list(next(iter(found.values())))
    cells = []
    for k, (m, each) in enumerate(found.items()):
        growth = "" if k == 0 else f"{each['fit'] / found[sizes[k - 1]]['fit']:.1f}"
        paper = "" if k == 0 else f"{PUBLISHED[k] / PUBLISHED[k - 1]:.1f}"
        svm = "–" if PUBLISHED_SVM[k] is None else f"{PUBLISHED_SVM[k]:,}"
        cells.append(
            [
                *(f"{m:,}", f"{PUBLISHED[k]}", svm, *(f"{each[name]:.3g}" for name in names)),
                *(f"{each['fit'] / each['unit']:.2f}", f"{each['path'] / each['fit']:.1f}", growth, paper),
            ]
        )
    slopes = [exponent(sizes, (each[name] for each in found.values())) for name in names]
    theirs = [exponent(sizes, each[: len(sizes)]) for each in (PUBLISHED, PUBLISHED_SVM)]
    cells.append([EXPONENT, *theirs, *slopes, "", "", "", ""])
    heading = [
        *("rows", "paper s", "paper's SVM-light s", *(f"{name} s" for name in names)),
        *("fit / unit", "path / fit", "fit / row above", "paper's"),
    ]
    about = "Table 1 of Pahikkala et al. (2009): acq of Reuters-21578, tf-idf of the words, a Gaussian kernel."
    return [f"# {TITLE}", about, table(heading, cells), COLUMNS, READING]


EXPONENT = f"exponent, m ≥ {EXPONENT_FROM:,}"


def readings(tables: Tables) -> Iterator[str]:
    [found] = tables[TITLE]
    slope = {name: found.row(EXPONENT)[f"{name} s"] for name in ("paper", "kernel", "fit", "path", "RankSVM")}
    sizes = found[:-1]
    shares = [float(row["kernel s"]) / float(row["fit s"]) for row in sizes]
    units = [float(row["fit / unit"]) for row in sizes if number(row["rows"]) >= EXPONENT_FROM]
    like = {
        name: [
            number(row["RankSVM s"]) / number(row[f"{name} s"]) for row in sizes if number(row["rows"]) >= EXPONENT_FROM
        ]
        for name in ("fit", "path")
    }
    yield f"""
        The exponent of a fit is {slope["fit"]} (the paper's {slope["paper"]}): the algebra is cubic, but the kernel
        matrix of sparse rows, with exponent {slope["kernel"]}, takes {span(shares, ".0%")} of a fit. The exponent of a
        path, most of it one decomposition, is {slope["path"]}. From {EXPONENT_FROM:,} rows on, a fit costs
        {span(units)} times as much as the kernel matrix and its Cholesky factor; it computes no decomposition until a
        shortcut needs one. How much of the difference to the paper's seconds is due to the machine cannot be told.

        The paper's RankSVM works on pairs; section 4.2 puts it at O(m^4) at least. The exponent of its seconds is
        {found.row(EXPONENT)["paper's SVM-light s"]}, where that of the number of pairs is 2. Ours computes the kernel
        matrix once and multiplies by it in every iteration, O(m^2), without a decomposition. It takes
        {span(like["fit"])} times as long as one fit of RankRLS and {span(like["path"])} times as long as a path, with
        the exponent {slope["RankSVM"]}. (Section 4.2 proposes another way, a Cholesky factor of the kernel matrix as
        features of a linear RankSVM, with "training times that were very close to that of training a single RankRLS
        learner".)"""
