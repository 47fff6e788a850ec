r"""Predictions of entries whose row and column are both held out.

Without row i and column j, f(i, j) = k_i' (K_-i x G_-j + penalty)^-1 y g_j. The inverse is separated into a sum of
products, ``sum_r w_r f_r(K_-i) x g_r(G_-j)``, with some tens of terms (see ``_separation.py``). In each term, the
vectors ``f_r(K_-i) k_i`` of all rows i make one matrix, which is zero on the diagonal, and ``g_r(G_-j) g_j`` of all
columns make another; their products with Y are all predictions at once.

The functions are products of resolvents. That of K_-i follows from that of K by a change of rank one. With
``N = (K + n)^-1``,

    (K_-i + n)^-1 y = N y - N a_i (a_i'N y) / (a_i'N a_i)    for y without element i.

In the basis of the eigenvectors a resolvent is a division, O(n p) for the vectors of all elements. The whole takes
O(r q m (q + m)) for r terms, where separate decompositions for all rows would take O(q^4 + q^2 m^2).

A constant b that is not penalised is the ratio of 1'M^-1 y and 1'M^-1 1, with M that of the remaining entries: the same
sums, from the vectors ``f_r(K_-i) 1`` and ``g_r(G_-j) 1``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import matmul
from kernelrank.solvers.kronecker._separation import separate
from kernelrank.solvers.kronecker._side import Side

if TYPE_CHECKING:
    from kernelrank.solvers.kronecker._complete import KroneckerProblem

Array = NDArray[np.float64]

_NOTHING = 1e-30  # relative to 1


@dataclass
class _Vectors:
    """A vector for each element of a side, in the problem without the element.

    Attributes
    ----------
    inside : ndarray of shape (n, p)
        Coordinates in the basis of the eigenvectors.
    own : ndarray of shape (n,)
        Multiples of the part of the element's own direction outside of the basis.
    ones : ndarray of shape (n,)
        Multiples of the part of the vector of ones outside of the basis.
    """

    inside: Array
    own: Array
    ones: Array

    def along(self, side: Side) -> Array:
        """Return the inner product of each vector with the direction of its element."""
        inside = np.einsum("ij,ij->i", self.inside, side.vectors)
        return np.asarray(inside + side.outside * self.own + side.constant_outside * self.ones)

    def sums(self, side: Side) -> Array:
        """Return the sum of the elements of each vector."""
        size = float(side.constant_outside @ side.constant_outside)
        return np.asarray(self.inside @ side.sums + side.constant_outside * self.own + size * self.ones)

    def minus(self, factors: Array, other: _Vectors) -> _Vectors:
        """Subtract a multiple of each vector of another kind."""
        return _Vectors(
            self.inside - factors[:, None] * other.inside,
            self.own - factors * other.own,
            self.ones - factors * other.ones,
        )

    def scaled(self, of_values: Array, of_zero: float) -> _Vectors:
        """Apply a function of the kernel matrix, given at its eigenvalues and at zero."""
        return _Vectors(self.inside * of_values, self.own * of_zero, self.ones * of_zero)


def _scaled(side: Side) -> tuple[Side, float]:
    """Return a side whose largest eigenvalue is 1, and what it was."""
    scale = side.largest or 1.0
    return replace(side, values=side.values / scale), scale


def _directions(side: Side) -> _Vectors:
    return _Vectors(side.vectors, np.ones(side.n), np.zeros(side.n))


def _kernels(side: Side) -> _Vectors:
    """Return the kernels of each element with all, or with their differences if the side is centred.

    What a vector has of its element's own direction does not matter: resolvents without the element remove it.
    """
    return _directions(side).scaled(side.values / side.axis, 0.0)


def _ones(side: Side) -> _Vectors:
    return _Vectors(np.broadcast_to(side.sums, side.vectors.shape), np.zeros(side.n), np.ones(side.n))


def _resolved(side: Side, vectors: list[_Vectors], resolvent: Array, of_zero: float) -> list[_Vectors]:
    """Return the images of vectors under a resolvent, without the own direction of each element."""
    own = _directions(side).scaled(resolvent, of_zero)  # the same for all kinds of vectors
    along = own.along(side)
    images = (each.scaled(resolvent, of_zero) for each in vectors)
    return [each.minus(each.along(side) / along, own) for each in images]


def _rows_of_terms(side: Side, kinds: list[_Vectors], x: Array, n: Array) -> Iterator[list[_Vectors]]:
    """Yield ``f_r(K_-i) y_i`` of all elements for each term, where y is each kind of vectors."""
    for x_j, n_j in zip(x.tolist(), n.tolist(), strict=True):
        found = _resolved(side, kinds, 1.0 / (side.values + n_j), 1.0 / n_j)
        yield found
        factors = np.full(side.n, x_j + n_j)
        kinds = [y.minus(factors, z) for y, z in zip(kinds, found, strict=True)]


def _columns_of_terms(
    side: Side, kinds: list[_Vectors], x: Array, n: Array, penalty: float
) -> Iterator[list[_Vectors]]:
    """Yield ``g_r(G_-j) y_j / penalty`` of all elements: a function of ``penalty / s``, where s is an eigenvalue."""
    for x_j, n_j in zip(x.tolist(), n.tolist(), strict=True):
        found = _resolved(side, kinds, 1.0 / (penalty + side.values * x_j), 1.0 / penalty)
        yield found
        factors = np.full(side.n, x_j + n_j)
        kinds = [y.minus(factors, z.scaled(side.values, 0.0)) for y, z in zip(kinds, found, strict=True)]


class _Products:
    """Products of vectors of rows and columns with Y."""

    def __init__(self, problem: KroneckerProblem) -> None:
        self._rows, self._columns, self._along = problem.rows, problem.columns, problem.along
        rest = self._rows.project_out(problem.targets)
        self._of_rows = matmul(rest, self._columns.vectors)
        self._of_columns = self._columns.project_out(problem.targets.T).T
        self._of_both = self._columns.project_out(rest.T).T
        self._of_columns = matmul(self._rows.vectors.T, self._of_columns)

    def __call__(self, rows: _Vectors, columns: _Vectors) -> Array:
        """Return ``r_i' Y c_j`` for all i and j."""
        own, ones = rows.own[:, None], rows.ones[:, None]
        left = matmul(rows.inside, self._along)
        if not self._rows.complete:
            left += own * self._of_rows + ones * self._of_rows.sum(axis=0)
        found = matmul(left, columns.inside.T)
        if not self._columns.complete:
            left = matmul(rows.inside, self._of_columns)
            if not self._rows.complete:
                left += own * self._of_both + ones * self._of_both.sum(axis=0)
            found += left * columns.own + left.sum(axis=1, keepdims=True) * columns.ones
        return np.asarray(found)


