"""The base of least-squares estimators: validate, compose a problem, solve it, store the solution."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from kernelrank._arrays import Array, copied, like, to_host
from kernelrank._dense import multiply
from kernelrank._fields import refuse_two_fields
from kernelrank._query_ids import as_id_array, encode_queries
from kernelrank._refit import refit
from kernelrank._rules import POSITIVE
from kernelrank._validation import as_array, check_vector, check_weights, require_place, scale_weights
from kernelrank._warnings import warn
from kernelrank.estimators._least_squares_model import LeastSquaresModel, TrainingData, compose
from kernelrank.estimators._ranker import Predictor, check_outputs, predict_with_kernel
from kernelrank.exceptions import ConvergenceWarning, NoComparablePairsError
from kernelrank.features import draw_order
from kernelrank.kernels import Linear, make_kernel
from kernelrank.losses import PairwiseSquares
from kernelrank.solvers import Approximation
from kernelrank.solvers.least_squares import HoldOut, LeastSquares, QueriesHoldOut

Rows = NDArray[np.intp]

_LARGEST = 1e150  # of a target, whose square is a number as well
_TOO_FAR = (
    "The equations cannot be solved in float64: scale features and targets that are very large or very small. A given"
    " kernel matrix must be symmetric, and positive semidefinite."
)


class _NoTrainingDataError(ValueError, AttributeError):
    """Error for a model without its training data; ``dir``, as notebooks use it, leaves out what has no attribute."""


class LeastSquaresEstimator(Predictor):
    """Closed forms with a linear or another kernel; a subclass provides the loss and ``fit``.

    Algebra is done in the namespace, and on the device, of X. Targets, weights and queries are NumPy's.
    """

    _any_namespace = True
    kernel: Any
    n_basis: int | None
    solver: Literal["auto", "direct", "cg"] = "direct"
    tol: float
    max_iter: int
    random_state: Any
    _fitted_with_queries: bool
    _single: bool
    _training: LeastSquaresModel | None

    @abstractmethod
    def _loss_function(self) -> Callable[[Array, NDArray[np.integer], Array], PairwiseSquares]:
        """Return the function that makes a loss of targets, queries 0, 1, ... and weights."""

    @abstractmethod
    def _special_parameter(self) -> str | None:
        """Return the parameter for which one ranking does not compare all rows alike, as it is written, or None."""

    @abstractmethod
    def _hold_out_of_ranking(self, problem: LeastSquares, data: TrainingData) -> HoldOut:
        """Return the held-out predictions of one ranking."""

    @property
    @abstractmethod
    def _fitted_alpha(self) -> float:
        """The alpha of the fit."""

    def _has_level(self) -> bool:
        """Return whether scores of one ranking are comparable with its targets."""
        return True

    def _validate(
        self, X: Any, y: ArrayLike, qid: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> tuple[Any, TrainingData]:
        """Check what `fit` is given; what is done to it later must not change the shortcuts."""
        X, qid, noted = self._check_rows(X, qid)
        qid = qid if self._takes_queries else None
        self._require_target(y)
        m = X.shape[0]
        targets, single = check_targets(y, m)
        weights = check_weights(sample_weight, m)
        scaled, unit = scale_weights(weights)
        queries, _ = encode_queries(qid, m)
        targets, queries, qid = targets.copy(), copy(queries), None if qid is None else np.array(as_id_array(qid))
        loss_of, w = self._loss_function(), np.ones(m) if scaled is None else scaled
        codes = np.zeros(m, np.int32) if queries is None else queries

        def part(rows: Any) -> PairwiseSquares:
            _, renumbered = np.unique(codes[rows], return_inverse=True)
            return loss_of(targets[rows], renumbered, w[rows])

        loss = require_pairs(part(slice(None)), m)
        return X, TrainingData(targets, single, loss, part, queries, qid, weights, unit, noted=noted)

    def _draw_basis(self, m: int) -> Rows | None:
        """Draw `n_basis` of m rows, in their order; None stands for all."""
        return None if self.n_basis is None else np.sort(draw_order(m, self.n_basis, self.random_state)[: self.n_basis])

    def _compose(self, X: Any, data: TrainingData, kernel: Any, drawn: Rows | None) -> LeastSquaresModel:
        resolved = make_kernel(kernel).resolve(X)
        return compose(X, data, resolved, drawn=drawn, solver=self.solver, hold_out=self._hold_out)

    def _hold_out(self, problem: LeastSquares, data: TrainingData) -> HoldOut:
        if data.queries is None:
            return self._hold_out_of_ranking(problem, data)
        assert data.part is not None
        outputs = not data.from_pairs and data.weights is None and self._special_parameter() is None
        return QueriesHoldOut(problem, data.part, outputs)

    def _solve(self, model: LeastSquaresModel, alpha: float) -> tuple[Array, int]:
        """Return weights of the features or kernels that the model learns from, and the number of iterations."""
        if isinstance(model.solver, LeastSquares):
            return _require_finite(model.solver.solve(alpha)), 1
        found = model.solver.solve(alpha, tol=self.tol, max_iter=self.max_iter)
        warn_of_residual(found, self.tol)
        return _require_finite(found.weights), found.n_iter

    def _fit_one(self, X: Any, data: TrainingData, **attributes: Any) -> Self:
        """Fit one kernel with one alpha."""
        with solvable():
            model = self._compose(X, data, self.kernel, self._draw_basis(X.shape[0]))
            return self._store(X, model, self._fitted_alpha, **attributes)

    def _store(self, X: Any, model: LeastSquaresModel, alpha: float, **attributes: Any) -> Self:
        """Solve, and replace an earlier fit when all has succeeded."""
        data, (solution, n_iter) = model.data, self._solve(model, alpha)
        found, single = model.coefficients(solution), data.single
        weights = (
            {"coef_": found[:, 0] if single else copied(found.T)}
            if isinstance(model.kernel, Linear)
            else {"dual_coef_": found[:, 0] if single else found}
        )
        level = np.zeros(data.y.shape[1])
        if data.queries is None and not data.from_pairs and self._has_level():
            solver = model.solver
            scores = solver.fitted(solution) if isinstance(solver, LeastSquares) else np.asarray(X @ solution)
            level = np.average(data.y - to_host(scores), axis=0, weights=data.weights)
        if isinstance(model.solver, LeastSquares):
            model.solver.forget_matrices()
        with refit(self, "_moments", "_ids") as fitted:
            fitted.__dict__.update(
                **data.noted,
                **model.basis,
                **weights,
                intercept_=float(level[0]) if single else like(level, solution),
                kernel_=model.kernel,
                n_iter_=n_iter,
                _single=single,
                _fitted_with_queries=data.queries is not None,
                _fitted_with_censored=not data.loss.closed_form,
                _training=model,
            )
            fitted.__dict__.update(attributes)
        return self

    def _evaluate(self, X: Any) -> Array:
        linear = isinstance(self.kernel_, Linear)
        weights = self.coef_ if linear else self.dual_coef_
        require_place(self, X, weights, [name for name in ("predict", "decision_function") if hasattr(self, name)])
        if linear:
            return multiply(X, weights if self._single else weights.T) + self.intercept_
        return predict_with_kernel(self.kernel_, X, getattr(self, "basis_", None), weights) + self.intercept_

    def _fitted_model(self) -> LeastSquaresModel:
        check_is_fitted(self)
        model: LeastSquaresModel | None = getattr(self, "_training", None)
        if model is None:
            raise _NoTrainingDataError(
                f"This {type(self).__name__} has no training data any more: they are neither pickled nor saved,"
                " nor kept by partial_fit. Fit it again."
            )
        return model

    def _alpha(self, alpha: float | None) -> float:
        value = self._fitted_alpha if alpha is None else alpha
        POSITIVE("alpha", value)
        return float(value)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.array_api_support = self.solver != "cg"
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the training data, which a model must not take along."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_training"}


def warn_of_residual(found: Approximation, tol: float) -> None:
    """Warn if conjugate gradients have not converged."""
    if found.residual > tol:
        warn(
            f"Not converged after {found.n_iter} steps: tol asks for a relative residual of {tol:.3g}, and it"
            f" is {found.residual:.3g}. Increase max_iter, tol or alpha, or standardise the features.",
            ConvergenceWarning,
        )


@contextmanager
def solvable() -> Iterator[None]:
    """Convert errors of linear algebra into a ValueError with a remedy."""
    try:
        yield
    except np.linalg.LinAlgError as error:
        raise ValueError(" ".join([_TOO_FAR, *getattr(error, "__notes__", ())])) from None


def require_pairs(loss: PairwiseSquares, m: int) -> PairwiseSquares:
    """Return the loss, unless it has nothing to learn from."""
    if loss.total == 0 or len(loss.weights) == 0:
        raise NoComparablePairsError(f"There is no pair to learn from (n_samples = {m}).")
    return loss


def _require_finite(solution: Array) -> Array:
    if not np.isfinite(to_host(solution)).all():
        raise ValueError(_TOO_FAR)
    return solution


def check_targets(y: ArrayLike, m: int) -> tuple[NDArray[np.float64], bool]:
    """Return y with one column per output, and whether it was one vector."""
    refuse_two_fields(y)
    y = as_array(y, "y")
    single = y.ndim < 2
    targets = check_vector(y, "y", m)[:, None] if single else check_outputs(y, m)
    require_squares(targets)
    return targets, single


def require_squares(targets: NDArray[np.float64]) -> None:
    """Raise an error if squares of the targets overflow, or underflow."""
    largest = float(np.max(np.abs(targets), initial=0.0))
    if largest > _LARGEST or 0 < largest < 1 / _LARGEST:
        raise ValueError(
            f"y has squares that are no float64 numbers, its largest element being {largest:.1g}: scale it."
        )
