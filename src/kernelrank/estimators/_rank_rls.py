"""Regularised least squares of differences between pairs."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, Self

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from kernelrank._arrays import Array
from kernelrank._fields import separate_observed
from kernelrank._query_ids import encode_queries
from kernelrank._validation import check_observed, check_rows, check_vector, count_rows, scale_weights
from kernelrank.estimators._hold_outs import HoldsOut
from kernelrank.estimators._least_squares import require_pairs, require_squares
from kernelrank.estimators._least_squares_model import LeastSquaresModel, TrainingData
from kernelrank.estimators._online import OnlineLeastSquares, takes_parts
from kernelrank.estimators._ranker import Ranker
from kernelrank.features import KroneckerRows
from kernelrank.losses import CensoredSquares, PairwiseSquares, squares_of_edges, squares_of_utilities
from kernelrank.pairs._preferences import check_preferences
from kernelrank.solvers.least_squares import NO_CLOSED_FORM, ClassesHoldOut, HoldOut, LeastSquares, RankingHoldOut


class RankingLeastSquares(HoldsOut, Ranker):
    """The loss of :class:`~kernelrank.RankRLS`, which ``RankRLSCV`` minimises as well."""

    ties: Literal["keep", "drop"]
    cost: Literal["magnitude", "unit", "relative"]
    query_weighting: Literal["query", "pair"]

    def _loss_function(self) -> Any:
        return partial(squares_of_utilities, ties=self.ties, cost=self.cost, query_weighting=self.query_weighting)

    def _special_parameter(self) -> str | None:
        if self.cost != "magnitude":
            return f'cost="{self.cost}"'
        return 'ties="drop"' if self.ties == "drop" else None

    def _has_level(self) -> bool:
        return self.cost == "magnitude"

    def _hold_out_of_ranking(self, problem: LeastSquares, data: TrainingData) -> HoldOut:
        if data.from_pairs:
            why = "of given pairs"
        elif data.weights is not None:
            why = "with sample_weight"
        elif self.cost != "magnitude":
            why = f"with {self._special_parameter()}"
        else:
            return ClassesHoldOut(problem) if self.ties == "drop" else RankingHoldOut(problem.held_out_pairs)
        return HoldOut(f"{NO_CLOSED_FORM} {why}: refit, or use sklearn.model_selection.")

    def leave_query_out(self, *, alpha: float | None = None) -> Array:
        """Predict every row as the model of all other queries would, without fitting it.

        Parameters
        ----------
        alpha : float, optional
            Another alpha than that of the fit.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions of a query that differ by no more than rounding errors, as those of equal rows do, are equal.
        """
        predictions: Array = self._leave_query_out(np.array([self._alpha(alpha)]))[0, ...]
        return predictions[:, 0] if self._single else predictions

    def _leave_query_out(self, alphas: Array) -> Array:
        """Predict for several alphas at once; shape (n_alphas, n_samples, n_outputs)."""
        model = self._fitted_model()
        return left_out_queries(model, alphas)


def left_out_queries(model: LeastSquaresModel, alphas: Array) -> Array:
    """Predict every row without its query; shape (n_alphas, n_samples, n_outputs)."""
    found = [each.tied(model.data.queries) for each in model.hold_out.queries(alphas)]
    return array_namespace(found[0]).stack(found)


class RankRLS(RankingLeastSquares, OnlineLeastSquares):
    r"""Least-squares ranking in closed form, linear or with a kernel.

    Minimises the average squared error of differences plus a squared norm [1]_,

    .. math:: \frac{1}{N} \sum_{i, j} \bigl((y_i - y_j) - (f(x_i) - f(x_j))\bigr)^2 + \alpha \|f\|^2,

    over the pairs of rows of the same query. Pairs are never formed: all of them together are a matrix
    with a known spectrum.

    Parameters
    ----------
    alpha : float, default=1e-3
        Weight of the squared norm relative to the AVERAGE loss. With a sum over pairs instead, as in [1]_, lambda is
        alpha times their number.
    kernel : str, Kernel or callable, default="linear"
        "linear", "gaussian", "polynomial", a kernel of :mod:`kernelrank.kernels`, a name that scikit-learn knows, a
        function, or "precomputed".
    n_basis : int, default=None
        Number of basis rows, drawn at random, whose kernels are combined ([1]_, section 3.5): O(m n_basis^2) time, and
        memory for m n_basis numbers. It approximates the model of all rows; when basis rows are held out, those left
        are used. None means all rows.
    ties : {"keep", "drop"}, default="keep"
        Whether pairs of rows with equal utilities count; their target is a difference of zero. With "keep" the average
        is over all ordered pairs, including those of a row with itself, so that repeating rows equals weighting them.
    cost : {"magnitude", "unit", "relative"}, default="magnitude"
        Target of a pair whose utilities differ by d, eq. 20 to 22 of [1]_: a difference of d; a difference of 1; or
        a difference of d with an error divided by d, so that small differences keep their direction. "relative" leaves
        out ties, and forms all pairs: O(m^2) of them, and O(m^3) time for their graph.
    query_weighting : {"query", "pair"}, default="query"
        With "query" the loss is averaged inside each query, then over the queries that have a
        pair; with "pair" every pair counts the same.
    solver : {"auto", "direct", "cg"}, default="auto"
        "direct" solves the equations, and allows all shortcuts. "cg" uses conjugate gradients, preconditioned by the
        diagonal, for sparse data with many rows and features: O(m s) per step, no shortcuts. "auto" chooses "cg" if the
        data are sparse and would be large as a dense matrix, for a :class:`kernelrank.relational.KroneckerRows`, and
        for censored utilities.
    tol : float, default=1e-6
        For "cg": residual to reach, relative to the right-hand side.
    max_iter : int, default=1000
        For "cg": largest number of steps.
    random_state : int, RandomState instance or None, default=0
        For the draw of `n_basis` rows.

    Attributes
    ----------
    intercept_ : float or ndarray of shape (n_outputs,)
        Makes the scores of one ranking comparable with the utilities; 0 with queries.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Weights of the features; linear kernel only.
    dual_coef_ : ndarray of shape (n_basis,) or (n_basis, n_outputs)
        Weights of the kernels of `basis_`; other kernels only.
    basis_ : {ndarray, sparse matrix} of shape (n_basis, n_features)
        The rows it was fitted to, or some of them.
    basis_indices_ : ndarray of shape (n_basis,)
        Which ones, if `n_basis` is given.
    kernel_ : Kernel
        With parameters that depended on the data resolved.
    n_iter_ : int
        Steps of conjugate gradients; 1 for a direct solution.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    Notes
    -----
    The model keeps the training data for held-out predictions, but does not pickle them. A fit computes a Cholesky
    factor; held-out predictions share one eigenvalue decomposition.

    Other array libraries are accepted as by :class:`~kernelrank.RLS`, but not by :meth:`fit_pairs`,
    ``cost="relative"``, or :meth:`leave_pair_out` with ``ties="drop"``, which are for NumPy.

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

    _rows_per_total = 0.5  # a pair for every two rows, as the average over pairs has it

    _unformed = (KroneckerRows,)

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

    __metadata_request__fit = {"qid": True, "observed": True}  # noqa: RUF012 - read by scikit-learn, never changed

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        observed: ArrayLike | None = None,
    ) -> Self:
        """Train on utilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or KroneckerRows
            A data-frame column named "qid" is taken as the query of each row.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Utilities, any finite numbers; higher is better. Several columns are learnt at once.
        qid : array-like of shape (n_samples,), optional
            Query of each row, in any order; only rows of the same query are compared.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. A pair weighs ``w[i] * w[j]``, as if row i were there w[i] times.
        observed : array-like of shape (n_samples,), optional
            False (or 0) where y is censored: the true utility is at least y. Such a row is comparable only as
            the better row, and the target of a pair is the difference of the given utilities, the least that it can be.
            y may also be a structured array or a data frame with a boolean and a numeric column. Linear kernel only.

        Returns
        -------
        self
            The fitted estimator.
        """
        y, observed = separate_observed(y, observed)
        seen = None if observed is None else check_observed(observed, count_rows(X))
        if seen is not None:
            return self._fit_censored(X, y, qid, sample_weight, seen)
        return self._fit(X, y, qid, sample_weight)

    def _fit_censored(
        self, X: Any, y: ArrayLike, qid: ArrayLike | None, sample_weight: ArrayLike | None, observed: ArrayLike
    ) -> Self:
        X, qid, noted = self._check_rows(X, qid)
        rows = check_rows(y, qid, sample_weight, X.shape[0], observed)
        require_squares(rows.y)
        scaled, unit = scale_weights(rows.weights)
        choices = {"ties": self.ties, "cost": self.cost, "query_weighting": self.query_weighting}
        loss = CensoredSquares(rows._replace(weights=scaled), **choices)
        # The level of the scores is that of the rows whose utilities are known.
        weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
        known = weights if rows.observed is None else weights * rows.observed
        data = TrainingData(rows.y[:, None], True, loss, None, rows.queries, None, known, unit, noted=noted)
        self._fit_one(X, data, _learnt_with=self._choices())
        loss.forget()
        return self

    @available_if(takes_parts)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add rows to the model, in closed form: the result is that of a fit to all rows so far.

        Sums over rows are kept, of n_features^2 numbers, and no rows: O(m n^2 + n^3) per call, whatever came before.
        With queries, pass whole ones: rows are compared with the other rows of their query. Without, rows join one
        ranking, in parts of any size.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to add.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their utilities.
        qid : array-like of shape (n_samples,), optional
            Query of each row; in all calls or in none.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. A pair weighs ``w[i] * w[j]``.

        Returns
        -------
        self
            The fitted estimator.

        Notes
        -----
        For the linear kernel, without `n_basis`. It can follow :meth:`fit` as well. Held-out predictions need the rows,
        and are not available afterwards. A pickle contains the sums.

        Examples
        --------
        >>> import numpy as np
        >>> from kernelrank import RankRLS
        >>> rng = np.random.default_rng(0)
        >>> X, y, qid = rng.normal(size=(60, 3)), rng.normal(size=60), np.arange(60) // 10
        >>> model = RankRLS().partial_fit(X[:30], y[:30], qid=qid[:30]).partial_fit(X[30:], y[30:], qid=qid[30:])
        >>> model = model.forget(X[:10], y[:10], qid=qid[:10])
        >>> bool(abs(model.coef_ - RankRLS().fit(X[10:], y[10:], qid=qid[10:]).coef_).max() < 1e-9)
        True
        """
        return self._change(X, y, qid, sample_weight, +1)

    @available_if(takes_parts)  # type: ignore[untyped-decorator]
    def forget(
        self, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Remove rows from the model, in closed form: the result is that of a fit to the others.

        Pass the rows again, since none are kept. They must be the same as were added; otherwise the result is the model
        of no data. Rounding errors of their size remain.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to remove.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their utilities, as they were added.
        qid : array-like of shape (n_samples,), optional
            Query of each row; in all calls or in none.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, as they were added.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._change(X, y, qid, sample_weight, -1)

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
            The fitted estimator.

        Examples
        --------
        >>> from kernelrank import RankRLS
        >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]]
        >>> model = RankRLS().fit_pairs(X, pairs=[[1, 0], [2, 1]])  # 1 before 0, 2 before 1
        >>> model.rank(X)
        array([3, 2, 1])
        """
        X, qid, noted = self._check_rows(X, qid)
        m = X.shape[0]
        queries, _ = encode_queries(qid, m)
        checked = check_preferences(pairs, m, weight, queries)
        edges, sizes = checked.pairs, _check_magnitudes(magnitude, len(checked.pairs))
        weights = np.ones(len(edges)) if checked.weights is None else checked.weights
        codes = np.zeros(m, np.int32) if queries is None else queries
        loss_of = partial(squares_of_edges, cost=self.cost, query_weighting=self.query_weighting)

        def part(rows: Any) -> PairwiseSquares:
            """Return the loss of the pairs with both rows among these."""
            numbers = np.full(m, -1)
            numbers[rows] = np.arange(m) if isinstance(rows, slice) else np.arange(len(rows))
            kept = (numbers[edges] >= 0).all(axis=1)
            _, renumbered = np.unique(codes[rows], return_inverse=True)
            winners, losers = numbers[edges[kept]].T
            return loss_of(winners, losers, sizes[kept], weights[kept], renumbered)

        loss, unknown = require_pairs(part(slice(None)), m), np.zeros((m, 1))
        data = TrainingData(unknown, True, loss, part, queries, from_pairs=True, noted=noted)
        return self._fit_one(X, data, _learnt_with=self._choices())


def _check_magnitudes(magnitude: ArrayLike | None, n_pairs: int) -> Array:
    if magnitude is None:
        return np.ones(n_pairs)
    sizes = check_vector(magnitude, "magnitude", n_pairs, of="pairs")
    if (sizes <= 0).any():
        raise ValueError("magnitude must be positive; exchange winner and loser instead of a sign.")
    return sizes
