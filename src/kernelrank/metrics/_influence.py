"""Variance of a share of pairs when each row takes part in many of them.

A concordance is C = W / P: of P comparable pairs, W are in the right order, ties counting half. Pairs with a row in
common are dependent, so the variance is not that of a share of P independent trials. Rows are independent: with w_i of
the p_i pairs of row i in the right order,

    u_i = (w_i - C p_i) / P

is the derivative of C with respect to the weight of row i, its *influence*; C varies with the rows as the sum of the
u_i does. Everything is linear in w: the difference of two scorers has the differences of their w and of their u.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from kernelrank._rules import PROBABILITY
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.metrics._queries import comparable_pair
from kernelrank.pairs import UtilityPairs

Floats = NDArray[np.float64]


class RowCounts:
    """Number of comparable pairs per row, and of correctly ordered pairs for given scores, in O(m log m).

    Parameters
    ----------
    truth : ndarray of shape (n_rows,)
        True utilities, any finite numbers; rows with different utilities are comparable.
    observed : ndarray of shape (n_rows,), optional
        False where the utility is censored.
    lower : ndarray of shape (n_rows,), optional
        What a row weighs as the lower one of its pairs; they are then weighted, instead of counted.

    Attributes
    ----------
    pairs : ndarray of shape (n_rows,)
        Number of comparable pairs of each row.
    """

    def __init__(self, truth: Floats, observed: NDArray[np.bool_] | None = None, lower: Floats | None = None) -> None:
        self._comparable, self._lower = UtilityPairs(truth, observed=observed), lower
        if lower is not None:
            self._uppers = _with_uppers(truth, observed, lower)
        if self._comparable.n_pairs == 0:
            raise NoComparablePairsError(f"There is no {comparable_pair(censored=self._comparable.censored)}.")
        self._truth = truth
        # With equal scores, every pair violates the margin of 1.
        self.pairs = self._violated(np.zeros(len(truth)), 1.0)

    @property
    def strata(self) -> NDArray[np.intp] | None:
        """1 for positive and 0 for negative rows, if there are only two distinct utilities."""
        return None if self._comparable.censored else _two_classes(self._truth)

    def wins(self, scores: Floats) -> Floats:
        """Count the correctly ordered pairs of each row; ties count half."""
        # With margin 0 a pair is violated when the better row has the strictly lower score.
        return (self.pairs + self._violated(-scores, 0.0) - self._violated(scores, 0.0)) / 2

    def _violated(self, scores: Floats, margin: float) -> Floats:
        """Return the violated pairs of each row, as the lower and as the higher one."""
        c, d, _ = self._comparable.count(scores, margin=margin)
        if self._lower is None:
            return np.asarray(c + d, dtype=np.float64)
        both = self._uppers.count(np.tile(scores, 2), margin=margin)
        return np.asarray(self._lower * c + both.d[len(c) :])


def _with_uppers(truth: Floats, observed: NDArray[np.bool_] | None, lower: Floats) -> UtilityPairs:
    """Return the pairs of all rows, with their weights as lower ones, and of copies that are only the higher ones.

    A copy weighs 1, so that the weight of its pairs is that of their lower rows. It is censored, which no lower row is,
    and stands between its row and the rows of lower utility, unless its row is censored as well.
    """
    m, (_, places) = len(truth), np.unique(truth, return_inverse=True)
    seen = np.ones(m, np.bool_) if observed is None else observed
    return UtilityPairs(
        np.concatenate([2 * places, 2 * places - seen]),
        sample_weight=np.concatenate([lower, np.ones(m)]),
        observed=np.concatenate([seen, np.zeros(m, np.bool_)]),
    )


def _two_classes(truth: Floats) -> NDArray[np.intp] | None:
    positive = truth == truth.max()
    if not (positive | (truth == truth.min())).all():
        return None
    n_positive = int(positive.sum())
    n_negative = len(truth) - n_positive
    if min(n_positive, n_negative) < 2:
        raise ValueError(
            f"An interval requires at least two positive and two negative rows, got {n_positive} and {n_negative}."
        )
    return np.asarray(positive, dtype=np.intp)


def influences(wins: Floats, pairs: Floats) -> tuple[float, Floats]:
    """Return the share C of correctly ordered pairs, and the influence of each row on it.

    Parameters
    ----------
    wins : ndarray of shape (n_rows,)
        Number of correctly ordered pairs of each row, or the difference of two scorers in it.
    pairs : ndarray of shape (n_rows,)
        Number of pairs of each row. Each pair is counted twice, once for each of its rows.
    """
    both = pairs.sum()
    if both == 0:
        raise NoComparablePairsError("There is no pair of rows to compare.")
    share = float(wins.sum() / both)
    return share, (wins - share * pairs) / (both / 2)


def variance(u: Floats, *, strata: NDArray[Any] | None = None, units: NDArray[Any] | None = None) -> float:
    """Return the variance of an estimate with the influences `u`.

    Parameters
    ----------
    u : ndarray of shape (n_rows,)
        Influence of each row.
    strata : ndarray of shape (n_rows,), optional
        Codes 0, 1, ... of strata that were sampled separately, such as the classes of a case-control study. With
        classes as strata, it is DeLong's variance of the area under the ROC curve [1]_.
    units : ndarray of shape (n_rows,), optional
        Codes 0, 1, ... of the sampling units, such as patients, if each has several rows that depend on each other. A
        unit may have rows of several strata; with two classes, this gives Obuchowski's variance [2]_.

    Raises
    ------
    ValueError
        If there are fewer than two units of a stratum.

    Notes
    -----
    Let U_ks be the sum of u over the rows of unit k in stratum s, minus the mean of these sums over the n_s units that
    have such rows; let U_k be the sum of U_ks over the strata, and n the number of units. The variance is

        n / (n - 1) sum_k U_k^2 + sum_s (n_s / (n_s - 1) - n / (n - 1)) sum_k U_ks^2.

    The factors make the squares within a stratum and the products of two strata unbiased.

    References
    ----------
    .. [1] DeLong, DeLong, Clarke-Pearson: Comparing the areas under two or more correlated receiver
       operating characteristic curves: a nonparametric approach. Biometrics 44 (1988).
    .. [2] Obuchowski: Nonparametric analysis of clustered ROC curve data. Biometrics 53 (1997).
    """
    stratum = np.zeros(len(u), np.intp) if strata is None else np.asarray(strata, np.intp)
    if units is not None:
        width = int(stratum.max()) + 1
        cells, cell_of_row = np.unique(np.asarray(units, np.intp) * width + stratum, return_inverse=True)
        u = np.asarray(np.bincount(cell_of_row, weights=u), np.float64)
        unit, stratum = cells // width, cells % width
    sizes = np.bincount(stratum)
    if (sizes == 1).any():
        raise ValueError("A variance requires at least two independent rows, or units of rows, of each class.")
    u = u - (np.bincount(stratum, weights=u) / np.maximum(sizes, 1))[stratum]
    squares = np.bincount(stratum, weights=u**2)
    n, total = len(u), squares.sum()
    if units is not None:
        sums = np.bincount(unit, weights=u)
        n, total = len(np.unique(unit)), sums @ sums
    return float(_unbiased(n) * total + (_unbiased(sizes) - _unbiased(n)) @ squares)


def _unbiased(n: Any) -> Any:
    """Return n / (n - 1), without a division by zero for unused codes."""
    return n / np.maximum(n - 1, 1)


def interval(
    estimate: float, variance: float, confidence: float, *, lowest: float = 0.0, n_values: int | None = None
) -> tuple[float, float]:
    """Return the ends of a confidence interval clipped to [`lowest`, 1].

    Parameters
    ----------
    estimate, variance : float
    confidence : float
    lowest : float, default=0.0
        -1 for a difference.
    n_values : int, optional
        Number of independent values, if the estimate is their mean: the interval is then Student's, otherwise normal.
    """
    level = (1 + confidence) / 2
    quantile = ndtri(level) if n_values is None else stdtrit(n_values - 1, level)
    half_width = quantile * np.sqrt(variance)
    return float(max(estimate - half_width, lowest)), float(min(estimate + half_width, 1.0))


def check_confidence(confidence: float) -> None:
    """Check that a confidence level is between 0 and 1."""
    PROBABILITY("confidence", confidence)
