"""What estimators of least squares share: closed forms, hold-outs, and what a fitted one keeps."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from copy import copy
from numbers import Integral
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_scalar
from sklearn.utils.validation import check_is_fitted

from kernelrank._memory import require_memory
from kernelrank._validation import check_vector, check_weights, encode_queries
from kernelrank.estimators._parameters import check_choices, check_positive
from kernelrank.estimators._ranker import Predictor
from kernelrank.exceptions import ConvergenceWarning
from kernelrank.kernels import Kernel, Linear, make_kernel
from kernelrank.pairs import (
    DenseLaplacian,
    GraphLaplacian,
    PairLaplacian,
)
from kernelrank.solvers import ConjugateGradients, LeastSquares, make_products

Array = NDArray[np.float64]

_DENSE_ELEMENTS = 1 << 24  # of a sparse matrix that is made dense: 128 MiB
_PREDICTED_AT_ONCE = 1 << 24  # elements of a block of the kernel matrix


class Problem(NamedTuple):
    """What a shortcut needs of the training data."""

    solver: LeastSquares | ConjugateGradients
    y: Array
    queries: NDArray[np.int32] | None
    shares: Array  # of each query in the normaliser
    obstacle: str | None = None  # where held-out predictions have no closed form
    has_level: bool = True  # of one ranking, whose utilities are known


class LeastSquaresEstimator(Predictor):
    """Closed forms with a linear or another kernel; a subclass says which pairs count."""

    alpha: float
    kernel: Any
    solver: Literal["auto", "direct", "cg"]
    tol: float
    max_iter: int
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
        self._require_target(y)
        m = X.shape[0]
        targets, single = check_targets(y, m)
        weights = check_weights(sample_weight, m)
        queries, _ = encode_queries(qid, m)
        kernel = make_kernel(self.kernel).resolve(X)
        problem = self._compose(X, kernel, targets, queries, weights)
        return self._train(X, kernel, problem, noted, single, qid is not None, weights)

    def _train(
        self,
        X: Any,
        kernel: Kernel,
        problem: Problem,
        noted: dict[str, Any],
        single: bool,
        with_queries: bool,
        weights: Array | None,
    ) -> Self:
        fitter = copy(self)  # an earlier fit stays until this one has succeeded
        for name in ("feature_names_in_", "coef_", "dual_coef_", "basis_"):
            fitter.__dict__.pop(name, None)
        fitter.__dict__.update(noted, kernel_=kernel)
        fitter._single, fitter._fitted_with_queries, fitter._training = single, with_queries, problem
        fitter._store_solution(X, problem, fitter._solve(problem, fitter._choose_alpha()), weights)
        self.__dict__ = fitter.__dict__
        return self

    def _solve(self, problem: Problem, alpha: float) -> Array:
        if isinstance(problem.solver, LeastSquares):
            self.n_iter_ = 1
            return problem.solver.solve(alpha)
        found = problem.solver.solve(alpha, tol=self.tol, max_iter=self.max_iter)
        self.n_iter_ = found.n_iter
        if found.residual > self.tol:
            warnings.warn(
                f"Not converged after {found.n_iter} steps: tol asks for a relative residual of {self.tol:.3g}, and it"
                f" is {found.residual:.3g}. Increase max_iter, tol or alpha, or standardise the features.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found.weights

    def _choose_alpha(self) -> float:
        check_positive(self, "alpha")
        return float(self.alpha)

    def _store_solution(self, X: Any, problem: Problem, solution: Array, weights: Array | None) -> None:
        if isinstance(self.kernel_, Linear):
            self.coef_ = solution[:, 0] if self._single else solution.T.copy()
        else:
            self.dual_coef_ = solution[:, 0] if self._single else solution
            self.basis_ = X
        level = np.zeros(problem.y.shape[1])
        if problem.queries is None and problem.has_level:
            solver = problem.solver
            fitted = solver.fitted(solution) if isinstance(solver, LeastSquares) else np.asarray(X @ solution)
            level = np.average(problem.y - fitted, axis=0, weights=weights)
        self.intercept_ = float(level[0]) if self._single else level

    def _make_problem(
        self,
        X: Any,
        kernel: Kernel,
        y: Array,
        laplacian: PairLaplacian,
        root: Array,
        queries: NDArray[np.int32] | None,
        shares: Array,
        weights: Array | None,
    ) -> Problem:
        solver: LeastSquares | ConjugateGradients
        if self._wants_gradients(X, kernel):
            contrasts = (root**2)[:, None] * laplacian.project(y - y.mean(axis=0))
            solver = self._iterate(X, laplacian, root, laplacian.lift(contrasts), queries)
        else:
            solver = self._decompose(X, kernel, laplacian, root, y, queries)
        obstacle = None if weights is None else "with sample_weight"
        return Problem(solver, y, queries, shares, obstacle)

    def _wants_gradients(self, X: Any, kernel: Kernel) -> bool:
        check_choices(self, solver=("auto", "direct", "cg"))
        (m, n), linear = X.shape, isinstance(kernel, Linear)
        if self.solver == "cg" and not linear:
            raise ValueError('solver="cg" is for the linear kernel; other kernels have solver="direct".')
        return self.solver == "cg" or (self.solver == "auto" and linear and sp.issparse(X) and m * n > _DENSE_ELEMENTS)

    def _iterate(
        self, X: Any, laplacian: PairLaplacian | GraphLaplacian, root: Array, pulls: Array, queries: Any
    ) -> ConjugateGradients:
        check_positive(self, "tol")
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        return ConjugateGradients(make_products(X, queries=queries), laplacian, root, pulls)

    def _decompose(
        self, X: Any, kernel: Kernel, laplacian: PairLaplacian | DenseLaplacian, root: Array, y: Array, queries: Any
    ) -> LeastSquares:
        m, n = X.shape
        codes = np.zeros(m, np.int32) if queries is None else queries
        if isinstance(kernel, Linear):
            require_matrices(m, n, "The features as a dense matrix")
            rows = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
            offset = rows.mean(axis=0)
            return LeastSquares(laplacian, root, y, codes, rows=rows - offset, offset=offset)
        require_matrices(m, m, "The kernel matrix")
        return LeastSquares(laplacian, root, y, codes, matrix=kernel(X))

    @abstractmethod
    def _compose(
        self, X: Any, kernel: Kernel, y: Array, queries: NDArray[np.int32] | None, weights: Array | None
    ) -> Problem:
        """Put the problem together."""

    def _evaluate(self, X: Any) -> Array:
        if isinstance(self.kernel_, Linear):
            scores = np.asarray(X @ (self.coef_ if self._single else self.coef_.T))
        else:
            scores = self._kernel_predictions(X, self.dual_coef_)
        return scores + self.intercept_

    def _kernel_predictions(self, X: Any, weights: Array) -> Array:
        """Kernel of X and the basis, times weights, without the whole matrix in memory."""
        size = max(1, _PREDICTED_AT_ONCE // max(1, self.basis_.shape[0]))
        blocks = (X[start : start + size] for start in range(0, X.shape[0], size))
        return np.concatenate([self.kernel_(block, self.basis_) @ weights for block in blocks])

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
        alphas = check_vector(alphas, "alphas")
        if (alphas <= 0).any():
            raise ValueError("alphas must be positive.")
        solutions = self._decomposable(self._problem()).path(alphas)
        return solutions[:, :, 0] if self._single else solutions

    def hold_out(self, folds: Any, *, alpha: float | None = None) -> list[Array]:
        """Predict rows as the model of the other rows would, without fitting it.

        Each array is what ``clone(self).fit`` on the rows outside the fold predicts for those inside, with the
        same alpha and the same parameters of the kernel.

        Parameters
        ----------
        folds : iterable of array-like
            Rows to hold out together, as numbers or masks; they may overlap. With queries, a fold holds whole
            queries.
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        list of ndarray
            One a fold, in the order of its rows.
        """
        problem, alpha = self._unweighted_problem("hold_out"), self._alpha(alpha)
        masks = [_as_rows(fold, len(problem.y)) for fold in folds]
        if problem.queries is None:
            ranking = self._decomposable(problem).one_ranking
            found = [ranking.predict(self._check_fold(rows, problem), alpha) for rows in masks]
        else:
            found = self._hold_out_queries(problem, masks, alpha)
        return [each[:, 0] if self._single else each for each in found]

    def _hold_out_queries(self, problem: Problem, folds: list[NDArray[np.intp]], alpha: float) -> list[Array]:
        queries = problem.queries
        assert queries is not None
        sizes, solver = np.bincount(queries), self._decomposable(problem)
        holder = solver.whole_queries
        found = []
        for rows in folds:
            held_out = np.unique(queries[rows])
            if len(np.unique(rows)) != sizes[held_out].sum():
                raise ValueError("A fold must hold whole queries: there is no closed form for parts of them. Refit.")
            remaining = 1.0 - problem.shares[held_out].sum()
            if remaining <= 0:
                raise ValueError("A fold must leave a query with a pair to learn from.")
            contrasts, residuals, levels = holder.residuals(held_out.tolist(), alpha * remaining)
            fitted = np.zeros_like(holder.u)
            fitted[contrasts] = holder.u[contrasts] - residuals
            centred = solver.centred_predictions(fitted)
            level_of = np.zeros((len(sizes), problem.y.shape[1]))
            level_of[held_out] = levels
            found.append((centred + level_of[queries])[rows])
        return found

    def _check_fold(self, rows: NDArray[np.intp], problem: Problem) -> NDArray[np.intp]:
        if len(np.unique(rows)) != len(rows):
            raise ValueError("A fold has a row twice.")
        if len(problem.y) - len(rows) < 2:
            raise ValueError("A fold must leave two rows at least.")
        return rows

    def _problem(self) -> Problem:
        check_is_fitted(self)
        problem: Problem | None = getattr(self, "_training", None)
        if problem is None:
            raise ValueError(
                f"This {type(self).__name__} has no training data any more: they are not pickled. Fit it again."
            )
        return problem

    def _decomposable(self, problem: Problem) -> LeastSquares:
        if isinstance(problem.solver, LeastSquares):
            return problem.solver
        raise ValueError('Conjugate gradients make no decomposition, which this takes: use solver="direct".')

    def _unweighted_problem(self, method: str) -> Problem:
        problem = self._problem()
        if problem.obstacle is not None:
            raise ValueError(f"{method} has no closed form {problem.obstacle}: refit, or use sklearn.model_selection.")
        return problem

    def _alpha(self, alpha: float | None) -> float:
        value = float(self.alpha if alpha is None else alpha)
        if not 0 < value < np.inf:
            raise ValueError(f"alpha must be a positive number, got {alpha!r}.")
        return value

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Leave the training data behind: a model that is sent somewhere must not take them along."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_training"}


def require_matrices(m: int, n: int, what: str) -> None:
    """Make sure that a matrix, its contrasts and what is decomposed fit into memory."""
    require_memory(
        8 * (2 * m * n + min(m, n) ** 2),
        f"{what} of shape {(m, n)}, with what is computed from it,",
        'Train on fewer rows; a linear kernel has solver="cg", which needs no such matrix.',
    )


def check_targets(y: ArrayLike, m: int) -> tuple[Array, bool]:
    """Return y with a column an output, and whether it came as one vector."""
    y = np.asarray(y)
    if y.ndim < 2:
        return check_vector(y, "y", m)[:, None], True
    targets = check_array(y, dtype=np.float64, input_name="y")
    if len(targets) != m:
        raise ValueError(f"y has {len(targets)} rows, but there are {m} rows.")
    return targets, False


def _as_rows(fold: Any, m: int) -> NDArray[np.intp]:
    rows: NDArray[np.intp] = np.arange(m)[np.asarray(fold)]
    return rows
