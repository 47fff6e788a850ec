"""The only thing a solver sees of a problem."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

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
    euclidean: bool  # whether `inner` is the sum of products of elements

    def scores(self, w: Vector) -> Vector:
        """X w: one product with X."""

    def risk(self, scores: Vector) -> Risk:
        """Value and plane of the loss at `scores`: one counting pass, no product."""

    def subgradient(self, g: Vector) -> Vector:
        """X' g: one product with X."""

    def inner(self, u: Vector, v: Vector) -> Any:
        """Return the inner product of two weight vectors; `u` may hold one per row."""

    def inner_rounding(self, w: Vector) -> float:
        """Bound the error of ``inner(w, w)`` that is due to the rounding of X."""

    def rounding_of_bounds(self, alpha: float, norms: float, slope: float, negligible: float) -> float:
        """Bound by how much rounding of products may bring an upper and a lower bound of the optimum together."""


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
        self.euclidean = products.euclidean
        self.n_products = self.n_evaluations = 0
        self._row_norm: float | None = None  # of the root mean square, once it is needed

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

    def inner(self, u: Vector, v: Vector) -> Any:
        """Return the inner product of two weight vectors; `u` may hold one per row."""
        return self._products.inner(u, v)

    def inner_rounding(self, w: Vector) -> float:
        """Bound the error of ``inner(w, w)`` that is due to the rounding of X."""
        return self._products.rounding(w)

    def rounding_of_bounds(self, alpha: float, norms: float, slope: float, negligible: float) -> float:
        """Bound by how much rounding of products may bring an upper and a lower bound of the optimum together.

        With rows x, and solutions w whose norms are summed up to `norms`, scores ``x . w`` are rounded by
        ``eps ||x|| ||w||``, and the slope a of a plane by ``eps ||x||``. The lower bound has ``||a||^2 / (4 alpha)`` in
        it, with ``a = -2 alpha w``. The norm of the rows costs a product, which is spared where the norm `slope` of a
        slope tells that the bound is `negligible`: rows that are far larger would show there.
        """
        if not self.euclidean:  # its own rounding is that of the kernel, see `inner_rounding`
            return 0.0
        if _rounding(self.n_rows**0.5 * slope, alpha, norms) <= negligible:
            return 0.0
        if self._row_norm is None:
            self.n_products += 1
            squares = self._products.squares(np.full(self.n_rows, 1.0 / self.n_rows))
            self._row_norm = float(np.sqrt(squares.sum()))
        return _rounding(self._row_norm, alpha, norms)


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
        return finite(self._products.diagonal(self._smooth_loss.diagonal()))


def _rounding(row_norm: float, alpha: float, norms: float) -> float:
    slope = float(np.finfo(np.float64).eps) * row_norm
    return slope * norms + slope * (slope / (4 * alpha))


def squared_norm(oracle: Oracle, w: Vector) -> float:
    """Return ``||w||^2``, which rounding must not make negative."""
    return max(0.0, float(oracle.inner(w, w)))


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
