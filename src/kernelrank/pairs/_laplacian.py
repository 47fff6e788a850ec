r"""The Laplacian of all pairs, in diagonal form: the quadratic form of least-squares ranking.

The squared error over weighted pairs of rows is a quadratic form,

    sum over pairs of w_ij ((y_i - y_j) - (f_i - f_j))^2 = (y - f)' L (y - f),

and the Laplacian L of the graph of pairs has a known spectrum when the graph is that of rankings. Inside a query of
total weight W, with all pairs there, L is W times the projection off the constants; without the pairs of equal
utilities, it is W - W_c inside a class of weight W_c, and W between the means of classes. Here
``L = P' diag(strengths) P``: `project` applies P in O(m), `lift` its transpose. For rows of weight 1, P has orthonormal
rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from kernelrank._arrays import Array, Codes, GroupSums, copied, like, merge, row_blocks, take, take_both

Vector = NDArray[np.float64]


class Laplacian(Protocol):
    """``L = P' diag(strengths) P``: the differences that are penalised, as the rows of P.

    Rows of P are contrasts between rows of the same query. They are orthonormal, up to weights of the rows, or given
    edges, for which :meth:`diagonalise` finds orthonormal ones.
    """

    @property
    def orthonormal(self) -> bool:
        """Whether the contrasts are orthonormal, up to weights of the rows."""

    @property
    def any_namespace(self) -> bool:
        """Whether arrays of any library are accepted; if not, NumPy's."""

    def project(self, V: Array) -> Array:
        """Return P V.

        Parameters
        ----------
        V : ndarray of shape (m,) or (m, p)
            Values of the rows.

        Returns
        -------
        ndarray of shape (k,) or (k, p)
            Their contrasts.
        """

    def lift(self, C: Array) -> Array:
        """Return P' C.

        Parameters
        ----------
        C : ndarray of shape (k,) or (k, p)
            Contrasts.

        Returns
        -------
        ndarray of shape (m,) or (m, p)
            Values of the rows.
        """

    def diagonal(self, strengths: Vector) -> Vector:
        """Return the diagonal of ``P' diag(strengths) P``.

        Parameters
        ----------
        strengths : ndarray of shape (k,)
            Weights of the contrasts.

        Returns
        -------
        ndarray of shape (m,)
            The diagonal.
        """

    def diagonalise(self, strengths: Vector, queries: Codes) -> OrthonormalLaplacian | None:
        """Return the same Laplacian with orthonormal contrasts.

        Parameters
        ----------
        strengths : ndarray of shape (k,)
            Weights of the contrasts.
        queries : ndarray of shape (m,)
            Query of each row, 0, 1, ...

        Returns
        -------
        OrthonormalLaplacian or None
            The Laplacian; None if it has orthonormal contrasts already.
        """


class OrthonormalLaplacian(Laplacian, Protocol):
    """A Laplacian with orthonormal contrasts, up to weights of the rows."""

    @property
    def strengths(self) -> Vector:
        """Eigenvalues, all positive; shape (k,)."""

    @property
    def queries(self) -> Codes:
        """Query of each contrast; shape (k,)."""

    @property
    def tells_differences(self) -> bool:
        """Whether P is orthonormal, and P V determines V up to a constant per query."""

    def solve(self, C: Array) -> Array:
        """Return rows V with P V = C.

        Parameters
        ----------
        C : ndarray of shape (k,) or (k, p)
            Contrasts.

        Returns
        -------
        ndarray of shape (m,) or (m, p)
            Values of the rows.
        """

    def project_both(self, K: Array) -> Array:
        """Return P K P' for a symmetric matrix.

        Parameters
        ----------
        K : ndarray of shape (m, m)
            Symmetric matrix.

        Returns
        -------
        ndarray of shape (k, k)
            The product.
        """


