"""Functions shared by all displays."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernelrank._rules import ESTIMATOR


def axes_or_new(ax: Any) -> Any:
    """Return `ax`, or the axes of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            'Plots require matplotlib; install it with pip install "kernelrank[plots]".'
        ) from missing
    return plt.subplots()[1]


def require_attribute(estimator: Any, name: str, owners: str, remedy: str) -> None:
    """Raise an error unless an estimator is fitted and has an attribute; `owners` and `remedy` are for the message."""
    check_is_fitted(estimator)
    if not hasattr(estimator, name):
        kind = type(estimator).__name__
        raise TypeError(f"estimator must have the attribute {name}, as {owners} do, got {kind}. {remedy}")


def last_step(estimator: Any) -> Any:
    """Return the estimator at the end of a pipeline, or the estimator itself."""
    ESTIMATOR("estimator", estimator)
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def require_result(result: Any, kind: type, function: str, name: str = "result") -> None:
    """Raise an error unless a result is of the kind that a function returns."""
    if not isinstance(result, kind):
        raise TypeError(f"{name} must be what {function} returns, got {type(result).__name__}.")
