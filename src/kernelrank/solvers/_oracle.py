"""The only thing a solver sees of a problem."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelrank.losses import PairwiseHinge, Risk
from kernelrank.solvers._products import Products

Vector = NDArray[np.float64]
T = TypeVar("T", float, Vector)


class Oracle(Protocol):
    """A convex, non-negative risk of linear scores, R(w) = loss(X w).

    What its methods return is finite; they raise ValueError where float64 does not suffice.
    """

    n_rows: int
    n_features: int
    n_products: int
    n_evaluations: int

    def scores(self, w: Vector) -> Vector:
        """X w: one product with X."""

    def risk(self, scores: Vector) -> Risk:
        """Value and plane of the loss at `scores`: one counting pass, no product."""

    def subgradient(self, g: Vector) -> Vector:
        """X' g: one product with X."""


class LinearOracle:
    """A loss of scores, times a data matrix.

    Parameters
    ----------
    products : Products
    loss : PairwiseHinge
    """

    def __init__(self, products: Products, loss: PairwiseHinge) -> None:
        self._products, self._loss = products, loss
        self.n_rows, self.n_features = products.n_rows, products.n_columns
        self.n_products = self.n_evaluations = 0

    def scores(self, w: Vector) -> Vector:
        """X w: one product with X."""
        self.n_products += 1
        return finite(self._products.forward(w))

    def risk(self, scores: Vector) -> Risk:
        """Value and plane of the loss at `scores`: one counting pass, no product."""
        self.n_evaluations += 1
        risk = self._loss(scores)
        finite(risk.value)
        return risk

    def subgradient(self, g: Vector) -> Vector:
        """X' g: one product with X."""
        self.n_products += 1
        return finite(self._products.backward(g))


def finite(values: T) -> T:
    """Return the values, if float64 can hold them."""
    if not np.isfinite(values).all():
        raise ValueError(
            "The computation leaves the range of float64: the features are too large, or alpha is too small for them."
            " Rescale the features, for example with sklearn.preprocessing.StandardScaler."
        )
    return values
