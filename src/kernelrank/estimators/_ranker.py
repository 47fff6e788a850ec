"""Base classes of estimators: checks of input, prediction, ranking and scoring."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from kernelrank._arrays import Array, to_host
from kernelrank._dense import multiply
from kernelrank._fields import separate_observed
from kernelrank._notebook import ShowsFit
from kernelrank._query_ids import encode_queries
from kernelrank._refit import unfitted_copy
from kernelrank._rules import Rule, check_parameters
from kernelrank._threads import resolve_threads
from kernelrank._unformed import UnformedRows
from kernelrank._validation import (
    as_array,
    check_features,
    check_vector,
    require_place,
    separate_qid,
    warn_of_missing_observed,
    warn_of_missing_queries,
    warn_of_query_columns,
)
from kernelrank.estimators._representation import Representation, represent
from kernelrank.estimators._unformed_rows import check_unformed
from kernelrank.kernels import Kernel, Linear, Precomputed, make_kernel
from kernelrank.kernels._choice import HasKernel
from kernelrank.metrics import concordance_index
from kernelrank.solvers import Result
from kernelrank.solvers._result import gap_goal

_PREDICTED_AT_ONCE = 1 << 24  # elements of a block of the kernel matrix


class Predictor(ShowsFit, HasKernel):
    """Base class for prediction with checked rows; a subclass provides ``fit`` and ``_evaluate``."""

    _any_namespace = False  # whether it accepts arrays of any library
    _unformed: ClassVar[tuple[type[UnformedRows], ...]] = ()  # rows that are not a matrix, to which it can be fitted
    _takes_queries = False  # whether a data-frame column of queries is used; otherwise it is dropped
    _rules: ClassVar[dict[str, Rule]] = {}  # for parameters with another meaning than in other estimators

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the score of every row of X; within a query, a higher score is a better rank.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score. A RowStore or KroneckerRows is accepted if the estimator can be fitted to one.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Scores of the rows; one column per output if there are several.

        Notes
        -----
        Equal rows get exactly equal scores, whatever their position and the number of rows. This does not hold for
        kernels given as functions, nor for arrays of libraries other than NumPy and SciPy, which multiply rows in
        their own way.
        """
        check_is_fitted(self)
        X, _ = separate_qid(X, None)
        return self._evaluate(self._check_features(X, self, reset=False))

    def _html_of_fit(self) -> list[Any]:
        from kernelrank.estimators._notebook import describe_fit

        return describe_fit(self)

    def _evaluate(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of checked rows."""
        raise NotImplementedError

    def _require_target(self, y: Any) -> None:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")

    def _check_rows(self, X: Any, qid: ArrayLike | None) -> tuple[Any, ArrayLike | None, dict[str, Any]]:
        """Check parameters and X; return X, qid, and the attributes that scikit-learn sets for X.

        The estimator itself is not changed: an earlier fit stays until this one has succeeded.
        """
        X, qid = self._separate_queries(X, qid)
        copy = unfitted_copy(self)
        X = self._check_features(X, copy, reset=True)
        return X, qid, {name: value for name, value in vars(copy).items() if name.endswith("_in_")}

    def _check_features(self, X: Any, noted_by: Any, *, reset: bool) -> Any:
        """Return X as a finite matrix, or as rows that are not one; its columns are noted by an estimator."""
        if isinstance(X, self._unformed):
            return check_unformed(noted_by, X, reset=reset)
        return check_features(noted_by, X, reset=reset, any_namespace=self._any_namespace)

    def _separate_queries(self, X: Any, qid: ArrayLike | None) -> tuple[Any, ArrayLike | None]:
        """Check parameters, and separate a column of queries from X."""
        check_parameters(self, **self._rules)
        X, qid = separate_qid(X, qid)
        if self._takes_queries and qid is None:
            warn_of_query_columns(self, X)
        return X, qid

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        kernel = getattr(self, "kernel", None)
        tags.input_tags.pairwise = isinstance(kernel, Precomputed) or (
            isinstance(kernel, str) and kernel == "precomputed"
        )
        tags.target_tags.required = True
        return tags


class SVMPredictor(Predictor):
    """Base class for prediction with ``coef_``, or with a kernel and a basis; a subclass provides ``fit``."""

    kernel: Any
    n_basis: int | None
    n_jobs: int | None
    random_state: Any
    verbose: Any

    def _evaluate(self, X: Any) -> Array:
        weights = self.coef_ if (linear := "dual_coef_" not in self.__dict__) else self.dual_coef_
        require_place(self, X, weights, [name for name in ("predict", "decision_function") if hasattr(self, name)])
        if linear:
            return multiply(X, weights)
        return predict_with_kernel(self.kernel_, X, getattr(self, "basis_", None), weights)

    def _represent(
        self, X: Any, queries: NDArray[np.int32] | None = None, chosen: dict[str, Any] | None = None
    ) -> Representation:
        """Return rows as a solver takes them; `chosen` parameters replace those of the estimator."""
        given = {"kernel": self.kernel, "n_basis": self.n_basis, "random_state": self.random_state, **(chosen or {})}
        threads = resolve_threads(self.n_jobs)
        if self.verbose and not callable(self.verbose) and not isinstance(make_kernel(given["kernel"]), Linear):
            n_basis = X.shape[0] if self.n_basis is None else self.n_basis
            print(f"computing the kernel of {X.shape[0]:,} rows and {n_basis:,} basis rows", flush=True)
        any_space = not (getattr(self, "positive", False) or getattr(self, "warm_start", False))
        return represent(X, **given, n_threads=threads, queries=queries, any_space=any_space)

    def _store(self, result: Result, noted: dict[str, Any], solution: dict[str, Any], **attributes: Any) -> None:
        """Set the attributes of a solution, and others that are given."""
        self.__dict__.update(noted, **solution, **attributes)
        self.objective_ = result.objective
        self.gap_ = result.gap
        self.n_iter_ = result.n_iter


class Ranker(Predictor):
    """Base class for rankers: ranking and scoring by predictions."""

    # With metadata routing enabled, qid and observed reach fit and score without set_*_request.
    __metadata_request__fit = {"qid": True}  # noqa: RUF012 - read by scikit-learn, never changed
    __metadata_request__score = {"qid": True, "observed": True}  # noqa: RUF012

    _takes_queries = True
    _fitted_with_queries: bool  # set by the subclass

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of every row of X, as `predict` does; scikit-learn's scorers use this method.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Scores of the rows; one column per output if there are several.
        """
        return self.predict(X)

    def rank(self, X: Any, qid: ArrayLike | None = None) -> NDArray[np.int64]:
        """Return the rank of every row in its query: 1 is the best, and equal scores share the better rank.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to rank.
        qid : array-like of shape (n_samples,), optional
            Query of each row; a data-frame column named "qid" can be used instead.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Ranks of the rows, as integers; one column per output if there are several.

        Warns
        -----
        MissingQueryWarning
            If the model was fitted with queries, and there are none: all rows are then ranked as one query.
        """
        _, qid = separate_qid(X, qid)
        scores = to_host(self.predict(X))
        if qid is None:
            warn_of_missing_queries(self, "rank")
        codes, _ = encode_queries(qid, len(scores))
        if codes is None:
            codes = np.zeros(len(scores), dtype=np.int32)
        if scores.ndim == 2:
            return np.stack([rank_in_queries(column, codes) for column in scores.T], axis=1)
        return rank_in_queries(scores, codes)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        observed: ArrayLike | None = None,
    ) -> float:
        """Return the mean concordance over queries, and over outputs if there are several.

        See :func:`kernelrank.metrics.concordance_index`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            True utilities.
        qid : array-like of shape (n_samples,), optional
            Query of each row; a data-frame column named "qid" can be used instead.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. A pair weighs ``w[i] * w[j]``.
        observed : array-like of shape (n_samples,), optional
            False (or 0) where y is censored: the true utility is at least y.

        Returns
        -------
        float
            Share of pairs in the right order, between 0 and 1; ties count half.

        Warns
        -----
        UndefinedQueryWarning
            If some queries have no two different values of y: the mean is over the others.
        MissingObservedWarning
            If the model was fitted to censored utilities, and it is not said which of these are observed.
        """
        _, qid = separate_qid(X, qid)
        scores = self.predict(X)
        y, observed = separate_observed(y, observed)
        single = scores.ndim == 1
        targets = check_vector(y, "y", scores.shape[0]) if single else check_outputs(y, *scores.shape)
        if qid is None:
            warn_of_missing_queries(self)
        if observed is None:
            warn_of_missing_observed(self)
        options: dict[str, Any] = {"qid": qid, "sample_weight": sample_weight, "observed": observed}
        options["n_jobs"] = getattr(self, "n_jobs", None)
        columns = [(targets, scores)] if single else list(zip(targets.T, to_host(scores).T, strict=True))
        return float(np.mean([concordance_index(t, s, **options) for t, s in columns]))


