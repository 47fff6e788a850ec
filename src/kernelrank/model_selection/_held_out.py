"""Held-out predictions: in closed form where there is one, otherwise by refits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress, islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kernelrank._arrays import to_host
from kernelrank._row_scores import check_scores, score_rows
from kernelrank.estimators import RLS, RankRLS
from kernelrank.model_selection._parallel import run_in_parallel
from kernelrank.model_selection._subsets import take_features, take_params
from kernelrank.solvers.least_squares import Predicted

Array = NDArray[np.float64]
Order = NDArray[np.int8]
Rows = NDArray[np.intp]

_AT_ONCE = 1000  # folds
_ROUNDING = 5e-13  # of a score that an estimator gives, relative to it


class HeldOut(Protocol):
    """Source of held-out predictions."""

    n_fits: int

    def predict(self, folds: Iterable[Rows], n_folds: int) -> Iterator[Predicted | None]:
        """Yield the predictions of the rows of each fold by a model of the other rows.

        Yield None if the other rows have all the same target. Scores come with bounds of their rounding errors;
        ``Predicted.tied`` makes those equal that differ by less.
        """

    def order(self) -> Order | None:
        """Return the order of all pairs, each held out alone; None if that takes one fit per pair."""


class ClosedForm:
    """Held-out predictions of a least-squares model, which is fitted once.

    Parameters
    ----------
    model : RLS or RankRLS
        Fitted to all rows.
    y : ndarray
        Its targets.
    """

    def __init__(self, model: Any, y: NDArray[Any]) -> None:
        self._model, self._y, self.n_fits = model, y, 1

    def predict(self, folds: Iterable[Rows], n_folds: int) -> Iterator[Predicted | None]:
        """Yield the predictions of each fold, computed for many folds together: those of one size are cheaper so."""
        folds = iter(folds)
        while some := list(islice(folds, _AT_ONCE)):
            hopeful = [_can_learn(self._y, fold) for fold in some]
            found = iter(self._model._held_out(compress(some, hopeful), self._model.alpha))
            yield from (Predicted(*map(to_host, next(found))) if each else None for each in hopeful)

    def order(self) -> Order | None:
        """Return the order of all pairs, each held out alone."""
        order: Order | None = self._model.leave_pair_out_order() if "pairs" in self._model.shortcuts else None
        return order


class Refits:
    """Held-out predictions of any estimator, which is fitted once per fold.

    Parameters
    ----------
    estimator : estimator
        Unfitted.
    X, y
        All rows.
    params : dict
        Further arguments of `fit`, with one element per row.
    n_jobs : int or None
    verbose : int
        Whether to show the progress of what takes more than two seconds.
    """

    def __init__(
        self, estimator: Any, X: Any, y: NDArray[Any], params: dict[str, Any], n_jobs: int | None, verbose: int
    ) -> None:
        self._data = estimator, X, y, params
        self._n_jobs, self._verbose, self.n_fits = n_jobs, verbose, 0

    def predict(self, folds: Iterable[Rows], n_folds: int) -> Iterator[Predicted | None]:
        """Yield the predictions of each fold."""
        arguments = ((*self._data, fold) for fold in folds)
        what = f"fits of {type(self._data[0]).__name__}"
        for found in run_in_parallel(
            _fit_and_predict, arguments, n_folds, n_jobs=self._n_jobs, verbose=self._verbose, what=what
        ):
            self.n_fits += found is not None
            yield None if found is None else Predicted(found, _ROUNDING * np.abs(found))

    def order(self) -> Order | None:
        """Return None: every pair takes a fit."""
        return None


def hold_out(
    estimator: Any, X: Any, y: NDArray[Any], params: dict[str, Any], n_jobs: int | None, verbose: int, pairs: bool
) -> HeldOut:
    """Return held-out predictions of pairs, or of folds: in closed form, if the estimator has one."""
    if has_closed_forms(estimator):
        model = clone(estimator).fit(X, y, **params)
        if ("pairs" if pairs else "folds") in model.shortcuts:
            return ClosedForm(model, y)
    return Refits(estimator, X, y, params, n_jobs, verbose)


def has_closed_forms(estimator: Any) -> bool:
    """Return whether held-out predictions may follow from one fit; not if parameters are chosen per training set."""
    return isinstance(estimator, RLS | RankRLS)


def scores_of(model: Any, X: Any) -> Array:
    """Return one score per row; of a classifier with probabilities only, that of the second of two classes."""
    if hasattr(model, "predict_proba") and not hasattr(model, "decision_function"):
        scores = np.asarray(to_host(model.predict_proba(X)), dtype=np.float64)
        return check_scores(scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores, "The estimator")
    return score_rows(model, X)


def _fit_and_predict(estimator: Any, X: Any, y: NDArray[Any], params: dict[str, Any], fold: Rows) -> Array | None:
    if not _can_learn(y, fold):
        return None
    rest = np.delete(np.arange(len(y)), fold)
    model = clone(estimator)
    model.fit(take_features(model, X, rest), y[rest], **take_params(params, rest))
    return scores_of(model, take_features(model, X, fold, rest))


def _can_learn(y: NDArray[Any], fold: Rows) -> bool:
    rest = np.delete(y, fold)
    return len(rest) > 1 and bool((rest != rest[0]).any())
