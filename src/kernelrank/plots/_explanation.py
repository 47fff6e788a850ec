"""Plot of the contributions to a difference of scores."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from kernelrank._rules import COUNT
from kernelrank.inspection import Explanation, explain
from kernelrank.plots._axes import axes_or_new, require_result
from kernelrank.plots._style import REFERENCE, name_bars, signed_bars, size_beside_bars


class ExplanationDisplay:
    """Contributions to the difference between the scores of two rows, as bars.

    Use :meth:`from_explanation` or :meth:`from_estimator` to create it.

    Parameters
    ----------
    explanation : Explanation
        What :func:`kernelrank.inspection.explain` returns.
    max_bars : int, default=10
        Number of bars; the last one is the sum of all others, if there are more contributions.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes that it is drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RankSVM
    >>> from kernelrank.plots import ExplanationDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> display = ExplanationDisplay.from_estimator(RankSVM().fit(X, y), X.iloc[0], X.iloc[1])
    >>> display.ax_.get_xlabel()
    'contribution to the difference of scores'
    """

    def __init__(self, explanation: Explanation, max_bars: int = 10) -> None:
        COUNT("max_bars", max_bars)
        self.explanation, self.max_bars = explanation, max_bars

    @classmethod
    def from_estimator(
        cls, estimator: Any, a: Any, b: Any, *, max_bars: int = 10, ax: Any = None, **options: Any
    ) -> Self:
        """Explain the difference between two rows, and plot its contributions.

        Parameters
        ----------
        estimator : fitted estimator or pipeline
            Model to explain, as in :func:`kernelrank.inspection.explain`.
        a, b : array-like of shape (n_features,)
            Rows, as in :func:`kernelrank.inspection.explain`.
        max_bars : int, default=10
            Number of bars; the last one is the sum of all others, if there are more contributions.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options : dict
            Further arguments of :func:`kernelrank.inspection.explain`.

        Returns
        -------
        ExplanationDisplay
            The display, with the axes it is drawn on.
        """
        return cls.from_explanation(explain(estimator, a, b, **options), max_bars=max_bars, ax=ax)

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, max_bars: int = 10, ax: Any = None) -> Self:
        """Plot the contributions of an explanation.

        Parameters
        ----------
        explanation : Explanation
            As returned by :func:`kernelrank.inspection.explain`.
        max_bars : int, default=10
            Number of bars; the last one is the sum of all others, if there are more contributions.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        ExplanationDisplay
            The display, with the axes it is drawn on.
        """
        require_result(explanation, Explanation, "kernelrank.inspection.explain", "explanation")
        return cls(explanation, max_bars).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw one bar per contribution, the largest at the top.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        ExplanationDisplay
            The display, with the axes it is drawn on.
        """
        names, lengths = self.explanation.names, self.explanation.contributions
        ax = axes_or_new(ax, min(len(names), self.max_bars))
        if len(names) > self.max_bars:
            kept = self.max_bars - 1
            names = [*names[:kept], f"{len(names) - kept:,} others"]
            lengths = np.append(lengths[:kept], lengths[kept:].sum())
        places = np.arange(len(names))
        bars = signed_bars(ax, places, lengths)
        size = size_beside_bars(ax, len(lengths), "medium")
        ax.bar_label(bars, [f"{length:+.3g}" for length in lengths], padding=3, fontsize=size)
        name_bars(ax, names)
        ax.axvline(0.0, **REFERENCE)
        ax.margins(x=0.2)
        first, second = self.explanation.scores
        title = f"score of a {first:.3g}, of b {second:.3g}"
        ax.set(xlabel="contribution to the difference of scores", title=title)
        self.ax_, self.figure_ = ax, ax.figure
        return self
