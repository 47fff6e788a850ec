"""Parameters that several estimators share: what they stand for, and what goes together."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank._validation import check_vector
from kernelrank.exceptions import InvalidParameterError
from kernelrank.kernels import Linear, make_kernel
from kernelrank.metrics import RankingScorer, concordance_index, make_ranking_scorer


def resolve_alphas(alphas: Any, largest: Callable[[], float], smallest_share: float) -> NDArray[np.float64]:
    """Return alphas from the largest to the smallest: those given, or so many of a geometric grid."""
    if isinstance(alphas, Integral):
        if alphas < 1:
            raise ValueError(f"alphas must be at least 1, got {alphas}.")
        return largest() * np.geomspace(1.0, smallest_share, int(alphas))
    given = check_vector(alphas, "alphas") if np.ndim(alphas) == 1 else np.empty(0)
    if len(given) == 0 or (given <= 0).any():
        raise ValueError("alphas must be positive numbers, one at least, or how many of them.")
    return np.unique(given)[::-1]


def resolve_scorer(scoring: Any, n_jobs: int | None = None) -> RankingScorer:
    """Return the scorer that `scoring` means; concordance if it is None."""
    if isinstance(scoring, RankingScorer):
        return scoring
    if scoring is None:
        return make_ranking_scorer(concordance_index, n_jobs=n_jobs)
    try:
        return make_ranking_scorer(scoring)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(f"scoring: {error}") from None


def require_linear_if_positive(estimator: Any) -> None:
    """Make sure that ``positive=True`` comes with a linear kernel."""
    if estimator.positive and not isinstance(make_kernel(estimator.kernel), Linear):
        raise ValueError("positive=True is for the linear kernel, where coefficients are those of features.")
