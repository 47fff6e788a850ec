"""Dense arrays of any namespace of the array API standard.

Algebra is written once, against the namespace of its arrays. What the standard lacks is here, and what NumPy and SciPy
do better than it asks for. Numbers of rows, groups and orders are NumPy's everywhere; `like` and `take` bring them to
where an array is.

Decompositions and large products can be interrupted. They are NumPy's: SciPy's keep Python's lock while they run, so
that no other thread could wait for them.
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

Array = Any  # of float64; in any namespace, on any device
Codes = NDArray[np.integer[Any]]

_IN_CACHE = 1 << 15  # elements of some rows: 256 KiB
_FEW = 128  # rows of a matrix that are not worth halving
_AT_ONCE = 1 << 22  # elements that keep another device busy: 32 MiB


def is_foreign(x: Any) -> bool:
    """Whether an array is one of another library than NumPy; what is no array, or sparse, is not."""
    return not isinstance(x, np.ndarray | np.generic) and array_api_compat.is_array_api_obj(x)


def accepted_namespace(x: Any) -> Any:
    """Return the namespace in which scikit-learn takes x: NumPy, unless ``array_api_dispatch`` is set."""
    return array_namespace(x) if get_config()["array_api_dispatch"] and is_foreign(x) else np


def place(x: Any) -> str:
    """Say of which library an array is, and on which device."""
    if not is_foreign(x):
        return "NumPy"
    return f"{array_namespace(x).__name__.removeprefix('array_api_compat.')} on {device(x)}"


def to_host(x: Any) -> Any:
    """Return arrays as NumPy's, and anything else as it is."""
    return np.from_dlpack(x, device="cpu") if is_foreign(x) and hasattr(x, "__dlpack__") else x


def like(values: NDArray[Any], x: Array) -> Array:
    """Return a NumPy array as one of the namespace and on the device of x."""
    return array_namespace(x).asarray(values, device=device(x)) if is_foreign(x) else values


def in_double(x: Array) -> Array:
    """Return an array as float64; NumPy and sparse matrices convert as they multiply."""
    return array_namespace(x).astype(x, array_namespace(x).float64, copy=False) if is_foreign(x) else x


def as_double(x: Any) -> Array:
    """Return what may be no array, or one of another library, as an array of float64."""
    return in_double(x) if is_foreign(x) else np.asarray(x, dtype=np.float64)


def copied(x: Array) -> Array:
    """Copy an array, which may be sparse."""
    return array_namespace(x).asarray(x, copy=True) if is_foreign(x) else x.copy()


