"""Scaling of features inside each query."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernelrank._query_ids import encode_queries
from kernelrank._refit import adopt, unfitted_copy
from kernelrank._validation import check_features, separate_qid


class QueryScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Scaling of each feature to the range [0, 1] inside each query.

    Row i of query q gets

    .. math:: x_{ij} \mapsto \frac{x_{ij} - \min_{k \in q} x_{kj}}{\max_{k \in q} x_{kj} - \min_{k \in q} x_{kj}},

    and 0 if the feature is constant in the query, so in a query of one row. This makes the "QueryLevelNorm" sets of
    LETOR from its raw values. Features whose level or unit differs between queries, such as prices in several
    currencies, become comparable; differences between queries, which no ranking within queries can use, are lost.

    Nothing is learnt in ``fit``: ``transform`` scales the rows of a query by each other. It therefore needs the
    queries, also of new rows, and all rows of a query at once. In a pipeline, use
    :func:`kernelrank.pipelines.make_query_pipeline`, which passes them on.

    Sparse rows are divided by the range of the feature in the query, zeros included, but the minimum is not subtracted,
    so that they stay sparse; a feature that is constant in the query becomes 0 as well. Differences inside a query, and
    so everything that a linear ranker learns, are the same as for dense rows.

    Attributes
    ----------
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    See Also
    --------
    sklearn.preprocessing.MinMaxScaler : The same for all rows together.

    Notes
    -----
    The running time is O(s + m log m) for m rows with s stored values. The result for a row depends on the rows of its
    query alone, to the last bit, not on their order nor on other queries.

    Examples
    --------
    >>> from kernelrank.pipelines import QueryScaler
    >>> X = [[10.0, 1.0], [30.0, 1.0], [20.0, 1.0], [1.0, 5.0], [2.0, 4.0]]
    >>> QueryScaler().fit_transform(X, qid=["a", "a", "a", "b", "b"])
    array([[0. , 0. ],
           [1. , 0. ],
           [0.5, 0. ],
           [0. , 1. ],
           [1. , 0. ]])
    """

    # With metadata routing enabled, qid reaches these methods without set_*_request.
    __metadata_request__fit = {"qid": True}  # noqa: RUF012 - read by scikit-learn, never changed
    __metadata_request__transform = {"qid": True}  # noqa: RUF012

    def fit(self, X: Any, y: Any = None, *, qid: ArrayLike | None = None) -> Self:
        """Check the rows and note their features; nothing else is learnt.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A data-frame column named "qid" is the query of each row.
        y : None
            Ignored.
        qid : array-like of shape (n_samples,), optional
            Query of each row, if X has no such column.

        Returns
        -------
        self
            The fitted scaler.

        Raises
        ------
        ValueError
            If queries are missing, or are given twice.
        """
        self._check(X, qid, "fit", reset=True)
        return self

    def transform(self, X: Any, *, qid: ArrayLike | None = None) -> Any:
        """Scale the rows of each query by each other.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A data-frame column named "qid" is the query of each row.
        qid : array-like of shape (n_samples,), optional
            Query of each row, if X has no such column.

        Returns
        -------
        {ndarray, CSR matrix} of shape (n_samples, n_features)
            The scaled rows.

        Raises
        ------
        ValueError
            If queries are missing, or are given twice.
        """
        check_is_fitted(self)
        return _scale(*self._check(X, qid, "transform", reset=False))

    def fit_transform(self, X: Any, y: Any = None, *, qid: ArrayLike | None = None) -> Any:
        """Fit as `fit` does, and scale the same rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A data-frame column named "qid" is the query of each row.
        y : None
            Ignored.
        qid : array-like of shape (n_samples,), optional
            Query of each row, if X has no such column.

        Returns
        -------
        {ndarray, CSR matrix} of shape (n_samples, n_features)
            The scaled rows.
        """
        return self.fit(X, qid=qid).transform(X, qid=qid)

    def _check(
        self, X: Any, qid: ArrayLike | None, method: str, *, reset: bool
    ) -> tuple[Any, NDArray[np.integer[Any]], int]:
        """Return checked rows, the number of the query of each, and how many there are."""
        X, qid = separate_qid(X, qid)
        fitted = unfitted_copy(self) if reset else self
        X = check_features(fitted, X, reset=reset)
        if qid is None:
            raise ValueError(
                f"{method} of QueryScaler requires queries, because it scales the rows of a query by each other: pass"
                ' qid=..., or a data frame with a column named "qid". In a pipeline, make it with'
                " kernelrank.pipelines.make_query_pipeline, which passes them on."
            )
        codes, n_queries = encode_queries(qid, X.shape[0])
        if reset:
            adopt(self, fitted)
        assert codes is not None
        return X, codes, n_queries

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.requires_fit = True
        return tags


def _scale(X: Any, codes: NDArray[np.integer[Any]], n_queries: int) -> Any:
    """Scale checked rows; rows of a query need not be adjacent."""
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=n_queries)
    return _scale_sparse(X, codes, order, sizes) if sp.issparse(X) else _scale_dense(X, codes, order, sizes)


def _scale_dense(
    X: NDArray[Any], codes: NDArray[np.integer[Any]], order: NDArray[np.intp], sizes: NDArray[np.intp]
) -> NDArray[Any]:
    grouped = X if (np.diff(codes) >= 0).all() else X[order]
    starts = np.cumsum(sizes) - sizes
    low, high = np.minimum.reduceat(grouped, starts), np.maximum.reduceat(grouped, starts)
    halves = _halves(low, high)
    scaled = X - low[codes] if (halves == 1).all() else X * halves[codes] - (low * halves)[codes]
    scaled /= _divisor(high * halves - low * halves)[codes]
    scaled += 0.0  # turns -0.0 into 0.0
    return np.asarray(scaled)


def _scale_sparse(
    X: Any, codes: NDArray[np.integer[Any]], order: NDArray[np.intp], sizes: NDArray[np.intp]
) -> sp.csr_matrix:
    # By columns, the values of a query are adjacent: those that are stored are compared in runs.
    columns = sp.csr_matrix(X)[order].tocsc()
    values, queries = columns.data, codes[order][columns.indices]
    feature = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
    if len(values):
        starts = np.flatnonzero(np.append(True, (np.diff(feature) != 0) | (np.diff(queries) != 0)))
        stored = np.diff(np.append(starts, len(values)))
        low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
        zeros = stored < sizes[queries[starts]]
        low, high = np.where(zeros, np.minimum(low, 0), low), np.where(zeros, np.maximum(high, 0), high)
        halves = _halves(low, high)
        spans = high * halves - low * halves
        factor = np.where(spans > 0, halves, np.zeros_like(halves))  # constant features become 0
        columns.data = values * np.repeat(factor, stored) / np.repeat(_divisor(spans), stored)
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    scaled = columns.tocsr()[inverse]
    scaled.eliminate_zeros()
    return sp.csr_matrix(scaled)


def _halves(low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    """Return the factors of values whose range would overflow, 0.5, and of others, 1."""
    with np.errstate(over="ignore"):
        return np.where(np.isfinite(high - low), np.ones_like(low), np.full_like(low, 0.5))


def _divisor(span: NDArray[Any]) -> NDArray[Any]:
    """Return ranges, with 1 for those that are 0."""
    return np.where(span > 0, span, np.ones_like(span))
