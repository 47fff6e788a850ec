"""Decisions by any ranker: a threshold that is learnt from training rows."""

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
from kernelrank._refit import refit
from kernelrank._rules import FOLDS, check_parameters, choice
from kernelrank._validation import check_weights, count_rows, encode_queries, separate_qid
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
    """Decides which rows are positive by a threshold on the scores of any model, for a high F-score.

    The training rows are scored by models that have not seen them; the threshold comes from these scores and the
    known classes, and the model from all rows. Rows to be tested on have no part in it.

    Parameters
    ----------
    estimator : estimator, default=None
        Anything with ``fit(X, y)`` whose ``decision_function``, ``predict_proba`` or ``predict`` gives one score a row:
        a ranker, a regressor, a classifier, a pipeline that ends with one. It is cloned. None means ``RankRLS()``.
    threshold : {"cross-validation", "rate"}, default="cross-validation"
        The one with the greatest F-score; or the one that the share `positive_rate` of the rows exceeds, which depends
        on fewer accidents of the scores.
    beta : float, default=1.0
        How much more recall counts than precision in the F-score; positive.
    positive_rate : float, default=None
        For "rate": the share of positive rows to expect, between 0 and 1. None means that of the training rows.
    cv : int, splitter, iterable of (train, test) or "own", default=10
        A number stands for so many folds at most, each with the same share of either class as nearly as possible;
        there are fewer if a class has fewer rows, or if fewer groups have rows of it. Rows of a group, or of a query,
        are never in different folds. Folds train on all rows that they do not test on. "own" takes the `held_out_` of
        an estimator that has chosen something by them, as :class:`kernelrank.RLSCV` does: then the same scores, of one
        fit, choose its alpha and the threshold.
    classes : array-like of shape (2,), default=None
        The negative class and the positive one. None means sorted; text is then sorted by the alphabet.
    n_jobs : int, default=None
        Fits at a time, as in scikit-learn; a closed form makes one.
    random_state : int, RandomState instance or None, default=0
        For the folds that a number stands for.

    Attributes
    ----------
    estimator_ : estimator
        Fitted to all rows; classes are the numbers 0 and 1.
    classes_ : ndarray of shape (2,)
        The negative class and the positive one.
    threshold_ : float
        A score on it is below it. It is minus infinity if it is best to call all rows positive.
    f_score_ : float
        The F-score at `threshold_` of the training rows, scored by models that have not seen them. With
        ``threshold="cross-validation"`` it is slightly optimistic, since these scores have chosen the threshold; the
        more so if identical rows are in different folds, which groups prevent.
    n_features_in_, feature_names_in_
        Those of the estimator.

    See Also
    --------
    kernelrank.metrics.threshold_at_rate : Decides about new rows by the share of positive ones among them.
    kernelrank.metrics.best_f_score : The best threshold for rows whose classes are known.
    kernelrank.RankingClassifier : Several ordered classes, with as few errors as possible.
    sklearn.model_selection.TunedThresholdClassifierCV : Averages curves of the folds instead of pooling their scores.

    Notes
    -----
    :class:`kernelrank.RankRLS` and :class:`kernelrank.RLS` have held-out scores in closed form, for one fit; other
    estimators, and all of one ranking with `sample_weight`, are fitted once a fold. The threshold takes O(m log m).

    ``score`` is accuracy, as for every classifier of scikit-learn, which relies on it. The F-score of new rows is
    ``f_score(y, model.score_samples(X), model.threshold_)``; in searches, ``scoring="f1"``.

    A threshold helps as far as new rows are like the training rows. If the share of positive rows is another one, or
    scores are on another level, it can be far off while the order of the rows is still right [1]_: then a threshold
    from the new scores and the share that is expected, :func:`kernelrank.metrics.threshold_at_rate`, does better.

    One threshold serves all queries. That makes sense if scores are comparable between them.

    References
    ----------
    .. [1] Airola, Pyysalo, Björne, Pahikkala, Ginter, Salakoski: All-paths graph kernel for protein-protein interaction
       extraction with evaluation of cross-corpus learning. BMC Bioinformatics 9 (2008), tables 3 to 5.

    Examples
    --------
    Regression on one digit out of ten keeps most of its scores below 0.5. A threshold of its own does better; the best
    one for the new rows, which is not to be had, would do little more:

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
        """Train the estimator on all rows, and choose the threshold by models of parts of them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As the estimator takes it. A data-frame column named "qid" is taken as the query of each row.
        y : array-like of shape (n_samples,)
            Two classes.
        groups : array-like of shape (n_samples,), optional
            Rows of a group are never in different folds: those of a patient, or of a document. Handed to the
            estimator's ``fit`` if that takes them.
        qid : array-like of shape (n_samples,), optional
            Query of each row; handed to the estimator's ``fit`` if that takes it. Queries are groups, unless there are
            larger ones.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; handed to the estimator's ``fit`` if given. The F-score counts them as well.

        Returns
        -------
        self

        Raises
        ------
        NoComparablePairsError
            If there is one class only.
        ValueError
            If there are more than two, or if rows of a class cannot be held out with others of it left.
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
        if weights is not None:  # which must not be ignored
            metadata[fit_argument(estimator, "sample_weight") or "sample_weight"] = weights
        model = clone(estimator).fit(X, codes.astype(np.float64), **metadata)
        if not weighty.all():  # the others are as if they were not there, in folds as well
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
        """Return the rows that each fold holds out."""
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
        """Score the rows of the folds, one after the other, by models that have not seen them.

        Those of one ranking of RankRLS are on the level of the rows left, which tells what was held out: to measure an
        order, it would have to be taken out. Here it stays in, since the scores that the threshold is for have a level
        as well. In 36 settings of 120 rows (stratified folds, plain ones, single rows, groups; no, some and much
        signal; 150 draws each) taking it out changed the F-score of new rows by -0.0006 in the mean, and by -0.007 to
        +0.006; that of the held-out rows never fell, and so was the more optimistic.
        """
        held_out = hold_out(estimator, X, codes.astype(np.float64), metadata, self.n_jobs, 0, False)
        found = [each for each in held_out.predict(folds, len(folds)) if each is not None]  # all leave both classes
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
                f'cv="own" takes the held_out_ of its estimator, one a row, but {type(model).__name__} has none: use'
                ' RLSCV(cv="leave-one-out") itself, or folds.'
            )
        return scores

    def _choose(self, codes: Rows, scores: Array, weights: Array | None) -> tuple[float, float]:
        """Return the threshold, and its F-score."""
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

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            A row is positive if its score exceeds `threshold_`.
        """
        check_is_fitted(self)
        return scores_of(self.estimator_, separate_qid(X, None)[0])

    @property
    def _wrapped(self) -> Any:
        return self.estimator_

    @property
    def thresholds_(self) -> Array:  # type: ignore[override]
        """The threshold as an array, as classifiers of several classes have it."""
        return np.array([self.threshold_])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class, tags.classifier_tags.poor_score = False, False
        tags.input_tags = get_tags(RankRLS() if self.estimator is None else self.estimator).input_tags
        return tags
