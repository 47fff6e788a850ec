"""Why a model scores one row above another: exact contributions to the difference of their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernelrank._arrays import to_host
from kernelrank._row_scores import score_method
from kernelrank._rules import ESTIMATOR, NAMES, NONE, choice, whole
from kernelrank._validation import check_features
from kernelrank.estimators import RankingClassifier
from kernelrank.estimators._least_squares import LeastSquaresEstimator
from kernelrank.features import NystromMap
from kernelrank.inspection._explanation import Explanation, sort_contributions
from kernelrank.inspection._rows import as_one_row, as_vector, column_names, column_values, fitted_names
from kernelrank.inspection._sources import trace
from kernelrank.inspection._training import contributions_of_pairs, contributions_of_rows
from kernelrank.kernels import Kernel
from kernelrank.model_selection import FScoreClassifier
from kernelrank.pipelines import QueryPipeline
from kernelrank.pipelines._inputs import match_text

Array = NDArray[np.float64]
By = Literal["features", "basis", "rows", "pairs"]
Found = TypeVar("Found")

_TOLERANCE = 1e-6  # of the sum of the contributions, relative to their sizes


def explain(
    model: Any,
    a: Any,
    b: Any,
    feature_names: Sequence[str] | None = None,
    *,
    by: By | None = None,
    output: int | None = None,
) -> Explanation:
    r"""Explain why a model scores row `a` above, or below, row `b`, by contributions that sum to the difference.

    Contributions are exact, not approximations. By `features`, a linear model has

    .. math:: f(a) - f(b) = \sum_j w_j (a_j - b_j),

    where columns made by the transformers of a pipeline are summed per original column. By the `basis`, a kernel model
    has :math:`\sum_i c_i (k(a, x_i) - k(b, x_i))`. Least squares are linear in their targets: by `rows`, each training
    row contributes its target times the derivative of the difference with respect to it, and by `pairs`, each training
    pair its target times such a derivative.

    Parameters
    ----------
    model : fitted estimator or pipeline
        An estimator with ``coef_``, also one of scikit-learn, or a kernel model of this package; a pipeline that ends
        with one; or a search over either.
    a, b : array-like of shape (n_features,)
        A row as an array, a sparse row, a data frame of one row, a pandas Series, or a string if the pipeline takes
        documents.
    feature_names : sequence of str, optional
        Names of the columns. By default those of the data frame or of the fit.
    by : {"features", "basis", "rows", "pairs"}, optional
        What contributes. By default "features" for linear models and "basis" for kernels, also for a linear model of
        the features of a :class:`~kernelrank.NystromMap`. "rows" are training rows and
        "pairs" training pairs, for :class:`~kernelrank.RankRLS` and :class:`~kernelrank.RankRLSCV`; "rows" also for
        :class:`~kernelrank.RLS` and :class:`~kernelrank.RLSCV`.
    output : int, optional
        Output to explain, if the model has several.

    Returns
    -------
    Explanation
        ``print(explanation)`` shows a sentence and a table.

    Raises
    ------
    ValueError
        If a row is not a single row of the model's columns; if the model's scores are not such a sum; or if the
        training data are needed, which are neither pickled nor saved.
    TypeError
        If the model is of a kind that has no such contributions.

    Notes
    -----
    A category that was encoded by one column per value, or a column with an indicator of its missing values, has one
    contribution. Of text, each token has one. A product of columns is a feature of its own. A transformer that mixes
    several columns, such as a principal component analysis, leaves the names of its components. Features on which both
    rows agree contribute nothing and are left out.

    Contributions of training rows take targets relative to the mean of their query, which changes no sum: the
    derivatives of a query sum to zero. By "rows" and "pairs" takes a decomposition, O(m^3) for m rows with a kernel,
    which the model keeps for its hold-outs as well. The number of pairs is O(m^2).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RankRLS
    >>> from kernelrank.inspection import explain
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RankRLS(alpha=1e-4).fit(X, y)
    >>> print(explain(model, X.iloc[0], X.iloc[1]).sentence)
    a is above b by 133: mostly bmi (+58.5), s5 (+47.1), against it sex (-21.9), s2 (-0.639).
    >>> explain(model, X.iloc[0], X.iloc[1], by="rows").table["row"][:3]  # training rows with the largest influence
    array([138, 405, 290])
    """
    ESTIMATOR("model", model)
    (NONE | NAMES)("feature_names", feature_names)
    (NONE | choice("features", "basis", "rows", "pairs"))("by", by)
    (NONE | whole(0))("output", output)
    steps, last = unwrap(model)
    linear = getattr(last, "coef_", None) is not None
    mapped = linear and bool(steps) and isinstance(steps[-1][1], NystromMap) and hasattr(steps[-1][1], "basis_")
    by = by or ("features" if linear and not mapped else "basis")
    _require(last, by, linear, mapped)
    given = tuple(as_one_row(row, name) for name, row in (("a", a), ("b", b)))
    if isinstance(model, QueryPipeline):  # which knows missing text of another library
        given = tuple(_named(name, match_text, model, row) for name, row in zip("ab", given, strict=True))
    rows = tuple(_named(name, transform_rows, steps, row) for name, row in zip("ab", given, strict=True))
    scores = [_named(name, _score, last, row) for name, row in zip("ab", rows, strict=True)]
    number = choose_output(output, len(scores[0]), type(last).__name__)
    if by == "features":
        fields = _by_features(model, steps, last, given, rows, feature_names, number)
    elif by == "basis":
        if mapped:
            of_map = tuple(transform_rows(steps[:-1], row) for row in given)
            fields = _by_map(steps[-1][1], last, of_map, number)
        else:
            fields = _by_basis(last, rows, number)
    else:
        contributions = contributions_of_rows if by == "rows" else contributions_of_pairs
        direction = np.subtract(*(map(as_vector, rows) if linear else _kernels(last, rows)))
        fields = contributions(last, last._fitted_model(), direction, number)
    pair = float(scores[0][number]), float(scores[1][number])
    explanation = sort_contributions(by, pair[0] - pair[1], pair, fields)
    _require_sum(explanation, last)
    return explanation


def unwrap(model: Any) -> tuple[list[tuple[str, Any]], Any]:
    """Return the transformers of pipelines, and the estimator that scores what they make."""
    steps: list[tuple[str, Any]] = []
    while True:
        check_is_fitted(model)
        if isinstance(model, Pipeline):
            steps, model = [*steps, *model.steps[:-1]], model.steps[-1][1]
        elif isinstance(model, RankingClassifier | FScoreClassifier):
            model = model._wrapped
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            return steps, model


def _require(last: Any, by: By, linear: bool, mapped: bool) -> None:
    """Raise an error if a model has no such contributions."""
    name = type(last).__name__
    if by in ("rows", "pairs"):
        if not isinstance(last, LeastSquaresEstimator):
            raise TypeError(
                f"by={by!r} is for least squares, such as RankRLS, whose scores are linear in y; got {name}."
            )
    elif by == "features" and not linear:
        raise TypeError(f'model must have coef_ for by="features", got {name}. For a kernel model, use by="basis".')
    elif (
        by == "basis"
        and not mapped
        and not (hasattr(last, "dual_coef_") and isinstance(getattr(last, "kernel_", None), Kernel))
    ):
        remedy = 'use by="features"' if linear else "explain a linear model, or one of this package with a kernel"
        raise TypeError(f"model must have kernel_ and dual_coef_ of this package, got {name}: {remedy}.")


def _named(name: str, function: Callable[..., Found], *arguments: Any) -> Found:
    """Return what a function of a row returns; its errors name the row."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, IndexError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} is not a row of the model: {error}") from error


