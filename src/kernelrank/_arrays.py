"""Operations on dense arrays of any namespace of the array API standard.

Algorithms are written once, against the namespace of their arrays. This module has operations that the standard lacks,
and faster variants for NumPy and SciPy. Row indices, group codes and orders are mostly NumPy arrays; `like` and `take`
convert them to the namespace and device of an array.

Decompositions and large products can be interrupted. They use NumPy: SciPy's hold the GIL while they run, so that the
main thread could not wait for them in an interruptible way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import array_api_compat
import numpy as np
import scipy.linalg
import scipy.sparse as sp
from array_api_compat import array_namespace, device
from numpy.typing import NDArray
from sklearn import get_config

from kernelrank._interrupt import interruptible

Array = Any  # float64, of any namespace and device
Codes = NDArray[np.integer[Any]]

_IN_CACHE = 1 << 15  # elements per block of rows, 256 KiB
_FEW = 128  # rows below which a triangular matrix is not halved further
_AT_ONCE = 1 << 22  # elements per block on other devices, 32 MiB


def is_foreign(x: Any) -> bool:
    """Return whether an array belongs to another library than NumPy; sparse matrices and other objects do not."""
    return not isinstance(x, np.ndarray | np.generic) and array_api_compat.is_array_api_obj(x)


def accepted_namespace(x: Any) -> Any:
    """Return the namespace in which scikit-learn processes x: NumPy, unless ``array_api_dispatch`` is set."""
    return array_namespace(x) if get_config()["array_api_dispatch"] and is_foreign(x) else np


def place(x: Any) -> str:
    """Describe the library and the device of an array."""
    if not is_foreign(x):
        return "NumPy"
    return f"{array_namespace(x).__name__.removeprefix('array_api_compat.')} on {device(x)}"


def to_host(x: Any) -> Any:
    """Convert arrays to NumPy, and return anything else unchanged."""
    return np.from_dlpack(x, device="cpu") if is_foreign(x) and hasattr(x, "__dlpack__") else x


def like(values: NDArray[Any], x: Array) -> Array:
    """Convert a NumPy array to the namespace and device of x."""
    if not is_foreign(x):
        return values
    # PyTorch warns of arrays that must not be written to.
    return array_namespace(x).asarray(np.require(values, requirements="W"), device=device(x))


def in_double(x: Array) -> Array:
    """Convert an array to float64; NumPy arrays and sparse matrices are converted in products."""
    return array_namespace(x).astype(x, array_namespace(x).float64, copy=False) if is_foreign(x) else x


def as_double(x: Any) -> Array:
    """Convert any array-like, or an array of another library, to an array of float64."""
    return in_double(x) if is_foreign(x) else np.asarray(x, dtype=np.float64)


def copied(x: Array) -> Array:
    """Copy an array, which may be sparse."""
    return array_namespace(x).asarray(x, copy=True) if is_foreign(x) else x.copy()


def canonical(X: Any) -> Any:
    """Return a CSR or CSC matrix with sorted, distinct indices and no stored zeros; a copy if necessary.

    Products sum the stored elements of a row in their order, which must be the same for equal rows.
    """
    stored = X.indptr[-1]  # the arrays may be longer
    if X.has_canonical_format and np.count_nonzero(X.data[:stored]) == stored:
        return X
    # SciPy caches its findings in the matrix, and sorts in place.
    X = type(X)((X.data, X.indices, X.indptr), shape=X.shape, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def spread(x: Array) -> float:
    """Return the difference of the largest and the smallest element."""
    xp = array_namespace(x)
    return float(xp.max(x) - xp.min(x))


def all_finite(x: Any) -> bool:
    """Return whether all elements of an array, or a number, are finite."""
    xp = array_namespace(x) if is_foreign(x) else np
    return bool(xp.all(xp.isfinite(x)))


def take(x: Array, numbers: Array, axis: int = 0) -> Array:
    """Copy rows, or slices along another axis, of an array, which may be sparse; indices are NumPy's or beside it."""
    if is_foreign(x):
        return array_namespace(x).take(x, numbers if is_foreign(numbers) else like(numbers, x), axis=axis)
    return x[numbers] if axis == 0 else np.take(x, numbers, axis=axis)


