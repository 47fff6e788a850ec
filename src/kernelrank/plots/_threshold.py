"""Plot of precision, recall and F-score against the threshold."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernelrank._row_scores import score_rows
from kernelrank._rules import NONE, NUMBER, POSITIVE
from kernelrank._validation import as_array
from kernelrank.metrics import Decision, best_f_score, f_score
from kernelrank.metrics._decisions import DecisionCurve, decision_curve
from kernelrank.plots._axes import axes_or_new, last_step, require_attribute
from kernelrank.plots._style import BLACK, BLUE, GREEN, GREY, VERMILION


class CalibrationOfThresholdDisplay:
    """Precision, recall and F-score against the threshold on the scores, with the chosen threshold.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create it. It shows how much the F-score depends on the
    threshold, and how far the chosen one is from the best one for the given rows, which is not known in practice.

    Parameters
    ----------
    curve : DecisionCurve
        Decisions of all thresholds.
    best : Decision
        The best threshold for these rows, as returned by :func:`kernelrank.metrics.best_f_score`.
    threshold : float, optional
        The chosen threshold.
    chosen_f_score : float, optional
        Its F-score.
    beta : float, default=1.0
        Weight of recall relative to precision in the F-score.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes that it is drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from kernelrank.plots import CalibrationOfThresholdDisplay
    >>> y_true, y_score = [0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.2, 0.7]
    >>> ax = Figure().subplots()
    >>> display = CalibrationOfThresholdDisplay.from_predictions(y_true, y_score, 0.5, ax=ax)
    >>> display.ax_.get_legend().get_texts()[-2].get_text()
    'chosen 0.5: F = 0.800'
    """

    def __init__(
        self,
        curve: DecisionCurve,
        best: Decision,
        threshold: float | None = None,
        chosen_f_score: float | None = None,
        beta: float = 1.0,
    ) -> None:
        self.curve, self.best, self.threshold = curve, best, threshold
        self.chosen_f_score, self.beta = chosen_f_score, beta

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *, ax: Any = None) -> Self:
        """Plot the decisions of a classifier for rows that it was not fitted to, with its threshold.

        Parameters
        ----------
        estimator : fitted FScoreClassifier or pipeline
            A classifier, or a pipeline that ends with one.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows that it was not fitted to.
        y : array-like of shape (n_samples,)
            Classes, as in ``fit``.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        CalibrationOfThresholdDisplay
            The display, with the axes it is drawn on.
        """
        last = last_step(estimator)
        remedy = "For given scores, use CalibrationOfThresholdDisplay.from_predictions."
        require_attribute(last, "threshold_", "kernelrank.model_selection.FScoreClassifier", remedy)
        classes = as_array(y, "y")
        if classes.ndim != 1 or not np.isin(classes, last.classes_).all():
            raise ValueError(f"y must have one class per row, of {last.classes_.tolist()}, as in fit.")
        scores = score_rows(estimator, X)
        if len(scores) != len(classes):
            raise ValueError(f"X has {len(scores)} rows, but y has {len(classes)} elements.")
        if len(np.unique(classes)) < 2:
            raise ValueError("y has rows of one class only: precision and recall need both.")
        return cls.from_predictions(
            classes == last.classes_[1], scores, last.threshold_, beta=getattr(last, "beta", 1.0), ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        threshold: float | None = None,
        *,
        beta: float = 1.0,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot the decisions of given scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Two distinct numbers; the higher one is positive.
        y_score : array-like of shape (n_samples,)
            Predicted scores.
        threshold : float, optional
            Chosen threshold, such as that of :func:`kernelrank.metrics.threshold_at_rate`.
        beta : float, default=1.0
            Weight of recall relative to precision in the F-score.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        CalibrationOfThresholdDisplay
            The display, with the axes it is drawn on.
        """
        (NONE | NUMBER)("threshold", threshold)
        POSITIVE("beta", beta)
        options: dict[str, Any] = {"beta": beta, "sample_weight": sample_weight}
        curve, best = decision_curve(y_true, y_score, **options), best_f_score(y_true, y_score, **options)
        chosen = None if threshold is None else f_score(y_true, y_score, threshold, **options)
        return cls(curve, best, threshold, chosen, beta).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the three curves, the chosen threshold and the best one.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        CalibrationOfThresholdDisplay
            The display, with the axes it is drawn on.
        """
        ax = axes_or_new(ax)
        score = "F" if self.beta == 1 else f"F (beta {self.beta:.3g})"
        thresholds = self.curve.thresholds[::-1]
        low, high = thresholds[1], thresholds[-1]  # the first is minus infinity
        room = 0.04 * float(high - low) or 1.0
        places = np.concatenate(([low - room], thresholds[1:], [high + room]))
        for values, label, color, style in (
            (self.curve.precision, "precision", BLUE, "--"),
            (self.curve.recall, "recall", GREEN, "-."),
            (self.curve.f_score, score, VERMILION, "-"),
        ):
            rising = np.append(values[::-1], values[0])
            ax.plot(places, rising, linestyle=style, color=color, label=label, drawstyle="steps-post")
        ax.set(xlim=(places[0], places[-1]), ylim=(0, 1.02), xlabel="threshold: rows with a larger score are positive")
        ends = low - room / 2, high + room / 2  # an infinite threshold is drawn beyond all scores
        if self.threshold is not None:
            label = f"chosen {self.threshold:.3g}: {score} = {self.chosen_f_score:.3f}"
            ax.axvline(np.clip(self.threshold, *ends), color=BLACK, linewidth=1.5, label=label)
        label = f"best for these rows {self.best.threshold:.3g}: {score} = {self.best.f_score:.3f}"
        at = np.clip(self.best.threshold, *ends)
        ax.plot(
            [at], [self.best.f_score], "D", color="white", markeredgecolor=GREY, label=label, clip_on=False, zorder=5
        )
        ax.set_ylabel("precision, recall, F-score")
        ax.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
