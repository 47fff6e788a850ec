"""Plot of the coefficients of a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from kernelrank._arrays import to_host
from kernelrank._rules import COUNT, ESTIMATOR, NAMES, NONE, whole
from kernelrank._validation import check_vector
from kernelrank.inspection._explain import choose_output, unwrap
from kernelrank.model_selection import CoefIntervals
from kernelrank.plots._axes import axes_or_new, require_result
from kernelrank.plots._style import BLACK, REFERENCE, name_bars, signed_bars, size_beside_bars

Array = NDArray[np.float64]
_SAME = 1e-3  # relative to the largest coefficient


class CoefficientDisplay:
    """Coefficients of a linear model with their signs, the largest first, and their intervals if given.

    Use :meth:`from_estimator` or :meth:`from_result` to create it. Sizes of coefficients can be compared only if the
    features have the same scale.

    Parameters
    ----------
    names : sequence of str
        Name of each coefficient.
    coef : array-like of shape (n_features,)
        Coefficients.
    low, high : array-like of shape (n_features,), optional
        Ends of intervals.
    max_bars : int, default=20
        Number of bars; the smallest coefficients are left out, if there are more.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes that it is drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelrank import RankSVM
    >>> from kernelrank.plots import CoefficientDisplay
    >>> model = make_pipeline(StandardScaler(), RankSVM()).fit(*load_diabetes(return_X_y=True, as_frame=True))
    >>> display = CoefficientDisplay.from_estimator(model, max_bars=3, ax=Figure().subplots())
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['s5', 's1', 's2']
    """

    def __init__(
        self,
        names: Sequence[str],
        coef: ArrayLike,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        max_bars: int = 20,
    ) -> None:
        COUNT("max_bars", max_bars)
        NAMES("names", names)
        self.names, self.coef = [str(name) for name in names], check_vector(coef, "coef", len(names))
        if not len(self.coef):
            raise ValueError("coef is empty: there are no coefficients to plot.")
        if (low is None) != (high is None):
            raise ValueError("low and high must be given together.")
        self.low = None if low is None else check_vector(low, "low", len(names))
        self.high = None if high is None else check_vector(high, "high", len(names))
        self.max_bars = max_bars

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        feature_names: Sequence[str] | None = None,
        *,
        intervals: CoefIntervals | None = None,
        output: int | None = None,
        max_bars: int = 20,
        ax: Any = None,
    ) -> Self:
        """Plot the coefficients of a fitted linear model.

        Parameters
        ----------
        estimator : fitted estimator or pipeline
            An estimator with ``coef_``, also one of scikit-learn; a pipeline that ends with one, whose transformers
            name the coefficients (``get_feature_names_out``); or a search over either.
        feature_names : sequence of str, optional
            Names of the columns of X. By default those of the fit, or else x0, x1, ...
        intervals : CoefIntervals, optional
            Intervals of the same coefficients, from :func:`kernelrank.model_selection.coef_intervals`.
        output : int, optional
            Output whose coefficients to plot, if the model has several.
        max_bars : int, default=20
            Number of bars; the smallest coefficients are left out, if there are more.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        CoefficientDisplay
            The display, with the axes it is drawn on.

        Raises
        ------
        TypeError
            If the model has no coefficients, as a kernel model.
        ValueError
            If names or intervals do not match the coefficients.
        """
        ESTIMATOR("estimator", estimator)
        (NONE | NAMES)("feature_names", feature_names)
        (NONE | whole(0))("output", output)
        COUNT("max_bars", max_bars)
        steps, last = unwrap(estimator)
        coef = _coefficients(last, output)
        names = _names(steps, last, feature_names, len(coef))
        low, high = (None, None) if intervals is None else _ends(intervals, coef)
        return cls(names, coef, low, high, max_bars).plot(ax=ax)

    @classmethod
    def from_result(
        cls,
        result: CoefIntervals,
        feature_names: Sequence[str] | None = None,
        *,
        max_bars: int = 20,
        ax: Any = None,
    ) -> Self:
        """Plot coefficients with their intervals.

        Parameters
        ----------
        result : CoefIntervals
            As returned by :func:`kernelrank.model_selection.coef_intervals`.
        feature_names : sequence of str, optional
            Name of each coefficient; by default x0, x1, ... Names through a pipeline are those of
            :meth:`from_estimator`, which takes the result as `intervals`.
        max_bars : int, default=20
            Number of bars; the smallest coefficients are left out, if there are more.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        CoefficientDisplay
            The display, with the axes it is drawn on.
        """
        require_result(result, CoefIntervals, "kernelrank.model_selection.coef_intervals")
        (NONE | NAMES)("feature_names", feature_names)
        names = _names([], None, feature_names, len(result.coef))
        return cls(names, result.coef, result.low, result.high, max_bars).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw one bar per coefficient, the largest at the top, and whiskers for the intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        CoefficientDisplay
            The display, with the axes it is drawn on.
        """
        ax = axes_or_new(ax, min(len(self.coef), self.max_bars))
        shown = np.argsort(-np.abs(self.coef), kind="stable")[: self.max_bars]
        lengths, places = self.coef[shown], np.arange(len(shown))
        signed_bars(ax, places, lengths)
        ends, share = [lengths, np.zeros(1)], 0.06
        if self.low is not None and self.high is not None:
            low, high = self.low[shown], self.high[shown]
            ax.hlines(places, low, high, color=BLACK, linewidth=1.5)
            ax.plot(low, places, "|", high, places, "|", color=BLACK)
            ends += [low, high]
        else:
            share, size = 0.18, size_beside_bars(ax, len(shown), "small")  # of the numbers
            for place, length in zip(places, lengths, strict=True):
                side, shift = ("left", 3) if length >= 0 else ("right", -3)
                at = {"xytext": (shift, 0), "textcoords": "offset points", "ha": side, "va": "center"}
                ax.annotate(f"{length:+.3g}", (length, place), fontsize=size, **at)
        name_bars(ax, [self.names[k] for k in shown])
        ax.axvline(0.0, **REFERENCE)
        every = np.concatenate(ends)
        low_end, high_end = (float(every.min()), float(every.max())) if every.any() else (-1.0, 1.0)
        room = share * (high_end - low_end)
        ax.set_xlim(low_end - room * (low_end < 0), high_end + room * (high_end > 0))
        left_out = len(self.coef) - len(shown)
        ax.set(xlabel="coefficient", title=f"largest {len(shown):,} of {len(self.coef):,}" if left_out else "")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _coefficients(last: Any, output: int | None) -> Array:
    """Return the coefficients of one output."""
    coef = getattr(last, "coef_", None)
    if coef is None:
        raise TypeError(
            f"estimator must have coef_, as linear models do, got {type(last).__name__}. For a kernel model, plot the"
            " difference of two rows by ExplanationDisplay."
        )
    dense = coef.toarray() if hasattr(coef, "toarray") else to_host(coef)
    rows = np.atleast_2d(np.asarray(dense, dtype=np.float64))
    return np.asarray(rows[choose_output(output, len(rows), type(last).__name__)])


