"""Oracles: the interface between a problem and its solver."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import all_finite, spread
from kernelrank._dense import dot
from kernelrank.losses import Loss, Risk, SmoothLoss
from kernelrank.solvers._products import Products

Vector = NDArray[np.float64]
T = TypeVar("T", float, Vector)


class Oracle(Protocol):
    """A convex, non-negative risk of linear scores, R(w) = loss(X w).

    Methods return finite numbers. They raise ValueError where the range of float64 does not suffice. Vectors with one
    element per row belong to the oracle, and may be elsewhere: a solver adds, subtracts and scales them, and leaves
    all else to the oracle.
    """

    n_rows: int
    n_features: int
    n_products: int
    n_evaluations: int
    euclidean: bool  # whether `inner` is the sum of products of elements

    def zeros(self) -> Any:
        """Return the scores of w = 0.

        Returns
        -------
        vector of rows
            Scores of the rows, all zero.
        """

    def scores(self, w: Vector) -> Any:
        """Compute X w: one product with X.

        Parameters
        ----------
        w : ndarray of shape (n_features,)
            Weights of the features.

        Returns
        -------
        vector of rows
            Scores of the rows.
        """

    def settle(self, scores: Any) -> Any:
        """Return a sum of scores that is going to be used many times.

        Parameters
        ----------
        scores : vector of rows
            Scores of the rows.

        Returns
        -------
        vector of rows
            The same scores.
        """

    def dot(self, u: Any, v: Any) -> float:
        """Return the inner product of two vectors of rows.

        Parameters
        ----------
        u, v : vector of rows
            Vectors.

        Returns
        -------
        float
            Their inner product.
        """

    def spread(self, scores: Any) -> float:
        """Return the difference of the largest and the smallest score.

        Parameters
        ----------
        scores : vector of rows
            Scores of the rows.

        Returns
        -------
        float
            The difference.
        """

    def risk(self, scores: Any) -> Risk:
        """Compute value and plane of the loss at `scores`: one counting pass, no product.

        Parameters
        ----------
        scores : vector of rows
            Scores of the rows.

        Returns
        -------
        Risk
            Value and tangent plane.
        """

    def subgradient(self, g: Any) -> Vector:
        """Compute X' g: one product with X.

        Parameters
        ----------
        g : vector of rows
            Slope of a plane below the loss.

        Returns
        -------
        ndarray of shape (n_features,)
            Slope of the plane below the risk.
        """

    def inner(self, u: Vector, v: Vector) -> Any:
        """Return the inner product of two weight vectors; `u` may hold one per row.

        Parameters
        ----------
        u : ndarray of shape (n_features,) or (k, n_features)
            Weights.
        v : ndarray of shape (n_features,)
            Weights.

        Returns
        -------
        float or ndarray of shape (k,)
            Inner products.
        """

    def inner_rounding(self, w: Vector) -> float:
        """Bound the error of ``inner(w, w)`` that is due to the rounding of X.

        Parameters
        ----------
        w : ndarray of shape (n_features,)
            Weights of the features.

        Returns
        -------
        float
            The bound.
        """

    def rounding_of_bounds(self, alpha: float, norms: float, slope: float, negligible: float) -> float:
        """Bound by how much rounding of products may bring an upper and a lower bound of the optimum together.

        Parameters
        ----------
        alpha : float
            Weight of the squared norm.
        norms : float
            Sum of the norms of the solutions.
        slope : float
            Norm of a subgradient.
        negligible : float
            Bound that need not be computed more exactly.

        Returns
        -------
        float
            The bound; 0 if it is negligible.
        """


class SmoothOracle(Oracle, Protocol):
    """A risk with second derivatives."""

    @property
    def rounding(self) -> float:
        """Bound on the error of the value evaluated last."""

    def curvature(self, q: Any) -> Any:
        """Multiply q by the second derivative of the loss at the scores evaluated last: no product.

        Parameters
        ----------
        q : vector of rows
            Vector to multiply.

        Returns
        -------
        vector of rows
            The product.
        """

    def diagonal(self) -> Vector:
        """Approximate the diagonal of the second derivative of R: two products with X.

        Returns
        -------
        ndarray of shape (n_features,)
            The diagonal, approximately.
        """


class LinearOracle:
    """A loss of scores, times a data matrix.

    Parameters
    ----------
    products : Products
        Products with X.
    loss : Loss
        Loss of the scores.
    """

    def __init__(self, products: Products, loss: Loss) -> None:
        self._products, self._loss = products, loss
        self.n_rows, self.n_features = products.n_rows, products.n_columns
        self.euclidean = products.euclidean
        self.n_products = self.n_evaluations = 0
        self._row_norm: float | None = None  # root mean square of the norms of the rows, computed when needed

    def zeros(self) -> Any:
        """Return the scores of w = 0.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores of the rows, all zero.
        """
        return self._products.zeros()

    def scores(self, w: Vector) -> Vector:
        """Compute X w: one product with X.

        Parameters
        ----------
        w : ndarray of shape (n_features,)
            Weights of the features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores of the rows.
        """
        self.n_products += 1
        return finite(self._products.forward(w))

    def settle(self, scores: Vector) -> Vector:
        """Return a sum of scores that is going to be used many times.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,)
            Scores of the rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The same scores.
        """
        return scores

    def dot(self, u: Vector, v: Vector) -> float:
        """Return the inner product of two vectors of rows.

        Parameters
        ----------
        u, v : ndarray of shape (n_rows,)
            Vectors.

        Returns
        -------
        float
            Their inner product.
        """
        return dot(u, v)

    def spread(self, scores: Vector) -> float:
        """Return the difference of the largest and the smallest score.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,)
            Scores of the rows.

        Returns
        -------
        float
            The difference.
        """
        return spread(scores)

    def risk(self, scores: Vector) -> Risk:
        """Compute value and plane of the loss at `scores`: one counting pass, no product.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,)
            Scores of the rows.

        Returns
        -------
        Risk
            Value and tangent plane.
        """
        self.n_evaluations += 1
        risk = self._loss(scores)
        finite(risk.value)
        return risk

    def subgradient(self, g: Vector) -> Vector:
        """Compute X' g: one product with X.

        Parameters
        ----------
        g : ndarray of shape (n_rows,)
            Slope of a plane below the loss.

        Returns
        -------
        ndarray of shape (n_features,)
            Slope of the plane below the risk.
        """
        self.n_products += 1
        return finite(self._products.backward(g))

    def inner(self, u: Vector, v: Vector) -> Any:
        """Return the inner product of two weight vectors; `u` may hold one per row.

        Parameters
        ----------
        u : ndarray of shape (n_features,) or (k, n_features)
            Weights.
        v : ndarray of shape (n_features,)
            Weights.

        Returns
        -------
        float or ndarray of shape (k,)
            Inner products.
        """
        return self._products.inner(u, v)

    def inner_rounding(self, w: Vector) -> float:
        """Bound the error of ``inner(w, w)`` that is due to the rounding of X.

        Parameters
        ----------
        w : ndarray of shape (n_features,)
            Weights of the features.

        Returns
        -------
        float
            The bound.
        """
        return self._products.rounding(w)

    def rounding_of_bounds(self, alpha: float, norms: float, slope: float, negligible: float) -> float:
        """Bound by how much rounding of products may bring an upper and a lower bound of the optimum together.

        With rows x, and solutions w whose norms are summed up to `norms`, scores ``x . w`` are rounded by
        ``eps ||x|| ||w||``, and the slope a of a plane by ``eps ||x||``. The lower bound has ``||a||^2 / (4 alpha)`` in
        it, with ``a = -2 alpha w``. Computing the norm of the rows costs a product. It is skipped where the norm
        `slope` of a subgradient shows that the bound is `negligible`.

        Parameters
        ----------
        alpha : float
            Weight of the squared norm.
        norms : float
            Sum of the norms of the solutions.
        slope : float
            Norm of a subgradient.
        negligible : float
            Bound that need not be computed more exactly.

        Returns
        -------
        float
            The bound; 0 if it is negligible.
        """
        if not self.euclidean:  # the rounding of a kernel is in `inner_rounding`
            return 0.0
        if rounding_of_rows(self.n_rows**0.5 * slope, alpha, norms) <= negligible:
            return 0.0
        if self._row_norm is None:
            self.n_products += 1
            squares = self._products.squares(self._products.zeros() + 1.0 / self.n_rows)
            self._row_norm = float(np.sqrt(squares.sum()))
        return rounding_of_rows(self._row_norm, alpha, norms)


class SmoothLinearOracle(LinearOracle):
    """A smooth loss of scores, times a data matrix.

    Parameters
    ----------
    products : Products
        Products with X.
    loss : SmoothLoss
        Loss of the scores.
    """

    def __init__(self, products: Products, loss: SmoothLoss) -> None:
        super().__init__(products, loss)
        self._smooth_loss = loss

    @property
    def rounding(self) -> float:
        """Bound on the error of the value evaluated last."""
        return self._smooth_loss.rounding

    def curvature(self, q: Vector) -> Vector:
        """Multiply q by the second derivative of the loss at the scores evaluated last: no product.

        Parameters
        ----------
        q : ndarray of shape (n_rows,)
            Vector to multiply.

        Returns
        -------
        ndarray of shape (n_rows,)
            The product.
        """
        self.n_evaluations += 1
        return finite(self._smooth_loss.curvature(q))

    def diagonal(self) -> Vector:
        """Approximate the diagonal of the second derivative of R, as if every row were compared with the mean row.

        Returns
        -------
        ndarray of shape (n_features,)
            The diagonal, approximately.
        """
        self.n_products += 2
        return finite(self._products.diagonal(self._smooth_loss.diagonal()))


def rounding_of_rows(row_norm: float, alpha: float, norms: float) -> float:
    """Bound the rounding of bounds of the optimum for rows of a norm; see ``rounding_of_bounds``."""
    slope = float(np.finfo(np.float64).eps) * row_norm
    return slope * norms + slope * (slope / (4 * alpha))


def squared_norm(oracle: Oracle, w: Vector) -> float:
    """Return ``||w||^2``, which rounding must not make negative."""
    return max(0.0, float(oracle.inner(w, w)))


def finite(values: T) -> T:
    """Return the values, or raise ValueError if one of them is infinite or NaN."""
    if not all_finite(values):
        raise ValueError(
            "The computation leaves the range of float64: the features are too large, or alpha is too small for them."
            " Rescale the features, for example with sklearn.preprocessing.StandardScaler."
        )
    return values


def quiet() -> np.errstate:
    """Suppress NumPy's warnings of overflow, which `finite` detects and reports."""
    return np.errstate(over="ignore", invalid="ignore")
