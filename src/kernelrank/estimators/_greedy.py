"""Sparse linear models: greedy selection of features by the held-out error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from kernelrank._dense import multiply
from kernelrank._memory import require_memory
from kernelrank._query_ids import encode_queries
from kernelrank._refit import refit
from kernelrank._validation import separate_qid
from kernelrank._warnings import warn
from kernelrank.estimators._folds import make_folds
from kernelrank.estimators._least_squares import check_targets
from kernelrank.estimators._rank_rls import RankRLS
from kernelrank.estimators._ranker import Predictor, Ranker
from kernelrank.estimators._rls import RLS
from kernelrank.exceptions import MissingQueryWarning, NoComparablePairsError
from kernelrank.solvers import GreedySelection, panel_width

Array = NDArray[np.float64]
Codes = NDArray[np.int32]

_FOLDS = 10


class _HoldOut(NamedTuple):
    """Blocks of rows that are held out, and their weights in the loss and in the criterion."""

    blocks: NDArray[np.integer[Any]]  # block of each row; rows of a block are held out together
    shares: Array  # share of each block in the loss
    root: Array  # square root of the weight of each row's squared error in the loss
    weights: Array  # weight of each block's sum of squares, times root, in the criterion
    centre: bool = False  # whether the error of a block is that of its pairs, although its mean is predicted as well


class _GreedySelector(SelectorMixin, Predictor):  # type: ignore[misc]
    """Base class for greedy selection with a linear model; a subclass says what is held out."""

    n_features: int | None
    alpha: float
    verbose: int | Callable[[int, int], None]
    coef_: Array
    intercept_: float | Array
    support_: NDArray[np.bool_]
    _single: bool
    _fitted_with_queries: bool

    def _fit(self, X: Any, y: ArrayLike, qid: ArrayLike | None) -> Self:
        X, qid, noted = self._check_rows(X, qid)
        self._require_target(y)
        m, n = X.shape
        targets, single = check_targets(y, m)
        queries, _ = encode_queries(qid, m)
        if self.n_features is not None and self.n_features > n:
            raise ValueError(f"n_features is {self.n_features}, but X has {n} features.")
        held_out = self._hold_out(targets, queries)
        selected, errors = _select(X, targets, queries, held_out, float(self.alpha), self.n_features, self._tell)
        final = self._refit(X[:, selected], targets[:, 0] if single else targets, queries)
        with refit(self) as fitted:
            fitted.__dict__.update(noted, selected_=selected, errors_=errors)
            fitted.support_ = np.zeros(n, dtype=bool)
            fitted.support_[selected] = True
            fitted.coef_ = np.zeros((*final.coef_.shape[:-1], n))
            fitted.coef_[..., selected] = final.coef_
            fitted.intercept_ = final.intercept_
            fitted._single, fitted._fitted_with_queries = single, queries is not None
        return self

    def _tell(self, done: int, total: int, feature: int, error: float) -> None:
        if callable(self.verbose):
            self.verbose(done, total)
        elif self.verbose:
            print(f"{done} of {total}: feature {feature}, held-out error {error:.6g}", flush=True)

    def _hold_out(self, y: Array, queries: Codes | None) -> _HoldOut:
        raise NotImplementedError

    def _refit(self, X: Any, y: Array, queries: Codes | None) -> RLS | RankRLS:
        raise NotImplementedError

    def _evaluate(self, X: Any) -> Array:
        return np.asarray(multiply(X, self.coef_ if self._single else self.coef_.T)) + self.intercept_

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def transform(self, X: Any) -> Any:
        """Return the selected features of X, in their order in X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A data-frame column named "qid" is left out, with a warning.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_selected)
            Columns of X, of its kind.
        """
        X, qid = separate_qid(X, None)
        if qid is not None:
            warn(
                "transform drops the column qid, so that later steps compare rows of different queries. In a pipeline,"
                " enable metadata routing and pass qid to fit and score.",
                MissingQueryWarning,
            )
        return super().transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class GreedyRLS(RegressorMixin, _GreedySelector):  # type: ignore[misc]
    r"""Linear regularised least squares with features selected greedily by the leave-one-out error.

    The selection starts without features. Each step adds the feature that minimises the leave-one-out mean squared
    error [1]_. The error of every candidate is exact, the same as that of refitting :class:`~kernelrank.RLS` with the
    same alpha without each row, but nothing is refitted.

    Parameters
    ----------
    n_features : int, default=None
        Number of features to select. None means as long as the error decreases, and at least one.
    alpha : float, default=1e-3
        Weight of the squared norm against the MEAN squared error, as in :class:`~kernelrank.RLS`.
    verbose : int or callable, default=0
        1 prints a line per selected feature. A function is called after each selection instead, with how many of how
        many are done.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Selected features, in the order of selection. Of equally good ones, the first in X is selected.
    errors_ : ndarray of shape (n_selected,)
        Leave-one-out mean squared error after each selection, summed over the outputs.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Coefficients of :class:`~kernelrank.RLS` fitted to the selected features; zero elsewhere.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant of that model, per output.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    Notes
    -----
    Selecting k of n features takes O(k m n) time for m rows, and memory for three dense copies of X. The errors of the
    selected features are optimistic, because they were used for the selection: estimate the error of the final model on
    other rows.

    References
    ----------
    .. [1] Pahikkala, Airola, Salakoski: Speeding up greedy forward selection for regularized least-squares. ICMLA
       2010.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import GreedyRLS
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GreedyRLS(3, alpha=1e-5).fit(X, y)
    >>> X.columns[model.selected_].tolist()
    ['bmi', 's5', 'bp']
    >>> model.errors_.round()
    array([3923., 3248., 3139.])
    >>> model.transform(X).shape
    (442, 3)
    """

    def __init__(
        self,
        n_features: int | None = None,
        *,
        alpha: float = 1e-3,
        verbose: int | Callable[[int, int], None] = 0,
    ) -> None:
        self.n_features = n_features
        self.alpha = alpha
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Select features, and fit a model to them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Sparse matrices are converted to dense ones.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The outputs share the selected features.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, None)

    def _hold_out(self, y: Array, queries: Codes | None) -> _HoldOut:
        m = len(y)
        if m < 3:
            raise ValueError(f"Leave-one-out needs at least three rows, got n_samples = {m}.")
        return _HoldOut(np.arange(m), np.full(m, 1 / m), np.full(m, np.sqrt(1 / m)), np.ones(m))

    def _refit(self, X: Any, y: Array, queries: Codes | None) -> RLS:
        return RLS(self.alpha, solver="direct").fit(X, y)


class GreedyRankRLS(_GreedySelector, Ranker):
    r"""Linear least-squares ranking with features selected greedily by the error on held-out queries.

    The selection starts without features. Each step adds the feature that minimises the squared error over pairs of
    held-out rows [1]_. The error of every candidate is exact, the same as that of refitting
    :class:`~kernelrank.RankRLS`, but nothing is refitted.

    Parameters
    ----------
    n_features : int, default=None
        Number of features to select. None means as long as the error decreases, and at least one.
    alpha : float, default=1e-3
        Weight of the squared norm against the AVERAGE loss, as in :class:`~kernelrank.RankRLS`.
    query_weighting : {"query", "pair"}, default="query"
        With "query" the loss is averaged inside each query, then over the queries that have a pair; with "pair" every
        pair has the same weight. Held-out errors are averaged in the same way; without queries, a fold counts as a
        query.
    cv : int, splitter or iterable of (train, test), default=None
        Folds, which never split a query and hold out every row once. By default each query is a fold; without queries,
        there are ten folds of shuffled rows, or fewer so that each has two rows. Without queries, the error is that of
        pairs of rows of the same fold: with ten folds, a tenth of all pairs. Leave-pair-out would take O(m^2 n) time
        per step.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds without queries: the same in every fit, unless None.
    verbose : int or callable, default=0
        1 prints a line per selected feature. A function is called after each selection instead, with how many of how
        many are done.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Selected features, in the order of selection. Of equally good ones, the first in X is selected.
    errors_ : ndarray of shape (n_selected,)
        Held-out error after each selection: the average loss, summed over the outputs.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Coefficients of :class:`~kernelrank.RankRLS` fitted to the selected features; zero elsewhere.
    intercept_ : float or ndarray of shape (n_outputs,)
        As in :class:`~kernelrank.RankRLS`: 0 with queries.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    Notes
    -----
    Selecting k of n features takes O(k m n) time for m rows, whatever the sizes of queries and folds, and memory for
    two dense copies of X and one number per feature and fold. The errors of the selected features are optimistic,
    because they were used for the selection: estimate the error of the final model on other queries.

    All Q folds share one penalty, ``alpha * (1 - 1/Q)`` in units of the whole loss. The predictions of a fold with a
    share s of the loss are therefore those of a refit with ``alpha * (1 - 1/Q) / (1 - s)``. This is alpha itself if
    shares are equal, as for queries with ``query_weighting="query"`` and for folds of the same size. (Without queries,
    the share of a fold is its share of the rows. A query without pairs has no share, and is not one of the Q.)

    With metadata routing enabled, `qid` reaches this step of a pipeline and the ranker after it.

    References
    ----------
    .. [1] Pahikkala, Airola, Naula, Salakoski: Greedy RankRLS: a linear time algorithm for learning sparse ranking
       models. SIGIR 2010 Workshop on Feature Generation and Selection for Information Retrieval.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank import GreedyRankRLS
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(200, 30)), np.repeat(np.arange(20), 10)
    >>> y = 2 * X[:, 7] - X[:, 19] + 100 * qid + rng.normal(size=200)
    >>> model = GreedyRankRLS(2).fit(X, y, qid=qid)
    >>> model.selected_
    array([ 7, 19])
    """

    def __init__(
        self,
        n_features: int | None = None,
        *,
        alpha: float = 1e-3,
        query_weighting: Literal["query", "pair"] = "query",
        cv: Any = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: int | Callable[[int, int], None] = 0,
    ) -> None:
        self.n_features = n_features
        self.alpha = alpha
        self.query_weighting = query_weighting
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None) -> Self:
        """Select features, and fit a model to them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A data-frame column named "qid" is taken as the query of each row. Sparse matrices are made dense.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Utilities, any finite numbers; higher is better. The outputs share the selected features.
        qid : array-like of shape (n_samples,), optional
            Query of each row, in any order; only rows of the same query are compared.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit(X, y, qid)

    def _hold_out(self, y: Array, queries: Codes | None) -> _HoldOut:
        blocks = self._blocks(y, queries)
        if queries is None:
            m, sizes = len(y), np.bincount(blocks)
            weights = self._shares(sizes) / sizes * m  # 2 / sizes a squared error, and root^2 = 2 / m
            if not weights.any():
                raise ValueError("No fold of cv has two rows to compare.")
            return _HoldOut(blocks, sizes / m, np.full(m, np.sqrt(2 / m)), weights, centre=True)
        sizes = np.bincount(queries)
        of_query = self._shares(sizes)
        shares: Array = np.bincount(blocks, (of_query / sizes)[queries]).astype(np.float64)
        if not shares.any():
            raise NoComparablePairsError(
                f"No query has two rows: there is no pair to learn from (n_samples = {len(y)})."
            )
        if np.count_nonzero(shares) < 2:
            raise ValueError(
                "At least two queries with pairs are needed, in different folds. If all rows are one ranking, do not"
                " pass qid: folds of rows are then held out."
            )
        return _HoldOut(blocks, shares, np.sqrt(2 * of_query / sizes)[queries], np.ones(len(shares)))

    def _shares(self, sizes: NDArray[np.integer[Any]]) -> Array:
        """Return the share of each query in the average loss over all ordered pairs of its rows."""
        counts = np.where(sizes > 1, 1.0 if self.query_weighting == "query" else sizes.astype(float) ** 2, 0.0)
        return np.asarray(counts / max(counts.sum(), 1.0))

    def _blocks(self, y: Array, queries: Codes | None) -> NDArray[np.integer[Any]]:
        m, cv = len(y), self.cv
        if cv is None and queries is not None:
            return queries
        if queries is None and m < 4:
            raise ValueError(f"Folds without queries need at least four rows, got n_samples = {m}.")
        cv = min(_FOLDS, m // 2) if cv is None else cv
        folds = make_folds(cv, y[:, 0], queries, queries, self.random_state)
        blocks = np.full(m, -1)
        for number, fold in enumerate(folds):
            blocks[fold.test] = number
            if len(fold.test) == 0 or fold.train.sum() + len(fold.test) != m:
                raise ValueError(f"Fold {number} of cv must test on some rows, and train on all others.")
        if (blocks < 0).any() or sum(len(fold.test) for fold in folds) != m:
            raise ValueError("cv must hold out every row once.")
        return blocks

    def _refit(self, X: Any, y: Array, queries: Codes | None) -> RankRLS:
        return RankRLS(self.alpha, query_weighting=self.query_weighting, solver="direct").fit(X, y, qid=queries)


def _select(
    X: Any,
    y: Array,
    queries: Codes | None,
    held_out: _HoldOut,
    alpha: float,
    n_features: int | None,
    tell: Callable[[int, int, int, float], None],
) -> tuple[NDArray[np.intp], Array]:
    """Return the selected features, and the error after each selection."""
    m, n = X.shape
    require_memory(
        8 * n * (2 * m + len(held_out.shares)),
        f"Selecting from features of shape {(m, n)}, as a dense matrix and what is computed from it,",
        "Train on fewer rows, or drop features that hardly vary.",
    )
    order = np.argsort(held_out.blocks, kind="stable")
    codes = np.zeros(m, np.int32) if queries is None else queries
    columns = sp.csc_array(X) if sp.issparse(X) else X
    width = panel_width(m)

    def prepare(values: Any) -> Array:
        dense = np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64)
        return (held_out.root[:, None] * _centre(dense, codes))[order]

    greedy = GreedySelection(
        (prepare(columns[:, start : start + width]) for start in range(0, n, width)),
        prepare(y),
        np.bincount(held_out.blocks),
        alpha * (1 - 1 / np.count_nonzero(held_out.shares)),
        held_out.weights,
        level=queries is None,
        centre=held_out.centre,
    )
    errors: list[float] = []
    most = n if n_features is None else n_features
    for number in range(most):
        feature, helps = greedy.best()
        if n_features is None and number and not helps:
            break
        greedy.select(feature)
        errors.append(greedy.error)
        tell(number + 1, most, feature, greedy.error)
    return np.array(greedy.selected), np.array(errors)


def _centre(columns: Array, queries: Codes) -> Array:
    """Subtract the mean of each query; the remainder of a constant column is rounding, and set to zero."""
    m = len(columns)
    centred = columns - columns.mean(axis=0)  # before the means of queries, or a large offset would cost digits
    means = sp.csr_array((1.0 / np.bincount(queries)[queries], (queries, np.arange(m))))
    centred -= (means @ centred)[queries]
    rounding = m * np.finfo(np.float64).eps * np.abs(columns).max(axis=0)
    return np.where(np.abs(centred).max(axis=0) > rounding, centred, 0.0)
