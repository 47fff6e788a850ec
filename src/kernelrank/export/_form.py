"""The form that all exports start from: how columns become numbers, and a linear model or a kernel expansion of them.

A feature is a function of one column. Scalers, imputers and encoders of one column map features to features, so that a
pipeline of them remains a list of features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelrank.kernels import Kernel

Matrix: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """An original column that no encoder or scaler has used yet; `fill`, unless None, replaces a missing value."""

    column: int
    fill: Any = None

    def as_number(self) -> Number:
        """Return the column as a number."""
        return Number(self.column, missing=nan if self.fill is None else float(self.fill))


@dataclass(frozen=True)
class Number:
    """The number ``factor * (x - centre) + shift`` of a column x, or `missing`; NaN means that prediction raises."""

    column: int
    centre: float = 0.0
    factor: float = 1.0
    shift: float = 0.0
    missing: float = nan

    def scaled(self, centre: float, factor: float, shift: float = 0.0) -> Number:
        """Return ``factor * (feature - centre) + shift``."""
        missing = (self.missing - centre) * factor + shift
        if self.shift == 0 and self.factor != 0:  # x - centre first: no digits are lost to a large offset of x
            centre = self.centre + centre / self.factor
            return replace(self, centre=centre, factor=self.factor * factor, shift=shift, missing=missing)
        return replace(self, factor=self.factor * factor, shift=(self.shift - centre) * factor + shift, missing=missing)


@dataclass(frozen=True)
class Category:
    """A number for each category of a column.

    Attributes
    ----------
    column : int
    known : tuple
        Categories of the fit, without a missing one; shared by the features of a column.
    values : dict
        Values by the position of a category in `known`.
    other : float
        Value of the known categories that are not in `values`.
    unknown, missing : float
        Values of categories that are not known, and where there is none; NaN means that prediction raises.
    """

    column: int
    known: tuple[Any, ...]
    values: dict[int, float]
    other: float
    unknown: float
    missing: float

    def scaled(self, centre: float, factor: float, shift: float = 0.0) -> Category:
        """Return ``factor * (feature - centre) + shift``."""

        def scale(value: float) -> float:
            return (value - centre) * factor + shift

        values = {place: scale(value) for place, value in self.values.items()}
        return Category(self.column, self.known, values, scale(self.other), scale(self.unknown), scale(self.missing))


Feature: TypeAlias = Column | Number | Category
Encoded: TypeAlias = Number | Category


@dataclass(frozen=True)
class Linear:
    """Scores ``features @ weights + offset``; weights have one column per output."""

    weights: Matrix
    offset: Matrix


@dataclass(frozen=True)
class Expansion:
    """Scores ``kernel(features, basis) @ weights + offset``; weights have one column per output."""

    kernel: Kernel
    basis: Matrix
    weights: Matrix
    offset: Matrix


@dataclass(frozen=True)
class Form:
    """A fitted model as data.

    Attributes
    ----------
    name : str
        Class of the model.
    n_columns : int
    names : list of str or None
        Names of the columns in the export, if they have any.
    fitted_names : list of str or None
        Those of the data frame of the fit.
    features : list of Number or Category
    scorer : Linear or Expansion
    single : bool
        Whether predictions are a vector.
    """

    name: str
    n_columns: int
    names: list[str] | None
    fitted_names: list[str] | None
    features: list[Encoded]
    scorer: Linear | Expansion
    single: bool

    @property
    def column_names(self) -> list[str]:
        """Names of the columns; ``x0``, ``x1``, ... as in scikit-learn where there are none."""
        return [f"x{column}" for column in range(self.n_columns)] if self.names is None else self.names


def tabulate(features: list[Category], weights: Matrix) -> Matrix:
    """Combine the features of one column linearly: a row per known category, then one for unknown, and for missing."""
    n_known = len(features[0].known)
    table = np.zeros((n_known + 2, weights.shape[1]))
    table[:n_known] = np.array([feature.other for feature in features]) @ weights
    for feature, weight in zip(features, weights, strict=True):
        for place, value in feature.values.items():
            table[place] += (value - feature.other) * weight
        # NaN stays NaN whatever the weight: prediction raises.
        table[n_known] += feature.unknown * weight
        table[n_known + 1] += feature.missing * weight
    return table
