"""A linear model as a sum of functions of single columns, for formats that know neither scalers nor encoders."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank.exceptions import InvalidParameterError
from kernelrank.export._form import Category, Encoded, Expansion, Form, Linear, Number, tabulate


@dataclass(frozen=True)
class Slope:
    """The function ``weight * (x - centre) / scale + present`` of a number, or `missing`; NaN: prediction raises."""

    column: int
    weight: float
    centre: float
    scale: float
    present: float
    missing: float


@dataclass(frozen=True)
class Levels:
    """A function of a category: a value for each known one, for unknown ones, and for a missing one."""

    column: int
    known: tuple[Any, ...]
    values: NDArray[np.float64]
    unknown: float
    missing: float


@dataclass(frozen=True)
class Sum:
    """Sum of functions of different columns, and a constant; columns without any weight are left out."""

    terms: list[Slope | Levels]
    offset: float


def fold(form: Form, target: str) -> Sum:
    """Return a linear model whose weights include scalers, imputers and encoders."""
    scorer = form.scorer
    if isinstance(scorer, Expansion):
        raise InvalidParameterError(
            f"The kernel {type(scorer.kernel).__name__} cannot be exported to {target}, which has linear models only."
            ' Use to_onnx, or fit with kernel="linear".'
        )
    if scorer.weights.shape[1] != 1:
        raise ValueError(
            f"model cannot be exported to {target}: it predicts {scorer.weights.shape[1]} outputs, and a model of"
            f" {target} has one score. Fit one output, or use to_onnx."
        )
    terms = [_fold(features, scorer) for _, features in sorted(by_column(form).items())]
    return Sum([term for term in terms if not _is_zero(term)], float(scorer.offset[0]))


def by_column(form: Form) -> dict[int, list[tuple[int, Encoded]]]:
    """Return the features of each column with their positions; a column is a number or a category, but not both."""
    columns: dict[int, list[tuple[int, Encoded]]] = defaultdict(list)
    for place, feature in enumerate(form.features):
        columns[feature.column].append((place, feature))
    for column, features in columns.items():
        known = _known(features[0][1])
        # Features of one encoder share their categories, of which there may be many.
        if not all(_known(each) is known or _known(each) == known for _, each in features):
            raise ValueError(
                f"The column {form.column_names[column]!r} cannot be exported: it is used as a number and as a"
                " category, or by encoders that know different categories."
            )
    return dict(columns)


def _known(feature: Encoded) -> tuple[Any, ...] | None:
    """Return the known categories; None for a number."""
    return feature.known if isinstance(feature, Category) else None


def _fold(features: list[tuple[int, Encoded]], scorer: Linear) -> Slope | Levels:
    weights = scorer.weights[[place for place, _ in features]]
    categories = [feature for _, feature in features if isinstance(feature, Category)]
    column = features[0][1].column
    if categories:
        table = tabulate(categories, weights)[:, 0]
        return Levels(column, categories[0].known, table[:-2], float(table[-2]), float(table[-1]))
    numbers = [feature for _, feature in features if isinstance(feature, Number)]
    return _slope(column, numbers, weights[:, 0].tolist())


def _is_zero(term: Slope | Levels) -> bool:
    """Return whether a term is 0 for all rows that can be predicted, as those of features that were not selected."""
    numbers = [term.weight, term.present] if isinstance(term, Slope) else [*term.values.tolist(), term.unknown]
    return all(number == 0 or isnan(number) for number in (*numbers, term.missing))


def _slope(column: int, numbers: list[Number], weights: list[float]) -> Slope:
    """Add several affine functions of a column, around the centre of the steepest."""
    steepest = max(zip(numbers, weights, strict=True), key=lambda pair: abs(pair[0].factor * pair[1]))[0]
    centre = steepest.centre
    scale = 1.0 / abs(steepest.factor) if steepest.factor else 1.0
    weight = present = missing = 0.0
    for number, w in zip(numbers, weights, strict=True):
        weight += w * number.factor * scale
        present += w * (number.factor * (centre - number.centre) + number.shift)
        missing += w * number.missing  # NaN stays NaN whatever the weight: prediction raises
    return Slope(column, weight, centre, scale, present, missing)
