"""The cutting planes of a bundle, and their Gram matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank._dense import dot, multiply, multiply_transposed
from kernelrank.solvers._oracle import Oracle, squared_norm

Vector = NDArray[np.float64]

_IDLE = 5  # programs in a row that do not use a plane, after which it may be dropped
_ROUNDING = 1e-12  # weights below this share of the largest are zero; the first plane does not count
_FEW = 8  # unused planes; dropping fewer is not worth the copying
_MOST_UPDATES = 50  # of a Gram matrix; each adds its rounding


class _PartOfGram(NamedTuple):
    """Inner products of the slopes over some features, and how often they were updated."""

    features: NDArray[np.bool_]
    gram: Vector
    updates: int


class Cuts:
    """Planes ``a . w + b`` below a non-negative risk; the first is always ``0 . w + 0``.

    At most `most` planes are kept. Planes that no quadratic program has used for a while are dropped earlier, because
    the cost of a program grows with their number. When there is no room for a new plane, those that the last program
    did not use are dropped first. If it used them all, the least used ones are replaced by their mean, weighted by
    their use. A mean of planes below the risk is below it, and the solution of the program stays feasible, so the lower
    bound does not fall.

    Parameters
    ----------
    oracle : Oracle
        Provides the inner product of vectors.
    most : int
        At least 3. Memory is ``8 * most * n_features`` bytes in the end, taken as needed.
    """

    def __init__(self, oracle: Oracle, most: int) -> None:
        self._oracle, self._most = oracle, most
        self._a = np.zeros((min(8, most), oracle.n_features))
        self._b = np.zeros(min(8, most))
        self._gram = np.zeros((min(8, most), min(8, most)))
        self.size = 1
        self.u = np.ones(1)  # the use of each plane in the last program
        self._idle = np.zeros(1, dtype=np.intp)  # programs since it was used
        self._part: _PartOfGram | None = None

    @property
    def offsets(self) -> Vector:
        """Offsets of the planes."""
        return self._b[: self.size]

    @property
    def gram(self) -> Vector:
        """Inner products of the slopes."""
        return self._gram[: self.size, : self.size]

    @property
    def slopes(self) -> Vector:
        """Slopes of the planes, one per row."""
        return self._a[: self.size]

    @property
    def euclidean(self) -> bool:
        """Whether inner products are sums over features."""
        return self._oracle.euclidean

    def gram_of(self, features: NDArray[np.bool_]) -> Vector:
        """Return the inner products of the slopes over some of the features.

        O(size^2) per feature, or per feature that was not among those of the last call, or no longer is, if these are
        few.
        """
        part = self._part
        if part is not None and part.updates < _MOST_UPDATES:
            changed = np.flatnonzero(features != part.features)
            if 2 * len(changed) < np.count_nonzero(features):
                slopes = self._a[: self.size, changed]
                signed = slopes * np.where(features[changed], 1.0, -1.0)
                gram = part.gram + multiply(signed, slopes.T, n_threads=1)
                self._part = _PartOfGram(features, gram, part.updates + 1)
                return self._part.gram
        slopes = self._a[: self.size, features]
        self._part = _PartOfGram(features, np.asarray(multiply(slopes, slopes.T, n_threads=1)), 0)
        return self._part.gram

    def combine(self, u: Vector) -> Vector:
        """Return the sum of u[k] * a[k]."""
        return multiply_transposed(self._a[: self.size], u)

    def squared_norm(self, slope: Vector) -> float:
        """Return ``||slope||^2``."""
        return squared_norm(self._oracle, slope)

    def rounding(self, slope: Vector) -> float:
        """Bound the error of ``||slope||^2`` that is due to rounded features."""
        return self._oracle.inner_rounding(slope)

    def use(self, u: Vector) -> None:
        """Record how much each plane was used by a program."""
        self.u = u
        self._idle = np.where(self._used(), 0, self._idle + 1)
        idle = self._idle > _IDLE
        if np.count_nonzero(idle) > max(_FEW, self.size // 4):
            self._keep(np.flatnonzero(~idle))

    def add(self, a: Vector, b: float) -> None:
        """Add a plane: O(size * n_features)."""
        if self.size == self._most:
            self._make_room()
        if self.size == len(self._b):
            self._grow()
        k = self.size
        self._a[k], self._b[k] = a, b
        self.size += 1
        self._gram[k, : self.size] = self._gram[: self.size, k] = self._oracle.inner(self._a[: self.size], a)
        self.u, self._idle = np.append(self.u, 0.0), np.append(self._idle, 0)
        if self._part is not None:
            row = np.asarray(multiply(self._a[: self.size], a * self._part.features, n_threads=1))
            self._part = self._part._replace(gram=np.block([[self._part.gram, row[:k, None]], [row[None, :]]]))

    def _grow(self) -> None:
        size = min(2 * len(self._b), self._most)
        grown = np.zeros((size, self._a.shape[1])), np.zeros(size), np.zeros((size, size))
        grown[0][: self.size], grown[1][: self.size] = self._a, self._b
        grown[2][: self.size, : self.size] = self._gram
        self._a, self._b, self._gram = grown

    def _make_room(self) -> None:
        u, kept = self.u, self._used()
        if kept.sum() > self._most // 2:
            # The less used half of the planes becomes one.
            order = np.argsort(-u[1:], kind="stable") + 1
            merged = order[self._most // 2 - 1 :]
            weight = u[merged] / u[merged].sum()
            self._a[merged[0]] = multiply_transposed(self._a[merged], weight)
            self._b[merged[0]] = dot(weight, self._b[merged])
            u[merged[0]] = u[merged].sum()
            kept[merged[1:]] = False
            kept[merged[0]] = True
            self._idle[merged[0]] = 0
            slopes = self._a[: self.size]
            self._gram[merged[0], : self.size] = self._gram[: self.size, merged[0]] = self._oracle.inner(
                slopes, slopes[merged[0]]
            )
        self._keep(np.flatnonzero(kept))

    def _used(self) -> NDArray[np.bool_]:
        """Return which planes the last program used; the first one counts as used."""
        used = self.u > _ROUNDING * np.max(self.u[1:], initial=0.0)
        used[0] = True
        return used

    def _keep(self, rows: NDArray[np.intp]) -> None:
        n = self.size = len(rows)
        self._a[:n], self._b[:n], self._gram[:n, :n] = self._a[rows], self._b[rows], self._gram[np.ix_(rows, rows)]
        self.u, self._idle = self.u[rows], self._idle[rows]
        self._part = None
