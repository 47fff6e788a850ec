"""Scorers for scikit-learn that pass queries on to a metric."""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metadata_routing import MetadataRequest

from kernelrank._fields import separate_observed
from kernelrank._row_scores import score_method
from kernelrank._rules import CALLABLE, FLAG, NONE, TEXT
from kernelrank._validation import separate_qid, warn_of_missing_observed, warn_of_missing_queries
from kernelrank.metrics._auc import auc
from kernelrank.metrics._concordance import concordance_index
from kernelrank.metrics._names import LOWER_IS_BETTER, METRICS, Metric, check_options, parse_metric


def make_ranking_scorer(metric: str | Metric, *, greater_is_better: bool | None = None, **kwargs: Any) -> RankingScorer:
    """Make a scorer from a metric, for `scoring` in scikit-learn, that takes queries into account.

    Parameters
    ----------
    metric : str or callable
        A metric of :mod:`kernelrank.metrics` or its name; "map", "mrr", "concordance", "kendall" and "precision" are
        accepted as short names. The name may include the number of positions, as in "ndcg@10", and parameters, as in
        "ndcg@10:undefined=0". Alternatively, a function ``(y_true, y_score, *, qid=None, ...)``.
    greater_is_better : bool, optional
        Whether higher values are better; if not, the scorer returns the negated metric. By default it is known for the
        metrics of this package, and True for other functions.
    **kwargs
        Parameters of the metric, such as `k` and `undefined`.

    Returns
    -------
    RankingScorer
        Callable as ``scorer(estimator, X, y, qid=qid)``. It evaluates `decision_function`, or `predict` if the
        estimator has no `decision_function`. Of a classifier with ``score_samples``, such as
        :class:`~kernelrank.OrdinalSVM`, it evaluates these scores.

    Notes
    -----
    Search classes of scikit-learn accept only scikit-learn's own names: use
    ``scoring=make_ranking_scorer("ndcg@10")`` instead of ``scoring="ndcg@10"``. :class:`~kernelrank.RankSVMCV` and
    :class:`~kernelrank.RankRLSCV` accept the name itself.

    Queries reach the scorer in one of two ways:

    - with metadata routing enabled (``sklearn.set_config(enable_metadata_routing=True)``), as ``qid`` in
      ``GridSearchCV.fit(X, y, qid=qid)`` or in the `params` of ``cross_validate``; no request has to be set;
    - without metadata routing, as a data-frame column named "qid", which the estimators of this package also recognise.

    A :class:`~kernelrank.exceptions.MissingQueryWarning` is issued if an estimator of this package was fitted with
    queries but none reach the scorer.

    Examples
    --------
    >>> import numpy as np, sklearn
    >>> from sklearn.model_selection import GroupKFold, cross_val_score
    >>> from kernelrank import RankSVM
    >>> from kernelrank.metrics import make_ranking_scorer
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(200, 3)), np.repeat(np.arange(20), 10)
    >>> y = np.digitize(X[:, 0], [0, 1])
    >>> scorer = make_ranking_scorer("ndcg", k=5)
    >>> scorer
    make_ranking_scorer('ndcg', k=5)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scores = cross_val_score(
    ...         RankSVM(), X, y, scoring=scorer, cv=GroupKFold(4), params={"qid": qid, "groups": qid}
    ...     )
    >>> scores.shape
    (4,)
    """
    (TEXT | CALLABLE)("metric", metric)
    (FLAG | NONE)("greater_is_better", greater_is_better)
    if isinstance(metric, str):
        metric, options = parse_metric(metric)
        kwargs = {**options, **kwargs}
    if "per_query" in kwargs:
        raise ValueError("A scorer returns a single number, so per_query cannot be set.")
    inspect.signature(metric).bind_partial(None, None, qid=None, **kwargs)  # a misspelt name fails here, not in a fold
    check_options(metric, kwargs)
    if greater_is_better is None:
        greater_is_better = metric not in LOWER_IS_BETTER
    return RankingScorer(metric, greater_is_better, kwargs)


