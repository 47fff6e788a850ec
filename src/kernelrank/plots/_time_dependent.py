"""Plot of the area under the ROC curve against time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._row_scores import score_rows
from kernelrank._validation import check_rows
from kernelrank.metrics import TimeDependentAUC, cumulative_dynamic_auc
from kernelrank.plots._axes import axes_or_new
from kernelrank.plots._style import next_line


class TimeDependentAUCDisplay:
    """Area under the ROC curve of who is gone by a time, against who is still there, over time.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create it.

    Parameters
    ----------
    areas : TimeDependentAUC
        What :func:`kernelrank.metrics.cumulative_dynamic_auc` returns.
    name : str, optional
        Name of the model in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes that it is drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from kernelrank.plots import TimeDependentAUCDisplay
    >>> years, died = [1, 2, 3, 4, 5, 6], [True, False, True, True, False, True]
    >>> scores = [0.1, 0.4, 0.5, 0.2, 0.9, 0.3]
    >>> display = TimeDependentAUCDisplay.from_predictions(years, scores, [1.5, 3.5, 4.5], observed=died)
    >>> display.ax_.get_ylabel()
    'area under the ROC curve'
    """

    def __init__(self, areas: TimeDependentAUC, name: str | None = None) -> None:
        self.areas, self.name = areas, name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        times: ArrayLike | None = None,
        *,
        observed: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the areas of the scores that a fitted estimator gives to rows.

        Parameters
        ----------
        estimator : fitted estimator
            Its scores must be higher for later times, as those of this package are.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that the estimator was not fitted to.
        y : array-like of shape (n_samples,)
            Times, or a structured array or a data frame of two columns, a boolean one for `observed` and a numeric one.
        times : array-like of shape (n_times,), optional
            By default, 50 times from the 5th to the 80th percentile of `y`, at which some rows are known to be gone and
            some are still there.
        observed : array-like of shape (n_samples,), optional
            False (or 0) where the time is censored: the true one is at least `y`.
        name : str, optional
            Name of the model in the legend; by default that of its class.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        TimeDependentAUCDisplay
            The display, with the axes it is drawn on.
        """
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, score_rows(estimator, X), times, observed=observed, name=name, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        times: ArrayLike | None = None,
        *,
        observed: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the areas of given scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Times, or a structured array or a data frame of two columns, a boolean one for `observed` and a numeric one.
        y_score : array-like of shape (n_samples,)
            Predicted scores: the higher, the later.
        times : array-like of shape (n_times,), optional
            By default, 50 times from the 5th to the 80th percentile of `y_true`, at which some rows are known to be
            gone and some are still there.
        observed : array-like of shape (n_samples,), optional
            False (or 0) where the time is censored: the true one is at least `y_true`.
        name : str, optional
            Name of the model in the legend.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        TimeDependentAUCDisplay
            The display, with the axes it is drawn on.
        """
        if times is None:
            rows = check_rows(y_true, None, None, None, observed, name="y_true")
            times = _times(rows.y, rows.observed)
        return cls(cumulative_dynamic_auc(y_true, y_score, times, observed=observed), name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the areas, and their mean as a thin dotted line.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        TimeDependentAUCDisplay
            The display, with the axes it is drawn on.
        """
        ax = axes_or_new(ax)
        order = np.argsort(self.areas.times)
        label = f"{self.name or 'mean'} {self.areas.mean:.3f}"
        style = next_line(ax)
        ax.plot(self.areas.times[order], self.areas.auc[order], label=label, **style)
        ax.axhline(self.areas.mean, linestyle=(0, (2, 3)), color=style["color"], linewidth=1)
        ax.set(xlabel="time", ylabel="area under the ROC curve", ylim=(min(0.45, *self.areas.auc), 1.0))
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _times(y: NDArray[np.float64], observed: NDArray[np.bool_] | None) -> NDArray[np.float64]:
    """Return times at which an area is defined, if there are any."""
    events, distinct = y if observed is None else y[observed], np.unique(y)
    first, last = np.quantile(y, [0.05, 0.8])
    first = max(first, events.min(initial=distinct[-1]))
    return np.linspace(first, max(first, min(last, distinct[-2:][0])), 50)
