"""Training pairs and validation scores of each fold of a cross-validated ranking SVM."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelrank.estimators._folds import Fold
from kernelrank.exceptions import UndefinedMetricError, UndefinedQueryWarning
from kernelrank.metrics import RankingScorer, pair_accuracy
from kernelrank.pairs import PreferencePairs, UtilityPairs

Vector = NDArray[np.float64]
Codes = NDArray[np.int32]


class CVTask(Protocol):
    """Training pairs and validation scores; folds are given by number."""

    n_folds: int
    queries: Codes | None

    def pairs(self, fold: int | None = None) -> UtilityPairs | PreferencePairs:
        """Return the pairs that a fold is trained on, or all pairs."""

    def unseen(self, fold: int) -> NDArray[np.intp]:
        """Return the rows that must have no influence on what a fold learns."""

    def evaluate(self, fold: int, scores: Vector) -> float:
        """Score what a fold holds out by the scores of all rows; NaN if that is not defined."""


class UtilityTask:
    """Cross-validation on utilities, with folds of rows.

    Parameters
    ----------
    y, queries
        One element per row.
    weights : ndarray or None
        Weights of the rows in training, of each query up to a factor.
    given_weights : ndarray or None
        Weights of the rows in the scores, as they were given.
    folds : list of Fold
    scorer : RankingScorer
    n_jobs : int or None
    """

    def __init__(
        self,
        y: Vector,
        queries: Codes | None,
        weights: Vector | None,
        given_weights: Vector | None,
        folds: list[Fold],
        scorer: RankingScorer,
        n_jobs: int | None,
    ) -> None:
        self.queries, self.n_folds = queries, len(folds)
        self._y, self._weights, self._given_weights = y, weights, given_weights
        self._folds, self._scorer, self._n_jobs = folds, scorer, n_jobs

    def pairs(self, fold: int | None = None) -> UtilityPairs:
        """Return the pairs that a fold is trained on, or all pairs."""
        y, queries = self._y, self.queries
        if fold is not None:
            # Held-out rows form a query of their own without comparable pairs.
            train = self._folds[fold].train
            numbers = np.zeros(len(y), np.int32) if queries is None else queries
            y, queries = np.where(train, y, 0.0), np.where(train, numbers, -1)
        return UtilityPairs(y, qid=queries, sample_weight=self._weights, n_jobs=self._n_jobs)

    def unseen(self, fold: int) -> NDArray[np.intp]:
        """Return the rows that must have no influence on what a fold learns."""
        return self._folds[fold].test

    def evaluate(self, fold: int, scores: Vector) -> float:
        """Score what a fold holds out by the scores of all rows; NaN if that is not defined."""
        rows = self._folds[fold].test
        try:
            return _quietly(
                self._scorer.evaluate,
                self._y[rows],
                scores[rows],
                qid=_take(self.queries, rows),
                sample_weight=_take(self._given_weights, rows) if self._scorer.takes_weights else None,
            )
        except UndefinedMetricError:
            return np.nan


class PreferenceTask:
    """Cross-validation on given pairs of rows, with folds of pairs.

    Parameters
    ----------
    pairs : ndarray of shape (n_pairs, 2)
        Rows, ``[winner, loser]``.
    n_rows : int
    queries : ndarray of shape (n_rows,) or None
    weights : ndarray of shape (n_pairs,) or None
    folds : list of Fold
        Of pairs.
    """

    def __init__(
        self,
        pairs: NDArray[np.integer],
        n_rows: int,
        queries: Codes | None,
        weights: Vector | None,
        folds: list[Fold],
    ) -> None:
        self.queries, self.n_folds = queries, len(folds)
        self._pairs, self._n_rows, self._weights, self._folds = pairs, n_rows, weights, folds

    def pairs(self, fold: int | None = None) -> PreferencePairs:
        """Return the pairs that a fold is trained on, or all pairs."""
        train = slice(None) if fold is None else self._folds[fold].train
        return PreferencePairs(self._pairs[train], self._n_rows, weight=_take(self._weights, train), qid=self.queries)

    def unseen(self, fold: int) -> NDArray[np.intp]:
        """Return the rows that must have no influence on what a fold learns: those that it only tests."""
        train, test = self._folds[fold]
        return np.setdiff1d(self._pairs[test], self._pairs[train])

    def evaluate(self, fold: int, scores: Vector) -> float:
        """Return the share of held-out pairs in the right order, a tie counting half; the mean over queries."""
        test = self._folds[fold].test
        try:
            return _quietly(
                pair_accuracy, self._pairs[test], scores, weight=_take(self._weights, test), qid=self.queries
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
