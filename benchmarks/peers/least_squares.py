"""RLS and RankRLS against their linear algebra and scikit-learn; ``rlscore.py`` compares with RLScore.

Run ``python -m benchmarks.peers.least_squares`` in the folder of the repository; ``--quick`` takes small sizes, to
test that everything runs.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks._timing import best_times
from benchmarks.harness import Bar, show_progress, table
from benchmarks.peers.measure import unit_tasks
from benchmarks.peers.workloads import WORKLOADS, Rows, load, prepare
from benchmarks.reports import main
from experiments.study import BUILD, Run, Tables, as_list
from kernelrank import RLS, RLSCV, NystromMap, RankRLS, RankRLSCV
from kernelrank.exceptions import PathEndWarning
from kernelrank.kernels import Gaussian
from kernelrank.solvers import ConjugateGradients

Floats = NDArray[np.float64]

ABOUT = """
`RankRLS` and `RLS` compared with the matrix decompositions that they use, and with scikit-learn. Every line compares a
task with the least work that could do it, on the same data in the same process:

- one fit, no shortcut asked for: the kernel matrix and a Cholesky factor of it;
- a path of 30 alphas: one alpha, by the same decomposition;
- leave-pair-out predictions of all pairs, after the decomposition: SciPy's `eigh` of the kernel matrix, by its faster
  driver;
- leave-pair-out and leave-query-out for 20 alphas, the decomposition included: one such `eigh`;
- conjugate gradients on text-like rows: u, one `X @ w`, one `X.T @ g` and one `np.argsort`; and the steps that the
  preconditioner saves;
- the Nystrom map of all rows: scikit-learn's `rbf_kernel` with the basis rows, and one product by BLAS;
- leave-one-out for 20 alphas: `RidgeCV`; one fit: `KernelRidge`. Their penalties are sums, and a hold-out keeps the
  sum: `alpha = sum / (m - 1)` leaves the same behind. Predictions and errors must agree.

The kernel is Gaussian unless "linear" is said. Seconds are the best of several runs, taken in turns, one thread.
"""
ALPHA = 1e-3
GRID = np.logspace(2, -6, 20)
KERNEL = Gaussian(0.1)
CHOLESKY = (
    "One fit takes NumPy's Cholesky factor, which can be interrupted and copies the matrix; SciPy's, the reference, "
    "works in place and cannot be interrupted."
)
DATA = BUILD / "peers" / "data"
HEADING = ("what", "rows", "ours s", "reference", "reference s", "ratio", "bar", "verdict")


@dataclass(frozen=True)
class Line:
    """A task and its reference."""

    what: str
    n_rows: int
    seconds: float
    reference: str
    reference_seconds: float
    bar: float | None = None
    absolute: bool = False  # the bar is for the seconds

    @property
    def ratio(self) -> float:
        """Return our seconds, divided by those of the reference."""
        return self.seconds / self.reference_seconds

    @property
    def cells(self) -> list[str]:
        """Return the cells of the table."""
        bar = "" if self.bar is None else f"{self.bar:g} s" if self.absolute else f"{self.bar:g}"
        value = self.seconds if self.absolute else self.ratio
        verdict = "" if self.bar is None else Bar(self.what, value, self.bar).verdict
        ours, theirs = (f"{seconds:.3g}" for seconds in (self.seconds, self.reference_seconds))
        return [
            *(self.what, f"{self.n_rows:,}", ours, self.reference, theirs),
            *(f"{self.ratio:.2f}", bar, verdict),
        ]


@dataclass(frozen=True)
class Sizes:
    """Rows of each task."""

    fits: tuple[int, ...] = (2_000, 4_000)
    path: int = 2_000
    pairs: tuple[int, ...] = (2_000, 4_000)
    pairs_of_grid: int = 1_000
    queries: int = 5_000
    sklearn: int = 4_000
    features: int = 200
    turns: int = 3


QUICK = Sizes((60,), 60, (60,), 40, 60, 60, 5, 1)


def make_rows(m: int, n: int = 10) -> Rows:
    """Make a smooth function of some features, and noise; queries of 4 to 20 rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=m)
    return Rows(X, y, np.repeat(np.arange(m), rng.integers(4, 21, size=m))[:m])


