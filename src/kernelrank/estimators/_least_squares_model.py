"""From validated training data to a least-squares problem: features or a kernel matrix, a solver and hold-outs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from kernelrank._arrays import Array, copied, in_double, is_foreign, like, merge, place, take
from kernelrank._memory import available_memory
from kernelrank._unformed import UnformedRows
from kernelrank.estimators._unformed_rows import products_of
from kernelrank.features import NystromMap, whitening_of_rows
from kernelrank.kernels import Kernel, Linear, Precomputed
from kernelrank.kernels._matrices import check_kernel_matrix
from kernelrank.losses import CensoredSquares, PairwiseSquares
from kernelrank.solvers import ConjugateGradients
from kernelrank.solvers.least_squares import (
    Basis,
    HoldOut,
    LeastSquares,
    Undecomposed,
    bytes_of_matrices,
    require_matrices,
)

Rows = NDArray[np.intp]

_DENSE_ELEMENTS = 1 << 22  # of a sparse matrix that is made dense: 32 MiB


@dataclass(frozen=True)
class TrainingData:
    """Validated targets, queries and weights, and the loss that they make.

    Attributes
    ----------
    y : ndarray of shape (m, p)
    single : bool
        Whether y was given as one vector.
    loss : PairwiseSquares
        Of all rows.
    part : callable or None
        Returns the loss of some rows; None if there are no closed forms.
    queries : ndarray of shape (m,) or None
        0, 1, ...
    qid : ndarray of shape (m,) or None
        As they were given.
    weights : ndarray of shape (m,) or None
    unit : float
        Of the weights, which the loss has divided by it.
    from_pairs : bool
        Whether pairs were given, and y is not known.
    noted : dict
        What scikit-learn notes about X.
    """

    y: NDArray[np.float64]
    single: bool
    loss: PairwiseSquares | CensoredSquares
    part: Callable[[Rows], PairwiseSquares] | None
    queries: NDArray[np.int32] | None
    qid: NDArray[Any] | None = None
    weights: NDArray[np.float64] | None = None
    unit: float = 1.0
    from_pairs: bool = False
    noted: dict[str, Any] = field(default_factory=dict)

    @property
    def codes(self) -> NDArray[np.int32]:
        """Query of each row, also if there is only one."""
        return np.zeros(len(self.y), np.int32) if self.queries is None else self.queries


@dataclass
class LeastSquaresModel:
    """A problem with one kernel, for any alpha.

    Attributes
    ----------
    data : TrainingData
    kernel : Kernel
    solver : LeastSquares or ConjugateGradients
    hold_out : HoldOut
        Held-out predictions.
    basis : dict
        The attributes ``basis_`` and ``basis_indices_`` of an estimator, where it has them.
    whitening : array or LinearOperator, optional
        From weights of the features that were learnt from to ``coef_`` or ``dual_coef_``.
    """

    data: TrainingData
    kernel: Kernel
    solver: LeastSquares | ConjugateGradients
    hold_out: HoldOut
    basis: dict[str, Any]
    whitening: Array | LinearOperator | None = None

    def coefficients(self, solution: Array) -> Array:
        """Return ``coef_`` or ``dual_coef_``, with one column per output."""
        return solution if self.whitening is None else self.whitening @ solution

    @property
    def decomposed(self) -> LeastSquares:
        """The solver, if it can decompose the problem."""
        if isinstance(self.solver, LeastSquares):
            return self.solver
        assert isinstance(self.hold_out, Undecomposed)
        raise ValueError(f"Conjugate gradients make no decomposition, which this takes. {self.hold_out.remedy}")


def compose(
    X: Any,
    data: TrainingData,
    kernel: Kernel,
    *,
    drawn: Rows | None,
    solver: str,
    hold_out: Callable[[LeastSquares, TrainingData], HoldOut],
) -> LeastSquaresModel:
    """Set up a problem.

    Parameters
    ----------
    X : array-like of shape (m, n)
        Validated.
    data : TrainingData
    kernel : Kernel
        Resolved.
    drawn : ndarray or None
        Basis rows; None for all rows.
    solver : {"auto", "direct", "cg"}
    hold_out : callable
        Chooses the held-out predictions of a problem that can be decomposed.
    """
    if _wants_gradients(X, kernel, drawn, solver, data.loss.closed_form):
        gradients = ConjugateGradients(products_of(X, queries=data.queries), data.loss)
        remedy = 'Use solver="direct".'
        if isinstance(X, UnformedRows):
            remedy = X.alternatives
        elif not data.loss.closed_form:
            remedy = "There is none with censored rows."
        return LeastSquaresModel(data, kernel, gradients, Undecomposed(remedy), {})
    assert isinstance(data.loss, PairwiseSquares)
    if is_foreign(X) and not data.loss.laplacian.any_namespace:
        raise ValueError(
            f'fit_pairs and cost="relative" take NumPy arrays or sparse matrices, got {place(X)}: convert X.'
        )
    if isinstance(kernel, Linear) or (drawn is not None and len(drawn) < X.shape[0]):
        rows, offset, basis, attributes, whitening = _explicit_features(X, kernel, drawn)
        _require_matrices(X, len(data.loss.weights), rows.shape[1], "The differences of features")
        problem = LeastSquares(data.loss, data.y, data.codes, rows=rows, offset=offset, basis=basis)
        return LeastSquaresModel(data, kernel, problem, hold_out(problem, data), attributes, whitening)
    problem, attributes = _with_matrix(X, data, kernel, drawn)
    return LeastSquaresModel(data, kernel, problem, hold_out(problem, data), attributes)


def _wants_gradients(X: Any, kernel: Kernel, drawn: Rows | None, solver: str, closed_form: bool) -> bool:
    (m, n), possible = X.shape, isinstance(kernel, Linear) and drawn is None
    if isinstance(X, UnformedRows):
        if solver == "direct" or drawn is not None:
            name = type(X).__name__
            raise ValueError(f'A {name} requires solver="cg" or "auto", and n_basis=None. {X.alternatives}')
        return True
    if not closed_form and (not possible or solver == "direct" or is_foreign(X)):
        raise ValueError(
            "Censored rows (observed) are for the linear kernel without n_basis, conjugate gradients, NumPy arrays and"
            " sparse matrices. For another kernel, put a kernelrank.NystromMap before this estimator."
        )
    if solver == "cg" and not possible:
        raise ValueError('solver="cg" is for the linear kernel without n_basis; others have solver="direct".')
    if solver == "cg" and is_foreign(X):
        raise ValueError('solver="cg" is for NumPy arrays and sparse matrices; others have solver="direct".')
    return (
        not closed_form
        or solver == "cg"
        or (solver == "auto" and possible and sp.issparse(X) and m * n > _DENSE_ELEMENTS)
    )


def _with_matrix(X: Any, data: TrainingData, kernel: Kernel, drawn: Rows | None) -> tuple[LeastSquares, dict[str, Any]]:
    """Return the problem with the kernel matrix of all rows, and attributes of the basis."""
    m = X.shape[0]
    _require_matrices(X, m, m, "The kernel matrix")
    kept = copied(X)  # later changes of X must not change predictions
    attributes = {} if drawn is None else {"basis_indices_": drawn}
    if isinstance(kernel, Precomputed):
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"A kernel matrix to be fitted to is square, but X has shape {X.shape}.")
    else:
        attributes["basis_"] = kept
    matrix: Callable[[], Array] = partial(_kernel_matrix, kernel, kept)
    if is_foreign(X):  # which kernels take while scikit-learn dispatches: later, it may not
        computed = matrix()

        def matrix() -> Array:
            return computed

    assert isinstance(data.loss, PairwiseSquares)
    loss = data.loss.diagonalised(data.codes)
    return LeastSquares(loss, data.y, data.codes, matrix=matrix), attributes


def _explicit_features(
    X: Any, kernel: Kernel, drawn: Rows | None
) -> tuple[Array, Array, Basis | None, dict[str, Any], Any]:
    """Return centred features, their mean, the basis they are computed from, its attributes, and the whitening.

    They are X, or the coordinates of the rows in the span of the drawn ones.
    """
    m = X.shape[0]
    if drawn is None:
        return *_centred(X), None, {}, None
    _require_matrices(X, m, len(drawn), "The kernel matrix of the rows and the basis")
    whitening: Any
    if isinstance(kernel, Linear) and _fits(X):
        # What they span is a space of weights: X can be centred first, and no digits are lost to inner products.
        kept, whitening, T = whitening_of_rows(_dense(take(X, drawn)))
        indices = drawn[kept]
        attributes, (centred, offset) = {"basis_": take(X, indices)}, _centred(X)
        features, offset = centred @ whitening, offset @ whitening
    else:
        nystrom = NystromMap(kernel, selection=drawn).fit(X)
        indices, T, attributes = nystrom.basis_indices_, nystrom.whitening_, {}
        features, whitening = nystrom.transform(X), T
        if isinstance(kernel, Precomputed):  # the columns of its matrix stand for the basis
            others = np.setdiff1d(np.arange(m), indices)
            whitening = merge([T, like(np.zeros((len(others), T.shape[1])), T)], [indices, others])
        else:
            attributes = {"basis_": nystrom.basis_}
        if isinstance(kernel, Linear):
            whitening = aslinearoperator(nystrom.basis_.T) @ aslinearoperator(T)
        offset = array_namespace(features).mean(features, axis=0)
        features -= offset
    # What is learnt from rows lies in their span: with all rows in it, nothing of the others is needed.
    basis = None if len(drawn) == m else Basis(indices, T)
    return features, offset, basis, {**attributes, "basis_indices_": indices}, whitening


def _fits(X: Any) -> bool:
    """Return whether a sparse X can be made dense; others are dense."""
    available = available_memory() if sp.issparse(X) else None
    return available is None or bytes_of_matrices(*X.shape) <= available


def _centred(X: Any) -> tuple[Array, Array]:
    _require_matrices(X, X.shape[0], X.shape[1], "The features as a dense matrix")
    rows = _dense(X)
    offset = array_namespace(rows).mean(rows, axis=0)
    return rows - offset, offset


def _require_matrices(X: Any, m: int, n: int, what: str) -> None:
    if not is_foreign(X):  # the library of other arrays knows the memory of their device
        require_matrices(m, n, what)


def _kernel_matrix(kernel: Kernel, X: Any) -> Array:
    """Compute the kernel matrix of rows; one that the user computes must be symmetric."""
    K = kernel(X)
    if not (kernel.semidefinite or is_foreign(K)):
        check_kernel_matrix(K)
    return K


def _dense(X: Any) -> Array:
    return in_double(X) if is_foreign(X) else np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
