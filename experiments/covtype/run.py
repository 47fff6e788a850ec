"""Kernel RankSVM at scale: 397,050 rows of covtype, a Gaussian kernel, up to 1,000 basis rows.

    KERNELRANK_DATA=... python -m experiments.covtype.run [--jobs 2]
    python -m experiments.covtype.run --quick

Reads ``other/covtype_sample.npz`` from the folder that the environment variable names. Every model is trained in a
process of its own, so that its peak of memory is its own.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import NamedTuple

import numpy as np

from benchmarks.harness import data_file, show_progress, table
from experiments.study import READING, Run, Tables, alone, main
from kernelrank import RankSVM, RankSVMCV
from kernelrank.kernels import Gaussian

SIZES = (None, 100, 300, 1000)  # basis rows; None is a linear model
QUICK_SIZES = (None, 10, 20)
QUICK_ROWS = 400
TEST_SHARE = 0.1  # the last rows; the file is in random order
TUNING_SHARE = 0.15  # the first rows, a third of them to choose by
GAMMAS = (0.003, 0.01, 0.03, 0.1)
ALPHAS = 10.0 ** np.arange(-2, -10, -1)
GOOD_ENOUGH = 0.001  # less concordance than the best: then the larger alpha, which takes fewer iterations
TITLE = "Kernel RankSVM on covtype"
CHOICE = "Choice of gamma and alpha"
COLUMNS = """
*mapping*: the time of a fit before the solver starts, nearly all of it the feature map (kernels of all rows with the
basis rows, times a square matrix). *solving*: the bundle method, to a certified gap of 0.001. *concordance*: of the
test rows; the last model was trained on all rows. *before*, *peak*: the most memory that the process had before the fit
(interpreter, libraries and data) and until its end. *bound*: 2 · 8 · rows · basis rows bytes, twice the size of the
features.
"""
CHOICE_LEGEND = """
Concordance of one third of the tuning rows, with a model of the other two thirds, by gamma and alpha.
"""


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
        """Return the parameter of an estimator."""
        return "linear" if self.gamma is None else Gaussian(self.gamma)


Scores = dict[Choice, float]  # concordances of the rows to choose by


class Measurement(NamedTuple):
    """Seconds and bytes of a fit; the concordance is None without test rows."""

    n_rows: int
    mapping: float
    solving: float
    n_iter: int
    gap: float
    concordance: float | None
    before: int
    peak: int


def load(quick: bool) -> Rows:
    """Return ten standardised columns and 44 of zeros and ones; the utility of a row is the number of its class."""
    if quick:
        numbers, wilderness, soil, cover_type = generate().values()
    else:
        with np.load(data_file("other/covtype_sample.npz")) as file:
            numbers, wilderness, soil, cover_type = (file[name] for name in COLUMN_NAMES)
    train = numbers[: n_training(len(numbers))]
    X = np.zeros((len(numbers), 54))
    np.divide(numbers - train.mean(axis=0), train.std(axis=0), out=X[:, :10])
    every = np.arange(len(X))
    X[every, 10 + wilderness.astype(int)] = 1.0
    X[every, 14 + soil.astype(int)] = 1.0
    return Rows(X, cover_type.astype(float))


COLUMN_NAMES = ("quantitative", "wilderness", "soil", "cover_type")


def generate() -> Mapping[str, np.ndarray]:
    """Return columns of the same form."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(QUICK_ROWS, 10))
    classes = np.digitize(numbers[:, 0] ** 2 + rng.normal(scale=0.3, size=QUICK_ROWS), np.linspace(0, 3, 6)) + 1
    others = (rng.integers(n, size=QUICK_ROWS) for n in (4, 40))
    return dict(zip(COLUMN_NAMES, (numbers, *others, classes), strict=True))


def n_training(n_rows: int) -> int:
    return n_rows - int(TEST_SHARE * n_rows)


