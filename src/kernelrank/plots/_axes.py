"""Functions shared by all displays."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernelrank._rules import ESTIMATOR

_INCHES_PER_BAR = 0.21  # of the figure, of which the axes are three quarters


def axes_or_new(ax: Any, n_bars: int = 0) -> Any:
    """Return `ax`, or the axes of a new figure, which is high enough for the names of so many horizontal bars."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            'Plots require matplotlib; install it with pip install "kernelrank[plots]".'
        ) from missing
    width, height = plt.rcParams["figure.figsize"]
    return plt.subplots(figsize=(width, max(height, _INCHES_PER_BAR * n_bars)))[1]


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
