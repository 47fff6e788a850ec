"""Predictions for rows by models that have not seen them: in closed form where there is one, by refits elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from kernelrank._arrays import to_host
from kernelrank.estimators import RLS, RLSCV, RankRLS, RankRLSCV

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class HeldOut(Protocol):
    """Predicts rows by models of the others."""

    n_fits: int

    def folds(self, folds: Sequence[Rows]) -> list[Array]:
        """Predict the rows of each fold by a model of all rows outside."""

    def pairs(self, pairs: Rows) -> Array:
        """Predict both rows of each pair by a model of all others; shape (n_pairs, 2)."""


class ClosedForm:
    """Hold-outs of a least-squares model that is fitted once.

    Parameters
    ----------
    model : RLS or RankRLS
        Fitted to all rows.
    """

    def __init__(self, model: Any) -> None:
        self._model, self.n_fits = model, 1

    def folds(self, folds: Sequence[Rows]) -> list[Array]:
        """Predict the rows of each fold."""
        return [np.asarray(to_host(each)) for each in self._model.hold_out(folds)]

    def pairs(self, pairs: Rows) -> Array:
        """Predict both rows of each pair."""
        return np.asarray(to_host(self._model.leave_pair_out(pairs)))


class Refits:
    """Hold-outs of any estimator, which is fitted anew for each.

    Parameters
    ----------
    estimator : estimator
        Unfitted.
    X, y
        All rows.
    metadata : dict
        What `fit` gets besides, an element a row.
    n_jobs : int or None
    progress : callable
        Called with the number of fits that are done, and of all.
    """

    def __init__(
        self, estimator: Any, X: Any, y: Array, metadata: dict[str, Any], n_jobs: int | None, progress: Any
    ) -> None:
        self._estimator, self._X, self._y, self._metadata = estimator, X, y, metadata
        self._n_jobs, self._progress, self.n_fits = n_jobs, progress, 0

    def folds(self, folds: Sequence[Rows]) -> list[Array]:
        """Predict the rows of each fold."""
        return list(self._predict(folds))

    def pairs(self, pairs: Rows) -> Array:
        """Predict both rows of each pair."""
        return np.reshape(list(self._predict(pairs)), (len(pairs), 2))

    def _predict(self, folds: Sequence[Rows] | Rows) -> Iterable[Array]:
        work = joblib.Parallel(n_jobs=self._n_jobs, return_as="generator")
        found = work(
            joblib.delayed(_fit_and_predict)(self._estimator, self._X, self._y, self._metadata, fold) for fold in folds
        )
        for done, each in enumerate(found, 1):
            self.n_fits += 1
            self._progress(done, len(folds))
            yield each


def hold_out(estimator: Any, X: Any, y: Array, metadata: dict[str, Any], n_jobs: int | None, progress: Any) -> HeldOut:
    """Return the hold-outs of an estimator: its own, if it has some."""
    if isinstance(estimator, RLS | RankRLS) and not isinstance(estimator, RLSCV | RankRLSCV):
        model = clone(estimator).fit(X, y, **metadata)
        return ClosedForm(model)
    return Refits(estimator, X, y, metadata, n_jobs, progress)


def scores_of(model: Any, X: Any) -> Array:
    """Return one score a row: that of the decision function, of the second class, or the prediction."""
    if hasattr(model, "decision_function"):
        scores = model.decision_function(X)
    elif hasattr(model, "predict_proba"):
        scores = model.predict_proba(X)[:, -1]
    else:
        scores = model.predict(X)
    scores = np.asarray(to_host(scores), dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError(f"The estimator must give one score a row, got an array of shape {scores.shape}.")
    return scores


def _fit_and_predict(estimator: Any, X: Any, y: Array, metadata: dict[str, Any], fold: Rows) -> Array:
    rest = np.setdiff1d(np.arange(len(y)), fold)
    given = {name: _safe_indexing(values, rest) for name, values in metadata.items()}
    model = clone(estimator).fit(_safe_indexing(X, rest), y[rest], **given)
    return scores_of(model, _safe_indexing(X, fold))