def compare(quick: bool, n_basis: int | None, jobs: int) -> Scores:
    """Return the concordance for each gamma and alpha, on some of the training rows."""
    rows = load(quick)
    n_tuning = int(TUNING_SHARE * len(rows.y))
    some = rows.part(0, n_tuning)
    learn, judge = np.split(np.arange(n_tuning), [n_tuning * 2 // 3])
    found = {}
    for gamma in GAMMAS if n_basis else (None,):
        kernel = Choice(n_basis, gamma, 0.0).kernel
        model = RankSVMCV(ALPHAS, kernel=kernel, n_basis=n_basis, cv=[(learn, judge)], n_jobs=jobs).fit(*some)
        for score, alpha in zip(model.scores_[:, 0], model.alphas_, strict=True):
            found[Choice(n_basis, gamma, float(alpha))] = float(score)
    return found


def choose(scores: Scores) -> Choice:
    """Return the largest alpha that is good enough; the loss is a mean, so alpha suits more rows."""
    enough = max(scores.values()) - GOOD_ENOUGH
    return max((choice for choice, score in scores.items() if score >= enough), key=lambda choice: choice.alpha)


def train(quick: bool, choice: Choice, jobs: int, hold_out: bool) -> Measurement:
    """Train on all rows, or on all but the test rows."""
    rows = load(quick)
    n_train = n_training(len(rows.y)) if hold_out else len(rows.y)
    learnt, test = rows.part(0, n_train), rows.part(n_train, len(rows.y))
    model = RankSVM(choice.alpha, kernel=choice.kernel, n_basis=choice.n_basis, n_jobs=jobs)
    before, start = most_memory(), perf_counter()
    model.fit(*learnt)
    seconds, peak = perf_counter() - start, most_memory()
    solving = float(model.history_["seconds"][-1])
    score = model.score(*test) if hold_out else None
    return Measurement(n_train, seconds - solving, solving, model.n_iter_, model.gap_, score, before, peak)


def most_memory() -> int:
    """Return the peak of this process's memory so far, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in KiB on Linux


def name_of(n_basis: int | None) -> str:
    return "linear" if n_basis is None else f"{n_basis:,} basis rows"


def describe(choice: Choice, found: Measurement) -> list[str]:
    bound = f"{16 * found.n_rows * choice.n_basis / 1e9:.2f}" if choice.n_basis else ""
    return [
        name_of(choice.n_basis),
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


class Found(NamedTuple):
    scores: list[Scores]  # by model
    trained: list[tuple[Choice, Measurement]]


def measure(run: Run) -> Found:
    sizes, found = QUICK_SIZES if run.quick else SIZES, Found([], [])
    if not run.quick:
        data_file("other/covtype_sample.npz")  # a missing file is an error at once
    # A new process has a peak of memory of its own; a quick run has nothing to measure.
    call = (lambda work, *arguments: work(*arguments)) if run.quick else alone
    for n_basis in sizes:
        show_progress(f"{name_of(n_basis)}: choosing alpha{' and gamma' if n_basis else ''}")
        found.scores.append(call(compare, run.quick, n_basis, run.jobs))
        choice = choose(found.scores[-1])
        for hold_out in (True, False) if n_basis == sizes[-1] else (True,):
            show_progress(f"{name_of(n_basis)}: training{'' if hold_out else ', with the test rows'}")
            found.trained.append((choice, call(train, run.quick, choice, run.jobs, hold_out)))
    return found


def report(found: Found, run: Run) -> list[str]:
    heading = [
        *("model", "gamma", "alpha", "rows", "mapping s", "solving s", "iterations", "s / iteration", "gap"),
        *("concordance", "before GB", "peak GB", "bound GB"),
    ]
    cells = [describe(choice, measured) for choice, measured in found.trained]
    return [
        f"# {TITLE}",
        f"{run.jobs} threads.",
        table(heading, cells),
        COLUMNS,
        f"## {CHOICE}",
        CHOICE_LEGEND,
        choice_table(found.scores),
        READING,
    ]


def choice_table(scores: list[Scores]) -> str:
    rows: dict[tuple[int | None, float | None], list[str]] = {}
    for choice, score in (item for each in scores for item in sorted(each.items(), key=lambda item: -item[0].alpha)):
        gamma = "" if choice.gamma is None else f"{choice.gamma:g}"
        rows.setdefault(choice[:2], [name_of(choice.n_basis), gamma]).append(f"{score:.4f}")
    return table(["model", "gamma", *(f"{alpha:.0e}" for alpha in ALPHAS)], rows.values())


def readings(tables: Tables) -> Iterator[str]:
    [found], [choices] = tables[TITLE], tables[CHOICE]
    linear, *kernels = found[:-1]
    smallest = f"{ALPHAS[-1]:.0e}"
    last = next(row for row in choices if (row["model"], row["gamma"]) == (found[-1]["model"], found[-1]["gamma"]))
    rows = [[float(cell) for name, cell in row.items() if name not in ("model", "gamma")] for row in choices]
    at_end = sum(max(row) == row[-1] and row[-1] - row[-2] > GOOD_ENOUGH for row in rows)
    concordances = ", ".join(f"{row['concordance']} with {row['model']}" for row in kernels)
    above = [row["model"] for row in kernels if float(row["peak GB"]) > float(row["bound GB"])]
    yield f"""
        The order of the classes is not a linear function of the columns. The concordance of test rows is
        {linear["concordance"]} for a linear model, and with a Gaussian kernel {concordances}.

        The smallest alpha of the grid, {smallest}, is more than {GOOD_ENOUGH:g} better than the next one in {at_end} of
        {len(rows)} rows of the table of choices. With {last["model"]} and the chosen gamma {last["gamma"]}, it has a
        concordance of {last[smallest]}, and the chosen alpha {found[-1]["alpha"]} {last[found[-1]["alpha"]]}.

        Memory is little more than the features: kernels are computed for some rows at a time and written straight into
        the features, which the solver does not copy. The peak is above the bound with {" and ".join(above) or "none"},
        where the memory that was used before the fit is larger than the features.

        An iteration takes {linear["s / iteration"]} seconds for the linear model and
        {found[-1]["s / iteration"]} with {found[-1]["model"]}: two products with the features and a few counting
        passes. The paper reports less than six seconds for a linear model and half a million rows."""


PARTS = {"results": sys.modules[__name__]}

if __name__ == "__main__":
    main("covtype", __doc__, PARTS)
