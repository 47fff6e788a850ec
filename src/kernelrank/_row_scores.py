"""One score per row, from any fitted model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import to_host


def score_method(model: Any) -> Callable[[Any], Any]:
    """Return the method by which a fitted model scores rows.

    It is ``score_samples`` of a classifier that sets thresholds on scores, else ``decision_function``, else
    ``predict``. Only classifiers have ``classes_``: ``score_samples`` means something else elsewhere.
    """
    if hasattr(model, "classes_") and hasattr(model, "score_samples"):
        found: Callable[[Any], Any] = model.score_samples
    else:
        found = model.decision_function if hasattr(model, "decision_function") else model.predict
    return found


def score_rows(model: Any, X: Any, name: str = "The estimator") -> NDArray[np.float64]:
    """Return one finite score per row; `name` is that of the model in errors."""
    scores = np.asarray(to_host(score_method(model)(X)), dtype=np.float64)
    return check_scores(scores, name)


def check_scores(scores: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return scores of a model, after checking that there is one finite number per row."""
    if scores.ndim != 1:
        raise ValueError(f"{name} must give one score per row, got an array of shape {scores.shape}.")
    if not np.isfinite(scores).all():
        raise ValueError(f"{name} must give finite scores, but some are NaN or infinite.")
    return scores
