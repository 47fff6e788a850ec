"""Estimates of the concordance of a model on new rows, and the function that runs them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._notebook import ShowsResult
from kernelrank._warnings import warn
from kernelrank.exceptions import PooledEstimateWarning
from kernelrank.metrics._influence import influences, variance
from kernelrank.model_selection._cross_validation import CrossValidation, PairCounts, Strategy
from kernelrank.model_selection._intervals import (
    IntervalOptions,
    combine_variances,
    groups_of_queries,
    jackknife_influence,
    jackknife_units,
)
from kernelrank.model_selection._sample import (
    Sample,
    Split,
    check_sample,
    held_out_together,
    warn_of_identical_rows,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate(ShowsResult):
    """Estimate of the concordance on new rows; with two classes, of the area under the ROC curve.

    Attributes
    ----------
    estimate : float
        Estimated concordance, between 0 and 1.
    interval : tuple of float
        Lower and upper end of the confidence interval.
    confidence : float
        Confidence level of the interval.
    strategy : str
        Strategy of the cross-validation.
    n_pairs : int
        Number of pairs of rows that were compared.
    n_fits : int
        Number of models that were fitted.
    skipped : tuple of str
        Pairs, folds or queries that were left out, and why.
    std_error : float
        Standard error that the interval is based on.
    influence : ndarray
        Influence of each row on the estimate, models being fixed; with queries, of each query that was compared. The
        influences on the difference of two estimates of the same rows are the differences of these.
    jackknife : ndarray or None
        Influence of each jackknife unit (row, group, or block of these), including its influence on the models.
    values : ndarray or None
        With queries, the concordance of each, NaN if it has no pair; the estimate is their mean.
    interval_from : {"rows", "groups", "queries", "jackknife"}
        Variation that the interval is based on: of held-out comparisons between rows, groups or queries with given
        models, or of the models as well.
    """

    estimate: float
    interval: tuple[float, float]
    confidence: float
    strategy: str
    n_pairs: int
    n_fits: int
    skipped: tuple[str, ...]
    std_error: float
    influence: Array = field(repr=False)
    jackknife: Array | None = field(default=None, repr=False)
    values: Array | None = field(default=None, repr=False)
    interval_from: str = "rows"

    def _html(self) -> list[Any]:
        from kernelrank.model_selection._notebook import show_estimate

        return show_estimate(self)

    def __str__(self) -> str:
        low, high = self.interval
        share = f"{100 * self.confidence:g}%"
        source = "by the jackknife" if self.interval_from == "jackknife" else f"from {self.interval_from}"
        return f"{self.estimate:.3f} ({share} interval {source} {low:.3f} to {high:.3f}, {self.strategy})"


def run_estimate(
    validation: CrossValidation,
    options: IntervalOptions,
    estimator: Any,
    sample: Sample,
    folds: list[Split] | None = None,
) -> tuple[Estimate, PairCounts]:
    """Estimate the concordance, and return the counts that the estimate is made of; folds may be given."""
    options.check(validation, sample)
    if validation.strategy == "pooled":
        warn(
            "Pooling compares scores of different models, and its estimate is pessimistic, the more so the weaker the"
            " signal and the fewer the rows. Leave-pair-out has no such bias.",
            PooledEstimateWarning,
        )
    folds = validation.folds(sample) if folds is None else folds
    warn_of_identical_rows(sample.X, held_out_together(folds, sample.groups, sample.n_rows))
    prepared = validation.prepare(estimator, sample)
    counted = validation.count(prepared, sample, folds)
    value, influence, units, strata = _influence(counted, sample)
    n_pairs = round(counted.pairs.sum() / 2 if counted.values is None else counted.pairs.sum())
    n_fits = counted.n_fits + (not validation.nested)
    spread, without = variance(influence, strata=strata, units=units), None
    if options.wants_jackknife(validation, counted, sample):
        without, more = jackknife_influence(validation, prepared, sample)
        spread = combine_variances(spread, variance(without, strata=jackknife_units(sample)[1]))
        n_fits += more
    found = Estimate(
        value,
        options.ends(value, spread, counted, sample, units),
        options.confidence,
        validation.strategy,
        n_pairs,
        n_fits,
        counted.skipped,
        float(np.sqrt(spread)),
        influence,
        without,
        counted.values,
        _interval_source(without, sample),
    )
    return found, counted


def _interval_source(jackknife: Array | None, sample: Sample) -> str:
    if jackknife is not None:
        return "jackknife"
    if sample.units is None:
        return "rows"
    return "queries" if sample.queries is not None and np.array_equal(sample.units, sample.queries) else "groups"


def _influence(
    counted: PairCounts, sample: Sample
) -> tuple[float, Array, NDArray[Any] | None, NDArray[np.intp] | None]:
    """Return the estimate, the influence of each row or query, and their units and classes."""
    if counted.values is None:
        value, influence = influences(counted.wins, counted.pairs)
        return value, influence, sample.units, sample.strata
    known = ~np.isnan(counted.values)
    value = float(counted.values[known].mean())
    return value, (counted.values[known] - value) / known.sum(), groups_of_queries(sample)[known], None


def estimate_concordance(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    strategy: Strategy | None = None,
    cv: Any = None,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    observed: ArrayLike | None = None,
    split_groups: bool = False,
    nested: bool = True,
    interval: Literal["rows", "jackknife"] | None = None,
    confidence: float = 0.95,
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    verbose: int = 1,
) -> Estimate:
    r"""Estimate the concordance of an estimator on new rows: the share of pairs that it puts in the right order.

    Parameters
    ----------
    estimator : estimator
        Any estimator of scikit-learn that returns one score per row: a ranker, regressor, classifier of two classes,
        pipeline or search. :class:`~kernelrank.RLS` and :class:`~kernelrank.RankRLS` are fitted once, and their
        held-out predictions are computed in closed form. Others are fitted once per training set.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features) or KroneckerRows
        A data-frame column named "qid" is taken as the query of each row.
    y : array-like of shape (n_samples,)
        Utilities: numbers, higher is better.
    strategy : {"leave-pair-out", "averaged", "pooled", "tournament"}, default=None
        Which rows are held out, and which are compared.

        - "leave-pair-out": each pair of rows with different utilities is held out, and compared by a model of all other
          rows. The estimate is almost unbiased and has a low variance. It is the default without queries.
        - "averaged": folds are held out, and rows of the same fold are compared; every pair has the same weight. With
          queries, whole queries are held out, and the estimate is the mean over queries. It is the default with
          queries.
        - "pooled": folds are held out, and all rows are compared by their held-out scores. Scores of different models
          are not comparable: the estimate is pessimistic, and a warning says so.
        - "tournament": each pair of rows is held out, and rows are compared by the number of others that they are
          ranked above. See :func:`~kernelrank.model_selection.tournament_roc`.
    cv : int, splitter or iterable of (train, test), default=None
        Folds of "averaged" (default: ten, or one per query) and "pooled" (default: one per row). A number is the
        largest number of folds: there are fewer if there are fewer rows or groups, or fewer of the rarer of two
        classes. A splitter of entries, such as :class:`~kernelrank.model_selection.LeaveColumnsOut`, may split queries:
        only rows of a query that are held out together are then compared, and the concordance of the query is the share
        of all these pairs.
    qid : array-like of shape (n_samples,), optional
        Query of each row. Only rows of the same query are compared, and they are held out together.
    groups : array-like of shape (n_samples,), optional
        Group of each row. Rows of a group depend on each other, such as samples of one patient, and are held out
        together; "leave-pair-out" holds out all rows of both groups of a pair. A search of scikit-learn gets them by
        ``params={"groups": groups}``, so that its inner folds keep them together, too. For a splitter of entries they
        are of shape (n_samples, 2), the row and the column of each entry, unless X is a KroneckerRows, which has them.
    observed : array-like of shape (n_samples,), optional
        False (or 0) where y is censored: the true utility is at least y. Only pairs whose order is known are compared.
        The estimator gets both as one structured array, as it does if y is one: those of this package take it, and
        those of scikit-survival, whose risks have the opposite sign.
    split_groups : bool, default=False
        Whether rows of a query or group may be in the training set while others of it are tested. The estimate then
        includes what is learnt about the group: use it only if new rows will come from the same groups.
    nested : bool, default=True
        Whether an estimator that chooses its parameters, such as :class:`~kernelrank.RankRLSCV` or ``GridSearchCV``,
        does so for each training set. With False it does so once, with all rows: fast, but optimistic.
    interval : {"rows", "jackknife"}, default=None
        Variance that the interval is based on.

        - "rows": variance of the held-out comparisons between rows, as in DeLong's method. It takes no further time,
          but ignores that models depend on the training rows: it is too narrow unless models are good and rows are
          many.
        - "jackknife": also uses estimates without each row, group or query (or without each of a hundred blocks, if
          there are more), which include the variation of models.

        The default is "jackknife" where it takes little time: if pairs are held out in closed form, without groups,
        with up to 500 rows and at least three of each class; otherwise "rows".
    confidence : float, default=0.95
        Confidence level of the interval.
    params : dict, optional
        Further arguments of ``fit``, such as ``{"sample_weight": ...}``, with one element per row. `qid` is passed to
        estimators whose ``fit`` has an argument of that name, but not to others, such as regressors.
    n_jobs : int, default=None
        Number of processes for refits; -1 means all cores.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.
    verbose : int, default=1
        Whether to show, on standard error, the expected time and the progress of work that takes more than two seconds;
        0 shows nothing.

    Returns
    -------
    Estimate
        The estimate with its interval.

    Warns
    -----
    IdenticalRowsWarning
        If training sets have rows that are identical with held-out ones.
    PooledEstimateWarning
        If scores are pooled.

    See Also
    --------
    kernelrank.model_selection.estimate_auc : The same for two classes.
    kernelrank.model_selection.permutation_test : Test whether the estimate is significant.
    kernelrank.model_selection.compare : Compare several estimators.

    Notes
    -----
    The number of fits is the number of pairs for "leave-pair-out", m (m - 1) / 2 for "tournament", and the number of
    folds otherwise. Closed forms take one fit; "leave-pair-out" then takes O(m^3) or O(m^2 n) time, as the fit does.

    The interval is a normal interval of the log-odds, so that it stays between 0 and 1. With queries, it is Student's t
    interval of the mean over queries. If all pairs are in the right order, its lower end is that of Wilson's interval
    for n successes of n, where n is the number of independent rows of the rarer class, or of queries. With the
    jackknife, the variance is the geometric mean of the variance of the rows, which ignores the variation of models,
    and that of the jackknife, which counts it twice. The coverage was measured: see the page "How should I estimate
    AUC?".

    With up to 150 rows, :class:`~kernelrank.RankRLSCV` chooses by leave-pair-out for every held-out pair; with more, by
    ten folds. Its parameter `cv` overrides both.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RankRLS
    >>> from kernelrank.model_selection import estimate_concordance
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = estimate_concordance(RankRLS(alpha=1e-3), X[:100], y[:100])
    >>> print(found)
    0.715 (95% interval by the jackknife 0.651 to 0.771, leave-pair-out)
    >>> found.n_pairs, found.n_fits
    (4922, 101)

    Conditional ranking: how well new columns are ranked for known rows, as the mean over the rows.

    >>> import numpy as np
    >>> from kernelrank import RankSVM
    >>> from kernelrank.model_selection import LeaveColumnsOut
    >>> from kernelrank.relational import KroneckerRows
    >>> rng = np.random.default_rng(0)
    >>> U, V = rng.normal(size=(20, 3)), rng.normal(size=(30, 4))
    >>> rows, columns = np.divmod(np.arange(600), 30)
    >>> y = (U @ rng.normal(size=(3, 4)) @ V.T).ravel() + rng.normal(size=600)
    >>> X = KroneckerRows(U, V, rows, columns)
    >>> found = estimate_concordance(RankSVM(), X, y, qid=rows, cv=LeaveColumnsOut(), verbose=0)
    >>> bool(0.8 < found.estimate < 0.95), len(found.values)
    (True, 20)
    """
    sample = check_sample(
        estimator, X, y, qid, groups, params, split_groups=split_groups, classes=False, observed=observed
    )
    validation = CrossValidation.make(
        sample, strategy, cv, nested=nested, n_jobs=n_jobs, random_state=random_state, verbose=verbose
    )
    return run_estimate(validation, IntervalOptions(interval, confidence), estimator, sample)[0]


def estimate_auc(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    strategy: Strategy | None = None,
    cv: Any = None,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    split_groups: bool = False,
    nested: bool = True,
    interval: Literal["rows", "jackknife"] | None = None,
    confidence: float = 0.95,
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    verbose: int = 1,
) -> Estimate:
    """Estimate the area under the ROC curve of an estimator on new rows.

    This is :func:`~kernelrank.model_selection.estimate_concordance` for two classes: folds are stratified where
    possible, and ``interval="rows"`` is DeLong's variance.

    Parameters
    ----------
    estimator : estimator
        A classifier, or any estimator of scikit-learn that returns one score per row; see
        :func:`~kernelrank.model_selection.estimate_concordance`.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        A data-frame column named "qid" is taken as the query of each row.
    y : array-like of shape (n_samples,)
        Two distinct values of any kind; the larger one is positive.
    strategy : {"leave-pair-out", "averaged", "pooled", "tournament"}, default=None
        Which rows are held out, and which are compared; see :func:`~kernelrank.model_selection.estimate_concordance`.
    cv : int, splitter or iterable of (train, test), default=None
        Folds of "averaged" and "pooled"; see :func:`~kernelrank.model_selection.estimate_concordance`.
    qid : array-like of shape (n_samples,), optional
        Query of each row. Only rows of the same query are compared, and they are held out together.
    groups : array-like of shape (n_samples,), optional
        Group of each row. Rows of a group depend on each other, such as samples of one patient, and are held out
        together.
    split_groups : bool, default=False
        Whether rows of a query or group may be in the training set while others of it are tested.
    nested : bool, default=True
        Whether an estimator that chooses its parameters does so for each training set. False is fast, but optimistic.
    interval : {"rows", "jackknife"}, default=None
        Variance that the interval is based on; see :func:`~kernelrank.model_selection.estimate_concordance`.
    confidence : float, default=0.95
        Confidence level of the interval.
    params : dict, optional
        Further arguments of ``fit``, with one element per row.
    n_jobs : int, default=None
        Number of processes for refits; -1 means all cores.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.
    verbose : int, default=1
        Whether to show the progress of long work, on standard error.

    Returns
    -------
    Estimate
        The estimate with its interval.

    See Also
    --------
    kernelrank.model_selection.tournament_roc : Compute the whole curve.
    kernelrank.metrics.auc_interval : Compute the area and its interval from scores of test rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernelrank import RankRLS
    >>> from kernelrank.model_selection import estimate_auc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:60, [1, 4, 9]], y[:60]  # as if there were no more patients, and three measurements
    >>> found = estimate_auc(RankRLS(alpha=1e-3), X, y)
    >>> print(found)
    0.861 (95% interval by the jackknife 0.726 to 0.935, leave-pair-out)
    >>> found.n_pairs, found.n_fits
    (611, 61)
    """
    sample = check_sample(estimator, X, y, qid, groups, params, split_groups=split_groups, classes=True)
    validation = CrossValidation.make(
        sample, strategy, cv, nested=nested, n_jobs=n_jobs, random_state=random_state, verbose=verbose
    )
    return run_estimate(validation, IntervalOptions(interval, confidence), estimator, sample)[0]
