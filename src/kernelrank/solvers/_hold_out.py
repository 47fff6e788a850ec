r"""What ridge regression would predict for held-out rows of one ranking, from one decomposition of all rows.

The reference is always a refit of the same estimator on the rows that remain, with the same alpha. Losses are
averages, so fewer rows change how much the penalty weighs: in units of the whole problem, alpha becomes
``alpha * (what remains of the normaliser) / (the whole)``.

With A the matrix that takes the targets y to the predictions (a mean is fitted as well), the
residuals of held-out rows S are ``e_S = (I - A)_SS^-1 ((I - A) y)_S`` (Pahikkala et al. 2009, section 3.4, for pairs;
Rifkin and Lippert 2007 for any rows). Two forms of I - A keep their digits in different places:

- all eigenvectors V of the centred kernel matrix: ``V diag(alpha / (lambda + alpha)) V'``,
- few of them: ``C - V diag(lambda / (lambda + alpha)) V'`` with C the centring matrix.

Features that are made of basis rows are lost with these: see ``_held_out_basis.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from kernelrank._arrays import Array, is_foreign, like, slices, take, take_rows, to_host
from kernelrank._core import HeldOutRows, count_held_out, order_held_out, predict_held_out
from kernelrank._memory import require_memory
from kernelrank._threads import resolve_threads
from kernelrank.solvers._held_out_basis import HeldOutBasis
from kernelrank.solvers._pair_equations import BLOCK_ELEMENTS, PairEquations, row_products
from kernelrank.solvers._pairs_of_basis import PairsOfBasis
from kernelrank.solvers._ridge import Spectrum

Counts = NDArray[np.int64]
Rows = NDArray[np.intp]

_BLOCK_ROWS = 256  # enough for the matrix product to be fast, few enough to save what is below the diagonal
_ROUNDING = 32 * float(np.finfo(np.float64).eps)  # times the root of the number of rows: of products as long as that


class PairCounts(NamedTuple):
    """Pairs with different targets, counted for each output; those of several calls can be added."""

    halves: Counts  # two for a pair that is in the right order, one for equal predictions
    pairs: Counts

    @property
    def concordance(self) -> NDArray[np.float64]:
        """Share of the pairs that are in the right order; NaN if there are none."""
        unknown = np.full(len(self.pairs), np.nan)
        return np.asarray(np.divide(self.halves, 2 * self.pairs, out=unknown, where=self.pairs > 0))


@dataclass(frozen=True)
class OneRanking:
    """Hold-outs of rows that are all compared with each other.

    Attributes
    ----------
    spectrum : Spectrum
        Of the centred rows; its vectors as long as there are rows. They need not be orthonormal if `complete`.
    complete : bool
        Whether the vectors span all that is orthogonal to the constants.
    y : ndarray of shape (m, p)
    averaged : bool
        Whether an alpha is meant for an average over the rows, as above. If not, it is the one of the refit, in units
        of the whole problem.
    n_jobs : int, optional
        Threads for what is done to each pair; the matrix products have those of BLAS.
    basis : HeldOutBasis, optional
        Rows that take features along when they are held out.
    """

    spectrum: Spectrum
    complete: bool
    y: Array
    averaged: bool = True
    n_jobs: int | None = None
    basis: HeldOutBasis | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.y.shape[0])

    def predict(self, folds: Sequence[Rows], alpha: float) -> list[Array]:
        """Predict the rows of each fold, held out together; folds of one size are solved at once."""
        found: dict[int, Array] = {}
        sizes, rank = np.array([len(rows) for rows in folds], dtype=np.intp), self.spectrum.values.shape[0]
        for size in np.unique(sizes).tolist():
            numbers, refit_alpha, few = np.flatnonzero(sizes == size), self._refit_alpha(alpha, size), size <= rank
            alike = self.basis is None and (self.complete or few)
            for some in slices(len(numbers), BLOCK_ELEMENTS // max(1, size * (size + rank)) if alike else 1):
                rows = np.stack([folds[number] for number in numbers[some]])
                errors = (self._solve_by_rows if self.complete or few else self._solve_by_vectors)(rows, refit_alpha)
                predictions = _take_stacked(self.y, rows) - errors
                found.update((int(number), predictions[k, ...]) for k, number in enumerate(numbers[some]))
        return [found[number] for number in range(len(folds))]

    def equations(self, rows: Rows, alpha: float) -> tuple[Array, Array, Array]:
        """Return I - A of some rows, their residuals, and products of y; at the alpha of the refit.

        Without a basis the rows may be of shape (n_folds, n): the equations of each fold.
        """
        vectors = _take_stacked(self.spectrum.vectors, rows)
        xp, products = array_namespace(vectors), self._products(alpha)
        residuals = xp.reshape(self.residuals(alpha, rows.ravel()), (*rows.shape, self.y.shape[1]))
        matrix = (vectors * self._factors(alpha)) @ xp.matrix_transpose(vectors) + self._shift
        if not self.complete:
            matrix = matrix + xp.eye(rows.shape[-1], dtype=xp.float64, device=device(matrix))
        lost = self._lost(rows.ravel(), alpha)
        if lost is not None:
            Y, along = vectors @ lost, lost.T @ self.along
            matrix, residuals = matrix + Y @ xp.matrix_transpose(Y), residuals + Y @ along
            products = products + along.T @ along[:, 0]
        return matrix, residuals, products

    def _solve_by_rows(self, rows: Rows, alpha: float) -> Array:
        """Find the residuals of folds of a few rows each."""
        matrix, residuals, _ = self.equations(rows, alpha)
        return array_namespace(residuals).linalg.solve(matrix, residuals) if rows.size else residuals

    def _lost(self, rows: Rows, alpha: float) -> Array | None:
        """Return G with ``Y = V G``, where ``Y Y'`` is lost of A with these rows; None if nothing is."""
        directions = None if self.basis is None else self.basis.directions(rows)
        return None if self.basis is None or directions is None else self.basis.lost(directions, alpha).shrunk

    def _solve_by_vectors(self, rows: Rows, alpha: float) -> Array:
        """Find the residuals of one fold of many rows, in the space of the few eigenvectors and the constants."""
        rows, residuals = rows[0], self.residuals(alpha, rows[0])
        xp, lost = array_namespace(residuals), self._lost(rows, alpha)
        constant = like(np.full((len(rows), 1), np.sqrt(-self._shift)), residuals)
        vectors = xp.concat([take(self.spectrum.vectors, rows), constant], axis=1)
        factors = xp.concat([-self._factors(alpha), like(np.ones(1), residuals)])[:, None]
        if lost is not None:
            residuals = residuals + vectors[:, :-1] @ (lost @ (lost.T @ self.along))
            lost = xp.concat([lost, like(np.zeros((1, lost.shape[1])), lost)])

        def shrink(x: Array) -> Array:
            return factors * x if lost is None else factors * x - lost @ (lost.T @ x)

        identity = xp.eye(factors.shape[0], dtype=xp.float64, device=device(residuals))
        inner = xp.linalg.solve(identity - shrink(vectors.T @ vectors), shrink(vectors.T @ residuals))
        return (residuals + vectors @ inner)[None, ...]

    def each_row(self, alpha: float) -> Array:
        """Predict every row, held out alone."""
        alpha = self._refit_alpha(alpha, 1)
        diagonal, residuals = self.diagonal(alpha), self.residuals(alpha)
        if self.basis is not None:
            gain = PairsOfBasis(self, alpha).every_row()
            diagonal, residuals = diagonal + gain[0], residuals + gain[1]
        return self.y - residuals / diagonal[:, None]

    def pairs(self, pairs: Rows, alpha: float) -> Array:
        """Predict both rows of each pair, the two of them held out; shape (n_pairs, 2, p)."""
        errors = self.equations_of_pairs(pairs, self._refit_alpha(alpha, 2)).solve()
        predictions = [take(self.y, rows) - each.T for rows, each in zip(pairs.T, errors, strict=True)]
        return array_namespace(self.y).stack(predictions, axis=1)

    def equations_of_pairs(self, pairs: Rows, alpha: float) -> PairEquations:
        """Return the equations of pairs, at the alpha of the refit."""
        diagonal, residuals, (first, second) = self.diagonal(alpha), self.residuals(alpha).T, pairs.T
        vectors = self.spectrum.vectors
        equations = PairEquations(
            take(diagonal, first),
            take(diagonal, second),
            row_products(vectors, first, vectors, second, self._factors(alpha)) + self._shift,
            take(residuals, first, axis=1),
            take(residuals, second, axis=1),
            self._products(alpha)[:, None],
        )
        return equations if self.basis is None else PairsOfBasis(self, alpha).correct(equations, pairs)

    def all_pairs(self, alpha: float) -> Array:
        """Return F, ``F[i, j]`` the prediction of row i with i and j held out; shape (p, m, m).

        A row with itself means nothing: it is NaN.
        """
        alpha, m, (xp, y) = self._refit_alpha(alpha, 2), self.n_rows, (array_namespace(self.y), self.y.T)
        if is_foreign(y):
            found = xp.empty((y.shape[0], m, m), dtype=xp.float64, device=device(y))
            rows = np.arange(m)
        else:
            require_memory(
                8 * y.shape[0] * m * m,
                f"Predictions of all pairs, of shape {(y.shape[0], m, m)} with the outputs first,",
                "Ask for some of the pairs, or for their concordance.",
            )
            found = np.empty((y.shape[0], m, m))
            for block in self._blocks(alpha):
                predict_held_out(out=found, **block)
            rows = np.empty(0, np.intp) if self.basis is None else self.basis.basis.rows
        for some, equations in self.blocks_of_pairs(rows, np.arange(m), alpha):
            first, second = equations.solve()
            first, second = take(y, some, axis=1)[:, :, None] - first, y[:, None, :] - second
            if len(rows) == m:
                found[:, int(some[0]) : int(some[-1]) + 1, :] = first
            else:
                found[:, some, :], found[:, :, some] = first, np.moveaxis(second, 1, 2)
        return found

    def order(self, alpha: float) -> NDArray[np.int8]:
        """Return, for each output, 1 where row i is predicted above row j with both held out, and -1 below.

        Shape (p, m, m). Predictions that differ by no more than rounding, as those of equal rows, are equal: 0.
        """
        alpha, m, y = self._refit_alpha(alpha, 2), self.n_rows, self.y.T
        require_memory(
            y.shape[0] * m * m, f"The order of all pairs, of shape {(y.shape[0], m, m)},", "Ask for their concordance."
        )
        found, tolerances = np.zeros((y.shape[0], m, m), np.int8), self._tolerances(alpha)
        rows = np.arange(m if is_foreign(y) else 0)
        if not is_foreign(y):
            for block in self._blocks(alpha):
                order_held_out(out=found, tolerances=tolerances, **block)
            rows = rows if self.basis is None else self.basis.basis.rows
        for some, equations in self.blocks_of_pairs(rows, np.arange(m), alpha):
            signs = equations.orders(take(y, some, axis=1)[:, :, None], y[:, None, :], tolerances)
            for k, (_, higher, lower) in enumerate(signs):
                line = np.asarray(to_host(higher)).astype(np.int8) - np.asarray(to_host(lower))
                found[k, some, :], found[k, :, some] = line, -line
        return found

    def blocks_of_pairs(self, rows: Rows, columns: Rows, alpha: float) -> Iterator[tuple[Rows, PairEquations]]:
        """Yield some rows, and their equations with all columns, at the alpha of the refit; with itself, NaN."""
        if len(rows) == 0:
            return
        xp, vectors, diagonal = array_namespace(self.y), take_rows(self.spectrum.vectors, columns), self.diagonal(alpha)
        residuals, products = self.residuals(alpha).T, self._products(alpha)[:, None, None]
        basis = None if self.basis is None else PairsOfBasis(self, alpha)
        for part in slices(len(rows), BLOCK_ELEMENTS // max(1, 4 * len(columns) * residuals.shape[0])):
            some = rows[part]
            W = (take(self.spectrum.vectors, some) * self._factors(alpha)) @ vectors.T + self._shift
            equations = PairEquations(
                take(diagonal, some)[:, None],
                take(diagonal, columns),
                xp.where(like(some[:, None] == columns, W), xp.nan, W),
                take(residuals, some, axis=1)[:, :, None],
                take(residuals, columns, axis=1)[:, None, :],
                products,
            )
            yield some, equations if basis is None else basis.correct_block(equations, some, columns)

    def count_pairs(self, alpha: float) -> PairCounts:
        """Count the pairs with different targets, and those in the right order when both rows are held out.

        Predictions that differ by no more than rounding, as those of equal rows, are equal.
        """
        alpha, m, y = self._refit_alpha(alpha, 2), self.n_rows, self.y.T
        tolerances = self._tolerances(alpha)
        halves, pairs = np.zeros((2, y.shape[0]), np.int64)
        plain, alone, rows = np.empty(0, np.intp), np.zeros(m, dtype=bool), None
        if is_foreign(y):
            plain = np.arange(m)
        elif self.basis is not None:
            plain, alone = self.basis.basis.rows, self.basis.position == len(self.basis.basis.rows)
            rows = np.flatnonzero(alone)
        for some, equations in self.blocks_of_pairs(plain, np.arange(m), alpha):
            own = take(y, some, axis=1)[:, :, None]
            counts = equations.count(own, y[:, None, :], tolerances, alone=like(alone, y))
            halves, pairs = halves + counts[0], pairs + counts[1]
        if not is_foreign(y):
            for block in self._blocks(alpha, rows):
                count_held_out(halves=halves, pairs=pairs, tolerances=tolerances, **block)
        return PairCounts(halves, pairs)

    def _tolerances(self, alpha: float) -> NDArray[np.float64]:
        """Return what of the residuals of each output may be rounding."""
        residuals = np.abs(to_host(self.residuals(alpha)))
        return np.asarray(_ROUNDING * np.sqrt(self.n_rows) * residuals.max(axis=0))

    def concordance(self, alpha: float) -> NDArray[np.float64]:
        """Share of the pairs with different targets that are in the right order when held out; ties count half."""
        return self.count_pairs(alpha).concordance

    def _blocks(self, alpha: float, rows: Rows | None = None) -> Iterator[dict[str, Any]]:
        """Yield what is on and above the diagonal of I - A, a few rows at a time, as the compiled functions take it.

        All blocks are in the same memory.
        """
        numbers = slice(None) if rows is None else rows
        parts = (self.diagonal(alpha)[numbers], self.residuals(alpha).T[:, numbers], self.y.T[:, numbers])
        common = {"rows": HeldOutRows(*map(np.ascontiguousarray, parts)), "shift": self._shift}
        vectors, factors = self.spectrum.vectors if rows is None else self.spectrum.vectors[rows], self._factors(alpha)
        size = min(_BLOCK_ROWS, max(1, BLOCK_ELEMENTS // max(1, len(vectors))))
        memory, n_threads = np.empty(size * len(vectors)), resolve_threads(self.n_jobs)
        for part in slices(len(vectors), size):
            others = vectors[part.start :]
            shape = (part.stop - part.start, len(others))
            between = memory[: shape[0] * shape[1]].reshape(shape)
            np.matmul(vectors[part] * factors, others.T, out=between)
            yield {**common, "between": between, "first": part.start, "n_threads": n_threads}

    def _products(self, alpha: float) -> Array:
        """``y' (I - A) z`` of the first output y and each output z."""
        products = (self.along * self._factors(alpha)[:, None]).T @ self.along[:, 0]
        return products if self.complete else products + self._centred.T @ self._centred[:, 0]

    def _refit_alpha(self, alpha: float, n_held_out: int) -> float:
        return alpha * (1 - n_held_out / self.n_rows) if self.averaged else alpha

    def _factors(self, alpha: float) -> Array:
        values = self.spectrum.values
        return alpha / (values + alpha) if self.complete else -values / (values + alpha)

    @property
    def _shift(self) -> float:
        """What I - A has between any two rows, beside the vectors."""
        return 0.0 if self.complete else -1 / self.n_rows

    def diagonal(self, alpha: float) -> Array:
        """Diagonal of I - A."""
        factors, vectors = self._factors(alpha), self.spectrum.vectors
        parts = [
            vectors[part, :] ** 2 @ factors for part in slices(self.n_rows, BLOCK_ELEMENTS // max(1, vectors.shape[1]))
        ]
        diagonal = array_namespace(vectors).concat(parts)
        return diagonal if self.complete else diagonal + (1.0 + self._shift)

    def residuals(self, alpha: float, rows: Rows | None = None) -> Array:
        """(I - A) y; of some rows, if these are given."""
        vectors, centred = self.spectrum.vectors, self._centred
        if rows is not None:
            vectors, centred = take(vectors, rows), take(centred, rows)
        residuals = vectors @ (self._factors(alpha)[:, None] * self.along)
        return residuals if self.complete else residuals + centred

    @cached_property
    def along(self) -> Array:
        """The targets, along the vectors."""
        return self.spectrum.vectors.T @ self._centred

    @cached_property
    def _centred(self) -> Array:
        return self.y - array_namespace(self.y).mean(self.y, axis=0)


def _take_stacked(x: Array, rows: Rows) -> Array:
    """Copy rows of a matrix, in the shape of their numbers."""
    return array_namespace(x).reshape(take(x, rows.ravel()), (*rows.shape, x.shape[1]))
