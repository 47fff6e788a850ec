"""Data whose true AUC is known, and repetitions on several processes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

from benchmarks.harness import show_progress
from kernelrank.exceptions import PooledEstimateWarning

N_FEATURES = 10
SHIFT = 0.5  # between the class means of a feature that carries signal
ALPHA = 1.0  # of RankRLS: its penalty is half of the variance of a feature; for a sum over m rows, lambda = m / 2
CHUNKS = 16  # of the repetitions of a setting, each with a generator of its own


class Setting(NamedTuple):
    """Number of rows, share of positive ones, and number of features that carry signal."""

    m: int
    share: float
    n_signal: int

    @property
    def n_positive(self) -> int:
        return round(self.share * self.m)

    @property
    def delta(self) -> np.ndarray:
        """Return the difference of the class means."""
        return np.where(np.arange(N_FEATURES) < self.n_signal, SHIFT, 0.0)


def draw(setting: Setting, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of unit covariance, the positive ones first."""
    y = (np.arange(setting.m) < setting.n_positive).astype(float)
    return rng.standard_normal((setting.m, N_FEATURES)) + np.outer(y, setting.delta), y


def true_auc(weights: np.ndarray, setting: Setting) -> float:
    """Return the AUC of a linear model on the distribution of the rows."""
    # The difference of a positive and a negative row is normal, with mean delta and covariance 2 I.
    return float(ndtr(weights @ setting.delta / np.sqrt(2 * weights @ weights)))


processor_seconds: dict[str, float] = {}  # of all processes, by what was done
Work = Callable[[Setting, np.random.Generator, int], np.ndarray]


def repeat(work: Work, repetitions: Mapping[Setting, int], *, jobs: int) -> dict[Setting, np.ndarray]:
    """Return the lines of all repetitions by setting; `work` does some of them, and returns one line for each."""
    tasks = [(setting, n, k) for setting, total in repetitions.items() for k, n in enumerate(_chunks(total)) if n]
    tasks.sort(key=lambda task: -(task[0].m ** 2) * task[1])  # the longest first: a data set has O(m^2) pairs
    pool = Parallel(jobs, return_as="generator", pre_dispatch="all", batch_size=1)
    found: dict[Setting, list[np.ndarray]] = {setting: [] for setting in repetitions}
    for done, (lines, seconds) in enumerate(pool(delayed(_work)(work, *task) for task in tasks)):
        found[tasks[done][0]].append(lines)
        processor_seconds[work.__name__] = processor_seconds.get(work.__name__, 0.0) + seconds
        show_progress(f"{work.__name__}: {done + 1} of {len(tasks)}")
    show_progress("")
    return {setting: np.concatenate(lines) for setting, lines in found.items()}


def _chunks(total: int) -> list[int]:
    return [len(part) for part in np.array_split(np.arange(total), CHUNKS)]


def _work(work: Work, setting: Setting, n: int, chunk: int) -> tuple[np.ndarray, float]:
    rng = np.random.default_rng([setting.m, round(100 * setting.share), setting.n_signal, chunk])
    began = time.process_time()
    with threadpool_limits(limits=1), expecting_bias():  # the processes share the cores
        lines = work(setting, rng, n)
    return lines, time.process_time() - began


@contextmanager
def expecting_bias() -> Iterator[None]:
    """Ignore warnings about the bias that is measured here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PooledEstimateWarning)
        yield


def scaled(n: int, scale: float) -> int:
    """Return fewer repetitions for a quick run, three at least."""
    return max(3, round(n * scale))


def few(repetitions: Mapping[Setting, int], scale: float) -> dict[Setting, int]:
    """Return the settings and repetitions of a run; in a quick run, those with the fewest rows."""
    least = min(setting.m for setting in repetitions)
    return {setting: scaled(n, scale) for setting, n in repetitions.items() if scale == 1 or setting.m == least}


def standard_error(values: np.ndarray) -> float:
    """Return the standard error of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))