class RankingScorer:
    """Scorer that passes queries on to a ranking metric; made by :func:`~kernelrank.metrics.make_ranking_scorer`.

    scikit-learn's own scorer class is not sufficient: it accepts metadata requests only while routing is enabled, and
    does not look for queries in X.

    Parameters
    ----------
    metric : callable
        Metric of this package: a function ``(y_true, y_score, *, qid=None, ...)``.
    greater_is_better : bool
        Whether greater values of the metric are better; otherwise they are negated.
    kwargs : dict
        Further arguments of the metric.
    """

    def __init__(self, metric: Metric, greater_is_better: bool, kwargs: dict[str, Any]) -> None:
        self._metric = metric
        self._greater_is_better = greater_is_better
        self._kwargs = kwargs
        self._requests: dict[str, bool | str | None] = {"qid": True}
        if self.takes_weights:
            self._requests["sample_weight"] = None
        if self._takes("observed"):
            self._requests["observed"] = True

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        observed: ArrayLike | None = None,
    ) -> float:
        """Evaluate the scores that a fitted estimator gives to the rows of X."""
        _, qid = separate_qid(X, qid)  # the estimator gets X with the column, as in fit
        if qid is None:
            warn_of_missing_queries(estimator)
        if separate_observed(y, observed)[1] is None:
            warn_of_missing_observed(estimator)
        return self.evaluate(y, score_method(estimator)(X), qid=qid, sample_weight=sample_weight, observed=observed)

    def evaluate(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        observed: ArrayLike | None = None,
    ) -> float:
        """Evaluate the metric, negated if lower values are better.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True utilities.
        y_score : array-like of shape (n_samples,)
            Predicted scores.
        qid : array-like of shape (n_samples,), optional
            Query of each row.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        observed : array-like of shape (n_samples,), optional
            False where y_true is censored.

        Returns
        -------
        float
            Value of the metric; the greater, the better.
        """
        given = {"sample_weight": sample_weight, "observed": observed}
        options = {name: values for name, values in given.items() if values is not None}
        value = self._metric(y_true, y_score, qid=qid, **options, **self._kwargs)
        return float(value if self._greater_is_better else -value)

    def is_concordance(self, y: NDArray[np.float64]) -> bool:
        """Return whether the metric is the share of pairs in the right order, ties counting half, for utilities `y`.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            True utilities.

        Returns
        -------
        bool
            True for concordance, and for the area under the ROC curve if `y` has two distinct values.
        """
        counts_pairs = self._metric is concordance_index or (self._metric is auc and len(np.unique(y)) == 2)
        plain = self._kwargs.get("ties", 0.5) == 0.5 and self._kwargs.get("truncation") is None
        return counts_pairs and self._greater_is_better and plain

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Set which metadata to request, as for scikit-learn's own scorers; `qid` is always requested.

        Parameters
        ----------
        **requests : bool, str or None
            ``sample_weight=True`` passes weights to a metric that accepts them; ``qid="name"`` takes queries under
            another name.

        Returns
        -------
        self
            The scorer.
        """
        if unknown := requests.keys() - self._requests.keys():
            raise TypeError(f"{self} does not accept the metadata {sorted(unknown)}.")
        self._requests.update(requests)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata that scikit-learn should pass.

        Returns
        -------
        MetadataRequest
            Requests of this scorer.
        """
        request = MetadataRequest(owner=self)
        for name, alias in self._requests.items():
            request.score.add_request(param=name, alias=alias)
        return request

    @property
    def takes_weights(self) -> bool:
        """Whether the metric accepts weights."""
        return self._takes("sample_weight")

    def require_observed(self) -> None:
        """Raise an error if the metric does not know censored utilities."""
        if not self._takes("observed"):
            raise ValueError(f"{self} has no parameter for what is observed: score censored utilities by concordance.")

    def _takes(self, name: str) -> bool:
        return name in inspect.signature(self._metric).parameters

    def _accept_sample_weight(self) -> bool:
        """Return whether the metric accepts weights; scikit-learn's search classes call this name."""
        return self.takes_weights

    def __sklearn_clone__(self) -> RankingScorer:
        copy = RankingScorer(self._metric, self._greater_is_better, dict(self._kwargs))
        copy._requests = dict(self._requests)
        return copy

    def __repr__(self) -> str:
        name = getattr(self._metric, "__name__", repr(self._metric))
        known = METRICS.get(name) is self._metric
        arguments = [repr(name) if known else name]
        if self._greater_is_better == (self._metric in LOWER_IS_BETTER):
            arguments.append(f"greater_is_better={self._greater_is_better}")
        arguments += [f"{key}={value!r}" for key, value in self._kwargs.items()]
        return f"make_ranking_scorer({', '.join(arguments)})"
