"""Pipelines of scikit-learn that know about queries."""

from __future__ import annotations

import inspect
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.metaestimators import available_if

from kernelrank._validation import separate_qid

__all__ = ["QueryPipeline", "make_query_pipeline"]


def make_query_pipeline(
    *steps: Any, memory: Any = None, transform_input: list[str] | None = None, verbose: bool = False
) -> QueryPipeline:
    """Make a pipeline that ends with a ranker and takes the queries past the steps before it.

    The queries are the column ``qid`` of a data frame, or the argument `qid`. No transformer sees them; ``fit`` and
    ``score`` of the ranker get them. Since they travel inside of X, this works in scikit-learn's searches and
    cross-validation without metadata routing.

    Parameters
    ----------
    *steps : estimators
        Transformers, and a ranker as the last one: :class:`kernelrank.RankSVM`, :class:`kernelrank.RankRLS`, or any
        other estimator whose ``fit`` has a parameter `qid`.
    memory, transform_input, verbose
        As in ``sklearn.pipeline.make_pipeline``.

    Returns
    -------
    QueryPipeline
        A ``sklearn.pipeline.Pipeline`` with steps named by their classes, in lower case.

    See Also
    --------
    sklearn.pipeline.make_pipeline : For rows that are one ranking, without queries.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelrank import RankSVM
    >>> from kernelrank.pipelines import make_query_pipeline
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame(rng.normal(size=(120, 2)), columns=["price", "stars"]).assign(qid=np.arange(120) // 10)
    >>> y = X["stars"] - X["price"] + 100 * X["qid"]  # queries are on different levels
    >>> model = make_query_pipeline(StandardScaler(), RankSVM()).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    >>> search = GridSearchCV(model, {"ranksvm__alpha": [1e-4, 1e-2]}, cv=GroupKFold(3))
    >>> bool(search.fit(X, y, groups=X["qid"]).best_score_ > 0.98)
    True
    """
    named = make_pipeline(*steps).steps
    return QueryPipeline(named, memory=memory, transform_input=transform_input, verbose=verbose)


def _past_the_queries(name: str) -> Any:
    """Return a method of ``Pipeline`` for rows whose column of queries, if there is one, is left out first."""

    def is_available(pipeline: QueryPipeline) -> bool:
        return callable(getattr(super(QueryPipeline, pipeline), name))  # or an AttributeError that says why not

    def method(self: QueryPipeline, X: Any, **params: Any) -> Any:
        return getattr(super(QueryPipeline, self), name)(separate_qid(X, None)[0], **params)

    method.__name__ = name
    method.__doc__ = f"""Transform the data, and apply `{name}` of the last step.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            A data-frame column named "qid" is left out.
        **params
            As in ``sklearn.pipeline.Pipeline``.

        Returns
        -------
        ndarray, or what the last step returns
        """
    return available_if(is_available)(method)


def _last_has(name: str) -> Any:
    return available_if(lambda pipeline: callable(getattr(pipeline.steps[-1][1], name)))


def _takes_qid(method: Any) -> bool:
    return "qid" in inspect.signature(method).parameters


