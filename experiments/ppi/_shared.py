"""The corpora of a run, and measures that are kept for the next one."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import show_progress
from experiments.ppi._corpora import MAX, Configuration, load_corpora
from experiments.ppi._measure import LAMBDAS, Measures, draw_folds, measure
from experiments.ppi._toy import make_corpora
from experiments.study import Run
from kernelrank.relations import PPICorpus

N_SPLITS, QUICK_SPLITS = 10, 2  # how often documents are dealt to ten folds
LARGE = 8000  # pairs; of a larger corpus, variants of the first configuration have fewer splits
FEW_SPLITS = 3


@dataclass
class Task:
    """Corpora, and their kernel matrices and measures.

    Attributes
    ----------
    run : Run
        Its build folder keeps the measures.
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
    _kernel: tuple[str, NDArray[np.float64]] = field(default=("", np.empty((0, 0))), repr=False)

    def kernel_matrix(self, name: str, configuration: Configuration) -> NDArray[np.float64]:
        """Return a copy of the kernel of a corpus, of which the last one is remembered."""
        key = f"{name}-{configuration.name}"
        if self._kernel[0] != key:
            self._kernel = "", np.empty((0, 0))  # or two would be in memory
            self._kernel = key, configuration.kernel_matrix(self.corpora[name])
        return self._kernel[1].copy()

    def measures(self, name: str, configuration: Configuration) -> tuple[Measures, float]:
        """Return the measures of all folds of all splits of a corpus, and the processor seconds that they took."""
        corpus, n_splits = self.corpora[name], self.n_splits
        if len(corpus) > LARGE and configuration != MAX:
            n_splits = min(n_splits, FEW_SPLITS)
        file = self.run.build / f"{name}-{configuration.name}-{n_splits}.npz"
        if file.exists():
            with np.load(file) as kept:
                if np.array_equal(kept["lambdas"], self.lambdas):
                    return Measures(*(kept[name] for name in Measures._fields)), float(kept["seconds"])
        show_progress(f"{name}: {configuration.name}")
        began = time.process_time()
        K = self.kernel_matrix(name, configuration)
        splits = [draw_folds(corpus.document, seed) for seed in range(n_splits)]
        found = measure(K, corpus.y, corpus.document, splits, lambdas=self.lambdas, mean=not configuration.published)
        seconds = time.process_time() - began
        np.savez(file, **found._asdict(), lambdas=self.lambdas, seconds=seconds)
        return found, seconds


@cache
def make_task(run: Run) -> Task:
    """Read the corpora, or generate small ones for a quick run."""
    if run.quick:
        return Task(run, make_corpora(), QUICK_SPLITS, LAMBDAS[::3])
    return Task(run, load_corpora(), N_SPLITS, LAMBDAS)


def percent(value: float) -> str:
    """Return a share in percent, to a tenth."""
    return f"{100 * value:.1f}"
