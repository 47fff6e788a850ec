"""Estimates, and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from kernelrank._rules import NONE, choice
from kernelrank._warnings import warn
from kernelrank.exceptions import PooledEstimateWarning
from kernelrank.metrics._influence import check_confidence, influences, variance
from kernelrank.metrics._influence import interval as interval_of
from kernelrank.model_selection._parallel import run
from kernelrank.model_selection._rows import Rows, Sample, held_out_together, warn_of_identical_rows
from kernelrank.model_selection._strategies import Counted, Method

Array = NDArray[np.float64]

_FEWEST_UNITS = 3  # of a class, for a jackknife
_MOST_UNITS = 100
_MOST_ROWS = 500  # that have a jackknife unasked: a hundred eigenvalue decompositions, for seconds


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


@dataclass(frozen=True)
class Certainty:
    """What intervals are made of, and their confidence: see :func:`estimate_concordance`."""

    interval: str | None
    confidence: float

    def _check(self, method: Method, sample: Sample) -> None:
        (choice("rows", "jackknife") | NONE)("interval", self.interval)
        check_confidence(self.confidence)
        repeatable = method.pairwise or (sample.queries is not None and method.cv is None)
        if self.interval == "jackknife" and not repeatable:
            raise ValueError(
                'interval="jackknife" is for leave-pair-out, tournament and leave-query-out: folds would be drawn anew.'
            )

    def estimate(
        self, method: Method, estimator: Any, sample: Sample, folds: list[Rows] | None = None
    ) -> tuple[Estimate, Counted]:
        """Make the estimate, and say what it was made of; folds may be given."""
        self._check(method, sample)
        if method.strategy == "pooled":
            warn(
                "Pooling compares scores of different models, and is pessimistic: the less there is to be learnt, and"
                " the fewer rows there are, the more. Leave-pair-out is not.",
                PooledEstimateWarning,
            )
        folds = method.folds(sample) if folds is None else folds
        warn_of_identical_rows(sample.X, held_out_together(folds, sample.groups, sample.n_rows))
        settled = method.settle(estimator, sample)
        counted = method.count(settled, sample, folds)
        if counted.values is None:
            value, influence = influences(counted.wins, counted.pairs)
            n_pairs = round(counted.pairs.sum() / 2)
            units: NDArray[Any] | None = sample.units
            strata = sample.strata
        else:
            known = ~np.isnan(counted.values)
            value = float(counted.values[known].mean())
            influence, n_pairs = (counted.values[known] - value) / known.sum(), round(counted.pairs.sum())
            units, strata = groups_of_queries(sample)[known], None
        n_fits = counted.n_fits + (not method.nested)
        spread, without = variance(influence, strata=strata, units=units), None
        if self._wants_jackknife(method, counted, sample):
            without, more = _jackknife(method, settled, sample)
            spread = between(spread, variance(without, strata=jackknife_units(sample)[1]))
            n_fits += more
        ends = self._ends(value, spread, counted, sample, units)
        found = Estimate(
            value,
            ends,
            self.confidence,
            method.strategy,
            n_pairs,
            n_fits,
            counted.skipped,
            float(np.sqrt(spread)),
            influence,
            without,
            counted.values,
        )
        return found, counted

    def _wants_jackknife(self, method: Method, counted: Counted, sample: Sample) -> bool:
        if self.interval is not None:
            return self.interval == "jackknife"
        alone = sample.queries is None and sample.groups is None
        cheap = method.pairwise and alone and counted.n_fits == 1 and sample.n_rows <= _MOST_ROWS
        return cheap and _can_leave_out(sample)

    def _ends(
        self, value: float, spread: float, counted: Counted, sample: Sample, units: NDArray[Any] | None
    ) -> tuple[float, float]:
        """Return the ends of the interval."""
        quantile = ndtri((1 + self.confidence) / 2)
        n = _independent(units, sample.n_rows, None if counted.values is not None else sample.strata)
        if spread == 0 and value in (0.0, 1.0):
            end = float(n / (n + quantile**2))  # of as many successes without a failure, by Wilson
            return (end, 1.0) if value == 1 else (0.0, 1.0 - end)
        if counted.values is not None:
            return interval_of(value, spread, self.confidence, n_values=n)
        inside = np.clip(value, 0.5 / counted.pairs.sum(), 1 - 0.5 / counted.pairs.sum())
        half_width = quantile * np.sqrt(spread) / (inside * (1 - inside))
        return float(expit(logit(inside) - half_width)), float(expit(logit(inside) + half_width))


def _jackknife(method: Method, estimator: Any, sample: Sample) -> tuple[Array, int]:
    """Return the influence of each row or group, by estimates without it, and the number of fits that they took."""
    units, codes = jackknife_units(sample)
    sizes = np.bincount(codes)
    if not _can_leave_out(sample):
        raise ValueError("The jackknife takes three independent rows, or groups of them, of each class at least.")
    one = replace(method, n_jobs=None, verbose=0)
    samples = (sample.take(estimator, np.flatnonzero(units != unit)) for unit in range(len(codes)))
    arguments = ((estimator, rest, one.folds(rest)) for rest in samples)
    options: dict[str, Any] = {"n_jobs": method.n_jobs, "verbose": method.verbose}
    found = list(run(one.count, arguments, len(codes), what="estimates of the jackknife", **options))
    estimates, scale = np.array([each.estimate for each in found]), (1 - 1 / sizes)[codes]
    means = np.bincount(codes, weights=estimates) / sizes
    return scale * (means[codes] - estimates), sum(each.n_fits for each in found)


def _can_leave_out(sample: Sample) -> bool:
    """Tell whether pairs can still be held out without any of the units; of many levels, any will do."""
    _, sizes = np.unique(sample.utilities, return_counts=True)
    enough = len(sizes) > _FEWEST_UNITS or sizes.min() >= _FEWEST_UNITS
    return bool(enough and np.bincount(jackknife_units(sample)[1]).min() >= _FEWEST_UNITS)


def jackknife_units(sample: Sample) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Return what each row is left out with, and the class of each of these units if it is a row.

    It is the row's group, or the row itself. If there are many, some are left out together, drawn at random; of two
    classes, as many of each as of the others.
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


def between(direct: float, jackknife: float) -> float:
    """Return the variance of an estimate, from that of its rows as given to models and that of the jackknife.

    A row moves an estimate where it is compared, and where models are trained on it. Without signal both are alike: a
    comparison is a sum over rows compared with rows trained on, the same for either role. Such a sum over pairs has
    twice the variance that its rows show as compared ones, and the jackknife, which doubles each row's influence, has
    twice as much again. With signal, models settle, and both are right. Their geometric mean is right at both ends; by
    chance the jackknife may say less than the rows, which are then believed.
    """
    return float(np.sqrt(direct * max(direct, jackknife)))


def groups_of_queries(sample: Sample) -> NDArray[np.integer]:
    """Return the group of each query."""
    assert sample.queries is not None
    found = np.empty(sample.queries.max() + 1, np.intp)
    found[sample.queries] = sample.units
    return found


def _independent(units: NDArray[Any] | None, n_rows: int, strata: NDArray[np.intp] | None) -> int:
    """Count the rows, or units of them, of the rarer class; of all, if there are no two classes."""
    units = np.arange(n_rows) if units is None else units
    if strata is None:
        return len(np.unique(units))
    return min(len(np.unique(units[strata == c])) for c in (0, 1))