def without_empty_columns(*matrices: Any) -> list[Any]:
    """Return CSR matrices without the columns that are empty in all of them; at least one is kept; data are shared."""
    used = [matrix.indices[: matrix.indptr[-1]] for matrix in matrices]
    columns, places = np.unique(np.concatenate(used), return_inverse=True)
    ends = np.cumsum([len(indices) for indices in used])[:-1]
    return [
        sp.csr_array((matrix.data[: len(indices)], indices, matrix.indptr), shape=(matrix.shape[0], len(columns) or 1))
        for matrix, indices in zip(matrices, np.split(places, ends), strict=True)
    ]


def take_rows(matrix: Array, rows: Codes) -> Array:
    """Return rows of a matrix, without a copy if they are contiguous."""
    in_a_row = len(rows) > 0 and bool((np.diff(rows) == 1).all())
    return matrix[int(rows[0]) : int(rows[-1]) + 1, :] if in_a_row else take(matrix, rows)


def take_both(matrix: Array, rows: Codes, columns: Codes) -> Array:
    """Copy a submatrix of some rows and columns."""
    return take(take(matrix, rows), columns, axis=1) if is_foreign(matrix) else matrix[np.ix_(rows, columns)]


def merge(parts: Sequence[Array], numbers: Sequence[Codes]) -> Array:
    """Combine rows of several arrays at the given indices, which together must be all indices."""
    if is_foreign(parts[0]):
        return take(array_namespace(*parts).concat(parts), np.argsort(np.concatenate(numbers)))
    merged = np.empty((sum(map(len, numbers)), *parts[0].shape[1:]))
    for part, places in zip(parts, numbers, strict=True):
        merged[places] = part
    return merged


