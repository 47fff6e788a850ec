"""Estimates of the area under the ROC curve on new rows, which the scores of training rows do not give."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold

from kernelrank._html import number, percent
from kernelrank.estimators import RLS, RLSCV, OrdinalSVM, RankRLS, RankRLSCV, RankSVM
from kernelrank.kernels import Precomputed, make_kernel
from kernelrank.model_selection import Estimate, PermutationTest, estimate_auc, permutation_test
from kernelrank.model_selection._sample import stratified_folds
from kernelrank.report._subject import Subject

MOST_ROWS = 500
_FOLDS = 10
_FITS = 100  # about 0.5 s with pipelines for tables
_FITS_OF_CHOICES, _ROWS_OF_CHOICES = 50, 10_000  # those of models that choose alpha, and times the rows
_PERMUTATIONS = 199
_BELIEVABLE = 0.05


@dataclass(frozen=True)
class Trust:
    """Estimates by strategy and a permutation test; or the reason why there are none."""

    estimates: tuple[Estimate, ...] = ()
    test: PermutationTest | None = None
    skipped: str | None = None
    untested: str | None = None
    n_folds: int = 0
    n_splits: int = 0  # into these folds
    chooses: bool = False  # alpha, for each training set

    @property
    def best(self) -> Estimate:
        """The estimate to believe: leave-pair-out, or averaged over folds."""
        return self.estimates[0]

    @property
    def pooling_bias(self) -> float:
        """Pooled estimate minus the one to believe."""
        return self.pooled.estimate - self.best.estimate

    @property
    def pooled(self) -> Estimate:
        """Estimate from scores of different models."""
        return self.estimates[-1]

    @property
    def overlaps(self) -> bool:
        """Whether the interval of the pooled estimate overlaps that of the one to believe."""
        (low, high), (other_low, other_high) = self.best.interval, self.pooled.interval
        return low <= other_high and other_low <= high

    @property
    def sentence(self) -> str:
        """Answer in plain words."""
        low, high = self.best.interval
        start = (
            f"On new rows, expect about {percent(self.best.estimate)} of the pairs in the right order"
            f" (between {percent(low)} and {percent(high)})"
        )
        if self.test is None:
            ending = (
                "its interval contains chance, 50 %" if low <= 0.5 <= high else "its interval excludes chance, 50 %"
            )
            return f"{start}; {ending}."
        p = f"p = {number(self.test.pvalue, 2)}"
        if self.test.pvalue <= _BELIEVABLE:
            return f"{start}; shuffled labels rarely do as well ({p}), so this is more than chance."
        return f"{start}; shuffled labels often do as well ({p}), so do not trust this result yet: it may be chance."


def estimate_trust(subject: Subject, confidence: float, random_state: int) -> Trust | None:
    """Estimate the area of models like the given one; None if there are more than two levels."""
    if len(subject.levels) != 2:
        return None
    if reason := _reason_to_skip(subject):
        return Trust(skipped=reason)
    model, classes = clone(subject.model), (subject.y == subject.levels[1]).astype(np.intp)
    closed, chooses = isinstance(model, RankRLS | RLS), isinstance(subject.last, RankRLSCV | RLSCV)
    n_fits = min(_FITS_OF_CHOICES, _ROWS_OF_CHOICES // subject.n_rows) if chooses else _FITS
    by_pairs = closed or subject.pairs.n_pairs <= n_fits
    strategies: tuple[Any, ...] = (
        *(["leave-pair-out"] * by_pairs), *(["tournament"] * closed), "averaged", "pooled"
    )  # fmt: skip
    options: dict[str, Any] = {
        "params": None if subject.weight is None else {"sample_weight": subject.weight},
        "random_state": random_state,
        "verbose": 0,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # duplicates and the bias of pooling are told by the report
        try:
            n_folds = stratified_folds(_FOLDS, classes, None, random_state).get_n_splits()
            n_splits = n_fits // n_folds
            # Estimates from single splits of few rows differ too much.
            repeated = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_splits, random_state=random_state)
            estimates = tuple(
                estimate_auc(
                    model,
                    subject.X,
                    subject.y,
                    strategy=each,
                    cv={"averaged": repeated, "pooled": n_folds}.get(each),
                    # The jackknife takes a hundred times as many fits.
                    interval=None if closed and each == "leave-pair-out" else "rows",
                    confidence=confidence,
                    **options,
                )
                for each in strategies
            )
            test: PermutationTest | None = None
            untested: str | None = "it would take a fit per permutation and fold; call permutation_test for it."
            if closed:
                given = {**options, "strategy": "leave-pair-out", "n_permutations": _PERMUTATIONS}
                test, untested = permutation_test(model, subject.X, subject.y, **given), None
        except (TypeError, ValueError) as error:
            return Trust(skipped=f"models like this one cannot be fitted to these rows again: {error}")
    return Trust(estimates, test, None, untested, n_folds, n_splits, chooses)


def _reason_to_skip(subject: Subject) -> str | None:
    if subject.ids is not None:
        return (
            "the rows belong to queries; the intervals above are over queries. For whole queries held out, call"
            " estimate_auc with qid."
        )
    if subject.n_rows > MOST_ROWS:
        return f"there are more than {MOST_ROWS} rows, and models would be fitted to them again; call estimate_auc."
    last = subject.last
    if not isinstance(last, RankRLS | RLS | RankRLSCV | RLSCV | RankSVM | OrdinalSVM):
        return (
            f"{type(last).__name__} is not an estimator of kernelrank with a single alpha, given or chosen in closed"
            " form, so that its training is unknown or takes long; call estimate_auc with the estimator as you train"
            " it."
        )
    if last is not subject.model and not hasattr(subject.model, "steps"):
        return "the parameters were chosen by a search, which would be repeated in each fold; call estimate_auc."
    try:
        if isinstance(make_kernel(last.kernel), Precomputed):
            return "the kernel was computed in advance; call estimate_auc with the kernel matrix."
    except (AttributeError, TypeError, ValueError):
        pass
    return None