def transform_rows(steps: list[tuple[str, Any]], row: Any) -> Any:
    """Return rows as the transformers of a pipeline, one after the other, make them."""
    for _, step in steps:
        if step is not None and not isinstance(step, str):
            row = step.transform(row)
    return row


def _score(last: Any, row: Any) -> Array:
    """Return the score of one row for each output."""
    found = np.asarray(to_host(score_method(last)(row)), dtype=np.float64).reshape(-1)
    if not np.isfinite(found).all():
        raise ValueError("its score is NaN or infinite.")
    return found


def choose_output(output: int | None, n_outputs: int, name: str) -> int:
    """Return the number of the output to explain."""
    if output is None and n_outputs > 1:
        raise ValueError(f"{name} has {n_outputs} outputs: pass output=0, ..., or {n_outputs - 1}.")
    if output is not None and output >= n_outputs:
        raise ValueError(f"output must be below {n_outputs}, the number of outputs of {name}, got {output}.")
    return int(output or 0)


def _by_features(
    model: Any,
    steps: list[tuple[str, Any]],
    last: Any,
    given: tuple[Any, ...],
    rows: tuple[Any, ...],
    feature_names: Sequence[str] | None,
    output: int,
) -> dict[str, Any]:
    """Return the fields of a table of features, in the order of the columns."""
    shown = [column_names(row, model, feature_names) for row in given]
    names = fitted_names(given[0], shown[0], steps[0][1]) if steps else shown[0]
    first, second = map(as_vector, rows)
    coef = np.asarray(to_host(last.coef_), dtype=np.float64)
    parts = np.atleast_2d(coef)[output] * (first - second)
    sources = np.array(trace(Pipeline(steps), names, len(parts)) if steps else names, dtype=object)
    used = np.flatnonzero(parts)
    labels = list(dict.fromkeys(sources[used]))
    places = {label: number for number, label in enumerate(labels)}
    groups = np.array([places[label] for label in sources[used]], dtype=np.intp)
    values: list[list[Any]] = []
    for row, vector, its_names in zip(given, (first, second), shown, strict=True):
        known = dict(zip(its_names, column_values(row), strict=True))
        made = {label: vector[column] for label, column in zip(sources[used], used, strict=True)}
        alone = np.bincount(groups, minlength=len(labels)) == 1
        values.append([known.get(label, made[label] if alone[places[label]] else None) for label in labels])
    contributions = np.bincount(groups, parts[used], len(labels))
    return {"feature": labels, "contribution": contributions, "a": values[0], "b": values[1]}


