"""Plot of scores on held-out queries against the size of the training set."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from kernelrank.inspection import LearningCurve, learning_curve
from kernelrank.plots._axes import axes_or_new, require_result
from kernelrank.plots._style import BAND, next_line_with_markers


class LearningCurveDisplay:
    """Score on held-out queries against the number of queries trained on: mean and standard deviation over folds.

    Use :meth:`from_estimator` or :meth:`from_curve` to create it.

    Parameters
    ----------
    curve : LearningCurve
        What :func:`kernelrank.inspection.learning_curve` returns.
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
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RankSVM
    >>> from kernelrank.plots import LearningCurveDisplay
    >>> display = LearningCurveDisplay.from_estimator(RankSVM(), *load_diabetes(return_X_y=True), cv=3)
    >>> display.ax_.get_xlabel()
    'rows trained on'
    """

    def __init__(self, curve: LearningCurve, name: str | None = None) -> None:
        self.curve, self.name = curve, name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Fit an estimator to growing training sets, and plot its scores.

        Parameters
        ----------
        estimator : estimator
            Any estimator or pipeline; clones are fitted.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            A data-frame column named "qid" is the query of each row.
        y : array-like of shape (n_samples,)
            Utilities, or two classes of any kind.
        name : str, optional
            Name of the estimator in the legend; by default that of its class.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options : dict
            Further arguments of :func:`kernelrank.inspection.learning_curve`, such as `qid` and `scoring`.

        Returns
        -------
        LearningCurveDisplay
            The display, with the axes it is drawn on.
        """
        name = type(estimator).__name__ if name is None else name
        return cls.from_curve(learning_curve(estimator, X, y, **options), name=name, ax=ax)

    @classmethod
    def from_curve(cls, curve: LearningCurve, *, name: str | None = None, ax: Any = None) -> Self:
        """Plot a learning curve.

        Parameters
        ----------
        curve : LearningCurve
            As returned by :func:`kernelrank.inspection.learning_curve`.
        name : str, optional
            Name of the estimator in the legend.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        LearningCurveDisplay
            The display, with the axes it is drawn on.
        """
        require_result(curve, LearningCurve, "kernelrank.inspection.learning_curve", "curve")
        return cls(curve, name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the mean and standard deviation.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        LearningCurveDisplay
            The display, with the axes it is drawn on.
        """
        ax = axes_or_new(ax)
        curve = self.curve
        mean, deviation = curve.mean, curve.std
        label = f"{self.name or 'mean'} ({curve.scores.shape[1]} folds)"
        style = next_line_with_markers(ax)
        ax.plot(curve.sizes, mean, label=label, **style)
        ax.fill_between(curve.sizes, mean - deviation, mean + deviation, color=style["color"], **BAND)
        ax.set(xlabel=f"{curve.unit} trained on", ylabel=f"{curve.metric} on held-out {curve.unit}")
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