class QueryPipeline(Pipeline):  # type: ignore[misc]
    """Pipeline that takes queries past its transformers to its last step; see :func:`make_query_pipeline`.

    Parameters
    ----------
    steps : list of (str, estimator)
    transform_input, memory, verbose
        As in ``sklearn.pipeline.Pipeline``.

    Notes
    -----
    Any other step whose ``fit`` has a parameter `qid`, such as :class:`kernelrank.NystromMap`, gets the queries, too.
    With metadata routing enabled, they are routed to the steps that request them.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelrank import RankSVM
    >>> from kernelrank.pipelines import QueryPipeline
    >>> model = QueryPipeline([("scale", StandardScaler()), ("rank", RankSVM())])
    >>> model.fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], qid=["a", "a", "b", "b"]).score(
    ...     [[1.0], [2.0]], [0, 1], qid=["c", "c"]
    ... )
    1.0
    """

    def fit(self, X: Any, y: Any = None, *, qid: ArrayLike | None = None, **params: Any) -> Self:
        """Fit the transformers without the queries, and the last step with them.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            A data-frame column named "qid" is the query of each row.
        y : array-like of shape (n_samples,)
            Utilities.
        qid : array-like of shape (n_samples,), optional
            Query of each row, if X has no such column.
        **params
            As in ``sklearn.pipeline.Pipeline``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there are no queries, or if they are given twice.
        TypeError
            If the last step takes none.
        """
        X, queries = self._queries_of_fit(X, qid)
        super().fit(X, y, **queries, **params)
        return self

    def score(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        **params: Any,
    ) -> float:
        """Transform the data, and apply `score` of the last step to them and their queries.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            A data-frame column named "qid" is the query of each row.
        y : array-like of shape (n_samples,)
            Utilities.
        sample_weight : array-like of shape (n_samples,), optional
        qid : array-like of shape (n_samples,), optional
            Query of each row, if X has no such column.
        **params
            As in ``sklearn.pipeline.Pipeline``.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If there are no queries, or if they are given twice.
        """
        X, qid = separate_qid(X, qid)
        last = self.steps[-1][1]
        if not _takes_qid(last.score):  # accuracy of a classifier, say
            return float(super().score(X, y, sample_weight, **params))
        _require(qid, "score")
        if get_config()["enable_metadata_routing"]:
            return float(super().score(X, y, sample_weight, qid=qid, **params))
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(last.score(self._transformed(X), y, qid=qid, **weights))

    @_last_has("fit_transform")  # type: ignore[untyped-decorator]
    def fit_transform(self, X: Any, y: Any = None, *, qid: ArrayLike | None = None, **params: Any) -> Any:
        """Fit as `fit` does, and transform the data with the last step.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,), optional
        **params
            As in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_transformed_features)
        """
        X, queries = self._queries_of_fit(X, qid)
        return super().fit_transform(X, y, **queries, **params)

    @_last_has("rank")  # type: ignore[untyped-decorator]
    def rank(self, X: Any, qid: ArrayLike | None = None) -> Any:
        """Rank every row in its query: 1 is the best, equal scores share the better rank.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            A data-frame column named "qid" is the query of each row.
        qid : array-like of shape (n_samples,), optional
            Query of each row, if X has no such column. Without either, all rows are one query.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X, qid = separate_qid(X, qid)
        return self.steps[-1][1].rank(self._transformed(X), qid)

    predict = _past_the_queries("predict")
    predict_proba = _past_the_queries("predict_proba")
    predict_log_proba = _past_the_queries("predict_log_proba")
    decision_function = _past_the_queries("decision_function")
    score_samples = _past_the_queries("score_samples")
    transform = _past_the_queries("transform")

    def _transformed(self, X: Any) -> Any:
        return self[:-1].transform(X) if len(self.steps) > 1 else X

    def _queries_of_fit(self, X: Any, qid: ArrayLike | None) -> tuple[Any, dict[str, Any]]:
        """Return X without queries, and how they are handed to ``Pipeline.fit``."""
        X, qid = separate_qid(X, qid)
        _require(qid, "fit")
        if get_config()["enable_metadata_routing"]:
            return X, {"qid": qid}
        name, last = self.steps[-1]
        if not (hasattr(last, "fit") and _takes_qid(last.fit)):
            raise TypeError(
                f"The last step of a query pipeline must be a ranker, whose fit has a parameter qid, but {name!r} is"
                f" {last!r}. A search goes around the pipeline, not into it; a nested pipeline is made by"
                " make_query_pipeline, too."
            )
        takers = [name for name, step in self.steps if hasattr(step, "fit") and _takes_qid(step.fit)]
        return X, {f"{name}__qid": qid for name in takers}


def _require(qid: ArrayLike | None, method: str) -> None:
    if qid is None:
        raise ValueError(
            f'{method} of a query pipeline needs queries, but X has no column named "qid", and qid is not given.'
            ' Rename the column that has the ids, as in X.rename(columns={"query_id": "qid"}), or pass qid=...;'
            " scikit-learn's searches pass such an argument on to score with metadata routing only, but always the"
            " column. Rows without queries are one ranking: use sklearn.pipeline.make_pipeline for them."
        )
