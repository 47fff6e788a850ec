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
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from kernelrank._arrays import Array, is_foreign, like, slices, take, take_rows, to_host
from kernelrank._core import HeldOutRows, count_held_out, order_held_out, predict_held_out
from kernelrank._memory import require_memory
from kernelrank._threads import resolve_threads
from kernelrank.solvers._held_out_basis import HeldOutBasis
from kernelrank.solvers._pair_equations import BLOCK_ELEMENTS, Equations, PairCounts, PairEquations, row_products
from kernelrank.solvers._pairs_of_basis import PairsOfBasis
from kernelrank.solvers._ridge import Spectrum
from kernelrank.solvers._ties import EPS, LIMIT, SAFETY, Predicted, Rounding, norm, solve_with_inverse

Rows = NDArray[np.intp]

_BLOCK_ROWS = 256  # enough for the matrix product to be fast, few enough to save what is below the diagonal


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

    def predict(self, folds: Sequence[Rows], alpha: float) -> list[Predicted]:
        """Predict the rows of each fold, held out together; folds of one size are solved at once."""
        found: dict[int, Predicted] = {}
        sizes, rank = np.array([len(rows) for rows in folds], dtype=np.intp), self.spectrum.values.shape[0]
        for size in np.unique(sizes).tolist():
            numbers, refit_alpha, few = np.flatnonzero(sizes == size), self._refit_alpha(alpha, size), size <= rank
            alike = self.basis is None and (self.complete or few)
            for some in slices(len(numbers), BLOCK_ELEMENTS // max(1, size * (size + rank)) if alike else 1):
                rows = np.stack([folds[number] for number in numbers[some]])
                e, spread = (self._solve_by_rows if self.complete or few else self._solve_by_vectors)(rows, refit_alpha)
                predictions = _take_stacked(self.y, rows) - e
                errors = self._errors(rows, e, refit_alpha, spread) + EPS * abs(predictions)
                for k, number in enumerate(numbers[some]):
                    found[int(number)] = Predicted(predictions[k, ...], errors[k, ...])
        return [found[number] for number in range(len(folds))]

    def _errors(self, rows: Rows, e: Array, alpha: float, spread: Array) -> Array:
        """Bound the errors of the residuals of folds, given what the solution makes of those of the equations."""
        xp, size = array_namespace(e), norm(e, axis=1)
        vectors = _take_stacked(self.spectrum.vectors, rows)
        along = xp.permute_dims(self.along - xp.matrix_transpose(vectors) @ e, (1, 0, 2))
        b = self._rounding.size(along, size, self._target, like(np.array([alpha]), e))
        return xp.minimum(SAFETY * spread[:, :, None] * b[:, None, :], like(self.limits, e))

    def equations(self, rows: Rows, alpha: float) -> Equations:
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
        scales = xp.reshape(take(self.scales(alpha), rows.ravel()), rows.shape)
        if lost is not None:
            Y, along = vectors @ lost, lost.T @ self.along
            matrix, residuals = matrix + Y @ xp.matrix_transpose(Y), residuals + Y @ along
            products = products + along.T @ along[:, 0]
            scales = scales + self.scale_of_lost(alpha) * norm(Y, axis=-1)
        return Equations(matrix, residuals, products, scales)

    def _solve_by_rows(self, rows: Rows, alpha: float) -> tuple[Array, Array]:
        """Find the residuals of folds of a few rows each, and what they make of errors of the equations."""
        matrix, residuals, _, scales = self.equations(rows, alpha)
        if not rows.size:
            return residuals, scales
        e, inverse = solve_with_inverse(matrix, residuals)
        return e, norm(inverse * scales[..., None, :], axis=-1)

    def _lost(self, rows: Rows, alpha: float) -> Array | None:
        """Return G with ``Y = V G``, where ``Y Y'`` is lost of A with these rows; None if nothing is."""
        directions = None if self.basis is None else self.basis.directions(rows)
        return None if self.basis is None or directions is None else self.basis.lost(directions, alpha).shrunk

    def _solve_by_vectors(self, rows: Rows, alpha: float) -> tuple[Array, Array]:
        """Do so for one fold of many rows, in the space of the few eigenvectors and the constants."""
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

        identity, gram = self._identity(factors.shape[0]), vectors.T @ vectors
        inner, inverse = solve_with_inverse(identity - shrink(gram), shrink(vectors.T @ residuals))
        # Errors of the equations of the rows, whose inverse is the identity and `spread @ vectors.T`, and of these.
        by_vectors = vectors @ inverse
        spread = xp.matrix_transpose(shrink(xp.matrix_transpose(by_vectors)))
        squares = 1.0 + 2.0 * xp.vecdot(spread, vectors) + xp.vecdot(spread @ gram, spread)
        squares = squares + xp.vecdot(by_vectors, by_vectors)
        if lost is not None:
            squares = squares * (1.0 + self.scale_of_lost(alpha)) ** 2  # no row of what is lost is longer than 1
        return (residuals + vectors @ inner)[None, ...], xp.sqrt(squares)[None, ...]

    def each_row(self, alpha: float) -> Predicted:
        """Predict every row, held out alone."""
        e, spread = self._each_row(self._refit_alpha(alpha, 1))
        predictions = self.y - e
        errors = spread[:, None] * like(self.tolerances(self._refit_alpha(alpha, 1)), e)
        errors = array_namespace(e).minimum(errors, like(self.limits, e))
        return Predicted(predictions, errors + EPS * abs(predictions))

    def _each_row(self, alpha: float) -> tuple[Array, Array]:
        """Find the residual of every row, and what it makes of errors of its equation; at the alpha of the refit."""
        diagonal, residuals, scales = self.diagonal(alpha), self.residuals(alpha), self.scales(alpha)
        if self.basis is not None:
            gain = PairsOfBasis(self, alpha).every_row()
            diagonal, residuals = diagonal + gain[0], residuals + gain[1]
            scales = scales + self.scale_of_lost(alpha) * gain[0] ** 0.5
        return residuals / diagonal[:, None], scales / diagonal

    def pairs(self, pairs: Rows, alpha: float) -> Array:
        """Predict both rows of each pair, the two of them held out; shape (n_pairs, 2, p)."""
        alpha, y = self._refit_alpha(alpha, 2), self.y.T
        first, second = (take(y, rows, axis=1) for rows in pairs.T)
        found = self.equations_of_pairs(pairs, alpha).predict(first, second, self.tolerances(alpha), self.limits)
        xp = array_namespace(self.y)
        return xp.permute_dims(xp.stack(found), (2, 0, 1))

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
            take(self.scales(alpha), first),
            take(self.scales(alpha), second),
        )
        return equations if self.basis is None else PairsOfBasis(self, alpha).correct(equations, pairs)

    def all_pairs(self, alpha: float) -> Array:
        """Return F, ``F[i, j]`` the prediction of row i with i and j held out; shape (p, m, m).

        A row with itself means nothing: it is NaN.
        """
        alpha, m, (xp, y) = self._refit_alpha(alpha, 2), self.n_rows, (array_namespace(self.y), self.y.T)
        tolerances = self.tolerances(alpha)
        if is_foreign(y):
            found = xp.full((y.shape[0], m, m), xp.nan, dtype=xp.float64, device=device(y))
            rows = np.arange(m)
        else:
            require_memory(
                8 * y.shape[0] * m * m,
                f"Predictions of all pairs, of shape {(y.shape[0], m, m)} with the outputs first,",
                "Ask for some of the pairs, or for their concordance.",
            )
            found = np.empty((y.shape[0], m, m))
            for block in self._blocks(alpha):
                predict_held_out(out=found, tolerances=tolerances, limits=self.limits, **block)
            rows = np.empty(0, np.intp) if self.basis is None else self.basis.basis.rows
        turn = np.full(m, m)
        turn[rows] = np.arange(len(rows))
        for some, equations in self.blocks_of_pairs(rows, np.arange(m), alpha):
            own = take(y, some, axis=1)[:, :, None]
            first, second = equations.predict(own, y[:, None, :], tolerances, self.limits)
            # Both rows of a pair have a line here: its predictions are those of the first, or ties would differ.
            mine = like(turn[some][:, None] < turn, first)
            here: Any = slice(int(some[0]), int(some[-1]) + 1) if len(rows) == m else some
            found[:, here, :] = xp.where(mine, first, found[:, here, :])
            found[:, :, here] = xp.where(mine.T, xp.permute_dims(second, (0, 2, 1)), found[:, :, here])
        return found

    def order(self, alpha: float) -> NDArray[np.int8]:
        """Return, for each output, 1 where row i is predicted above row j with both held out, and -1 below.

        Shape (p, m, m). Predictions that differ by no more than rounding, as those of equal rows, are equal: 0.
        """
        alpha, m, y = self._refit_alpha(alpha, 2), self.n_rows, self.y.T
        require_memory(
            y.shape[0] * m * m, f"The order of all pairs, of shape {(y.shape[0], m, m)},", "Ask for their concordance."
        )
        found, tolerances = np.zeros((y.shape[0], m, m), np.int8), self.tolerances(alpha)
        rows = np.arange(m if is_foreign(y) else 0)
        if not is_foreign(y):
            for block in self._blocks(alpha):
                order_held_out(out=found, tolerances=tolerances, limits=self.limits, **block)
            rows = rows if self.basis is None else self.basis.basis.rows
        for some, equations in self.blocks_of_pairs(rows, np.arange(m), alpha):
            signs = equations.orders(take(y, some, axis=1)[:, :, None], y[:, None, :], tolerances, self.limits)
            for k, (_, higher, lower) in enumerate(signs):
                line = np.asarray(to_host(higher)).astype(np.int8) - np.asarray(to_host(lower))
                found[k, some, :], found[k, :, some] = line, -line
        return found

    def blocks_of_pairs(self, rows: Rows, columns: Rows, alpha: float) -> Iterator[tuple[Rows, PairEquations]]:
        """Yield some rows, and their equations with all columns, at the alpha of the refit; with itself, NaN."""
        if len(rows) == 0:
            return
        xp, vectors, diagonal = array_namespace(self.y), take_rows(self.spectrum.vectors, columns), self.diagonal(alpha)
        scales = self.scales(alpha)
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
                take(scales, some)[:, None],
                take(scales, columns),
            )
            yield some, equations if basis is None else basis.correct_block(equations, some, columns)

    def count_pairs(self, alpha: float) -> PairCounts:
        """Count the pairs with different targets, and those in the right order when both rows are held out.

        Predictions that differ by no more than rounding, as those of equal rows, are equal.
        """
        alpha, m, y = self._refit_alpha(alpha, 2), self.n_rows, self.y.T
        tolerances = self.tolerances(alpha)
        halves, pairs = np.zeros((2, y.shape[0]), np.int64)
        plain, alone, rows = np.empty(0, np.intp), np.zeros(m, dtype=bool), None
        if is_foreign(y):
            plain = np.arange(m)
        elif self.basis is not None:
            plain, alone = self.basis.basis.rows, self.basis.position == len(self.basis.basis.rows)
            rows = np.flatnonzero(alone)
        for some, equations in self.blocks_of_pairs(plain, np.arange(m), alpha):
            own = take(y, some, axis=1)[:, :, None]
            counts = equations.count(own, y[:, None, :], tolerances, self.limits, alone=like(alone, y))
            halves, pairs = halves + counts[0], pairs + counts[1]
        if not is_foreign(y):
            for block in self._blocks(alpha, rows):
                count_held_out(halves=halves, pairs=pairs, tolerances=tolerances, limits=self.limits, **block)
        return PairCounts(halves, pairs)

    def tolerances(self, alpha: float) -> NDArray[np.float64]:
        """Bound the errors of the equations of rows and pairs, for each output, in units of the rows' scales.

        The held-out model differs from that of all rows by its two residuals, which are at most about those of rows
        that are held out alone. Where a pair's are larger, its determinant is small, and allows for it.
        """
        xp, refit, zero = array_namespace(self.y), like(np.array([alpha]), self.y), like(np.zeros((1, 1)), self.y)
        found = self._rounding.size(self.along[:, None, :], zero, self._target, refit)[0, :]
        vectors, none, alone, most = self.spectrum.vectors, (zero[0, :], zero[0, :]), abs(self._each_row(alpha)[0]), []
        for part in slices(self.n_rows, BLOCK_ELEMENTS // max(1, 8 * vectors.shape[1])):
            of_rows = self._rounding.size(vectors[part, :].T[:, :, None], zero + 1.0, none, refit)
            most.append(xp.max(alone[part, :] * of_rows, axis=0))
        return np.asarray(SAFETY * to_host(found + 2.0 * xp.max(xp.stack(most), axis=0)))

    @cached_property
    def limits(self) -> NDArray[np.float64]:
        """Widest tie of each output."""
        return np.asarray(LIMIT * to_host(self._target[1]))

    def scales(self, alpha: float) -> Array:
        """Scales of the errors of rows of the equations."""
        return self._rounding.scales(self.spectrum.vectors, like(np.array([alpha]), self.y))[0, :]

    def scale_of_lost(self, alpha: float) -> float:
        """Scale of the errors of what is lost with basis rows, whose rows are at most 1."""
        return self._rounding.of_lost(alpha) / EPS

    @cached_property
    def _rounding(self) -> Rounding:
        return Rounding(self.spectrum, self.complete)

    @cached_property
    def _target(self) -> tuple[Array, Array]:
        """Norm and largest element of each output."""
        return norm(self._centred, axis=0), array_namespace(self.y).max(abs(self._centred), axis=0)

    def _identity(self, n: int) -> Array:
        xp = array_namespace(self.y)
        return xp.eye(n, dtype=xp.float64, device=device(self.y))

    def concordance(self, alpha: float) -> NDArray[np.float64]:
        """Share of the pairs with different targets that are in the right order when held out; ties count half."""
        return self.count_pairs(alpha).concordance

    def _blocks(self, alpha: float, rows: Rows | None = None) -> Iterator[dict[str, Any]]:
        """Yield what is on and above the diagonal of I - A, a few rows at a time, as the compiled functions take it.

        All blocks are in the same memory.
        """
        numbers = slice(None) if rows is None else rows
        parts = (
            *(self.diagonal(alpha)[numbers], self.residuals(alpha).T[:, numbers]),
            *(self.y.T[:, numbers], self.scales(alpha)[numbers]),
        )
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
