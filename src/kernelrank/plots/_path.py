"""Plot of cross-validation scores against alpha."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kernelrank.estimators import RLSCV
from kernelrank.plots._axes import axes_or_new, last_step, require_attribute
from kernelrank.plots._style import BAND, REFERENCE, next_line_with_markers


class PathDisplay:
    """Score on held-out rows against alpha: mean and standard deviation over the folds.

    Use :meth:`from_estimator` to create it.

    Parameters
    ----------
    alphas : ndarray of shape (n_alphas,)
        Alphas that were tried.
    scores : ndarray of shape (n_alphas, n_folds)
        Scores per fold; a fold without a comparable pair has NaN and is left out.
    alpha : float
        The chosen alpha.
    metric : str, default="concordance"
        Name of the metric.

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
    >>> from kernelrank import RankSVMCV
    >>> from kernelrank.plots import PathDisplay
    >>> model = RankSVMCV(alphas=5, cv=3).fit(*load_diabetes(return_X_y=True))
    >>> display = PathDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel()
    'alpha'
    """

    def __init__(
        self, alphas: NDArray[np.float64], scores: NDArray[np.float64], alpha: float, metric: str = "concordance"
    ) -> None:
        self.alphas, self.scores, self.alpha, self.metric = alphas, scores, alpha, metric

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Plot the cross-validation scores of an estimator.

        Parameters
        ----------
        estimator : fitted RankSVMCV, RankRLSCV, RLSCV or pipeline
            Model that has chosen alpha, or a pipeline that ends with one.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        PathDisplay
            The display, with the axes it is drawn on.
        """
        estimator = last_step(estimator)
        require_attribute(
            estimator,
            "scores_",
            "RankSVMCV, RankRLSCV and RLSCV",
            "Fit one of these to plot the choice of alpha; for RankSVM, use ConvergenceDisplay.",
        )
        scoring = estimator.scoring
        if scoring is None:
            metric = "minus squared error" if isinstance(estimator, RLSCV) else "concordance"
        else:
            metric = scoring if isinstance(scoring, str) else "score"
        return cls(estimator.alphas_, estimator.scores_, estimator.alpha_, metric).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the mean and standard deviation, and mark the chosen alpha.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        PathDisplay
            The display, with the axes it is drawn on.
        """
        ax = axes_or_new(ax)
        scores = self.scores[:, ~np.isnan(self.scores).any(axis=0)]
        mean, deviation = scores.mean(axis=1), scores.std(axis=1)
        style = next_line_with_markers(ax)
        ax.plot(self.alphas, mean, label=f"mean of {scores.shape[1]} folds", **style)
        ax.fill_between(self.alphas, mean - deviation, mean + deviation, color=style["color"], **BAND)
        ax.axvline(self.alpha, linestyle="--", label=f"chosen: {self.alpha:.3g}", **REFERENCE)
        ax.set(xscale="log", xlabel="alpha", ylabel=f"{self.metric} on held-out rows")
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
