"""Strategies of cross-validation: which rows are held out, and which of them are compared by which model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import tee
from numbers import Integral
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut
from sklearn.utils import check_random_state

from kernelrank._arrays import slices
from kernelrank._memory import require_memory
from kernelrank._query_ids import encode_queries
from kernelrank._rules import FLAG, FOLDS, N_JOBS, NONE, RANDOM_STATE, VERBOSE, choice
from kernelrank.estimators._folds import groups_for, make_folds, splits_queries
from kernelrank.exceptions import NoComparablePairsError, UndefinedMetricError
from kernelrank.metrics import concordance_index
from kernelrank.metrics._influence import influences
from kernelrank.model_selection._held_out import Refits, hold_out
from kernelrank.model_selection._sample import Sample, Split, held_out_together, stratified_folds
from kernelrank.model_selection._tuning import prepare_estimator
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers.least_squares import Predicted

Array = NDArray[np.float64]
Order = NDArray[np.int8]
Strategy = Literal["leave-pair-out", "pooled", "averaged", "tournament"]

_FOLDS = 10
_NOT_COMPARED = -128  # in an order
_BLOCK_ELEMENTS = 1 << 22
_NO_TARGETS = "because the remaining rows have all the same y"


class PairCounts(NamedTuple):
    """Counts of held-out pairs per row: in the right order, and in total. With queries, also a value per query."""

    wins: Array
    pairs: Array
    n_fits: int
    skipped: tuple[str, ...] = ()
    scores: Array | None = None  # of the rows, if one score per row serves all of its pairs
    values: Array | None = None  # concordance per query

    @property
    def estimate(self) -> float:
        """Estimate of the concordance."""
        return influences(self.wins, self.pairs)[0] if self.values is None else float(np.nanmean(self.values))


@dataclass(frozen=True)
class CrossValidation:
    """Parameters of a cross-validation, checked: see :func:`~kernelrank.model_selection.estimate_concordance`."""

    strategy: Strategy
    cv: Any
    nested: bool
    n_jobs: int | None
    random_state: Any
    verbose: int

    @classmethod
    def make(
        cls,
        sample: Sample,
        strategy: Strategy | None,
        cv: Any,
        *,
        nested: bool,
        n_jobs: int | None,
        random_state: Any,
        verbose: int,
    ) -> Self:
        """Check parameters, and set the defaults that depend on the sample."""
        _check_options(strategy, cv, nested, n_jobs, random_state, verbose)
        if strategy is None:
            strategy = "leave-pair-out" if sample.queries is None else "averaged"
        if isinstance(cv, Iterator):
            cv = list(cv)  # folds are needed more than once
        if not isinstance(random_state, Integral):
            random_state = check_random_state(random_state).randint(2**31)  # and the same ones each time
        validation = cls(strategy, cv, nested, n_jobs, random_state, verbose)
        validation._check(sample)
        return validation

    def _check(self, sample: Sample) -> None:
        if self.pairwise and self.cv is not None:
            raise ValueError(f"cv must be None for strategy={self.strategy!r}, which holds out pairs.")
        if sample.entries is not None and not self.by_entry:
            raise ValueError(
                "groups must have one element per row. Two columns, the row and the column of each entry, are for a"
                " splitter of entries, such as cv=LeaveColumnsOut()."
            )
        queries = np.empty(0, np.int32) if sample.queries is None else sample.queries
        if self.by_entry and sample.groups is not None and not np.array_equal(sample.groups, queries):
            raise ValueError(
                f"{type(self.cv).__name__} holds out entries by their rows and columns, whatever the groups: leave out"
                " groups, or pass split_groups=True."
            )
        if sample.queries is not None and self.strategy != "averaged":
            if self.strategy != "leave-pair-out":
                raise ValueError(f"strategy={self.strategy!r} takes no qid: it compares rows of different queries.")
            if sample.groups is not None:
                raise ValueError(
                    "leave-pair-out trains on the other rows of a query. Hold out whole queries with"
                    ' strategy="averaged", or pass split_groups=True if new rows will come from the same queries.'
                )

    @property
    def by_entry(self) -> bool:
        """Whether folds are made of entries of a matrix, and may split queries."""
        return splits_queries(self.cv)

    @property
    def pairwise(self) -> bool:
        """Whether pairs are held out."""
        return self.strategy in ("leave-pair-out", "tournament")

    def prepare(self, estimator: Any, sample: Sample) -> Any:
        """Return the estimator to fit to training sets: see :func:`prepare_estimator`."""
        return prepare_estimator(estimator, sample, nested=self.nested, pairs=self.pairwise)

    def count_fits(self, sample: Sample) -> int:
        """Return the number of training sets of an estimate."""
        if self.pairwise:
            return sum(1 for _ in sample.pairs_of_groups(every=self.strategy == "tournament"))
        return len(self.folds(sample))

    def count(self, estimator: Any, sample: Sample, folds: list[Split]) -> PairCounts:
        """Fit models, and count the held-out pairs that they put in the right order."""
        if self.strategy == "leave-pair-out":
            return self._leave_pair_out(estimator, sample)
        if self.strategy == "tournament":
            return self._tournament(estimator, sample)
        if self.strategy == "pooled":
            return self._pooled(estimator, sample, folds)
        if sample.queries is None:
            return self._averaged(estimator, sample, folds)
        return self._by_query(estimator, sample, folds)

    def _leave_pair_out(self, estimator: Any, sample: Sample) -> PairCounts:
        order, n_fits = self._order(estimator, sample, every=False)
        wins, pairs, missed = np.zeros(sample.n_rows), np.zeros(sample.n_rows), 0
        rows = np.arange(sample.n_rows)
        for part in slices(sample.n_rows, _BLOCK_ELEMENTS // sample.n_rows):
            compared = sample.comparable(rows[part], slice(None))
            known = compared & (order[part] != _NOT_COMPARED)
            right = sample.order(rows[part], slice(None)) * order[part]
            pairs[part] = known.sum(axis=1)
            wins[part] = (pairs[part] + np.where(known, right, 0).sum(axis=1)) / 2
            missed += int((compared & ~known).sum()) // 2
        return PairCounts(wins, pairs, n_fits, _skipped(missed, f"pairs, {_NO_TARGETS}"))

    def _tournament(self, estimator: Any, sample: Sample) -> PairCounts:
        order, n_fits = self._order(estimator, sample, every=True)
        known = order != _NOT_COMPARED
        games = known.sum(axis=1)
        missed = (sample.n_rows * (sample.n_rows - 1) - games.sum()) // 2
        scores = (np.where(known, order, 0).sum(axis=1) / np.maximum(games, 1) + 1) / 2
        counts = sample.counts()
        skipped = _skipped(missed, f"pairs, {_NO_TARGETS}")
        return PairCounts(counts.wins(scores), counts.pairs, n_fits, skipped, scores)

    def _order(self, estimator: Any, sample: Sample, every: bool) -> tuple[Order, int]:
        """Return the order of each pair of rows when both, or their groups, are held out, and the number of fits."""
        m = sample.n_rows
        self.require_rows(sample)
        require_memory(m * m, f"The order of all pairs, of shape {(m, m)},", 'Use folds: strategy="averaged".')
        alone = sample.groups is None and sample.queries is None
        held_out = hold_out(estimator, sample.X, sample.y, sample.params, self.n_jobs, self.verbose, pairs=alone)
        found = held_out.order() if alone else None
        if found is not None:
            np.fill_diagonal(found, _NOT_COMPARED)
            hopeless = _leaves_one_level(sample.utilities)
            if hopeless is not None:
                found[hopeless] = _NOT_COMPARED
            return found, held_out.n_fits
        order, n_folds = np.full((m, m), _NOT_COMPARED, np.int8), sum(1 for _ in sample.pairs_of_groups(every))
        groups, ahead = tee(sample.pairs_of_groups(every))
        folds = (a if a is b else np.concatenate([a, b]) for a, b in ahead)
        for (a, b), scores in zip(groups, held_out.predict(folds, n_folds), strict=True):
            if scores is not None:
                values = scores.tied()
                first, second = values[: len(a), None], values[-len(b) :]
                signs = (first > second).astype(np.int8) - (first < second)
                signs = np.where(sample.comparable(a, b, every), signs, _NOT_COMPARED)
                order[np.ix_(a, b)], order[np.ix_(b, a)] = signs, np.where(signs == _NOT_COMPARED, signs, -signs).T
        return order, held_out.n_fits

    def require_rows(self, sample: Sample) -> None:
        """Raise an error if there are too few rows to hold out pairs."""
        if self.pairwise and sample.strata is not None and np.bincount(sample.strata).min() < 2:
            raise ValueError(f"strategy={self.strategy!r} needs at least two rows of each class: one is held out.")

    def _averaged(self, estimator: Any, sample: Sample, folds: list[Split]) -> PairCounts:
        found, n_fits = self._predict(estimator, sample, folds)
        wins, pairs, untrained, equal = np.zeros(sample.n_rows), np.zeros(sample.n_rows), 0, 0
        for (rows, _), scores in zip(folds, found, strict=True):
            if scores is None:
                untrained += 1
                continue
            try:
                counts = sample.counts(rows)
            except NoComparablePairsError:
                equal += 1
                continue
            pairs[rows] += counts.pairs
            wins[rows] += counts.wins(scores.tied())
        skipped = (
            *_skipped(equal, f"of {len(folds)} folds, {_equal(sample)}"),
            *_skipped(untrained, f"of {len(folds)} folds, {_NO_TARGETS}"),
        )
        return PairCounts(wins, pairs, n_fits, skipped)

    def _pooled(self, estimator: Any, sample: Sample, folds: list[Split]) -> PairCounts:
        scores, n_fits = self._scores(estimator, sample, folds, np.ones(sample.n_rows, dtype=bool))
        known = np.flatnonzero(~np.isnan(scores))
        wins, pairs = np.zeros(sample.n_rows), np.zeros(sample.n_rows)
        if len(known) == 0:
            raise UndefinedMetricError("The training rows of every fold have all the same y: no model can be fitted.")
        counts = sample.counts(known)
        wins[known], pairs[known] = counts.wins(scores[known]), counts.pairs
        missed = sample.n_rows - len(known)
        return PairCounts(wins, pairs, n_fits, _skipped(missed, f"rows, {_NO_TARGETS}"), scores)

    def _by_query(self, estimator: Any, sample: Sample, folds: list[Split]) -> PairCounts:
        sets, query_of_set = self._compared_sets(sample, folds)
        n_pairs = np.zeros(len(query_of_set))
        np.add.at(
            n_pairs,
            sets,
            UtilityPairs(sample.utilities, qid=sets, observed=sample.observed).count(np.zeros(sample.n_rows)).c,
        )
        scores, n_fits = self._scores(estimator, sample, folds, n_pairs[sets] > 0, sets)
        unknown = np.unique(sets[np.isnan(scores)])
        # Values come in the order of the first rows, which is that of the sets.
        options: dict[str, Any] = {"qid": sets, "observed": sample.observed, "per_query": True}
        values = concordance_index(sample.utilities, np.nan_to_num(scores), **options)
        equal = np.isnan(values)
        values[unknown] = np.nan
        if np.isnan(values).all():
            raise NoComparablePairsError(
                "No query can be scored: its rows, or the rows of all others, have the same y."
            )
        what = f"of {len(values)} {'held-out parts of queries' if self.by_entry else 'queries'}"
        skipped = (
            *_skipped(equal.sum(), f"{what}, {_equal(sample)}"),
            *_skipped((np.isnan(values) & ~equal).sum(), f"{what}, {_NO_TARGETS}"),
        )
        n_pairs[np.isnan(values)] = 0
        n_pairs, values = _of_queries(query_of_set, n_pairs, values)
        return PairCounts(n_pairs, n_pairs, n_fits, skipped, scores, values)

    def _compared_sets(self, sample: Sample, folds: list[Split]) -> tuple[NDArray[np.int32], NDArray[np.integer]]:
        """Return the set of each row, in which rows are compared with each other, and the query of each set.

        It is the query. Of queries that are split, only rows that the same model predicts are compared.
        """
        queries = sample.queries
        assert queries is not None
        fold_of_row = held_out_together(folds, None, sample.n_rows) if self.by_entry else np.zeros(len(queries), int)
        numbers = queries.astype(np.int64) * (len(folds) + 1) + fold_of_row + 1
        sets, n_sets = encode_queries(numbers, len(queries))
        assert sets is not None
        query_of_set = np.empty(n_sets, np.int32)
        query_of_set[sets] = queries
        return sets, query_of_set

    def _scores(
        self,
        estimator: Any,
        sample: Sample,
        folds: list[Split],
        compared: NDArray[np.bool_],
        sets: NDArray[np.integer] | None = None,
    ) -> tuple[Array, int]:
        """Return the held-out score of each row, NaN if there is none, and the number of fits.

        `compared` tells which rows are needed, and `sets` which of them are compared with each other.
        """
        times = np.bincount(np.concatenate([fold.test for fold in folds]), minlength=sample.n_rows)
        if (times[compared] != 1).any() or (times > 1).any():
            raise ValueError("cv must hold out each row once.")
        found, n_fits = self._predict(estimator, sample, folds)
        scores = Predicted(np.full(sample.n_rows, np.nan), np.zeros(sample.n_rows))
        for (rows, _), each in zip(folds, found, strict=True):
            if each is not None:
                scores.values[rows], scores.errors[rows] = each
        return scores.tied(sets), n_fits

    def folds(self, sample: Sample) -> list[Split]:
        """Return the test rows of each fold; with two classes, folds are stratified where possible."""
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
        folds = make_folds(cv, y, groups, groups_for(cv, sample.X, sample.entries, groups), self.random_state)
        for fold in folds:
            all_others = self.by_entry or fold.train.sum() + len(fold.test) == sample.n_rows
            if not all_others or len(fold.test) == 0:
                raise ValueError("Each fold of cv must test on some rows, and train on all others.")
        apart = (np.setdiff1d(np.flatnonzero(~fold.train), fold.test) for fold in folds)
        return [Split(fold.test, np.append(fold.test, rest)) for fold, rest in zip(folds, apart, strict=True)]

    def _predict(self, estimator: Any, sample: Sample, folds: list[Split]) -> tuple[list[Predicted | None], int]:
        options = (estimator, sample.X, sample.y, sample.params, self.n_jobs, self.verbose)
        # Folds that split queries have a closed form, too, but refits are much cheaper.
        torn = sample.queries is not None and (sample.groups is None or self.by_entry)
        source = Refits(*options) if torn else hold_out(*options, pairs=False)
        found = source.predict([fold.held_out for fold in folds], len(folds))
        tested = [
            None if each is None else Predicted(*(part[: len(fold.test)] for part in each))
            for fold, each in zip(folds, found, strict=True)
        ]
        return tested, source.n_fits


def _equal(sample: Sample) -> str:
    """Describe rows that have no pair."""
    return "whose rows have all the same y" if sample.observed is None else "without a pair whose order is known"


def _check_options(strategy: Any, cv: Any, nested: Any, n_jobs: Any, random_state: Any, verbose: Any) -> None:
    (choice(*get_args(Strategy)) | NONE)("strategy", strategy)
    FOLDS("cv", cv)
    FLAG("nested", nested)
    N_JOBS("n_jobs", n_jobs)
    RANDOM_STATE("random_state", random_state)
    VERBOSE("verbose", verbose)


def _of_queries(query_of_set: NDArray[np.integer], n_pairs: Array, values: Array) -> tuple[Array, Array]:
    """Return the pairs of each query, and the share of them in the right order, from those of its sets."""
    n_queries = int(query_of_set.max()) + 1
    totals, shares = np.zeros(n_queries), np.full(n_queries, np.nan)
    if len(query_of_set) == n_queries:
        totals[query_of_set], shares[query_of_set] = n_pairs, values
        return totals, shares
    wins = np.zeros(n_queries)
    np.add.at(totals, query_of_set, n_pairs)
    np.add.at(wins, query_of_set, n_pairs * np.nan_to_num(values))
    return totals, np.divide(wins, totals, out=shares, where=totals > 0)


def _leaves_one_level(utilities: Array) -> NDArray[np.bool_] | None:
    """Return for which held-out pairs all remaining rows have the same utility."""
    levels, codes = np.unique(utilities, return_inverse=True)
    if len(levels) > 3:  # a pair can remove two of them at most
        return None
    sizes, n = np.bincount(codes), len(levels)
    left = sizes - np.eye(n, dtype=np.intp)[:, None, :] - np.eye(n, dtype=np.intp)[None, :, :]
    return np.asarray(((left > 0).sum(axis=2) < 2)[np.ix_(codes, codes)])


def _skipped(count: Any, what: str) -> tuple[str, ...]:
    return (f"{int(count)} {what}",) if count else ()