def row_blocks(x: Array) -> Iterator[slice]:
    """Split rows into blocks that stay in the cache."""
    return slices(x.shape[0], (_AT_ONCE if is_foreign(x) else _IN_CACHE) // max(1, x.shape[1]))


def slices(n: int, size: int) -> Iterator[slice]:
    """Yield slices of a given size, at least 1, and one of the remainder."""
    for start in range(0, n, max(1, size)):
        yield slice(start, min(n, start + max(1, size)))


def fill_diagonal(matrix: Array, value: float) -> Array:
    """Return a square matrix with a constant diagonal; a NumPy array is overwritten."""
    if is_foreign(matrix):
        xp = array_namespace(matrix)
        return xp.where(xp.eye(matrix.shape[0], dtype=xp.bool, device=device(matrix)), value, matrix)
    np.fill_diagonal(matrix, value)
    return matrix


def matmul(left: Array, right: Array) -> Array:
    """Multiply two dense matrices; the product of NumPy arrays can be interrupted."""
    if is_foreign(left):
        return left @ right
    return interruptible(lambda: left @ right, 2.0 * left.shape[0] * left.shape[-1] * right.shape[-1])


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues, ascending, and eigenvectors of a symmetric matrix."""
    if is_foreign(matrix):
        return array_namespace(matrix).linalg.eigh(matrix)  # type: ignore[no-any-return]
    values, vectors = interruptible(lambda: np.linalg.eigh(matrix), 9.0 * len(matrix) ** 3)
    return values, np.ascontiguousarray(vectors)  # hold-outs access its rows


def svd(matrix: Array, *, complete: bool = False) -> tuple[Array, Array, Array]:
    """Return the singular values, and the left and right singular vectors as columns; all of them if `complete`."""
    if is_foreign(matrix):
        left, singular, right = array_namespace(matrix).linalg.svd(matrix, full_matrices=complete)
        return singular, left, right.T
    m, n = matrix.shape
    left, singular, right = interruptible(
        lambda: np.linalg.svd(matrix, full_matrices=complete), 8.0 * m * n * min(m, n)
    )
    return singular, np.ascontiguousarray(left), right.T


def solve_shifted(matrix: Array, shift: float, right: Array) -> Array:
    """Solve with a positive semidefinite matrix plus a positive multiple of the identity; NumPy's is overwritten."""
    if is_foreign(matrix):  # the standard has no Cholesky solver
        xp = array_namespace(matrix)
        return xp.linalg.solve(matrix + shift * xp.eye(matrix.shape[0], device=device(matrix), dtype=xp.float64), right)
    matrix.flat[:: len(matrix) + 1] += shift
    factor = cholesky(matrix)
    # The transpose is in the order of LAPACK: no copy is made of it.
    return scipy.linalg.cho_solve((factor.T, False), right, check_finite=False)


def cholesky(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lower triangular L with ``L L' = matrix``, for a positive definite NumPy array."""
    return np.asarray(interruptible(lambda: np.linalg.cholesky(matrix), len(matrix) ** 3 / 3.0), dtype=np.float64)


def pivoted_cholesky(matrix: NDArray[np.float64], tolerance: float) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Compute a Cholesky decomposition with pivoting, up to residuals of at most `tolerance` on the diagonal.

    Returns
    -------
    order : ndarray of shape (n,)
        Indices of the rows in the order of the pivots, then the remaining rows.
    R : ndarray of shape (rank, n)
        ``R' R`` is the positive semidefinite matrix in that order, up to `tolerance`; its first `rank` columns are
        upper triangular.

    Notes
    -----
    O(n^2 rank), in blocks as in LAPACK's ``dpstrf``, which cannot be interrupted.
    """
    A, order = matrix.copy(), np.arange(len(matrix))
    for block in slices(len(A), _FEW):
        left = np.diagonal(A)[block.start :].copy()  # residuals of the rows
        for j in range(block.start, block.stop):
            k = j + int(np.argmax(left[j - block.start :]))
            if not left[k - block.start] > tolerance:
                return order, np.triu(A[:j])
            if k != j:
                for exchanged in (A, A.T, order):
                    exchanged[[j, k]] = exchanged[[k, j]]
                left[k - block.start] = left[j - block.start]
            A[j, j:] -= A[block.start : j, j] @ A[block.start : j, j:]
            A[j, j:] /= A[j, j] ** 0.5
            left[j + 1 - block.start :] -= A[j, j + 1 :] ** 2
        done = A[block, block.stop :]
        A[block.stop :, block.stop :] -= matmul(done.T, done)
    return order, np.triu(A)


def invert_triangular(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Invert an upper triangular matrix by recursive halving, with most of the work in interruptible products."""
    n, half = len(matrix), len(matrix) // 2
    inverse = np.zeros((n, n))
    if n <= _FEW:
        inverse[:] = scipy.linalg.solve_triangular(matrix, np.eye(n), check_finite=False)
        return inverse
    inverse[:half, :half] = invert_triangular(matrix[:half, :half])
    inverse[half:, half:] = invert_triangular(matrix[half:, half:])
    inverse[:half, half:] = -matmul(matmul(inverse[:half, :half], matrix[:half, half:]), inverse[half:, half:])
    return inverse


class GroupSums:
    """Weighted sums over the rows of each group.

    Parameters
    ----------
    groups : ndarray of shape (m,)
        Group of each row, 0, 1, ...; each group must occur.
    weights : ndarray of shape (m,)
        Weights of the rows.
    """

    def __init__(self, groups: Codes, weights: NDArray[np.float64]) -> None:
        self._order = np.argsort(groups, kind="stable")
        self._weights = weights[self._order]
        self._sizes: Codes = np.bincount(groups)

    def __call__(self, x: Array) -> Array:
        """Return the sums, of shape (n_groups, ...)."""
        if not is_foreign(x):
            return self._matrix @ x
        weights = like(self._weights, x)[:, None]
        if len(self._sizes) == 1:
            return weights.T @ take(x, self._order)
        sums, sizes = weights * take(x, self._order), self._sizes
        while sizes.max() > 1:
            sums, sizes = _add_neighbours(sums, sizes)
        return sums

    @cached_property
    def _matrix(self) -> sp.csr_array:
        return sp.csr_array((self._weights, self._order, np.append(0, np.cumsum(self._sizes))))


def _add_neighbours(x: Array, sizes: Codes) -> tuple[Array, Codes]:
    """Add the second row of each group to the first, the fourth to the third, ...; return the remaining group sizes."""
    halves = (sizes + 1) // 2
    starts, firsts = np.cumsum(sizes) - sizes, np.cumsum(halves) - halves
    first = np.repeat(starts - 2 * firsts, halves) + 2 * np.arange(halves.sum())
    alone = first + 1 == np.repeat(starts + sizes, halves)
    second = take(x, first + ~alone) * like(np.where(alone, 0.0, 1.0), x)[:, None]
    return take(x, first) + second, halves


def refuse_mask(values: Any, name: str) -> None:
    """Raise an error if elements of a masked array are masked, because NumPy would ignore the mask."""
    parts = values if isinstance(values, list | tuple) else (values,)
    if any(isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part) for part in parts):
        raise ValueError(
            f"{name} contains a missing value: elements of a masked array are masked. Fill them in (numpy.ma.filled),"
            " or remove their rows."
        )
