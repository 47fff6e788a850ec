"""Confidence intervals of estimates: variance between rows, the jackknife, and the ends of an interval."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from kernelrank._rules import NONE, choice
from kernelrank.metrics._influence import check_confidence
from kernelrank.metrics._influence import interval as interval_of
from kernelrank.model_selection._cross_validation import CrossValidation, PairCounts
from kernelrank.model_selection._parallel import run_in_parallel
from kernelrank.model_selection._sample import Sample

Array = NDArray[np.float64]

_FEWEST_UNITS = 3  # per class, for a jackknife
_MOST_UNITS = 100
_MOST_ROWS = 500  # for a jackknife by default: a hundred eigenvalue decompositions, a few seconds


@dataclass(frozen=True)
class IntervalOptions:
    """Kind and confidence of an interval: see :func:`~kernelrank.model_selection.estimate_concordance`."""

    kind: str | None
    confidence: float

    def check(self, validation: CrossValidation, sample: Sample) -> None:
        """Raise an error if there is no such interval."""
        (choice("rows", "jackknife") | NONE)("interval", self.kind)
        check_confidence(self.confidence)
        repeatable = validation.pairwise or (sample.queries is not None and validation.cv is None)
        if self.kind == "jackknife" and not repeatable:
            raise ValueError(
                'interval="jackknife" is for leave-pair-out, tournament and leave-query-out: other folds would be drawn'
                " for each part of the rows."
            )

    def wants_jackknife(self, validation: CrossValidation, counted: PairCounts, sample: Sample) -> bool:
        """Return whether the jackknife is asked for, or costs little."""
        if self.kind is not None:
            return self.kind == "jackknife"
        alone = sample.queries is None and sample.groups is None
        cheap = validation.pairwise and alone and counted.n_fits == 1 and sample.n_rows <= _MOST_ROWS
        return cheap and _can_leave_out(sample)

    def ends(
        self, value: float, spread: float, counted: PairCounts, sample: Sample, units: NDArray[Any] | None
    ) -> tuple[float, float]:
        """Return the lower and the upper end of the interval."""
        quantile = ndtri((1 + self.confidence) / 2)
        n = _independent(units, sample.n_rows, None if counted.values is not None else sample.strata)
        if spread == 0 and value in (0.0, 1.0):
            end = float(n / (n + quantile**2))  # Wilson interval of n successes without a failure
            return (end, 1.0) if value == 1 else (0.0, 1.0 - end)
        if counted.values is not None:
            return interval_of(value, spread, self.confidence, n_values=n)
        inside = np.clip(value, 0.5 / counted.pairs.sum(), 1 - 0.5 / counted.pairs.sum())
        half_width = quantile * np.sqrt(spread) / (inside * (1 - inside))
        return float(expit(logit(inside) - half_width)), float(expit(logit(inside) + half_width))


def jackknife_influence(validation: CrossValidation, estimator: Any, sample: Sample) -> tuple[Array, int]:
    """Return the influence of each row or group, computed from estimates without it, and the number of fits."""
    units, codes = jackknife_units(sample)
    sizes = np.bincount(codes)
    if not _can_leave_out(sample):
        raise ValueError("The jackknife needs at least three independent rows, or groups of rows, of each class.")
    one = replace(validation, n_jobs=None, verbose=0)
    samples = (sample.take(estimator, np.flatnonzero(units != unit)) for unit in range(len(codes)))
    arguments = ((estimator, rest, one.folds(rest)) for rest in samples)
    options: dict[str, Any] = {"n_jobs": validation.n_jobs, "verbose": validation.verbose}
    found = list(run_in_parallel(one.count, arguments, len(codes), what="estimates of the jackknife", **options))
    estimates, scale = np.array([each.estimate for each in found]), (1 - 1 / sizes)[codes]
    means = np.bincount(codes, weights=estimates) / sizes
    return scale * (means[codes] - estimates), sum(each.n_fits for each in found)


def _can_leave_out(sample: Sample) -> bool:
    """Return whether pairs can still be held out after any one unit is left out."""
    _, sizes = np.unique(sample.utilities, return_counts=True)
    enough = len(sizes) > _FEWEST_UNITS or sizes.min() >= _FEWEST_UNITS
    return bool(enough and np.bincount(jackknife_units(sample)[1]).min() >= _FEWEST_UNITS)


def jackknife_units(sample: Sample) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Return the jackknife unit of each row, and the class of each unit that is a single row.

    A unit is the group of a row, or the row itself. If there are more than a hundred, they are combined at random into
    a hundred larger ones, each with the same share of two classes.
    """
    m, strata = sample.n_rows, sample.strata
    units: NDArray[np.integer] = np.arange(m) if sample.units is None else sample.units
    n = int(units.max()) + 1
    if n <= _MOST_UNITS:
        codes = np.zeros(n, np.intp) if strata is None or sample.units is not None else strata
        return units, codes
    order = np.random.RandomState(0).permutation(n)
    if strata is not None:
        class_of_unit = np.zeros(n, np.intp)
        class_of_unit[units] = strata
        order = order[np.argsort(class_of_unit[order], kind="stable")]
    blocks = np.empty(n, np.intp)
    blocks[order] = np.arange(n) % _MOST_UNITS
    return blocks[units], np.zeros(_MOST_UNITS, np.intp)


def combine_variances(direct: float, jackknife: float) -> float:
    """Return the variance of an estimate: the geometric mean of two that are biased in opposite directions.

    A row influences an estimate in two roles: as a row that is compared, and as a row that models are trained on.
    `direct` is the variance of the first role only. In `jackknife` the influences of both roles add up. Without signal
    they are equal: the true variance is then twice `direct`, and half of `jackknife`. With signal, models hardly depend
    on single rows, and both variances are right. The geometric mean is right in both cases. By chance, `jackknife` may
    be smaller than `direct`, which is then used alone.
    """
    return float(np.sqrt(direct * max(direct, jackknife)))


def groups_of_queries(sample: Sample) -> NDArray[np.integer]:
    """Return the group of each query."""
    assert sample.queries is not None
    found = np.empty(sample.queries.max() + 1, np.intp)
    found[sample.queries] = sample.units
    return found


def _independent(units: NDArray[Any] | None, n_rows: int, strata: NDArray[np.intp] | None) -> int:
    """Count the independent units of the rarer class, or of all rows unless there are two classes."""
    units = np.arange(n_rows) if units is None else units
    if strata is None:
        return len(np.unique(units))
    return min(len(np.unique(units[strata == c])) for c in (0, 1))
