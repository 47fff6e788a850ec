"""Classifier of ordered categories on the scores of any ranker."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from kernelrank._refit import refit
from kernelrank._row_scores import score_rows
from kernelrank._rules import check_parameters
from kernelrank._validation import check_weights, count_rows
from kernelrank.estimators._categories import WrappingClassifier, encode_classes, fewest_errors
from kernelrank.estimators._rank_svm import RankSVM


class RankingClassifier(MetaEstimatorMixin, WrappingClassifier):  # type: ignore[misc]
    """Classifier of ordered categories by thresholds on the scores of a ranker.

    The ranker is fitted to the order of the categories. Then thresholds are set on its scores of the training rows, so
    that as few rows as possible are put into a wrong category. :class:`~kernelrank.OrdinalSVM` learns scores and
    thresholds together.

    Parameters
    ----------
    ranker : estimator, default=None
        Any estimator whose ``decision_function`` or ``predict`` returns one score per row: a ranker, a regressor, or a
        pipeline that ends with one. It is cloned. None means ``RankSVM()``.
    classes : array-like of shape (n_classes,), default=None
        Categories from the lowest to the highest. None means sorted; text is then in alphabetical order.

    Attributes
    ----------
    ranker_ : estimator
        Fitted to the numbers 0, 1, ... of the categories.
    classes_ : ndarray of shape (n_classes,)
        Categories from the lowest to the highest.
    thresholds_ : ndarray of shape (n_classes - 1,)
        One between each category and the next, in ascending order. A category between two equal thresholds is never
        predicted; infinite thresholds belong to such a category at an end.
    n_features_in_ : int
        Features seen in fit, as the ranker says.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if the ranker has them.

    See Also
    --------
    kernelrank.OrdinalSVM : Learns scores and thresholds together.

    Notes
    -----
    A dynamic program finds the best thresholds for the scores in O(m log m + m n_classes) time. ``score`` is accuracy,
    as for every classifier; ``ranker_.score`` measures the order.

    All queries share the thresholds, so categories must have the same meaning in every query, and scores must be
    comparable between queries.

    Examples
    --------
    >>> from kernelrank import RankingClassifier, RankRLS
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> y = ["bad", "bad", "fair", "fair", "good", "good"]
    >>> model = RankingClassifier(RankRLS(), classes=["bad", "fair", "good"]).fit(X, y)
    >>> model.predict([[0.0], [3.5], [9.0]])
    array(['bad', 'fair', 'good'], dtype='<U4')
    """

    # With metadata routing enabled, qid reaches fit without set_fit_request.
    __metadata_request__fit = {"qid": True}  # noqa: RUF012 - read by scikit-learn, never changed

    def __init__(self, ranker: Any = None, *, classes: ArrayLike | None = None) -> None:
        self.ranker = ranker
        self.classes = classes

    def fit(
        self, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the ranker, and set the thresholds.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As the ranker takes it.
        y : array-like of shape (n_samples,)
            Category of each row.
        qid : array-like of shape (n_samples,), optional
            Query of each row; passed to the ranker's ``fit`` if given.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; passed to the ranker's ``fit`` if given. An error has the weight of its row.

        Returns
        -------
        self
            The fitted estimator.
        """
        name = type(self).__name__
        if y is None:
            raise ValueError(f"{name} requires y to be passed, but the target y is None.")
        check_parameters(self)
        n_rows = count_rows(X)
        weights = check_weights(sample_weight, n_rows)
        classes, codes, weighty = encode_classes(y, n_rows, weights, self.classes, name)
        given = {"qid": qid, "sample_weight": weights}
        ranker = RankSVM() if self.ranker is None else clone(self.ranker)
        ranker.fit(X, codes, **{key: value for key, value in given.items() if value is not None})
        scores = score_rows(ranker, X, "ranker")
        thresholds = fewest_errors(codes[weighty], scores[weighty], None if weights is None else weights[weighty])
        with refit(self) as fitted:
            fitted.ranker_, fitted.classes_, fitted.thresholds_ = ranker, classes, thresholds
        return self

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Score every row of X with the ranker.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores, to be compared with `thresholds_`: the higher, the higher the category.
        """
        check_is_fitted(self)
        return score_rows(self.ranker_, X, "ranker")

    @property
    def _wrapped(self) -> Any:
        return self.ranker_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(RankSVM() if self.ranker is None else self.ranker).input_tags
        return tags
