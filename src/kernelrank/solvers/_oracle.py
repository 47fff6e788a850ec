"""The only thing a solver sees of a problem."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelrank.losses import Loss, Risk, SmoothLoss
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

    def row_norm(self) -> float:
        """Root of the mean squared norm of the rows of X: one product with X."""


class SmoothOracle(Oracle, Protocol):
    """A risk with second derivatives."""

    @property
    def rounding(self) -> float:
        """Bound on the error of the value evaluated last."""

    def curvature(self, q: Vector) -> Vector:
        """Second derivative of the loss, at the scores evaluated last, times q: no product."""

    def diagonal(self) -> Vector:
        """Diagonal of the second derivative of R, nearly: two products with X."""


class LinearOracle:
    """A loss of scores, times a data matrix.

    Parameters
    ----------
    products : Products
    loss : Loss
    """

    def __init__(self, products: Products, loss: Loss) -> None:
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

    def row_norm(self) -> float:
        """Root of the mean squared norm of the rows of X: one product with X."""
        self.n_products += 1
        return float(np.sqrt(self._products.squares(np.full(self.n_rows, 1.0 / self.n_rows)).sum()))


class SmoothLinearOracle(LinearOracle):
    """The same with second derivatives.

    Parameters
    ----------
    products : Products
    loss : SmoothLoss
    """

    def __init__(self, products: Products, loss: SmoothLoss) -> None:
        super().__init__(products, loss)
        self._smooth_loss = loss

    @property
    def rounding(self) -> float:
        """Bound on the error of the value evaluated last."""
        return self._smooth_loss.rounding

    def curvature(self, q: Vector) -> Vector:
        """Second derivative of the loss, at the scores evaluated last, times q: no product."""
        self.n_evaluations += 1
        return finite(self._smooth_loss.curvature(q))

    def diagonal(self) -> Vector:
        """Diagonal of the second derivative of R, as if every row were compared with the mean row."""
        self.n_products += 2
        d = self._smooth_loss.diagonal()
        mean, squares = self._products.backward(d) / d.sum(), self._products.squares(d)
        self._row_norm = float(np.sqrt(squares.sum() / d.sum()))
        return finite(np.maximum(squares - d.sum() * mean**2, 0.0))

    def row_norm(self) -> float:
        """Root of the mean squared norm of the rows of X, each with the pairs it has, as `diagonal` found it."""
        return self._row_norm


def finite(values: T) -> T:
    """Return the values, if float64 can hold them."""
    if not np.isfinite(values).all():
        raise ValueError(
            "The computation leaves the range of float64: the features are too large, or alpha is too small for them."
            " Rescale the features, for example with sklearn.preprocessing.StandardScaler."
        )
    return values


def quiet() -> np.errstate:
    """Overflow is looked for, and reported, by `finite`."""
    return np.errstate(over="ignore", invalid="ignore")
