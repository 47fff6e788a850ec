r"""What ridge regression would predict for held-out rows of one ranking, from one decomposition of all rows.

The reference is always a refit of the same estimator on the rows that remain, with the same alpha. Losses are
averages, so fewer rows change how much the penalty weighs: in units of the whole problem, alpha becomes
``alpha * (what remains of the normaliser) / (the whole)``.

With A the matrix that takes the targets y to the predictions (a mean is fitted as well), the
residuals of held-out rows S are ``e_S = (I - A)_SS^-1 ((I - A) y)_S`` (Pahikkala et al. 2009, section 3.4, for pairs;
Rifkin and Lippert 2007 for any rows). Two forms of I - A keep their digits in different places:

- all eigenvectors V of the centred kernel matrix: ``V diag(alpha / (lambda + alpha)) V'``,
- few of them: ``C - V diag(lambda / (lambda + alpha)) V'`` with C the centring matrix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from kernelrank._arrays import Array, is_foreign, like, slices, take, to_host
from kernelrank._core import HeldOutRows, count_held_out, predict_held_out
from kernelrank._memory import require_memory
from kernelrank._threads import resolve_threads
from kernelrank.solvers._pairs_plainly import PlainPairs
from kernelrank.solvers._ridge import Spectrum

Counts = NDArray[np.int64]
Rows = NDArray[np.intp]

_BLOCK_ROWS = 256  # enough for the matrix product to be fast, few enough to save what is below the diagonal
_BLOCK_ELEMENTS = 1 << 22  # of a block of rows: 32 MiB
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
    """

    spectrum: Spectrum
    complete: bool
    y: Array
    averaged: bool = True
    n_jobs: int | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.y.shape[0])

    def predict(self, rows: Rows, alpha: float) -> Array:
        """Predict some rows, all of them held out."""
        alpha = self._refit_alpha(alpha, len(rows))
        residuals = take(self._residuals(alpha), rows)
        if not self.complete and len(rows) > self.spectrum.values.shape[0]:
            return take(self.y, rows) - self._solve_by_vectors(rows, alpha, residuals)
        if len(rows):
            residuals = array_namespace(residuals).linalg.solve(self._matrix(rows, alpha), residuals)
        return take(self.y, rows) - residuals

    def _solve_by_vectors(self, rows: Rows, alpha: float, residuals: Array) -> Array:
        """Solve with I - A of many rows, in the space of the few eigenvectors and the constants."""
        xp = array_namespace(residuals)
        constant = like(np.full((len(rows), 1), np.sqrt(-self._shift)), residuals)
        vectors = xp.concat([take(self.spectrum.vectors, rows), constant], axis=1)
        factors = xp.concat([-self._factors(alpha), like(np.ones(1), residuals)])[:, None]
        identity = xp.eye(factors.shape[0], dtype=xp.float64, device=device(residuals))
        inner = xp.linalg.solve(identity - factors * (vectors.T @ vectors), factors * (vectors.T @ residuals))
        return residuals + vectors @ inner

    def each_row(self, alpha: float) -> Array:
        """Predict every row, held out alone."""
        alpha = self._refit_alpha(alpha, 1)
        return self.y - self._residuals(alpha) / self._diagonal(alpha)[:, None]

    def pairs(self, pairs: Rows, alpha: float) -> Array:
        """Predict both rows of each pair, the two of them held out; shape (n_pairs, 2, p)."""
        alpha = self._refit_alpha(alpha, 2)
        residuals, diagonal, between = self._residuals(alpha), self._diagonal(alpha), self._between(pairs, alpha)
        first, second = pairs.T
        return array_namespace(self.y).stack(
            [
                self._pair(first, second, residuals, diagonal, between),
                self._pair(second, first, residuals, diagonal, between),
            ],
            axis=1,
        )

    def all_pairs(self, alpha: float, rows: Rows | None = None, columns: Rows | None = None) -> Array:
        """Return F, ``F[i, j]`` the prediction of row i with i and j held out; shape (p, m, m).

        A row with itself means nothing: it is NaN. With `rows` or `columns`, only these of F.
        """
        if is_foreign(self.y):
            assert rows is None
            assert columns is None
            return self._plain_pairs(self._refit_alpha(alpha, 2)).predict()
        shape = (self.y.shape[1], *(self.n_rows if some is None else len(some) for some in (rows, columns)))
        require_memory(
            8 * math.prod(shape),
            f"Predictions of all pairs, of shape {shape} with the outputs first,",
            "Ask for some of the pairs, or for their concordance.",
        )
        found = np.empty(shape)
        for block in self._blocks(self._refit_alpha(alpha, 2), rows, columns):
            predict_held_out(out=found, **block)
        if rows is not None or columns is not None:
            numbers = np.arange(self.n_rows)
            rows, columns = (numbers if some is None else some for some in (rows, columns))
            for i, row in enumerate(rows):
                found[:, i, columns == row] = np.nan
        return found

    def count_pairs(self, alpha: float, rows: Rows | None = None, columns: Rows | None = None) -> PairCounts:
        """Count the pairs with different targets, and those in the right order when both rows are held out.

        Every pair counts once. With `rows` or `columns`, every combination of the two does. Predictions that differ by
        no more than rounding, as those of equal rows, are equal.
        """
        found = PairCounts(*np.zeros((2, self.y.shape[1]), np.int64))
        alpha = self._refit_alpha(alpha, 2)
        tolerances = _ROUNDING * np.sqrt(self.n_rows) * np.abs(to_host(self._residuals(alpha))).max(axis=0)
        if is_foreign(self.y):
            assert rows is None
            assert columns is None
            return PairCounts(*self._plain_pairs(alpha).count(tolerances))
        for block in self._blocks(alpha, rows, columns):
            count_held_out(halves=found.halves, pairs=found.pairs, tolerances=tolerances, **block)
        return found

    def concordance(self, alpha: float) -> NDArray[np.float64]:
        """Share of the pairs with different targets that are in the right order when held out; ties count half."""
        return self.count_pairs(alpha).concordance

    def _plain_pairs(self, alpha: float) -> PlainPairs:
        """Return all pairs, for arrays that compiled code does not take."""
        return PlainPairs(
            self.spectrum.vectors,
            self._factors(alpha),
            self._shift,
            self._diagonal(alpha),
            self._residuals(alpha),
            self.y,
        )

    def _blocks(self, alpha: float, rows: Rows | None, columns: Rows | None) -> Iterator[dict[str, Any]]:
        """Yield a few rows of I - A at a time, as the compiled functions take them; of all pairs, one half.

        All blocks are in the same memory.
        """
        residuals, diagonal = self._residuals(alpha).T, self._diagonal(alpha)
        sides = []
        for some in (rows, columns):
            numbers = slice(None) if some is None else some
            parts = (diagonal[numbers], residuals[:, numbers], self.y.T[:, numbers])
            sides.append(HeldOutRows(*map(np.ascontiguousarray, parts)))
        common = {"rows": sides[0], "columns": sides[1], "shift": self._shift}
        vectors, factors = self.spectrum.vectors, self._factors(alpha)
        left, right = (vectors if some is None else vectors[some] for some in (rows, columns))
        upper = rows is None and columns is None
        size = min(_BLOCK_ROWS, max(1, _BLOCK_ELEMENTS // max(1, len(right))))
        memory, n_threads = np.empty(size * len(right)), resolve_threads(self.n_jobs)
        for part in slices(len(left), size):
            others = right[part.start :] if upper else right
            shape = (part.stop - part.start, len(others))
            between = memory[: shape[0] * shape[1]].reshape(shape)
            np.matmul(left[part] * factors, others.T, out=between)
            yield {**common, "between": between, "first_row": part.start, "upper": upper, "n_threads": n_threads}

    def _between(self, pairs: Rows, alpha: float) -> Array:
        """I - A of given pairs of rows."""
        xp, vectors, factors = array_namespace(self.y), self.spectrum.vectors, self._factors(alpha)
        parts = [np.empty((0, 2), np.intp), *(pairs[part] for part in self._slices(len(pairs)))]
        found = []
        for part in parts:
            scaled = take(vectors, part[:, 0])
            scaled *= factors
            found.append(xp.vecdot(scaled, take(vectors, part[:, 1])))
        return xp.concat(found) + self._shift

    def _pair(self, i: Rows, j: Rows, residuals: Array, diagonal: Array, between: Array) -> Array:
        d_i, d_j = take(diagonal, i), take(diagonal, j)
        e = d_j[:, None] * take(residuals, i) - between[:, None] * take(residuals, j)
        return take(self.y, i) - e / (d_i * d_j - between**2)[:, None]

    def _refit_alpha(self, alpha: float, n_held_out: int) -> float:
        return alpha * (1 - n_held_out / self.n_rows) if self.averaged else alpha

    def _factors(self, alpha: float) -> Array:
        values = self.spectrum.values
        return alpha / (values + alpha) if self.complete else -values / (values + alpha)

    @property
    def _shift(self) -> float:
        """What I - A has between any two rows, beside the vectors."""
        return 0.0 if self.complete else -1 / self.n_rows

    def _matrix(self, rows: Rows, alpha: float) -> Array:
        """I - A, of some rows and columns."""
        vectors = take(self.spectrum.vectors, rows)
        block = (vectors * self._factors(alpha)) @ vectors.T + self._shift
        if self.complete:
            return block
        xp = array_namespace(block)
        return block + xp.eye(len(rows), dtype=xp.float64, device=device(block))

    def _diagonal(self, alpha: float) -> Array:
        factors, vectors = self._factors(alpha), self.spectrum.vectors
        parts = [vectors[part, :] ** 2 @ factors for part in self._slices(self.n_rows)]
        diagonal = array_namespace(vectors).concat(parts)
        return diagonal if self.complete else diagonal + (1.0 + self._shift)

    def _slices(self, n: int) -> Iterator[slice]:
        """Split n rows of the vectors into blocks."""
        return slices(n, _BLOCK_ELEMENTS // max(1, self.spectrum.vectors.shape[1]))

    def _residuals(self, alpha: float) -> Array:
        """(I - A) y."""
        residuals = self.spectrum.vectors @ (self._factors(alpha)[:, None] * self._along)
        return residuals if self.complete else residuals + self._centred

    @cached_property
    def _along(self) -> Array:
        return self.spectrum.vectors.T @ self._centred

    @cached_property
    def _centred(self) -> Array:
        return self.y - array_namespace(self.y).mean(self.y, axis=0)
