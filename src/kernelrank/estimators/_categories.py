"""Ordered classes by thresholds on scores: base classes of classifiers, and the search for thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from kernelrank._fields import refuse_fields
from kernelrank._notebook import ShowsFit, parts_of_fit
from kernelrank._validation import as_array, flatten_column
from kernelrank.exceptions import NoComparablePairsError

Vector = NDArray[np.float64]

_LARGEST = np.finfo(np.float64).max


class ThresholdClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier that compares one score per row with thresholds; a subclass provides ``fit`` and ``score_samples``."""

    classes_: NDArray[Any]  # set by the subclass
    thresholds_: Vector

    def score_samples(self, X: Any) -> Vector:
        """Score every row of X."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Vector:
        """Compute how far each row of X is inside, or outside, of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, the score of ``score_samples`` minus the threshold: positive exactly where the second
            class is predicted. With more, the distance from the score to the nearer threshold of each class, negative
            if the score is outside of the class: the first of the largest ones is that of the predicted class.

        Notes
        -----
        Values are rounded, and finite: an infinite distance is the largest number there is. If the threshold of two
        classes is infinite, so that only one of them is ever predicted, values are a function of the score that
        increases and has the sign of that class. For the order of rows, ``score_samples`` is exact.
        """
        scores = self.score_samples(X)
        if len(self.thresholds_) == 1:
            return _signed_distance(scores, float(self.thresholds_[0]))
        bounds = np.concatenate(([-np.inf], self.thresholds_, [np.inf]))
        with np.errstate(over="ignore"):
            distances = np.minimum(scores[:, None] - bounds[:-1], bounds[1:] - scores[:, None])
        return np.clip(distances, -_LARGEST, _LARGEST)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of every row of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            The class whose thresholds enclose the score of the row. A score that equals a threshold belongs to the
            class below it.
        """
        scores = self.score_samples(X)  # raises NotFittedError before thresholds_ is read
        return self.classes_[np.searchsorted(self.thresholds_, scores, side="left")]

    def predict_category(self, X: Any) -> NDArray[Any]:
        """Predict the class of every row of X, as `predict` does; `predict` of a ranker returns scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes of the rows.
        """
        return self.predict(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn measures classifiers by three classes that are in no order: along no line is one between the
        # other two.
        tags.classifier_tags.poor_score = True
        return tags


class WrappingClassifier(ShowsFit, ThresholdClassifier):
    """Threshold classifier on the scores of another model, whose numbers and names of features are its own."""

    @property
    def _wrapped(self) -> Any:
        """Fitted model; raises an AttributeError if there is none."""
        raise NotImplementedError

    def _html_of_fit(self) -> list[Any]:
        from kernelrank.estimators._notebook import describe_fit

        parts = describe_fit(self)
        return [*parts, *parts_of_fit(self._wrapped)] if parts else []

    @property
    def n_features_in_(self) -> int:
        """Number of features of the training data."""
        return int(self._wrapped.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features, if X had names that are all strings."""
        names: NDArray[Any] = self._wrapped.feature_names_in_
        return names


def _signed_distance(scores: Vector, threshold: float) -> Vector:
    """Return scores minus a threshold: positive exactly where a score exceeds it, and finite."""
    if np.isinf(threshold):  # an increasing function onto the numbers of one sign
        beyond = scores if threshold < 0 else -scores
        with np.errstate(over="ignore"):
            positive = np.where(beyond >= 0, np.minimum(beyond, _LARGEST) + 1, 1 / (1 - np.minimum(beyond, 0)))
        return positive if threshold < 0 else -positive
    with np.errstate(over="ignore"):
        return np.clip(scores - threshold, -_LARGEST, _LARGEST)


def encode_classes(
    y: Any, n_rows: int, weights: Vector | None, classes: ArrayLike | None, name: str
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.bool_]]:
    """Return the classes from the lowest to the highest, the class number of each row, and which rows have weight.

    Rows without weight are ignored: their class numbers have no meaning.
    """
    given = as_array(y, "y")
    refuse_fields(given, "y")  # each combination of the fields would be a class
    labels = check_array(
        column_or_1d(flatten_column(given, "y")),
        ensure_2d=False,
        ensure_min_samples=0,
        dtype=None,
        input_name="y",
    )
    check_classification_targets(labels)
    if len(labels) != n_rows:
        raise ValueError(f"y has {len(labels)} elements, but X has {n_rows} rows.")
    weighty = np.ones(n_rows, dtype=bool) if weights is None else weights > 0
    found, numbers = np.unique(labels[weighty], return_inverse=True)
    if classes is not None:
        found, numbers = _in_given_order(found, numbers, as_array(classes, "classes"))
    if len(found) < 2:
        what = "one class only" if len(found) else "none"
        raise NoComparablePairsError(f"{name} needs rows of at least two classes, but y has {what}.")
    codes = np.zeros(n_rows, dtype=np.intp)
    codes[weighty] = numbers
    return found, codes, weighty


def _in_given_order(
    found: NDArray[Any], numbers: NDArray[np.intp], classes: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Renumber the classes of y by their order in `classes`; classes without rows are left out."""
    position = {label: place for place, label in enumerate(classes.tolist())} if classes.ndim == 1 else {}
    if len(position) != classes.size or classes.size == 0:
        raise ValueError("classes must have each class once, from the lowest to the highest.")
    unknown = [label for label in found.tolist() if label not in position]
    if unknown:
        raise ValueError(f"y has a class that is not among classes: {unknown[0]!r}.")
    places = np.array([position[label] for label in found.tolist()])
    order = np.argsort(places)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return found[order], rank[numbers]


def fewest_errors(codes: NDArray[np.intp], scores: Vector, weights: Vector | None = None) -> Vector:
    """Return the thresholds between classes 0, 1, ... that put the fewest rows into a wrong class.

    This is a dynamic program over the rows in order of score. With ``E_k(j)`` the number of errors if the first j rows
    are put into class k, the smallest number of errors with classes up to k is
    ``D_k(j) = min over i <= j of D_{k-1}(i) + E_k(j) - E_k(i)``. A running minimum computes it in O(m log m + m r).
    """
    n_classes = int(codes.max()) + 1
    order = np.argsort(scores, kind="stable")
    ordered, sorted_codes = scores[order], codes[order]
    mass = np.ones(len(codes)) if weights is None else weights[order]
    # A threshold lies before the first row, after the last, or between two different scores.
    cuts = np.concatenate(([0], np.flatnonzero(ordered[1:] > ordered[:-1]) + 1, [len(codes)]))
    errors = [np.append(0.0, np.cumsum(np.where(sorted_codes == k, 0.0, mass)))[cuts] for k in range(n_classes)]
    least, came_from = errors[0], []
    for k in range(1, n_classes):
        lowest = np.minimum.accumulate(least - errors[k])
        first_there = np.append(True, lowest[1:] < lowest[:-1])
        came_from.append(np.maximum.accumulate(np.where(first_there, np.arange(len(cuts)), 0)))
        least = lowest + errors[k]
    places, place = np.empty(n_classes - 1, dtype=np.intp), len(cuts) - 1
    for k in range(n_classes - 2, -1, -1):
        place = places[k] = came_from[k][place]
    below, above = ordered[cuts[1:-1] - 1], ordered[cuts[1:-1]]
    middle = below / 2 + above / 2
    edges = np.where(middle < above, middle, below)  # there is no number between two neighbouring floats
    return np.concatenate(([-np.inf], edges, [np.inf]))[places]
