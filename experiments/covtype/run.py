"""Kernel RankSVM at scale: 397,050 rows of covtype, a Gaussian kernel, up to 1,000 basis rows.

    KERNELRANK_DATA=... python -m experiments.covtype.run [--rows 30000] [--jobs 2]

Reads ``other/covtype_sample.npz`` from the folder that the environment variable names. Every model is trained in a
process of its own, so that its peak of memory is its own. Writes ``results.md`` beside this file, unless only some of
the rows are asked for.
"""

from __future__ import annotations

import argparse
import os
import resource
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import NamedTuple, TypeVar

import numpy as np

from benchmarks._timing import table
from kernelrank import RankSVM, RankSVMCV
from kernelrank.exceptions import PathEndWarning
from kernelrank.kernels import Gaussian

SIZES = (None, 100, 300, 1000)  # basis rows; None is a linear model
TEST_SHARE = 0.1  # the last rows; the file is in random order
TUNING_SHARE = 0.15  # the first rows, a third of them to choose by
GAMMAS = (0.003, 0.01, 0.03, 0.1)
ALPHAS = 10.0 ** np.arange(-2, -9, -1)
GOOD_ENOUGH = 0.001  # less concordance than the best: then the larger alpha, which takes fewer iterations
READING = """
*mapping*: all of a fit that comes before the solver, nearly all of it the map: kernels of all rows with the basis,
times a square matrix. *solving*: the bundle method, to a certified gap of 0.001. *concordance*: of rows that nothing
was learnt from; the last line has learnt from all rows. *before*, *peak*: the most memory that the process had until
the fit, with interpreter, libraries and data, and until its end. *bound*: 2 · 8 · rows · basis rows bytes, twice what
the features take.

**Reading.** The order of the classes follows no column of the data, so a linear function is limited. A hundred basis
rows are about as good as that, more are better. Memory is the features and little else: kernels are computed some rows
at a time and go straight into them, and the solver works on them where they are. With a hundred basis rows what was
there before the fit counts for more than the features do, and the peak is above the bound. An iteration is two products
with the features and a few counting passes; the paper's, of a linear model and half a million rows, took less than six
seconds.
"""

T = TypeVar("T")


class Rows(NamedTuple):
    X: np.ndarray
    y: np.ndarray

    def part(self, start: int, stop: int) -> Rows:
        """Return some of them, not copied."""
        return Rows(self.X[start:stop], self.y[start:stop])


class Choice(NamedTuple):
    """Parameters of a model."""

    n_basis: int | None
    gamma: float | None
    alpha: float

    @property
    def kernel(self) -> Gaussian | str:
        """As an estimator takes it."""
        return "linear" if self.gamma is None else Gaussian(self.gamma)


class Measurement(NamedTuple):
    """Seconds, and bytes; no concordance if there was no row left to measure it on."""

    n_rows: int
    mapping: float
    solving: float
    n_iter: int
    gap: float
    concordance: float | None
    before: int
    peak: int


def load(n_rows: int | None) -> Rows:
    """Return ten standardised columns and 44 of zeros and ones; the utility of a row is the number of its class."""
    with np.load(data_file()) as file:
        numbers, wilderness, soil, cover_type = (
            file[name][:n_rows] for name in ("quantitative", "wilderness", "soil", "cover_type")
        )
    train = numbers[: n_training(len(numbers))]
    X = np.zeros((len(numbers), 54))
    np.divide(numbers - train.mean(axis=0), train.std(axis=0), out=X[:, :10])
    every = np.arange(len(X))
    X[every, 10 + wilderness.astype(int)] = 1.0
    X[every, 14 + soil.astype(int)] = 1.0
    return Rows(X, cover_type.astype(float))


def data_file() -> Path:
    if "KERNELRANK_DATA" not in os.environ:
        raise SystemExit("Set KERNELRANK_DATA to the folder that holds other/covtype_sample.npz.")
    return Path(os.environ["KERNELRANK_DATA"]) / "other" / "covtype_sample.npz"


def n_training(n_rows: int) -> int:
    return n_rows - int(TEST_SHARE * n_rows)


