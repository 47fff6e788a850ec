"""The ranking support vector machine on Dask collections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

import kernelrank.estimators
from kernelrank._refit import refit
from kernelrank._rules import check_parameters
from kernelrank._threads import resolve_threads
from kernelrank._warnings import warn
from kernelrank.dask._collections import (
    CLIENT,
    COUNTING,
    OnCollections,
    noted,
    qid_of,
    refuse_censored,
    warn_of_query_columns,
)
from kernelrank.dask._data import parts_of
from kernelrank.dask._oracles import Counting, check_counting, gathered_oracle, pose, prepare_products, wants_bins
from kernelrank.dask._workers import choose_workers
from kernelrank.estimators._rank_svm import scaled_preferences
from kernelrank.estimators._svm_solver import convergence_message, reporting, solver_of
from kernelrank.exceptions import ConvergenceWarning
from kernelrank.kernels import Linear, make_kernel
from kernelrank.pairs._preferences import check_preferences
from kernelrank.solvers import ScoresTooFarApartError


class RankSVM(OnCollections, kernelrank.estimators.RankSVM):
    r"""Linear ranking support vector machine for Dask collections, with a certificate of its accuracy.

    Minimises the same objective as :class:`kernelrank.RankSVM`, with the same solver. The rows stay on the workers:
    each holds a part of them, computes products with it, and counts its pairs. What travels per iteration are vectors
    with one number per feature.

    Parameters
    ----------
    alpha : float, default=1e-3
        Weight of the squared norm, as in :class:`kernelrank.RankSVM`.
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
        Certified gap at which the fit stops, as in :class:`kernelrank.RankSVM`.
    max_iter : int, default=1000
        Largest number of iterations.
    warm_start : bool, default=False
        Start from the last solution, if it has as many features.
    n_jobs : int, default=None
        Threads in this process. A worker uses as many as Dask gives it.
    random_state : int, RandomState instance or None, default=0
        Not used.
    verbose : int or callable, default=0
        Progress to show, as in :class:`kernelrank.RankSVM`; 1 also prints how many rows were moved.
    counting : {"auto", "gather", "bins"}, default="auto"
        How pairs of one ranking, without queries, are counted across workers. "gather" collects the scores of all rows
        in the client, 8 bytes per row in each direction and iteration: exact. "bins" collects histograms of scores,
        whose size does not depend on the number of rows; the error is part of `gap_`. Rows go to workers by ranges of y
        first, unless there are at most 64 distinct values. "auto" gathers up to half a million rows, with the squared
        hinge, and where a few scores are so far from the others that bins would be too wide.
    client : distributed.Client, default=None
        By default the client that was made last in this process; if there is none, chunks are computed by Dask's local
        scheduler, and rows are held in this process.

    Attributes
    ----------
    communication_ : Communication
        Named tuple ``(rounds, messages, bytes_sent, bytes_received)`` of the client, for the fit.
    coef_ : ndarray of shape (n_features,)
        Weights of the features.
    objective_ : float
        Objective of the solution.
    gap_ : float
        Certificate: the objective exceeds the optimum by at most this.
    n_iter_ : int
        Iterations made.
    n_pairs_ : int, or float with weights
        Comparable pairs, or their total weight.
    history_ : structured ndarray of shape (n_iter,)
        Bounds and work of each iteration, as in :class:`kernelrank.RankSVM`.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    See Also
    --------
    kernelrank.RankSVM : For data in memory, and for files larger than memory (:class:`kernelrank.io.RowStore`).

    Notes
    -----
    Queries are never split: rows of a query that is in several parts move to the part that has most of them. Each
    worker has one part, made of consecutive chunks. The result is the same to the last bit for the same chunks and the
    same number of workers, and within `gap_` for others.

    If a worker is lost, Dask computes its rows again on another one, and the fit goes on. A worker that does not answer
    is given up after Dask's ``distributed.scheduler.worker-ttl``. The fit ends with an error if there is no worker for
    a minute, if the same step loses workers five times in a row, or if the connection to the scheduler is lost.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from kernelrank.dask import RankSVM
    >>> rng = np.random.default_rng(0)
    >>> X = da.from_array(rng.normal(size=(1000, 5)), chunks=(250, 5))
    >>> y = X[:, 0] + X[:, 1]
    >>> model = RankSVM(alpha=0.01).fit(X, y)
    >>> bool(model.gap_ <= 1e-3)
    True
    >>> model.predict(X)[:3].compute().shape
    (3,)
    >>> model.to_local()
    RankSVM(alpha=0.01)
    """

    _local = kernelrank.estimators.RankSVM
    _rules: ClassVar[dict[str, Any]] = {"client": CLIENT, "counting": COUNTING}

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        kernel: Any = "linear",
        n_basis: int | None = None,
        query_weighting: Literal["query", "pair"] = "query",
        positive: bool = False,
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: int | Callable[[Any], None] = 0,
        counting: Literal["auto", "gather", "bins"] = "auto",
        client: Any = None,
    ) -> None:
        super().__init__(
            alpha,
            loss=loss,
            kernel=kernel,
            n_basis=n_basis,
            query_weighting=query_weighting,
            positive=positive,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.counting = counting
        self.client = client

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        observed: ArrayLike | None = None,
    ) -> Self:
        """Train on utilities.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            With dense chunks, or chunks that are SciPy's sparse matrices. A data-frame column named "qid" is taken as
            the query of each row.
        y : array-like, dask array or column of shape (n_samples,)
            Utilities, any finite numbers; higher is better. Equal ones are not compared.
        qid : array-like, dask array or column of shape (n_samples,), optional
            Query of each row; only rows of the same query are compared.
        sample_weight : array-like, dask array or column of shape (n_samples,), optional
            Weights of the rows. A pair weighs ``w[i] * w[j]``.
        observed : None
            Censored utilities are for the ordinary estimator.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check()
        refuse_censored(observed)
        self._require_target(y)
        warn_of_query_columns(self, X, qid)
        threads = resolve_threads(self.n_jobs)

        def wants_ranges(n_rows: int) -> bool:
            return wants_bins(n_rows, self.counting, self.loss)

        workers = choose_workers(self.client, threads)
        with parts_of(workers, X, y, qid, sample_weight, user="RankSVM", wants_ranges=wants_ranges) as parts:
            if self.verbose and not callable(self.verbose):
                print(f"{parts.n_rows:,} rows in {parts.engine.n_parts} parts, {parts.moved:,} were moved", flush=True)

            def train(counting: Counting) -> None:
                posed = pose(parts, self.loss, self.query_weighting, counting, self.tol, threads)
                self._minimize(parts, posed.oracle, posed.n_pairs, parts.n_queries is not None)

            try:
                train(self.counting)
            except ScoresTooFarApartError:
                if self.counting == "bins":
                    raise
                train("gather")
        return self

    def fit_pairs(
        self, X: Any, pairs: ArrayLike, *, weight: ArrayLike | None = None, qid: ArrayLike | Any | None = None
    ) -> Self:
        """Train on explicit preferences, which are in this process; the scores of all rows are gathered.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            A data-frame column named "qid" is taken as the query of each row.
        pairs : array-like of shape (n_pairs, 2)
            Numbers of rows, ``[winner, loser]``, as in :meth:`kernelrank.RankSVM.fit_pairs`.
        weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.
        qid : array-like, dask array or column of shape (n_samples,), optional
            Query of each row, which is gathered. Rows stay where they are.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check()
        qid = qid_of(X, qid)
        [ids] = self._compute(qid=qid)
        rows = X if getattr(X, "columns", None) is None or qid is None else X.drop(columns="qid", errors="ignore")
        workers = choose_workers(self.client, resolve_threads(self.n_jobs))
        with parts_of(workers, rows, None, None, None, user="RankSVM") as parts:
            given = check_preferences(pairs, parts.n_rows, weight, ids)
            preferences, n_pairs = scaled_preferences(given, self.query_weighting)
            oracle = gathered_oracle(prepare_products(parts), preferences, self.loss, self.query_weighting)
            return self._minimize(parts, oracle, n_pairs, ids is not None)

    def _check(self) -> None:
        check_parameters(self, **self._rules)
        require_linear(self)
        check_counting(self.counting, self.loss)

    def _minimize(self, parts: Any, oracle: Any, n_pairs: int | float, with_queries: bool) -> Self:
        start = self._last_solution(oracle.n_features)
        solver = solver_of(oracle, positive=self.positive, start=start)
        with reporting(self.verbose) as report:
            result = solver.minimize(self.alpha, tol=self.tol, max_iter=self.max_iter, report=report)
        with refit(self) as fitted:
            fitted._store(
                result,
                noted(parts),
                {"coef_": result.w},
                history_=result.history,
                n_pairs_=n_pairs,
                communication_=parts.engine.communication,
                _fitted_with_queries=with_queries,
            )
        if not result.converged:
            warn(convergence_message(self.loss, self.tol, result), ConvergenceWarning)
        return self


def require_linear(estimator: Any) -> None:
    """Raise an error unless the kernel is linear."""
    if not isinstance(make_kernel(estimator.kernel), Linear) or estimator.n_basis is not None:
        raise ValueError(
            'kernelrank.dask has the linear kernel only: kernel="linear", n_basis=None. For others, make features'
            " first: fit kernelrank.NystromMap to some rows, and map its transform over the chunks of X."
        )
