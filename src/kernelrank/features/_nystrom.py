"""The span of a few rows in the space of a kernel, as features."""

from __future__ import annotations

import numpy as np
from array_api_compat import array_namespace

from kernelrank._arrays import Array, eigh, svd

_EPS = float(np.finfo(np.float64).eps)


def whitening(K: Array) -> Array:
    """Find T with ``T' K T = I`` for the kernel matrix K of basis rows; shape (n_basis, rank).

    ``k(x, basis) T`` are then features whose inner products are those of the projections onto the span of the basis:
    a linear model w of them is the function with the coefficients T w, and ``||w||`` is its norm. Directions that are
    zero but for rounding are left out.
    """
    values, vectors = eigh(K)
    xp, n = array_namespace(K), K.shape[0]
    # They ascend: those that are kept are the last ones, and the largest the very last.
    first = n - int(xp.count_nonzero(values > n * _EPS * float(values[-1])))
    return vectors[:, first:] / xp.sqrt(values[first:])


def orthonormal(columns: Array) -> Array:
    """Find an orthonormal basis of what the columns of a matrix span, but for rounding."""
    singular, vectors, _ = svd(columns)
    rounding = max(columns.shape) * _EPS * float(singular[0])
    return vectors[:, : int(array_namespace(columns).count_nonzero(singular > rounding))]