class GroupContrasts:
    """An orthonormal basis of what differs inside groups: one Householder reflection per group.

    Parameters
    ----------
    groups : ndarray of shape (m,)
        Group of each coordinate, 0, 1, ...; none may be missing.
    lengths : ndarray of shape (m,)
        The vector that counts as constant in each group: ones, or square roots of weights. Where it is zero in a whole
        group, the vectors that are split must be zero as well.
    """

    def __init__(self, groups: Codes, lengths: Vector) -> None:
        self.order = np.argsort(groups, kind="stable")
        self._in_order = bool((self.order[1:] > self.order[:-1]).all())
        self._groups = groups[self.order]
        self._starts = np.flatnonzero(np.append(True, self._groups[1:] != self._groups[:-1]))
        unit = lengths[self.order]
        self.norms = np.sqrt(np.add.reduceat(unit**2, self._starts))
        unit = unit / np.where(self.norms > 0, self.norms, 1.0)[self._groups]
        # The reflection takes `unit` to minus the first axis; its vector is unit + first axis, never a difference.
        self._vector = unit
        self._vector[self._starts] += 1.0
        self._scale = 1.0 / self._vector[self._starts]
        self._sums = GroupSums(self._groups, self._vector)
        inside = np.ones(len(groups), dtype=bool)
        inside[self._starts] = False
        self._inside = np.flatnonzero(inside)
        self.groups = self._groups[self._inside]  # of each contrast

    def split(self, x: Array) -> tuple[Array, Array]:
        """Return the contrasts, and the part along `lengths`, one per group."""
        y = self._reflect(take(x, self.order))
        return take(y, self._inside), -take(y, self._starts)

    def join(self, contrasts: Array, along: Array | None = None) -> Array:
        """Invert `split`; the second part is zero by default."""
        xp = array_namespace(contrasts)
        if along is None:
            along = xp.zeros((len(self._starts), *contrasts.shape[1:]), dtype=xp.float64, device=device(contrasts))
        y = self._reflect(merge([-along, contrasts], [self._starts, self._inside]))
        return y if self._in_order else merge([y], [self.order])

    def split_both(self, matrix: Array) -> tuple[Array, Array, Array]:
        """Split rows and columns of a symmetric matrix: contrasts by contrasts, contrasts by rest, rest by rest."""
        xp = array_namespace(matrix)
        K = matrix if self._in_order else take_both(matrix, self.order, self.order)
        inside, first = self._inside, self._starts
        V, vector = self._reflection(K), like(self._vector, K)
        if len(first) == 1:
            left, right = xp.stack([vector, V[:, 0]], axis=1), xp.stack([V[:, 0], vector])
            contrasts = xp.empty((len(inside), len(inside)), dtype=xp.float64, device=device(K))
            for rows in row_blocks(contrasts):
                ours = slice(rows.start + 1, rows.stop + 1)
                contrasts[rows, :] = K[ours, 1:]
                contrasts[rows, :] -= left[ours, :] @ right[:, 1:]
            edge = K[0, :] - left[0, :] @ right
            return contrasts, -edge[1:, None], edge[:1, None]
        reflected = xp.empty_like(K)
        for rows in row_blocks(K):
            reflected[rows, :] = K[rows, :] - take(V[rows, :], self._groups, axis=1) * vector
            reflected[rows, :] -= vector[rows, None] * take(V.T, self._groups[rows])
        return (
            take_both(reflected, inside, inside),
            -take_both(reflected, inside, first),
            take_both(reflected, first, first),
        )

    def _reflection(self, K: Array) -> Array:
        """Find V of ``H K H = K - U V' - V U'``, for the reflections H = I - U S U'; one column per group."""
        vector, scale = like(self._vector, K)[:, None], like(self._scale, K)
        KU = K @ vector if len(self._scale) == 1 else copied(self._sums(K).T)
        KU *= scale
        core = self._sums(KU) * scale[:, None]
        return KU - vector * take(core / 2, self._groups)

    def diagonal(self, strengths: Vector, along: Vector | None) -> Vector:
        """Return the diagonal of the matrix with these eigenvalues, one per contrast, equal within a group.

        `along` are the eigenvalues of the rest.
        """
        of_group = np.zeros(len(self.norms))
        of_group[self.groups] = strengths
        unit = self._vector.copy()
        unit[self._starts] -= 1.0
        squares = unit**2
        in_order = (1.0 - squares) * of_group[self._groups]
        if along is not None:
            in_order += squares * along[self._groups]
        diagonal = np.empty_like(in_order)
        diagonal[self.order] = in_order
        return diagonal

    def scale(self, factors: Vector) -> Callable[[Vector], Vector]:
        """Return the function that multiplies what differs inside a group with the factor of the group, in place.

        The part along `lengths` becomes zero. No contrasts are formed, which saves most of the time.
        """
        unit, single = self._vector.copy(), len(self.norms) == 1
        unit[self._starts] -= 1.0
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(place))
        groups = self._groups[place]
        unit, of_row = unit[place], factors if single else factors[groups]
        uniform = single and bool((unit == unit[0]).all())

        def scaled(v: Vector) -> Vector:
            if uniform:
                v -= v.mean()
                v *= of_row
                return v
            parts = unit * v
            sums = np.add.reduceat(parts if self._in_order else parts[self.order], self._starts)
            v -= np.multiply(unit, sums if single else sums[groups], out=parts)
            v *= of_row
            return v

        return scaled

    def _reflect(self, y: Array) -> Array:
        """Reflect in place."""
        if y.ndim == 1:
            y -= self._vector * (self._scale * np.add.reduceat(self._vector * y, self._starts))[self._groups]
            return y
        vector = like(self._vector, y)[:, None]
        inner = self._sums(y)
        inner *= like(self._scale, y)[:, None]
        for rows in row_blocks(y):
            y[rows, :] -= vector[rows, :] * take(inner, self._groups[rows])
        return y


