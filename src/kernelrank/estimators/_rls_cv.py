"""Least squares that choose their regularisation, and their kernel, without a single refit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._arrays import merge, to_host
from kernelrank._rules import CALLABLE, FOLDS, NONE, choice
from kernelrank._validation import count_rows, encode_queries
from kernelrank.estimators._alphas import AlphaGrid, warn_at_end
from kernelrank.estimators._folds import locate, make_folds, mean_scores
from kernelrank.estimators._hold_outs import HoldsOut, check_fold
from kernelrank.estimators._parameters import resolve_scorer
from kernelrank.estimators._rank_rls import RankRLS
from kernelrank.estimators._rls import RLS
from kernelrank.exceptions import UndefinedMetricError, UndefinedQueryWarning
from kernelrank.kernels._choice import check_kernels
from kernelrank.metrics import RankingScorer
from kernelrank.pairs import members
from kernelrank.solvers import Predicted

Array = NDArray[np.float64]

_DECADES = 8.0  # of a grid, from the largest eigenvalue downwards
_ROWS_IN_PAIRS = 5000  # at most, by default: 12 million pairs for each alpha
_FOLDS = 10


class _ChoosesAlpha(HoldsOut):
    """Scores alphas, and kernels, by predictions of rows that were held out; a subclass says of which, and how."""

    alphas: int | ArrayLike
    cv: Any
    scoring: Any
    random_state: Any
    kernel_scores_: Array
    solver: Literal["auto", "direct", "cg"] = "direct"  # a decomposition is what this is about
    _groups: NDArray[np.int32] | None = None  # rows to be held out together, while it is fitted

    @property
    def alpha(self) -> float:  # type: ignore[override]
        """The alpha that was chosen, for the methods of the base class."""
        return self.alpha_

    def _choose_kernel(self, set_up: Callable[[Any], Self]) -> Self:
        several = isinstance(self.kernel, list | tuple)
        best: Self | None = None
        folds: list[NDArray[np.intp]] | None = None
        found: list[float] = []
        for kernel in check_kernels(self.kernel) if several else [self.kernel]:
            try:
                candidate = set_up(kernel)
                folds = candidate._folds() if folds is None else folds  # the same for all: drawn once
                found.append(candidate._score_alphas(folds))
                if several:  # a kernel that has no solution is an error, not one that loses
                    candidate._solve(candidate._problem().solver, candidate.alpha_)
            except Exception as error:
                if several:
                    error.add_note(f"This is about kernel={kernel!r}, one of {len(self.kernel)} to choose from.")
                raise
            if best is None or found[-1] > max(found[:-1]):
                best = candidate
            del candidate  # or its matrices would stay while those of the next are made
        assert best is not None
        if several:
            best.kernel_scores_ = np.array(found)
        # An alpha above all eigenvalues shrinks all directions, and changes their order little.
        warn_at_end(
            best.alphas_,
            mean_scores(best.scores_),
            goes_on=isinstance(self.alphas, Integral),
            limit=best._largest_eigenvalue,
        )
        return best

    def _score_alphas(self, folds: list[NDArray[np.intp]]) -> float:
        """Find the best alpha, and return its score."""
        grid = AlphaGrid(self.alphas, self._largest_eigenvalue, _DECADES)
        self.alphas_, self.scores_ = grid.first, self._score(folds, grid.first)
        while len(further := grid.further(self.alphas_, mean_scores(self.scores_))):
            self.alphas_ = np.append(self.alphas_, further)
            self.scores_ = np.concatenate([self.scores_, self._score(folds, further)])
        means = mean_scores(self.scores_)
        self.alpha_ = float(self.alphas_[np.argmax(means)])
        return float(np.max(means))

    def _choose_alpha(self) -> float:
        return self.alpha_

    def _largest_eigenvalue(self) -> float:
        values = to_host(self._decomposable(self._problem()).spectrum.values)
        return float(np.max(values, initial=0.0)) or 1.0

    def _folds(self) -> list[NDArray[np.intp]]:
        problem = self._problem()
        y, together = problem.y[:, 0], problem.queries if self._groups is None else self._groups
        cv = _FOLDS if self.cv is None else self.cv
        folds = make_folds(cv, y, together, together, self.random_state)
        for number, fold in enumerate(folds):
            if len(fold.test) == 0 or fold.train.sum() + len(fold.test) != len(y):
                raise ValueError(
                    f"Fold {number} of cv must test on some rows, and train on all others: else there is no shortcut."
                )
        return [fold.test for fold in folds]

    def _score(self, folds: list[NDArray[np.intp]], alphas: Array) -> Array:
        """Score the rows of each fold, for each alpha."""
        scores = np.empty((len(alphas), len(folds)))
        for k, alpha in enumerate(alphas.tolist()):
            for number, predicted in enumerate(self.hold_out(folds, alpha=alpha)):
                locate(self.scoring, self.kernel_, alpha, number)
                scores[k, number] = self._rate(folds[number], predicted)
        return scores

    def _rate_all(self, predictions: Any) -> Array:
        """Score predictions of all rows, for each alpha."""
        return np.array([[self._rate(np.arange(each.shape[0]), each)] for each in predictions])

    def _rate(self, rows: NDArray[np.intp], predicted: Array) -> float:
        """Score predictions of some rows, mean over the outputs."""
        problem = self._problem()
        queries = None if problem.queries is None else problem.queries[rows]
        outputs = zip(problem.y[rows].T, np.reshape(to_host(predicted), (len(rows), -1)).T, strict=True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedQueryWarning)  # for every fold and alpha the same
                return float(np.mean([self._evaluate_output(y, scores, queries) for y, scores in outputs]))
        except UndefinedMetricError:
            return np.nan

    def _evaluate_output(self, y: Array, scores: Array, queries: NDArray[np.int32] | None) -> float:
        """Score predictions of one output; the greater, the better."""
        raise NotImplementedError


class RankRLSCV(_ChoosesAlpha, RankRLS):
    r"""Least-squares ranking that chooses ``alpha``, and a kernel, by exact cross-validation, without a single refit.

    One decomposition of the training data gives the held-out predictions for every alpha; see :class:`RankRLS`. Several
    kernels take one each.

    Parameters
    ----------
    alphas : int or array-like, default=20
        How many alphas, or which. A number means a geometric grid over eight decades, from the largest eigenvalue of
        the loss downwards, which goes on to twelve decades at most, while the last decade has improved the score by
        more than 0.1 %; of several
        kernels, each has its own.
    cv : {"leave-pair-out", "leave-query-out"}, int, splitter or iterable of (train, test), default=None
        What is held out: every pair of rows, for one ranking; every query; or folds, which never split a query. By
        default the second with queries, and without the first, or ten folds for more than 5,000 rows.
    scoring : str, RankingScorer or callable, default=None
        What to choose by: see :class:`RankSVMCV`. Concordance by default, and always for "leave-pair-out".
    kernel : str, Kernel, callable, or a list of these, default="linear"
        As in :class:`RankRLS`; of a list, the best one is chosen together with alpha. All are compared on the same
        folds, and with the same rows drawn for `n_basis`. Matrices of two of them are in memory at a time.
    n_basis : int, default=None
    ties : {"keep", "drop"}, default="keep"
    cost : {"magnitude", "unit", "relative"}, default="magnitude"
    query_weighting : {"query", "pair"}, default="query"
        As in :class:`RankRLS`.
    random_state : int, RandomState instance or None, default=0
        For shuffled folds, and the draw of `n_basis` rows.

    Attributes
    ----------
    alphas_ : ndarray of shape (n_alphas,)
        From the largest to the smallest.
    scores_ : ndarray of shape (n_alphas, n_folds)
        One column for "leave-pair-out" and "leave-query-out".
        The greatest is too good as an estimate for new rows, if little: they have chosen it.
    alpha_ : float
        The alpha with the greatest mean score, over the outputs as well; the larger of equals.
    kernel_scores_ : ndarray of shape (n_kernels,)
        Greatest mean score of each kernel, if a list was given. The first of the best was chosen: it is `kernel_`, and
        all other attributes are for it.
    coef_, dual_coef_, basis_, basis_indices_, intercept_, kernel_, n_features_in_, feature_names_in_
        As in :class:`RankRLS`, for that alpha.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RankRLSCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RankRLSCV(alphas=[1e-4, 1e-2, 1], kernel="gaussian").fit(X, y)  # 97,461 pairs held out for each
    >>> model.scores_.round(3)
    array([[0.731],
           [0.746],
           [0.695]])
    >>> model.alpha_
    0.01

    How wide a Gaussian kernel should be is chosen the same way:

    >>> from kernelrank.kernels import Gaussian
    >>> model = RankRLSCV(alphas=5, kernel=[Gaussian(gamma) for gamma in (10.0, 100.0, 1000.0)]).fit(X, y)
    >>> model.kernel_scores_.round(3)
    array([0.751, 0.73 , 0.663])
    >>> model.kernel_
    Gaussian(gamma=10.0)
    """

    _rules: ClassVar = {"cv": choice("leave-pair-out", "leave-query-out") | FOLDS}

    def __init__(
        self,
        alphas: int | ArrayLike = 20,
        *,
        cv: Any = None,
        scoring: str | RankingScorer | Callable[..., float] | None = None,
        kernel: Any = "linear",
        n_basis: int | None = None,
        ties: Literal["keep", "drop"] = "keep",
        cost: Literal["magnitude", "unit", "relative"] = "magnitude",
        query_weighting: Literal["query", "pair"] = "query",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.scoring = scoring
        self.kernel = kernel
        self.n_basis = n_basis
        self.ties = ties
        self.cost = cost
        self.query_weighting = query_weighting
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None) -> Self:  # type: ignore[override]
        """Choose alpha, and one of several kernels, by cross-validation; train with them on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            A data-frame column named "qid" is taken as the query of each row.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Utilities; of several outputs the mean score counts.
        qid : array-like of shape (n_samples,), optional
            Query of each row, in any order; only rows of the same query are compared.

        Returns
        -------
        self
        """
        return self._fit(X, y, qid, None)

    def _strategy(self) -> str | None:
        if self.cv is None:
            problem = self._problem()
            if problem.queries is not None:
                return "leave-query-out"
            return "leave-pair-out" if len(problem.y) <= _ROWS_IN_PAIRS else None
        if isinstance(self.cv, str):
            return self.cv
        return None

    def _folds(self) -> list[NDArray[np.intp]]:
        return [] if self._strategy() else super()._folds()

    def _score(self, folds: list[NDArray[np.intp]], alphas: Array) -> Array:
        strategy = self._strategy()
        if strategy == "leave-pair-out":
            if self.scoring is not None:
                raise ValueError("leave-pair-out compares pairs: it has no scoring but their concordance.")
            return np.asarray(np.mean(self._leave_pair_out_concordances(alphas), axis=1))[:, None]
        if strategy == "leave-query-out":
            return self._rate_all(to_host(self._leave_query_out(alphas)))
        return super()._score(folds, alphas)

    def _evaluate_output(self, y: Array, scores: Array, queries: NDArray[np.int32] | None) -> float:
        return resolve_scorer(self.scoring).evaluate(y, scores, qid=queries)


class RLSCV(_ChoosesAlpha, RLS):
    r"""Regularised least squares that choose ``alpha``, and a kernel, by exact cross-validation, without any refit.

    Parameters
    ----------
    alphas : int or array-like, default=20
        How many alphas, or which. A number means a geometric grid over eight decades, from the largest eigenvalue of
        the loss downwards, which goes on to twelve decades at most, while the last decade has improved the score by
        more than 0.1 %; of several
        kernels, each has its own.
    cv : "leave-one-out", int, splitter or iterable of (train, test), default="leave-one-out"
        What is held out: every row, or every group if `fit` is given groups; or folds, which never split a group.
    scoring : callable, default=None
        What to choose by: a function ``(y_true, y_pred)``, the better the greater. Minus the mean squared error by
        default.
    kernel : str, Kernel, callable, or a list of these, default="linear"
        As in :class:`RLS`; of a list, the best one is chosen together with alpha. All are compared on the same folds,
        and with the same rows drawn for `n_basis`. Matrices of two of them are in memory at a time.
    n_basis : int, default=None
        As in :class:`RLS`.
    random_state : int, RandomState instance or None, default=0
        For shuffled folds, and the draw of `n_basis` rows.

    Attributes
    ----------
    alphas_ : ndarray of shape (n_alphas,)
        From the largest to the smallest.
    scores_ : ndarray of shape (n_alphas, n_folds)
        One column for "leave-one-out", whose predictions are scored together.
    alpha_ : float
        The alpha with the greatest mean score; the larger of equals.
    held_out_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        For "leave-one-out": what a model with that alpha predicts for each row from the others, or from the rows of
        other groups.
    kernel_scores_ : ndarray of shape (n_kernels,)
        Greatest mean score of each kernel, if a list was given. The first of the best was chosen: it is `kernel_`, and
        all other attributes are for it.
    coef_, dual_coef_, basis_, basis_indices_, intercept_, kernel_, n_features_in_, feature_names_in_
        As in :class:`RLS`, for that alpha.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RLSCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> RLSCV(alphas=[1e-6, 1e-5, 1e-4]).fit(X, y).alpha_
    1e-05

    Rows that are no news to each other, here two copies of each, are held out together. One by one, each would be
    predicted by its copy, and the smallest alpha would win:

    >>> import numpy as np
    >>> twice, patient = np.repeat(X, 2, axis=0), np.repeat(np.arange(442), 2)
    >>> model = RLSCV(alphas=[1e-6, 1e-4, 1e-2, 1], kernel="gaussian").fit(twice, np.repeat(y, 2), groups=patient)
    >>> model.alpha_
    0.01
    """

    _rules: ClassVar = {"cv": choice("leave-one-out") | FOLDS, "scoring": CALLABLE | NONE}

    def __init__(
        self,
        alphas: int | ArrayLike = 20,
        *,
        cv: Any = "leave-one-out",
        scoring: Callable[[Any, Any], float] | None = None,
        kernel: Any = "linear",
        n_basis: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.scoring = scoring
        self.kernel = kernel
        self.n_basis = n_basis
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, *, groups: ArrayLike | None = None) -> Self:  # type: ignore[override]
        """Choose alpha, and one of several kernels, by cross-validation; train with them on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Of several outputs the mean score counts.
        groups : array-like of shape (n_samples,), optional
            Rows of a group are held out together: those of a patient, or of a document.

        Returns
        -------
        self
        """
        if groups is not None:
            self._groups, _ = encode_queries(groups, count_rows(X), "groups")
        try:
            return self._fit(X, y, None, None)
        finally:
            self.__dict__.pop("_groups", None)

    def _folds(self) -> list[NDArray[np.intp]]:
        if isinstance(self.cv, str):
            return []
        return super()._folds()

    def _score_alphas(self, folds: list[NDArray[np.intp]]) -> float:
        self.__dict__.pop("held_out_", None)  # of an earlier fit
        score = super()._score_alphas(folds)
        if not folds:
            best = self._leave_out(self.alpha_)
            self.held_out_ = best[:, 0] if self._single else best
        return score

    def _score(self, folds: list[NDArray[np.intp]], alphas: Array) -> Array:
        return super()._score(folds, alphas) if folds else self._rate_all(map(self._leave_out, alphas.tolist()))

    def _leave_out(self, alpha: float) -> Any:
        """Predict every row, held out alone or with its group."""
        problem = self._problem()
        ranking = self._decomposable(problem).one_ranking
        if self._groups is None:
            return ranking.each_row(alpha).tied()
        parts = [check_fold(rows, problem) for rows in members(self._groups, int(self._groups.max()) + 1)]
        found = zip(*ranking.predict(parts, alpha), strict=True)
        return Predicted(*(merge(each, parts) for each in found)).tied()

    def _evaluate_output(self, y: Array, scores: Array, queries: NDArray[np.int32] | None) -> float:
        return -float(np.mean((y - scores) ** 2)) if self.scoring is None else float(self.scoring(y, scores))
