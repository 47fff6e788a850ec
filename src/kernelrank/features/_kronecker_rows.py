"""Rows that are Kronecker products of two feature vectors, which are never formed."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from kernelrank._arrays import canonical
from kernelrank._dense import default_threads
from kernelrank._entries import EntryProducts
from kernelrank._memory import require_memory
from kernelrank._rules import NONE, choice
from kernelrank._unformed import UnformedRows
from kernelrank._validation import as_array, check_matrix

Symmetry = Literal["symmetric", "antisymmetric"]

_SYMMETRY = choice("symmetric", "antisymmetric") | NONE


class KroneckerRows(UnformedRows):
    r"""Rows that are Kronecker products of a row of U and a row of V, never formed.

    Row e has the features of the entry ``(rows[e], columns[e])`` of a matrix: the products of each feature of row
    ``rows[e]`` of U with each feature of row ``columns[e]`` of V, ``numpy.kron(U[rows[e]], V[columns[e]])``. A linear
    model with the weights W, as a matrix of shape (d1, d2), gives it the score

    .. math:: f(u, v) = u' W v,

    so that it predicts for a new u, a new v, or both. :class:`~kernelrank.RankSVM`, :class:`~kernelrank.RankSVMCV`, and
    :class:`~kernelrank.RankRLS` and :class:`~kernelrank.RLS` with conjugate gradients are fitted to it as to a matrix:
    same objective, same certificate. With ``qid=rows``, the columns are ranked for each row.

    Parameters
    ----------
    U : {array-like, sparse matrix} of shape (q, d1)
        Features of what the rows stand for, such as drugs. They are not copied if they are of float32 or float64.
    V : {array-like, sparse matrix} of shape (m, d2) or None
        Features of what the columns stand for, such as targets. None means U: both are of the same kind.
    rows, columns : array-like of int of shape (n_entries,)
        Entries: row numbers of U and of V, in any order. An entry may be there several times.
    symmetry : {"symmetric", "antisymmetric"}, default=None
        For pairs of the same kind, V being None. The features are those of ``kron(u, v) + kron(v, u)`` or of
        ``kron(u, v) - kron(v, u)``: a linear function of them has ``f(u, v) = f(v, u)``, as for a similarity, or
        ``f(u, v) = -f(v, u)``, as for "u beats v".

    Attributes
    ----------
    U, V : {ndarray, CSR matrix}
        Features of the two sides; V is U if it was None.
    rows, columns : ndarray of int32 of shape (n_entries,)
        Row numbers of U and of V of each entry.
    symmetry : {"symmetric", "antisymmetric"} or None
        As given.
    entries : ndarray of shape (n_entries, 2)
        Rows and columns, as splitters take them for other estimators: as `groups`.
    shape : tuple of int
        Numbers of entries and of features, ``d1 * d2``.

    See Also
    --------
    kernelrank.model_selection.LeaveRowsOut : Splitters for new rows, new columns, and both.

    Notes
    -----
    With q and m the numbers of rows of U and V that have entries, a product with X takes O(q d1 d2 + n_entries d2)
    time, or, if d1 is smaller than d2, O(m d1 d2 + n_entries d1); a formed matrix takes O(n_entries d1 d2). Memory is
    that of U, V, 20 bytes per entry, and a matrix of shape (q, d2) or (m, d1); solvers add vectors of d1 d2 weights.

    The weights of a fitted model are ``W = coef_.reshape(d1, d2)``; with a symmetry, scores are those of ``W + W'`` or
    ``W - W'``. Offsets of V, if each query is one row, or of U, if each query is one column, carry no information and
    cost no digits. Elsewhere an offset of V is a feature of U: centre U and V first if that is not meant.

    Indexing by rows, ``X[train]``, shares U and V; the splitters and searches of scikit-learn use it. An array of ones
    as a further column of U and of V adds the features of each side alone: ``u' a + b' v``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank import RankSVM
    >>> from kernelrank.relational import KroneckerRows
    >>> rng = np.random.default_rng(0)
    >>> U, V = rng.normal(size=(20, 3)), rng.normal(size=(30, 4))
    >>> rows, columns = rng.integers(20, size=300), rng.integers(30, size=300)
    >>> X = KroneckerRows(U, V, rows, columns)
    >>> X
    KroneckerRows(300 entries of 20 x 30, 3 x 4 features)
    >>> y = np.einsum("ij,ij->i", U[rows, :2], V[columns, :2])
    >>> model = RankSVM().fit(X, y, qid=rows)
    >>> model.coef_.shape
    (12,)
    >>> bool(model.score(X, y, qid=rows) > 0.98)
    True

    Scores of new rows and columns:

    >>> new = KroneckerRows(rng.normal(size=(2, 3)), V, [0, 0, 1], [5, 7, 7])
    >>> model.predict(new).shape
    (3,)
    """

    takers = (
        "its rows are never formed. With the linear kernel, kernelrank.RankSVM, RankSVMCV, and RankRLS and RLS with"
        " conjugate gradients can be fitted to it, and kernelrank.relational.KroneckerRLS solves complete matrices in"
        " closed form. For anything else, toarray() forms the rows."
    )
    alternatives = (
        "kernelrank.relational.KroneckerRLS has a kernel for each side, and closed forms. For features of U and V that"
        " approximate a kernel, use kernelrank.NystromMap."
    )

    def __init__(
        self, U: Any, V: Any, rows: ArrayLike, columns: ArrayLike, *, symmetry: Symmetry | None = None
    ) -> None:
        _SYMMETRY("symmetry", symmetry)
        if symmetry is not None and V is not None:
            raise ValueError(f"V must be None with symmetry={symmetry!r}, which needs both sides to be rows of U.")
        self.U = check_side(U, "U", "KroneckerRows")
        self.V = self.U if V is None else check_side(V, "V", "KroneckerRows")
        self.rows, self.columns = check_entries(rows, columns, self.U, self.V, "U" if V is None else "V")
        self.symmetry = symmetry
        d1, d2 = self.sides
        require_memory(
            8.0 * d1 * d2,
            f"A vector of {d1} x {d2} weights, one per pair of features of U and V,",
            "Reduce the features of U and V, for example with sklearn.decomposition.TruncatedSVD.",
        )

    @property
    def sides(self) -> tuple[int, int]:
        """Numbers of features of U and of V."""
        return self.U.shape[1], self.V.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of entries and features."""
        return len(self.rows), self.U.shape[1] * self.V.shape[1]

    @property
    def entries(self) -> NDArray[np.int32]:
        """Row and column of each entry, of shape (n_entries, 2): what splitters take as `groups` with formed rows."""
        return np.column_stack([self.rows, self.columns])

    @property
    def ndim(self) -> int:
        """Number of dimensions, 2."""
        return 2

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the features."""
        return np.dtype(np.result_type(self.U.dtype, self.V.dtype))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> KroneckerRows:
        """Return some of the entries, as a slice, an array of indices or a mask selects them; U and V are shared."""
        if isinstance(key, tuple):
            key, *others = key
            if any(other is not Ellipsis and other != slice(None) for other in others):
                raise IndexError("KroneckerRows can be indexed by entries only: its features are never formed.")
        rows = self.rows[key]
        if rows.ndim != 1:
            raise IndexError("KroneckerRows must be indexed by a slice, an array of indices or a mask; use X[[i]].")
        found = object.__new__(type(self))
        found.__dict__.update(vars(self), rows=_frozen(rows), columns=_frozen(self.columns[key]))
        return found

    def __matmul__(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores ``u' W v`` of all entries, for one weight vector or for each column of a matrix."""
        d1, d2 = self.sides
        if np.ndim(weights) not in (1, 2) or len(weights) != d1 * d2:
            raise ValueError(f"Weights must have {d1 * d2} elements, got an array of shape {np.shape(weights)}.")
        n_lines = min((self.U if d2 <= d1 else self.V).shape[0], len(self))
        require_memory(
            8.0 * n_lines * min(d1, d2),
            f"The product of {n_lines} rows of features with {d1} x {d2} weights",
            "Score fewer entries at a time.",
        )
        work = n_lines * d1 * d2 + len(self) * min(d1, d2)
        products = EntryProducts(self.U, self.V, self.rows, self.columns, default_threads(work))
        columns = np.asarray(weights, dtype=np.float64).reshape(d1 * d2, -1).T
        found = [products.forward(mirror(w.reshape(d1, d2), self.symmetry)) for w in columns]
        return found[0] if np.ndim(weights) == 1 else np.stack(found, axis=1)

    def toarray(self) -> NDArray[Any]:
        """Compute the rows as a dense matrix, for small cases.

        Returns
        -------
        ndarray of shape (n_entries, d1 * d2)
            The rows.

        Raises
        ------
        MemoryError
            If it does not fit into memory.
        """
        require_memory(
            (1.0 if self.symmetry is None else 2.0) * self.dtype.itemsize * self.shape[0] * self.shape[1],
            f"The dense matrix of {self.shape[0]} entries and {self.shape[1]} features",
            "Estimators that take KroneckerRows need no such matrix.",
        )
        u, v = (
            np.asarray(side[numbers].toarray() if sp.issparse(side) else side[numbers])
            for side, numbers in ((self.U, self.rows), (self.V, self.columns))
        )
        found: NDArray[Any] = mirror(u[:, :, None] * v[:, None, :], self.symmetry)
        return found.reshape(self.shape)

    def __repr__(self) -> str:
        (q, d1), (m, d2) = self.U.shape, self.V.shape
        kind = "" if self.symmetry is None else f", {self.symmetry}"
        return f"KroneckerRows({len(self):,} entries of {q:,} x {m:,}, {d1:,} x {d2:,} features{kind})"


