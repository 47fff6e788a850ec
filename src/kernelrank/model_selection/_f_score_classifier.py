"""Classifier with a threshold on the scores of any model, chosen on held-out scores."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags, indexable
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from kernelrank._arrays import to_host
from kernelrank._query_ids import encode_queries
from kernelrank._refit import refit
from kernelrank._rules import FOLDS, check_parameters, choice
from kernelrank._validation import check_weights, count_rows, separate_qid
from kernelrank.estimators import RankRLS
from kernelrank.estimators._categories import WrappingClassifier, encode_classes
from kernelrank.estimators._folds import make_folds
from kernelrank.metrics import best_f_score, f_score, threshold_at_rate
from kernelrank.model_selection._held_out import hold_out, scores_of
from kernelrank.model_selection._sample import fit_argument, rows_that_stay_together, stratified_folds
from kernelrank.model_selection._subsets import take_features, take_params
from kernelrank.solvers.least_squares import Predicted

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Codes = NDArray[np.int32]

_FOLDS = 10


class FScoreClassifier(MetaEstimatorMixin, WrappingClassifier):  # type: ignore[misc]
    """Classifier of two classes with a threshold on the scores of any model, chosen for a high F-score.

    The threshold is chosen on held-out scores of the training rows; the model is then fitted to all training rows.

    Parameters
    ----------
    estimator : estimator, default=None
        Any estimator whose ``decision_function``, ``predict_proba`` or ``predict`` returns one score per row: a ranker,
        a regressor, a classifier, or a pipeline that ends with one. It is cloned. None means ``RankRLS()``.
    threshold : {"cross-validation", "rate"}, default="cross-validation"
        "cross-validation": the threshold with the largest F-score. "rate": the threshold that a share `positive_rate`
        of the rows exceeds, which varies less with the sample.
    beta : float, default=1.0
        How much more recall counts than precision in the F-score; positive.
    positive_rate : float, default=None
        For "rate": the share of positive rows to expect, between 0 and 1. None means that of the training rows.
    cv : int, splitter, iterable of (train, test) or "own", default=10
        A number is the largest number of stratified folds; there are fewer if a class has fewer rows, or if fewer
        groups have rows of it. Rows of a group, or of a query, are never in different folds. Folds train on all rows
        that they do not test. "own" uses the attribute `held_out_` of the estimator, which :class:`~kernelrank.RLSCV`
        has: the same held-out scores then choose alpha and the threshold, with one fit.
    classes : array-like of shape (2,), default=None
        The negative class and the positive one. None means sorted; text is then sorted by the alphabet.
    n_jobs : int, default=None
        Number of fits in parallel, as in scikit-learn; closed forms take one fit.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds if `cv` is a number.

    Attributes
    ----------
    estimator_ : estimator
        Fitted to all rows; classes are the numbers 0 and 1.
    classes_ : ndarray of shape (2,)
        The negative class and the positive one.
    threshold_ : float
        Rows with a larger score are positive. It is minus infinity if calling all rows positive is best.
    f_score_ : float
        F-score of the held-out scores of the training rows at `threshold_`. With ``threshold="cross-validation"`` it is
        slightly optimistic, because the threshold was chosen on these scores. It is more so if identical rows are in
        different folds, which groups prevent.
    n_features_in_ : int
        Features seen in fit, as the estimator says.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the estimator has them.

    See Also
    --------
    kernelrank.metrics.threshold_at_rate : Threshold for new rows, from the expected share of positive ones.
    kernelrank.metrics.best_f_score : Best threshold for rows whose classes are known.
    kernelrank.plots.CalibrationOfThresholdDisplay : Plots the threshold on new rows.
    kernelrank.RankingClassifier : Several ordered classes, with as few errors as possible.
    sklearn.model_selection.TunedThresholdClassifierCV : Averages curves of the folds instead of pooling their scores.

    Notes
    -----
    :class:`~kernelrank.RankRLS` and :class:`~kernelrank.RLS` compute held-out scores in closed form, with one fit.
    Other estimators, and these without queries but with `sample_weight`, are fitted once per fold. The threshold takes
    O(m log m) time.

    ``score`` is accuracy, as for every classifier of scikit-learn, which relies on it. The F-score of new rows is
    ``f_score(y, model.score_samples(X), model.threshold_)``; in searches, ``scoring="f1"``.

    The threshold is useful as far as new rows are like the training rows. If the share of positive rows differs, or if
    all scores are shifted, the threshold can be far off although the order of the rows is still right [1]_. A threshold
    from the new scores and the expected share, :func:`kernelrank.metrics.threshold_at_rate`, is then better.

    All queries share one threshold, so scores must be comparable between queries.

    References
    ----------
    .. [1] Airola, Pyysalo, Björne, Pahikkala, Ginter, Salakoski: All-paths graph kernel for protein-protein interaction
       extraction with evaluation of cross-corpus learning. BMC Bioinformatics 9 (2008), tables 3 to 5.

    Examples
    --------
    Regression on one digit out of ten gives most rows scores below 0.5. The chosen threshold has a higher F-score than
    0.5; the best threshold for the new rows, which is not known in practice, is only slightly better:

    >>> from sklearn.datasets import load_digits
    >>> from kernelrank import RankRLS
    >>> from kernelrank.metrics import best_f_score, f_score
    >>> from kernelrank.model_selection import FScoreClassifier
    >>> X, digit = load_digits(return_X_y=True)
    >>> y = digit == 8
    >>> model = FScoreClassifier(RankRLS(alpha=10)).fit(X[:900], y[:900])
    >>> new, scores = y[900:], model.score_samples(X[900:])
    >>> print(f"{f_score(new, scores, 0.5):.2f} {f_score(new, scores, model.threshold_):.2f}")
    0.60 0.75
    >>> print(f"{best_f_score(new, scores).f_score:.2f}")
    0.79
    """

    # With metadata routing enabled, these reach fit without set_fit_request.
    __metadata_request__fit = {"groups": True, "qid": True}  # noqa: RUF012 - read by scikit-learn, never changed

    def __init__(
        self,
        estimator: Any = None,
        *,
        threshold: Literal["cross-validation", "rate"] = "cross-validation",
        beta: float = 1.0,
        positive_rate: float | None = None,
        cv: Any = _FOLDS,
        classes: ArrayLike | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.beta = beta
        self.positive_rate = positive_rate
        self.cv = cv
        self.classes = classes
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Choose the threshold by cross-validation, and fit the estimator to all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As the estimator takes it. A data-frame column named "qid" is taken as the query of each row.
        y : array-like of shape (n_samples,)
            Two classes.
        groups : array-like of shape (n_samples,), optional
            Group of each row, such as a patient or a document. Rows of a group are never in different folds. Passed to
            the estimator's ``fit`` if that takes groups.
        qid : array-like of shape (n_samples,), optional
            Query of each row; passed to the estimator's ``fit`` if that takes it. Without `groups`, queries are the
            groups.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, also in the F-score; passed to the estimator's ``fit`` if given.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        NoComparablePairsError
            If there is one class only.
        ValueError
            If there are more than two, or if a class has too few rows to hold some out.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        self._check_parameters()
        n_rows = count_rows(X)
        weights = check_weights(sample_weight, n_rows)
        classes, codes, weighty = encode_classes(y, n_rows, weights, self.classes, type(self).__name__)
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}: it has"
                f" {len(classes)} classes."
            )
        X, qid = separate_qid(X, qid)
        queries, _ = encode_queries(qid, n_rows)
        together = rows_that_stay_together(groups, queries, n_rows)
        (X,) = indexable(X)
        estimator = RankRLS() if self.estimator is None else self.estimator
        metadata: dict[str, Any] = {}
        for name, values in (("qid", qid), ("groups", groups)):
            argument = None if values is None else fit_argument(estimator, name)
            if argument is not None:
                metadata[argument] = values
        if isinstance(self.cv, str) and together is not None:  # queries, too
            metadata[self._argument_for_groups(estimator)] = together
        if weights is not None:  # an estimator that takes none raises an error
            metadata[fit_argument(estimator, "sample_weight") or "sample_weight"] = weights
        model = clone(estimator).fit(X, codes.astype(np.float64), **metadata)
        if not weighty.all():  # rows without weight are not in folds either
            kept = np.flatnonzero(weighty)
            X, codes = take_features(estimator, X, kept), codes[kept]
            together = None if together is None else together[kept]
            metadata = take_params(metadata, kept)
            weights = None if weights is None else weights[kept]
        if isinstance(self.cv, str):
            scores, rows = self._own_scores(model, n_rows)[weighty], np.arange(len(codes))
        else:
            folds = self._folds(codes, together)
            scores, rows = self._held_out_scores(estimator, X, codes, metadata, folds), np.concatenate(folds)
        weights = None if weights is None else weights[rows]
        with refit(self) as fitted:
            fitted.threshold_, fitted.f_score_ = self._choose(codes[rows], scores, weights)
            fitted.estimator_, fitted.classes_ = model, classes
        return self

    def _check_parameters(self) -> None:
        check_parameters(self, cv=choice("own") | FOLDS)
        if self.positive_rate is not None and self.threshold != "rate":
            raise ValueError('positive_rate is for threshold="rate"; else it must be None.')

    def _folds(self, codes: Rows, together: Codes | None) -> list[Rows]:
        """Return the test rows of each fold."""
        cv = _FOLDS if self.cv is None else self.cv
        if isinstance(cv, Integral):
            cv = stratified_folds(int(cv), codes, together, self.random_state)
        folds = make_folds(cv, codes.astype(np.float64), together, together, None)
        for number, fold in enumerate(folds):
            if fold.train.sum() + len(fold.test) != len(codes):
                raise ValueError(f"Fold {number} of cv must train on all rows that it does not test on.")
            if len(np.unique(codes[fold.train])) < 2:
                raise ValueError(f"Fold {number} of cv trains on rows of one class only: use fewer folds.")
        return [fold.test for fold in folds if len(fold.test)]

    def _held_out_scores(
        self, estimator: Any, X: Any, codes: Rows, metadata: dict[str, Any], folds: list[Rows]
    ) -> Array:
        """Return the held-out scores of all folds, one fold after the other.

        Scores of RankRLS without queries include the mean of the training targets, which depends on the held-out rows.
        To measure an order, the mean would have to be subtracted. Here it is kept, because the scores of new rows,
        which the threshold is for, include such a mean as well. In 36 settings of 120 rows (stratified folds, plain
        folds, single rows, groups; no, some and much signal; 150 draws each) subtracting it changed the F-score of new
        rows by -0.0006 on average, and by -0.007 to +0.006; the F-score of the held-out rows never decreased, so it was
        more optimistic.
        """
        held_out = hold_out(estimator, X, codes.astype(np.float64), metadata, self.n_jobs, 0, False)
        found = [
            each for each in held_out.predict(folds, len(folds)) if each is not None
        ]  # every fold leaves both classes
        return np.asarray(Predicted(*map(np.concatenate, zip(*found, strict=True))).tied())

    @staticmethod
    def _argument_for_groups(estimator: Any) -> str:
        argument = fit_argument(estimator, "groups")
        if argument is None:
            raise ValueError(f'cv="own" with groups or qid: fit of {type(estimator).__name__} takes no groups.')
        return argument

    @staticmethod
    def _own_scores(model: Any, n_rows: int) -> Array:
        scores = np.asarray(to_host(getattr(model, "held_out_", None)))
        if scores.shape != (n_rows,):
            raise ValueError(
                f'cv="own" needs an estimator with held_out_, a value per row, but {type(model).__name__} has none: use'
                ' RLSCV(cv="leave-one-out") itself, or folds.'
            )
        return scores

    def _choose(self, codes: Rows, scores: Array, weights: Array | None) -> tuple[float, float]:
        """Return the threshold and its F-score."""
        if self.threshold == "cross-validation":
            best = best_f_score(codes, scores, beta=self.beta, sample_weight=weights)
            return best.threshold, best.f_score
        rate = np.average(codes, weights=weights) if self.positive_rate is None else self.positive_rate
        threshold = threshold_at_rate(scores, float(rate), sample_weight=weights)
        return threshold, f_score(codes, scores, threshold, beta=self.beta, sample_weight=weights)

    def score_samples(self, X: Any) -> Array:
        """Score every row of X with the estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores; a row is positive if its score exceeds `threshold_`.
        """
        check_is_fitted(self)
        return scores_of(self.estimator_, separate_qid(X, None)[0])

    @property
    def _wrapped(self) -> Any:
        return self.estimator_

    @property
    def thresholds_(self) -> Array:  # type: ignore[override]
        """Threshold as an array, as classifiers of several classes have it."""
        return np.array([self.threshold_])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class, tags.classifier_tags.poor_score = False, False
        tags.input_tags = get_tags(RankRLS() if self.estimator is None else self.estimator).input_tags
        return tags
