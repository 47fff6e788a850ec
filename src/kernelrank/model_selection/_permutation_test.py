"""Permutation test of an estimate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from kernelrank._arrays import to_host
from kernelrank._notebook import ShowsResult
from kernelrank._query_ids import encode_queries
from kernelrank._rules import COUNT
from kernelrank._warnings import warn
from kernelrank.exceptions import FewPermutationsWarning
from kernelrank.metrics import concordance_index
from kernelrank.model_selection._cross_validation import CrossValidation, PairCounts, Strategy
from kernelrank.model_selection._held_out import has_closed_forms
from kernelrank.model_selection._parallel import run_in_parallel
from kernelrank.model_selection._permutations import Exchanges
from kernelrank.model_selection._sample import (
    Rows,
    Sample,
    Split,
    check_sample,
    held_out_together,
    warn_of_identical_rows,
)
from kernelrank.model_selection._work import expect_work
from kernelrank.solvers.least_squares import Predicted

Array = NDArray[np.float64]

_FEW = 20  # distinct permutations: with fewer, no p-value can be below 0.05
ROUNDING = 1e-12  # estimates that differ by less are equal
_OUTPUTS = 256  # fitted together, which bounds the memory of their predictions


@dataclass(frozen=True)
class PermutationTest(ShowsResult):
    """Result of a permutation test.

    Attributes
    ----------
    statistic : float
        Estimate of the concordance; for two classes, of the area under the ROC curve.
    pvalue : float
        Probability of an estimate at least as large if y does not depend on X.
    std_error : float
        Standard error of the p-value, which is estimated from random permutations; 0 if it is exact.
    permuted : ndarray of shape (n_permutations,)
        Estimates for permuted utilities: the null distribution.
    exact : bool
        Whether these are all distinct permutations, and not a random draw.
    exchanged : {"rows", "rows inside queries", "rows inside groups", "whole groups"}
        What utilities were permuted between.
    strategy : str
        Strategy of the cross-validation.
    n_fits : int
        Number of models that were fitted.
    """

    statistic: float
    pvalue: float
    std_error: float
    permuted: Array = field(repr=False)
    exact: bool
    exchanged: str
    strategy: str
    n_fits: int

    def _html(self) -> list[Any]:
        from kernelrank.model_selection._notebook import show_permutation_test

        return show_permutation_test(self)

    def __str__(self) -> str:
        error = "exact" if self.exact else f"standard error {self.std_error:.2g}"
        what = "" if self.exchanged == "rows" else f" of {self.exchanged}"
        return f"{self.statistic:.3f}, p = {self.pvalue:.3g} ({error}, {len(self.permuted):,} permutations{what})"


def permutation_test(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    strategy: Strategy | None = None,
    cv: Any = None,
    n_permutations: int = 999,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    split_groups: bool = False,
    nested: bool = True,
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    verbose: int = 1,
) -> PermutationTest:
    """Test whether the estimate of an estimator is significantly larger than for permuted targets.

    The utilities are permuted, and the whole estimate is repeated, including cross-validation. The p-value is the share
    of permutations whose estimate is at least as large as the true one; the true order counts as one of them.

    Parameters
    ----------
    estimator : estimator
        Any estimator of scikit-learn that returns one score per row; see
        :func:`~kernelrank.model_selection.estimate_concordance`.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        A data-frame column named "qid" is taken as the query of each row.
    y : array-like of shape (n_samples,)
        Utilities, or two classes of any kind. Of censored utilities, a structured array or a data frame of two columns,
        a boolean one for what is observed and a numeric one, which are permuted together.
    strategy : {"leave-pair-out", "averaged", "pooled", "tournament"}, default=None
        Which rows are held out, and which are compared; see :func:`~kernelrank.model_selection.estimate_concordance`. A
        bias of the strategy, such as that of pooling, does not invalidate the test: it is the same for permuted
        utilities.
    cv : int, splitter or iterable of (train, test), default=None
        Folds of "averaged" and "pooled"; see :func:`~kernelrank.model_selection.estimate_concordance`.
    n_permutations : int, default=999
        Number of random permutations. If there are not more distinct ones, all of them are used, and the p-value is
        exact.
    qid : array-like of shape (n_samples,), optional
        Query of each row: utilities are permuted inside queries.
    groups : array-like of shape (n_samples,), optional
        Group of each row; rows of a group depend on each other. Utilities are permuted inside groups. If all rows of
        each group have the same utility, such as the diagnosis of a patient, they are permuted between whole groups.
    split_groups : bool, default=False
        Whether rows of a query or group may be in the training set while others of it are tested.
    nested : bool, default=True
        Whether an estimator that chooses its parameters does so for each training set. False is fast, but optimistic.
    params : dict, optional
        Further arguments of ``fit``, with one element per row. They are not permuted.
    n_jobs : int, default=None
        Number of processes, for permutations that are fitted one at a time.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations, and of the folds.
    verbose : int, default=1
        Show the progress of long work, on standard error.

    Returns
    -------
    PermutationTest
        The estimate, its p-value, and the estimates for permuted utilities.

    Warns
    -----
    IdenticalRowsWarning
        If training sets have rows that are identical with held-out ones: p-values are then too small.
    FewPermutationsWarning
        If there are so few distinct permutations that no p-value can be less than 0.05.

    See Also
    --------
    kernelrank.plots.PermutationDisplay : Plots it.

    Notes
    -----
    For :class:`~kernelrank.RLS` and :class:`~kernelrank.RankRLS`, permuted utilities are further outputs of the same
    decomposition [1]_ if the held-out rows do not depend on y: with leave-pair-out, leave-query-out and leave-one-out.
    A permutation then takes O(m^2) time. Otherwise it takes as long as an estimate.

    References
    ----------
    .. [1] Pahikkala, Tsivtsivadze, Airola, Järvinen, Boberg: An efficient algorithm for learning to rank from
       preference graphs. Machine Learning 75 (2009), section 4.1.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RankRLS
    >>> from kernelrank.model_selection import permutation_test
    >>> X, y = load_diabetes(return_X_y=True)
    >>> print(permutation_test(RankRLS(alpha=1e-4), X[:40], y[:40]))
    0.757, p = 0.001 (standard error 0.001, 999 permutations)
    """
    COUNT("n_permutations", n_permutations)
    sample = check_sample(estimator, X, y, qid, groups, params, split_groups=split_groups, classes=None)
    validation = CrossValidation.make(
        sample, strategy, cv, nested=nested, n_jobs=n_jobs, random_state=random_state, verbose=verbose
    )
    rng: Any = check_random_state(random_state)
    blocks, _ = encode_queries(groups, sample.n_rows, "groups")
    exchanges = Exchanges(sample.levels, sample.queries, blocks)
    exact = exchanges.n_distinct <= n_permutations
    if exchanges.n_distinct < _FEW:
        warn(
            f"There are only {exchanges.n_distinct} distinct permutations of y between {exchanges.what}: no p-value can"
            f" be less than {1 / exchanges.n_distinct:.2g}.",
            FewPermutationsWarning,
        )
    orders = list(exchanges.every()) if exact else [exchanges.draw(rng) for _ in range(n_permutations)]
    validation.require_rows(sample)
    together = held_out_together(validation.folds(sample), sample.groups, sample.n_rows)
    warn_of_identical_rows(sample.X, together)
    found, n_fits = _estimates(validation, estimator, sample, [np.arange(sample.n_rows), *orders])
    statistic, permuted = float(found[0]), found[1:]
    as_large = int(np.count_nonzero(permuted >= statistic - ROUNDING))
    pvalue = as_large / len(permuted) if exact else (1 + as_large) / (1 + len(permuted))
    error = 0.0 if exact else float(np.sqrt(pvalue * (1 - pvalue) / len(permuted)))
    return PermutationTest(statistic, pvalue, error, permuted, exact, exchanges.what, validation.strategy, n_fits)


def _estimates(validation: CrossValidation, estimator: Any, sample: Sample, orders: list[Rows]) -> tuple[Array, int]:
    """Return the estimate for each permutation of the utilities, and the number of fits."""
    if validation.nested and sample.observed is None and has_closed_forms(estimator):
        found = _together(validation, estimator, sample, orders)
        if found is not None:
            return found, 1 + -(-len(orders) // _OUTPUTS)
    one = replace(validation, n_jobs=None, verbose=0)
    samples = (sample.with_targets_of(rows) for rows in orders)
    arguments = ((one, estimator, other, one.folds(other)) for other in samples)
    # Many permutations, each of many fits, would be silent until the first are done.
    work = expect_work(validation, estimator, sample, len(orders)) if validation.verbose else None
    options: dict[str, Any] = {
        "n_jobs": validation.n_jobs,
        "verbose": validation.verbose,
        "what": "estimates of permuted utilities",
        "expected": work and (work.total_seconds(validation.n_jobs), work.describe(validation.n_jobs)),
    }
    counted = list(run_in_parallel(_prepare_and_count, arguments, len(orders), **options))
    n_choices = 0 if validation.nested else len(orders)
    return np.array([each.estimate for each in counted]), n_choices + sum(each.n_fits for each in counted)


def _prepare_and_count(validation: CrossValidation, estimator: Any, sample: Sample, folds: list[Split]) -> PairCounts:
    """Count the pairs of one permutation; parameters that are chosen once are chosen with its utilities."""
    return validation.count(validation.prepare(estimator, sample), sample, folds)


def _together(validation: CrossValidation, estimator: Any, sample: Sample, orders: list[Rows]) -> Array | None:
    """Return the estimates of permuted utilities as outputs of one model; None if the held-out rows depend on y."""
    alone = sample.groups is None and sample.queries is None
    by_pairs = validation.strategy == "leave-pair-out" and alone
    by_rows = validation.cv is None and (validation.strategy == "pooled" or sample.queries is not None)
    if not (by_pairs or by_rows) or (sample.strata is not None and np.bincount(sample.strata).min() < 2):
        return None
    shortcuts = clone(estimator).fit(sample.X, sample.utilities, **sample.params).shortcuts
    if not {"pairs" if by_pairs else "folds", "outputs"} <= shortcuts:
        return None
    values = []
    tests = [fold.test for fold in validation.folds(sample)]
    for start in range(0, len(orders), _OUTPUTS):
        Y = np.column_stack([sample.utilities[rows] for rows in orders[start : start + _OUTPUTS]])
        model = clone(estimator).fit(sample.X, Y, **sample.params)
        if by_pairs:
            values.append(model.leave_pair_out_concordance())
            continue
        scores = Predicted(np.empty(Y.shape), np.empty(Y.shape))
        for rows, found in zip(tests, model._held_out(tests, model.alpha), strict=True):
            scores.values[rows], scores.errors[rows] = map(to_host, found)
        columns = zip(Y.T, scores.tied(sample.queries).T, strict=True)
        values.append([np.nanmean(concordance_index(y, s, qid=sample.queries, per_query=True)) for y, s in columns])
    return np.concatenate(values)
