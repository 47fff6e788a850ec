"""Pipelines of scikit-learn with support for queries."""

from __future__ import annotations

import inspect
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.metaestimators import available_if

from kernelrank._notebook import ShowsFit, parts_of_fit
from kernelrank._validation import separate_qid
from kernelrank.pipelines._inputs import match_text


def make_query_pipeline(
    *steps: Any, memory: Any = None, transform_input: list[str] | None = None, verbose: bool = False
) -> QueryPipeline:
    """Make a pipeline that passes queries to a ranker as its last step, and to no transformer that does not use them.

    The queries are the column ``qid`` of a data frame, or the argument `qid`. They are removed before the transformers
    and passed to ``fit`` and ``score`` of the ranker. Since the column is a part of X, this works in scikit-learn's
    searches and cross-validation without metadata routing. Transformers whose ``transform`` has a parameter `qid`, such
    as :class:`~kernelrank.pipelines.QueryScaler`, get the queries as well; then ``predict`` requires them, too.

    Parameters
    ----------
    *steps : estimators
        Transformers, and a ranker as the last step: :class:`~kernelrank.RankSVM`, :class:`~kernelrank.RankRLS`, or any
        other estimator whose ``fit`` has a parameter `qid`.
    memory : str or joblib.Memory, default=None
        Cache of fitted transformers, as in :class:`sklearn.pipeline.Pipeline`.
    transform_input : list of str, default=None
        Metadata that earlier steps transform before they are passed on, as in :class:`sklearn.pipeline.Pipeline`.
    verbose : bool, default=False
        Whether to print the time of each step.

    Returns
    -------
    QueryPipeline
        A ``sklearn.pipeline.Pipeline`` whose steps are named by their lower-case classes.

    See Also
    --------
    sklearn.pipeline.make_pipeline : Pipeline for rows without queries.

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
    >>> y = X["stars"] - X["price"] + 100 * X["qid"]  # queries have different levels
    >>> model = make_query_pipeline(StandardScaler(), RankSVM()).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    >>> search = GridSearchCV(model, {"ranksvm__alpha": [1e-4, 1e-2]}, cv=GroupKFold(3))
    >>> bool(search.fit(X, y, groups=X["qid"]).best_score_ > 0.98)
    True
    """
    named = make_pipeline(*steps).steps
    return QueryPipeline(named, memory=memory, transform_input=transform_input, verbose=verbose)


def _of_last_step(name: str) -> Any:
    """Return a method of ``Pipeline`` that passes the queries, and no column of them, to the steps that use them."""

    def is_available(pipeline: QueryPipeline) -> bool:
        return callable(getattr(super(QueryPipeline, pipeline), name))  # or raises an AttributeError with the reason

    def method(self: QueryPipeline, X: Any, *, qid: ArrayLike | None = None, **params: Any) -> Any:
        X, qid = self._separated(X, qid)
        if not self.transforms_by_queries:
            return getattr(super(QueryPipeline, self), name)(X, **params)
        _require(qid, name)
        return _call(self.steps[-1][1], name, self._transformed(X, qid), qid, **params)

    method.__name__ = name
    method.__doc__ = f"""Transform the data, and call `{name}` of the last step.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            A data-frame column named "qid" is the query of each row.
        qid : array-like of shape (n_samples,), optional
            Query of each row, if X has no such column. Required if a transformer uses the queries, and otherwise
            ignored, as is the column.
        **params : dict
            Further parameters, as in :class:`sklearn.pipeline.Pipeline`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Or whatever the last step returns.

        Raises
        ------
        ValueError
            If a transformer uses the queries, and they are missing or given twice.
        """
    return available_if(is_available)(method)


def _last_has(name: str) -> Any:
    return available_if(lambda pipeline: callable(getattr(pipeline.steps[-1][1], name)))


def _takes_qid(method: Any) -> bool:
    return "qid" in inspect.signature(method).parameters