class SVMRanker(SVMPredictor, Ranker):
    """Ranker with ``coef_``, or with a kernel and a basis."""


def goal_of(model: Any) -> float | None:
    """Return the gap at which the fit of a model was to stop; None if it is not known."""
    history = getattr(model, "history_", None)
    if history is not None and "goal" in (history.dtype.names or ()) and len(history):  # old model files have none
        return float(history["goal"][-1])
    if isinstance(model, SVMRanker):  # whose objective of w = 0 is 1
        return gap_goal(model.tol, model.objective_, 1.0)
    return None


def check_outputs(y: ArrayLike, n_rows: int, n_outputs: int | None = None) -> NDArray[np.float64]:
    """Return targets as a matrix with one column per output."""
    targets: NDArray[np.float64] = check_array(as_array(y, "y"), dtype=np.float64, input_name="y")
    if len(targets) != n_rows:
        raise ValueError(f"y has {len(targets)} rows, but there are {n_rows} rows.")
    if n_outputs is not None and targets.shape[1] != n_outputs:
        raise ValueError(f"y has {targets.shape[1]} columns, but the model has {n_outputs} outputs.")
    return targets


def predict_with_kernel(kernel: Kernel, X: Any, basis: Any, weights: Array) -> Array:
    """Return the kernel of X and the basis times weights, in blocks; without a basis, X is the kernel matrix."""
    blocks = kernel.blocks(X, basis, n_elements=_PREDICTED_AT_ONCE)
    return array_namespace(weights).concat([multiply(block, weights) for _, block in blocks])


def rank_in_queries(scores: NDArray[np.float64], codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the rank of each score in its query: 1 is the best, and equal scores share the better rank."""
    order = np.lexsort((-scores, codes))
    new_query = np.append(True, np.diff(codes[order]) != 0)
    new_score = new_query | np.append(True, np.diff(scores[order]) != 0)
    position = np.arange(len(scores))
    first_of_query = np.maximum.accumulate(np.where(new_query, position, 0))
    first_of_score = np.maximum.accumulate(np.where(new_score, position, 0))
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[order] = first_of_score - first_of_query + 1
    return ranks
