"""Training time of RankRLS and RankSVM with a Gaussian kernel against the number of rows (P09, table 1).

    KERNELRANK_DATA=... python -m experiments.rankrls.timing

The paper's task: acq against the other topics of Reuters-21578, here tf-idf of rows drawn from the 12,902 documents of
ModApte, in ``text/reuters21578_counts.npz``. One BLAS thread. Some minutes; writes ``results/timing.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from threadpoolctl import threadpool_limits

from benchmarks._timing import show_progress, table
from experiments.rankrls._reuters import load_documents
from experiments.rankrls._shared import LAMBDAS, write_results
from kernelrank import RankRLS, RankSVM
from kernelrank.kernels import Gaussian

SIZES = (200, 500, 750, 1000, 1500, 2000, 2500, 4000, 6000)
PUBLISHED = (1, 3, 5, 10, 24, 48, 83, 280, 841)  # seconds of RankRLS
PUBLISHED_SVM = (2, 150, 579, 1740, 4685, 13707, 20055, None, None)
EXPONENT_FROM = 1000  # rows; below, what does not grow with them counts
ALPHA = 1e-3
GAMMA = 1.0  # of rows of length one
ENOUGH = 5.0  # seconds of one task at one size
AT_MOST = 20  # runs of it
READING = """
Seconds of processor time, one BLAS thread, the best of several runs taken in turns (*path* once at the largest sizes).
*kernel*: the kernel matrix of sparse rows; *unit*: that and a Cholesky factor of it; *fit*: `RankRLS.fit`, one alpha;
*path*: a fit, one eigenvalue decomposition, and the solutions for 31 lambdas. The paper's RankRLS decomposes in every
fit: its seconds are to be held against *path*. *RankSVM*: `RankSVM.fit` with all rows as basis, to a certified gap of
0.001; alpha is that of C = 1 for a sum over pairs, close to the default of SVM-light for such rows. Gamma is 1, for
rows of length one; the paper took the default of its software, and time hardly depends on it.

**Reading.** The algebra is cubic, the kernel matrix of sparse rows is quadratic, and at these sizes it is the larger
part of one fit: so the exponent of a fit stays below 3, as the paper's does; that of a path, nearly all of it a
decomposition, comes close. A fit makes no decomposition before a shortcut asks for one, and costs not much more than
the kernel matrix and its Cholesky factor; the rest is centring the matrix, some passes over memory. How much of the
factor between the paper's seconds and ours is the machine, and how much the symmetric decomposition, cannot be told.

The paper's RankSVM works on pairs, and its time grows faster than their number. Ours makes features of the kernel
first, by one eigenvalue decomposition and one product with its vectors (section 4.2 of the paper proposes the same with
a Cholesky factor); what follows is a linear RankSVM of these features, a small part of the time. So it costs about as
much as a *path* of RankRLS, and grows as that does.
"""


def load_rows(seed: int = 0) -> tuple[sp.csr_matrix, np.ndarray]:
    """Documents of ModApte in random order, as tf-idf rows of length one, and whether they are about acq."""
    documents = load_documents()
    order = np.random.default_rng(seed).permutation(documents.counts.shape[0])
    acq = documents.labels[:, documents.topics.index("acq")]
    return TfidfTransformer().fit_transform(documents.counts[order]), acq[order]


def best_seconds(tasks: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Least processor time of each task; they take turns, each until `ENOUGH` is spent on it."""
    runs: dict[str, list[float]] = {name: [] for name in tasks}
    while waiting := [name for name, seconds in runs.items() if sum(seconds) < ENOUGH and len(seconds) < AT_MOST]:
        for name in waiting:
            start = process_time()
            tasks[name]()
            runs[name].append(process_time() - start)
    return {name: min(seconds) for name, seconds in runs.items()}


def measure(X: sp.csr_matrix, y: np.ndarray) -> dict[str, float]:
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
    return best_seconds(tasks)


def exponent(seconds: list[float]) -> float:
    """Slope of log seconds against log rows."""
    used = [k for k, m in enumerate(SIZES) if m >= EXPONENT_FROM]
    return float(np.polyfit(np.log([SIZES[k] for k in used]), np.log([seconds[k] for k in used]), 1)[0])


def main() -> None:
    X, y = load_rows()
    found = []
    for m in SIZES:
        show_progress(f"timing: {m} rows")
        found.append(measure(X[:m], y[:m]))
    show_progress("")
    columns = {name: [each[name] for each in found] for name in found[0]}
    cells = []
    for k, (m, each) in enumerate(zip(SIZES, found, strict=True)):
        growth = "" if k == 0 else f"{each['fit'] / found[k - 1]['fit']:.1f}"
        paper = "" if k == 0 else f"{PUBLISHED[k] / PUBLISHED[k - 1]:.1f}"
        svm = "–" if PUBLISHED_SVM[k] is None else f"{PUBLISHED_SVM[k]:,}"
        cells.append(
            [
                *(f"{m:,}", f"{PUBLISHED[k]}", svm, *(f"{each[name]:.3g}" for name in columns)),
                *(f"{each['fit'] / each['unit']:.2f}", f"{each['path'] / each['fit']:.1f}", growth, paper),
            ]
        )
    slopes = [f"{exponent(list(PUBLISHED)):.2f}", "", *(f"{exponent(of):.2f}" for of in columns.values())]
    cells.append([f"exponent, m ≥ {EXPONENT_FROM:,}", *slopes, "", "", "", ""])
    heading = [
        *("rows", "paper s", "paper's SVM-light s", *(f"{name} s" for name in columns)),
        *("fit / unit", "path / fit", "fit / row above", "paper's"),
    ]
    write_results(
        "timing",
        [
            "# Training time with a Gaussian kernel",
            "Written by `python -m experiments.rankrls.timing`. Table 1 of Pahikkala et al. (2009): acq of"
            " Reuters-21578, tf-idf of the words, a Gaussian kernel.",
            table(heading, cells),
            READING.strip(),
        ],
    )


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
