"""The ranking support vector machine that chooses its regularisation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._threads import resolve_threads, single_threaded_blas
from kernelrank._validation import check_vector, check_weights, encode_queries, scale_weights
from kernelrank.estimators._folds import Fold, make_folds
from kernelrank.estimators._parameters import check_training_parameters, resolve_alphas
from kernelrank.estimators._ranker import SupportRanker
from kernelrank.estimators._training import make_solver, shortcoming
from kernelrank.exceptions import (
    ConvergenceWarning,
    NoComparablePairsError,
    UndefinedMetricError,
    UndefinedQueryWarning,
)
from kernelrank.features import NystromMap
from kernelrank.losses import PairwiseHinge
from kernelrank.metrics import RankingScorer, concordance_index, make_ranking_scorer
from kernelrank.pairs import UtilityPairs
from kernelrank.solvers import LinearOracle, Products, Result, RowSpace, largest_alpha, make_products, restrict

Vector = NDArray[np.float64]

_SMALLEST_SHARE = 1e-4  # of the largest alpha of the default grid


class RankSVMCV(SupportRanker):
    r"""Ranking SVM with built-in cross-validation of ``alpha``.

    Fits :class:`RankSVM` for every alpha on every fold, and on all rows. Solutions share what
    was learnt from larger alphas: cutting planes do not depend on alpha. With the hinge, a path of
    20 alphas costs 1.5 to 3 times the fit at its smallest one. Each solution has its certificate.

    Parameters
    ----------
    alphas : int or array-like, default=20
        How many alphas, or which. A number means a geometric grid over four decades, from the
        alpha above which the direction of the hinge's solution no longer changes.
    cv : int, splitter or iterable of (train, test), default=5
        Folds; None means 5. They never split a query: a number means ``GroupKFold`` over the queries, or over
        `groups` if `fit` gets them; without either, ``KFold`` with shuffled rows.
    scoring : str, RankingScorer or callable, default=None
        What to choose alpha by, on the rows of a fold: the name of a metric such as "ndcg@10", what
        :func:`kernelrank.metrics.make_ranking_scorer` returns, or a function ``(y_true, y_score, qid=...)``,
        the better the greater; NaN if it is not defined for them. It gets `sample_weight` too, if
        there are weights and it has such a parameter. Concordance by default.
    loss : {"hinge", "squared_hinge"}, default="hinge"
    kernel : str, Kernel or callable, default="linear"
    n_basis : int, default=None
    query_weighting : {"query", "pair"}, default="query"
    positive : bool, default=False
    tol : float, default=1e-3
    max_iter : int, default=1000
        As in :class:`RankSVM`, for every fit.
    n_jobs : int, default=None
        Threads, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState instance or None, default=0
        For the shuffled ``KFold``, and the draw of `n_basis` rows.
    verbose : int or callable, default=0
        1 prints a line a fold. A function is called after each fit instead, with how many of how
        many are done.

    Attributes
    ----------
    alphas_ : ndarray of shape (n_alphas,)
        From the largest to the smallest.
    scores_ : ndarray of shape (n_alphas, n_folds)
        Concordance, or `scoring`, on the rows of each fold; NaN if it is not defined for them.
    alpha_ : float
        The alpha with the greatest mean score; the larger of equals.
    coef_path_ : ndarray of shape (n_alphas, n_features) or (n_alphas, n_basis)
        Solutions for all rows; those of `dual_coef_` with a kernel.
    gaps_ : ndarray of shape (n_alphas,)
        Their certificates: each objective exceeds its optimum by at most this, which is never negative.
    coef_ : ndarray of shape (n_features,)
        The solution for `alpha_`.
    dual_coef_, basis_, basis_indices_, kernel_, objective_, gap_, n_iter_, n_pairs_, n_features_in_, feature_names_in_
        As in :class:`RankSVM`, of that solution.

    See Also
    --------
    RankSVM : One alpha.

    Notes
    -----
    The folds are trained on X itself, never on a copy of its rows: held-out rows take part in
    products, but in no pair. With a kernel, basis rows of a fold have no influence on what is learnt without it
    (:meth:`kernelrank.NystromMap.without`); parameters of the kernel that depend on data are those of all rows.
    Memory beyond X, or the features that a kernel makes: about 170 bytes a row (210 with queries), whatever the number
    of folds, and vectors of features as for :class:`RankSVM`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RankSVMCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RankSVMCV(alphas=10).fit(X, y)
    >>> model.scores_.shape
    (10, 5)
    >>> bool(model.gaps_.max() <= model.tol)
    True
    """

    __metadata_request__fit = {"qid": True, "groups": True}  # noqa: RUF012 - read by scikit-learn, never changed

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
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.scoring = scoring
        self.loss = loss
        self.kernel = kernel
        self.n_basis = n_basis
        self.query_weighting = query_weighting
        self.positive = positive
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Choose alpha by cross-validation, and train with it on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A data-frame column named "qid" is taken as the query of each row.
        y : array-like of shape (n_samples,)
            Utilities, any finite numbers; higher is better. Equal ones are not compared.
        qid : array-like of shape (n_samples,), optional
            Query of each row, in any order; only rows of the same query are compared.
        groups : array-like of shape (n_samples,), optional
            What the folds must not split, if that is not the queries.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, in training and in the scores.

        Returns
        -------
        self
        """
        check_training_parameters(self)
        self._scorer()  # a name that is wrong is wrong now
        X, qid, noted = self._check_rows(X, qid)
        self._require_target(y)
        y = check_vector(y, "y", X.shape[0])
        weights, unit = scale_weights(check_weights(sample_weight, X.shape[0]))
        queries, _ = encode_queries(qid, X.shape[0])
        folds = make_folds(self.cv, y, queries, qid if groups is None else groups, self.random_state)
        nystrom = self._fit_map(X)
        features = X if nystrom is None else nystrom.transform(X)
        # What is learnt from rows lies in their span: with all rows in the basis, nothing of the others is needed.
        reduced = self.n_basis is not None and self.n_basis < X.shape[0]
        with single_threaded_blas:
            space = None if self.positive else RowSpace.if_wide(features, queries)
            features = features if space is None else space.features
            products = make_products(features, resolve_threads(self.n_jobs), queries)
            rows = _Rows(products, y, queries, weights, self.n_jobs)
            alphas = self._grid(rows)
            fits = _Fits(len(alphas) * (len(folds) + 1), self.verbose if callable(self.verbose) else None)
            scores = np.empty((len(alphas), len(folds)))
            for number, fold in enumerate(folds):
                try:
                    seen = rows.restricted(nystrom.without(fold.test)) if reduced and nystrom else rows
                    scores[:, number] = self._score_path(seen, fold, alphas, fits)
                except NoComparablePairsError as reason:
                    raise NoComparablePairsError(f"Fold {number} cannot be trained on. {reason}") from None
                self._tell(number, alphas, scores)
            best = _best(scores)
            pairs = rows.pairs()
            coef_path, gaps = [], np.empty(len(alphas))
            for k, result in enumerate(self._path(rows, pairs, alphas, fits)):
                if space is not None:
                    result = replace(result, w=space.lift(result.w))
                coef_path.append(result.w if nystrom is None else nystrom.coefficients(result.w))
                gaps[k] = result.gap
                if k == best:
                    chosen = result
        self._store(
            chosen,
            noted,
            nystrom,
            alphas_=alphas,
            scores_=scores,
            alpha_=float(alphas[best]),
            coef_path_=np.array(coef_path),
            gaps_=gaps,
            n_pairs_=pairs.n_pairs if weights is None else pairs.n_pairs * unit * unit,
            _fitted_with_queries=qid is not None,
        )
        if fits.lapses:
            warnings.warn(
                f"{len(fits.lapses)} of {fits.total} fits miss tol. The worst: {max(fits.lapses)[1]}",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _grid(self, rows: _Rows) -> Vector:
        """Alphas from the largest to the smallest."""

        def largest() -> float:
            return largest_alpha(LinearOracle(rows.products, PairwiseHinge(rows.pairs(), self.query_weighting)))

        return resolve_alphas(self.alphas, largest, _SMALLEST_SHARE)

    def _path(self, rows: _Rows, pairs: UtilityPairs, alphas: Vector, fits: _Fits) -> Iterator[Result]:
        """Fit for every alpha, one after the other; note what has not converged."""
        solver = make_solver(
            rows.products, pairs, loss=self.loss, query_weighting=self.query_weighting, positive=self.positive
        )
        for alpha in alphas:
            result = solver.minimize(float(alpha), tol=self.tol, max_iter=self.max_iter, report=None)
            if not result.converged:
                fits.lapses.append((result.gap, shortcoming(self.loss, self.tol, result)))
            fits.count()
            yield result

    def _score_path(self, rows: _Rows, fold: Fold, alphas: Vector, fits: _Fits) -> Vector:
        """Score the rows of a fold, for every alpha."""
        y, queries, weights = rows.y[fold.test], _take(rows.queries, fold.test), _take(rows.weights, fold.test)
        scorer = self._scorer()
        scores = np.full(len(alphas), np.nan)
        for k, result in enumerate(self._path(rows, rows.pairs(fold.train), alphas, fits)):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UndefinedQueryWarning)  # for every fold and alpha the same
                    scores[k] = scorer.evaluate(
                        y,
                        result.scores[fold.test],
                        qid=queries,
                        sample_weight=weights if scorer.takes_weights else None,
                    )
            except UndefinedMetricError:
                pass  # the score stays NaN
        return scores

    def _scorer(self) -> RankingScorer:
        if isinstance(self.scoring, RankingScorer):
            return self.scoring
        if self.scoring is None:
            return make_ranking_scorer(concordance_index, n_jobs=self.n_jobs)
        return make_ranking_scorer(self.scoring)

    def _tell(self, number: int, alphas: Vector, scores: Vector) -> None:
        if self.verbose and not callable(self.verbose):
            k = int(np.argmax(np.nan_to_num(scores[:, number], nan=-np.inf)))
            what = "concordance" if self.scoring is None else "score"
            print(
                f"fold {number + 1} of {scores.shape[1]}: {what} {scores[k, number]:.4f} at alpha {alphas[k]:.3g}",
                flush=True,
            )