def choose(n_rows: int | None, n_basis: int | None, jobs: int) -> Choice:
    """Find gamma and alpha on some of the training rows; alpha is against a mean, so it suits more rows as well."""
    rows = load(n_rows)
    n_tuning = int(TUNING_SHARE * len(rows.y))
    some = rows.part(0, n_tuning)
    learn, judge = np.split(np.arange(n_tuning), [n_tuning * 2 // 3])
    found = []
    for gamma in GAMMAS if n_basis else (None,):
        kernel = Choice(n_basis, gamma, 0.0).kernel
        model = RankSVMCV(ALPHAS, kernel=kernel, n_basis=n_basis, cv=[(learn, judge)], n_jobs=jobs).fit(*some)
        scores = zip(model.scores_[:, 0], model.alphas_, strict=True)
        found += [(score, Choice(n_basis, gamma, float(alpha))) for score, alpha in scores]
    enough = max(score for score, _ in found) - GOOD_ENOUGH
    return max((choice for score, choice in found if score >= enough), key=lambda choice: choice.alpha)


def measure(n_rows: int | None, choice: Choice, jobs: int, hold_out: bool) -> Measurement:
    """Train on all rows, or on all but the test rows."""
    rows = load(n_rows)
    n_train = n_training(len(rows.y)) if hold_out else len(rows.y)
    train, test = rows.part(0, n_train), rows.part(n_train, len(rows.y))
    model = RankSVM(choice.alpha, kernel=choice.kernel, n_basis=choice.n_basis, n_jobs=jobs)
    before, start = most_memory(), perf_counter()
    model.fit(*train)
    seconds, peak = perf_counter() - start, most_memory()
    solving = float(model.history_["seconds"][-1])
    score = model.score(*test) if hold_out else None
    return Measurement(n_train, seconds - solving, solving, model.n_iter_, model.gap_, score, before, peak)


def most_memory() -> int:
    """Bytes that this process had at its peak so far."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in KiB on Linux


def alone(work: Callable[..., T], *arguments: object) -> T:
    """Do it in a new process: one that is forked would begin with the memory of this one."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def describe(choice: Choice, found: Measurement) -> list[str]:
    bound = f"{16 * found.n_rows * choice.n_basis / 1e9:.2f}" if choice.n_basis else ""
    return [
        "linear" if choice.n_basis is None else f"{choice.n_basis:,} basis rows",
        "" if choice.gamma is None else f"{choice.gamma:g}",
        f"{choice.alpha:.0e}",
        f"{found.n_rows:,}",
        f"{found.mapping:.1f}",
        f"{found.solving:.1f}",
        f"{found.n_iter}",
        f"{found.solving / found.n_iter:.2f}",
        f"{found.gap:.1e}",
        "" if found.concordance is None else f"{found.concordance:.4f}",
        f"{found.before / 1e9:.2f}",
        f"{found.peak / 1e9:.2f}",
        bound,
    ]


def run(n_rows: int | None, jobs: int) -> str:
    cells = []
    for n_basis in SIZES:
        name = "linear" if n_basis is None else f"{n_basis:,} basis rows"
        print(f"{name}: choosing alpha{' and gamma' if n_basis else ''}", flush=True)
        choice = alone(choose, n_rows, n_basis, jobs)
        for hold_out in (True, False) if n_basis == SIZES[-1] else (True,):
            print(f"{name}: training{'' if hold_out else ', with the test rows'}", flush=True)
            found = alone(measure, n_rows, choice, jobs, hold_out)
            print(f"  {found.mapping + found.solving:.1f} s, {found.peak / 1e9:.2f} GB at the peak", flush=True)
            cells.append(describe(choice, found))
    heading = [
        *("model", "gamma", "alpha", "rows", "mapping s", "solving s", "iterations", "s / iteration", "gap"),
        *("concordance", "before GB", "peak GB", "bound GB"),
    ]
    parts = [
        "# Kernel RankSVM on covtype",
        f"Written by `python -m experiments.covtype.run`; {jobs} threads.",
        table(heading, cells),
        READING.strip(),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    warnings.simplefilter("ignore", PathEndWarning)  # the grids of alpha are fixed by design
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, help="only the first ones; prints, writes nothing")
    parser.add_argument("--jobs", type=int, default=2, help="threads")
    arguments = parser.parse_args()
    data_file()  # a folder that is not there is told at once
    text = run(arguments.rows, arguments.jobs)
    if arguments.rows is None:
        Path(__file__).with_name("results.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
