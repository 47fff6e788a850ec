"""Time saved by closed forms: all pairs held out of 1,000 rows, and 1,000 permutations of 300."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from benchmarks._timing import best_times
from benchmarks.harness import show_progress, table
from experiments.auc_estimation._shared import ALPHA, Setting, draw, scaled
from kernelrank import RankRLS
from kernelrank.kernels import Gaussian
from kernelrank.model_selection import estimate_auc, permutation_test

MODELS = {"linear": RankRLS(ALPHA), "gaussian": RankRLS(ALPHA, kernel=Gaussian(0.1))}
PAIRS_OF = Setting(1000, 0.5, 4)
FEWER = Setting(100, 0.5, 4)  # in a quick run
PERMUTATIONS_OF = Setting(300, 0.5, 4)
N_REFITS = 50
N_PERMUTATIONS = 1000


def seconds(work: Callable[[], object], repetitions: int = 3) -> float:
    """Return the seconds of the fastest of several runs."""
    return best_times({"": work}, repetitions, repetitions)[""]


def refit(model: RankRLS, X: np.ndarray, y: np.ndarray, pair: np.ndarray) -> np.ndarray:
    rest = np.delete(np.arange(len(y)), pair)
    return clone(model).fit(X[rest], y[rest]).predict(X[pair])


def time_pairs(model: RankRLS, setting: Setting, n_refits: int) -> list[str]:
    """Time all pairs by the closed form, and a sample of them by refits, which must predict the same."""
    X, y = draw(setting, np.random.default_rng(0))
    every = np.stack(np.meshgrid(np.flatnonzero(y == 1), np.flatnonzero(y == 0)), axis=-1).reshape(-1, 2)
    sample = np.random.default_rng(0).choice(every, n_refits, replace=False)
    refitted = np.array([refit(model, X, y, pair) for pair in sample])
    np.testing.assert_allclose(refitted, clone(model).fit(X, y).leave_pair_out(sample), atol=1e-8)
    one = seconds(lambda: [refit(model, X, y, pair) for pair in sample]) / n_refits
    all_pairs = seconds(lambda: estimate_auc(model, X, y, interval="rows", verbose=0))
    jackknife = seconds(lambda: estimate_auc(model, X, y, interval="jackknife", verbose=0), 1)
    factor = one * len(every) / all_pairs
    return [
        f"{len(every):,}",
        f"{all_pairs:.3f} s",
        f"{jackknife:.1f} s",
        f"{one * 1000:.2f} ms",
        f"{one * len(every):,.0f} s",
        f"{factor:,.0f}",
    ]


def time_permutations(model: RankRLS, n_permutations: int) -> str:
    X, y = draw(PERMUTATIONS_OF, np.random.default_rng(0))
    return f"{seconds(lambda: permutation_test(model, X, y, n_permutations=n_permutations, verbose=0), 2):.2f} s"


def run(scale: float) -> str:
    """Return a table; BLAS has one thread."""
    rows = []
    with threadpool_limits(limits=1):
        for name, model in MODELS.items():
            show_progress(f"speed: {name}")
            cells = time_pairs(model, PAIRS_OF if scale == 1 else FEWER, scaled(N_REFITS, min(1.0, 10 * scale)))
            rows.append([name, *cells, time_permutations(model, scaled(N_PERMUTATIONS, scale))])
    show_progress("")
    return table(
        [
            *("kernel", "pairs", "closed form", "with the jackknife"),
            *("one refit", "all refits (extrapolated)", "factor", "permutations"),
        ],
        rows,
    )
