"""What all displays share."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from kernelrank._rules import ESTIMATOR


def axes_or_new(ax: Any) -> Any:
    """Return `ax`, or the axes of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError('Plots need matplotlib: pip install "kernelrank[plots]".') from missing
    return plt.subplots()[1]


def last_step(estimator: Any) -> Any:
    """Return the estimator at the end of a pipeline, or the estimator itself."""
    ESTIMATOR("estimator", estimator)
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator
