"""Prediction for Dask collections, chunk by chunk, and the conversion to an ordinary estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernelrank import _validation
from kernelrank._rules import FLAG, NONE, Rule, choice
from kernelrank._validation import QID_COLUMN, as_array
from kernelrank.dask._chunks import chunks_of_rows, delayed_chunks, is_collection, with_whole_rows
from kernelrank.dask._data import Parts
from kernelrank.dask._rows import join_ids
from kernelrank.dask._workers import compute_chunks

Array = Any  # a NumPy array, or a Dask array for collections

CLIENT = NONE | Rule("a distributed.Client", lambda value: hasattr(value, "scheduler_info"))
COUNTING = choice("auto", "gather", "bins")


class OnCollections:
    """Methods for collections; a subclass is an estimator as well, and names its local class.

    A model that was fitted to a collection predicts any data.
    """

    _local: ClassVar[Callable[..., Any]]  # the ordinary estimator
    client: Any

    def to_local(self) -> Any:
        """Return the ordinary estimator, with the same parameters and the same solution.

        Returns
        -------
        estimator
            It can be saved, and has no reference to the cluster.
        """
        names = self._local._get_param_names()  # type: ignore[attr-defined]
        local = self._local(**{name: getattr(self, name) for name in names})
        local.__dict__.update({name: value for name, value in self._learnt().items() if name != "communication_"})
        return local

    def predict(self, X: Any) -> Array:
        """Return the score of every row of X; within a query, a higher score is a better rank.

        Parameters
        ----------
        X : dask array, data frame or array-like of shape (n_samples, n_features)
            Rows to score; a collection, or any data that the ordinary estimator takes.

        Returns
        -------
        dask.array.Array or ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Scores; of a collection, they are computed when they are asked for, chunk by chunk.
        """
        check_is_fitted(self)
        local = self.to_local()
        if not is_collection(X):
            return local.predict(X)
        import dask.array as da
        from dask.delayed import delayed

        given, model = chunks_of_rows(X, type(self).__name__), delayed(local, pure=False)
        outputs = tuple(np.shape(getattr(self, "coef_", np.empty(0)))[:-1])
        [chunks] = delayed_chunks([given.values])
        sizes = [np.nan] * len(chunks) if given.sizes is None else given.sizes
        predict = delayed(predict_chunk, pure=False)
        parts = [
            da.from_delayed(
                predict(model, part, outputs), shape=(size, *outputs), meta=np.empty((0,) * (1 + len(outputs)))
            )
            for part, size in zip(chunks, sizes, strict=True)
        ]
        return da.concatenate(parts)

    def decision_function(self, X: Any) -> Array:
        """Return the score of every row of X, as `predict` does; scikit-learn's scorers use this method.

        Parameters
        ----------
        X : dask array, data frame or array-like of shape (n_samples, n_features)
            Rows to score; a collection, or any data that the ordinary estimator takes.

        Returns
        -------
        dask.array.Array or ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Scores; of a collection, they are computed when they are asked for, chunk by chunk.
        """
        return self.predict(X)

    def rank(self, X: Any, qid: ArrayLike | None = None) -> NDArray[np.int64]:
        """Return the rank of every row in its query: 1 is the best, and equal scores share the better rank.

        Scores and query ids are gathered; X is not.

        Parameters
        ----------
        X : dask array, data frame or array-like of shape (n_samples, n_features)
            Rows to rank; a collection, or any data that the ordinary estimator takes.
        qid : array-like or dask array of shape (n_samples,), optional
            Query of each row; a data-frame column named "qid" can be used instead.

        Returns
        -------
        ndarray of shape (n_samples,)
            Ranks of the rows, as integers.
        """
        scores, qid = self._compute(scores=self.predict(X), qid=qid_of(X, qid))
        ranks: NDArray[np.int64] = _with_scores(self.to_local(), scores).rank(_Scored(scores), qid)
        return ranks

    def score(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        observed: ArrayLike | None = None,
        compute: bool = True,
    ) -> Any:
        """Return the mean concordance over queries; see :func:`kernelrank.metrics.concordance_index`.

        Scores, utilities and query ids are gathered; X is not.

        Parameters
        ----------
        X : dask array, data frame or array-like of shape (n_samples, n_features)
            Rows to score; a collection, or any data that the ordinary estimator takes.
        y : array-like or dask array of shape (n_samples,)
            True utilities.
        qid : array-like or dask array of shape (n_samples,), optional
            Query of each row; a data-frame column named "qid" can be used instead.
        sample_weight : array-like or dask array of shape (n_samples,), optional
            Weights of the rows. A pair weighs ``w[i] * w[j]``.
        observed : array-like or dask array of shape (n_samples,), optional
            False (or 0) where y is censored: the true utility is at least y.
        compute : bool, default=True
            False returns a Dask array without dimensions, which is computed when it is asked for: rows are then scored
            chunk by chunk, and all that is gathered is on a worker. By default the score is a number, as scikit-learn
            expects.

        Returns
        -------
        float, or dask.array.Array of shape ()
            Share of pairs in the right order, between 0 and 1; ties count half.

        Warns
        -----
        MissingQueryWarning, UndefinedQueryWarning
            As the ordinary estimator; the second one where the score is computed.
        """
        FLAG("compute", compute)
        given = {"scores": self.predict(X), "y": y, "qid": qid_of(X, qid)}
        given |= {"sample_weight": sample_weight, "observed": observed}
        if not compute:
            return self._score_later(given)
        return score_rows(self.to_local(), **dict(zip(given, self._compute(**given), strict=True)))

    def _score_later(self, given: dict[str, Any]) -> Any:
        import dask.array as da
        from dask.delayed import delayed

        model = self.to_local()
        if given["qid"] is None:
            _validation.warn_of_missing_queries(self)
            model._fitted_with_queries = False  # has been said
        names = [name for name, value in given.items() if is_collection(value)]
        chunks = dict(zip(names, delayed_chunks([with_whole_rows(given[name]) for name in names]), strict=True))
        found = delayed(score_chunks, pure=False)(model, {**given, **chunks}, names)
        return da.from_delayed(found, shape=(), dtype=np.float64)

    def _learnt(self) -> dict[str, Any]:
        """Return what a fit has set."""
        parameters = {*self._local._get_param_names(), "client", "counting"}  # type: ignore[attr-defined]
        return {name: value for name, value in vars(self).items() if name not in parameters}

    def _compute(self, **values: Any) -> Sequence[Any]:
        """Compute those values that are collections, in one go."""
        return compute(self.client, **values)

    def __sklearn_clone__(self) -> Any:
        """Return an estimator with the same parameters, not fitted; the client is the same, not a copy."""
        cloned: Any = BaseEstimator.__sklearn_clone__(copy(self))  # whose state is without the client
        cloned.client = self.client
        return cloned

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the client, which belongs to this process."""
        state: Any = super().__getstate__()
        return {**state, "client": None}


