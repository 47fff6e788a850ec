"""Least squares that choose alpha, and a kernel, by exact cross-validation without refits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._arrays import merge, to_host
from kernelrank._query_ids import encode_queries
from kernelrank._rules import CALLABLE, FOLDS, NONE, choice, show
from kernelrank._validation import count_rows
from kernelrank.estimators._alphas import AlphaGrid, warn_at_end
from kernelrank.estimators._folds import locate, make_folds, mean_scores
from kernelrank.estimators._hold_outs import HoldsOut
from kernelrank.estimators._least_squares import solvable
from kernelrank.estimators._least_squares_model import LeastSquaresModel, TrainingData
from kernelrank.estimators._parameters import resolve_scorer
from kernelrank.estimators._rank_rls import RankingLeastSquares, left_out_queries
from kernelrank.estimators._rls import MeanLeastSquares
from kernelrank.exceptions import UndefinedMetricError, UndefinedQueryWarning
from kernelrank.kernels._choice import check_kernels
from kernelrank.metrics import RankingScorer
from kernelrank.pairs import members
from kernelrank.solvers.least_squares import Predicted, RankingHoldOut

Array = NDArray[np.float64]
Folds = list[NDArray[np.intp]]

_DECADES = 8.0  # of a grid, from the largest eigenvalue downwards
_ROWS_IN_PAIRS = 5000  # at most, by default: 12 million pairs for each alpha
_FOLDS = 10


class _Choice(NamedTuple):
    """The alphas of one kernel, with the scores of held-out predictions; shape (n_alphas, n_folds)."""

    model: LeastSquaresModel
    alphas: Array
    scores: Array

    @property
    def means(self) -> Array:
        """Mean scores of the alphas."""
        return mean_scores(self.scores)

    @property
    def alpha(self) -> float:
        """The best alpha; the larger of equals."""
        return float(self.alphas[np.argmax(self.means)])


class _ChoosesAlpha(HoldsOut):
    """Choice of alpha, and of a kernel, by scores of held-out predictions; a subclass says of which."""

    alphas: int | ArrayLike
    cv: Any
    scoring: Any
    alpha_: float

    @property
    def _fitted_alpha(self) -> float:
        return self.alpha_

    def _choose(self, X: Any, data: TrainingData, groups: NDArray[np.int32] | None = None) -> Self:
        """Score all alphas of all kernels; train with the best."""
        with solvable():
            best, of_kernels = self._choose_kernel(X, data, groups)
            # An alpha above all eigenvalues shrinks all directions, and changes their order little.
            warn_at_end(
                best.alphas,
                best.means,
                goes_on=isinstance(self.alphas, Integral),
                limit=lambda: _largest_eigenvalue(best.model),
            )
            further = {} if of_kernels is None else {"kernel_scores_": of_kernels}
            further |= self._attributes(best, groups)
            found = {"alphas_": best.alphas, "scores_": best.scores, "alpha_": best.alpha}
            return self._store(X, best.model, best.alpha, **found, **further)

    def _choose_kernel(
        self, X: Any, data: TrainingData, groups: NDArray[np.int32] | None
    ) -> tuple[_Choice, Array | None]:
        """Return the best kernel's alphas, and the scores of all kernels if several are given."""
        several = isinstance(self.kernel, list | tuple)
        best: _Choice | None = None
        folds: Folds | None = None
        found: list[float] = []
        drawn = self._draw_basis(X.shape[0])
        for kernel in check_kernels(self.kernel) if several else [self.kernel]:
            try:
                model = self._compose(X, data, kernel, drawn)
                folds = self._folds(data, groups) if folds is None else folds  # the same for all: drawn once
                candidate = self._score_alphas(model, folds, groups)
                if several:  # a kernel that has no solution is an error, not one that loses
                    self._solve(model, candidate.alpha)
            except Exception as error:
                if several:
                    error.add_note(f"This is about kernel={kernel!r}, one of {len(self.kernel)} to choose from.")
                raise
            found.append(float(np.max(candidate.means)))
            if best is None or found[-1] > max(found[:-1]):
                best = candidate
            del model, candidate  # or its matrices would stay while those of the next are made
        assert best is not None
        return best, np.array(found) if several else None

    def _score_alphas(self, model: LeastSquaresModel, folds: Folds, groups: NDArray[np.int32] | None) -> _Choice:
        grid = AlphaGrid(self.alphas, lambda: _largest_eigenvalue(model), _DECADES)
        found = _Choice(model, grid.first, self._score(model, folds, grid.first, groups))
        while len(further := grid.further(found.alphas, found.means)):
            scores = np.concatenate([found.scores, self._score(model, folds, further, groups)])
            found = _Choice(model, np.append(found.alphas, further), scores)
        return found

    def _attributes(self, best: _Choice, groups: NDArray[np.int32] | None) -> dict[str, Any]:
        """Return further attributes of the fit."""
        return {}

    def _folds(self, data: TrainingData, groups: NDArray[np.int32] | None) -> Folds:
        """Return the rows to hold out together; none for a strategy that has a closed form of its own."""
        y, together = data.y[:, 0], data.queries if groups is None else groups
        folds = make_folds(_FOLDS if self.cv is None else self.cv, y, together, together, self.random_state)
        for number, fold in enumerate(folds):
            if len(fold.test) == 0 or fold.train.sum() + len(fold.test) != len(y):
                raise ValueError(
                    f"Fold {number} of cv must test on some rows, and train on all others: else there is no shortcut."
                )
        return [fold.test for fold in folds]

    def _score(self, model: LeastSquaresModel, folds: Folds, alphas: Array, groups: NDArray[np.int32] | None) -> Array:
        """Score the rows of each fold, for each alpha."""
        scores = np.empty((len(alphas), len(folds)))
        for k, alpha in enumerate(alphas.tolist()):
            for number, predicted in enumerate(model.hold_out.folds(folds, alpha)):
                locate(self.scoring, model.kernel, alpha, number)
                scores[k, number] = self._rate(model.data, folds[number], predicted.tied())
        return scores

    def _rate_all(self, data: TrainingData, predictions: Iterable[Any]) -> Array:
        """Score predictions of all rows, for each alpha."""
        return np.array([[self._rate(data, np.arange(len(data.y)), each)] for each in predictions])

    def _rate(self, data: TrainingData, rows: NDArray[np.intp], predicted: Any) -> float:
        """Score predictions of some rows, mean over the outputs."""
        queries = None if data.queries is None else data.queries[rows]
        outputs = zip(data.y[rows].T, np.reshape(to_host(predicted), (len(rows), -1)).T, strict=True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedQueryWarning)  # for every fold and alpha the same
                return float(np.mean([self._evaluate_output(y, scores, queries) for y, scores in outputs]))
        except UndefinedMetricError:
            return np.nan

    def _evaluate_output(self, y: Array, scores: Array, queries: NDArray[np.int32] | None) -> float:
        """Score predictions of one output; the greater, the better."""
        raise NotImplementedError