def without_both(problem: KroneckerProblem, penalty: float) -> Array:
    """Predict each entry by the model of all entries in other rows and other columns."""
    # Only the ratios of eigenvalues and penalty matter: with 1 as the largest ones, nothing overflows.
    product, (rows, row_scale), (columns, column_scale) = (
        _Products(problem),
        *map(_scaled, (problem.rows, problem.columns)),
    )
    penalty = penalty / row_scale / column_scale
    x, n = separate(rows.largest, penalty / columns.largest if columns.largest else 1.0 / _NOTHING)
    kinds = [_kernels, _ones] if problem.intercept else [_kernels]
    of_rows = _rows_of_terms(rows, [kind(rows) for kind in kinds], x, n)
    of_columns = _columns_of_terms(columns, [kind(columns) for kind in kinds], x, n, penalty)
    terms = zip(of_rows, of_columns, (x + n).tolist(), strict=True)
    found = np.zeros(problem.Y.shape)
    if not problem.intercept:
        for (r,), (c,), weight in terms:
            found += weight * product(r, c)
        return found
    of_ones, constant, total = np.zeros((3, *found.shape))
    for (r, r_ones), (c, c_ones), weight in terms:
        found += weight * product(r, c)
        constant += weight * product(r_ones, c_ones)
        of_ones += weight * np.outer(r.sums(rows), c.sums(columns))
        total += weight * np.outer(r_ones.sums(rows), c_ones.sums(columns))
    return np.asarray(found + constant / total * (1.0 - of_ones) + problem.mean)
