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
from functools import partial
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


def _without(side: Side, vectors: _Vectors, images: _Vectors) -> _Vectors:
    """Remove the own direction from the images of resolvents, which `images` are of the directions themselves."""
    return vectors.minus(vectors.along(side) / images.along(side), images)


def _rows_of_terms(side: Side, y: _Vectors, x: Array, n: Array) -> Iterator[_Vectors]:
    """Yield ``f_r(K_-i) y_i`` of all elements, for each term."""
    directions = _directions(side)
    for x_j, n_j in zip(x.tolist(), n.tolist(), strict=True):
        resolvent = 1.0 / (side.values + n_j)
        z = _without(side, y.scaled(resolvent, 1.0 / n_j), directions.scaled(resolvent, 1.0 / n_j))
        yield z
        y = y.minus(np.full(side.n, x_j + n_j), z)


def _columns_of_terms(side: Side, y: _Vectors, x: Array, n: Array, penalty: float) -> Iterator[_Vectors]:
    """Yield ``g_r(G_-j) y_j / penalty`` of all elements: a function of ``penalty / s``, where s is an eigenvalue."""
    directions = _directions(side)
    for x_j, n_j in zip(x.tolist(), n.tolist(), strict=True):
        resolvent = 1.0 / (penalty + side.values * x_j)
        z = _without(side, y.scaled(resolvent, 1.0 / penalty), directions.scaled(resolvent, 1.0 / penalty))
        yield z
        y = y.minus(np.full(side.n, x_j + n_j), z.scaled(side.values, 0.0))


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
    of_rows = partial(_rows_of_terms, rows, x=x, n=n)
    of_columns = partial(_columns_of_terms, columns, x=x, n=n, penalty=penalty)
    found = np.zeros(problem.Y.shape)
    kernels = zip(of_rows(_kernels(rows)), of_columns(_kernels(columns)), (x + n).tolist(), strict=True)
    if not problem.intercept:
        for r, c, weight in kernels:
            found += weight * product(r, c)
        return found
    of_ones, constant, total = np.zeros((3, *found.shape))
    ones = zip(of_rows(_ones(rows)), of_columns(_ones(columns)), strict=True)
    for (r, c, weight), (r_ones, c_ones) in zip(kernels, ones, strict=True):
        found += weight * product(r, c)
        constant += weight * product(r_ones, c_ones)
        of_ones += weight * np.outer(r.sums(rows), c.sums(columns))
        total += weight * np.outer(r_ones.sums(rows), c_ones.sums(columns))
    return np.asarray(found + constant / total * (1.0 - of_ones) + problem.mean)