def _largest_eigenvalue(model: LeastSquaresModel) -> float:
    return float(np.max(to_host(model.decomposed.spectrum.values), initial=0.0)) or 1.0


class RankRLSCV(_ChoosesAlpha, RankingLeastSquares):
    r"""Least-squares ranking that chooses ``alpha``, and a kernel, by exact cross-validation, without a single refit.

    One decomposition of the training data gives the held-out predictions for every alpha; see
    :class:`~kernelrank.RankRLS`. Several kernels take one each.

    Parameters
    ----------
    alphas : int or array-like, default=20
        Number of alphas, or the alphas. A number means a geometric grid over eight decades, from the largest eigenvalue
        of the loss downwards. It goes on to twelve decades at most, as long as the last decade has improved the score
        by more than 0.1 %. Each of several kernels has its own grid.
    cv : {"leave-pair-out", "leave-query-out"}, int, splitter or iterable of (train, test), default=None
        What is held out: every pair of rows, for one ranking; every query; or folds, which never split a query. The
        default is "leave-query-out" with queries; without, "leave-pair-out", or ten folds for more than 5,000 rows.
    scoring : str, RankingScorer or callable, default=None
        Score to maximise, as in :class:`~kernelrank.RankSVMCV`. Concordance by default. "leave-pair-out" has no other,
        except for "auc", which is the same with two classes.
    kernel : str, Kernel, callable, or a list of these, default="linear"
        As in :class:`~kernelrank.RankRLS`; the best of a list is chosen together with alpha. All are compared on the
        same folds, and with the same rows drawn for `n_basis`. Matrices of at most two kernels are in memory at a time.
    n_basis : int, default=None
        Number of basis rows, drawn at random, as in :class:`~kernelrank.RankRLS`. None means all rows.
    ties : {"keep", "drop"}, default="keep"
        Whether pairs of rows with equal utilities count, as in :class:`~kernelrank.RankRLS`.
    cost : {"magnitude", "unit", "relative"}, default="magnitude"
        Target of a pair, and weight of its error, as in :class:`~kernelrank.RankRLS`.
    query_weighting : {"query", "pair"}, default="query"
        Whether every query or every pair counts the same, as in :class:`~kernelrank.RankRLS`.
    random_state : int, RandomState instance or None, default=0
        For shuffled folds, and the draw of `n_basis` rows.

    Attributes
    ----------
    alphas_ : ndarray of shape (n_alphas,)
        From the largest to the smallest.
    scores_ : ndarray of shape (n_alphas, n_folds)
        One column for "leave-pair-out" and "leave-query-out". The greatest is a slightly optimistic estimate for new
        rows, because alpha was chosen by it.
    alpha_ : float
        The alpha with the greatest mean score, over the outputs as well; the larger of equals.
    kernel_scores_ : ndarray of shape (n_kernels,)
        Greatest mean score of each kernel, if a list was given. The first of the best was chosen: it is `kernel_`, and
        all other attributes are for it.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Weights of the features for `alpha_`; linear kernel only.
    dual_coef_ : ndarray of shape (n_basis,) or (n_basis, n_outputs)
        Weights of the kernels of `basis_` for `alpha_`; other kernels only.
    basis_ : {ndarray, sparse matrix} of shape (n_basis, n_features)
        The rows it was fitted to, or some of them.
    basis_indices_ : ndarray of shape (n_basis,)
        Which ones, if `n_basis` is given.
    intercept_ : float or ndarray of shape (n_outputs,)
        Makes the scores of one ranking comparable with the utilities; 0 with queries.
    kernel_ : Kernel
        With parameters that depended on the data resolved.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

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

    def fit(self, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None) -> Self:
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
            The fitted estimator.
        """
        return self._choose(*self._validate(X, y, qid, None))

    def _strategy(self, data: TrainingData) -> str | None:
        if self.cv is None:
            if data.queries is not None:
                return "leave-query-out"
            return "leave-pair-out" if len(data.y) <= _ROWS_IN_PAIRS else None
        return self.cv if isinstance(self.cv, str) else None

    def _folds(self, data: TrainingData, groups: NDArray[np.int32] | None) -> Folds:
        return [] if self._strategy(data) else super()._folds(data, groups)

    def _score(self, model: LeastSquaresModel, folds: Folds, alphas: Array, groups: NDArray[np.int32] | None) -> Array:
        strategy = self._strategy(model.data)
        if strategy == "leave-pair-out":
            self._require_concordance(model.data)
            return np.asarray(np.mean(model.hold_out.concordances(alphas), axis=1))[:, None]
        if strategy == "leave-query-out":
            return self._rate_all(model.data, to_host(left_out_queries(model, alphas)))
        return super()._score(model, folds, alphas, groups)

    def _require_concordance(self, data: TrainingData) -> None:
        scorer = resolve_scorer(self.scoring)
        if not all(scorer.is_concordance(y) for y in data.y.T):
            raise ValueError(
                "leave-pair-out compares pairs: scoring must be concordance, or auc for two classes, got"
                f" {show(self.scoring)}; pass cv=10 to choose alpha by another scoring."
            )

    def _evaluate_output(self, y: Array, scores: Array, queries: NDArray[np.int32] | None) -> float:
        return resolve_scorer(self.scoring).evaluate(y, scores, qid=queries)


