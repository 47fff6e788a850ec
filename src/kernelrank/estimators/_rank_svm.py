"""The ranking support vector machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._arrays import to_host
from kernelrank._query_ids import encode_queries
from kernelrank._refit import refit
from kernelrank._unformed import refuse
from kernelrank._validation import CheckedRows, check_rows, refuse_arrays, require_beside, scale_weights
from kernelrank._warnings import warn
from kernelrank.estimators._parameters import require_linear_if_positive
from kernelrank.estimators._ranker import SVMRanker
from kernelrank.estimators._stored_rows import with_labels, with_queries
from kernelrank.estimators._svm_solver import convergence_message, reporting
from kernelrank.exceptions import ConvergenceWarning
from kernelrank.features import KroneckerRows
from kernelrank.io import RowStore
from kernelrank.pairs import Pairs, PreferencePairs, UtilityPairs
from kernelrank.pairs._array_pairs import ArrayPairs, pairs_beside
from kernelrank.pairs._preferences import CheckedPreferences, check_preferences


class RankSVM(SVMRanker):
    r"""Ranking support vector machine, linear or with a kernel, with a certificate of its accuracy.

    Minimises the average pairwise loss and a squared norm,

    .. math:: J(w) = \frac{1}{N} \sum_{y_i < y_j} \ell(1 + w \cdot x_i - w \cdot x_j) + \alpha \|w\|^2,

    over the N pairs of rows (of the same query, if there are queries) with different utilities,
    with the hinge :math:`\ell(z) = \max(0, z)` or its square. Pairs are counted, never formed:
    a pass over the data takes O(m s + m log m) time for m rows of s non-zero features, whatever
    the utilities; some of them may be censored. :meth:`fit_pairs` learns from explicit preferences instead. With a
    kernel, w stands for a function of the kernel's space, and w . x for its value at x.

    Parameters
    ----------
    alpha : float, default=1e-3
        Weight of the squared norm against the AVERAGE loss; it keeps its meaning when rows are
        added. A sum over pairs ``C * sum(loss) + 1/2 ||w||^2`` has ``alpha = 1 / (2 * C * N)``;
        SVM^rank's ``-c C -l 2`` has ``alpha = 1 / (2 * C)``, if every query has a pair to order. The
        swapped-pairs SVM [3]_, ``1/2 ||w||^2 + C xi``, has ``alpha = 1 / (8 * C * N)`` and half the solution.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "hinge" is minimised by cutting planes [1]_ with a line search, "squared_hinge" by a
        truncated Newton method [2]_. The second punishes large violations more.
    kernel : str, Kernel or callable, default="linear"
        "linear", "gaussian", "polynomial", a kernel of :mod:`kernelrank.kernels`, a name that scikit-learn knows, a
        function, or "precomputed".
    n_basis : int, default=None
        Learn a combination of so many rows' kernels, drawn at random: O(m n_basis^2), and memory for m n_basis numbers.
        None means all rows, which is exact: O(m^2) per iteration, and memory for m^2 numbers. A linear kernel has no
        use for it.
    query_weighting : {"query", "pair"}, default="query"
        With "query" the loss is averaged inside each query, then over the queries that have a
        comparable pair; with "pair" every comparable pair counts the same.
    positive : bool, default=False
        Allow no negative coefficients: the score then never falls when a feature grows. Linear kernel only.
    tol : float, default=1e-3
        Stop at a certified gap of ``tol``, relative to the objective of ``w = 0``, which is 1. Where the objective is
        below 0.1, stop at ``10 * tol * max(objective, 0.01)``: by default, an objective above 0.01 is then within 1 %
        of the optimum. With the squared hinge, the norm of the gradient relative to that of ``w = 0`` must be at most
        ``tol`` as well.
    max_iter : int, default=1000
        Iterations at most. One of the hinge has two products with X, one of the squared hinge
        as many as its inner conjugate gradients take.
    warm_start : bool, default=False
        Start from the last solution, if it has as many features. Linear kernel only.
    n_jobs : int, default=None
        Threads, as in scikit-learn: None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=0
        For the draw of `n_basis` rows.
    verbose : int or callable, default=0
        1 prints a line for the kernel matrix, and one per iteration: objective, lower bound, gap and the gap to reach.
        In a notebook, the latter is one line with a bar, which is overwritten. A function is called with each record of
        `history_` instead.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features; linear kernel only.
    dual_coef_ : ndarray of shape (n_basis,)
        Weights of the kernels of `basis_`; other kernels only.
    basis_ : {ndarray, sparse matrix} of shape (n_basis, n_features)
        The rows it was fitted to, or some of them.
    basis_indices_ : ndarray of shape (n_basis,)
        Which ones, if `n_basis` is given.
    kernel_ : Kernel
        With parameters that depended on the data resolved; not for the linear kernel.
    objective_ : float
        J of the solution.
    gap_ : float
        Certificate: it exceeds the optimum by at most this. For the squared hinge it is
        ``||gradient||^2 / (4 alpha)`` or less: a bound for strongly convex functions, and loose.
        With a kernel, a bound on the effect of the rounding of the kernel matrix is part of it.
    n_iter_ : int
        Iterations made.
    n_pairs_ : int, or float with sample_weight
        Comparable pairs N, or their total weight.
    history_ : structured ndarray of shape (n_iter,)
        ``upper_bound, lower_bound, seconds, n_products, n_evaluations, goal`` of each iteration. The gap is
        ``upper_bound - lower_bound``, never negative, and ``goal`` is the gap at which `tol` says to stop.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    See Also
    --------
    kernelrank.RankSVMCV : Chooses alpha by cross-validation.
    kernelrank.metrics.concordance_index : What `score` returns, for any scores.
    kernelrank.pairs.weigh_clicks : Rows and weights for training on clicks.
    kernelrank.plots.ConvergenceDisplay : Plots `history_`.

    Notes
    -----
    Memory beyond X: about 100 bytes per row (150 with queries and weights), and vectors of features:
    one per cutting plane (at most 200, with room for twice as many as there are), or two per step of
    conjugate gradients (at most 30 steps, or 8 with more than 10,000 features), and about twenty
    others. Rows of a :class:`kernelrank.io.RowStore` with the hinge: at most 200 MB and 64 bytes per row.
    X may be dense or CSR/CSC, float64 or float32, and is not copied, with two exceptions. A sparse X with stored
    zeros, or with indices that are repeated or not sorted, is copied. A feature far from zero compared with its spread
    is shifted: offsets carry no information here, but would cost digits. Such a sparse matrix gets a second array of
    values.
    With scikit-learn's ``array_api_dispatch``, a dense X of another array library (PyTorch, CuPy) is learnt from in
    its namespace and on its device. y may be there as well; `fit_pairs` and kernels of all rows are for NumPy.
    A dense X with at most 500 rows and at least ten times as many features is replaced by the inner products of its
    rows: O(n_features m^2) once, then O(m^2) per iteration. With `positive`, these are taken over the features with
    positive weight. An iteration is then a set of such features, of which there are few; `max_iter` bounds these, and
    the iterations of the solver for each of them.

    References
    ----------
    .. [1] Airola, Pahikkala, Salakoski: Training linear ranking SVMs in linearithmic time
       using red-black trees. Pattern Recognition Letters 32 (2011).
    .. [2] Lee, Lin: Large-scale linear RankSVM. Neural Computation 26 (2014).
    .. [3] Díez, del Coz, Bahamonde: A support vector method for ranking minimizing the number of swapped pairs (2006).

    Examples
    --------
    >>> from kernelrank import RankSVM
    >>> X = [[1, 0], [2, 1], [3, 1], [4, 0]]
    >>> model = RankSVM(alpha=1e-3).fit(X, y=[0, 1, 2, 3])
    >>> model.rank(X)
    array([4, 3, 2, 1])
    >>> model.gap_ <= model.tol
    True
    """

    __metadata_request__fit = {"qid": True, "observed": True}  # noqa: RUF012 - read by scikit-learn, never changed

    _any_namespace = True
    _unformed = (RowStore, KroneckerRows)

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
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.kernel = kernel
        self.n_basis = n_basis
        self.query_weighting = query_weighting
        self.positive = positive
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        observed: ArrayLike | None = None,
    ) -> Self:
        """Train on utilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), RowStore or KroneckerRows
            A data-frame column named "qid" is taken as the query of each row. A :class:`kernelrank.io.RowStore` has
            rows that do not fit into memory, with their utilities and queries; a product with X then reads all files
            once. :class:`kernelrank.relational.KroneckerRows` has rows that are pairs of things, and are never formed.
        y : array-like of shape (n_samples,)
            Utilities, any finite numbers; higher is better. Equal ones are not compared. Not with a store.
        qid : array-like of shape (n_samples,), optional
            Query of each row, in any order; only rows of the same query are compared.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. A pair weighs ``w[i] * w[j]``, as if row i were there w[i] times.
        observed : array-like of shape (n_samples,), optional
            False (or 0) where y is censored: the true utility is at least y. Such a row is comparable only as
            the better row. y may also be a structured array or a data frame with a boolean and a numeric column.

        Returns
        -------
        self
            The fitted estimator.
        """
        y, qid = with_labels(X, y, qid)
        X, qid, noted = self._check_rows(X, qid)
        self._require_target(y)
        require_beside(X, y, "X and y")
        rows = check_rows(y, qid, sample_weight, X.shape[0], observed)
        del y  # those of a store were read for the pairs only
        pairs, n_pairs = self._pairs_of(rows, X)
        queries = rows.queries
        del rows, qid
        return self._train(X, pairs, queries, noted, n_pairs_=n_pairs)

    def _pairs_of(self, rows: CheckedRows, X: Any) -> tuple[UtilityPairs | ArrayPairs, int | float]:
        """Return the pairs of rows, counted where X is, and their number or total weight."""
        # With query_weighting="query", multiplying all weights of a query by a constant changes nothing.
        weights, unit = scale_weights(rows.weights, rows.queries if self.query_weighting == "query" else None)
        pairs = pairs_beside(X, rows._replace(weights=weights), self.n_jobs)
        return pairs, pairs.n_pairs if weights is None else total_weight(pairs.pairs_per_query, unit, power=2)

    def fit_pairs(
        self, X: Any, pairs: ArrayLike, *, weight: ArrayLike | None = None, qid: ArrayLike | None = None
    ) -> Self:
        """Train on explicit preferences.

        Minimises the same objective over these pairs. They are never expanded into differences
        of features: a pass takes O(m s + n_pairs) time.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or KroneckerRows
            A data-frame column named "qid" is taken as the query of each row.
        pairs : array-like of shape (n_pairs, 2)
            Rows of X, ``[winner, loser]``: the first should get the higher score. A pair that
            is there twice counts twice; pairs may contradict each other.
        weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.
        qid : array-like of shape (n_samples,), optional
            Query of each row of X. The loss is then averaged as `query_weighting` says, and a
            pair of rows of different queries is an error.

        Returns
        -------
        self
            The fitted estimator.

        Examples
        --------
        >>> from kernelrank import RankSVM
        >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]]
        >>> model = RankSVM().fit_pairs(X, pairs=[[1, 0], [2, 1]])  # 1 before 0, 2 before 1
        >>> model.rank(X)
        array([3, 2, 1])
        """
        if isinstance(X, RowStore):  # it has utilities, and queries that pairs might not respect
            refuse(X)
        X, qid, noted = self._check_rows(X, qid)
        refuse_arrays(X, "fit_pairs")
        queries, _ = encode_queries(qid, X.shape[0])
        given = check_preferences(pairs, X.shape[0], weight, queries)
        preferences, n_pairs = scaled_preferences(given, self.query_weighting)
        return self._train(X, preferences, queries, noted, n_pairs_=n_pairs)

    def rank(self, X: Any, qid: ArrayLike | None = None) -> NDArray[np.int64]:
        """Return the rank of every row in its query: 1 is the best, and equal scores share the better rank.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), RowStore or KroneckerRows
            Rows to rank.
        qid : array-like of shape (n_samples,), optional
            Query of each row; a data-frame column named "qid" can be used instead, and a store has its own.

        Returns
        -------
        ndarray of shape (n_samples,)
            Ranks of the rows, as integers.

        Warns
        -----
        MissingQueryWarning
            If the model was fitted with queries, and there are none: all rows are then ranked as one query.
        """
        return super().rank(X, with_queries(X, qid))

    def score(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        observed: ArrayLike | None = None,
    ) -> float:
        """Return the mean concordance over queries.

        See :func:`kernelrank.metrics.concordance_index`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), RowStore or KroneckerRows
            Rows to score.
        y : array-like of shape (n_samples,)
            True utilities. Not with a store, which has its own.
        qid : array-like of shape (n_samples,), optional
            Query of each row; a data-frame column named "qid" can be used instead, and a store has its own.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. A pair weighs ``w[i] * w[j]``.
        observed : array-like of shape (n_samples,), optional
            False where y is censored, as in `fit`.

        Returns
        -------
        float
            Share of pairs in the right order, between 0 and 1; ties count half.

        Warns
        -----
        UndefinedQueryWarning
            If some queries have no two different values of y: the mean is over the others.
        """
        y, qid = with_labels(X, y, qid)
        self._require_target(y)
        assert y is not None
        return super().score(X, y, qid=qid, sample_weight=sample_weight, observed=observed)

    def _train(
        self, X: Any, pairs: Pairs, queries: NDArray[np.int32] | None, noted: dict[str, Any], **attributes: Any
    ) -> Self:
        require_linear_if_positive(self)
        representation = self._represent(X, queries)
        solver = representation.solver(
            pairs,
            loss=self.loss,
            query_weighting=self.query_weighting,
            positive=self.positive,
            start=self._last_solution(X.shape[1]) if representation.kernel is None else None,
            compact=isinstance(X, RowStore),
        )
        with reporting(self.verbose) as report:
            result = solver.minimize(self.alpha, tol=self.tol, max_iter=self.max_iter, report=report)
        with refit(self) as fitted:
            fitted._store(
                result,
                noted,
                representation.attributes(X, result.w),
                history_=result.history,
                _fitted_with_queries=queries is not None,
                _fitted_with_censored=pairs.censored,
                **attributes,
            )
        if not result.converged:
            warn(convergence_message(self.loss, self.tol, result), ConvergenceWarning)
        return self

    def _last_solution(self, n_features: int) -> NDArray[np.float64] | None:
        last = to_host(getattr(self, "coef_", None))
        return last if self.warm_start and last is not None and len(last) == n_features else None


def scaled_preferences(given: CheckedPreferences, query_weighting: str) -> tuple[PreferencePairs, int | float]:
    """Return preferences whose weights are scaled so that nothing overflows, and the total weight that was given."""
    weights, unit = scale_weights(given.weights, given.queries if query_weighting == "query" else None)
    preferences = PreferencePairs.of_checked(given._replace(weights=weights))
    return preferences, preferences.n_pairs if weights is None else total_weight(preferences.pairs_per_query, unit)


def total_weight(per_query: NDArray[Any], unit: Any, power: int = 1) -> float:
    """Return the weight of all pairs, from that of each query in units of its own, or in a common one."""
    units = np.full(len(per_query), unit) if np.ndim(unit) == 0 else unit
    with np.errstate(over="ignore"):  # infinity says it
        for _ in range(power):
            per_query = per_query[: len(units)] * units  # queries beyond have no pair
        return float(per_query.sum())