class _Fits:
    """How many fits are done, and which of them miss their tolerance."""

    def __init__(self, total: int, told: Callable[[int, int], None] | None) -> None:
        self.total, self.lapses, self._done, self._told = total, list[tuple[float, str]](), 0, told

    def count(self) -> None:
        """Note that one more is done."""
        self._done += 1
        if self._told is not None:
            self._told(self._done, self.total)


class _Rows(NamedTuple):
    """The data, prepared once for all folds."""

    products: Products
    y: Vector
    queries: NDArray[np.int32] | None
    weights: Vector | None
    n_jobs: int | None

    def restricted(self, nystrom: NystromMap) -> _Rows:
        """Without the features that only basis rows can tell that have been taken out of the map."""
        return self._replace(products=restrict(self.products, nystrom.restrict))

    def pairs(self, train: NDArray[np.bool_] | None = None) -> UtilityPairs:
        """Pairs of all rows, or of those to train on."""
        y, queries = self.y, self.queries
        if train is not None:
            # The other rows make a query of their own, in which all are equal.
            numbers = np.zeros(len(y), np.int32) if queries is None else queries
            y, queries = np.where(train, y, 0.0), np.where(train, numbers, -1)
        return UtilityPairs(y, qid=queries, sample_weight=self.weights, n_jobs=self.n_jobs)


def _take(values: Any, rows: NDArray[np.intp]) -> Any:
    return None if values is None else values[rows]


def _best(scores: Vector) -> int:
    """Row with the greatest mean; a fold without a comparable pair has no say."""
    told = ~np.isnan(scores).any(axis=0)
    if not told.any():
        raise NoComparablePairsError("The score is defined for no fold: use fewer folds, or larger ones.")
    return int(np.argmax(scores[:, told].mean(axis=1)))