@dataclass(frozen=True)
class PairLaplacian:
    """Laplacian of rankings: of all pairs of a query, or of the pairs of different utilities.

    Attributes
    ----------
    strengths : ndarray of shape (k,)
        Eigenvalues, all positive.
    queries : ndarray of shape (k,)
        Query of each row of P.
    n_rows : int
        Number of rows.
    levels : tuple of GroupContrasts
        Inside queries; or inside classes, and then between the means of classes of a query.
    """

    strengths: Vector
    queries: Codes
    n_rows: int
    levels: tuple[GroupContrasts, ...]
    _root_weights: Vector
    _kept: NDArray[np.intp]

    orthonormal: ClassVar[bool] = True
    any_namespace: ClassVar[bool] = True

    def diagonalise(self, strengths: Vector, queries: Codes) -> None:
        """Return None: the contrasts are orthonormal.

        Parameters
        ----------
        strengths : ndarray of shape (k,)
            Not used.
        queries : ndarray of shape (m,)
            Not used.
        """

    def project(self, V: Array) -> Array:
        """Return P V, in O(m) per column.

        Parameters
        ----------
        V : ndarray of shape (m,) or (m, p)
            Values of the rows.

        Returns
        -------
        ndarray of shape (k,) or (k, p)
            Their contrasts.
        """
        parts, along = [], V * _column(self._root_weights, V)
        for level in self.levels:
            contrasts, along = level.split(along)
            parts.append(contrasts)
        found = parts[0] if len(parts) == 1 else array_namespace(V).concat(parts)
        return found if len(self._kept) == found.shape[0] else take(found, self._kept)

    def lift(self, C: Array) -> Array:
        """Return P' C, in O(m) per column.

        Parameters
        ----------
        C : ndarray of shape (k,) or (k, p)
            Contrasts.

        Returns
        -------
        ndarray of shape (m,) or (m, p)
            Values of the rows.
        """
        xp, sizes = array_namespace(C), [len(level.groups) for level in self.levels]
        if len(self._kept) < sum(sizes):
            numbers = np.full(sum(sizes), len(self._kept))
            numbers[self._kept] = np.arange(len(self._kept))
            C = take(xp.concat([C, xp.zeros((1, *C.shape[1:]), dtype=xp.float64, device=device(C))]), numbers)
        along: Array | None = None
        for level, end, size in reversed(list(zip(self.levels, np.cumsum(sizes), sizes, strict=True))):
            along = level.join(C[int(end) - size : int(end), ...], along)
        along *= _column(self._root_weights, C)
        return along

    def only(self, contrasts: NDArray[np.bool_]) -> PairLaplacian:
        """Return the Laplacian with some of the contrasts.

        Parameters
        ----------
        contrasts : ndarray of bool of shape (k,)
            Mask of the contrasts to keep.

        Returns
        -------
        PairLaplacian
            Laplacian of these contrasts.
        """
        if contrasts.all():
            return self
        parts = self.strengths[contrasts], self.queries[contrasts]
        return PairLaplacian(*parts, self.n_rows, self.levels, self._root_weights, self._kept[contrasts])

    def product(self, strengths: Vector) -> Callable[[Vector], Vector] | None:
        """Return the function that multiplies a vector with ``P' diag(strengths) P``.

        It takes O(m), and the memory of the vector.

        Parameters
        ----------
        strengths : ndarray of shape (k,)
            Weights of the contrasts.

        Returns
        -------
        callable or None
            Takes a vector of shape (m,), which it overwrites. None if the product needs P.
        """
        factors = np.zeros(len(self.levels[0].norms))
        factors[self.queries] = strengths
        if len(self.levels) > 1 or (factors[self.queries] != strengths).any():
            return None
        scaled, root = self.levels[0].scale(factors), self._root_weights
        if (root == 1.0).all():
            return scaled

        def weighted(v: Vector) -> Vector:
            v *= root
            v = scaled(v)
            v *= root
            return v

        return weighted

    def solve(self, C: Array) -> Array:
        """Return rows V with P V = C, and zero where a row has no weight.

        Parameters
        ----------
        C : ndarray of shape (k,) or (k, p)
            Contrasts.

        Returns
        -------
        ndarray of shape (m,) or (m, p)
            Values of the rows.
        """
        weights = self._root_weights**2
        return self.lift(C) / _column(np.where(weights > 0, weights, 1.0), C)

    @property
    def tells_differences(self) -> bool:
        """Whether P is orthonormal, and P V determines V up to a constant per query."""
        n_queries = len(self.levels[-1].norms)
        return len(self._kept) == self.n_rows - n_queries and bool((self._root_weights == 1).all())

    def project_both(self, K: Array) -> Array:
        """Return P K P', in O(m^2).

        Parameters
        ----------
        K : ndarray of shape (m, m)
            Symmetric matrix.

        Returns
        -------
        ndarray of shape (k, k)
            The product.
        """
        if (self._root_weights != 1).any():
            K = copied(K)
            scale_both(K, self._root_weights)
        if len(self.levels) == 1:
            return _select(self.levels[0].split_both(K)[0], self._kept)
        xp, (inside, between) = array_namespace(K), self.levels
        contrasts, mixed, along = inside.split_both(K)
        far, _, _ = between.split_both(along)
        cross, _ = between.split(mixed.T)
        n, all_of_them = contrasts.shape[0], contrasts.shape[0] + far.shape[0]
        found = xp.empty((all_of_them, all_of_them), dtype=xp.float64, device=device(K))
        found[:n, :n], found[:n, n:], found[n:, :n], found[n:, n:] = contrasts, cross.T, cross, far
        return _select(found, self._kept)

    def diagonal(self, strengths: Vector) -> Vector:
        """Return the diagonal of ``P' diag(strengths) P``.

        Parameters
        ----------
        strengths : ndarray of shape (k,)
            Weights of the contrasts, equal within a query and class.

        Returns
        -------
        ndarray of shape (m,)
            The diagonal.
        """
        full = np.zeros(sum(len(level.groups) for level in self.levels))
        full[self._kept] = strengths
        ends = np.cumsum([len(level.groups) for level in self.levels])
        along: Vector | None = None
        for level, part in reversed(list(zip(self.levels, np.split(full, ends[:-1]), strict=True))):
            along = level.diagonal(part, along)
        assert along is not None
        return along * self._root_weights**2