class RankingPipeline(ShowsFit, Pipeline):  # type: ignore[misc]
    """Pipeline of scikit-learn that also ranks rows, and shows the fit of its last step in notebooks.

    :func:`~kernelrank.pipelines.make_table_ranker` makes it for tables without queries.

    Parameters
    ----------
    steps : list of (str, estimator)
        Names and estimators: transformers, and a ranker as the last one.
    transform_input : list of str, default=None
        Metadata that earlier steps transform before they are passed on, as in :class:`sklearn.pipeline.Pipeline`.
    memory : str or joblib.Memory, default=None
        Cache of fitted transformers, as in :class:`sklearn.pipeline.Pipeline`.
    verbose : bool, default=False
        Whether to print the time of each step.

    See Also
    --------
    kernelrank.pipelines.QueryPipeline : Pipeline for rows with queries, which it requires.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelrank import RankSVM
    >>> from kernelrank.pipelines import RankingPipeline
    >>> model = RankingPipeline([("scale", StandardScaler()), ("rank", RankSVM())])
    >>> model.fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 2, 3]).rank([[5.0], [7.0], [6.0]])
    array([3, 1, 2])
    """

    @_last_has("rank")  # type: ignore[untyped-decorator]
    def rank(self, X: Any, qid: ArrayLike | None = None) -> Any:
        """Return the rank of each row in its query: 1 is the best, and equal scores share the better rank.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            A data-frame column named "qid" is the query of each row.
        qid : array-like of shape (n_samples,), optional
            Query of each row, if X has no such column. Without queries, all rows are ranked as one query.

        Returns
        -------
        ndarray of shape (n_samples,)
            Ranks of the rows.

        Warns
        -----
        MissingQueryWarning
            If the last step was fitted with queries, and there are none.
        """
        X, qid = separate_qid(X, qid)
        return self.steps[-1][1].rank(self._transformed(X, qid), qid)

    def _html_of_fit(self) -> list[Any]:
        return parts_of_fit(self)

    def _transformed(self, X: Any, qid: ArrayLike | None) -> Any:
        """Return X as the last step gets it."""
        for _, step in self.steps[:-1]:
            X = _call(step, "transform", X, qid)
        return X


