"""Rows that are added to a linear model, or removed from it, in closed form."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from kernelrank._memory import require_memory
from kernelrank._query_ids import as_id_array, encode_queries
from kernelrank._refit import refit, unfitted_copy
from kernelrank._validation import check_features, check_weights
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


class _Part(NamedTuple):
    """Rows to be added or removed."""

    rows: Array
    y: Array
    weights: Array
    qid: Any
    single: bool
    noted: dict[str, Any]


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
        """Add rows, or remove them."""
        begun = "n_features_in_" in vars(self)
        if sign < 0 and not begun:
            raise ValueError(f"This {type(self).__name__} has learnt nothing yet that it could forget.")
        choices = self._choices()
        if begun and choices != getattr(self, "_learnt_with", choices):
            raise ValueError(f"Rows were learnt with {self._learnt_with}; to learn otherwise takes a new estimator.")
        part = self._check_part(X, y, qid, sample_weight, begun)
        moments, ids = self._start(part, begun)
        if moments.right.shape[1] != part.y.shape[1] or (begun and part.single != self._single):
            raise ValueError("y must have the shape that it had before.")
        given: dict[Any, int] = {} if part.qid is None else _count(part.qid)
        if isinstance(moments, MomentsOfRows):
            moments = self._change_rows(moments, part, sign)
        else:
            assert ids is not None
            _check_ids(ids, given, sign)
            moments = self._change_queries(moments, part, sign)
        found = moments.solve(self._fitted_alpha)
        level = moments.level(found)
        with refit(self) as fitted:
            fitted.__dict__.update(
                **part.noted,
                coef_=found[:, 0] if part.single else found.T.copy(),
                intercept_=float(level[0]) if part.single else level,
                kernel_=make_kernel(self.kernel),
                n_iter_=1,
                _moments=moments,
                _ids=ids,
                _single=part.single,
                _training=None,
                _learnt_with=choices,
                _fitted_with_queries=ids is not None,
            )
        if ids is not None:
            _change_ids(ids, given, sign)
        return self

    def _check_part(
        self, X: Any, y: ArrayLike, qid: ArrayLike | None, sample_weight: ArrayLike | None, begun: bool
    ) -> _Part:
        X, qid = self._separate_queries(X, qid)
        other = self if begun else unfitted_copy(self)  # which learns about the features
        X = check_features(other, X, reset=not begun)
        self._require_target(y)
        m, n = X.shape
        targets, single = check_targets(y, m)
        weights = check_weights(sample_weight, m)
        require_memory(
            8 * (2 * m * n + 4 * n * n), f"{m} rows, and sums of {n} x {n} features,", "Use fewer at a time."
        )
        rows = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        noted = {name: value for name, value in vars(other).items() if name.endswith("_in_")}
        w = np.ones(m) if weights is None else weights
        return _Part(rows, targets, w, qid if self._takes_queries else None, single, noted)

    def _change_rows(self, moments: MomentsOfRows, part: _Part, sign: int) -> MomentsOfRows:
        """Add rows to one ranking, or remove them."""
        if self._special_parameter() is not None:
            raise ValueError(f"Rows join one ranking, or leave it, with {self._special_parameter()} only by a refit.")
        if sign < 0 and part.weights.sum() >= moments.weight:
            raise ValueError("forget would leave no row; begin with a new estimator.")
        return moments.change_rows(part.rows, part.y, part.weights, self._rows_per_total, sign)

    def _change_queries(self, moments: Moments, part: _Part, sign: int) -> Moments:
        """Add whole queries, or remove them."""
        codes, _ = encode_queries(part.qid, len(part.y))
        assert codes is not None
        return moments.change_queries(part.rows, self._loss_function()(part.y, codes, part.weights), sign)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with a copy of the ids of queries, which are changed in place."""
        state: dict[str, Any] = super().__getstate__()
        if state.get("_ids") is not None:
            state["_ids"] = dict(state["_ids"])
        return state

    def _start(self, part: _Part, begun: bool) -> tuple[Moments, dict[Any, int] | None]:
        """Return the sums so far, of earlier calls or of the rows of `fit`, and the ids of queries."""
        moments, shape = getattr(self, "_moments", None), (part.rows.shape[1], part.y.shape[1])
        if not begun:
            return (MomentsOfRows.empty(*shape), None) if part.qid is None else (Moments.empty(*shape), {})
        if (part.qid is not None) != self._fitted_with_queries:
            raise ValueError("Either all calls have qid, or none has.")
        if moments is not None:
            return moments, self._ids
        model = self._fitted_model()
        data, solver = model.data, model.solver
        linear = isinstance(model.kernel, Linear) and model.whitening is None
        if not (linear and isinstance(solver, LeastSquares)) or data.from_pairs:
            raise ValueError(
                "partial_fit and forget cannot go on from fit_pairs, a kernel, n_basis or conjugate gradients: begin"
                " with partial_fit."
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
        """Return the parameters that define the sums."""
        names = ("ties", "cost", "query_weighting")
        return {name: value for name, value in self.get_params(deep=False).items() if name in names}


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
