"""The span of a few rows in the space of a kernel, as features."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)


def whitening(K: Array) -> Array:
    """Find T with ``T' K T = I`` for the kernel matrix K of basis rows; shape (n_basis, rank).

    ``k(x, basis) T`` are then features whose inner products are those of the projections onto the span of the basis:
    a linear model w of them is the function with the coefficients T w, and ``||w||`` is its norm. Directions that are
    zero but for rounding are left out.
    """
    values, vectors = scipy.linalg.eigh(K, check_finite=False)
    kept = values > len(K) * _EPS * np.max(values, initial=0.0)
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))
