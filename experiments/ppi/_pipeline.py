"""The task as a scikit-learn pipeline: graphs, features, least squares, a threshold."""

from __future__ import annotations

from typing import Literal

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from experiments.ppi._measure import LAMBDAS
from kernelrank import RLSCV
from kernelrank.kernels import AllPaths, Polynomial
from kernelrank.metrics import best_f_score
from kernelrank.model_selection import FScoreClassifier

N_BASIS = 4000  # at most, as in the paper


def make_classifier(n_pairs: int, combine: Literal["max", "sum"] = "max", n_basis: int = N_BASIS) -> Pipeline:
    """Return a classifier of graphs, which chooses alpha and its threshold by the same held-out documents.

    Fit it with ``fit(graphs, y, fscoreclassifier__groups=documents)``.
    """
    least_squares = RLSCV(
        LAMBDAS / n_pairs,
        scoring=pooled_f_score,
        # The inner product, of sparse rows as they are; "linear" would make them dense. Not "cosine": new graphs have
        # features that no training graph has, which are left out but count for their length.
        kernel=Polynomial(degree=1, coef0=0.0),
        n_basis=n_basis if n_pairs > n_basis else None,
    )
    return make_pipeline(AllPaths(combine), FScoreClassifier(least_squares, cv="own"))


def pooled_f_score(y: np.ndarray, scores: np.ndarray) -> float:
    """Return the F-score with the best threshold."""
    return best_f_score(y, scores).f_score
