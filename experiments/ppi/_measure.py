"""Measures of held-out documents, for every split, fold and lambda."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.ppi._nested import HeldOut, Scores
from kernelrank.metrics import auc, best_f_score

Array = NDArray[np.float64]

# Every second power of two, the larger of equals first. The paper's software has all from 2^10 to 2^-10.
LAMBDAS = 2.0 ** np.arange(2, -9, -2)
N_FOLDS = 10


class Measures(NamedTuple):
    """Measures of one fold, or arrays of them, lambda first; models have not seen the documents that they score."""

    inner_f: Array  # of the other folds, with the best threshold
    inner_auc: Array
    precision: Array  # of the fold, with the same threshold
    recall: Array
    f: Array
    auc: Array  # of the fold; NaN if it has one class only

    def at(self, best: NDArray[np.intp]) -> Measures:
        """Take one lambda, the first axis, for each of the others."""
        return Measures(*(np.take_along_axis(each, best[None], axis=0)[0] for each in self))


def draw_folds(documents: NDArray, seed: int) -> NDArray[np.intp]:
    """Deal documents to folds at random, and return the fold of each row."""
    _, codes = np.unique(documents, return_inverse=True)
    return np.random.default_rng(seed).permutation(codes.max() + 1)[codes] % N_FOLDS


def measure(
    K: Array,
    y: NDArray[np.int64],
    groups: NDArray,
    splits: Iterable[NDArray[np.intp]],
    lam: float,
    *,
    mean: bool = True,
) -> Measures:
    """Measure all folds of all splits for one lambda; each array has the shape (n_splits, n_folds).

    Parameters
    ----------
    K : ndarray of shape (m, m)
        The kernel matrix. It is overwritten.
    y : ndarray of shape (m,)
        1 for pairs that interact, 0 for others.
    groups : ndarray of shape (m,)
        Rows that are held out together inside the folds: documents, or every row for itself.
    splits : iterable of ndarray of shape (m,)
        Number of the fold of each row.
    lam : float
    mean : bool
        Whether the model has a mean.
    """
    _, groups = np.unique(groups, return_inverse=True)
    residuals = HeldOut(K, 2.0 * y - 1.0, mean).at(lam)
    found = []
    for folds in splits:
        for k in range(N_FOLDS):
            inside = folds == k
            scores = residuals.nested(np.flatnonzero(inside), groups)
            found.append(judge(scores, y[inside], y[~inside]))
    return Measures(*np.reshape(found, (-1, N_FOLDS, len(Measures._fields))).transpose(2, 0, 1))


def judge(scores: Scores, y_fold: NDArray[np.int64], y_others: NDArray[np.int64]) -> tuple[float, ...]:
    """Choose the threshold by the rows outside the fold, and measure the fold."""
    best = best_f_score(y_others, scores.others)
    return best.f_score, auc(y_others, scores.others), *judge_fold(scores.fold, y_fold, best.threshold)


def judge_fold(scores: Array, y: NDArray[np.int64], threshold: float) -> tuple[float, float, float, float]:
    """Return precision, recall, F and AUC of rows, positive above the threshold; NaN where undefined."""
    called, positive = scores > threshold, int(y.sum())
    n_called, hits = int(called.sum()), int(y[called].sum())
    precision = hits / n_called if n_called else 0.0
    recall, f = (hits / positive, 2 * hits / (n_called + positive)) if positive else (np.nan, np.nan)
    return precision, recall, f, auc(y, scores) if 0 < positive < len(y) else np.nan
