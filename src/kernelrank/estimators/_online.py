"""Learning more rows, and forgetting some, without the others."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from kernelrank._memory import require_memory
from kernelrank._validation import as_id_array, check_features, check_weights, encode_queries
from kernelrank.estimators._least_squares import LeastSquaresEstimator, check_targets
from kernelrank.kernels import Linear, make_kernel
from kernelrank.solvers.least_squares import LeastSquares, Moments, MomentsOfRows

Array = NDArray[np.float64]


def takes_parts(estimator: Any) -> bool:
    """Return True if rows can be added to a fit; raise an AttributeError with the reason if not."""
    if not isinstance(make_kernel(estimator.kernel), Linear) or estimator.n_basis is not None:
        raise AttributeError(
            "partial_fit and forget are for the linear kernel without n_basis, which needs but sums over rows."
            " Fit other kernels again, or learn from features such as those of sklearn.kernel_approximation."
        )
    if getattr(estimator, "solver", None) == "cg":
        raise AttributeError('partial_fit and forget solve the equations: they have solver="auto" or "direct".')
    return True


class OnlineLeastSquares(LeastSquaresEstimator):
    """``partial_fit`` and ``forget`` for linear models: sums over rows are all that is kept."""

    _moments: Moments | None
    _ids: dict[Any, int] | None  # of the queries so far, and how many rows they have
    _learnt_with: dict[str, Any]  # what sums are taken of
    _rows_per_total: float  # what a row of one ranking counts in the normaliser
    alpha: float

    @property
    def _fitted_alpha(self) -> float:
        return float(self.alpha)

    def _fit(self, X: Any, y: ArrayLike, qid: ArrayLike | None, sample_weight: ArrayLike | None) -> Self:
        return self._fit_one(*self._validate(X, y, qid, sample_weight), _learnt_with=self._choices())

    def _change(self, X: Any, y: ArrayLike, qid: ArrayLike | None, sample_weight: ArrayLike | None, sign: int) -> Self:
        X, qid = self._separate_queries(X, qid)
        qid = qid if self._takes_queries else None
        other = self._without_data()  # which replaces this one when all has succeeded
        begun = "n_features_in_" in self.__dict__
        if sign < 0 and not begun:
            raise ValueError(f"This {type(self).__name__} has learnt nothing yet that it could forget.")
        X = check_features(other, X, reset=not begun)
        other._require_target(y)
        m, n = X.shape
        targets, single = check_targets(y, m)
        weights = check_weights(sample_weight, m)
        require_memory(
            8 * (2 * m * n + 4 * n * n), f"{m} rows, and sums of {n} x {n} features,", "Use fewer at a time."
        )
        rows = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        choices = self._choices()
        learnt_with = getattr(self, "_learnt_with", choices)
        if begun and choices != learnt_with:
            raise ValueError(f"Rows were learnt with {learnt_with}; to learn otherwise takes a new estimator.")
        given: dict[Any, int] = {}
        moments, ids = self._start(n, targets.shape[1], qid is not None, begun)
        if moments.right.shape[1] != targets.shape[1] or (begun and single != self._single):
            raise ValueError("y must have the shape that it had before.")
        w = np.ones(m) if weights is None else weights
        if isinstance(moments, MomentsOfRows):
            if self._peculiarity() is not None:
                raise ValueError(f"Rows join one ranking, or leave it, with {self._peculiarity()} only by a refit.")
            if sign < 0 and w.sum() >= moments.weight:
                raise ValueError("forget would leave no row; begin with a new estimator.")
            moments = moments.change_rows(rows, targets, w, self._rows_per_total, sign)
        else:
            codes, _ = encode_queries(qid, m)
            assert codes is not None
            assert ids is not None
            given = _count(qid)
            _check_ids(ids, given, sign)
            moments = moments.change_queries(rows, self._loss_function()(targets, codes, w), sign)
        other._moments, other._ids, other._single, other._training = moments, ids, single, None
        other._learnt_with = choices
        other._fitted_with_queries, other.kernel_, other.n_iter_ = ids is not None, make_kernel(self.kernel), 1
        other._store_moments(moments)
        self.__dict__ = other.__dict__
        if ids is not None:
            _change_ids(ids, given, sign)
        return self

    def _without_data(self) -> Self:
        """Return another estimator of the same attributes, less the training data. It shares the ids of queries."""
        other = object.__new__(type(self))
        other.__dict__ = {name: value for name, value in self.__dict__.items() if name != "_training"}
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Give copies their own ids of queries, which are changed in place."""
        state: dict[str, Any] = super().__getstate__()
        if state.get("_ids") is not None:
            state["_ids"] = dict(state["_ids"])
        return state

    def _start(self, n: int, p: int, with_queries: bool, begun: bool) -> tuple[Moments, dict[Any, int] | None]:
        """Return the sums so far: those of earlier calls, or of the rows of `fit`."""
        moments = getattr(self, "_moments", None)
        if not begun:
            return (Moments.empty(n, p), {}) if with_queries else (MomentsOfRows.empty(n, p), None)
        if with_queries != self._fitted_with_queries:
            raise ValueError("Either all calls have qid, or none has.")
        if moments is not None:
            return moments, self._ids
        model = self._fitted_model()
        data, solver = model.data, model.solver
        if not isinstance(solver, LeastSquares) or data.from_pairs:
            raise ValueError(
                "partial_fit and forget cannot go on from fit_pairs or conjugate gradients: begin with partial_fit."
            )
        gram, right = solver.moments()
        if data.qid is not None:
            pairs = self._choices().get("query_weighting") == "pair"
            total = data.loss.total * (data.unit**2 if pairs else 1.0)
            return Moments(total * gram, total * right, total, total * float(np.trace(gram))), _count(data.qid)
        weights = np.ones(len(data.y)) if data.weights is None else data.weights
        total = self._rows_per_total * float(weights.sum())
        mean = np.concatenate([solver.mean_row(weights), np.average(data.y, axis=0, weights=weights)])
        largest = total * float(np.trace(gram))
        return MomentsOfRows(total * gram, total * right, total, largest, float(weights.sum()), mean), None

    def _choices(self) -> dict[str, Any]:
        """Parameters that say what sums are taken of."""
        names = ("ties", "cost", "query_weighting")
        return {name: value for name, value in self.get_params(deep=False).items() if name in names}

    def _store_moments(self, moments: Moments) -> None:
        found = moments.solve(self._fitted_alpha)
        self.coef_ = found[:, 0] if self._single else found.T.copy()
        level = np.zeros(found.shape[1])
        if isinstance(moments, MomentsOfRows):
            mean = np.asarray(moments.mean)
            level = mean[len(found) :] - mean[: len(found)] @ found
        self.intercept_ = float(level[0]) if self._single else level


def _count(qid: Any) -> dict[Any, int]:
    return dict(Counter(as_id_array(qid).ravel().tolist()))


def _check_ids(ids: dict[Any, int], given: dict[Any, int], sign: int) -> None:
    """Make sure that queries can be learnt or forgotten: O(len(given)), whatever has been learnt before."""
    for query, n_rows in given.items():
        if sign > 0:
            if query in ids:
                raise ValueError(
                    f"Query {query!r} has been learnt before, and comes whole: to add rows, forget it first."
                )
        elif query not in ids:
            raise ValueError(f"Query {query!r} has not been learnt, so it cannot be forgotten.")
        elif ids[query] != n_rows:
            raise ValueError(
                f"Query {query!r} has {ids[query]} rows, and is forgotten as a whole; here are {n_rows} rows of it."
            )
    if sign < 0 and len(given) == len(ids):
        raise ValueError("forget would leave no query; begin with a new estimator.")


def _change_ids(ids: dict[Any, int], given: dict[Any, int], sign: int) -> None:
    """Add queries, or take them away, in place: a copy would take as long as all that came before."""
    if sign > 0:
        ids.update(given)
    else:
        for query in given:
            del ids[query]