def _names(steps: list[tuple[str, Any]], last: Any, feature_names: Any, n: int) -> list[str]:
    """Return the names of the coefficients: those that the transformers make of the names of the columns."""
    given = None if feature_names is None else [str(each) for each in feature_names]
    if given is not None and len(set(given)) < len(given):
        raise ValueError("feature_names must be different names, but some are repeated.")
    if steps:
        try:
            names = [str(each) for each in Pipeline(steps).get_feature_names_out(given)]
        except (AttributeError, ValueError) as error:
            raise ValueError(f"feature_names cannot be followed through the transformers: {error}") from error
    elif given is not None:
        names = given
    else:
        names = [str(each) for each in getattr(last, "feature_names_in_", [f"x{k}" for k in range(n)])]
    if len(names) != n:
        raise ValueError(f"feature_names must name {n} coefficients, got {len(names)} names.")
    return names


def _ends(intervals: CoefIntervals, coef: Array) -> tuple[Array, Array]:
    """Return the ends of intervals, after checking that they are of these coefficients."""
    require_result(intervals, CoefIntervals, "kernelrank.model_selection.coef_intervals", "intervals")
    if intervals.coef.shape != coef.shape or np.abs(intervals.coef - coef).max() > _SAME * np.abs(coef).max():
        raise ValueError(
            "intervals must be of the coefficients of this estimator: compute them by coef_intervals with its"
            " parameters and training rows."
        )
    return intervals.low, intervals.high
