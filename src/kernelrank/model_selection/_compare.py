"""Comparison of estimators on the same held-out rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._rules import ESTIMATOR, show
from kernelrank.metrics._comparison import Comparison, QuerySample, RowSample, compare_samples
from kernelrank.metrics._influence import variance
from kernelrank.model_selection._cross_validation import CrossValidation, PairCounts, Strategy
from kernelrank.model_selection._estimates import Estimate, run_estimate
from kernelrank.model_selection._intervals import IntervalOptions, combine_variances, groups_of_queries, jackknife_units
from kernelrank.model_selection._sample import Sample, check_sample

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JackknifeSample:
    """Rows with jackknife units; values are the wins of the rows, followed by the influences of the units.

    Attributes
    ----------
    rows : RowSample
    strata : ndarray
        Class of each unit.
    """

    rows: RowSample
    strata: NDArray[np.integer]
    method = "DeLong, with the jackknife"
    n_values = None

    def moments(self, values: Array) -> tuple[float, float]:
        """Return the estimate and its variance."""
        m = len(self.rows.pairs)
        share, direct = self.rows.moments(values[:m])
        return share, combine_variances(direct, variance(values[m:], strata=self.strata))

    def pvalue(self, differences: Array, estimate: float, variance: float) -> float:
        """Return the p-value of the normal approximation, or of a sign test if there is no variance."""
        return self.rows.pvalue(differences[: len(self.rows.pairs)], estimate, variance)


def compare(
    estimators: Mapping[Any, Any] | Sequence[Any],
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
) -> Comparison:
    """Compare the concordance of estimators on the same held-out rows, and test the differences.

    Parameters
    ----------
    estimators : mapping or list of estimators
        Names and estimators; estimators of a list are named 0, 1, ...
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        A data-frame column named "qid" is taken as the query of each row.
    y : array-like of shape (n_samples,)
        Utilities, or two classes of any kind. Of censored utilities, a structured array or a data frame of two columns,
        a boolean one for what is observed and a numeric one.
    strategy : {"leave-pair-out", "averaged", "pooled", "tournament"}, default=None
        Which rows are held out, and which are compared; see :func:`~kernelrank.model_selection.estimate_concordance`.
    cv : int, splitter or list of (train, test), default=None
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
        Variance that the intervals are based on; see :func:`~kernelrank.model_selection.estimate_concordance`.
    confidence : float, default=0.95
        Confidence level of the intervals.
    params : dict, optional
        Further arguments of ``fit``, with one element per row.
    n_jobs : int, default=None
        Number of processes for refits; -1 means all cores.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds. All estimators get the same folds.
    verbose : int, default=1
        Whether to show the progress of long work, on standard error.

    Returns
    -------
    Comparison
        The estimate of each, and for each two of them the difference, its interval, and the p-value with and without
        Holm's correction. ``print`` shows a table.

    See Also
    --------
    kernelrank.metrics.compare_scores : Compare fitted models on a set of test rows.

    Notes
    -----
    Without queries, a row is part of many pairs. DeLong's test allows for that: it uses the variation of the held-out
    comparisons between rows, or groups. It takes the models as given and ignores how much they vary with the training
    rows, so its p-values are too small unless models are good and rows are many. The jackknife includes this variation.
    It is the default if all estimators have closed forms, for up to 500 rows.

    With queries, Wilcoxon's signed-rank test is applied to the differences per query. With groups of queries, it is
    applied to the means per group, and estimates are then means over groups as well.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RLS, RankRLS
    >>> from kernelrank.model_selection import compare
    >>> X, y = load_diabetes(return_X_y=True)
    >>> models = {"linear": RankRLS(1e-3), "gaussian": RankRLS(0.1, kernel="gaussian"), "blind": RLS(1e6)}
    >>> print(compare(models, X[:100], y[:100]))
    scorer    concordance      95% interval
    linear         0.7145  0.6509 to 0.7707
    gaussian       0.6772  0.6026 to 0.7437
    blind          0.6595  0.6012 to 0.7133
    <BLANKLINE>
    scorers            difference       95% interval        p  corrected p
    linear - gaussian      0.0374   0.0033 to 0.0715   0.0318       0.0636
    linear - blind         0.0551   0.0155 to 0.0947  0.00644       0.0193
    gaussian - blind       0.0177  -0.0295 to 0.0648    0.462        0.462
    <BLANKLINE>
    Test: DeLong, with the jackknife. Correction: Holm.
    Estimates: leave-pair-out, 303 fits.
    Intervals of concordance: jackknife.
    """
    if hasattr(estimators, "fit") or not isinstance(estimators, Iterable):
        raise TypeError(f"estimators must be a list, or a mapping of names to estimators, got {show(estimators)}.")
    named: dict[Hashable, Any] = dict(estimators if isinstance(estimators, Mapping) else enumerate(estimators))
    if len(named) < 2:
        raise ValueError(f"estimators must have at least two, got {len(named)}.")
    for name, each in named.items():
        ESTIMATOR(f"estimators[{name!r}]", each)
    samples = [
        check_sample(each, X, y, qid, groups, params, split_groups=split_groups, classes=None)
        for each in named.values()
    ]
    sample = samples[0]
    validation = CrossValidation.make(
        sample, strategy, cv, nested=nested, n_jobs=n_jobs, random_state=random_state, verbose=verbose
    )
    folds, found = validation.folds(sample), []  # the same for all
    for each, mine in zip(named.values(), samples, strict=True):
        found.append(run_estimate(validation, IntervalOptions(interval, confidence), each, mine, folds))
    comparison = _compare_samples(tuple(named), found, sample, confidence)
    estimates = [estimate for estimate, _ in found]
    over_groups = sample.queries is not None and groups is not None
    sources = ["groups" if over_groups else each.interval_from for each in estimates]
    comparison = replace(comparison, notes=_notes(validation, tuple(named), estimates, sources))
    if over_groups:
        return comparison  # its intervals are those of means over groups
    return replace(comparison, intervals=tuple(each.interval for each in estimates))


def _compare_samples(
    names: tuple[Hashable, ...],
    found: list[tuple[Estimate, PairCounts]],
    sample: Sample,
    confidence: float,
) -> Comparison:
    if sample.queries is None or found[0][0].values is None:
        rows = RowSample(found[0][1].pairs, sample.strata, sample.units)
        values = [
            np.append(counted.wins, estimate.jackknife) for estimate, counted in found if estimate.jackknife is not None
        ]
        if len(values) < len(found):
            return compare_samples(names, [counted.wins for _, counted in found], rows, confidence)
        return compare_samples(names, values, JackknifeSample(rows, jackknife_units(sample)[1]), confidence)
    means = [_means(estimate.values, groups_of_queries(sample)) for estimate, _ in found]
    return compare_samples(names, means, QuerySample(len(means[0])), confidence)


def _notes(
    validation: CrossValidation, names: tuple[Hashable, ...], estimates: list[Estimate], sources: list[str]
) -> tuple[str, ...]:
    n_fits = sum(each.n_fits for each in estimates)
    left_out = {
        f"Skipped: {what} ({name})." for name, each in zip(names, estimates, strict=True) for what in each.skipped
    }
    how = (
        f"Estimates: {validation.strategy}, {n_fits:,} fits.",
        f"Intervals of concordance: {_kinds(names, sources)}.",
    )
    return (*how, *sorted(left_out))


def _kinds(names: tuple[Hashable, ...], sources: list[str]) -> str:
    """Return the kind of the intervals; if there are several, also those that have it, and how to get the same."""
    if len(set(sources)) == 1:
        return sources[0]
    of_kinds = (
        f"{kind} ({', '.join(str(name) for name, each in zip(names, sources, strict=True) if each == kind)})"
        for kind in dict.fromkeys(sources)
    )
    return f"{', '.join(of_kinds)}; pass interval to get the same kind for all"


def _means(values: Array | None, groups: NDArray[np.integer]) -> Array:
    """Return the mean of each group that has a value."""
    assert values is not None
    known = ~np.isnan(values)
    sums, counts = np.bincount(groups[known], weights=values[known]), np.bincount(groups[known])
    return np.asarray(sums[counts > 0] / counts[counts > 0])
