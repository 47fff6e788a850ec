"""Regularised least squares, of values and of differences between pairs."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from copy import copy
from numbers import Integral
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, check_scalar
from sklearn.utils.validation import check_is_fitted

from kernelrank._memory import require_memory
from kernelrank._validation import check_vector, check_weights, encode_queries
from kernelrank.estimators._parameters import check_choices, check_positive
from kernelrank.estimators._ranker import Predictor, Ranker
from kernelrank.exceptions import ConvergenceWarning, NoComparablePairsError
from kernelrank.kernels import Kernel, Linear, make_kernel
from kernelrank.metrics import concordance_index
from kernelrank.pairs import (
    DenseLaplacian,
    GraphLaplacian,
    PairLaplacian,
    PreferencePairs,
    all_pairs,
    pairs_without_ties,
)
from kernelrank.solvers import ConjugateGradients, LeastSquares, make_products

Array = NDArray[np.float64]

_DENSE_ELEMENTS = 1 << 24  # of a sparse matrix that is made dense: 128 MiB
_PREDICTED_AT_ONCE = 1 << 24  # elements of a block of the kernel matrix


class _Problem(NamedTuple):
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
    _training: _Problem | None

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
        targets, single = _check_targets(y, m)
        weights = check_weights(sample_weight, m)
        queries, _ = encode_queries(qid, m)
        kernel = make_kernel(self.kernel).resolve(X)
        problem = self._compose(X, kernel, targets, queries, weights)
        return self._train(X, kernel, problem, noted, single, qid is not None, weights)

    def _train(
        self,
        X: Any,
        kernel: Kernel,
        problem: _Problem,
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

    def _solve(self, problem: _Problem, alpha: float) -> Array:
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

    def _store_solution(self, X: Any, problem: _Problem, solution: Array, weights: Array | None) -> None:
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
    ) -> _Problem:
        solver: LeastSquares | ConjugateGradients
        if self._wants_gradients(X, kernel):
            contrasts = (root**2)[:, None] * laplacian.project(y - y.mean(axis=0))
            solver = self._iterate(X, laplacian, root, laplacian.lift(contrasts), queries)
        else:
            solver = self._decompose(X, kernel, laplacian, root, y, queries)
        obstacle = None if weights is None else "with sample_weight"
        return _Problem(solver, y, queries, shares, obstacle)

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
            _require_matrices(m, n, "The features as a dense matrix")
            rows = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
            offset = rows.mean(axis=0)
            return LeastSquares(laplacian, root, y, codes, rows=rows - offset, offset=offset)
        _require_matrices(m, m, "The kernel matrix")
        return LeastSquares(laplacian, root, y, codes, matrix=kernel(X))

    @abstractmethod
    def _compose(
        self, X: Any, kernel: Kernel, y: Array, queries: NDArray[np.int32] | None, weights: Array | None
    ) -> _Problem:
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

    def _hold_out_queries(self, problem: _Problem, folds: list[NDArray[np.intp]], alpha: float) -> list[Array]:
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

    def _check_fold(self, rows: NDArray[np.intp], problem: _Problem) -> NDArray[np.intp]:
        if len(np.unique(rows)) != len(rows):
            raise ValueError("A fold has a row twice.")
        if len(problem.y) - len(rows) < 2:
            raise ValueError("A fold must leave two rows at least.")
        return rows

    def _problem(self) -> _Problem:
        check_is_fitted(self)
        problem: _Problem | None = getattr(self, "_training", None)
        if problem is None:
            raise ValueError(
                f"This {type(self).__name__} has no training data any more: they are not pickled. Fit it again."
            )
        return problem

    def _decomposable(self, problem: _Problem) -> LeastSquares:
        if isinstance(problem.solver, LeastSquares):
            return problem.solver
        raise ValueError('Conjugate gradients make no decomposition, which this takes: use solver="direct".')

    def _unweighted_problem(self, method: str) -> _Problem:
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


class RLS(RegressorMixin, LeastSquaresEstimator):  # type: ignore[misc]
    r"""Regularised least squares: ridge regression, linear or with a kernel.

    Minimises the mean squared error plus a squared norm,

    .. math:: \frac{1}{m} \sum_i (y_i - f(x_i) - b)^2 + \alpha \|f\|^2,

    in closed form. What its rankings cost compared with :class:`RankRLS` is nothing; it is the pointwise baseline.

    Parameters
    ----------
    alpha : float, default=1e-3
        Weight of the squared norm against the MEAN squared error. Scikit-learn's ``Ridge`` and ``KernelRidge``
        have a sum instead: their ``alpha`` is this one times the number of rows.
    kernel : str, Kernel or callable, default="linear"
        "linear", "gaussian", "polynomial", a kernel of :mod:`kernelrank.kernels`, a name that scikit-learn knows, a
        function, or "precomputed".
    solver : {"auto", "direct", "cg"}, default="auto"
        "direct" solves the equations, and can take all the shortcuts. "cg" takes conjugate gradients, preconditioned by
        the diagonal, for sparse data with many rows and features: O(m s) a step, no shortcuts. "auto" takes them
        if the data are sparse and would be large as a dense matrix.
    tol : float, default=1e-6
        For "cg": residual to reach, relative to the right-hand side.
    max_iter : int, default=1000
        For "cg": steps at most.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Weights of the features; linear kernel only.
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Weights of the rows it was fitted to, `basis_`; other kernels only.
    basis_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
    intercept_ : float or ndarray of shape (n_outputs,)
    kernel_ : Kernel
        With parameters that depended on the data resolved.
    n_iter_ : int
        Steps of conjugate gradients; 1 for a direct solution.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The model refers to the training data, for :meth:`path` and :meth:`hold_out`, but does not pickle them. One fit
    takes a Cholesky factor; a shortcut makes one eigenvalue decomposition, which all of them share.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RLS
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RLS(alpha=1e-4).fit(X, y)
    >>> [left_out] = model.hold_out([[0, 1, 2]])  # as the model of the other 439 rows predicts them
    >>> left_out.shape
    (3,)
    """

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        kernel: Any = "linear",
        solver: Literal["auto", "direct", "cg"] = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Train on values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        return self._fit(X, y, None, sample_weight)

    def _compose(
        self, X: Any, kernel: Kernel, y: Array, queries: NDArray[np.int32] | None, weights: Array | None
    ) -> _Problem:
        if len(y) < 2:
            raise ValueError(f"RLS fits a mean and needs two rows at least, got n_samples = {len(y)}.")
        w = np.ones(len(y)) if weights is None else weights
        laplacian = all_pairs(np.zeros(len(y), np.int32), w)
        root = np.full(len(laplacian.strengths), 1 / np.sqrt(w.sum()))
        return self._make_problem(X, kernel, y, laplacian, root, None, np.ones(1), weights)


class RankRLS(LeastSquaresEstimator, Ranker):
    r"""Least-squares ranking in closed form, linear or with a kernel.

    Minimises the average squared error of differences plus a squared norm [1]_,

    .. math:: \frac{1}{N} \sum_{i, j} \big((y_i - y_j) - (f(x_i) - f(x_j))\big)^2 + \alpha \|f\|^2,

    over the pairs of rows of the same query. Pairs are never formed: all of them together are a matrix
    with a known spectrum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Weight of the squared norm against the AVERAGE loss. With a sum over pairs instead, as in [1]_, lambda is alpha
        times their number.
    kernel : str, Kernel or callable, default="linear"
        "linear", "gaussian", "polynomial", a kernel of :mod:`kernelrank.kernels`, a name that scikit-learn knows, a
        function, or "precomputed".
    ties : {"keep", "drop"}, default="keep"
        Whether pairs of rows with equal utilities count: they ask for equal scores. With "keep" the average is over
        all ordered pairs, a row with itself included, so that repeating rows and weighting them agree.
    cost : {"magnitude", "unit", "relative"}, default="magnitude"
        What a given pair of magnitude d asks for, eq. 20 to 22 of [1]_: a difference of d; of 1, whatever d is; of d,
        with an error that is divided by d, so that small differences keep their direction. Utilities have "magnitude".
    query_weighting : {"query", "pair"}, default="query"
        With "query" the loss is averaged inside each query, then over the queries that have a
        pair; with "pair" every pair counts the same.
    solver : {"auto", "direct", "cg"}, default="auto"
        "direct" solves the equations, and can take all the shortcuts. "cg" takes conjugate gradients, preconditioned by
        the diagonal, for sparse data with many rows and features: O(m s) a step, no shortcuts. "auto" takes them
        if the data are sparse and would be large as a dense matrix.
    tol : float, default=1e-6
        For "cg": residual to reach, relative to the right-hand side.
    max_iter : int, default=1000
        For "cg": steps at most.

    Attributes
    ----------
    coef_, dual_coef_, basis_, kernel_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`RLS`.
    intercept_ : float or ndarray of shape (n_outputs,)
        The level of one ranking, which makes its scores comparable with the utilities; 0 with queries.

    Notes
    -----
    The model refers to the training data, for its shortcuts, but does not pickle them. One fit takes a Cholesky factor;
    the shortcuts make one eigenvalue decomposition, which all of them share.

    References
    ----------
    .. [1] Pahikkala, Tsivtsivadze, Airola, Järvinen, Boberg: An efficient algorithm for learning to rank from
       preference graphs. Machine Learning 75 (2009).

    Examples
    --------
    The four points of section 5.1 of [1]_. Inside both queries the greater point is preferred, but the query of the
    smaller points has the higher utilities: with pairs across queries, the order is reversed.

    >>> from kernelrank import RankRLS
    >>> X, y, qid = [[2.0], [1.0], [-1.0], [-2.0]], [2, 1, 4, 3], [0, 0, 1, 1]
    >>> RankRLS().fit(X, y, qid=qid).rank(X, qid)
    array([1, 2, 1, 2])
    >>> RankRLS().fit(X, y).rank(X, qid)
    array([2, 1, 2, 1])
    """

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        kernel: Any = "linear",
        ties: Literal["keep", "drop"] = "keep",
        cost: Literal["magnitude", "unit", "relative"] = "magnitude",
        query_weighting: Literal["query", "pair"] = "query",
        solver: Literal["auto", "direct", "cg"] = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.ties = ties
        self.cost = cost
        self.query_weighting = query_weighting
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def fit(
        self, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Train on utilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A data-frame column named "qid" is taken as the query of each row.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Utilities, any finite numbers; higher is better. Several columns are learnt at once.
        qid : array-like of shape (n_samples,), optional
            Query of each row, in any order; only rows of the same query are compared.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. A pair weighs ``w[i] * w[j]``, as if row i were there w[i] times.

        Returns
        -------
        self
        """
        return self._fit(X, y, qid, sample_weight)

    def fit_pairs(
        self,
        X: Any,
        pairs: ArrayLike,
        *,
        magnitude: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Train on explicit preferences.

        Minimises the average of ``c * (z - (f(winner) - f(loser)))^2`` over the pairs, with z and c as `cost` says. One
        pass over the pairs takes O(n_pairs); a direct solution decomposes the graph of the pairs, O(m^3), or, with
        queries, the sum of their cubes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A data-frame column named "qid" is taken as the query of each row.
        pairs : array-like of shape (n_pairs, 2)
            Rows of X, ``[winner, loser]``; repeated and contradicting ones are fine.
        magnitude : array-like of shape (n_pairs,), optional
            By how much the winner is better, positive; 1 by default.
        weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.
        qid : array-like of shape (n_samples,), optional
            Query of each row of X. The loss is then averaged as `query_weighting` says, and a
            pair of rows of different queries is an error.

        Returns
        -------
        self

        Examples
        --------
        >>> from kernelrank import RankRLS
        >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]]
        >>> model = RankRLS().fit_pairs(X, pairs=[[1, 0], [2, 1]])  # 1 before 0, 2 before 1
        >>> model.rank(X)
        array([3, 2, 1])
        """
        X, qid, noted = self._check_rows(X, qid)
        self._check_choices()
        m = X.shape[0]
        queries, _ = encode_queries(qid, m)
        edges = np.asarray(pairs)
        given = PreferencePairs(edges, m, weight=weight, qid=queries)  # checks them
        sizes = _check_magnitudes(magnitude, len(edges))
        weights = np.ones(len(edges)) if weight is None else check_weights(weight, len(edges), "weight", of="pairs")
        assert weights is not None
        codes = np.zeros(m, np.int32) if queries is None else queries
        totals = np.asarray(given.pairs_per_query, dtype=np.float64)
        shares, scale = self._shares(totals)
        strengths = weights * scale[codes[edges[:, 0]]]
        target = np.ones(len(edges)) if self.cost == "unit" else sizes
        if self.cost == "relative":
            strengths = strengths / sizes**2
        graph = GraphLaplacian(edges[:, 0], edges[:, 1], strengths, m)
        pulls = graph.lift(strengths * target)[:, None]
        kernel = make_kernel(self.kernel).resolve(X)
        solver: LeastSquares | ConjugateGradients
        if self._wants_gradients(X, kernel):
            solver, y = self._iterate(X, graph, np.sqrt(strengths), pulls, queries), pulls
        else:
            _require_matrices(m, m, "The graph of the pairs as a dense matrix")
            dense = graph.diagonalise(codes)
            y = dense.solve(pulls)  # utilities that the pairs would follow from, as well as they can
            solver = self._decompose(X, kernel, dense, np.sqrt(dense.strengths), y, queries)
        # Pairs need not connect the rows of a query: its contrasts do not tell all its predictions.
        problem = _Problem(solver, y, queries, shares, "for given pairs", has_level=False)
        return self._train(X, kernel, problem, noted, True, qid is not None, None)

    def _check_choices(self) -> None:
        check_choices(
            self,
            ties=("keep", "drop"),
            cost=("magnitude", "unit", "relative"),
            query_weighting=("query", "pair"),
        )

    def _shares(self, totals: Array) -> tuple[Array, Array]:
        """Share of each query in the loss, and what a pair of it counts."""
        present = totals > 0
        shares = present / present.sum() if self.query_weighting == "query" else totals / totals.sum()
        return shares, np.divide(shares, totals, out=np.zeros_like(totals), where=present)

    def _compose(
        self, X: Any, kernel: Kernel, y: Array, queries: NDArray[np.int32] | None, weights: Array | None
    ) -> _Problem:
        self._check_choices()
        if self.cost != "magnitude":
            raise ValueError(f'cost="{self.cost}" is for fit_pairs; utilities have cost="magnitude".')
        m = len(y)
        w = np.ones(m) if weights is None else weights
        codes = np.zeros(m, np.int32) if queries is None else queries
        if self.ties == "drop":
            if y.shape[1] > 1:
                raise ValueError('ties="drop" leaves out other pairs for each output: fit them one by one.')
            laplacian = pairs_without_ties(codes, y[:, 0], w)
        else:
            laplacian = all_pairs(codes, w)
        if len(laplacian.strengths) == 0:
            raise NoComparablePairsError(f"There is no pair to learn from (n_samples = {m}).")
        shares, scale = self._shares(self._pairs_per_query(codes, y[:, 0], w))
        root = np.sqrt(laplacian.strengths * scale[laplacian.queries])
        return self._make_problem(X, kernel, y, laplacian, root, queries, shares, weights)

    def _pairs_per_query(self, codes: NDArray[np.int32], y: Array, w: Array) -> Array:
        """Count the pairs of each query, or their weight: half of all ordered pairs."""
        squares = np.bincount(codes, w) ** 2
        if self.ties == "drop":
            _, values = np.unique(y, return_inverse=True)
            classes = codes.astype(np.int64) * (values.max() + 1) + values
            _, first, members = np.unique(classes, return_index=True, return_inverse=True)
            squares = squares - np.bincount(codes[first], np.bincount(members, w) ** 2, len(squares))
        # A query of one row has no pair; that of a row with itself has no error.
        alone = np.bincount(codes, w > 0) < 2
        return np.where(alone, 0.0, squares / 2)

    def leave_pair_out(self, pairs: ArrayLike | None = None, *, alpha: float | None = None) -> Array:
        """Predict both rows of pairs as the model of all other rows would, without fitting it.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2), optional
            Numbers of rows. All pairs by default.
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        ndarray of shape (n_pairs, 2), or (n_samples, n_samples) for all pairs, and n_outputs if there are several
            For given pairs, the predictions of their two rows. For all pairs F, where ``F[i, j]`` is the prediction of
            row i when i and j are held out; its diagonal is NaN.

        Notes
        -----
        O(1) a pair after the decomposition [1]_, section 3.4; for one ranking whose ties are kept.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from kernelrank import RankRLS
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = RankRLS(kernel="gaussian").fit(X, y)
        >>> model.leave_pair_out([[0, 1], [7, 3]]).shape
        (2, 2)
        """
        problem, alpha = self._one_ranking("leave_pair_out"), self._alpha(alpha)
        ranking = self._decomposable(problem).one_ranking
        if pairs is None:
            found = ranking.all_pairs(alpha)
            return found[0] if self._single else np.moveaxis(found, 0, 2)
        numbers = _check_pairs(pairs, len(problem.y))
        predictions = ranking.pairs(numbers, alpha)
        return predictions[:, :, 0] if self._single else predictions

    def leave_pair_out_concordance(self, *, alpha: float | None = None) -> Any:
        """Share of pairs of different utilities that are in the right order when they are held out.

        An estimate of the concordance on new rows with next to no bias; of the area under the ROC curve, for two
        classes. In memory for some rows of F at a time.

        Parameters
        ----------
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        float, or ndarray of shape (n_outputs,)
            Ties count half.
        """
        problem, alpha = self._one_ranking("leave_pair_out_concordance"), self._alpha(alpha)
        found = self._decomposable(problem).one_ranking.concordance(alpha)
        return float(found[0]) if self._single else found

    def leave_query_out(self, *, alpha: float | None = None) -> Array:
        """Predict every row as the model of all other queries would, without fitting it.

        Parameters
        ----------
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        problem = self._unweighted_problem("leave_query_out")
        if problem.queries is None:
            raise ValueError("leave_query_out needs queries: fit with qid, or use leave_pair_out for one ranking.")
        remaining = 1.0 - problem.shares
        if (remaining <= 0).any():
            raise ValueError("leave_query_out needs two queries with pairs at least.")
        solver = self._decomposable(problem)
        holder = solver.whole_queries
        residuals, levels = holder.every_query(self._alpha(alpha) * remaining)
        predictions = solver.centred_predictions(holder.u - residuals) + levels[problem.queries]
        return predictions[:, 0] if self._single else predictions

    def hold_out(self, folds: Any, *, alpha: float | None = None) -> list[Array]:
        problem = self._problem()
        if self.ties == "drop" and problem.queries is None and problem.has_level:
            raise ValueError('hold_out has no closed form for one ranking with ties="drop": refit, or keep ties.')
        return super().hold_out(folds, alpha=alpha)

    hold_out.__doc__ = LeastSquaresEstimator.hold_out.__doc__

    def _one_ranking(self, method: str) -> _Problem:
        problem = self._unweighted_problem(method)
        if problem.queries is not None:
            raise ValueError(f"{method} is for one ranking; with queries, use leave_query_out.")
        if self.ties == "drop":
            raise ValueError(f'{method} has no closed form with ties="drop": keep ties, or refit.')
        if len(problem.y) < 4:
            raise ValueError(f"{method} needs four rows at least: two to learn from, and two to predict.")
        return problem

    def score(
        self, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Mean concordance over the queries, and over the outputs if there are several.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        qid : array-like of shape (n_samples,), optional
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        if self._single:
            return super().score(X, y, qid=qid, sample_weight=sample_weight)
        scores = self.predict(X)
        targets, _ = _check_targets(y, len(scores))
        columns = zip(targets.T, scores.T, strict=True)
        return float(np.mean([concordance_index(t, s, qid=qid, sample_weight=sample_weight) for t, s in columns]))


def _require_matrices(m: int, n: int, what: str) -> None:
    """Make sure that a matrix, its contrasts and what is decomposed fit into memory."""
    require_memory(
        8 * (2 * m * n + min(m, n) ** 2),
        f"{what} of shape {(m, n)}, with what is computed from it,",
        'Train on fewer rows; a linear kernel has solver="cg", which needs no such matrix.',
    )


def _check_targets(y: ArrayLike, m: int) -> tuple[Array, bool]:
    """Return y with a column an output, and whether it came as one vector."""
    y = np.asarray(y)
    if y.ndim < 2:
        return check_vector(y, "y", m)[:, None], True
    targets = check_array(y, dtype=np.float64, input_name="y")
    if len(targets) != m:
        raise ValueError(f"y has {len(targets)} rows, but there are {m} rows.")
    return targets, False


def _check_magnitudes(magnitude: ArrayLike | None, n_pairs: int) -> Array:
    if magnitude is None:
        return np.ones(n_pairs)
    sizes = check_vector(magnitude, "magnitude", n_pairs, of="pairs")
    if (sizes <= 0).any():
        raise ValueError("magnitude must be positive; exchange winner and loser instead of a sign.")
    return sizes


def _check_pairs(pairs: ArrayLike, m: int) -> NDArray[np.intp]:
    numbers = np.asarray(pairs)
    if numbers.ndim != 2 or numbers.shape[1] != 2 or numbers.dtype.kind not in "iu":
        raise ValueError(f"pairs must be numbers of rows, in two columns, got an array of shape {numbers.shape}.")
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < m):
        raise ValueError(f"pairs must lie between 0 and {m - 1}.")
    if (numbers[:, 0] == numbers[:, 1]).any():
        raise ValueError("A pair has two different rows.")
    return numbers.astype(np.intp)


def _as_rows(fold: Any, m: int) -> NDArray[np.intp]:
    rows: NDArray[np.intp] = np.arange(m)[np.asarray(fold)]
    return rows
