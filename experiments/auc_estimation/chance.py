"""How often tests reject a true hypothesis, and how optimistic a choice by the same pairs is."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import table
from experiments.auc_estimation._shared import ALPHA, Setting, draw, few, repeat, standard_error
from kernelrank import RankRLS, RankRLSCV
from kernelrank.model_selection import compare, estimate_auc, permutation_test

LEVEL = 0.05
N_PERMUTATIONS = 199
PERMUTED = {Setting(30, share, 0): 2_000 for share in (0.5, 0.1)}
PERMUTED_AND_POOLED = {Setting(30, 0.5, 0): 300}
COMPARED = {Setting(m, 0.5, n): count for n in (0, 4) for m, count in ((30, 2_000), (100, 1_000), (300, 300))}
COMPARED_BY_JACKKNIFE = {Setting(m, 0.5, n): count for n in (0, 4) for m, count in ((30, 400), (100, 100))}
CHOSEN = {Setting(30, 0.5, 0): 100}
N_ALPHAS = 5  # more where the score still improves at the end of the grid
KERNELS = ("linear", "gaussian")
TESTS = {
    "permutations": "`permutation_test`, leave-pair-out",
    "pooled_permutations": "`permutation_test`, pooled",
    "comparisons": "`compare`, DeLong",
    "comparisons_by_jackknife": "`compare`, jackknife",
}


def permutations(setting: Setting, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return the p-values of permutation tests by leave-pair-out."""
    return _permute(setting, rng, n, "leave-pair-out")


def pooled_permutations(setting: Setting, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return the p-values of tests by pooled leave-one-out, whose bias the permutations share."""
    return _permute(setting, rng, n, "pooled")


def _permute(setting: Setting, rng: np.random.Generator, n: int, strategy: Any) -> np.ndarray:
    lines = []
    for _ in range(n):
        X, y = draw(setting, rng)
        options = {"n_permutations": N_PERMUTATIONS, "random_state": int(rng.integers(1 << 31)), "verbose": 0}
        lines.append([permutation_test(RankRLS(ALPHA), X, y, strategy=strategy, **options).pvalue])
    return np.array(lines)


def even(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the inner products of every other feature, from the first."""
    return X[:, ::2] @ Y[:, ::2].T


def odd(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the inner products of the other features."""
    return X[:, 1::2] @ Y[:, 1::2].T


def comparisons(setting: Setting, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return the p-values of comparisons of two equally good models, by DeLong's test."""
    return _compare(setting, rng, n, "rows")


def comparisons_by_jackknife(setting: Setting, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return the same by the jackknife."""
    return _compare(setting, rng, n, "jackknife")


def _compare(setting: Setting, rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    # Signal is in the first features: as many of them are even as odd.
    halves, lines = [RankRLS(ALPHA, kernel=even), RankRLS(ALPHA, kernel=odd)], []
    for _ in range(n):
        X, y = draw(setting, rng)
        lines.append([compare(halves, X, y, interval=kind, verbose=0).differences[0].pvalue])
    return np.array(lines)


def choices(setting: Setting, rng: np.random.Generator, n: int) -> np.ndarray:
    """Estimate a model that chooses alpha and kernel, for each pair or once, and one that does not choose."""
    lines = []
    for _ in range(n):
        X, y = draw(setting, rng)
        chooser = RankRLSCV(N_ALPHAS, kernel=list(KERNELS))
        options = {"interval": "rows", "verbose": 0}
        nested = [estimate_auc(chooser, X, y, nested=each, **options).estimate for each in (True, False)]
        lines.append([*nested, estimate_auc(RankRLS(ALPHA), X, y, **options).estimate])
    return np.array(lines)


def run(scale: float, jobs: int) -> dict[str, dict[Setting, np.ndarray]]:
    """Return all p-values, and the estimates of models that choose."""
    parts = {
        permutations: PERMUTED,
        pooled_permutations: PERMUTED_AND_POOLED,
        comparisons: COMPARED,
        comparisons_by_jackknife: COMPARED_BY_JACKKNIFE,
        choices: CHOSEN,
    }
    return {work.__name__: repeat(work, few(settings, scale), jobs=jobs) for work, settings in parts.items()}


def error_table(found: dict[str, dict[Setting, np.ndarray]]) -> str:
    """Return a table of how often p <= LEVEL where the hypothesis is true."""
    rows = [_line(TESTS[name], setting, p) for name in TESTS for setting, p in found[name].items()]
    return table(["test", "rows", "positive", "signal", "data sets", f"p ≤ {LEVEL}"], rows)


def _line(name: str, setting: Setting, pvalues: np.ndarray) -> list[str]:
    rejected = (pvalues <= LEVEL).astype(float)
    cells = [str(setting.m), f"{setting.share:.0%}", str(setting.n_signal), f"{len(pvalues):,}"]
    return [name, *cells, f"{rejected.mean():.1%} ± {standard_error(rejected):.1%}"]


def choice_table(lines: np.ndarray) -> str:
    names = ("chosen anew without each pair (`nested=True`)", "chosen once, by the same pairs", "nothing chosen")
    cells = [[f"{each.mean():.3f} ± {standard_error(each):.3f}", f"{each.std(ddof=1):.3f}"] for each in lines.T]
    return table(
        ["", "mean estimate", "standard deviation"], [[name, *cell] for name, cell in zip(names, cells, strict=True)]
    )
