"""ROC curve of held-out pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import roc_curve

from kernelrank.model_selection._cross_validation import CrossValidation
from kernelrank.model_selection._estimates import run_estimate
from kernelrank.model_selection._intervals import IntervalOptions
from kernelrank.model_selection._sample import check_sample

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TournamentROC:
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
    scores: Array = field(repr=False)
    n_fits: int
    skipped: tuple[str, ...]


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
    """Compute a ROC curve from held-out pairs.

    Leave-pair-out compares two rows at a time, each pair with a model of its own, but a curve takes one score per row.
    In a tournament, every row is compared with every other row, also of its own class, while both are held out. The
    score of a row is the share of comparisons that it wins [1]_.

    Parameters
    ----------
    estimator : estimator
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two distinct values of any kind; the larger one is positive.
    groups : array-like of shape (n_samples,), optional
    split_groups : bool, default=False
    nested : bool, default=True
    interval : {"rows", "jackknife"}, default=None
    confidence : float, default=0.95
    params : dict, optional
    n_jobs : int, default=None
    verbose : int, default=1
        As in :func:`estimate_concordance`.

    Returns
    -------
    TournamentROC

    Notes
    -----
    The area can differ slightly from that of leave-pair-out, because wins need not be transitive: A may beat B, B may
    beat C, and C may beat A. Estimators other than :class:`kernelrank.RLS` and :class:`kernelrank.RankRLS` take
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
    fpr, tpr, thresholds = roc_curve(sample.utilities, counted.scores, pos_label=sample.utilities.max())
    return TournamentROC(
        found.estimate,
        found.interval,
        confidence,
        fpr,
        tpr,
        thresholds,
        counted.scores,
        found.n_fits,
        found.skipped,
    )
