"""Least-squares ranking on Dask collections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

import kernelrank.estimators
from kernelrank._refit import refit
from kernelrank._rules import POSITIVE, check_parameters
from kernelrank._validation import as_rows
from kernelrank.dask._chunks import is_collection
from kernelrank.dask._collections import CLIENT, OnCollections, noted, warn_of_query_columns
from kernelrank.dask._data import Parts, parts_of
from kernelrank.dask._engine import Communication
from kernelrank.dask._oracles import prepare_products
from kernelrank.dask._rank_svm import require_linear
from kernelrank.dask._squares import (
    SHARE_OF_A_ROW,
    SquaresLoss,
    merge,
    predict_numbers,
    predict_without_queries,
    sum_part,
)
from kernelrank.dask._workers import choose_workers
from kernelrank.estimators._least_squares import solvable, warn_of_residual
from kernelrank.estimators._ranker import Ranker
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.kernels import Linear
from kernelrank.losses import no_pairs
from kernelrank.solvers import ConjugateGradients
from kernelrank.solvers.least_squares import HeldOutMoments, Moments, check_once

Vector = NDArray[np.float64]

_MOST_FEATURES = 2000  # of which products of all pairs are summed up


class _Solution(NamedTuple):
    """Weights of the features of each output, (n, p), the level of each output, and the steps taken."""

    weights: Vector
    level: Vector
    n_iter: int
    communication: Communication


class RankRLS(OnCollections, Ranker):
    r"""Linear least-squares ranking for Dask collections.

    Minimises the same objective as :class:`kernelrank.RankRLS`.

    Parameters
    ----------
    alpha : float, default=1e-3
        Weight of the squared norm, as in :class:`kernelrank.RankRLS`.
    kernel : {"linear"}, default="linear"
        Other kernels need features first: map the chunks of X with :class:`kernelrank.NystromMap`.
    n_basis : int, default=None
        Must be None, since the kernel is linear.
    ties : {"keep", "drop"}, default="keep"
        Whether pairs of rows with equal utilities count, as in :class:`kernelrank.RankRLS`. One ranking, without
        queries, has "keep".
    cost : {"magnitude", "unit", "relative"}, default="magnitude"
        Target of a pair, as in :class:`kernelrank.RankRLS`. One ranking, without queries, has "magnitude".
    query_weighting : {"query", "pair"}, default="query"
        Whether every query or every pair counts the same, as in :class:`kernelrank.RankRLS`.
    solver : {"auto", "direct", "cg"}, default="auto"
        "direct" sums up products of features on the workers, along a tree, and solves n_features equations. "cg" uses
        conjugate gradients, whose steps take two products with the rows, and vectors of features travel. "auto"
        chooses "cg" for more than 2,000 features.
    tol : float, default=1e-6
        For "cg": residual to reach, relative to the right-hand side.
    max_iter : int, default=1000
        For "cg": largest number of steps.
    random_state : int, RandomState instance or None, default=0
        Not used.
    client : distributed.Client, default=None
        By default the client that was made last in this process; see :class:`~kernelrank.dask.RankSVM`.

    Attributes
    ----------
    communication_ : Communication
        Named tuple ``(rounds, messages, bytes_sent, bytes_received)`` of the client, for "cg". The sums of "direct" are
        tasks of Dask, of which the client gets the last one.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Weights of the features.
    intercept_ : float or ndarray of shape (n_outputs,)
        Makes the scores of one ranking comparable with the utilities; 0 with queries.
    kernel_ : Kernel
        The linear kernel.
    n_iter_ : int
        Steps of conjugate gradients; 1 for a direct solution.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    Notes
    -----
    "direct" squares the condition of the features, as :meth:`kernelrank.RankRLS.partial_fit` does. Held-out predictions
    load the rows again: a fitted model keeps the collections it was given, and nothing on the workers.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from kernelrank.dask import RankRLS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> y, qid = X[:, 0] + rng.normal(size=300), np.arange(300) // 10
    >>> model = RankRLS().fit(da.from_array(X, chunks=(100, 4)), y, qid=qid)
    >>> model.leave_query_out().shape
    (300,)
    """

    _local = kernelrank.estimators.RankRLS
    _rules: ClassVar[dict[str, Any]] = {"client": CLIENT}
    _single: bool
    _squares: SquaresLoss  # as it was fitted

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        kernel: Any = "linear",
        n_basis: int | None = None,
        ties: Literal["keep", "drop"] = "keep",
        cost: Literal["magnitude", "unit", "relative"] = "magnitude",
        query_weighting: Literal["query", "pair"] = "query",
        solver: Literal["auto", "direct", "cg"] = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        random_state: int | np.random.RandomState | None = 0,
        client: Any = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.n_basis = n_basis
        self.ties = ties
        self.cost = cost
        self.query_weighting = query_weighting
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.client = client

    def fit(self, X: Any, y: Any, *, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Train on utilities.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            A data-frame column named "qid" is taken as the query of each row.
        y : array-like, dask array or column of shape (n_samples,) or (n_samples, n_outputs)
            Utilities, any finite numbers; higher is better. Several columns are learnt at once.
        qid : array-like, dask array or column of shape (n_samples,), optional
            Query of each row; only rows of the same query are compared.
        sample_weight : array-like, dask array or column of shape (n_samples,), optional
            Weights of the rows. A pair weighs ``w[i] * w[j]``.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self, **self._rules)
        require_linear(self)
        self._require_target(y)
        warn_of_query_columns(self, X, qid)
        # What is in memory may be changed later.
        given = X, *(each if is_collection(each) else deepcopy(each) for each in (y, qid, sample_weight))
        single = getattr(y, "ndim", np.ndim(y)) < 2
        with self._parts(given) as parts, solvable(), np.errstate(over="ignore", invalid="ignore"):
            if parts.n_queries is None and parts.n_weighted < 2:
                raise NoComparablePairsError(no_pairs(parts.n_rows))
            by_gradients = self.solver == "cg" or (self.solver == "auto" and parts.n_columns > _MOST_FEATURES)
            found = (self._solve_by_gradients if by_gradients else self._solve_directly)(parts)
            if not np.isfinite(found.weights).all():
                raise np.linalg.LinAlgError
            with refit(self) as fitted:
                fitted.__dict__.update(
                    **noted(parts),
                    coef_=found.weights[:, 0] if single else found.weights.T.copy(),
                    intercept_=float(found.level[0]) if single else found.level,
                    kernel_=Linear(),
                    n_iter_=found.n_iter,
                    communication_=found.communication,
                    _single=single,
                    _squares=self._loss(parts),
                    _fitted_with_queries=parts.n_queries is not None,
                    _given=given,
                )
        return self

    def leave_query_out(self, *, alpha: float | None = None) -> Vector:
        """Predict every row as the model of all other queries would, without fitting it.

        Loads the rows again. O(n k min(n, k)) per query of k rows, on the workers.

        Parameters
        ----------
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Held-out predictions.
        """
        alpha = self._alpha(alpha)
        with self._parts_again("leave_query_out") as parts:
            loss, workers = self._squares, parts.workers
            held_out = workers.submit("decompose", HeldOutMoments, self._sum(parts, loss))
            found = workers.gather(
                [
                    workers.submit("predict", predict_without_queries, each, held_out, loss, alpha)
                    for each in parts.handles
                ]
            )
            return self._in_order(parts.rows, found)

    def hold_out(self, folds: Iterable[ArrayLike], *, alpha: float | None = None) -> list[Vector]:
        """Predict the rows of folds of whole queries as the model of the other queries would, without fitting it.

        Loads the rows again. The sums of each fold are subtracted from those of all rows.

        Parameters
        ----------
        folds : iterable of array-like
            Rows to hold out together, as numbers or masks; whole queries.
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        list of ndarray
            One per fold, in the order of its rows.
        """
        alpha = self._alpha(alpha)
        with self._parts_again("hold_out") as parts:
            numbers, loss, workers = [as_rows(fold, parts.n_rows) for fold in folds], self._squares, parts.workers
            for fold in numbers:
                check_once(fold)
            sums = workers.gather([self._sum(parts, loss), *(self._sum(parts, loss, fold) for fold in numbers)])
            found = []
            for fold, held_out in zip(numbers, sums[1:], strict=True):
                rest = sums[0].without(held_out)
                if rest.total <= 0:
                    raise ValueError("A fold must leave a query with a pair to learn from.")
                tasks = [
                    workers.submit("predict", predict_numbers, each, fold, rest.solve(alpha)) for each in parts.handles
                ]
                places, predicted = zip(*workers.gather(tasks), strict=True)
                found.append(self._in_order(places, predicted))
            return found

    def _parts(self, given: Sequence[Any]) -> Any:
        return parts_of(choose_workers(self.client, 1), *given, user="RankRLS", several=True)

    def _parts_again(self, method: str) -> Any:
        given = getattr(self, "_given", None)
        if given is None:
            raise ValueError(f"{method} needs the collections that the model was fitted to, which are not pickled.")
        if not self._fitted_with_queries:
            raise ValueError(f"{method} needs queries: fit with qid, or use kernelrank.RankRLS for data in memory.")
        if self._squares.cost == "relative":
            raise ValueError(f'{method} has no closed form with cost="relative": refit.')
        return self._parts(given)

    def _loss(self, parts: Parts) -> SquaresLoss:
        special = [f'ties="{self.ties}"'] if self.ties != "keep" else []
        special += [f'cost="{self.cost}"'] if self.cost != "magnitude" else []
        if special and parts.n_queries is None:
            raise ValueError(
                f"One ranking on Dask compares all rows alike, got {special[0]}: pass qid, or use kernelrank.RankRLS."
            )
        return SquaresLoss(self.ties, self.cost, self.query_weighting, parts.unit)

    def _sum(self, parts: Parts, loss: SquaresLoss, numbers: NDArray[np.intp] | None = None) -> Any:
        """Return a handle of the sums over rows, which are added up along a tree."""
        submit = parts.workers.submit
        sums = [submit("sum", sum_part, each, loss, numbers) for each in parts.handles]
        while len(sums) > 1:
            merged = [submit("merge", merge, *pair) for pair in zip(sums[::2], sums[1::2], strict=False)]
            sums = [*merged, *sums[2 * len(merged) :]]
        return sums[0]

    def _solve_directly(self, parts: Parts) -> _Solution:
        moments: Moments = parts.workers.gather([self._sum(parts, self._loss(parts))])[0]
        if moments.total <= 0:
            raise NoComparablePairsError(no_pairs(parts.n_rows))
        if not np.isfinite(moments.gram).all():
            raise np.linalg.LinAlgError
        weights = moments.solve(self.alpha)
        return _Solution(weights, moments.level(weights), 1, Communication())

    def _solve_by_gradients(self, parts: Parts) -> _Solution:
        prepare_products(parts)
        engine, queries = parts.engine, parts.n_queries is not None
        sums = engine.set_up([("prepare_squares", self._loss(parts))] * engine.n_parts)
        total = sum(each.total for each in sums)
        if total <= 0:
            raise NoComparablePairsError(no_pairs(parts.n_rows))
        engine.set_up([("normalise_squares", total)] * engine.n_parts)
        mean = np.zeros(parts.n_columns) if queries else _add([each.features for each in sums]) / total
        target = _add([each.targets for each in sums]) / total

        def multiply(v: Vector) -> Vector:
            return _add(engine.ask_all("multiply_squares_of_differences", v, float(mean @ v)))

        right = [_add(each) for each in zip(*engine.ask_all("pull", target), strict=True)]
        diagonal = _add(engine.ask_all("diagonal_of_squares"))
        if not queries:
            diagonal = np.maximum(diagonal - mean**2 / SHARE_OF_A_ROW, 0.0)
        gradients = ConjugateGradients.of_equations(multiply, right, diagonal)
        found = gradients.solve(self.alpha, tol=self.tol, max_iter=self.max_iter)
        warn_of_residual(found, self.tol)
        level = np.zeros(found.weights.shape[1])
        if not queries:
            level = target - SHARE_OF_A_ROW * _add(engine.ask_all("sum_scores", found.weights))
        return _Solution(found.weights, level, found.n_iter, engine.communication)

    def _alpha(self, alpha: float | None) -> float:
        value = self.alpha if alpha is None else alpha
        POSITIVE("alpha", value)
        return float(value)

    def _in_order(self, places: Sequence[NDArray[Any]], parts: Sequence[Vector]) -> Vector:
        """Return predictions in the order of their places."""
        values = np.concatenate(parts)[np.argsort(np.concatenate(places), kind="stable")]
        return values[:, 0] if self._single else values

    def _learnt(self) -> dict[str, Any]:
        return {name: value for name, value in super()._learnt().items() if name not in ("_given", "_squares")} | {
            "_training": None
        }

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the collections."""
        return {**super().__getstate__(), "_given": None}


def _add(vectors: Sequence[Vector]) -> Vector:
    return np.asarray(np.sum(np.stack(vectors), axis=0))
