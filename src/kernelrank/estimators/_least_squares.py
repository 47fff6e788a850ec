"""What estimators of least squares share: closed forms, hold-outs, and what a fitted one keeps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from array_api_compat import array_namespace
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.utils.validation import check_is_fitted

from kernelrank._arrays import Array, copied, in_double, is_foreign, like, merge, place, take, to_host
from kernelrank._dense import multiply
from kernelrank._memory import available_memory, require_memory
from kernelrank._rules import POSITIVE, POSITIVE_NUMBERS
from kernelrank._validation import (
    as_array,
    as_id_array,
    check_vector,
    check_weights,
    encode_queries,
    require_place,
    scale_weights,
)
from kernelrank._warnings import warn
from kernelrank.estimators._ranker import Predictor, check_outputs, predict_with_kernel
from kernelrank.exceptions import ConvergenceWarning, NoComparablePairsError
from kernelrank.features import NystromMap, draw_order, whitening_of_rows
from kernelrank.kernels import Kernel, Linear, Precomputed, make_kernel
from kernelrank.kernels._matrices import check_kernel_matrix
from kernelrank.losses import PairwiseSquares
from kernelrank.pairs import GraphLaplacian
from kernelrank.solvers import Basis, ConjugateGradients, LeastSquares, make_products

Rows = NDArray[np.intp]

_DENSE_ELEMENTS = 1 << 22  # of a sparse matrix that is made dense: 32 MiB
_LARGEST = 1e150  # of a target, whose square is a number as well
_TOO_FAR = (
    "The equations cannot be solved in float64: scale features and targets that are very large or very small. A given"
    " kernel matrix must be symmetric, and positive semidefinite."
)
_FITTED = (
    *("feature_names_in_", "coef_", "dual_coef_", "basis_", "basis_indices_", "kernel_scores_"),
    *("_whitening", "_moments", "_ids"),
)


class Problem(NamedTuple):
    """What a shortcut needs of the training data."""

    solver: LeastSquares | ConjugateGradients
    loss: PairwiseSquares
    part: Callable[[Rows], PairwiseSquares]  # the loss of some rows
    y: NDArray[np.float64]
    queries: NDArray[np.int32] | None
    obstacle: str | None  # to held-out predictions of one ranking
    has_level: bool  # of one ranking, whose utilities are known
    weights: NDArray[np.float64] | None
    qid: NDArray[Any] | None
    unit: float = 1.0  # of the weights, which the loss has divided by it
    from_pairs: bool = False

    @property
    def codes(self) -> NDArray[np.int32]:
        """Query of each row, also if there is only one."""
        return np.zeros(len(self.y), np.int32) if self.queries is None else self.queries


class LeastSquaresEstimator(Predictor):
    """Closed forms with a linear or another kernel; a subclass says which pairs count.

    Algebra is done in the namespace, and on the device, of X. Targets, weights and queries are NumPy's.
    """

    _any_namespace = True
    alpha: float
    kernel: Any
    n_basis: int | None
    solver: Literal["auto", "direct", "cg"]
    tol: float
    max_iter: int
    random_state: Any
    _fitted_with_queries: bool
    _single: bool
    _training: Problem | None

    def _fit(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> Self:
        X, qid, noted = self._check_rows(X, qid)
        qid = qid if self._takes_queries else None
        self._require_target(y)
        m = X.shape[0]
        targets, single = check_targets(y, m)
        weights = check_weights(sample_weight, m)
        scaled, unit = scale_weights(weights)
        queries, _ = encode_queries(qid, m)
        # What is done to them later must not change the shortcuts.
        targets, queries, qid = targets.copy(), copy(queries), None if qid is None else np.array(as_id_array(qid))
        loss_of, obstacle = self._loss_function(), self._obstacle(weights)

        def part(rows: Any) -> PairwiseSquares:
            codes = np.zeros(m, np.int32) if queries is None else queries
            w = np.ones(m) if scaled is None else scaled
            _, renumbered = np.unique(codes[rows], return_inverse=True)
            return loss_of(targets[rows], renumbered, w[rows])

        def problem(solver: Any, loss: PairwiseSquares) -> Problem:
            return Problem(solver, loss, part, targets, queries, obstacle, self._has_level(), weights, qid, unit)

        return self._train(X, targets, part(slice(None)), queries, problem, noted, single)

    def _train(
        self,
        X: Any,
        y: Array,
        loss: PairwiseSquares,
        queries: NDArray[np.int32] | None,
        problem: Callable[[Any, PairwiseSquares], Problem],
        noted: dict[str, Any],
        single: bool,
    ) -> Self:
        if loss.total == 0 or len(loss.weights) == 0:
            raise NoComparablePairsError(f"There is no pair to learn from (n_samples = {X.shape[0]}).")
        drawn = self._draw_basis(X.shape[0])

        def set_up(kernel: Any) -> Any:
            """Return a copy that knows the data: an earlier fit stays until this one has succeeded."""
            fitter = copy(self)
            for name in _FITTED:
                fitter.__dict__.pop(name, None)
            fitter.__dict__.update(noted, kernel_=make_kernel(kernel).resolve(X))
            fitter._single, fitter._fitted_with_queries = single, queries is not None
            if self._wants_gradients(X, fitter.kernel_):
                fitter._training = problem(ConjugateGradients(make_products(X, queries=queries), loss), loss)
            else:
                fitter._training = problem(*fitter._decompose(X, y, loss, queries, drawn))
            fitter._note_choices()
            return fitter

        try:
            fitter = self._choose_kernel(set_up)
            training = fitter._problem()
            solution = fitter._solve(training.solver, fitter._choose_alpha())
        except np.linalg.LinAlgError as error:
            raise ValueError(" ".join([_TOO_FAR, *getattr(error, "__notes__", ())])) from None
        fitter._store_solution(X, training, solution)
        if isinstance(training.solver, LeastSquares):
            training.solver.forget_matrices()
        self.__dict__ = fitter.__dict__
        return self

    def _draw_basis(self, m: int) -> Rows | None:
        """Draw `n_basis` of m rows, in their order; None stands for all."""
        return None if self.n_basis is None else np.sort(draw_order(m, self.n_basis, self.random_state)[: self.n_basis])

    def _choose_kernel(self, set_up: Callable[[Any], Self]) -> Self:
        """Return a copy that is set up with a kernel."""
        return set_up(self.kernel)

    def _note_choices(self) -> None:
        """Remember what was learnt."""

    @abstractmethod
    def _loss_function(self) -> Callable[[Array, NDArray[np.integer], Array], PairwiseSquares]:
        """Return what makes a loss of targets, queries 0, 1, ... and weights; parameters are checked."""

    @abstractmethod
    def _obstacle(self, weights: Array | None) -> str | None:
        """Say why held-out predictions of one ranking have no closed form, if they have none."""

    def _has_level(self) -> bool:
        """Whether predictions of one ranking are on the level of its targets."""
        return True

    def _solve(self, solver: LeastSquares | ConjugateGradients, alpha: float) -> Array:
        if isinstance(solver, LeastSquares):
            self.n_iter_ = 1
            return _require_finite(solver.solve(alpha))
        found = solver.solve(alpha, tol=self.tol, max_iter=self.max_iter)
        self.n_iter_ = found.n_iter
        if found.residual > self.tol:
            warn(
                f"Not converged after {found.n_iter} steps: tol asks for a relative residual of {self.tol:.3g}, and it"
                f" is {found.residual:.3g}. Increase max_iter, tol or alpha, or standardise the features.",
                ConvergenceWarning,
            )
        return _require_finite(found.weights)

    def _choose_alpha(self) -> float:
        return float(self.alpha)

    def _store_solution(self, X: Any, problem: Problem, solution: Array) -> None:
        found = self._coefficients(solution)
        if isinstance(self.kernel_, Linear):
            self.coef_ = found[:, 0] if self._single else copied(found.T)
        else:
            self.dual_coef_ = found[:, 0] if self._single else found
        level = np.zeros(problem.y.shape[1])
        if problem.queries is None and problem.has_level:
            solver = problem.solver
            fitted = solver.fitted(solution) if isinstance(solver, LeastSquares) else np.asarray(X @ solution)
            level = np.average(problem.y - to_host(fitted), axis=0, weights=problem.weights)
        self.intercept_ = float(level[0]) if self._single else like(level, solution)

    def _coefficients(self, solution: Array) -> Array:
        """Turn weights of the features that were learnt from into those of `coef_` or `dual_coef_`."""
        whitening: Array | LinearOperator | None = self.__dict__.get("_whitening")
        return solution if whitening is None else whitening @ solution

    def _wants_gradients(self, X: Any, kernel: Kernel) -> bool:
        (m, n), possible = X.shape, isinstance(kernel, Linear) and self.n_basis is None
        if self.solver == "cg" and not possible:
            raise ValueError('solver="cg" is for the linear kernel without n_basis; others have solver="direct".')
        if self.solver == "cg" and is_foreign(X):
            raise ValueError('solver="cg" is for NumPy arrays and sparse matrices; others have solver="direct".')
        return self.solver == "cg" or (
            self.solver == "auto" and possible and sp.issparse(X) and m * n > _DENSE_ELEMENTS
        )

    def _decompose(
        self, X: Any, y: Array, loss: PairwiseSquares, queries: NDArray[np.int32] | None, drawn: Rows | None
    ) -> tuple[LeastSquares, PairwiseSquares]:
        m = X.shape[0]
        codes = np.zeros(m, np.int32) if queries is None else queries
        if is_foreign(X) and isinstance(loss.laplacian, GraphLaplacian):
            raise ValueError(
                f'fit_pairs and cost="relative" take NumPy arrays or sparse matrices, got {place(X)}: convert X.'
            )
        if isinstance(self.kernel_, Linear) or (drawn is not None and len(drawn) < m):
            rows, offset, basis = self._explicit_features(X, drawn)
            require_matrices(X, len(loss.weights), rows.shape[1], "The differences of features")
            return LeastSquares(loss, y, codes, rows=rows, offset=offset, basis=basis), loss
        require_matrices(X, m, m, "The kernel matrix")
        loss = loss.diagonalised(codes)
        if drawn is not None:  # all rows: no map is needed, which would lose digits
            self.basis_indices_ = drawn
        kept = copied(X)  # what is done to X later must not change predictions
        if isinstance(self.kernel_, Precomputed):
            _require_square(X)
        else:
            self.basis_ = kept
        matrix = partial(_kernel_matrix, self.kernel_, kept)
        if is_foreign(X):  # which kernels take while scikit-learn dispatches: later, it may not
            computed = matrix()
            return LeastSquares(loss, y, codes, matrix=lambda: computed), loss
        return LeastSquares(loss, y, codes, matrix=matrix), loss

    def _explicit_features(self, X: Any, drawn: Rows | None) -> tuple[Array, Array, Basis | None]:
        """Return centred rows of which a linear function is learnt, their mean, and the basis they are made of.

        They are X, or what a few of its rows, those that were drawn, span with the kernel.
        """
        m = X.shape[0]
        if drawn is None:
            return *self._centred(X), None
        require_matrices(X, m, len(drawn), "The kernel matrix of the rows and the basis")
        if isinstance(self.kernel_, Linear) and self._fits(X):
            # What they span is a space of weights: X can be centred first, and no digits are lost to inner products.
            kept, self._whitening, T = whitening_of_rows(_dense(take(X, drawn)))
            self.basis_indices_ = drawn[kept]
            self.basis_, (centred, offset) = take(X, self.basis_indices_), self._centred(X)
            features, offset = centred @ self._whitening, offset @ self._whitening
        else:
            nystrom = NystromMap(self.kernel_, selection=drawn).fit(X)
            self.basis_indices_, self._whitening = nystrom.basis_indices_, nystrom.whitening_
            features, T = nystrom.transform(X), nystrom.whitening_
            if isinstance(self.kernel_, Precomputed):  # the columns of its matrix stand for the basis
                others = np.setdiff1d(np.arange(m), self.basis_indices_)
                zeros = like(np.zeros((len(others), T.shape[1])), T)
                self._whitening = merge([T, zeros], [self.basis_indices_, others])
            else:
                self.basis_ = nystrom.basis_
            if isinstance(self.kernel_, Linear):
                self._whitening = aslinearoperator(self.basis_.T) @ aslinearoperator(T)
            offset = array_namespace(features).mean(features, axis=0)
            features -= offset
        # What is learnt from rows lies in their span: with all rows in it, nothing of the others is needed.
        return features, offset, None if len(drawn) == m else Basis(self.basis_indices_, T)

    @staticmethod
    def _fits(X: Any) -> bool:
        """Tell whether a sparse X can be made dense; others are."""
        available = available_memory() if sp.issparse(X) else None
        return available is None or bytes_of_matrices(*X.shape) <= available

    def _centred(self, X: Any) -> tuple[Array, Array]:
        require_matrices(X, X.shape[0], X.shape[1], "The features as a dense matrix")
        rows = _dense(X)
        offset = array_namespace(rows).mean(rows, axis=0)
        return rows - offset, offset

    def _evaluate(self, X: Any) -> Array:
        linear = isinstance(self.kernel_, Linear)
        weights = self.coef_ if linear else self.dual_coef_
        require_place(self, X, weights, [name for name in ("predict", "decision_function") if hasattr(self, name)])
        if linear:
            return multiply(X, weights if self._single else weights.T) + self.intercept_
        return predict_with_kernel(self.kernel_, X, getattr(self, "basis_", None), weights) + self.intercept_

    def path(self, alphas: ArrayLike) -> Array:
        """Find the solutions for other alphas, from one decomposition of the training data.

        Parameters
        ----------
        alphas : array-like of shape (n_alphas,)
            Positive.

        Returns
        -------
        ndarray of shape (n_alphas, n_features) or (n_alphas, n_samples), and n_outputs if there are several
            ``coef_`` for a linear kernel, ``dual_coef_`` for another.
        """
        POSITIVE_NUMBERS("alphas", alphas)
        alphas = check_vector(alphas, "alphas")
        solutions = self._decomposable(self._problem()).path(alphas)
        found = array_namespace(solutions[0]).stack([self._coefficients(solution) for solution in solutions])
        return found[:, :, 0] if self._single else found

    def _problem(self) -> Problem:
        check_is_fitted(self)
        problem: Problem | None = getattr(self, "_training", None)
        if problem is None:
            raise ValueError(
                f"This {type(self).__name__} has no training data any more: they are neither pickled nor saved,"
                " nor kept by partial_fit. Fit it again."
            )
        return problem

    def _decomposable(self, problem: Problem) -> LeastSquares:
        if isinstance(problem.solver, LeastSquares):
            return problem.solver
        raise ValueError('Conjugate gradients make no decomposition, which this takes: use solver="direct".')

    def _alpha(self, alpha: float | None) -> float:
        value = self.alpha if alpha is None else alpha
        POSITIVE("alpha", value)
        return float(value)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.array_api_support = self.solver != "cg"
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Leave the training data behind: a model that is sent somewhere must not take them along."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in ("_training", "_whitening")}


def bytes_of_matrices(m: int, n: int) -> int:
    """Return the memory of a matrix, its contrasts and what is decomposed."""
    return 8 * (4 * m * n)


def require_matrices(X: Any, m: int, n: int, what: str) -> None:
    """Make sure that a matrix, its contrasts and what is decomposed fit into memory, where X is."""
    if is_foreign(X):  # of the memory of its device, its library knows
        return
    require_memory(
        bytes_of_matrices(m, n),
        f"{what} of shape {(m, n)}, with what is computed from it,",
        'Train on fewer rows, or with n_basis; a linear RankRLS has solver="cg", which needs no such matrix.',
    )


def _kernel_matrix(kernel: Kernel, X: Any) -> Array:
    """Compute the kernel matrix of rows; one that others have computed must be symmetric."""
    K = kernel(X)
    if not (kernel.semidefinite or is_foreign(K)):
        check_kernel_matrix(K)
    return K


def _require_square(X: Any) -> None:
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"A kernel matrix to be fitted to is square, but X has shape {X.shape}.")


def _require_finite(solution: Array) -> Array:
    if not np.isfinite(to_host(solution)).all():
        raise ValueError(_TOO_FAR)
    return solution


def _dense(X: Any) -> Array:
    return in_double(X) if is_foreign(X) else np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def check_targets(y: ArrayLike, m: int) -> tuple[NDArray[np.float64], bool]:
    """Return y with a column an output, and whether it came as one vector."""
    y = as_array(y, "y")
    single = y.ndim < 2
    targets = check_vector(y, "y", m)[:, None] if single else check_outputs(y, m)
    largest = float(np.max(np.abs(targets), initial=0.0))
    if largest > _LARGEST or 0 < largest < 1 / _LARGEST:
        raise ValueError(
            f"y has squares that are no float64 numbers, its largest element being {largest:.1g}: scale it."
        )
    return targets, single
