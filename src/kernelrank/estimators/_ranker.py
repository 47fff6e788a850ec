"""What all rankers share once they are fitted."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernelrank._validation import check_features, check_vector, encode_queries, separate_qid, warn_of_missing_queries
from kernelrank.metrics import concordance_index
from kernelrank.solvers import Result, multiply


class Predictor(BaseEstimator):  # type: ignore[misc]
    """Prediction for rows that are checked; a subclass provides ``fit`` and ``_evaluate``."""

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Score every row of X; within a query, a higher score is a better rank.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X, _ = separate_qid(X, None)
        return self._evaluate(check_features(self, X, reset=False))

    def _evaluate(self, X: Any) -> NDArray[np.float64]:
        """Score rows that have been checked."""
        raise NotImplementedError

    def _require_target(self, y: Any) -> None:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")

    def _check_rows(self, X: Any, qid: ArrayLike | None) -> tuple[Any, ArrayLike | None, dict[str, Any]]:
        """Return X and qid, and what scikit-learn notes about X; an earlier fit stays until this one has succeeded."""
        X, qid = separate_qid(X, qid)
        other = copy(self)
        X = check_features(other, X, reset=True)
        return X, qid, {name: value for name, value in vars(other).items() if name.endswith("_in_")}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class Ranker(Predictor):
    """Ranking and scoring by predictions."""

    # With metadata routing enabled, qid reaches fit and score without set_*_request.
    __metadata_request__fit = {"qid": True}  # noqa: RUF012 - read by scikit-learn, never changed
    __metadata_request__score = {"qid": True}  # noqa: RUF012

    _fitted_with_queries: bool  # set by the subclass

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score every row of X, as `predict` does; scikit-learn's scorers look for this name.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return self.predict(X)

    def rank(self, X: Any, qid: ArrayLike | None = None) -> NDArray[np.int64]:
        """Rank of every row in its query: 1 is the best, equal scores share the better rank.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        qid : array-like of shape (n_samples,), optional
            Query of each row; a data-frame column named "qid" does as well.

        Returns
        -------
        ranks : ndarray of shape (n_samples,), or (n_samples, n_outputs) if there are several
        """
        _, qid = separate_qid(X, qid)
        scores = self.predict(X)
        codes, _ = encode_queries(qid, len(scores))
        if codes is None:
            codes = np.zeros(len(scores), dtype=np.int32)
        if scores.ndim == 2:
            return np.stack([_rank(column, codes) for column in scores.T], axis=1)
        return _rank(scores, codes)

    def score(
        self, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Mean concordance over the queries; see :func:`kernelrank.metrics.concordance_index`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            True utilities.
        qid : array-like of shape (n_samples,), optional
            Query of each row; a data-frame column named "qid" does as well.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
            Share of correctly ordered pairs, between 0 and 1; ties count half.

        Warns
        -----
        UndefinedQueryWarning
            If some queries have no two different values of y: the mean is over the others.
        """
        _, qid = separate_qid(X, qid)
        scores = self.predict(X)
        y = check_vector(y, "y", len(scores))
        if qid is None:
            warn_of_missing_queries(self)
        n_jobs = getattr(self, "n_jobs", None)
        found: float = concordance_index(y, scores, qid=qid, sample_weight=sample_weight, n_jobs=n_jobs)
        return found


class LinearRanker(Ranker):
    """Prediction with ``coef_``; a subclass provides ``fit``."""

    coef_: NDArray[np.float64]  # set by the subclass

    def _evaluate(self, X: Any) -> NDArray[np.float64]:
        return multiply(X, self.coef_)

    def _store(self, result: Result, noted: dict[str, Any], **attributes: Any) -> None:
        """Keep a solution, and what else is given; names of an earlier fit's features go."""
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(noted, **attributes)
        self.coef_ = result.w
        self.objective_ = result.objective
        self.gap_ = result.gap
        self.n_iter_ = result.n_iter


def _rank(scores: NDArray[np.float64], codes: NDArray[np.int32]) -> NDArray[np.int64]:
    order = np.lexsort((-scores, codes))
    new_query = np.append(True, np.diff(codes[order]) != 0)
    new_score = new_query | np.append(True, np.diff(scores[order]) != 0)
    position = np.arange(len(scores))
    first_of_query = np.maximum.accumulate(np.where(new_query, position, 0))
    first_of_score = np.maximum.accumulate(np.where(new_score, position, 0))
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[order] = first_of_score - first_of_query + 1
    return ranks
