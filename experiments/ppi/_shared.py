"""The corpora of a run, processes for its tasks, and results that are kept for the next run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.ppi._corpora import Configuration, load_corpora
from experiments.ppi._measure import LAMBDAS, Measures, draw_folds, measure
from experiments.ppi._toy import make_corpora
from experiments.study import Run, in_processes
from kernelrank.relations import PPICorpus

N_SPLITS, QUICK_SPLITS = 10, 2  # how often documents are dealt to ten folds

FoldsOf = Literal["documents", "pairs"]
T = TypeVar("T")


@dataclass
class Task:
    """Corpora and sizes of a run.

    Attributes
    ----------
    run : Run
        Its build folder keeps the results.
    corpora : dict of PPICorpus
    n_splits : int
        How often documents are dealt to ten folds.
    lambdas : ndarray
        The grid.
    """

    run: Run
    corpora: dict[str, PPICorpus]
    n_splits: int
    lambdas: NDArray[np.float64]

    @property
    def largest_first(self) -> list[str]:
        """Names of the corpora by their numbers of pairs, so that the longest tasks begin first."""
        return sorted(self.corpora, key=lambda name: -len(self.corpora[name]))

    def keep(self, name: str, compute: Callable[[], Mapping[str, ArrayLike]]) -> dict[str, NDArray]:
        """Return arrays that are kept in the build folder, and the processor `seconds` that they took.

        They are computed if they are not there yet.
        """
        file = self.run.build / f"{name}.npz"
        if not file.exists():
            began = time.process_time()
            found = compute()
            unfinished = file.with_suffix(".part.npz")
            np.savez(unfinished, **found, seconds=time.process_time() - began)
            unfinished.replace(file)
        with np.load(file) as kept:
            return dict(kept)

    def kernel_matrix(self, name: str, configuration: Configuration) -> NDArray[np.float64]:
        """Return the kernel of a corpus."""
        return self.keep_kernel(name, configuration)["K"]

    def keep_kernel(self, name: str, configuration: Configuration) -> dict[str, NDArray]:
        corpus = self.corpora[name]
        return self.keep(f"kernel-{name}-{configuration.name}", lambda: {"K": configuration.kernel_matrix(corpus)})


class Measured(NamedTuple):
    """Measures of all lambdas, splits and folds, and the processor seconds that they took."""

    measures: Measures
    seconds: float


@cache
def make_task(run: Run) -> Task:
    """Read the corpora, or generate small ones for a quick run."""
    if run.quick:
        return Task(run, make_corpora(), QUICK_SPLITS, LAMBDAS[::3])
    return Task(run, load_corpora(), N_SPLITS, LAMBDAS)


def spread(run: Run, work: Callable[..., T], tasks: Iterable[Sequence[Any]]) -> list[T]:
    """Call ``work(run, *task)`` for each task, in `run.jobs` processes."""
    make_task(run)  # once, before there are processes
    return in_processes(work, [(run, *task) for task in tasks], run.jobs)


def measure_all(
    run: Run, configurations: Sequence[Configuration], names: Sequence[str] = (), folds_of: FoldsOf = "documents"
) -> dict[str, dict[str, Measured]]:
    """Measure configurations of all corpora, or of some of them; the results are by configuration, then by corpus.

    First all kernel matrices are computed, then each lambda is a task of its own.
    """
    task = make_task(run)
    chosen = [
        (name, configuration)
        for name in task.largest_first
        if name in (names or task.corpora)
        for configuration in configurations
    ]
    kernels = spread(run, kernel_seconds, chosen)
    by_lambda = spread(run, measure_lambda, [(*each, folds_of, k) for each in chosen for k in range(len(task.lambdas))])
    found: dict[str, dict[str, Measured]] = {configuration.name: {} for configuration in configurations}
    for (name, configuration), seconds, begin in zip(
        chosen, kernels, range(0, len(by_lambda), len(task.lambdas)), strict=True
    ):
        mine = by_lambda[begin : begin + len(task.lambdas)]
        stacked = Measures(*(np.stack([each[field] for each in mine]) for field in Measures._fields))
        found[configuration.name][name] = Measured(stacked, seconds + sum(float(each["seconds"]) for each in mine))
    return {key: {name: mine[name] for name in task.corpora if name in mine} for key, mine in found.items()}


def kernel_seconds(run: Run, name: str, configuration: Configuration) -> float:
    """Compute a kernel matrix, or find that it is there, and return the processor seconds that it took."""
    return float(make_task(run).keep_kernel(name, configuration)["seconds"])


def measure_lambda(
    run: Run, name: str, configuration: Configuration, folds_of: FoldsOf, number: int
) -> dict[str, NDArray]:
    """Return the measures of all folds of all splits with one lambda."""
    task = make_task(run)
    corpus = task.corpora[name]

    def compute() -> dict[str, NDArray]:
        K, lam = task.kernel_matrix(name, configuration), float(task.lambdas[number])
        units = corpus.document if folds_of == "documents" else np.arange(len(corpus))
        splits = [draw_folds(units, seed) for seed in range(task.n_splits)]
        return measure(K, corpus.y, units, splits, lam, mean=configuration.mean)._asdict()

    lam = np.log2(task.lambdas[number])
    return task.keep(f"{name}-{configuration.name}-{folds_of}-{task.n_splits}-{lam:+.0f}", compute)


def percent(value: float) -> str:
    """Return a share in percent, to a tenth."""
    return f"{100 * value:.1f}"


def standard_error(values: ArrayLike, axis: int = 0) -> Any:
    """Return the standard error of the mean; undefined values are left out."""
    values = np.asarray(values)
    return np.nanstd(values, axis=axis, ddof=1) / np.sqrt(np.sum(~np.isnan(values), axis=axis))