def canonical(X: Any) -> Any:
    """Return a CSR or CSC matrix with sorted indices, each of them once, and no stored zeros; a copy if it has others.

    Products add up the stored elements of a row in their order: of equal rows it must be the same.
    """
    stored = X.indptr[-1]  # the arrays may be longer
    if X.has_canonical_format and np.count_nonzero(X.data[:stored]) == stored:
        return X
    # SciPy notes its findings in the matrix, and sorts in place.
    X = type(X)((X.data, X.indices, X.indptr), shape=X.shape, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def take(x: Array, numbers: Codes, axis: int = 0) -> Array:
    """Copy rows, or other parts of an array, which may be sparse; NumPy's numbers tell which."""
    if is_foreign(x):
        return array_namespace(x).take(x, like(numbers, x), axis=axis)
    return x[numbers] if axis == 0 else np.take(x, numbers, axis=axis)


def without_empty_columns(*matrices: Any) -> list[Any]:
    """Return CSR matrices with the columns in which one of them has elements, at least one column; data are shared."""
    used = [matrix.indices[: matrix.indptr[-1]] for matrix in matrices]
    columns, places = np.unique(np.concatenate(used), return_inverse=True)
    ends = np.cumsum([len(indices) for indices in used])[:-1]
    return [
        sp.csr_array((matrix.data[: len(indices)], indices, matrix.indptr), shape=(matrix.shape[0], len(columns) or 1))
        for matrix, indices in zip(matrices, np.split(places, ends), strict=True)
    ]


def take_rows(matrix: Array, rows: Codes) -> Array:
    """Return rows of a matrix; no copy if they follow each other."""
    in_a_row = len(rows) > 0 and bool((np.diff(rows) == 1).all())
    return matrix[int(rows[0]) : int(rows[-1]) + 1, :] if in_a_row else take(matrix, rows)


def take_both(matrix: Array, rows: Codes, columns: Codes) -> Array:
    """Copy some rows of some columns."""
    return take(take(matrix, rows), columns, axis=1) if is_foreign(matrix) else matrix[np.ix_(rows, columns)]


def merge(parts: Sequence[Array], numbers: Sequence[Codes]) -> Array:
    """Put rows of several arrays where they belong, as their numbers tell; together these are all numbers."""
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
    """Split n into parts of some size, 1 at least, and one of the rest."""
    for start in range(0, n, max(1, size)):
        yield slice(start, min(n, start + max(1, size)))


def fill_diagonal(matrix: Array, value: float) -> Array:
    """Return a square matrix with another diagonal; NumPy's is overwritten."""
    if is_foreign(matrix):
        xp = array_namespace(matrix)
        return xp.where(xp.eye(matrix.shape[0], dtype=xp.bool, device=device(matrix)), value, matrix)
    np.fill_diagonal(matrix, value)
    return matrix


def matmul(left: Array, right: Array) -> Array:
    """Multiply two dense matrices; NumPy's product can be interrupted."""
    if is_foreign(left):
        return left @ right
    return interruptible(lambda: left @ right, 2.0 * left.shape[0] * left.shape[-1] * right.shape[-1])


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and eigenvectors of a symmetric matrix."""
    if is_foreign(matrix):
        return array_namespace(matrix).linalg.eigh(matrix)  # type: ignore[no-any-return]
    values, vectors = interruptible(lambda: np.linalg.eigh(matrix), 9.0 * len(matrix) ** 3)
    return values, np.ascontiguousarray(vectors)  # hold-outs take rows of it


def svd(matrix: Array, *, complete: bool = False) -> tuple[Array, Array, Array]:
    """Singular values, and the left and the right singular vectors, as columns; of all of them, for NumPy."""
    if is_foreign(matrix):
        left, singular, right = array_namespace(matrix).linalg.svd(matrix, full_matrices=complete)
        return singular, left, right.T
    m, n = matrix.shape
    left, singular, right = interruptible(
        lambda: np.linalg.svd(matrix, full_matrices=complete), 8.0 * m * n * min(m, n)
    )
    return singular, np.ascontiguousarray(left), right.T


def solve_shifted(matrix: Array, shift: float, right: Array) -> Array:
    """Solve with a positive semidefinite matrix, plus a positive multiple of the identity; NumPy's is overwritten."""
    if is_foreign(matrix):  # the standard has no Cholesky solver
        xp = array_namespace(matrix)
        return xp.linalg.solve(matrix + shift * xp.eye(matrix.shape[0], device=device(matrix), dtype=xp.float64), right)
    matrix.flat[:: len(matrix) + 1] += shift
    factor = cholesky(matrix)
    return scipy.linalg.cho_solve((factor, True), right, check_finite=False)


def cholesky(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return L, lower triangular, with ``L L'`` a positive definite matrix of NumPy."""
    return np.asarray(interruptible(lambda: np.linalg.cholesky(matrix), len(matrix) ** 3 / 3.0), dtype=np.float64)


def pivoted_cholesky(matrix: NDArray[np.float64], tolerance: float) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Find rows that leave no other row more than `tolerance` of its own.

    Returns
    -------
    order : ndarray of shape (n,)
        The rows in the order in which they were chosen, then the others.
    R : ndarray of shape (rank, n)
        ``R' R`` is the positive semidefinite matrix in that order, up to `tolerance`; its first `rank` columns are
        upper triangular.

    Notes
    -----
    O(n^2 rank), in blocks of rows as LAPACK's ``dpstrf``, which cannot be interrupted.
    """
    A, order = matrix.copy(), np.arange(len(matrix))
    for block in slices(len(A), _FEW):
        left = np.diagonal(A)[block.start :].copy()  # what rows have of their own
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
    """Invert an upper triangular matrix by halves, so that products, which can be interrupted, are most of the work."""
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
        Group of each row, 0, 1, ...; none may be missing.
    weights : ndarray of shape (m,)
        Of the rows.
    """

    def __init__(self, groups: Codes, weights: NDArray[np.float64]) -> None:
        self._order = np.argsort(groups, kind="stable")
        self._weights = weights[self._order]
        self._sizes: Codes = np.bincount(groups)

    def __call__(self, x: Array) -> Array:
        """Add up; shape (n_groups, ...)."""
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
    """Add the second row of each group to its first, the fourth to its third, ...; return how many are left."""
    halves = (sizes + 1) // 2
    starts, firsts = np.cumsum(sizes) - sizes, np.cumsum(halves) - halves
    first = np.repeat(starts - 2 * firsts, halves) + 2 * np.arange(halves.sum())
    alone = first + 1 == np.repeat(starts + sizes, halves)
    second = take(x, first + ~alone) * like(np.where(alone, 0.0, 1.0), x)[:, None]
    return take(x, first) + second, halves