def scale_both(K: Array, factors: Vector) -> None:
    """Multiply rows and columns of a matrix, in one pass.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Matrix, which is overwritten.
    factors : ndarray of shape (m,)
        Factors of its rows and of its columns.
    """
    if (factors == factors[:1]).all():
        K *= float(factors[0]) ** 2
        return
    scale = like(factors, K)
    for rows in row_blocks(K):
        K[rows, :] *= scale[rows, None] * scale


def _select(K: Array, kept: NDArray[np.intp]) -> Array:
    """Return some rows and columns of a matrix; no copy if these are all."""
    return K if len(kept) == K.shape[0] else take_both(K, kept, kept)


def _column(values: Vector, x: Array) -> Array:
    """Return factors of the rows of x, a vector or a matrix."""
    return like(values, x)[(slice(None), *(None,) * (x.ndim - 1))]


def all_pairs(queries: Codes, weights: Vector) -> PairLaplacian:
    """Return the Laplacian of all pairs inside queries; the weight of a pair is the product of those of its rows.

    Parameters
    ----------
    queries : ndarray of shape (m,)
        0, 1, ...; none missing.
    weights : ndarray of shape (m,)
        Weights of the rows.

    Returns
    -------
    PairLaplacian
        The Laplacian.
    """
    level = GroupContrasts(queries, np.sqrt(weights))
    return _keep_positive((level.norms**2)[level.groups], level.groups, np.sqrt(weights), (level,))


def pairs_without_ties(queries: Codes, utilities: Vector, weights: Vector) -> PairLaplacian:
    """Return the Laplacian of the pairs of different utilities inside queries.

    Parameters
    ----------
    queries : ndarray of shape (m,)
        Query of each row, 0, 1, ...; none missing.
    utilities : ndarray of shape (m,)
        Utilities of the rows.
    weights : ndarray of shape (m,)
        Weights of the rows.

    Returns
    -------
    PairLaplacian
        The Laplacian.
    """
    _, values = np.unique(utilities, return_inverse=True)
    pairs = np.stack([queries, values])
    (class_queries, _), classes = np.unique(pairs, axis=1, return_inverse=True)
    classes = classes.ravel()
    inside = GroupContrasts(classes, np.sqrt(weights))
    between = GroupContrasts(class_queries, inside.norms)
    totals = between.norms**2
    strengths = np.concatenate([(totals[class_queries] - inside.norms**2)[inside.groups], totals[between.groups]])
    of_query = np.concatenate([class_queries[inside.groups], between.groups])
    return _keep_positive(strengths, of_query, np.sqrt(weights), (inside, between))


def _keep_positive(
    strengths: Vector, queries: Codes, root_weights: Vector, levels: tuple[GroupContrasts, ...]
) -> PairLaplacian:
    # A query of a single class has strength zero, up to rounding.
    largest = np.zeros(int(queries.max(initial=0)) + 1)
    np.maximum.at(largest, queries, strengths)
    kept = np.flatnonzero(strengths > len(strengths) * np.finfo(np.float64).eps * largest[queries])
    return PairLaplacian(strengths[kept], queries[kept], len(root_weights), levels, root_weights, kept)
