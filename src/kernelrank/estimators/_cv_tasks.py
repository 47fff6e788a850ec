"""Training pairs and validation scores of each fold of a cross-validated ranking SVM."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import take
from kernelrank._query_ids import encode_queries
from kernelrank._validation import CheckedRows
from kernelrank.estimators._folds import Fold
from kernelrank.exceptions import NoComparablePairsError, UndefinedMetricError, UndefinedQueryWarning
from kernelrank.metrics import RankingScorer, pair_accuracy
from kernelrank.pairs import PreferencePairs, UtilityPairs
from kernelrank.pairs._array_pairs import ArrayPairs, pairs_beside
from kernelrank.pairs._preferences import CheckedPreferences

Vector = NDArray[np.float64]
Codes = NDArray[np.int32]


class CVTask(Protocol):
    """Training pairs and validation scores; folds are given by number."""

    n_folds: int
    queries: Codes | None

    def pairs(self, fold: int | None = None) -> UtilityPairs | ArrayPairs | PreferencePairs:
        """Return the pairs that a fold is trained on, or all pairs."""

    def unseen(self, fold: int) -> NDArray[np.intp]:
        """Return the rows that must have no influence on what a fold learns."""

    def evaluate(self, fold: int, scores: Vector) -> float:
        """Score what a fold holds out by the scores of all rows; NaN if that is not defined."""


class UtilityTask:
    """Cross-validation on utilities, with folds of rows.

    Parameters
    ----------
    rows : CheckedRows
        With the weights of training: those of a query up to a factor.
    given_weights : ndarray or None
        Weights of the rows in the scores, as they were given.
    folds : list of Fold
    scorer : RankingScorer
    n_jobs : int or None
    beside : array, optional
        The rows; pairs are counted by their library, if it is another one than NumPy.
    """

    def __init__(
        self,
        rows: CheckedRows,
        given_weights: Vector | None,
        folds: list[Fold],
        scorer: RankingScorer,
        n_jobs: int | None,
        beside: Any = None,
    ) -> None:
        self.queries, self.n_folds, self._beside = rows.queries, len(folds), beside
        self._rows, self._given_weights = rows, given_weights
        self._folds, self._scorer, self._n_jobs = folds, scorer, n_jobs

    def pairs(self, fold: int | None = None) -> UtilityPairs | ArrayPairs:
        """Return the pairs that a fold is trained on, or all pairs."""
        rows = self._rows
        if fold is not None:
            # Held-out rows form a query of their own without comparable pairs.
            train = self._folds[fold].train
            numbers = np.zeros(len(rows.y), np.int32) if rows.queries is None else rows.queries
            codes, n_queries = encode_queries(np.where(train, numbers, -1), len(rows.y))
            seen = None if rows.observed is None else rows.observed | ~train
            rows = rows._replace(y=np.where(train, rows.y, 0.0), queries=codes, n_queries=n_queries, observed=seen)
        return pairs_beside(self._beside, rows, self._n_jobs)

    def unseen(self, fold: int) -> NDArray[np.intp]:
        """Return the rows that must have no influence on what a fold learns."""
        return self._folds[fold].test

    def evaluate(self, fold: int, scores: Vector) -> float:
        """Score what a fold holds out by the scores of all rows; NaN if that is not defined."""
        rows = self._folds[fold].test
        try:
            return _quietly(
                self._scorer.evaluate,
                self._rows.y[rows],
                take(scores, rows),
                qid=_take(self.queries, rows),
                sample_weight=_take(self._given_weights, rows) if self._scorer.takes_weights else None,
                observed=_take(self._rows.observed, rows),
            )
        except UndefinedMetricError:
            return np.nan


class PreferenceTask:
    """Cross-validation on given pairs of rows, with folds of pairs.

    Parameters
    ----------
    given : CheckedPreferences
    queries : ndarray of shape (n_rows,) or None
        Query of each row.
    folds : list of Fold
        Of pairs.
    """

    def __init__(self, given: CheckedPreferences, queries: Codes | None, folds: list[Fold]) -> None:
        self.queries, self.n_folds = queries, len(folds)
        self._given, self._folds = given, folds

    def pairs(self, fold: int | None = None) -> PreferencePairs:
        """Return the pairs that a fold is trained on, or all pairs."""
        given = self._given
        if fold is not None:
            given = given.take(self._folds[fold].train)
            if len(given.pairs) == 0:
                raise NoComparablePairsError("pairs is empty: there is no preference.")
        return PreferencePairs.of_checked(given)

    def unseen(self, fold: int) -> NDArray[np.intp]:
        """Return the rows that must have no influence on what a fold learns: those that it only tests."""
        train, test = self._folds[fold]
        return np.setdiff1d(self._given.pairs[test], self._given.pairs[train])

    def evaluate(self, fold: int, scores: Vector) -> float:
        """Return the share of held-out pairs in the right order, a tie counting half; the mean over queries."""
        test = self._folds[fold].test
        try:
            return _quietly(
                pair_accuracy,
                self._given.pairs[test],
                scores,
                weight=_take(self._given.weights, test),
                qid=self.queries,
            )
        except UndefinedMetricError:
            return np.nan


def _quietly(metric: Callable[..., float], *arguments: Any, **options: Any) -> float:
    """Call a metric without warnings of undefined queries, which would be repeated for every fold and alpha."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedQueryWarning)
        return metric(*arguments, **options)


def _take(values: Any, rows: Any) -> Any:
    return None if values is None else values[rows]
