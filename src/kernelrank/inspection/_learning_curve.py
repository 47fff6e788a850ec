"""Performance on held-out queries against the number of queries that are trained on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from kernelrank._notebook import ShowsResult
from kernelrank._rules import Rule
from kernelrank._warnings import warn
from kernelrank.estimators._folds import splits_queries
from kernelrank.estimators._parameters import name_scoring, resolve_scorer
from kernelrank.exceptions import NoComparablePairsError, UndefinedMetricError, UndefinedQueryWarning
from kernelrank.metrics import RankingScorer
from kernelrank.model_selection._cross_validation import CrossValidation
from kernelrank.model_selection._held_out import scores_of
from kernelrank.model_selection._parallel import run_in_parallel
from kernelrank.model_selection._sample import Sample, Split, check_sample, held_out_together, warn_of_identical_rows
from kernelrank.model_selection._subsets import take_features, take_params

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)


def _are_sizes(values: Any) -> bool:
    try:
        numbers = np.asarray(values)
    except (TypeError, ValueError):
        return False
    if numbers.ndim != 1 or len(numbers) == 0 or numbers.dtype.kind not in "iuf" or not (numbers > 0).all():
        return False
    return numbers.dtype.kind != "f" or bool((numbers <= 1).all())


SIZES = Rule("a list of shares above 0 and up to 1, or of positive integers", _are_sizes)


@dataclass(frozen=True)
class LearningCurve(ShowsResult):
    """Scores on held-out rows for training sets of growing size; made by :func:`~kernelrank.inspection.learning_curve`.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,)
        Number of queries (or of rows without queries) that are trained on.
    scores : ndarray of shape (n_sizes, n_folds)
        NaN where no model can be trained, or where the metric is undefined.
    n_rows : ndarray of shape (n_sizes,)
        Mean number of rows that are trained on.
    unit : {"queries", "groups", "rows"}
        What `sizes` counts.
    metric : str
        Name of the metric.
    n_fits : int
        Number of models that were fitted.
    """

    sizes: NDArray[np.intp]
    scores: Array = field(repr=False)
    n_rows: Array = field(repr=False)
    unit: str
    metric: str
    n_fits: int

    @property
    def mean(self) -> Array:
        """Mean score per size over the folds where it is defined; NaN if there are none."""
        return np.array([known.mean() if len(known) else np.nan for known in self._known])

    @property
    def std(self) -> Array:
        """Standard deviation of the score over these folds."""
        return np.array([known.std() if len(known) else np.nan for known in self._known])

    @property
    def _known(self) -> list[Array]:
        return [row[~np.isnan(row)] for row in self.scores]

    def _html(self) -> list[Any]:
        from kernelrank.inspection._notebook import show_learning_curve

        return show_learning_curve(self)

    def __str__(self) -> str:
        lines = [f"{self.metric} on held-out {self.unit}, mean and standard deviation of {self.scores.shape[1]} folds"]
        width = max(len(f"{size:,}") for size in self.sizes)
        for size, mean, std in zip(self.sizes, self.mean, self.std, strict=True):
            lines.append(f"{size:{width},} {self.unit}  {mean:.3f} ± {std:.3f}")
        return "\n".join(lines)


def learning_curve(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    sizes: ArrayLike = SHARES,
    scoring: Any = None,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    observed: ArrayLike | None = None,
    params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    verbose: int = 1,
) -> LearningCurve:
    """Score models of growing training sets on held-out queries.

    Each fold of a cross-validation holds out some queries. Of the others, a random order is drawn, and models are
    trained on its first queries: the sets are nested. Without queries, rows take their place.

    Parameters
    ----------
    estimator : estimator
        Any estimator or pipeline, also of scikit-learn; clones are fitted.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        A data-frame column named "qid" is the query of each row.
    y : array-like of shape (n_samples,)
        Utilities, or two classes of any kind.
    qid : array-like of shape (n_samples,), optional
        Query of each row.
    sizes : array-like of shape (n_sizes,), default=(0.1, 0.25, 0.5, 0.75, 1.0)
        Shares of the queries that the smallest training set of a fold has, or numbers of queries.
    scoring : str or callable, default=None
        Metric of :mod:`kernelrank.metrics` or its name, such as "ndcg@10"; concordance by default.
    cv : int, splitter or iterable of (train, test), default=5
        Folds of queries, which may not be split.
    groups : array-like of shape (n_samples,), optional
        Group of each row, which contains whole queries. Groups are then held out and counted instead of queries.
    observed : array-like of shape (n_samples,), optional
        False where y is censored: the true utility is at least y.
    params : dict, optional
        Further arguments of `fit`, with one element per row.
    n_jobs : int, default=None
        Number of processes.
    random_state : int, RandomState instance or None, default=0
        For the order of queries, and for folds of rows.
    verbose : int, default=1
        Show the progress of long work, on standard error.

    Returns
    -------
    LearningCurve
        The scores of all folds for each size.

    Raises
    ------
    NoComparablePairsError
        If no model of any size can be trained and scored.

    Warns
    -----
    UndefinedQueryWarning
        If some models cannot be trained, or scored, because the rows have no pair to compare.

    Notes
    -----
    Takes one fit per size and fold. Parameters that are chosen by a cross-validation inside the estimator are chosen
    for each training set anew.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank import RankSVM
    >>> from kernelrank.inspection import learning_curve
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(600, 20)), np.repeat(np.arange(60), 10)
    >>> y = X[:, 0] - X[:, 1] + rng.normal(size=600)
    >>> print(learning_curve(RankSVM(alpha=0.01), X, y, qid=qid))
    concordance on held-out queries, mean and standard deviation of 5 folds
     5 queries  0.733 ± 0.027
    12 queries  0.787 ± 0.015
    24 queries  0.805 ± 0.020
    36 queries  0.806 ± 0.020
    48 queries  0.810 ± 0.014
    """
    SIZES("sizes", sizes)
    scorer = resolve_scorer(scoring)
    sample = check_sample(estimator, X, y, qid, groups, params, split_groups=False, classes=None, observed=observed)
    if sample.observed is not None:
        scorer.require_observed()
    if splits_queries(cv):
        raise ValueError(f"cv must hold out queries or rows, not entries of a matrix, got {type(cv).__name__}.")
    validation = CrossValidation.make(
        sample, "averaged", cv, nested=True, n_jobs=n_jobs, random_state=random_state, verbose=verbose
    )
    folds = validation.folds(sample)
    warn_of_identical_rows(sample.X, held_out_together(folds, sample.groups, sample.n_rows))
    unit = "rows" if sample.groups is None else "queries" if groups is None else "groups"
    plans = _plan(sample, folds, sizes, unit, check_random_state(validation.random_state))
    work = [(estimator, sample, scorer, plan.train[:end], plan.test) for plan in plans for end in plan.ends]
    options: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose, "what": f"fits of {type(estimator).__name__}"}
    found = np.array(list(run_in_parallel(_fit_and_score, work, len(work), **options)))
    scores = found.reshape(len(plans), -1).T
    _require_scores(scores)
    n_rows = np.mean([plan.ends for plan in plans], axis=0)
    return LearningCurve(plans[0].sizes, scores, n_rows, unit, name_scoring(scoring), len(work))


class _Plan(NamedTuple):
    """Training rows of a fold in the order in which they are added, and where each training set ends."""

    train: Rows
    test: Rows
    sizes: Rows  # in queries
    ends: Rows  # in rows


def _plan(sample: Sample, folds: list[Split], sizes: ArrayLike, unit: str, rng: Any) -> list[_Plan]:
    """Return the training sets of each fold."""
    units = np.arange(sample.n_rows) if sample.groups is None else sample.groups
    trains = [np.delete(np.arange(sample.n_rows), fold.held_out) for fold in folds]
    least = min(len(np.unique(units[train])) for train in trains)
    asked = np.asarray(sizes)
    if asked.dtype.kind == "f":
        asked = np.maximum(1, np.round(asked * least).astype(np.intp))
    elif asked.max() > least:
        raise ValueError(f"sizes must be at most {least}, the {unit} of the smallest training set, got {asked.max()}.")
    counts = np.unique(asked).astype(np.intp)
    plans = []
    for fold, train in zip(folds, trains, strict=True):
        found, places = np.unique(units[train], return_inverse=True)
        position = rng.permutation(len(found))[places]
        order = np.argsort(position, kind="stable")
        ends = np.searchsorted(position[order], counts)
        plans.append(_Plan(train[order], fold.test, counts, ends))
    return plans


def _fit_and_score(estimator: Any, sample: Sample, scorer: RankingScorer, train: Rows, test: Rows) -> float:
    """Return the score of the test rows by a model of the training rows; NaN if there is no model or no score."""
    train = np.sort(train)
    model = clone(estimator)
    queries, observed = (None if each is None else each[test] for each in (sample.queries, sample.observed))
    try:
        if sample.observed is None and (sample.y[train] == sample.y[train[0]]).all():
            return np.nan
        model.fit(take_features(model, sample.X, train), sample.y[train], **take_params(sample.params, train))
        scores = scores_of(model, take_features(model, sample.X, test, train))
        return scorer.evaluate(sample.utilities[test], scores, qid=queries, observed=observed)
    except UndefinedMetricError:  # also that of a fit to rows without a comparable pair
        return np.nan


def _require_scores(scores: Array) -> None:
    """Warn of scores that are not defined; raise an error if none is."""
    missing = int(np.isnan(scores).sum())
    if missing == scores.size:
        raise NoComparablePairsError("The score is undefined for every fold and size: no rows have a pair to compare.")
    if missing:
        warn(
            f"{missing} of {scores.size} scores are undefined, because training or test rows have no pair to compare."
            " They are left out of the means.",
            UndefinedQueryWarning,
        )
