"""Linear models for the learning-to-rank plugins of search engines."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._columns import as_frame
from kernelrank._rules import NONE, TEXT, show
from kernelrank.export._form import Form
from kernelrank.export._model import describe
from kernelrank.export._terms import Levels, Slope, fold

_LARGEST = float(np.finfo(np.float32).max)
_SMALLEST = float(np.finfo(np.float32).tiny)
_NORMALIZER = "org.apache.solr.ltr.norm.StandardNormalizer"


@dataclass(frozen=True)
class _Feature:
    """A number that the engine computes, with the contribution ``weight * (x - centre) / scale`` to the score."""

    name: str
    weight: float
    centre: float = 0.0
    scale: float = 1.0
    low: float = 0.0
    high: float = 1.0

    @property
    def is_normalised(self) -> bool:
        return self.centre != 0


def to_elasticsearch(model: Any, name: str, feature_names: Any = None, *, bounds: Any = None) -> dict[str, Any]:
    """Write a linear model for the Learning to Rank plugin of Elasticsearch.

    Parameters
    ----------
    model : estimator or Pipeline
        As in :func:`~kernelrank.export.to_sql`.
    name : str
        Name of the model in the search engine.
    feature_names : list of str, optional
        Names in the feature set of the plugin, one for each column that the model was fitted to. By default those of
        the data frame, or ``x0``, ``x1``, ... as in scikit-learn.
    bounds : {array-like, sparse matrix, data frame} with the columns that the model was fitted to, optional
        Rows between whose smallest and largest values the features lie; two rows, of lower and upper bounds, suffice.
        Scores within them are shifted to be non-negative, as Lucene requires of queries.

    Returns
    -------
    dict
        Body of ``POST _ltr/_featureset/<feature set>/_createmodel``; ``json.dumps`` makes it text.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model, its kernel or a step of the pipeline has no such form; the error names it.
    ValueError
        If the model has several outputs; if `feature_names` are too few, too many or repeated; if `bounds` do not have
        the columns of the model, or are not finite; if the model exceeds the range of float32, in which the plugin
        computes.

    See Also
    --------
    kernelrank.export.to_opensearch : Write a model for OpenSearch.
    kernelrank.export.to_solr : Write a model for Solr.

    Notes
    -----
    The model is of type ``model/linear`` [1]_: the score is the sum over features of a weight times the normalised
    value. A scaler becomes the normaliser ``standard`` of a feature, with a mean and a standard deviation. The plugin
    computes in float32; a document that does not match the query of a feature has the value 0.

    The score is that of ``predict`` minus a constant, since a model has no intercept. With `bounds`, the normaliser of
    each feature subtracts its lower bound if the weight is positive, and its upper bound if it is negative, so that no
    contribution is negative. This changes all scores by the same constant, and no ranking. The value 0 always counts as
    within the bounds.

    A category column, here ``district``, becomes one feature per category, ``district=north``, with the value 1 for a
    document of that category, and 0 for others. A column with an imputer gets a second feature, ``price:missing``, with
    the value 1 for documents without it. Categories that were never seen have the value 0 in all of them. Columns whose
    weight is 0, such as those that a greedy estimator has not selected, are left out.

    References
    ----------
    .. [1] Uploading a trained model, https://elasticsearch-learning-to-rank.readthedocs.io/en/latest/training-models.html

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelrank import RankSVM
    >>> from kernelrank.export import to_elasticsearch
    >>> X = [[1.0, 30.0], [2.0, 10.0], [3.0, 20.0]]
    >>> model = make_pipeline(StandardScaler(), RankSVM()).fit(X, [0, 1, 2])
    >>> body = to_elasticsearch(model, "hotels", ["stars", "price"])
    >>> body["model"]["name"], body["model"]["model"]["type"]
    ('hotels', 'model/linear')
    >>> body["model"]["model"]["feature_normalizers"]["price"]["standard"]["mean"]
    20.0
    """
    return _ltr_body(model, name, feature_names, bounds, "Elasticsearch")


def to_opensearch(model: Any, name: str, feature_names: Any = None, *, bounds: Any = None) -> dict[str, Any]:
    """Write a linear model for the Learning to Rank plugin of OpenSearch.

    Parameters
    ----------
    model : estimator or Pipeline
        As in :func:`~kernelrank.export.to_sql`.
    name : str
        Name of the model in the search engine.
    feature_names : list of str, optional
        As in :func:`~kernelrank.export.to_elasticsearch`.
    bounds : {array-like, sparse matrix, data frame}, optional
        As in :func:`~kernelrank.export.to_elasticsearch`.

    Returns
    -------
    dict
        Body of ``POST _ltr/_featureset/<feature set>/_createmodel``; ``json.dumps`` makes it text.

    Raises
    ------
    sklearn.exceptions.NotFittedError, TypeError, ValueError
        As in :func:`~kernelrank.export.to_elasticsearch`.

    Notes
    -----
    The plugin [1]_ was derived from that of Elasticsearch and takes the same body; see
    :func:`~kernelrank.export.to_elasticsearch`. That Lucene allows no negative scores is among its common issues [2]_.

    References
    ----------
    .. [1] Uploading trained models, https://docs.opensearch.org/docs/search-plugins/ltr/training-models
    .. [2] Common issues, https://docs.opensearch.org/docs/search-plugins/ltr/faq

    Examples
    --------
    >>> import json
    >>> from kernelrank import RankSVM
    >>> from kernelrank.export import to_opensearch
    >>> model = RankSVM().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    >>> body = to_opensearch(model, "recent_first", ["recency"])
    >>> json.loads(body["model"]["model"]["definition"]).keys()
    dict_keys(['recency'])
    """
    return _ltr_body(model, name, feature_names, bounds, "OpenSearch")


def to_solr(
    model: Any, name: str, feature_names: Any = None, *, bounds: Any = None, store: str | None = None
) -> dict[str, Any]:
    """Write a linear model for the Learning To Rank module of Solr.

    Parameters
    ----------
    model : estimator or Pipeline
        As in :func:`~kernelrank.export.to_sql`.
    name : str
        Name of the model in Solr.
    feature_names : list of str, optional
        As in :func:`~kernelrank.export.to_elasticsearch`; names in the feature store.
    bounds : {array-like, sparse matrix, data frame}, optional
        As in :func:`~kernelrank.export.to_elasticsearch`.
    store : str, optional
        Feature store, by default Solr's default one.

    Returns
    -------
    dict
        Body of ``PUT /solr/<collection>/schema/model-store``; ``json.dumps`` makes it text.

    Raises
    ------
    sklearn.exceptions.NotFittedError, TypeError, ValueError
        As in :func:`~kernelrank.export.to_elasticsearch`.

    Notes
    -----
    The class is ``org.apache.solr.ltr.model.LinearModel`` [1]_, with one weight per feature and a
    ``StandardNormalizer`` for each feature that a scaler centres. Scores, and features of categories and missing
    values, are as in :func:`~kernelrank.export.to_elasticsearch`, if the default value of features is 0.

    References
    ----------
    .. [1] Learning To Rank, https://solr.apache.org/guide/solr/latest/query-guide/learning-to-rank.html

    Examples
    --------
    >>> from kernelrank import RankSVM
    >>> from kernelrank.export import to_solr
    >>> model = RankSVM().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    >>> to_solr(model, "recent_first", ["recency"], bounds=[[0.0], [10.0]])["features"]
    [{'name': 'recency'}]
    """
    (TEXT | NONE)("store", store)
    features = _features(model, name, feature_names, bounds, "Solr")
    return {
        **({} if store is None else {"store": store}),
        "name": name,
        "class": "org.apache.solr.ltr.model.LinearModel",
        "features": [{"name": each.name, **_solr_norm(each)} for each in features],
        "params": {"weights": {each.name: each.weight for each in features}},
    }


def _solr_norm(feature: _Feature) -> dict[str, Any]:
    if not feature.is_normalised:
        return {}
    params = {"avg": repr(feature.centre), "std": repr(feature.scale)}
    return {"norm": {"class": _NORMALIZER, "params": params}}


def _ltr_body(model: Any, name: str, feature_names: Any, bounds: Any, target: str) -> dict[str, Any]:
    features = _features(model, name, feature_names, bounds, target)
    normalisers = {
        each.name: {"standard": {"mean": each.centre, "standard_deviation": each.scale}}
        for each in features
        if each.is_normalised
    }
    inner: dict[str, Any] = {"type": "model/linear"}
    if normalisers:
        inner["feature_normalizers"] = normalisers
    # The definition is text within JSON, as for the other types of models.
    inner["definition"] = json.dumps({each.name: each.weight for each in features})
    return {"model": {"name": name, "model": inner}}


def _features(model: Any, name: str, feature_names: Any, bounds: Any, target: str) -> list[_Feature]:
    """Return the features of a linear model, in the order of its columns."""
    TEXT("name", name)
    if not name:
        raise ValueError("name must not be empty.")
    form = describe(model, target, feature_names)
    features: list[_Feature] = []
    limits = None if bounds is None else _Bounds(bounds, form)
    names = form.column_names
    for term in fold(form, target).terms:
        column = names[term.column]
        if isinstance(term, Levels):
            features += _of_levels(column, term)
        else:
            features += _of_slope(column, term, None if limits is None else limits.of(term.column))
    if bounds is not None:
        features = [_non_negative(each) for each in features]
    if not features:
        raise ValueError(f"model cannot be exported to {target}: all of its weights are 0, and rank nothing.")
    _check(features, target)
    # Without a centre, the normaliser would only divide: the weight does.
    return [
        each if each.is_normalised else replace(each, weight=each.weight / each.scale, scale=1.0) for each in features
    ]


def _of_slope(column: str, term: Slope, limits: tuple[float, float] | None) -> list[_Feature]:
    low, high = limits or (0.0, 0.0)
    found = [_Feature(column, term.weight, term.centre, term.scale, low, high)]
    if not isnan(term.missing):
        at_zero = term.present - term.weight * term.centre / term.scale  # the engine takes 0 for what is missing
        found.append(_Feature(f"{column}:missing", term.missing - at_zero))
    return found


def _of_levels(column: str, term: Levels) -> list[_Feature]:
    """Return a feature per category; their weights are relative to a category that was never seen."""
    unseen = 0.0 if isnan(term.unknown) else term.unknown
    values = zip(term.known, term.values.tolist(), strict=True)
    found = [_Feature(f"{column}={category}", value - unseen) for category, value in values if value != unseen]
    if not isnan(term.missing) and term.missing != unseen:
        found.append(_Feature(f"{column}:missing", term.missing - unseen))
    return found


class _Bounds:
    """Rows between whose smallest and largest values the columns of a model lie."""

    def __init__(self, bounds: Any, form: Form) -> None:
        self._names, self._fitted = form.column_names, form.fitted_names
        self._frame = as_frame(bounds) if form.fitted_names is not None else None
        if self._frame is not None:
            return
        if sp.issparse(bounds) and bounds.shape[0]:
            bounds = np.vstack([bounds.min(axis=0).toarray(), bounds.max(axis=0).toarray()])
        try:
            self._matrix: NDArray[Any] = np.asarray(bounds)
        except ValueError:
            self._matrix = np.empty(0)
        if self._matrix.ndim != 2 or self._matrix.shape[1] != form.n_columns:
            raise ValueError(
                f"bounds must be rows of {form.n_columns} columns, as the rows that the model was fitted to, got"
                f" {show(bounds)}."
            )

    def of(self, column: int) -> tuple[float, float]:
        """Return the smallest and the largest value of a column and 0; a missing value is a 0 for the engine."""
        values = self._matrix[:, column] if self._frame is None else self._column(column)
        try:
            numbers = np.asarray(values, np.float64)
        except (TypeError, ValueError):
            numbers = np.array([np.inf])
        numbers = numbers[~np.isnan(numbers)]
        if not np.isfinite(numbers).all() or len(values) == 0:
            raise ValueError(f"bounds must be finite numbers, but those of {self._names[column]!r} are not.")
        return float(numbers.min(initial=0.0)), float(numbers.max(initial=0.0))

    def _column(self, column: int) -> NDArray[Any]:
        assert self._frame is not None
        assert self._fitted is not None
        name = self._fitted[column]
        if name not in self._frame.columns:
            raise ValueError(f"bounds must have the columns of the model, but {name!r} is missing.")
        return self._frame[name].to_numpy()


def _non_negative(feature: _Feature) -> _Feature:
    """Subtract the bound at which the contribution is smallest."""
    return replace(feature, centre=feature.low if feature.weight >= 0 else feature.high)


def _check(features: list[_Feature], target: str) -> None:
    names = [each.name for each in features]
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise ValueError(
            f"feature_names must be such that all features of {target} have different names, but there are two named"
            f" {twice!r}: rename a column."
        )
    numbers = np.array([number for each in features for number in (each.weight, each.centre, each.scale)])
    scales, weights = np.array([each.scale for each in features]), np.array([each.weight for each in features])
    if (
        (np.abs(numbers) > _LARGEST).any()
        or (scales < _SMALLEST).any()
        or 0 < np.max(np.abs(weights), initial=0.0) < _SMALLEST
    ):
        raise ValueError(
            f"model cannot be exported to {target}, which computes in float32: some of its weights, or the scales of"
            " its columns, are too large or too small. Scale the features."
        )