class QueryPipeline(RankingPipeline):
    """Pipeline that passes queries to the steps that use them; see :func:`~kernelrank.pipelines.make_query_pipeline`.

    Parameters
    ----------
    steps : list of (str, estimator)
        Names and estimators: transformers, and a ranker as the last one.
    transform_input : list of str, default=None
        Metadata that earlier steps transform before they are passed on, as in :class:`sklearn.pipeline.Pipeline`.
    memory : str or joblib.Memory, default=None
        Cache of fitted transformers, as in :class:`sklearn.pipeline.Pipeline`.
    verbose : bool, default=False
        Whether to print the time of each step.

    Notes
    -----
    Other steps whose ``fit`` has a parameter `qid`, such as :class:`~kernelrank.NystromMap`, also receive the queries,
    and those whose ``transform`` has it, such as :class:`~kernelrank.pipelines.QueryScaler`, whenever rows are
    transformed. With metadata routing enabled, ``fit`` routes them to the steps that request them.

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
        **params : dict
            Further parameters, as in :class:`sklearn.pipeline.Pipeline`.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If queries are missing, or are given twice.
        TypeError
            If the last step does not take queries.
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
        """Transform the data, and return the score of the last step with the queries.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            A data-frame column named "qid" is the query of each row.
        y : array-like of shape (n_samples,)
            Utilities.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; passed to the last step if given.
        qid : array-like of shape (n_samples,), optional
            Query of each row, if X has no such column.
        **params : dict
            Further parameters, as in :class:`sklearn.pipeline.Pipeline`.

        Returns
        -------
        float
            Score of the last step.

        Raises
        ------
        ValueError
            If queries are missing, or are given twice.
        """
        X, qid = self._separated(X, qid)
        last = self.steps[-1][1]
        takes_qid = _takes_qid(last.score)  # but not the accuracy of a classifier
        if takes_qid or self.transforms_by_queries:
            _require(qid, "score")
        else:
            return float(super().score(X, y, sample_weight, **params))
        if get_config()["enable_metadata_routing"] and not self.transforms_by_queries:
            return float(super().score(X, y, sample_weight, qid=qid, **params))
        given: dict[str, Any] = {} if sample_weight is None else {"sample_weight": sample_weight}
        if takes_qid:
            given["qid"] = qid
        return float(last.score(self._transformed(X, qid), y, **given))

    @_last_has("fit_transform")  # type: ignore[untyped-decorator]
    def fit_transform(self, X: Any, y: Any = None, *, qid: ArrayLike | None = None, **params: Any) -> Any:
        """Fit as `fit` does, and transform the data with the last step.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            A data-frame column named "qid" is the query of each row.
        y : array-like of shape (n_samples,)
            Utilities.
        qid : array-like of shape (n_samples,), optional
            Query of each row, if X has no such column.
        **params : dict
            Further parameters, as in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_transformed_features)
            The transformed data.
        """
        X, queries = self._queries_of_fit(X, qid)
        return super().fit_transform(X, y, **queries, **params)

    @_last_has("rank")  # type: ignore[untyped-decorator]
    def rank(self, X: Any, qid: ArrayLike | None = None) -> Any:
        """Return the rank of each row in its query: 1 is the best, and equal scores share the better rank.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            A data-frame column named "qid" is the query of each row.
        qid : array-like of shape (n_samples,), optional
            Query of each row, if X has no such column. Without queries, all rows are ranked as one query, unless a
            transformer uses the queries: then they are required.

        Returns
        -------
        ndarray of shape (n_samples,)
            Ranks of the rows.

        Warns
        -----
        MissingQueryWarning
            If there are no queries.
        """
        X, qid = self._separated(X, qid)
        if self.transforms_by_queries:
            _require(qid, "rank")
        return self.steps[-1][1].rank(self._transformed(X, qid), qid)

    predict = _of_last_step("predict")
    predict_proba = _of_last_step("predict_proba")
    predict_log_proba = _of_last_step("predict_log_proba")
    decision_function = _of_last_step("decision_function")
    score_samples = _of_last_step("score_samples")
    transform = _of_last_step("transform")

    @property
    def transforms_by_queries(self) -> bool:
        """Whether ``transform`` of a step uses the queries."""
        return any(_uses_queries(step, "transform") for _, step in self.steps)

    def _separated(self, X: Any, qid: ArrayLike | None) -> tuple[Any, ArrayLike | None]:
        """Return new rows, with text as the first step knows it, and their queries."""
        X, qid = separate_qid(X, qid)
        return match_text(self, X), qid

    def _queries_of_fit(self, X: Any, qid: ArrayLike | None) -> tuple[Any, dict[str, Any]]:
        """Return X without queries, and the arguments that pass them to ``Pipeline.fit``."""
        X, qid = separate_qid(X, qid)
        _require(qid, "fit")
        if get_config()["enable_metadata_routing"]:
            return X, {"qid": qid}
        name, last = self.steps[-1]
        if not (hasattr(last, "fit") and _takes_qid(last.fit)):
            raise TypeError(
                f"The last step of a query pipeline must be a ranker whose fit has a parameter qid, but {name!r} is"
                f" {last!r}. Use a search around the pipeline, not inside it, and make nested pipelines with"
                " make_query_pipeline."
            )
        takers = [name for name, step in self.steps if hasattr(step, "fit") and _takes_qid(step.fit)]
        return X, {f"{name}__qid": qid for name in takers}


def _uses_queries(step: Any, name: str) -> bool:
    """Return whether a method of a step, other than ``fit`` and ``score``, takes queries."""
    if isinstance(step, QueryPipeline):
        return step.transforms_by_queries
    return hasattr(step, name) and _takes_qid(getattr(step, name))


def _call(step: Any, name: str, X: Any, qid: ArrayLike | None, **params: Any) -> Any:
    """Call a method of a step with rows, and with queries if it uses them."""
    if step is None or isinstance(step, str):  # "passthrough"
        return X
    given = {"qid": qid} if _uses_queries(step, name) else {}
    return getattr(step, name)(X, **given, **params)


def _require(qid: ArrayLike | None, method: str) -> None:
    if qid is None:
        raise ValueError(
            f'{method} of a query pipeline requires queries, but X has no column named "qid", and qid is None.'
            ' Rename the column of ids, as in X.rename(columns={"query_id": "qid"}), or pass qid=...;'
            " scikit-learn's searches pass the argument to score only with metadata routing, but always pass the"
            " column. For rows without queries, use sklearn.pipeline.make_pipeline."
        )
