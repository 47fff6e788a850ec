"""The ranking support vector machine that chooses its regularisation, on Dask collections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

import kernelrank.estimators
from kernelrank._rules import check_parameters
from kernelrank._threads import resolve_threads
from kernelrank._validation import check_rows, scale_weights
from kernelrank.dask._collections import CLIENT, OnCollections, noted, refuse_censored, warn_of_query_columns
from kernelrank.dask._data import Parts, parts_of
from kernelrank.dask._oracles import pose_queries, prepare_products
from kernelrank.dask._rank_svm import require_linear
from kernelrank.dask._workers import choose_workers
from kernelrank.estimators._cv_tasks import UtilityTask
from kernelrank.estimators._folds import make_folds
from kernelrank.estimators._rank_svm import total_weight
from kernelrank.estimators._representation import Representation
from kernelrank.estimators._svm_solver import LossName, QueryWeighting, Solver, solver_of
from kernelrank.metrics import RankingScorer
from kernelrank.solvers import Oracle

Vector = NDArray[np.float64]


@dataclass
class _FoldPairs:
    """Pairs that a fold is trained on, which are counted by the parts.

    Attributes
    ----------
    train : ndarray or None
        Whether each row is trained on; None means all.
    n_pairs : int or float
        Known when the parts have counted them.
    """

    train: NDArray[np.bool_] | None
    n_pairs: int | float = 0
    censored: ClassVar[bool] = False  # censored utilities are refused


@dataclass(frozen=True)
class _RowsInParts(Representation):
    """Rows in parts that no query crosses.

    Attributes
    ----------
    parts : Parts
    """

    parts: Parts = field(kw_only=True)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Numbers of the rows, part after part."""
        return np.concatenate(self.parts.rows)

    def oracle(self, pairs: Any, query_weighting: QueryWeighting, loss: LossName = "hinge") -> Oracle:
        """Return the risk of pairs that the parts count."""
        train = None
        if pairs.train is not None:
            cuts = np.cumsum(self.parts.engine.n_rows_of_parts)[:-1]
            train = np.split(pairs.train[self.order], cuts)
        posed = pose_queries(self.parts, loss, query_weighting, train)
        pairs.n_pairs = posed.n_pairs
        return posed.oracle

    def solver(self, pairs: Any, **options: Any) -> Solver:
        """Return the solver for pairs that the parts count."""
        loss, query_weighting = options.pop("loss"), options.pop("query_weighting")
        return solver_of(self.oracle(pairs, query_weighting, loss), **options)