def _by_basis(last: Any, rows: tuple[Any, ...], output: int) -> dict[str, Any]:
    """Return the fields of a table of basis rows."""
    weights = np.asarray(to_host(last.dual_coef_), dtype=np.float64)
    weights = weights if weights.ndim == 1 else weights[:, output]
    return _expansion(getattr(last, "basis_indices_", None), weights, _kernels(last, rows))


def _by_map(nystrom: NystromMap, last: Any, rows: tuple[Any, ...], output: int) -> dict[str, Any]:
    """Return the fields of a table of basis rows of the map whose features a linear model weighs."""
    coef = np.atleast_2d(np.asarray(to_host(last.coef_), dtype=np.float64))[output]
    return _expansion(nystrom.basis_indices_, np.asarray(nystrom.coefficients(coef)), _kernels(nystrom, rows))


def _expansion(numbers: Any, weights: Array, kernels: list[Array]) -> dict[str, Any]:
    """Return the fields of a table of basis rows with their numbers, if these are known."""
    first, second = kernels
    if numbers is None or len(numbers) != len(weights):
        numbers = np.arange(len(weights))
    fields = {"row": np.asarray(numbers), "contribution": weights * (first - second)}
    return fields | {"a": first, "b": second, "weight": weights}


def _kernels(model: Any, rows: tuple[Any, ...]) -> list[Array]:
    """Return the kernels of each of two rows with the basis."""
    found = []
    for row in rows:
        X = check_features(model, row, reset=False, any_namespace=True)
        [(_, block)] = model.kernel_.blocks(X, getattr(model, "basis_", None))
        found.append(as_vector(block))
    return found


def _require_sum(explanation: Explanation, last: Any) -> None:
    """Raise an error unless the contributions sum to the difference of the scores."""
    found, sizes = explanation.contributions, float(np.abs(explanation.contributions).sum())
    size = sizes + max(map(abs, explanation.scores))
    if abs(found.sum() - explanation.difference) <= _TOLERANCE * size:
        return
    why = (
        f"the scores of {type(last).__name__} are not linear in the features"
        if explanation.by == "features"
        else "the numbers are too large for float64: centre and scale the features, or increase alpha"
    )
    raise ValueError(
        f"The contributions by {explanation.by} sum to {found.sum():.6g}, but model scores the rows"
        f" {explanation.difference:.6g} apart: {why}."
    )
