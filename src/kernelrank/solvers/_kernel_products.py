r"""Products with the features of a kernel, which are never formed.

By the representer theorem the best function is ``f = sum_j c_j k(x_j, .)``. It is kept as the vector ``[c, K c]`` of
its coefficients and its values at the rows, with K the kernel matrix. Then

- sums of functions are sums of vectors,
- ``<f, h> = c_f . (K c_h)``, O(m),
- the scores of f are the second half of its vector: no product,
- the transposed product takes g to the function with the coefficients g: one product with K.

So a solver that uses the inner product of its oracle minimises over all functions of the kernel's space. K is neither
factorised nor changed: rows that are almost dependent, or whose norms differ by many orders of magnitude, are not
treated differently from others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelrank._dense import dot, inner
from kernelrank.solvers._products import Products, make_products

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

# An element of K is known up to about eps * sqrt(K_ii K_jj), if the kernel sums up a few terms.
_ROUNDING = 4 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class KernelProducts(Products):
    """Products with features whose inner products are a kernel matrix.

    Attributes
    ----------
    norms : ndarray of shape (n_rows,)
        Norm of each row in the space of the kernel.
    """

    euclidean: ClassVar[bool] = False

    norms: Vector

    def inner(self, u: Vector, v: Vector) -> Any:
        """Return the inner product of two functions; `u` may hold one per row."""
        return inner(u[..., : self.n_rows], v[self.n_rows :])

    def rounding(self, w: Vector) -> float:
        """Bound the error of ``inner(w, w)`` that is due to the rounding of K."""
        return _ROUNDING * dot(np.abs(w[: self.n_rows]), self.norms) ** 2

    def diagonal(self, d: Vector) -> Vector:
        """Return one number for the whole diagonal, its mean: the space has no coordinates."""
        return self.squares(d)


def make_kernel_products(K: Matrix, n_threads: int = 1) -> KernelProducts:
    """Prepare the products with features whose inner products are a kernel matrix.

    Parameters
    ----------
    K : ndarray of shape (n_rows, n_rows)
        Symmetric, positive semidefinite matrix.
    n_threads : int, default=1
        Number of threads.

    Returns
    -------
    KernelProducts
        The products.
    """
    m, squared_norms = len(K), np.maximum(np.diagonal(K), 0.0)
    # Columns may be shifted: coefficients sum to zero, so values change by a constant, and inner products do not.
    multiply = make_products(K, n_threads).forward
    return KernelProducts(
        m,
        2 * m,
        forward=lambda f: f[m:].copy(),
        backward=lambda g: np.concatenate([g, multiply(g)]),
        squares=lambda d: np.full(1, dot(d, squared_norms) / m),
        norms=np.sqrt(squared_norms),
    )