class _TaskInParts(UtilityTask):
    """Cross-validation on utilities of rows in parts; folds and scores are computed in this process."""

    def __init__(self, in_parts: _RowsInParts, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._in_parts = in_parts

    def pairs(self, fold: int | None = None) -> Any:
        """Return the pairs that a fold is trained on, or all pairs."""
        return _FoldPairs(None if fold is None else self._folds[fold].train)

    def evaluate(self, fold: int, scores: Any) -> float:
        """Score what a fold holds out by the scores of all rows, which are gathered."""
        gathered = np.empty(len(self._rows.y))
        gathered[self._in_parts.order] = scores.collect()
        return super().evaluate(fold, gathered)


class RankSVMCV(OnCollections, kernelrank.estimators.RankSVMCV):
    r"""Ranking SVM for Dask collections that chooses `alpha` by cross-validation.

    The folds, the alphas and the scores are those of :class:`kernelrank.RankSVMCV`. Every fold is trained where the
    rows are: held-out rows take part in products, but in no pair.

    Parameters
    ----------
    alphas : int or array-like, default=20
        The minimum number of alphas, or the values themselves; see :class:`kernelrank.RankSVMCV`.
    cv : int, splitter or iterable of (train, test), default=5
        Folds, which never split a query; see :class:`kernelrank.RankSVMCV`.
    scoring : str, RankingScorer or callable, default=None
        Score by which alpha is chosen, as in :class:`kernelrank.RankSVMCV`. Concordance by default.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss of a pair, as in :class:`kernelrank.RankSVM`.
    kernel : {"linear"}, default="linear"
        Other kernels need features first: map the chunks of X with :class:`kernelrank.NystromMap`.
    n_basis : int, default=None
        Must be None, since the kernel is linear.
    query_weighting : {"query", "pair"}, default="query"
        Whether every query or every pair counts the same, as in :class:`kernelrank.RankSVM`.
    positive : bool, default=False
        Whether coefficients must not be negative.
    tol : float, default=1e-3
        Certified gap at which each fit stops, as in :class:`kernelrank.RankSVM`.
    max_iter : int, default=1000
        Largest number of iterations of each fit.
    n_jobs : int, default=None
        Threads in this process.
    random_state : int, RandomState instance or None, default=0
        For the shuffled ``KFold`` without queries.
    verbose : int or callable, default=0
        Progress to show, as in :class:`kernelrank.RankSVMCV`.
    client : distributed.Client, default=None
        By default the client that was made last in this process; see :class:`~kernelrank.dask.RankSVM`.

    Attributes
    ----------
    communication_ : Communication
        Named tuple ``(rounds, messages, bytes_sent, bytes_received)`` of the client, for all fits.
    alphas_ : ndarray of shape (n_alphas,)
        From the largest to the smallest.
    scores_ : ndarray of shape (n_alphas, n_folds)
        Concordance, or `scoring`, on the rows of each fold; NaN if it is not defined for them.
    alpha_ : float
        The alpha with the greatest mean score; the larger of equals.
    coef_path_ : ndarray of shape (n_alphas, n_features)
        Solutions for all rows.
    gaps_ : ndarray of shape (n_alphas,)
        Their certificates: each objective exceeds its optimum by at most this.
    coef_ : ndarray of shape (n_features,)
        Weights of the features for `alpha_`.
    objective_ : float
        Objective of the solution for `alpha_`.
    gap_ : float
        Its certificate.
    n_iter_ : int
        Iterations made for it.
    n_pairs_ : int, or float with weights
        Comparable pairs of all rows, or their total weight.

    Notes
    -----
    Utilities, query ids and weights of all rows are in this process as well, for the folds and the scores: about 50
    bytes per row. So are the scores of held-out rows, once per fit. Without queries the scores of all rows are gathered
    in every iteration, as with ``counting="gather"`` of :class:`~kernelrank.dask.RankSVM`.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from kernelrank.dask import RankSVMCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> y, qid = X[:, 0] + rng.normal(size=300), np.arange(300) // 10
    >>> model = RankSVMCV(alphas=5).fit(da.from_array(X, chunks=(100, 4)), y, qid=qid)
    >>> model.scores_.shape[1]
    5
    """

    _local = kernelrank.estimators.RankSVMCV
    _rules: ClassVar[dict[str, Any]] = {"client": CLIENT}

    def __init__(
        self,
        alphas: int | ArrayLike = 20,
        *,
        cv: Any = 5,
        scoring: str | RankingScorer | Callable[..., float] | None = None,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        kernel: Any = "linear",
        n_basis: int | None = None,
        query_weighting: Literal["query", "pair"] = "query",
        positive: bool = False,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: int | Callable[[int, int], None] = 0,
        client: Any = None,
    ) -> None:
        super().__init__(
            alphas,
            cv=cv,
            scoring=scoring,
            loss=loss,
            kernel=kernel,
            n_basis=n_basis,
            query_weighting=query_weighting,
            positive=positive,
            tol=tol,
            max_iter=max_iter,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.client = client

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        observed: ArrayLike | None = None,
    ) -> Self:
        """Choose alpha by cross-validation, and train with it on all rows.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            A data-frame column named "qid" is taken as the query of each row.
        y : array-like, dask array or column of shape (n_samples,)
            Utilities, any finite numbers; higher is better. Equal ones are not compared.
        qid : array-like, dask array or column of shape (n_samples,), optional
            Query of each row; only rows of the same query are compared.
        groups : array-like, dask array or column of shape (n_samples,), optional
            Groups that the folds must not split, if these are not the queries.
        sample_weight : array-like, dask array or column of shape (n_samples,), optional
            Weights of the rows, in training and in the scores.
        observed : None
            Censored utilities are for the ordinary estimator.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_parameters(self, **self._rules)
        refuse_censored(observed)
        require_linear(self)
        scorer = self._scorer()  # a name that is wrong is wrong now
        self._require_target(y)
        warn_of_query_columns(self, X, qid)
        workers = choose_workers(self.client, resolve_threads(self.n_jobs))
        with parts_of(workers, X, y, qid, sample_weight, user="RankSVMCV") as parts:
            utilities, ids, weights = parts.gather_rows()
            [groups] = self._compute(groups=groups)
            rows = check_rows(utilities, ids, weights, parts.n_rows)
            folds = make_folds(self.cv, rows.y, rows.queries, ids if groups is None else groups, self.random_state)
            scaled, unit = scale_weights(rows.weights, rows.queries if self.query_weighting == "query" else None)
            training = rows._replace(weights=scaled)
            if parts.n_queries is None:
                task = UtilityTask(training, rows.weights, folds, scorer, self.n_jobs)
                total = None if scaled is None else partial(total_weight, unit=unit, power=2)
                self._choose(Representation(prepare_products(parts)), task, noted(parts), total)
            else:
                in_parts = _RowsInParts(prepare_products(parts), parts=parts)
                task = _TaskInParts(in_parts, training, rows.weights, folds, scorer, self.n_jobs)
                self._choose(in_parts, task, noted(parts), None)
            self.communication_ = parts.engine.communication
            return self

    def _represent(self, X: Any, queries: Any = None, chosen: Any = None) -> Any:
        """Return the rows, which are represented already."""
        return X

    def fit_pairs(self, X: Any, pairs: ArrayLike, **options: Any) -> Self:
        """Raise an error: preferences are for `RankSVM`, or for data in memory.

        Parameters
        ----------
        X, pairs : object
            Not used.
        **options : dict
            Not used.

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError(
            "kernelrank.dask.RankSVMCV takes utilities only. For preferences, use kernelrank.dask.RankSVM.fit_pairs, or"
            " kernelrank.RankSVMCV with data in memory."
        )
