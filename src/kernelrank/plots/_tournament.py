"""Plot of the ROC curve of held-out pairs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernelrank.model_selection import TournamentROC, tournament_roc
from kernelrank.plots._axes import axes_or_new, require_result
from kernelrank.plots._style import BAND, REFERENCE, next_line


class TournamentROCDisplay:
    """ROC curve of a tournament of held-out pairs, with its confidence band and the area with its interval.

    Use :meth:`from_estimator` or :meth:`from_result` to create it. The band contains the point of a threshold, its two
    true rates, with the confidence of the result. It is for one threshold at a time, and takes the scoring of rows as
    given.

    Parameters
    ----------
    result : TournamentROC
        As returned by :func:`kernelrank.model_selection.tournament_roc`.
    name : str, optional
        Name of the estimator in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes that it is drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernelrank import RankRLS
    >>> from kernelrank.plots import TournamentROCDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ax = Figure().subplots()
    >>> display = TournamentROCDisplay.from_estimator(RankRLS(alpha=1e-3), X[:60, [1, 4, 9]], y[:60], ax=ax)
    >>> ax.get_legend().get_texts()[0].get_text()
    'RankRLS 0.861 (0.726 to 0.935)'
    """

    def __init__(self, result: TournamentROC, name: str | None = None) -> None:
        require_result(result, TournamentROC, "kernelrank.model_selection.tournament_roc")
        self.result, self.name = result, name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Compare all pairs of rows while both are held out, and plot the curve.

        Parameters
        ----------
        estimator : estimator
            Any estimator or pipeline that returns one score per row; clones are fitted.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows of both classes.
        y : array-like of shape (n_samples,)
            Two distinct values of any kind; the larger one is positive.
        name : str, optional
            Name of the estimator in the legend; by default that of its class.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options : dict
            Further arguments of :func:`kernelrank.model_selection.tournament_roc`, such as `groups`.

        Returns
        -------
        TournamentROCDisplay
            The display, with the axes it is drawn on.
        """
        name = type(estimator).__name__ if name is None else name
        return cls.from_result(tournament_roc(estimator, X, y, **options), name=name, ax=ax)

    @classmethod
    def from_result(cls, result: TournamentROC, *, name: str | None = None, ax: Any = None) -> Self:
        """Plot the curve of a tournament.

        Parameters
        ----------
        result : TournamentROC
            As returned by :func:`kernelrank.model_selection.tournament_roc`.
        name : str, optional
            Name of the estimator in the legend.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default. Curves of several estimators may share axes.

        Returns
        -------
        TournamentROCDisplay
            The display, with the axes it is drawn on.
        """
        return cls(result, name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the curve, the band and the diagonal.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        TournamentROCDisplay
            The display, with the axes it is drawn on.
        """
        ax = axes_or_new(ax)
        found = self.result
        style, (low, high) = next_line(ax), found.interval
        percent = f"{100 * found.confidence:.3g} %"
        area = f"{found.auc:.3f} ({low:.3f} to {high:.3f})"
        ax.plot(found.fpr, found.tpr, label=f"{self.name} {area}" if self.name else area, **style)
        # The union of the rectangles of both intervals, which move to the right and upwards with the threshold.
        above = np.column_stack((found.fpr_band[:, 0], found.tpr_band[:, 1]))
        below = np.column_stack((found.fpr_band[:, 1], found.tpr_band[:, 0]))
        corners = np.concatenate(([(0.0, 0.0)], above, [(1.0, 1.0)], below[::-1]))
        labels, band = ax.get_legend_handles_labels()[1], f"{percent} band, for each threshold"
        ax.fill(*corners.T, color=style["color"], label=band if band not in labels else None, **BAND)
        if "chance" not in labels:
            ax.plot([0, 1], [0, 1], linestyle=":", label="chance", **REFERENCE)
        ax.set(xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        title = f"area under the curve ({percent} interval)"
        ax.legend(loc="lower right", fontsize="small", title=title, title_fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
