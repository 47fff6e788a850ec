"""ROC curve of held-out pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta
from sklearn.metrics import roc_curve

from kernelrank._notebook import ShowsResult
from kernelrank.model_selection._cross_validation import CrossValidation
from kernelrank.model_selection._estimates import run_estimate
from kernelrank.model_selection._intervals import IntervalOptions
from kernelrank.model_selection._sample import check_sample

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TournamentROC(ShowsResult):
    """ROC curve of held-out pairs.

    Attributes
    ----------
    auc : float
        Area under the curve.
    interval : tuple of float
        Ends of a confidence interval of the area.
    confidence : float
        Confidence level of the interval.
    fpr, tpr, thresholds : ndarray
        False and true positive rates where rows with a score of at least the threshold are called positive, as by
        scikit-learn's ``roc_curve``.
    fpr_band, tpr_band : ndarray of shape (n_thresholds, 2)
        Ends of intervals of both rates for each threshold, which hold at the same time with probability `confidence`.
    scores : ndarray of shape (n_samples,)
        Share of the other rows that each row is ranked above.
    n_fits : int
        Number of models that were fitted.
    skipped : tuple of str
        Pairs that were left out, and why.
    """

    auc: float
    interval: tuple[float, float]
    confidence: float
    fpr: Array = field(repr=False)
    tpr: Array = field(repr=False)
    thresholds: Array = field(repr=False)
    fpr_band: Array = field(repr=False)
    tpr_band: Array = field(repr=False)
    scores: Array = field(repr=False)
    n_fits: int
    skipped: tuple[str, ...]

    def _html(self) -> list[Any]:
        from kernelrank.model_selection._notebook import show_tournament

        return show_tournament(self)


def tournament_roc(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    split_groups: bool = False,
    nested: bool = True,
    interval: Literal["rows", "jackknife"] | None = None,
    confidence: float = 0.95,
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    verbose: int = 1,
) -> TournamentROC:
    r"""Compute a ROC curve from held-out pairs.

    Leave-pair-out compares two rows at a time, each pair with a model of its own, but a curve takes one score per row.
    In a tournament, every row is compared with every other row, also of its own class, while both are held out. The
    score of a row is the share of comparisons that it wins [1]_.

    Parameters
    ----------
    estimator : estimator
        Any estimator of scikit-learn that returns one score per row; see
        :func:`~kernelrank.model_selection.estimate_concordance`.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows of both classes.
    y : array-like of shape (n_samples,)
        Two distinct values of any kind; the larger one is positive.
    groups : array-like of shape (n_samples,), optional
        Group of each row. Rows of a group depend on each other, such as samples of one patient, and are held out
        together.
    split_groups : bool, default=False
        Whether rows of a group may be in the training set while others of it are tested.
    nested : bool, default=True
        Whether an estimator that chooses its parameters does so for each training set. False is fast, but optimistic.
    interval : {"rows", "jackknife"}, default=None
        Variance that the interval of the area is based on; see
        :func:`~kernelrank.model_selection.estimate_concordance`.
    confidence : float, default=0.95
        Confidence level of the interval of the area, and of the intervals of both rates.
    params : dict, optional
        Further arguments of ``fit``, with one element per row.
    n_jobs : int, default=None
        Number of processes for refits; -1 means all cores.
    verbose : int, default=1
        Whether to show the progress of long work, on standard error.

    Returns
    -------
    TournamentROC
        The curve, its area, and their intervals.

    See Also
    --------
    kernelrank.plots.TournamentROCDisplay : Plots it.

    Notes
    -----
    The intervals of both rates are those of Clopper and Pearson, each with confidence ``sqrt(confidence)``, so that
    both hold together. They contain the true rates of one threshold, not of all thresholds at once, and take the
    scoring of rows as given. Of a class whose rows are in groups of sizes :math:`m_g`,
    :math:`(\sum m_g)^2 / \sum m_g^2` rows count as independent.

    The area can differ slightly from that of leave-pair-out, because wins need not be transitive: A may beat B, B may
    beat C, and C may beat A. Estimators other than :class:`~kernelrank.RLS` and :class:`~kernelrank.RankRLS` take
    m (m - 1) / 2 fits.

    References
    ----------
    .. [1] Montoya Perez, Airola, Boström, Jambor, Pahikkala: Tournament leave-pair-out cross-validation for receiver
       operating characteristic analysis. Statistical Methods in Medical Research 28 (2019).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import RocCurveDisplay
    >>> from kernelrank import RankRLS
    >>> from kernelrank.model_selection import tournament_roc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curve = tournament_roc(RankRLS(alpha=1e-3), X[:60, [1, 4, 9]], y[:60])
    >>> round(curve.auc, 3)
    0.861
    >>> _ = RocCurveDisplay(fpr=curve.fpr, tpr=curve.tpr, roc_auc=curve.auc).plot()
    """
    sample = check_sample(estimator, X, y, None, groups, params, split_groups=split_groups, classes=True)
    validation = CrossValidation.make(
        sample, "tournament", None, nested=nested, n_jobs=n_jobs, random_state=0, verbose=verbose
    )
    found, counted = run_estimate(validation, IntervalOptions(interval, confidence), estimator, sample)
    assert counted.scores is not None
    positive = sample.utilities == sample.utilities.max()
    fpr, tpr, thresholds = roc_curve(positive, counted.scores)
    return TournamentROC(
        found.estimate,
        found.interval,
        confidence,
        fpr,
        tpr,
        thresholds,
        _intervals(fpr, _effective_size(sample.units, ~positive), confidence),
        _intervals(tpr, _effective_size(sample.units, positive), confidence),
        counted.scores,
        found.n_fits,
        found.skipped,
    )


def _effective_size(units: NDArray[Any] | None, rows: NDArray[np.bool_]) -> float:
    """Return the number of independent rows of a class, by Kish's formula for rows that equal others of their unit."""
    if units is None:
        return float(rows.sum())
    sizes = np.bincount(units[rows]).astype(np.float64)
    return float(sizes.sum() ** 2 / np.sum(sizes**2))


def _intervals(rates: Array, size: float, confidence: float) -> Array:
    """Return the intervals of Clopper and Pearson, of which two independent ones hold with the confidence."""
    tail = (1 - np.sqrt(confidence)) / 2
    found, missed = rates * size, size - rates * size
    with np.errstate(invalid="ignore"):  # the distribution of no success does not exist
        low = np.where(found > 0, beta.ppf(tail, found, missed + 1), 0.0)
        high = np.where(missed > 0, beta.ppf(1 - tail, found + 1, missed), 1.0)
    return np.column_stack((low, high))
