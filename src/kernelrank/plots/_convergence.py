"""Plot of the bounds of the objective during a fit."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kernelrank.plots._axes import axes_or_new, last_step, require_attribute
from kernelrank.plots._style import BAND, BLUE, VERMILION


class ConvergenceDisplay:
    """Upper and lower bound of the optimum against the number of products with X.

    Use :meth:`from_estimator` to create it. The optimum lies in the band between the two
    curves; the fit ends when the band is narrower than ``tol``.

    Parameters
    ----------
    history : structured ndarray
        ``history_`` of a fitted estimator.

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
    >>> from kernelrank.plots import ConvergenceDisplay
    >>> model = RankSVM().fit(*load_diabetes(return_X_y=True))
    >>> display = ConvergenceDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel()
    'products with X'
    """

    def __init__(self, history: NDArray[Any]) -> None:
        self.history = history

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Plot the bounds during the fit of an estimator.

        Parameters
        ----------
        estimator : fitted estimator or pipeline
            Estimator with a ``history_``, or a pipeline that ends with one.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        ConvergenceDisplay
            The display, with the axes it is drawn on.
        """
        estimator = last_step(estimator)
        require_attribute(
            estimator,
            "history_",
            "RankSVM and OrdinalSVM",
            "For RankSVMCV, use PathDisplay, or fit RankSVM(alpha=model.alpha_).",
        )
        return cls(estimator.history_).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw both bounds and the band between them.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        ConvergenceDisplay
            The display, with the axes it is drawn on.
        """
        ax = axes_or_new(ax)
        history = self.history
        products, upper, lower = history["n_products"], history["upper_bound"], history["lower_bound"]
        ax.plot(products, upper, color=BLUE, marker="o", markersize=5, label="objective of the best solution")
        ax.plot(products, lower, "--", color=VERMILION, marker="s", markersize=5, label="proven lower bound")
        ax.fill_between(products, lower, upper, color=BLUE, **BAND)
        gap = float(np.maximum(upper[-1] - lower[-1], 0.0))
        ax.set(xlabel="products with X", ylabel="objective", title=f"certified gap {gap:.1e}")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
