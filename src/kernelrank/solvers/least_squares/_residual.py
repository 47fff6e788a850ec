r"""The residual operator, from which all held-out predictions follow.

Ridge regression takes targets y to predictions ``A y``. With ``W = I - A``, the model of all rows but S has the
residuals e at the rows of S that solve

    ``W_SS e = (W y)_S``

(Pahikkala et al. 2009, sections 3.3 and 3.4; Rifkin and Lippert 2007). The rows of W are what the loss sums over: the
rows of one ranking, or the contrasts between rows of the same query.

========= ============================================================== =========================
symbol    meaning                                                        here
========= ============================================================== =========================
V, lambda eigenvectors and eigenvalues                                   ``spectrum``
D         ``lambda / (lambda + alpha)``; ``A = V D V'``, plus a mean      ``shrinkage``
G         W becomes ``W + V G G' V'`` without some features              ``lost``, see ``_basis.py``
a         ``V' y``, with predictions in place of held-out targets        ``along_without``
========= ============================================================== =========================

This module alone decides which form of W is used:

- With all eigenvectors, ``W = V (I - D) V'``. With few, ``W = I - V D V'``, less the projection onto the constants if a
  mean is fitted. Either form keeps its digits where the other would lose them to a difference.
- Few held-out rows are solved for. If they outnumber the eigenvectors, a is solved for instead:
  ``(I - V_S' V_S (D - G G')) a = V' y - V_S' y_S``, and ``e = y_S - V_S (D - G G') a``.

``_ties.py`` derives the bounds of rounding errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from kernelrank._arrays import Array, like, slices, take, take_rows
from kernelrank.solvers.least_squares import _blocks
from kernelrank.solvers.least_squares._blocks import blocks
from kernelrank.solvers.least_squares._pair_equations import PairIndex
from kernelrank.solvers.least_squares._spectrum import Spectrum
from kernelrank.solvers.least_squares._ties import EPS, Predicted, Rounding, identity, norm, solve_with_inverse

Rows = NDArray[np.intp]


class Replacement(NamedTuple):
    """Rows of the loss that replace the held-out ones: ``contrasts`` times those, with targets of their own."""

    contrasts: Array
    targets: Array


@dataclass(frozen=True)
class Residual:
    """The operator W of one problem, for any alpha.

    Attributes
    ----------
    spectrum : Spectrum
        Its vectors have one row per row of W. They need not be orthonormal if `complete`.
    complete : bool
        Whether the vectors span everything, or everything but the constants if a mean is fitted.
    targets : array of shape (k, p)
        y, with one column per output.
    mean : bool
        Whether the model has a mean of its own.
    sizes : tuple of two arrays of shape (p,), optional
        Norm and largest element of the numbers that the targets are computed from; by default those of the targets.
    lost : array of shape (r, n_lost), optional
        G.
    """

    spectrum: Spectrum
    complete: bool
    targets: Array
    mean: bool = False
    sizes: tuple[Array, Array] | None = None
    lost: Array | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.targets.shape[0])

    @property
    def rank(self) -> int:
        """Number of eigenvectors."""
        return int(self.spectrum.values.shape[0])

    def minus(self, G: Array) -> Residual:
        """Return the operator of the model without some features."""
        self.along, self.rounding  # noqa: B018 - shared with the copy, and computed once
        other = copy(self)
        other.__dict__["lost"] = G
        return other

    def shrinkage(self, alpha: Any) -> Array:
        """Return D, of shape (r,); or (n, r) for n alphas."""
        return self.spectrum.values / (self.spectrum.values + _column(alpha))

    def factors(self, alpha: Any) -> Array:
        """Return d of ``W = V diag(d) V'``, up to the identity and the constant; shape as for `shrinkage`."""
        if not self.complete:
            return -self.shrinkage(alpha)
        return _column(alpha) / (self.spectrum.values + _column(alpha))

    @property
    def constant(self) -> float:
        """Return the element that all pairs of rows have in common, besides ``V diag(d) V'``."""
        return -1.0 / self.n_rows if self.mean and not self.complete else 0.0

    def block(self, rows: Rows, alpha: Any) -> Array:
        """Return W_SS.

        Parameters
        ----------
        rows : ndarray of shape (t,), or (n, t) for several sets S
        alpha : float, or array of shape (n,) for several alphas and one set
        """
        vectors = self._vectors_of(rows)
        xp = array_namespace(vectors)
        W = _weighted_gram(vectors, self.factors(alpha)) + self.constant
        if not self.complete:
            W = W + identity(rows.shape[-1], W)
        if self.lost is not None:
            Y = vectors @ self.lost
            W = W + Y @ xp.matrix_transpose(Y)
        return W

    def of_pairs(self, pairs: PairIndex, alpha: float) -> Array:
        """Return the elements of W for pairs of different rows; those of a row with itself are meaningless."""
        V = self.spectrum.vectors
        return pairs.products(V, pairs.first, V, pairs.second, self.factors(alpha)) + self.constant

    def blocks_above_diagonal(self, rows: Rows | None, alpha: float, size: int) -> Iterator[tuple[int, Array]]:
        """Yield first rows, and blocks of W from the diagonal to the right, less the constant; for NumPy.

        All blocks are in the same memory.
        """
        vectors = self.spectrum.vectors if rows is None else self.spectrum.vectors[rows]
        size = min(size, max(1, _blocks.ELEMENTS // max(1, len(vectors))))
        memory, factors = np.empty(size * len(vectors)), self.factors(alpha)
        for part in slices(len(vectors), size):
            others = vectors[part.start :]
            shape = (part.stop - part.start, len(others))
            block = memory[: shape[0] * shape[1]].reshape(shape)
            np.matmul(vectors[part] * factors, others.T, out=block)
            yield part.start, block

    def diagonal(self, alpha: float) -> Array:
        """Return the diagonal of W."""
        factors, vectors = self.factors(alpha), self.spectrum.vectors
        parts = [vectors[part, :] ** 2 @ factors for part in blocks(self.n_rows, self.rank)]
        diagonal = array_namespace(vectors).concat(parts)
        return diagonal if self.complete else diagonal + (1.0 + self.constant)

    def apply(self, alpha: Any, rows: Rows | None = None) -> Array:
        """Return W y, the residuals of the model of all rows; of some rows, if these are given.

        Shape (*rows.shape, p), with n alphas (n, *rows.shape, p).
        """
        vectors, targets = self.spectrum.vectors, self.centred
        if rows is not None:
            vectors, targets = self._vectors_of(rows), self._targets_of(rows)
        found = multiply(vectors, self.factors(alpha)[..., None] * self.along)
        found = found if self.complete else found + targets
        return found if self.lost is None else found + (vectors @ self.lost) @ (self.lost.T @ self.along)

    def products(self, alpha: float) -> Array:
        """Return ``y' W z`` of the first output y and each output z."""
        found = (self.along * self.factors(alpha)[:, None]).T @ self.along[:, 0]
        if not self.complete:
            found = found + self.centred.T @ self.centred[:, 0]
        if self.lost is not None:
            along = self.lost.T @ self.along
            found = found + along.T @ along[:, 0]
        return found

    def residuals(self, rows: Rows, alpha: float) -> Predicted:
        """Return the residuals e of held-out rows, with bounds of their rounding errors.

        Parameters
        ----------
        rows : ndarray of shape (n, t)
            n sets S, each of which is held out by itself.
        alpha : float

        Returns
        -------
        Predicted
            Arrays of shape (n, t, p).
        """
        vectors, targets = self._vectors_of(rows), self._targets_of(rows)
        if self.by_vectors(rows.shape[-1]):
            V, D, lost = self._with_constant(vectors, self.shrinkage(alpha))
            a, inverse = self._solve_along(V, D, lost, targets)
            predict = V * D if lost is None else V * D - (V @ lost) @ lost.T
            e, along = targets - predict @ a, a[:, : self.rank, :]
            amplified = 1.0 + norm(predict @ inverse, axis=-1)
            if lost is not None:
                amplified = amplified * (1.0 + self.scale_of_lost(alpha))
        else:
            e, inverse = self._solve_rows(rows, alpha)
            along = self.along - _transposed(vectors) @ e
            amplified = norm(inverse * self.scales(alpha, rows)[:, None, :], axis=-1)
        return Predicted(e, amplified[:, :, None] * self._error_size(along, norm(e, axis=1), alpha)[:, None, :])

    def along_without(self, rows: Rows, alphas: Array, replaced: Replacement | None = None) -> Predicted:
        """Return the targets along the eigenvectors, with predictions in place of the held-out ones.

        Parameters
        ----------
        rows : ndarray of shape (t,)
        alphas : array of shape (n,)
        replaced : Replacement, optional
            What the loss has in place of the held-out rows; nothing by default.

        Returns
        -------
        Predicted
            a, of shape (n, r, p), and bounds of the norms of its errors, of shape (n, p).
        """
        vectors, targets = self._vectors_of(rows), self._targets_of(rows)
        if self.by_vectors(len(rows)):
            V, D, lost = self._with_constant(vectors, self.shrinkage(alphas))
            a, inverse = self._solve_along(V, D, lost, targets, replaced)
            amplified, size_of_e, along = frobenius(inverse), 0.0, a[:, : self.rank, :]
        else:
            e, inverse = self._solve_rows(rows, alphas)
            amplified = frobenius(inverse * self.scales(alphas, rows)[:, None, :])
            if replaced is not None:
                Q, t = replaced
                back = inverse @ Q.T
                c, inner = solve_with_inverse(identity(Q.shape[0], Q) - Q @ Q.T + Q @ back, t - Q @ (targets - e))
                e = e - back @ c
                amplified = amplified * (1.0 + frobenius(back) * frobenius(inner))
            size_of_e, along = norm(e, axis=1), self.along - multiply(vectors.T, e)
        return Predicted(along, amplified[:, None] * self._error_size(along, size_of_e, alphas))

    def by_vectors(self, n_held_out: int) -> bool:
        """Return whether so many held-out rows are solved for in the space of the eigenvectors."""
        return not self.complete and n_held_out > self.rank

    def _solve_rows(self, rows: Rows, alpha: Any) -> tuple[Array, Array]:
        """Return e and the inverses of W_SS."""
        right = self.apply(alpha, rows)
        if not rows.size:
            return right, array_namespace(right).zeros_like(right[..., :0])
        return solve_with_inverse(self.block(rows, alpha), right)

    def _with_constant(self, vectors: Array, D: Array) -> tuple[Array, Array, Array | None]:
        """Return vectors, their shrinkage and G; with one more vector if a mean is fitted, which is not shrunk."""
        lost = self.lost
        if self.mean:
            vectors = _append(vectors, self.n_rows**-0.5, axis=-1)
            D, lost = _append(D, 1.0, axis=-1), None if lost is None else _append(lost, 0.0, axis=0)
        return vectors, D[..., None, :], lost

    def _solve_along(
        self, V: Array, D: Array, lost: Array | None, targets: Array, replaced: Replacement | None = None
    ) -> tuple[Array, Array]:
        """Return a and the inverses of its equations."""
        along = _append(self.along, 0.0, axis=0) if self.mean else self.along
        gone, right = _transposed(V) @ V, along - _transposed(V) @ targets
        if replaced is not None:
            new = replaced.contrasts @ V
            gone, right = gone - new.T @ new, right + new.T @ replaced.targets
        matrix = identity(V.shape[-1], V) - gone * D
        if lost is not None:
            matrix = matrix + (gone @ lost) @ lost.T
        right = array_namespace(right).broadcast_to(right, (*matrix.shape[:-1], right.shape[-1]))
        return solve_with_inverse(matrix, right)

    def _error_size(self, along: Array, e: Array, alpha: Any) -> Array:
        """Return b of ``_ties.py`` for the solutions; shape (n, p)."""
        along = array_namespace(along).permute_dims(along, (1, 0, 2))
        return self.rounding.size(along, e, self.target_sizes, _as_array(alpha, along))

    def scales(self, alpha: Any, rows: Rows | None = None) -> Array:
        """Return the scales s of the rounding errors of rows of W; shape as for the rows, after that of alpha."""
        vectors = self.spectrum.vectors if rows is None else self._vectors_of(rows)
        xp, shape = array_namespace(vectors), vectors.shape[:-1]
        scales = self.rounding.scales(xp.reshape(vectors, (-1, self.rank)), _as_array(alpha, vectors))
        scales = xp.reshape(scales, shape if isinstance(alpha, float) else (scales.shape[0], *shape))
        return scales if self.lost is None else scales + self.scale_of_lost(alpha) * norm(vectors @ self.lost, axis=-1)

    def scale_of_lost(self, alpha: Any) -> float:
        """Return the scale of the rounding errors of ``V G``, whose rows have length 1 at most; for one alpha."""
        return self.rounding.of_lost(alpha if isinstance(alpha, float) else float(alpha[0])) / EPS

    @cached_property
    def rounding(self) -> Rounding:
        """Sizes of rounding errors."""
        return Rounding(self.spectrum, self.complete)

    @cached_property
    def target_sizes(self) -> tuple[Array, Array]:
        """Norm and largest element of each output."""
        if self.sizes is not None:
            return self.sizes
        return norm(self.centred, axis=0), array_namespace(self.targets).max(abs(self.centred), axis=0)

    @cached_property
    def along(self) -> Array:
        """The targets along the eigenvectors."""
        return self.spectrum.vectors.T @ self.centred

    @cached_property
    def centred(self) -> Array:
        """The targets, less their means if a mean is fitted."""
        return self.targets - array_namespace(self.targets).mean(self.targets, axis=0) if self.mean else self.targets

    def _vectors_of(self, rows: Rows) -> Array:
        return take_stacked(self.spectrum.vectors, rows)

    def _targets_of(self, rows: Rows) -> Array:
        return take_stacked(self.centred, rows)


def _column(alpha: Any) -> Any:
    return alpha if isinstance(alpha, float) else alpha[:, None]


def _as_array(alpha: Any, x: Array) -> Array:
    return like(np.array([alpha]), x) if isinstance(alpha, float) else alpha


def take_stacked(x: Array, rows: Rows) -> Array:
    """Return rows of a matrix, in the shape of their numbers; no copy if they follow each other."""
    if rows.ndim == 1:
        return take_rows(x, rows)
    return array_namespace(x).reshape(take(x, rows.ravel()), (*rows.shape, x.shape[1]))


def _append(x: Array, value: float, axis: int) -> Array:
    """Append one row or column of a constant."""
    shape = list(x.shape)
    shape[axis] = 1
    return array_namespace(x).concat([x, like(np.full(shape, value), x)], axis=axis)


def _transposed(x: Array) -> Array:
    return array_namespace(x).matrix_transpose(x)


def frobenius(matrices: Array) -> Array:
    return array_namespace(matrices).sqrt(array_namespace(matrices).sum(matrices**2, axis=(-2, -1)))


def multiply(vectors: Array, columns: Array) -> Array:
    """Multiply (..., k, r) with (..., r, p), of which one is stacked at most, by a single product of matrices."""
    xp, p = array_namespace(vectors), columns.shape[-1]
    if columns.ndim == 2:
        return xp.reshape(xp.reshape(vectors, (-1, vectors.shape[-1])) @ columns, (*vectors.shape[:-1], p))
    n, r = columns.shape[:2]
    flat = xp.reshape(xp.permute_dims(columns, (1, 0, 2)), (r, n * p))
    return xp.permute_dims(xp.reshape(vectors @ flat, (vectors.shape[0], n, p)), (1, 0, 2))


def _weighted_gram(vectors: Array, weights: Array) -> Array:
    """Return ``V diag(w) V'`` for stacked vectors V, or for each row w of the weights; shape (..., t, t)."""
    xp, t = array_namespace(vectors), vectors.shape[-2]
    if weights.ndim == 1 or t > weights.shape[0]:
        return (vectors * weights[..., None, :]) @ _transposed(vectors)
    # Products of rows are shared by all weights: half of the work, and less to write.
    i, j = np.triu_indices(t)
    numbers = np.empty((t, t), np.intp)
    numbers[i, j] = numbers[j, i] = np.arange(len(i))
    products = (take(vectors, i) * take(vectors, j)) @ weights.T
    return xp.permute_dims(xp.reshape(take(products, numbers.ravel()), (t, t, weights.shape[0])), (2, 0, 1))