def compare(ours: Callable[[], Any], reference: Callable[[], Any], turns: int) -> tuple[float, float]:
    seconds = best_times({"ours": ours, "reference": reference}, turns, turns)
    return seconds["ours"], seconds["reference"]


def decompose(K: Floats) -> Callable[[], Any]:
    return lambda: scipy.linalg.eigh(K, driver="evd", check_finite=False)


def one_fit(m: int, sizes: Sizes) -> Line:
    X, y, _ = make_rows(m)

    def cholesky() -> Floats:
        K = KERNEL(X)
        K.flat[:: m + 1] += ALPHA * m
        # In Fortran's order, as LAPACK takes it, a symmetric matrix is its transpose.
        factor = scipy.linalg.cho_factor(K.T, lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(scipy.linalg.cho_solve(factor, y))

    ours, theirs = compare(lambda: RankRLS(ALPHA, kernel=KERNEL).fit(X, y), cholesky, sizes.turns)
    return Line("one fit", m, ours, "kernel + Cholesky", theirs, 1.3)


def path(m: int, sizes: Sizes) -> Line:
    X, y, _ = make_rows(m)

    def follow(alphas: Floats) -> Callable[[], Any]:
        return lambda: RankRLS(ALPHA, kernel=KERNEL).fit(X, y).path(alphas)

    many, one = compare(follow(np.logspace(2, -6, 30)), follow(np.array([ALPHA])), sizes.turns)
    return Line("path of 30 alphas", m, many, "path of one", one, 1.5)


def all_pairs(m: int, sizes: Sizes) -> Iterator[Line]:
    X, y, _ = make_rows(m)
    model = RankRLS(ALPHA, kernel=KERNEL).fit(X, y)
    model.path([ALPHA])  # the decomposition is made here
    tasks = {
        "F": model.leave_pair_out,
        "concordance": model.leave_pair_out_concordance,
        "eigh": decompose(KERNEL(X)),
    }
    seconds = best_times(tasks, sizes.turns, sizes.turns)
    bar = 0.3 if m == max(sizes.pairs) else None
    yield Line("all pairs left out", m, seconds["F"], "eigh", seconds["eigh"], bar)
    yield Line("their concordance", m, seconds["concordance"], "eigh", seconds["eigh"], bar)


def pairs_of_grid(m: int, sizes: Sizes) -> Line:
    X, y, _ = make_rows(m)
    model = RankRLSCV(GRID, cv="leave-pair-out", kernel=KERNEL)
    ours, theirs = compare(lambda: model.fit(X, y), decompose(KERNEL(X)), sizes.turns)
    return Line("leave-pair-out, 20 alphas", m, ours, "eigh", theirs, 2.0, absolute=True)


def queries_of_grid(m: int, sizes: Sizes) -> Line:
    X, y, qid = make_rows(m)
    model = RankRLSCV(GRID, cv="leave-query-out", kernel=KERNEL)
    turns = min(sizes.turns, 2)
    ours, theirs = compare(lambda: model.fit(X, y, qid=qid), decompose(KERNEL(X)), turns)
    return Line("leave-query-out, 20 alphas", m, ours, "eigh", theirs, 1.2)


def gradients(rows: Rows, alpha: float, sizes: Sizes) -> tuple[Line, str]:
    model = RankRLS(alpha, solver="cg")
    units = unit_tasks(rows)
    seconds = best_times({"fit": lambda: model.fit(rows.X, rows.y), **units}, sizes.turns, 3 * sizes.turns)
    steps = model.n_iter_
    with patch.dict(ConjugateGradients.__init__.__kwdefaults__, preconditioned=False):
        without = model.fit(rows.X, rows.y).n_iter_
    u = sum(seconds[name] for name in units)
    line = Line("conjugate gradients, linear, text-like", len(rows.y), seconds["fit"], "u", u, 30)
    return line, f"Conjugate gradients: {steps} steps, without the preconditioner {without}."


def ridge(m: int, sizes: Sizes) -> tuple[Line, str]:
    X, y, _ = make_rows(m, sizes.features)
    penalties = GRID * m
    theirs = RidgeCV(penalties, store_cv_results=True)
    ours = RLSCV(penalties / (m - 1))
    seconds = compare(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), sizes.turns)
    errors = theirs.cv_results_.mean(axis=0)
    difference = float(np.max(np.abs(-ours.scores_[:, 0] / errors - 1)))
    assert difference < 1e-8, difference
    line = Line("RLSCV, leave-one-out, 20 alphas, linear", m, seconds[0], "RidgeCV", seconds[1])
    return line, f"RLSCV: errors differ from those of RidgeCV by {difference:.0e} of them at most."