class _Scored:
    """Stands for rows whose scores are known."""

    def __init__(self, scores: NDArray[np.float64]) -> None:
        self.shape = (len(scores), 0)


def _with_scores(model: Any, scores: NDArray[np.float64]) -> Any:
    """Return an ordinary estimator, which from now on takes these scores for those of any data."""
    model.predict = lambda X: scores
    return model


def score_rows(model: Any, scores: NDArray[np.float64], y: Any, **options: Any) -> float:
    """Return the score of a model for rows whose scores are known."""
    return float(_with_scores(model, scores).score(_Scored(scores), y, **options))


def score_chunks(model: Any, values: dict[str, Any], of_chunks: Sequence[str]) -> np.float64:
    """Return the score of a model, given values of which some are in chunks."""
    return np.float64(score_rows(model, **values | {name: _join(values[name], name) for name in of_chunks}))


def compute(client: Any, **values: Any) -> Sequence[Any]:
    """Return named values, of which collections become arrays; their chunks are computed in one go."""
    found_chunks = iter(delayed_chunks([with_whole_rows(each) for each in values.values() if is_collection(each)]))
    chunks = [next(found_chunks) if is_collection(each) else [] for each in values.values()]
    found = iter(compute_chunks(client, [chunk for some in chunks for chunk in some]))
    gathered = [[next(found) for _ in some] for some in chunks]
    return [_join(some, name) if some else each for some, (name, each) in zip(gathered, values.items(), strict=True)]


def _join(chunks: Sequence[Any], name: str) -> NDArray[Any]:
    """Return the rows of chunks that are here."""
    return join_ids([as_array(chunk, name) for chunk in chunks])


def predict_chunk(model: Any, X: Any, outputs: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the scores of a chunk, which may have no rows."""
    return np.asarray(model.predict(X)) if X.shape[0] else np.empty((0, *outputs))


def noted(parts: Parts) -> dict[str, Any]:
    """Return the attributes that scikit-learn sets for X."""
    found: dict[str, Any] = {"n_features_in_": parts.n_columns}
    if parts.names is not None:
        found["feature_names_in_"] = np.array(parts.names, dtype=object)
    return found


def warn_of_query_columns(estimator: Any, X: Any, qid: Any) -> None:
    """Warn if a ranker is fitted without queries to columns that are named like query ids."""
    if qid is None and hasattr(X, "columns") and QID_COLUMN not in list(X.columns):
        _validation.warn_of_query_columns(estimator, getattr(X, "_meta", X))


def refuse_censored(observed: Any) -> None:
    """Raise an error if some utilities may be censored: pairs across workers are counted without that."""
    if observed is not None:
        raise ValueError(
            "observed is not for Dask's collections: censored utilities take the ordinary estimator, which also"
            " reads rows from files (kernelrank.io.RowStore)."
        )


def qid_of(X: Any, qid: Any) -> Any:
    """Return the query ids, which may be a column of a data frame."""
    columns = getattr(X, "columns", None)
    if columns is None or QID_COLUMN not in list(columns):
        return qid
    if qid is not None:
        raise ValueError("qid was given twice: as an argument and as a column of X. Drop one of them.")
    return X[QID_COLUMN]
