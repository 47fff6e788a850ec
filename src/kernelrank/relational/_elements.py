"""The two sides of relational data: features or a kernel matrix of the rows, and of the columns, of Y."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._columns import text_columns
from kernelrank._memory import require_memory
from kernelrank.features import NystromMap
from kernelrank.features._kronecker_rows import check_side
from kernelrank.kernels import Kernel, Linear, Precomputed, make_kernel
from kernelrank.kernels._matrices import check_kernel_matrix
from kernelrank.solvers.kronecker import Side, decompose_features, decompose_matrix

Array = NDArray[np.float64]
Groups = NDArray[np.intp]

_MANY = 4096  # features, beyond which weights of pairs of features would take more memory than those of pairs of rows


@dataclass(frozen=True)
class Elements:
    """Description of the elements of one side: by features with the linear kernel, otherwise by kernels.

    Attributes
    ----------
    kernel : Kernel
        Resolved.
    basis : {ndarray, sparse matrix} or None
        Elements whose kernels are combined; None if features, or given kernels, are combined.
    n_features : int
    name : str
        "U" or "V".
    names : sequence of str or None
        Of the features, if they came in a data frame.
    """

    kernel: Kernel
    basis: Any
    n_features: int
    name: str
    names: Sequence[str] | None

    def functions(self, X: Any, user: str) -> Any:
        """Return the functions of elements that weights are for: one row per element."""
        given = text_columns(X)
        if given is not None and self.names is not None and list(given) != list(self.names):
            raise ValueError(
                f"{self.name} has the columns {', '.join(given)}, but {user} was fitted with {', '.join(self.names)}."
            )
        X = check_side(X, self.name, user)
        if X.shape[1] != self.n_features:
            what = "kernels" if isinstance(self.kernel, Precomputed) else "features"
            raise ValueError(
                f"{self.name} has {X.shape[1]} {what} per row, but {user} was fitted with {self.n_features}."
            )
        return X if self.basis is None else self.kernel(X, self.basis)


def describe(
    X: Any, kernel: Any, n_basis: int | None, random_state: Any, *, name: str, user: str, centred: bool
) -> tuple[Elements, Side, Groups]:
    """Validate one side; return its description, the eigenvectors of its kernel matrix, and which elements are equal.

    Parameters
    ----------
    X : array-like of shape (n, d)
    kernel : str, Kernel or callable
    n_basis : int or None
        Number of elements whose kernels are combined.
    random_state : int, RandomState instance or None
    name : str
        "U" or "V".
    user : str
        The estimator.
    centred : bool
        Whether only differences between the elements matter.
    """
    names, X = text_columns(X), check_side(X, name, user)
    made = make_kernel(kernel).resolve(X)
    if isinstance(made, Precomputed) and X.shape[0] != X.shape[1]:
        raise ValueError(f"A kernel matrix to be fitted to is square, but {name} has shape {X.shape}.")
    if n_basis is not None and n_basis < X.shape[0]:
        basis, side = _decompose_some(X, made, n_basis, random_state, name, centred)
    else:
        basis, side = _decompose(X, made, name, centred)
    return Elements(made, basis, X.shape[1], name, names), side, first_of_equal(X)


def _decompose(X: Any, made: Kernel, name: str, centred: bool) -> tuple[Any, Side]:
    """Return the elements whose kernels are combined, or None for features, and the side."""
    n, d = X.shape
    if isinstance(made, Linear) and d <= max(n, _MANY):
        require_memory(24.0 * n * d, f"The features of {name} as a dense matrix", "Use fewer features.")
        return None, decompose_features(_dense(X), centred=centred)
    remedy = f"Use n_{'row' if name == 'U' else 'column'}_basis."
    require_memory(32.0 * n * n, f"The kernel matrix of the {n} rows of {name}, with its eigenvectors,", remedy)
    with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused below
        K = made(X)
    _check_kernel(K, name)
    basis = None if isinstance(made, Precomputed) else X.copy()
    return basis, decompose_matrix(K, centred=centred)


def _decompose_some(
    X: Any, kernel: Kernel, n_basis: int, random_state: Any, name: str, centred: bool
) -> tuple[Any, Side]:
    """Do the same with the kernels with some of the elements, drawn at random."""
    require_memory(
        24.0 * X.shape[0] * n_basis, f"The kernels of {name} with {n_basis} basis rows", "Use a smaller one."
    )
    nystrom = NystromMap(kernel, n_basis, random_state=random_state).fit(X)
    functions = nystrom.whitening_
    if isinstance(kernel, Precomputed):  # the columns of its matrix stand for the basis
        functions = np.zeros((X.shape[1], functions.shape[1]))
        functions[nystrom.basis_indices_] = nystrom.whitening_
    basis = None if isinstance(kernel, Precomputed) else nystrom.basis_
    return basis, decompose_features(nystrom.transform(X), centred=centred, functions=functions)


def first_of_equal(X: Any) -> Groups:
    """Return for each row of a dense or canonical CSR matrix the first row that is equal to it."""
    first: dict[Any, int] = {}
    return np.array([first.setdefault(key, k) for k, key in enumerate(_keys(X))], np.intp)


def _keys(X: Any) -> Iterator[Any]:
    if not sp.issparse(X):
        yield from ((row + 0.0).tobytes() for row in X)  # -0.0 is 0.0
        return
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        yield X.indices[start:stop].tobytes(), X.data[start:stop].tobytes()


def _check_kernel(K: Array, name: str) -> None:
    try:
        check_kernel_matrix(K)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