def kernel_ridge(m: int, sizes: Sizes) -> tuple[Line, str]:
    X, y, _ = make_rows(m)
    K = KERNEL(X)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()  # it has no intercept
    theirs, ours = KernelRidge(alpha=ALPHA * m, kernel="precomputed"), RLS(ALPHA, kernel="precomputed")
    seconds = compare(lambda: ours.fit(K, y), lambda: theirs.fit(centred, y - y.mean()), sizes.turns)
    expected = theirs.predict(centred) + y.mean()
    difference = float(np.max(np.abs(ours.predict(K) - expected)) / np.std(y))
    assert difference < 1e-8, difference
    line = Line("RLS, kernel matrix given", m, seconds[0], "KernelRidge, centred for it", seconds[1])
    return line, f"RLS: predictions differ from those of KernelRidge by {difference:.0e} deviations of y at most."


def nystrom(m: int, sizes: Sizes) -> Line:
    X, _, _ = make_rows(m, sizes.features)
    fitted = NystromMap(KERNEL, m // 4).fit(X)

    def by_blas() -> Floats:
        return np.asarray(rbf_kernel(X, fitted.basis_, gamma=KERNEL.gamma) @ fitted.whitening_)

    np.testing.assert_allclose(fitted.transform(X), by_blas(), atol=1e-8)
    ours, theirs = compare(lambda: fitted.transform(X), by_blas, sizes.turns)
    return Line("Nystrom map", m, ours, "rbf_kernel + product by BLAS", theirs, 1.5)


def measure_lines(sizes: Sizes, text: Rows) -> tuple[list[Line], list[str]]:
    """Return the lines of the table, and the remarks below it."""
    tasks: list[tuple[str, Callable[[], Any]]] = [
        *((f"one fit, {m:,} rows", lambda m=m: [one_fit(m, sizes)]) for m in sizes.fits),
        ("path", lambda: [path(sizes.path, sizes)]),
        *((f"all pairs, {m:,} rows", lambda m=m: all_pairs(m, sizes)) for m in sizes.pairs),
        ("leave-pair-out", lambda: [pairs_of_grid(sizes.pairs_of_grid, sizes)]),
        ("leave-query-out", lambda: [queries_of_grid(sizes.queries, sizes)]),
        ("conjugate gradients", lambda: gradients(text, WORKLOADS["text"].alpha, sizes)),
        ("Nystrom map", lambda: [nystrom(sizes.sklearn, sizes)]),
        ("RidgeCV", lambda: ridge(sizes.sklearn, sizes)),
        ("KernelRidge", lambda: kernel_ridge(sizes.sklearn, sizes)),
    ]
    lines, remarks = [], []
    for name, task in tasks:
        show_progress(name)
        for found in task():
            (lines if isinstance(found, Line) else remarks).append(found)
    return lines, remarks


def measure(run: Run) -> tuple[list[Line], list[str]]:
    """Return the lines of the table, and the remarks below it."""
    warnings.simplefilter("ignore", PathEndWarning)  # the grids of alpha are fixed by design
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"  # what joblib, which we ask for the number of threads, takes for all cores
    text, _ = load(prepare(WORKLOADS["text"], run.build if run.quick else DATA, run.quick))
    return measure_lines(QUICK if run.quick else Sizes(), text)


def report(found: tuple[list[Line], list[str]], _: Run) -> list[str]:
    lines, remarks = found
    return ["# Least squares", ABOUT, table(HEADING, (line.cells for line in lines)), as_list([*remarks, CHOLESKY])]


def readings(_: Tables) -> list[str]:
    return []


if __name__ == "__main__":
    main(sys.modules[__name__])
