"""Choice of alpha, and of kernels, inside the training folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from experiments.relational._data import FOLDS, TEST, Pairs
from experiments.relational._kernels import with_unit_trace
from experiments.study import in_processes
from kernelrank.metrics import concordance_index
from kernelrank.relational import KroneckerRLS

# Kernel matrices of the drugs and of the targets, from what is known of them and from the matrix of training entries.
Kernels = Callable[[Pairs, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Chosen(NamedTuple):
    """Scores of the alpha with the greatest mean concordance over the training folds."""

    alpha: float
    concordance: float  # mean over the training folds
    error: float
    test_concordance: float
    test_error: float


def rate(y: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """Return the concordance of all entries, and the mean squared error."""
    return float(concordance_index(y, predicted)), float(np.mean((y - predicted) ** 2))


def split(pairs: Pairs, fold: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which entries train and which are tested: a fold by the other training folds, the test fold by all."""
    return (pairs.fold != fold) & (pairs.fold != TEST), pairs.fold == fold


def matrices(kernels: Kernels, pairs: Pairs, train: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both kernel matrices of a fit."""
    K, G = kernels(pairs, pairs.matrix(train))
    return with_unit_trace(K), with_unit_trace(G)


def least_squares(
    pairs: Pairs, kernels: Kernels, fold: int, alphas: Sequence[float], *, intercept: bool = True, fill: str = ""
) -> np.ndarray:
    """Return concordance and mean squared error of a fold for each alpha, of Kronecker least squares.

    `fill` says which number stands for unknown entries: the "mean" of those known, "zero", or none.
    """
    train, test = split(pairs, fold)
    K, G = matrices(kernels, pairs, train)
    Y = pairs.matrix(train)
    if fill:
        Y = np.where(np.isnan(Y), np.nanmean(Y) if fill == "mean" else 0.0, Y)
    found = []
    for alpha in alphas:
        model = KroneckerRLS(alpha, row_kernel="precomputed", column_kernel="precomputed", fit_intercept=intercept)
        predicted = model.fit(K, G, Y).predict_entries(K, G, pairs.rows[test], pairs.columns[test])
        found.append(rate(pairs.y[test], predicted))
    return np.array(found)


def choose(
    work: Callable[..., np.ndarray], names: Sequence[str], alphas: Sequence[float], *arguments: object, jobs: int
) -> dict[str, Chosen]:
    """Return, for each name, the alpha chosen inside the training folds, and its scores.

    ``work(name, fold, alphas, *arguments)`` returns concordance and error of a fold for each alpha.
    """
    tasks = [(name, fold, alphas, *arguments) for name in names for fold in (*FOLDS, TEST)]
    found = iter(in_processes(work, tasks, jobs))
    chosen = {}
    for name in names:
        *folds, test = (next(found) for _ in (*FOLDS, TEST))
        mean = np.mean(folds, axis=0)
        best = int(mean[:, 0].argmax())
        chosen[name] = Chosen(float(alphas[best]), *mean[best], *test[best])
    return chosen