class RLSCV(_ChoosesAlpha, MeanLeastSquares):
    r"""Regularised least squares that choose ``alpha``, and a kernel, by exact cross-validation, without any refit.

    Parameters
    ----------
    alphas : int or array-like, default=20
        Number of alphas, or the alphas. A number means a geometric grid over eight decades, from the largest eigenvalue
        of the loss downwards. It goes on to twelve decades at most, as long as the last decade has improved the score
        by more than 0.1 %. Each of several kernels has its own grid.
    cv : "leave-one-out", int, splitter or iterable of (train, test), default="leave-one-out"
        What is held out: every row, or every group if groups are passed to `fit`; or folds, which never split a group.
    scoring : callable, default=None
        Score to maximise: a function ``(y_true, y_pred)``. Minus the mean squared error by default.
    kernel : str, Kernel, callable, or a list of these, default="linear"
        As in :class:`~kernelrank.RLS`; the best of a list is chosen together with alpha. All are compared on the same
        folds, and with the same rows drawn for `n_basis`. Matrices of at most two kernels are in memory at a time.
    n_basis : int, default=None
        Number of basis rows, drawn at random, as in :class:`~kernelrank.RLS`. None means all rows.
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
        For "leave-one-out": predictions of each row by the model of the other rows, or of the other groups, with that
        alpha.
    kernel_scores_ : ndarray of shape (n_kernels,)
        Greatest mean score of each kernel, if a list was given. The first of the best was chosen: it is `kernel_`, and
        all other attributes are for it.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        Weights of the features for `alpha_`; linear kernel only.
    dual_coef_ : ndarray of shape (n_basis,) or (n_basis, n_outputs)
        Weights of the kernels of `basis_` for `alpha_`; other kernels only.
    basis_ : {ndarray, sparse matrix} of shape (n_basis, n_features)
        The rows it was fitted to, or some of them.
    basis_indices_ : ndarray of shape (n_basis,)
        Which ones, if `n_basis` is given.
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant b, per output; it is not penalised.
    kernel_ : Kernel
        With parameters that depended on the data resolved.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RLSCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> RLSCV(alphas=[1e-6, 1e-5, 1e-4]).fit(X, y).alpha_
    1e-05

    Dependent rows, here two copies of each, are held out together. One by one, each would be predicted by its copy, and
    the smallest alpha would win:

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

    def fit(self, X: Any, y: ArrayLike, *, groups: ArrayLike | None = None) -> Self:
        """Choose alpha, and one of several kernels, by cross-validation; train with them on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Values to predict. Of several outputs the mean score counts.
        groups : array-like of shape (n_samples,), optional
            Rows of a group are held out together: those of a patient, or of a document.

        Returns
        -------
        self
            The fitted estimator.
        """
        codes, _ = encode_queries(groups, count_rows(X), "groups")
        return self._choose(*self._validate(X, y, None, None), codes)

    def _folds(self, data: TrainingData, groups: NDArray[np.int32] | None) -> Folds:
        return [] if isinstance(self.cv, str) else super()._folds(data, groups)

    def _attributes(self, best: _Choice, groups: NDArray[np.int32] | None) -> dict[str, Any]:
        if not isinstance(self.cv, str):
            return {}
        found = _leave_out(best.model, best.alpha, groups)
        return {"held_out_": found[:, 0] if best.model.data.single else found}

    def _score(self, model: LeastSquaresModel, folds: Folds, alphas: Array, groups: NDArray[np.int32] | None) -> Array:
        if folds:
            return super()._score(model, folds, alphas, groups)
        return self._rate_all(model.data, (_leave_out(model, alpha, groups) for alpha in alphas.tolist()))

    def _evaluate_output(self, y: Array, scores: Array, queries: NDArray[np.int32] | None) -> float:
        return -float(np.mean((y - scores) ** 2)) if self.scoring is None else float(self.scoring(y, scores))


def _leave_out(model: LeastSquaresModel, alpha: float, groups: NDArray[np.int32] | None) -> Any:
    """Predict every row, held out alone or with its group."""
    assert isinstance(model.hold_out, RankingHoldOut)
    if groups is None:
        return model.hold_out.each_row(alpha).tied()
    parts = members(groups, int(groups.max()) + 1)
    found = zip(*model.hold_out.folds(parts, alpha), strict=True)
    return Predicted(*(merge(each, parts) for each in found)).tied()