def mirror(W: NDArray[Any], symmetry: Symmetry | None) -> NDArray[Any]:
    """Return ``W + W'`` or ``W - W'`` of square matrices, or W itself without a symmetry."""
    if symmetry is None:
        return W
    transposed = np.swapaxes(W, -1, -2)
    mirrored: NDArray[Any] = W + transposed if symmetry == "symmetric" else W - transposed
    return mirrored


def check_side(features: Any, name: str, user: str) -> Any:
    """Return the features of one side as a finite float32 or float64 matrix, dense or canonical CSR."""
    found = check_matrix(features, user, name=name, accept_sparse="csr", dtype=(np.float64, np.float32), order=None)
    return canonical(found) if sp.issparse(found) else found


def check_entries(
    rows: ArrayLike, columns: ArrayLike, U: Any, V: Any, of_columns: str = "V"
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the numbers of rows and columns of entries; errors name the matrix that columns are rows of."""
    found = (
        _check_numbers(rows, "rows", U.shape[0], "U"),
        _check_numbers(columns, "columns", V.shape[0], of_columns),
    )
    if len(found[0]) != len(found[1]):
        raise ValueError(f"rows and columns must have one element per entry, got {len(found[0])} and {len(found[1])}.")
    return found


def _check_numbers(values: ArrayLike, name: str, n: int, of: str) -> NDArray[np.int32]:
    """Return row numbers as a read-only array; all must be numbers of one of n rows."""
    numbers = as_array(values, name)
    numbers = numbers.astype(np.int32) if numbers.size == 0 else numbers
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must hold the row numbers of {of}, one integer per entry, got an array of shape"
            f" {numbers.shape} and dtype {numbers.dtype}."
        )
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < n):
        wrong = numbers[(numbers < 0) | (numbers >= n)][0]
        raise ValueError(f"{name} must be row numbers of {of}, which has {n} rows (0 to {n - 1}), got {wrong}.")
    return _frozen(numbers.astype(np.int32))


def _frozen(numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return a read-only array; a view stays one."""
    numbers = np.ascontiguousarray(numbers)
    numbers.flags.writeable = False
    return numbers
