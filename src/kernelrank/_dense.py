"""Matrix products whose bits depend on the numbers alone.

BLAS sums in an order that depends on the position of a row, on the number of rows, and on the number of its threads,
which is a setting of the whole process. Here every sum has a fixed order of additions: equal rows have equal products
at any position, in any thread and after a fork. Arrays of other libraries are multiplied by these libraries, and sparse
matrices by SciPy, which sums a row from its first stored element to the last. Rows that are not a matrix in memory
multiply themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._arrays import Array, in_double, is_foreign
from kernelrank._core import inner_product, multiply_columns, multiply_matrices, multiply_rows
from kernelrank._threads import blas_threads
from kernelrank._unformed import UnformedRows

Vector = NDArray[np.float64]

_WORTH_THREADS = 1 << 18  # multiplications, above which threads are used


def multiply(X: Any, weights: Array, n_threads: int | None = None) -> Array:
    """Compute ``X @ weights`` in float64, for a vector or a matrix; the default number of threads is that of BLAS."""
    if is_foreign(weights) or sp.issparse(X) or isinstance(X, UnformedRows):
        return in_double(X) @ weights
    X, out = readable(X), np.empty((X.shape[0], *weights.shape[1:]))
    if n_threads is None:
        n_threads = default_threads(X.shape[0] * weights.size)
    if weights.ndim == 1:
        multiply_rows(X, contiguous(weights), out, n_threads)
    else:
        multiply_matrices(X, readable(weights, np.float64), out, n_threads)
    return out


def default_threads(n_multiplications: float) -> int:
    """Return the number of threads of BLAS, or 1 for few multiplications."""
    return blas_threads() if n_multiplications >= _WORTH_THREADS else 1


def multiply_transposed(X: NDArray[Any], g: Vector, *, squared: bool = False) -> Vector:
    """Compute ``X.T @ g``, or with the squares of the elements of X, in one thread."""
    X, out = readable(X), np.empty(X.shape[1])
    multiply_columns(X, contiguous(g), out, 1, squared=squared)
    return out


def dot(a: Vector, b: Vector) -> float:
    """Compute ``a @ b``."""
    if is_foreign(a):
        return float(a @ b)
    return inner_product(contiguous(a), contiguous(b))


def inner(u: Vector, v: Vector) -> Any:
    """Compute the inner product of v with a vector, or with each row of a matrix, in one thread."""
    return np.float64(dot(u, v)) if u.ndim == 1 else multiply(u, v, n_threads=1)


def norm(v: Vector) -> float:
    """Compute the Euclidean norm."""
    return float(np.sqrt(dot(v, v)))


def contiguous(v: Any) -> Vector:
    """Return a vector in the layout of the compiled products."""
    return np.require(v, np.float64, ["C_CONTIGUOUS", "ALIGNED"])


def readable(X: NDArray[Any], *dtypes: Any) -> NDArray[Any]:
    """Return a matrix in the layout of the compiled products; strides of whole elements need no copy."""
    if X.dtype not in (dtypes or (np.float64, np.float32)):
        X = X.astype(np.float64)
    whole = all(stride % X.itemsize == 0 for stride in X.strides)
    return X if whole and X.flags.aligned else X.copy()  # ascontiguousarray would keep what is not aligned
