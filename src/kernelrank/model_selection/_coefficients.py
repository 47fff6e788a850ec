"""Confidence intervals of the coefficients of a linear model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from kernelrank._arrays import to_host
from kernelrank._query_ids import encode_queries
from kernelrank._rules import ESTIMATOR, N_JOBS, RANDOM_STATE
from kernelrank._validation import check_vector, count_rows, separate_qid
from kernelrank.estimators._folds import make_folds
from kernelrank.metrics._influence import check_confidence
from kernelrank.model_selection._parallel import run_in_parallel
from kernelrank.model_selection._subsets import take_params, take_rows

Vector = NDArray[np.float64]


class CoefIntervals(NamedTuple):
    """Coefficients and their intervals.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
        Coefficients of the model fitted to all rows.
    low, high : ndarray of shape (n_features,)
        Ends of the intervals.
    folds : ndarray of shape (n_folds, n_features)
        Coefficients of the models fitted without each fold.
    """

    coef: Vector
    low: Vector
    high: Vector
    folds: NDArray[np.float64]


def coef_intervals(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    cv: Any = 10,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> CoefIntervals:
    r"""Compute confidence intervals of the coefficients of a linear model, from models without each fold.

    The models without each fold share most of their rows, so they differ much less than models of new data would.
    The delete-a-group jackknife [1]_ corrects for it: with K folds and coefficients :math:`w_k` without fold k,

    .. math:: \mathrm{se}^2 = \frac{K - 1}{K} \sum_k (w_k - \bar w)^2,

    and the interval is :math:`w \pm t_{K-1}\, \mathrm{se}`. It is for one coefficient at a time, and for the
    regularised model: regularisation shrinks coefficients towards zero, and those of correlated features towards each
    other.

    Parameters
    ----------
    estimator : estimator with a vector ``coef_`` once it is fitted, or a pipeline that ends with one
        An estimator that chooses its parameters does so for each fold.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        A data-frame column named "qid" is taken as the query of each row.
    y : array-like of shape (n_samples,)
        Utilities.
    qid : array-like of shape (n_samples,), optional
        Query of each row; passed to ``fit`` if given.
    groups : array-like of shape (n_samples,), optional
        Group of each row, which folds do not split; the queries by default.
    cv : int, splitter or iterable of (train, test), default=10
        Folds of about the same size that hold out every row once: see :class:`~kernelrank.RankSVMCV`.
    confidence : float, default=0.95
        Confidence level of each interval.
    n_jobs : int, default=None
        Processes, as in scikit-learn.
    random_state : int, RandomState instance or None, default=0
        For shuffled folds.

    Returns
    -------
    CoefIntervals
        Named tuple ``(coef, low, high, folds)``.

    Raises
    ------
    ValueError
        If the fits have different features, as those of a pipeline may have whose encoder finds fewer categories
        without a fold. Fit the transformers to all rows in that case, and pass their output with the last step.

    See Also
    --------
    kernelrank.plots.CoefficientDisplay : Plots them.

    References
    ----------
    .. [1] Kott: The delete-a-group jackknife. Journal of Official Statistics 17 (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank import RankSVM
    >>> from kernelrank.model_selection import coef_intervals
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X @ [1.0, 0.5, 0.0] + rng.normal(size=200)
    >>> found = coef_intervals(RankSVM(alpha=0.01), X, y)
    >>> (found.low > 0) | (found.high < 0)  # features whose sign is certain
    array([ True,  True, False])
    """
    ESTIMATOR("estimator", estimator)
    N_JOBS("n_jobs", n_jobs)
    RANDOM_STATE("random_state", random_state)
    check_confidence(confidence)
    rows, targets = count_rows(X), check_vector(y, "y")
    if len(targets) != rows:
        raise ValueError(f"X has {rows} rows, but y has {len(targets)} elements.")
    _, ids = separate_qid(X, qid)
    queries, _ = encode_queries(ids, rows)
    folds = make_folds(cv, targets, queries, ids if groups is None else groups, random_state)
    tested = np.bincount(np.concatenate([fold.test for fold in folds]), minlength=rows)
    if len(folds) < 2 or (tested != 1).any() or any(fold.train.sum() + len(fold.test) != rows for fold in folds):
        raise ValueError("cv must have at least two folds, hold out every row once, and train on all other rows.")
    parts = [np.arange(rows), *(np.flatnonzero(fold.train) for fold in folds)]
    params = {} if qid is None else {"qid": qid}  # a column of X stays there: a pipeline may know what to do with it
    arguments = ((estimator, X.tocsr() if sp.issparse(X) else X, y, params, part) for part in parts)
    what = f"fits of {type(estimator).__name__}"
    (coef, names), *others = run_in_parallel(_fit_coef, arguments, len(parts), n_jobs=n_jobs, verbose=0, what=what)
    for number, other in enumerate(others, 1):
        _require_same_features((coef, names), other, f"without fold {number} of {len(folds)}")
    found, n_folds = np.array([other for other, _ in others]), len(folds)
    error = np.sqrt((n_folds - 1) / n_folds * np.sum((found - found.mean(axis=0)) ** 2, axis=0))
    width = stats.t.ppf(0.5 + confidence / 2, n_folds - 1) * error
    return CoefIntervals(coef, coef - width, coef + width, found)


def _fit_coef(
    estimator: Any, X: Any, y: Any, params: dict[str, Any], rows: NDArray[np.intp]
) -> tuple[Vector, list[str] | None]:
    """Return the coefficients of a fit to some rows, and their names if transformers of a pipeline give them."""
    model = clone(estimator)
    model.fit(take_rows(X, rows), take_rows(y, rows), **take_params(params, rows))
    *steps, (_, last) = model.steps if hasattr(model, "steps") else [("", model)]
    coef = np.asarray(to_host(getattr(last, "coef_", np.nan)), dtype=np.float64)
    if coef.ndim != 1:
        raise TypeError(
            f"estimator must have a vector coef_ after fit, as linear models with one output have; {last!r} has none."
        )
    return coef, _names(steps)


def _names(steps: list[tuple[str, Any]]) -> list[str] | None:
    try:
        return [str(name) for name in Pipeline(steps).get_feature_names_out()] if steps else None
    except (AttributeError, ValueError):  # a transformer has no names, or none without those of its input
        return None


def _require_same_features(
    first: tuple[Vector, list[str] | None], other: tuple[Vector, list[str] | None], which: str
) -> None:
    """Raise an error if a fit has other features than that to all rows."""
    (coef, names), (coef_of_other, names_of_other) = first, other
    if len(coef) == len(coef_of_other) and names == names_of_other:
        return
    found = f"all rows have {len(coef)}, those {which} {len(coef_of_other)}"
    if names and names_of_other and (differing := sorted(set(names) ^ set(names_of_other))):
        found += f", and {differing[0]!r} is not among both"
    raise ValueError(
        f"The fits have different features: {found}. Fit the transformers to all rows, and pass what they return with"
        " the last step, as in coef_intervals(model[-1], model[:-1].transform(X), y, qid=qid) for a fitted pipeline."
    )
