"""Checks of constructor parameters that several estimators share."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_scalar

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


def check_training_parameters(estimator: Any) -> None:
    """Check what RankSVM and its cross-validated form share."""
    check_positive(estimator, "tol")
    check_scalar(estimator.max_iter, "max_iter", Integral, min_val=1)
    check_choices(estimator, loss=("hinge", "squared_hinge"), query_weighting=("query", "pair"))
    check_scalar(estimator.positive, "positive", (bool, np.bool_))
    kernels = estimator.kernel if isinstance(estimator.kernel, list | tuple) else [estimator.kernel]
    if estimator.positive and not all(isinstance(make_kernel(kernel), Linear) for kernel in kernels):
        raise ValueError("positive=True is for the linear kernel, where coefficients are those of features.")
