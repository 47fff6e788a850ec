"""Estimates of the concordance of a model on new rows, and the function that runs them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    Rows,
    Sample,
    check_sample,
    held_out_together,
    warn_of_identical_rows,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """An estimate of the concordance on new rows; for two classes, of the area under the ROC curve.

    Attributes
    ----------
    estimate : float
    interval : tuple of float
        Ends of its confidence interval.
    confidence : float
        Of the interval.
    strategy : str
        How it was made.
    n_pairs : int
        Pairs of rows that were compared.
    n_fits : int
        Models that were trained.
    skipped : tuple of str
        What was left out, and why.
    std_error : float
        Square root of the variance that the interval is made of.
    influence : ndarray
        How much the estimate moves with the weight of each row, models being given; with queries, of each that was
        compared. Differences between estimates of the same rows have the differences of these.
    jackknife : ndarray or None
        How much it moves without each row or group, or block of these: the models, too.
    values : ndarray or None
        With queries, the concordance of each, NaN where there is nothing to compare; the estimate is their mean.
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

    def __str__(self) -> str:
        low, high = self.interval
        share = f"{100 * self.confidence:g}%"
        return f"{self.estimate:.3f} ({share} interval {low:.3f} to {high:.3f}, {self.strategy})"


def run_estimate(
    validation: CrossValidation,
    options: IntervalOptions,
    estimator: Any,
    sample: Sample,
    folds: list[Rows] | None = None,
) -> tuple[Estimate, PairCounts]:
    """Estimate the concordance, and return the counts that the estimate is made of; folds may be given."""
    options.check(validation, sample)
    if validation.strategy == "pooled":
        warn(
            "Pooling compares scores of different models, and is pessimistic: the less there is to be learnt, and"
            " the fewer rows there are, the more. Leave-pair-out is not.",
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
    )
    return found, counted


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
    split_groups: bool = False,
    nested: bool = True,
    interval: Literal["rows", "jackknife"] | None = None,
    confidence: float = 0.95,
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    verbose: int = 1,
) -> Estimate:
    r"""Estimate the concordance of an estimator on new rows: the share of pairs it will put in the right order.

    Parameters
    ----------
    estimator : estimator
        Anything of scikit-learn that gives one score a row: a ranker, regressor, classifier of two classes, pipeline
        or search. :class:`kernelrank.RLS` and :class:`kernelrank.RankRLS` are fitted once, and their held-out
        predictions come in closed form. Others are fitted anew for everything that is held out.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        A data-frame column named "qid" is taken as the query of each row.
    y : array-like of shape (n_samples,)
        Utilities: numbers, of which the higher are better.
    strategy : {"leave-pair-out", "averaged", "pooled", "tournament"}, default=None
        What is held out, and what is compared.

        - "leave-pair-out": every pair of rows with different utilities, compared by a model of all other rows. Next to
          unbiased, and of low variance; the default for one ranking.
        - "averaged": rows of the same fold, compared by a model of the other folds; the pairs of all folds count alike.
          The default with queries: whole queries are held out, and the estimate is the mean over them.
        - "pooled": all rows, by the scores that models of the other folds give them. Scores of different models are
          not made to be compared: the estimate is pessimistic, and a warning says so.
        - "tournament": all rows, by the number of others that each of them beats when the two are held out. See
          :func:`tournament_roc`.
    cv : int, splitter or iterable of (train, test), default=None
        The folds of "averaged" (by default ten; with queries, each of them) and "pooled" (each row). A number means so
        many at most: fewer if there are fewer rows or groups, or of two classes fewer that have the rarer one.
    qid : array-like of shape (n_samples,), optional
        Query of each row: only rows of the same query are compared, and they are held out together.
    groups : array-like of shape (n_samples,), optional
        Rows that depend on each other, such as samples of one patient: they are held out together. With
        "leave-pair-out" all rows of both groups of a pair are. A search of scikit-learn is told of them by
        ``params={"groups": groups}``, for folds of its own that keep them together.
    split_groups : bool, default=False
        Train on rows of a query or group while others of it are tested on. What is learnt about the group then
        counts as skill: say it only if new rows will come from the same groups.
    nested : bool, default=True
        An estimator that chooses its parameters, as :class:`kernelrank.RankRLSCV` or ``GridSearchCV``, does so anew
        without each of the held-out pairs or folds. False means once, by all rows: fast, and optimistic.
    interval : {"rows", "jackknife"}, default=None
        What the interval is made of. "rows": how the held-out comparisons differ between rows, as in DeLong's method.
        It is free, but too narrow unless models are good and rows are many: that other rows would have made other
        models, it does not see. "jackknife": also estimates without each row, group or query (without one of a hundred
        parts of them, if there are more), which see that. By default where it costs little: if pairs are held out in
        closed form, of up to 500 rows and three of each class at least, without groups.
    confidence : float, default=0.95
    params : dict, optional
        Further arguments of ``fit``, such as ``{"sample_weight": ...}``, an element a row. `qid` is passed to an
        estimator whose ``fit`` has an argument of that name; others, as regressors, learn without it.
    n_jobs : int, default=None
        Processes for refits; -1 means all cores.
    random_state : int, RandomState instance or None, default=0
        Of the folds.
    verbose : int, default=1
        Show the progress of work that takes more than two seconds, on standard error, and before it starts how long
        it will take; 0 does not.

    Returns
    -------
    Estimate

    Warns
    -----
    IdenticalRowsWarning
        If rows are trained on that are identical with held-out ones.
    PooledEstimateWarning
        If scores are pooled.

    See Also
    --------
    estimate_auc : The same for two classes.
    permutation_test : Whether the estimate can be chance.
    compare : Which of several estimators is better.

    Notes
    -----
    The number of fits is that of the pairs for "leave-pair-out", m (m - 1) / 2 for "tournament", else that of the
    folds; with closed forms one, and then "leave-pair-out" is O(m^3) or O(m^2 n), the same as a fit without.

    The interval is normal in the logarithm of the odds, and so stays between 0 and 1; with queries, it is Student's of
    the mean over them. If all pairs are in the right order, its lower end is that of as many successes without a
    failure as there are independent rows of the rarer class, or queries. With the jackknife, its variance is the
    geometric mean of that of the rows and that of the jackknife: the first counts the variation of models not at all,
    the second twice. How often it holds the true value was measured: see the page "How should I estimate AUC?".

    :class:`kernelrank.RankRLSCV` chooses by exact leave-pair-out inside of every held-out pair up to 150 rows, and by
    ten folds above, unless its `cv` says how.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RankRLS
    >>> from kernelrank.model_selection import estimate_concordance
    >>> X, y = load_diabetes(return_X_y=True)
    >>> found = estimate_concordance(RankRLS(alpha=1e-3), X[:100], y[:100])
    >>> print(found)
    0.715 (95% interval 0.651 to 0.771, leave-pair-out)
    >>> found.n_pairs, found.n_fits
    (4922, 101)
    """
    sample = check_sample(estimator, X, y, qid, groups, params, split_groups=split_groups, classes=False)
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

    It is :func:`estimate_concordance` for two classes: folds keep their share where they can, and "rows" make
    DeLong's variance.

    Parameters
    ----------
    estimator : estimator
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two distinct values of any kind; the later in their order is positive.
    strategy : {"leave-pair-out", "averaged", "pooled", "tournament"}, default=None
    cv : int, splitter or iterable of (train, test), default=None
    qid, groups : array-like of shape (n_samples,), optional
    split_groups : bool, default=False
    nested : bool, default=True
    interval : {"rows", "jackknife"}, default=None
    confidence : float, default=0.95
    params : dict, optional
    n_jobs : int, default=None
    random_state : int, RandomState instance or None, default=0
    verbose : int, default=1
        As in :func:`estimate_concordance`.

    Returns
    -------
    Estimate

    See Also
    --------
    tournament_roc : The whole curve.
    kernelrank.metrics.auc_interval : The area and its interval of scores of test rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernelrank import RankRLS
    >>> from kernelrank.model_selection import estimate_auc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:60, [1, 4, 9]], y[:60]  # as if there were no more patients, and three measurements
    >>> found = estimate_auc(RankRLS(alpha=1e-3), X, y)
    >>> print(found)
    0.861 (95% interval 0.726 to 0.935, leave-pair-out)
    >>> found.n_pairs, found.n_fits
    (611, 61)
    """
    sample = check_sample(estimator, X, y, qid, groups, params, split_groups=split_groups, classes=True)
    validation = CrossValidation.make(
        sample, strategy, cv, nested=nested, n_jobs=n_jobs, random_state=random_state, verbose=verbose
    )
    return run_estimate(validation, IntervalOptions(interval, confidence), estimator, sample)[0]
