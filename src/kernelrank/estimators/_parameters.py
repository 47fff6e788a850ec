"""Checks of constructor parameters that several estimators share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_scalar

from kernelrank._validation import check_vector
from kernelrank.kernels import Linear, make_kernel


def check_positive(estimator: Any, *names: str) -> None:
    """Raise unless each of these parameters is a positive, finite number."""
    for name in names:
        value = getattr(estimator, name)
        check_scalar(value, name, Real, min_val=0, max_val=np.inf, include_boundaries="neither")
        if np.isnan(value):
            raise ValueError(f"{name} must be a positive number, got nan.")


def check_choices(estimator: Any, **choices: Sequence[str]) -> None:
    """Raise unless each of these parameters has one of its values."""
    for name, allowed in choices.items():
        value = getattr(estimator, name)
        if value not in allowed:
            raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {value!r}.")


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


def check_training_parameters(estimator: Any) -> None:
    """Check what RankSVM and its cross-validated form share."""
    check_positive(estimator, "tol")
    check_scalar(estimator.max_iter, "max_iter", Integral, min_val=1)
    check_choices(estimator, loss=("hinge", "squared_hinge"), query_weighting=("query", "pair"))
    check_scalar(estimator.positive, "positive", (bool, np.bool_))
    if estimator.positive and not isinstance(make_kernel(estimator.kernel), Linear):
        raise ValueError("positive=True is for the linear kernel, where coefficients are those of features.")
