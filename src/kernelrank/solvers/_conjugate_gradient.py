r"""Least squares over pairs for many rows and many features, by conjugate gradients.

    (X' L X + alpha I) w = X' L y

A step costs two products with X and one with the Laplacian L of the pairs, O(m): X is neither centred nor made dense.
The preconditioner is the diagonal of X'LX, as if every row were compared with the mean row, plus alpha (Jacobi's).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kernelrank._dense import dot, norm
from kernelrank.losses import CensoredSquares, PairwiseSquares
from kernelrank.solvers._products import Products

Array = NDArray[np.float64]
Multiply = Callable[[Array], Array]


class Approximation(NamedTuple):
    """Approximate solution of the equations.

    Attributes
    ----------
    weights : ndarray of shape (n_features, n_outputs)
        Weights of the features.
    n_iter : int
        Largest number of steps of an output.
    residual : float
        Largest norm of the residual of an output, relative to its right-hand side.
    """

    weights: Array
    n_iter: int  # the most steps that an output took
    residual: float  # the largest norm of an output's residual, relative to its right-hand side


class ConjugateGradients:
    """Conjugate gradients for one problem and any alpha.

    Parameters
    ----------
    products : Products
        Products with X.
    loss : PairwiseSquares
        Squared error of pairs.
    preconditioned : bool
        False is for measuring the effect of the preconditioner.
    """

    def __init__(
        self, products: Products, loss: PairwiseSquares | CensoredSquares, *, preconditioned: bool = True
    ) -> None:
        self._multiply: Multiply = lambda v: products.backward(loss.multiply(products.forward(v), overwrite=True))
        self._right = [products.backward(column) for column in loss.pulls.T]
        self._diagonal = products.diagonal(loss.diagonal()) if preconditioned else None

    @classmethod
    def of_equations(cls, multiply: Multiply, right: Sequence[Array], diagonal: Array) -> Self:
        """Return conjugate gradients for equations whose matrix may be anywhere.

        Parameters
        ----------
        multiply : callable
            Multiplies a vector with X'LX.
        right : sequence of ndarray
            Right-hand side of each output.
        diagonal : ndarray
            That of X'LX, approximately.

        Returns
        -------
        ConjugateGradients
            Conjugate gradients for any alpha.
        """
        gradients = cls.__new__(cls)
        gradients._multiply, gradients._right, gradients._diagonal = multiply, list(right), diagonal
        return gradients

    def solve(self, alpha: float, *, tol: float, max_iter: int) -> Approximation:
        """Solve the equations for each output.

        Parameters
        ----------
        alpha : float
            Weight of the squared norm.
        tol : float
            Norm of the residual to reach, relative to the right-hand side.
        max_iter : int
            Largest number of steps per output.

        Returns
        -------
        Approximation
            The solution, and how accurate it is.
        """
        found = [self._solve(right, alpha, tol, max_iter) for right in self._right]
        weights, steps, residuals = zip(*found, strict=True)
        return Approximation(np.stack(weights, axis=1), max(steps), max(residuals))

    def _solve(self, right: Array, alpha: float, tol: float, max_iter: int) -> tuple[Array, int, float]:
        w, residual, size = np.zeros_like(right), right.copy(), norm(right)
        if size == 0:
            return w, 0, 0.0
        if not np.isfinite(size):
            raise np.linalg.LinAlgError("The right-hand side overflows.")
        inverse = 1.0 if self._diagonal is None else 1.0 / (self._diagonal + alpha)
        direction = inverse * residual
        rz = dot(residual, direction)
        for step in range(max_iter):
            if norm(residual) <= tol * size:
                return w, step, norm(residual) / size
            image = self._multiply(direction) + alpha * direction
            length = rz / dot(direction, image)
            w += length * direction
            residual -= length * image
            z = inverse * residual
            rz_before, rz = rz, dot(residual, z)
            direction = z + (rz / rz_before) * direction
        return w, max_iter, norm(residual) / size
