"""The ranking support vector machine that chooses its regularisation, and its kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from kernelrank._query_ids import encode_queries
from kernelrank._refit import refit
from kernelrank._validation import check_rows, refuse_arrays, require_beside, scale_weights
from kernelrank._warnings import warn
from kernelrank.estimators._alphas import warn_at_end
from kernelrank.estimators._cv_tasks import CVTask, PreferenceTask, UtilityTask
from kernelrank.estimators._folds import groups_for, make_folds, make_pair_folds
from kernelrank.estimators._parameters import require_linear_if_positive, resolve_scorer
from kernelrank.estimators._path_search import Candidate, PathSearch
from kernelrank.estimators._rank_svm import total_weight
from kernelrank.estimators._ranker import SVMRanker
from kernelrank.exceptions import ConvergenceWarning
from kernelrank.features import KroneckerRows
from kernelrank.kernels import Linear
from kernelrank.kernels._choice import check_kernels
from kernelrank.metrics import RankingScorer
from kernelrank.pairs._preferences import check_preferences

Vector = NDArray[np.float64]


class RankSVMCV(SVMRanker):
    r"""Ranking SVM with built-in cross-validation of ``alpha``, and of the kernel.

    Fits :class:`~kernelrank.RankSVM` for every alpha on every fold, and on all rows. Cutting planes do not depend on
    alpha, so each solution uses those of larger alphas. With the hinge, a path of 20 alphas costs 1.5 to 3 times the
    fit at its smallest one. Each solution has its certificate.

    Parameters
    ----------
    alphas : int or array-like, default=20
        The minimum number of alphas, or the values themselves. A number means a geometric grid over four decades, from
        the alpha above which the direction of the hinge's solution no longer changes. It goes on, one decade at a time,
        while the last decade has improved the mean score by more than 0.1 %, or all are the same: to twelve decades at
        most, and not beyond a fit that does not converge. Alphas that are given are tried as they are.
    cv : int, splitter or iterable of (train, test), default=5
        Folds; None means 5. They never split a query: a number means ``GroupKFold`` over the queries, or over
        `groups` if `fit` gets them; without either, ``KFold`` with shuffled rows. A validation set is
        ``sklearn.model_selection.PredefinedSplit``, or ``[(train, test)]``. A splitter of entries, such as
        :class:`kernelrank.model_selection.LeaveColumnsOut`, may split queries: it tests new columns of known rows, say.
        Only held-out rows of a query are then compared with each other.
    scoring : str, RankingScorer or callable, default=None
        Score by which alpha is chosen, on the rows of a fold: the name of a metric such as "ndcg@10", what
        :func:`kernelrank.metrics.make_ranking_scorer` returns, or a function ``(y_true, y_score, qid=...)``,
        the better the greater; NaN if it is not defined for them. It gets `sample_weight` too, if
        there are weights and it has such a parameter. Concordance by default.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss of a pair, as in :class:`~kernelrank.RankSVM`.
    kernel : str, Kernel, callable, or a list of these, default="linear"
        Of a list, the best one is chosen together with alpha. All have the same folds and basis rows; features of two
        of them are in memory at a time. A linear one among them ignores `n_basis`.
    n_basis : int, default=None
        Number of basis rows, drawn at random, as in :class:`~kernelrank.RankSVM`. None means all rows.
    query_weighting : {"query", "pair"}, default="query"
        Whether every query or every pair counts the same, as in :class:`~kernelrank.RankSVM`.
    positive : bool, default=False
        Whether weights must not be negative, as in :class:`~kernelrank.RankSVM`.
    tol : float, default=1e-3
        Certified gap at which each fit stops, as in :class:`~kernelrank.RankSVM`.
    max_iter : int, default=1000
        Largest number of iterations of each fit.
    n_jobs : int, default=None
        Threads, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState instance or None, default=0
        For the shuffled ``KFold``, and the draw of `n_basis` rows.
    verbose : int or callable, default=0
        1 prints a line per fold. A function is called after each fit instead, with how many of how
        many are done; the second number grows when the path goes on.

    Attributes
    ----------
    alphas_ : ndarray of shape (n_alphas,)
        From the largest to the smallest.
    scores_ : ndarray of shape (n_alphas, n_folds)
        Concordance, or `scoring`, on the rows of each fold; NaN if it is not defined for them.
    alpha_ : float
        The alpha with the greatest mean score; the larger of equals.
    kernel_scores_ : ndarray of shape (n_kernels,)
        Greatest mean score of each kernel, if a list was given. The first of the best was chosen: it is `kernel_`, and
        all other attributes are for it.
    coef_path_ : ndarray of shape (n_alphas, n_features) or (n_alphas, n_basis)
        Solutions for all rows; those of `dual_coef_` with a kernel.
    gaps_ : ndarray of shape (n_alphas,)
        Their certificates: each objective exceeds its optimum by at most this, which is never negative.
    coef_ : ndarray of shape (n_features,)
        Weights of the features for `alpha_`; linear kernel only.
    dual_coef_ : ndarray of shape (n_basis,)
        Weights of the kernels of `basis_` for `alpha_`; other kernels only.
    basis_ : {ndarray, sparse matrix} of shape (n_basis, n_features)
        The rows it was fitted to, or some of them.
    basis_indices_ : ndarray of shape (n_basis,)
        Which ones, if `n_basis` is given.
    kernel_ : Kernel
        With parameters that depended on the data resolved; not for the linear kernel.
    objective_ : float
        Objective of the solution for `alpha_`.
    gap_ : float
        Its certificate: the objective exceeds the optimum by at most this.
    n_iter_ : int
        Iterations made for it.
    n_pairs_ : int, or float with weights
        Comparable pairs of all rows, or their total weight.
    n_features_in_ : int
        Features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had names that are all strings.

    Warns
    -----
    PathEndWarning
        If the best alpha is the smallest that was tried, or the largest of those given and a larger one would make a
        difference.

    See Also
    --------
    kernelrank.RankSVM : One alpha.
    kernelrank.model_selection.coef_intervals : How certain coefficients are.

    Notes
    -----
    The folds are trained on X itself, never on a copy of its rows: held-out rows take part in
    products, but in no pair. With a kernel, basis rows of a fold have no influence on what is learnt without it
    (:meth:`kernelrank.NystromMap.without`); parameters of the kernel that depend on data are those of all rows.
    Memory beyond X, or the features that a kernel makes: about 170 bytes per row (210 with queries), whatever the
    number of folds, and vectors of features as for :class:`~kernelrank.RankSVM`, with one more for each fold.
    Dense arrays of other libraries are learnt from as by :class:`~kernelrank.RankSVM`; `coef_path_` and `scores_` are
    of NumPy.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RankSVMCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RankSVMCV(alphas=10).fit(X, y)
    >>> model.scores_.shape  # the score still improved at the end of ten alphas: it went on
    (12, 5)
    >>> bool(model.gaps_.max() <= model.tol)
    True

    How wide a Gaussian kernel should be is chosen the same way:

    >>> from kernelrank.kernels import Gaussian
    >>> model = RankSVMCV(5, kernel=[Gaussian(10.0), Gaussian(1000.0)], n_basis=50).fit(X, y)
    >>> model.kernel_
    Gaussian(gamma=10.0)
    """

    __metadata_request__fit = {"qid": True, "groups": True, "observed": True}  # noqa: RUF012 - as in RankSVM

    _any_namespace = True
    _unformed = (KroneckerRows,)

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
        observed: ArrayLike | None = None,
    ) -> Self:
        """Choose alpha by cross-validation, and train with it on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or KroneckerRows
            A data-frame column named "qid" is taken as the query of each row.
        y : array-like of shape (n_samples,)
            Utilities, any finite numbers; higher is better. Equal ones are not compared.
        qid : array-like of shape (n_samples,), optional
            Query of each row, in any order; only rows of the same query are compared.
        groups : array-like of shape (n_samples,), optional
            Groups that the folds must not split, if these are not the queries. With a splitter of entries, such as
            :class:`kernelrank.model_selection.LeaveColumnsOut`, their rows and columns, of shape (n_samples, 2), unless
            X is a KroneckerRows, which has them.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, in training and in the scores.
        observed : array-like of shape (n_samples,), optional
            False (or 0) where y is censored: the true utility is at least y. Such a row is comparable only as
            the better row, in training and in the scores. y may also be a structured array or a data frame with a
            boolean and a numeric column.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, qid, noted = self._check_rows(X, qid)
        require_linear_if_positive(self)
        scorer = self._scorer()  # a name that is wrong is wrong now
        self._require_target(y)
        require_beside(X, y, "X and y")
        rows = check_rows(y, qid, sample_weight, X.shape[0], observed)
        if rows.observed is not None:
            scorer.require_observed()
        weights, unit = scale_weights(rows.weights, rows.queries if self.query_weighting == "query" else None)
        folds = make_folds(self.cv, rows.y, rows.queries, groups_for(self.cv, X, groups, qid), self.random_state)
        task = UtilityTask(rows._replace(weights=weights), rows.weights, folds, scorer, self.n_jobs, beside=X)
        return self._choose(X, task, noted, None if weights is None else partial(total_weight, unit=unit, power=2))

    def fit_pairs(
        self,
        X: Any,
        pairs: ArrayLike,
        *,
        weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose alpha by cross-validation over explicit preferences, and train with it on all of them.

        `scores_` are the shares of held-out pairs in the right order, a tie counting half; with queries, the mean over
        them. What they estimate depends on what is held out together:

        - with `qid`: pairs of queries that were not seen;
        - with `groups`: pairs of rows of groups that were not seen; with ``groups=range(len(X))``, of rows that were
          not seen. Pairs of a row that is trained on and one that is tested are left out of that fold;
        - with neither, folds are made of pairs: further comparisons of the SAME rows. A row may be in pairs of both
          sides, so for new rows this is too good. Comparisons of the same two rows stay together.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or KroneckerRows
            A data-frame column named "qid" is taken as the query of each row.
        pairs : array-like of shape (n_pairs, 2)
            Rows of X, ``[winner, loser]``, as in :meth:`~kernelrank.RankSVM.fit_pairs`.
        weight : array-like of shape (n_pairs,), optional
            Weights of the pairs, in training and in the scores.
        qid : array-like of shape (n_samples,), optional
            Query of each row of X; a pair of rows of different queries is an error.
        groups : array-like of shape (n_samples,), optional
            Groups that the folds must not split, if these are not the queries. With `qid` or `groups`, `cv` splits the
            rows; without, the pairs.

        Returns
        -------
        self
            The fitted estimator.

        Examples
        --------
        >>> import numpy as np
        >>> from kernelrank import RankSVMCV
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(40, 3))
        >>> pairs = rng.permuted(np.tile(np.arange(40), (300, 1)), axis=1)[:, :2]
        >>> wrong = X[pairs[:, 0], 0] + rng.normal(size=300) < X[pairs[:, 1], 0]
        >>> pairs[wrong] = pairs[wrong, ::-1]  # the first feature counts, with noise
        >>> model = RankSVMCV().fit_pairs(X, pairs, groups=range(40))
        >>> bool(model.scores_.mean(axis=1).max() > 0.7)
        True
        """
        if self.scoring is not None:
            raise ValueError(
                f"scoring is for utilities: fit_pairs scores by pairs in the right order, got {self.scoring!r}."
            )
        X, qid, noted = self._check_rows(X, qid)
        refuse_arrays(X, "fit_pairs")
        require_linear_if_positive(self)
        m = X.shape[0]
        queries, _ = encode_queries(qid, m)
        given = check_preferences(pairs, m, weight, queries)
        weights, unit = scale_weights(given.weights, given.queries if self.query_weighting == "query" else None)
        together = groups_for(self.cv, X, groups, qid)
        folds = make_pair_folds(self.cv, given.pairs, m, queries, together, self.random_state)
        task = PreferenceTask(given._replace(weights=weights), queries, folds)
        return self._choose(X, task, noted, None if weights is None else partial(total_weight, unit=unit))

    def _choose(
        self, X: Any, task: CVTask, noted: dict[str, Any], total: Callable[[NDArray[Any]], float] | None
    ) -> Self:
        """Find the best kernel and alpha, and keep their solution for all rows.

        `total` returns the weight of all pairs from that of each query; None if there are no weights.
        """
        search = PathSearch(
            task,
            self.alphas,
            loss=self.loss,
            query_weighting=self.query_weighting,
            positive=self.positive,
            tol=self.tol,
            max_iter=self.max_iter,
            scoring=self.scoring,
            progress=self.verbose if callable(self.verbose) else None,
            tell=self._tell,
        )
        candidate, kernel_scores = self._best_kernel(X, search)
        rows, means, pairs = candidate.representation, candidate.means, task.pairs()
        best, coef_path, gaps = int(np.argmax(means)), [], []
        for k, result in enumerate(search.train(candidate, pairs)):
            coef_path.append(rows.coefficients(result.w))
            gaps.append(result.gap)
            if k == best:
                chosen = result
        limit = search.largest(rows) if best == 0 else np.inf
        with refit(self) as fitted:
            fitted._store(
                chosen,
                noted,
                rows.attributes(X, chosen.w),
                alphas_=candidate.alphas,
                scores_=candidate.scores,
                alpha_=float(candidate.alphas[best]),
                coef_path_=np.array(coef_path),
                gaps_=np.array(gaps),
                n_pairs_=pairs.n_pairs if total is None else total(pairs.pairs_per_query),
                _fitted_with_queries=task.queries is not None,
                _fitted_with_censored=pairs.censored,
            )
            if kernel_scores is not None:
                fitted.kernel_scores_, fitted.kernel_ = kernel_scores, candidate.kernel
        if search.lapses:
            text = f"{len(search.lapses)} of {search.n_fits} fits miss tol. The worst: {max(search.lapses)[1]}"
            warn(text, ConvergenceWarning)
        warn_at_end(candidate.alphas, means, goes_on=isinstance(self.alphas, Integral), limit=lambda: limit)
        return self

    def _best_kernel(self, X: Any, search: PathSearch) -> tuple[Candidate, Vector | None]:
        """Return the kernel whose best alpha has the greatest mean score, and these scores if there are several."""
        if not isinstance(self.kernel, list | tuple):
            rows = self._represent(X, search.task.queries)
            return search.search(rows, others=0), None
        kernels, best, found = check_kernels(self.kernel), None, list[float]()
        seed = self.random_state  # the same for all
        if not isinstance(seed, Integral):
            seed = int(check_random_state(seed).randint(np.iinfo(np.int32).max))
        for number, kernel in enumerate(kernels):
            n_basis = None if isinstance(kernel, Linear) else self.n_basis
            try:
                rows = self._represent(
                    X, search.task.queries, {"kernel": kernel, "n_basis": n_basis, "random_state": seed}
                )
                candidate = search.search(rows, others=len(kernels) - number - 1)
            except Exception as error:
                error.add_note(f"This is about kernel={kernel!r}, one of {len(kernels)} to choose from.")
                raise
            found.append(float(candidate.means.max()))
            if best is None or found[-1] > max(found[:-1]):
                best = candidate
            del rows, candidate  # or its features would stay while those of the next are made
        assert best is not None
        return best, np.array(found)

    def _scorer(self) -> RankingScorer:
        return resolve_scorer(self.scoring, n_jobs=self.n_jobs)

    def _tell(self, fold: int, n_folds: int, alphas: Vector, scores: Vector) -> None:
        if self.verbose and not callable(self.verbose):
            k = int(np.argmax(np.nan_to_num(scores, nan=-np.inf)))
            what = "concordance" if self.scoring is None else "score"
            print(f"fold {fold + 1} of {n_folds}: {what} {scores[k]:.4f} at alpha {alphas[k]:.3g}", flush=True)
