"""How held-out rows are compared, and how sure that makes the result."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import tee
from numbers import Integral
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri
from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut
from sklearn.utils import check_random_state

from kernelrank._arrays import slices
from kernelrank._memory import require_memory
from kernelrank.estimators._folds import make_folds
from kernelrank.exceptions import NoComparablePairsError, PooledEstimateWarning, UndefinedMetricError
from kernelrank.metrics import concordance_index
from kernelrank.metrics._influence import RowCounts, check_confidence, influences, variance
from kernelrank.metrics._influence import interval as interval_of
from kernelrank.model_selection._choices import settle
from kernelrank.model_selection._held_out import Refits, hold_out
from kernelrank.model_selection._parallel import run
from kernelrank.model_selection._rows import Rows, Sample, stratified_folds, warn_of_identical_rows
from kernelrank.pairs import UtilityPairs

Array = NDArray[np.float64]
Order = NDArray[np.int8]
Strategy = Literal["leave-pair-out", "pooled", "averaged", "tournament"]

_FOLDS = 10
_NOT_COMPARED = -128  # in an order
_ROUNDING = 1e-12  # of scores: what differs by less is equal
_BLOCK_ELEMENTS = 1 << 22
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


class Counted(NamedTuple):
    """Held-out pairs in the right order, and all, of each row; or values of queries."""

    wins: Array
    pairs: Array
    n_fits: int
    skipped: tuple[str, ...] = ()
    scores: Array | None = None  # that the rows were compared by, if they are the same for all pairs of a row
    values: Array | None = None  # of queries

    @property
    def estimate(self) -> float:
        """The estimate itself."""
        return influences(self.wins, self.pairs)[0] if self.values is None else float(np.nanmean(self.values))


@dataclass(frozen=True)
class Method:
    """How an estimate is made: see :func:`estimate_concordance`."""

    strategy: Strategy
    cv: Any
    split_groups: bool
    nested: bool
    interval: str | None
    confidence: float
    n_jobs: int | None
    random_state: Any
    verbose: int

    @classmethod
    def make(
        cls,
        sample: Sample,
        strategy: Strategy | None,
        cv: Any,
        split_groups: bool,
        nested: bool,
        interval: str | None,
        confidence: float,
        n_jobs: int | None,
        random_state: Any,
        verbose: int,
    ) -> Method:
        """Check parameters, and choose what is not given."""
        if strategy is None:
            strategy = "leave-pair-out" if sample.queries is None else "averaged"
        if isinstance(cv, Iterator):
            cv = list(cv)  # folds are asked for more than once
        if not isinstance(random_state, Integral):
            random_state = check_random_state(random_state).randint(2**31)  # and must be the same
        method = cls(strategy, cv, split_groups, nested, interval, confidence, n_jobs, random_state, verbose)
        method._check(sample)
        return method

    def _check(self, sample: Sample) -> None:
        if self.strategy not in get_args(Strategy):
            raise ValueError(f"strategy must be one of {', '.join(get_args(Strategy))}, got {self.strategy!r}.")
        if self.interval not in (None, "rows", "jackknife"):
            raise ValueError(f'interval must be "rows", "jackknife" or None, got {self.interval!r}.')
        check_confidence(self.confidence)
        if self.pairwise and self.cv is not None:
            raise ValueError(f"{self.strategy} holds out pairs, and takes no cv.")
        if self.interval == "jackknife" and not (self.pairwise or (sample.queries is not None and self.cv is None)):
            raise ValueError(
                'interval="jackknife" is for leave-pair-out, tournament and leave-query-out: folds would be drawn anew.'
            )
        if sample.queries is not None and self.strategy != "averaged":
            if self.strategy != "leave-pair-out":
                raise ValueError(f"Rows of different queries are not compared: {self.strategy} takes no qid.")
            if not self.split_groups:
                raise ValueError(
                    "leave-pair-out trains on the other rows of a query. Hold out whole queries by"
                    ' strategy="averaged", or say split_groups=True if new rows will come from the same queries.'
                )

    @property
    def pairwise(self) -> bool:
        """Whether pairs are held out."""
        return self.strategy in ("leave-pair-out", "tournament")

    def estimate(self, estimator: Any, sample: Sample, folds: list[Rows] | None = None) -> tuple[Estimate, Counted]:
        """Make the estimate, and say what it was made of; folds may be given."""
        if self.strategy == "pooled":
            warnings.warn(
                "Pooling compares scores of different models, and is pessimistic: the less there is to be learnt, and"
                " the fewer rows there are, the more. Leave-pair-out is not.",
                PooledEstimateWarning,
                stacklevel=3,
            )
        folds = self.folds(sample) if folds is None else folds
        warn_of_identical_rows(sample.X, _held_out_together(sample, folds), stacklevel=3)
        settled = self.settle(estimator, sample)
        counted = self.count(settled, sample, folds)
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
        n_fits = counted.n_fits + (not self.nested)
        spread, without = variance(influence, strata=strata, units=units), None
        if self._wants_jackknife(counted, sample):
            without, more = self._jackknife(settled, sample)
            spread = between(spread, variance(without, strata=jackknife_units(sample)[1]))
            n_fits += more
        ends = self._ends(value, spread, counted, sample, units)
        found = Estimate(
            value,
            ends,
            self.confidence,
            self.strategy,
            n_pairs,
            n_fits,
            counted.skipped,
            float(np.sqrt(spread)),
            influence,
            without,
            counted.values,
        )
        return found, counted

    def _wants_jackknife(self, counted: Counted, sample: Sample) -> bool:
        if self.interval is not None:
            return self.interval == "jackknife"
        alone = sample.queries is None and sample.groups is None
        cheap = self.pairwise and alone and counted.n_fits == 1 and sample.n_rows <= _MOST_ROWS
        return cheap and bool(np.bincount(jackknife_units(sample)[1]).min() >= _FEWEST_UNITS)

    def settle(self, estimator: Any, sample: Sample) -> Any:
        """Return the estimator to be held out with."""
        return settle(estimator, sample, nested=self.nested, pairs=self.pairwise)

    def count(self, estimator: Any, sample: Sample, folds: list[Rows]) -> Counted:
        """Compare the held-out rows."""
        if self.strategy == "leave-pair-out":
            return self._leave_pair_out(estimator, sample)
        if self.strategy == "tournament":
            return self._tournament(estimator, sample)
        if self.strategy == "pooled":
            return self._pooled(estimator, sample, folds)
        if sample.queries is None:
            return self._averaged(estimator, sample, folds)
        return self._by_query(estimator, sample, folds)

    def _leave_pair_out(self, estimator: Any, sample: Sample) -> Counted:
        order, n_fits = self._order(estimator, sample, every=False)
        wins, pairs, missed = np.zeros(sample.n_rows), np.zeros(sample.n_rows), 0
        rows = np.arange(sample.n_rows)
        for part in slices(sample.n_rows, _BLOCK_ELEMENTS // sample.n_rows):
            compared = sample.comparable(rows[part], slice(None))
            known = compared & (order[part] != _NOT_COMPARED)
            right = np.sign(sample.utilities[part, None] - sample.utilities).astype(np.int8) * order[part]
            pairs[part] = known.sum(axis=1)
            wins[part] = (pairs[part] + np.where(known, right, 0).sum(axis=1)) / 2
            missed += int((compared & ~known).sum()) // 2
        return Counted(wins, pairs, n_fits, _skipped(missed, "pairs without which nothing is left to learn from"))

    def _tournament(self, estimator: Any, sample: Sample) -> Counted:
        order, n_fits = self._order(estimator, sample, every=True)
        known = order != _NOT_COMPARED
        games = known.sum(axis=1)
        missed = (sample.n_rows * (sample.n_rows - 1) - games.sum()) // 2
        scores = (np.where(known, order, 0).sum(axis=1) / np.maximum(games, 1) + 1) / 2
        counts = RowCounts(sample.utilities)
        skipped = _skipped(missed, "pairs without which nothing is left to learn from")
        return Counted(counts.wins(scores), counts.pairs, n_fits, skipped, scores)

    def _order(self, estimator: Any, sample: Sample, every: bool) -> tuple[Order, int]:
        """Tell which row of each pair is the higher one when both, or their groups, are held out."""
        m = sample.n_rows
        self.require_rows(sample)
        alone = sample.groups is None and sample.queries is None
        held_out = hold_out(estimator, sample.X, sample.y, sample.params, self.n_jobs, self.verbose, pairs=alone)
        found = held_out.order() if alone else None
        if found is not None:
            np.fill_diagonal(found, _NOT_COMPARED)
            hopeless = _leaves_one_level(sample.utilities)
            if hopeless is not None:
                found[hopeless] = _NOT_COMPARED
            return found, held_out.n_fits
        require_memory(m * m, f"The order of all pairs, of shape {(m, m)},", 'Use folds: strategy="averaged".')
        order, n_folds = np.full((m, m), _NOT_COMPARED, np.int8), sum(1 for _ in sample.pairs_of_groups(every))
        groups, ahead = tee(sample.pairs_of_groups(every))
        folds = (a if a is b else np.concatenate([a, b]) for a, b in ahead)
        for (a, b), scores in zip(groups, held_out.predict(folds, n_folds), strict=True):
            if scores is not None:
                difference = np.subtract.outer(scores[: len(a)], scores[-len(b) :])
                tolerance = _ROUNDING * np.abs(scores).max()
                signs = (difference > tolerance).astype(np.int8) - (difference < -tolerance)
                signs = np.where(sample.comparable(a, b, every), signs, _NOT_COMPARED)
                order[np.ix_(a, b)], order[np.ix_(b, a)] = signs, np.where(signs == _NOT_COMPARED, signs, -signs).T
        return order, held_out.n_fits

    def require_rows(self, sample: Sample) -> None:
        """Make sure that pairs can be held out."""
        if self.pairwise and sample.strata is not None and np.bincount(sample.strata).min() < 2:
            raise ValueError(f"{self.strategy} takes two rows of each class at least: one is held out.")

    def _averaged(self, estimator: Any, sample: Sample, folds: list[Rows]) -> Counted:
        found, n_fits = self._predict(estimator, sample, folds)
        wins, pairs, untrained, equal = np.zeros(sample.n_rows), np.zeros(sample.n_rows), 0, 0
        for rows, scores in zip(folds, found, strict=True):
            utilities = sample.utilities[rows]
            if scores is None:
                untrained += 1
            elif (utilities == utilities[0]).all():
                equal += 1
            else:
                counts = RowCounts(utilities)
                pairs[rows] += counts.pairs
                wins[rows] += counts.wins(scores)
        skipped = (
            *_skipped(equal, f"of {len(folds)} folds, whose rows have all the same y"),
            *_skipped(untrained, f"of {len(folds)} folds, without which nothing is left to learn from"),
        )
        return Counted(wins, pairs, n_fits, skipped)

    def _pooled(self, estimator: Any, sample: Sample, folds: list[Rows]) -> Counted:
        scores, n_fits = self._scores(estimator, sample, folds)
        known = np.flatnonzero(~np.isnan(scores))
        wins, pairs = np.zeros(sample.n_rows), np.zeros(sample.n_rows)
        if len(known) == 0:
            raise UndefinedMetricError("Nothing is left to learn from without any of the folds.")
        counts = RowCounts(sample.utilities[known])
        wins[known], pairs[known] = counts.wins(scores[known]), counts.pairs
        missed = sample.n_rows - len(known)
        return Counted(
            wins, pairs, n_fits, _skipped(missed, "rows without which nothing is left to learn from"), scores
        )

    def _by_query(self, estimator: Any, sample: Sample, folds: list[Rows]) -> Counted:
        assert sample.queries is not None
        scores, n_fits = self._scores(estimator, sample, folds)
        unknown = np.unique(sample.queries[np.isnan(scores)])
        values = concordance_index(sample.utilities, np.nan_to_num(scores), qid=sample.queries, per_query=True)
        # Values come in the order of the queries' first rows.
        first = np.sort(np.unique(sample.queries, return_index=True)[1])
        ranked = np.empty(len(values))
        ranked[sample.queries[first]] = values
        equal = np.isnan(ranked)
        ranked[unknown] = np.nan
        if np.isnan(ranked).all():
            raise NoComparablePairsError("No query has rows to compare, and others to learn from.")
        skipped = (
            *_skipped(equal.sum(), f"of {len(values)} queries, whose rows have all the same y"),
            *_skipped(
                (np.isnan(ranked) & ~equal).sum(),
                f"of {len(values)} queries, without which nothing is left to learn from",
            ),
        )
        n_pairs = np.zeros(len(values))
        violations = UtilityPairs(sample.utilities, qid=sample.queries).count(np.zeros(sample.n_rows))
        np.add.at(n_pairs, sample.queries, violations.c)
        n_pairs[np.isnan(ranked)] = 0
        return Counted(n_pairs, n_pairs, n_fits, skipped, scores, ranked)

    def _scores(self, estimator: Any, sample: Sample, folds: list[Rows]) -> tuple[Array, int]:
        """Return the score of each row by a model that has not seen it, NaN if there is none."""
        if not (np.bincount(np.concatenate(folds), minlength=sample.n_rows) == 1).all():
            raise ValueError("cv must hold out each row once.")
        found, n_fits = self._predict(estimator, sample, folds)
        scores = np.full(sample.n_rows, np.nan)
        for rows, each in zip(folds, found, strict=True):
            scores[rows] = np.nan if each is None else each
        return scores, n_fits

    def folds(self, sample: Sample) -> list[Rows]:
        """Return the rows that are held out together; folds keep the share of two classes where they can."""
        if self.pairwise:
            return []
        cv, strata, groups = self.cv, sample.strata, sample.groups
        if cv is None and self.strategy == "averaged" and sample.queries is None:
            cv = _FOLDS
        elif cv is None:
            cv = LeaveOneOut() if groups is None else LeaveOneGroupOut()
        if isinstance(cv, Integral) and strata is not None and sample.queries is None:
            cv = stratified_folds(int(cv), strata, groups, self.random_state)
        elif isinstance(cv, Integral):
            cv = min(int(cv), sample.n_rows if groups is None else int(groups.max()) + 1)
        y = sample.utilities if strata is None else strata.astype(np.float64)
        folds = make_folds(cv, y, groups, groups, self.random_state)
        for fold in folds:
            if fold.train.sum() + len(fold.test) != sample.n_rows or len(fold.test) == 0:
                raise ValueError("Each fold of cv must test on some rows, and train on all others.")
        return [fold.test for fold in folds]

    def _predict(self, estimator: Any, sample: Sample, folds: list[Rows]) -> tuple[list[Array | None], int]:
        options = (estimator, sample.X, sample.y, sample.params, self.n_jobs, self.verbose)
        # Folds that split all queries have a closed form as well, which costs far more than refits.
        torn = sample.queries is not None and sample.groups is None
        held_out = Refits(*options) if torn else hold_out(*options, pairs=False)
        found = list(held_out.predict(folds, len(folds)))
        return found, held_out.n_fits

    def _jackknife(self, estimator: Any, sample: Sample) -> tuple[Array, int]:
        """Return the influence of each row or group, by estimates without it, and the number of fits that they took."""
        units, codes = jackknife_units(sample)
        sizes = np.bincount(codes)
        if sizes.min() < _FEWEST_UNITS:
            raise ValueError("The jackknife takes three independent rows, or groups of them, of each class at least.")
        method = replace(self, n_jobs=None, verbose=0)
        samples = (sample.take(estimator, np.flatnonzero(units != unit)) for unit in range(len(codes)))
        arguments = ((estimator, rest, method.folds(rest)) for rest in samples)
        options: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": self.verbose}
        found = list(run(method.count, arguments, len(codes), what="estimates of the jackknife", **options))
        estimates, scale = np.array([each.estimate for each in found]), (1 - 1 / sizes)[codes]
        means = np.bincount(codes, weights=estimates) / sizes
        return scale * (means[codes] - estimates), sum(each.n_fits for each in found)

    def _ends(
        self, value: float, spread: float, counted: Counted, sample: Sample, units: NDArray[Any] | None
    ) -> tuple[float, float]:
        """Return the ends of the interval."""
        if counted.values is not None:
            assert units is not None
            return interval_of(value, spread, self.confidence, n_values=len(np.unique(units)))
        quantile = ndtri((1 + self.confidence) / 2)
        if spread == 0 and value in (0.0, 1.0):
            n = _independent(sample, units)
            end = float(n / (n + quantile**2))  # of as many successes without a failure, by Wilson
            return (end, 1.0) if value == 1 else (0.0, 1.0 - end)
        inside = np.clip(value, 0.5 / counted.pairs.sum(), 1 - 0.5 / counted.pairs.sum())
        half_width = quantile * np.sqrt(spread) / (inside * (1 - inside))
        return float(expit(logit(inside) - half_width)), float(expit(logit(inside) + half_width))


def _held_out_together(sample: Sample, folds: list[Rows]) -> NDArray[np.integer]:
    """Return a number of what is held out together; rows of several folds belong to the last of them."""
    if not folds:
        return np.arange(sample.n_rows) if sample.groups is None else sample.groups
    numbers = np.full(sample.n_rows, -1)
    for number, rows in enumerate(folds):
        numbers[rows] = number
    return numbers


def _leaves_one_level(utilities: Array) -> NDArray[np.bool_] | None:
    """Tell without which pairs all other rows have the same utility, and there is nothing to learn from."""
    levels, codes = np.unique(utilities, return_inverse=True)
    if len(levels) > 3:  # two rows cannot take away more than two of them
        return None
    sizes, n = np.bincount(codes), len(levels)
    left = sizes - np.eye(n, dtype=np.intp)[:, None, :] - np.eye(n, dtype=np.intp)[None, :, :]
    return np.asarray(((left > 0).sum(axis=2) < 2)[np.ix_(codes, codes)])


def _skipped(count: Any, what: str) -> tuple[str, ...]:
    return (f"{int(count)} {what}",) if count else ()


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


def _independent(sample: Sample, units: NDArray[Any] | None) -> int:
    """Count the rows, or groups, of the rarer class; of all, if there are no two classes."""
    units = np.arange(sample.n_rows) if units is None else units
    if sample.strata is None:
        return len(np.unique(units))
    return min(len(np.unique(units[sample.strata == c])) for c in (0, 1))
