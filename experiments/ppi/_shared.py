"""What the studies share: what a run is about, measures that are kept, and their files."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import show_progress
from experiments.ppi._corpora import MAX, Configuration
from experiments.ppi._measure import LAMBDAS, Measures, draw_folds, measure
from kernelrank.relations import PPICorpus

HERE = Path(__file__).parent
LARGE = 8000  # pairs; of a larger corpus, variants of the first configuration have fewer splits
FEW_SPLITS = 3
KEPT = HERE.parents[1] / "build" / "ppi"


@dataclass
class Run:
    """What is to be done.

    Attributes
    ----------
    corpora : dict of PPICorpus
    n_splits : int
        How often documents are dealt to ten folds.
    write : bool
        Whether tables and plots are written, and measures kept in build/ppi for the next run.
    """

    corpora: dict[str, PPICorpus]
    n_splits: int
    write: bool
    _kernel: tuple[str, NDArray[np.float64]] = field(default=("", np.empty((0, 0))), repr=False)

    def kernel_matrix(self, name: str, configuration: Configuration) -> NDArray[np.float64]:
        """Return a copy of the kernel of a corpus, of which the last one is remembered."""
        key = f"{name}-{configuration.name}"
        if self._kernel[0] != key:
            self._kernel = "", np.empty((0, 0))  # or two would be in memory
            self._kernel = key, configuration.kernel_matrix(self.corpora[name])
        return self._kernel[1].copy()

    def measures(self, name: str, configuration: Configuration) -> tuple[Measures, float]:
        """Measure all folds of all splits of a corpus; also the processor seconds that it took."""
        corpus, n_splits = self.corpora[name], self.n_splits
        if len(corpus) > LARGE and configuration != MAX:
            n_splits = min(n_splits, FEW_SPLITS)
        file = KEPT / f"{name}-{configuration.name}-{n_splits}.npz"
        if self.write and file.exists():
            with np.load(file) as kept:
                if np.array_equal(kept["lambdas"], LAMBDAS):
                    return Measures(*(kept[name] for name in Measures._fields)), float(kept["seconds"])
        show_progress(f"{name}: {configuration.name}")
        began = time.process_time()
        K = self.kernel_matrix(name, configuration)
        splits = [draw_folds(corpus.document, seed) for seed in range(n_splits)]
        found = measure(K, corpus.y, corpus.document, splits, lambdas=LAMBDAS, mean=not configuration.published)
        seconds = time.process_time() - began
        if self.write:
            KEPT.mkdir(parents=True, exist_ok=True)
            np.savez(file, **found._asdict(), lambdas=LAMBDAS, seconds=seconds)
        return found, seconds

    def report(self, name: str, parts: Iterable[str]) -> None:
        """Print paragraphs, and write them to ``results/<name>.md``."""
        text = "\n\n".join(part.strip() for part in parts) + "\n"
        show_progress("")
        print(text, flush=True)
        if self.write:
            (HERE / "results").mkdir(exist_ok=True)
            (HERE / "results" / f"{name}.md").write_text(text)


def percent(value: float) -> str:
    """Return a share in percent, to a tenth."""
    return f"{100 * value:.1f}"
