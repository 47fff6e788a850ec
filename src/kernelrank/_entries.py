"""Products with U and V at known entries of a matrix ``U W V'``, which is not formed.

Every sum has a fixed order of additions, as in `_dense`: the result does not depend on the number of threads, and an
entry gets the same number whatever other entries there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._core import sample_product, spread_product
from kernelrank._dense import contiguous, multiply, readable

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Numbers = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class _Sorted:
    """Entries sorted by line, ties in their order.

    Attributes
    ----------
    used : ndarray or None
        The lines that have entries; None for all lines. The others are left out.
    starts : ndarray of shape (n_used + 1,)
        First entry of each line.
    numbers : ndarray of shape (n_entries,)
        Numbers of the entries.
    partners : ndarray of shape (n_entries,)
        Row of the other matrix that belongs to each entry.
    """

    used: NDArray[np.intp] | None
    starts: NDArray[np.int64]
    numbers: NDArray[np.int64]
    partners: Numbers

    @classmethod
    def by_line(cls, lines: Numbers, partners: Numbers, n_lines: int) -> Self:
        """Sort entries, given by their lines and partners."""
        sizes = np.bincount(lines, minlength=n_lines)
        used = np.flatnonzero(sizes)
        short = lines.astype(np.uint16) if n_lines <= 1 << 16 else lines  # sorted in linear time
        numbers = np.argsort(short, kind="stable").astype(np.int64, copy=False)
        starts = np.append(0, np.cumsum(sizes[used])).astype(np.int64, copy=False)
        return cls(used if len(used) < n_lines else None, starts, numbers, partners[numbers])


@dataclass(frozen=True, eq=False)
class EntryProducts:
    """The products ``W -> (U W V')`` at entries, and ``g -> U' G V`` with G zero but for g at the entries.

    Attributes
    ----------
    U, V : {ndarray, CSR matrix} of shape (q, d1) and (m, d2)
        Of float32 or float64; CSR matrices in canonical form.
    rows, columns : ndarray of shape (n_entries,)
        Entries, as rows of U and of V, in any order; an entry may be there several times.
    n_threads : int

    Notes
    -----
    Time is O(q d1 d2 + n_entries d2), with q the number of rows of U that have entries; or, if d1 is smaller than d2,
    O(m d1 d2 + n_entries d1). Memory is that of a matrix of shape (q, d2) or (m, d1). A sparse matrix counts by its
    stored elements.
    """

    U: Any
    V: Any
    rows: Numbers
    columns: Numbers
    n_threads: int = 1

    @property
    def _by_rows(self) -> bool:
        """Whether W is multiplied by U first; it must not depend on the entries, nor on the number of rows."""
        return bool(self.V.shape[1] <= self.U.shape[1])

    @cached_property
    def _entries(self) -> _Sorted:
        if self._by_rows:
            return _Sorted.by_line(self.rows, self.columns, self.U.shape[0])
        return _Sorted.by_line(self.columns, self.rows, self.V.shape[0])

    @cached_property
    def _first(self) -> Any:
        """The matrix that W is multiplied by first: its rows that have entries."""
        first, used = self.U if self._by_rows else self.V, self._entries.used
        return first if used is None else first[used]

    @cached_property
    def _parts(self) -> tuple[Any, ...]:
        """The other matrix, as the compiled products take it."""
        other = self.V if self._by_rows else self.U
        if not sp.issparse(other):
            return (np.ascontiguousarray(readable(other)),)
        stored = other.indptr[-1]  # the arrays may be longer
        starts, indices = other.indptr.astype(np.int64), other.indices[:stored].astype(np.int32)
        return starts, indices, np.ascontiguousarray(other.data[:stored])

    def with_factors(self, U: Any, V: Any) -> EntryProducts:
        """Return the products with other matrices of the same shapes; entries are not sorted again."""
        found = replace(self, U=U, V=V)
        found.__dict__["_entries"] = self._entries
        return found

    def forward(self, W: Matrix, out: Vector | None = None) -> Vector:
        """Compute ``(U W V')`` at the entries."""
        out = np.empty(len(self.rows)) if out is None else out
        lines = multiply(self._first, W if self._by_rows else W.T, self.n_threads)
        entries = self._entries
        sample_product(
            entries.starts, entries.numbers, entries.partners, contiguous(lines), *self._parts, out, self.n_threads
        )
        return out

    def backward(self, g: Vector) -> Matrix:
        """Compute ``U' G V``."""
        width = (self.V if self._by_rows else self.U).shape[1]
        lines, entries = np.empty((len(self._entries.starts) - 1, width)), self._entries
        spread_product(
            entries.starts, entries.numbers, entries.partners, contiguous(g), *self._parts, lines, self.n_threads
        )
        found = multiply(self._first.T, lines, self.n_threads)
        return np.asarray(found if self._by_rows else found.T)
