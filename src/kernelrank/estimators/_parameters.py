"""Parameters that several estimators share: what they stand for, and what goes together."""

from __future__ import annotations

from typing import Any

from kernelrank.exceptions import InvalidParameterError
from kernelrank.kernels import Linear, make_kernel
from kernelrank.metrics import RankingScorer, concordance_index, make_ranking_scorer
from kernelrank.metrics._names import LOWER_IS_BETTER, parse_metric


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


def name_scoring(scoring: Any) -> str:
    """Return the name of what `scoring` maximises."""
    if scoring is None:
        return "concordance"
    if isinstance(scoring, str):
        return f"minus {scoring}" if parse_metric(scoring)[0] in LOWER_IS_BETTER else scoring
    return str(getattr(scoring, "__name__", scoring))


def require_linear_if_positive(estimator: Any) -> None:
    """Make sure that ``positive=True`` comes with a linear kernel."""
    kernels = estimator.kernel if isinstance(estimator.kernel, list | tuple) else [estimator.kernel]
    if estimator.positive and not all(isinstance(make_kernel(kernel), Linear) for kernel in kernels):
        raise ValueError("positive=True is for the linear kernel, where coefficients are those of features.")
