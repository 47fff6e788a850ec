"""Plot of the null distribution of a permutation test."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank.model_selection import PermutationTest, permutation_test
from kernelrank.model_selection._permutation_test import ROUNDING
from kernelrank.plots._axes import axes_or_new, require_result
from kernelrank.plots._style import BLACK, NEGATIVE, REFERENCE

_MOST_BINS = 40


class PermutationDisplay:
    """Estimates for permuted utilities as a histogram, the estimate for the true ones, and the p-value.

    Use :meth:`from_estimator` or :meth:`from_result` to create it. Permutations whose estimate is at least as large as
    the true one are hatched: the p-value counts them, and the true order as one more unless it is exact.

    Parameters
    ----------
    result : PermutationTest
        As returned by :func:`kernelrank.model_selection.permutation_test`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes that it is drawn on.
    figure_ : matplotlib Figure
        Figure of the axes.

    Raises
    ------
    ValueError
        If the result has no permutation, or estimates that are not finite.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RankRLS
    >>> from kernelrank.plots import PermutationDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ax = Figure().subplots()
    >>> display = PermutationDisplay.from_estimator(RankRLS(alpha=1e-4), X[:40], y[:40], ax=ax)
    >>> print(ax.get_title())
    p = 0.001
    (standard error 0.001, 999 permutations)
    """

    def __init__(self, result: PermutationTest) -> None:
        require_result(result, PermutationTest, "kernelrank.model_selection.permutation_test")
        permuted = np.asarray(result.permuted, dtype=np.float64)
        if not len(permuted) or not np.isfinite([*permuted, result.statistic]).all():
            raise ValueError("result must have at least one permutation, and finite estimates only.")
        self.result = result

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *, ax: Any = None, **options: Any) -> Self:
        """Run a permutation test, and plot it.

        Parameters
        ----------
        estimator : estimator
            Any estimator or pipeline that returns one score per row; clones are fitted.
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            A data-frame column named "qid" is the query of each row.
        y : array-like of shape (n_samples,)
            Utilities, or two classes of any kind.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.
        **options : dict
            Further arguments of :func:`kernelrank.model_selection.permutation_test`, such as `qid` and `groups`.

        Returns
        -------
        PermutationDisplay
            The display, with the axes it is drawn on.
        """
        return cls.from_result(permutation_test(estimator, X, y, **options), ax=ax)

    @classmethod
    def from_result(cls, result: PermutationTest, *, ax: Any = None) -> Self:
        """Plot the result of a permutation test.

        Parameters
        ----------
        result : PermutationTest
            As returned by :func:`kernelrank.model_selection.permutation_test`.
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        PermutationDisplay
            The display, with the axes it is drawn on.
        """
        return cls(result).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the histogram, the estimate, and the value of a random order.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure by default.

        Returns
        -------
        PermutationDisplay
            The display, with the axes it is drawn on.
        """
        ax = axes_or_new(ax)
        found = self.result
        permuted = found.permuted
        edges = _edges(permuted, found.statistic)
        reached = permuted >= found.statistic - ROUNDING
        parts = [permuted[~reached], permuted[reached]]
        _, _, (_, bars) = ax.hist(parts, edges, stacked=True, color=["#9CC7E0", "#F3C9AE"], edgecolor=BLACK, lw=0.5)
        for bar in bars:
            bar.set(facecolor=NEGATIVE["facecolor"], hatch=NEGATIVE["hatch"])
        bars.set_label(f"{reached.sum():,} of {len(permuted):,} at least as large")
        ax.axvline(found.statistic, color=BLACK, linewidth=2, label=f"observed {found.statistic:.3f}")
        ax.axvline(0.5, linestyle=":", label="random order 0.5", **REFERENCE)
        _, _, test = str(found).partition(", ")  # the estimate is in the legend
        ax.set(xlabel="estimate for permuted utilities", ylabel="permutations")
        ax.set_title(test.replace(" (", "\n("), fontsize="medium")
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.set_ylim(0, 1.35 * ax.dataLim.y1)  # room for the legend
        ax.legend(fontsize="small", loc="upper left", ncols=2, framealpha=1)  # or the lines would cross it
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _edges(permuted: NDArray[np.float64], statistic: float) -> NDArray[np.float64]:
    """Return the edges of bins of equal width, one of them at the estimate, so that no bin is hatched in part."""
    spread = float(np.ptp(permuted))
    n_bins = min(len(np.histogram_bin_edges(permuted, "auto")) - 1, _MOST_BINS) if spread > 0 else 1
    width = max(spread / n_bins, 0.01)
    first, last = np.floor((permuted.min() - statistic) / width), np.floor((permuted.max() - statistic) / width) + 1
    edges: NDArray[np.float64] = statistic + width * np.arange(first, last + 1)
    return edges
