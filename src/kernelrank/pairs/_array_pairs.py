"""Pairs of rows with different utilities, counted where the arrays of another library are.

The counts are those of ``UtilityPairs``, found by a wavelet matrix instead of a sweep: rows do not wait for each other,
as a GPU wants it. The rows are sorted by query and score. The rows that a row is compared with are then two ranges of
places: those before the first score of its query that clears the margin, for c, and those after the last score that it
clears itself, for d. Both ranges follow from the one comparison ``p[j] < fl(p[i] + margin)``, because rounding keeps
the order of the sums.

Counted are the rows of the first range with a higher rank of the utility, and those of the second range with a lower
one. Bits of the ranks are compared one after the other, the highest first. Rows whose bit is 1 move behind those whose
bit is 0, in the same order otherwise: the rows of a range that have the same bit as the row itself are then a range
again. The others are decided, since a 1 in place of a 0 makes the rank higher. Prefix sums tell how many they are, or
what they add up to. A bit takes O(m) operations and a stable sort of zeros and ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from kernelrank._arrays import Array, is_foreign, like, take, to_host
from kernelrank._validation import CheckedRows
from kernelrank.pairs._utilities import UtilityPairs


class Windows(NamedTuple):
    """Rows in the order of their scores, and the two ranges of places that each row is compared with.

    Attributes
    ----------
    order : array of shape (n_rows,)
        Rows by query and score.
    above : array of shape (n_rows,)
        Where the first range of a row ends; it begins with the query.
    below : array of shape (n_rows,)
        Where the second range of a row begins; it ends with the query.
    centre : array of shape (n_rows,)
        The row in the middle of the query.
    """

    order: Array
    above: Array
    below: Array
    centre: Array


class ArrayPairs:
    """All pairs of rows with different utilities, counted in the namespace and on the device of an array.

    Parameters
    ----------
    rows : CheckedRows
        Checked utilities, with their queries, weights and censoring.
    beside : array
        Array that says where to count.

    Attributes
    ----------
    n_rows, n_queries : int
        Numbers of rows and of queries.
    censored : bool
        Whether some utilities are not observed.
    n_pairs : int, or float with weights
        Number of comparable pairs, or their total weight.
    pairs_per_query : ndarray of shape (n_queries,)
        Of NumPy, in the order of the first rows of the queries.

    Notes
    -----
    Weights are rounded to multiples of a unit, so that all sums of them are sums of integers, whose differences are
    exact: windows without a row add up to zero. The unit is at most 2^-60 times the largest weight times the number of
    rows.
    """

    def __init__(self, rows: CheckedRows, beside: Array) -> None:
        if len(rows.y) == 0:
            raise ValueError("y is empty: there are no rows to compare.")
        self.n_rows, self.n_queries = len(rows.y), rows.n_queries
        codes = np.zeros(self.n_rows, np.int64) if rows.queries is None else rows.queries.astype(np.int64)
        sizes = np.bincount(codes, minlength=self.n_queries)
        ends = np.cumsum(sizes)
        self._largest, self._bounds = int(sizes.max()), np.append(0, ends)
        self._codes = like(codes, beside)
        self._begins, self._ends = self.of_rows(ends - sizes), self.of_rows(ends)
        self.censored, self._members = rows.observed is not None, _members(rows, beside)
        lower = self._rank([like(key, beside) for key in _keys(rows)])
        # The total weight of pairs takes one count, which the compiled core can make as well.
        plain = self._members is None
        self.pairs_per_query = self._totals(lower) if plain else UtilityPairs.of_checked(rows).pairs_per_query
        self.n_pairs: int | float = self.pairs_per_query.sum().item()

    def _rank(self, keys: list[Array]) -> Array:
        """Rank the rows densely in each query; return how many of the query are below each, by query and rank."""
        xp, order = array_namespace(self._codes), self._sort(*keys)
        begins, differs = take(self._begins, order), False
        for key in (*keys, self._codes):
            in_order = take(key, order)
            differs = differs | (in_order[1:] != in_order[:-1])
        levels = xp.cumulative_sum(xp.astype(differs, xp.int64), include_initial=True)
        ranks = levels - take(levels, begins)
        self._ranks = take(ranks, xp.argsort(order))
        # The highest bit first, with the number of rows that have a 0 there: it does not depend on the order.
        bits = reversed(range(int(xp.max(ranks)).bit_length()))
        self._bits = [(bit, self.n_rows - int(xp.sum(_bit(ranks, bit)))) for bit in bits]
        return xp.searchsorted(levels, levels) - begins

    def violated(self) -> ViolatedArrayPairs:
        """Return the violated pairs for a loss."""
        return ViolatedArrayPairs(self)

    def count_totals(self, scores: Array, *, margin: float = 1.0) -> NDArray[np.int64]:
        """Count the violated pairs of each query, without weights, as a NumPy array."""
        windows = self.arrange(scores, margin)
        return self._totals(take(self.count(windows)[0], windows.order))

    def _totals(self, counts: Array) -> NDArray[np.int64]:
        """Add up integers of rows, which are sorted by query, in each query."""
        sums = array_namespace(counts).cumulative_sum(counts, include_initial=True)
        return np.asarray(np.diff(to_host(take(sums, self._bounds))))

    def arrange(self, scores: Array, margin: float = 1.0) -> Windows:
        """Sort the rows by query and score, and find the ranges of places that each is compared with."""
        order = self._sort(scores)
        in_order, middle = take(scores, order), (self._begins + self._ends) // 2
        above = self._first(in_order, scores + margin, beyond=False)
        below = self._first(in_order + margin, scores, beyond=True)
        return Windows(order, above, below, take(order, middle))

    def count(self, windows: Windows) -> tuple[Array, Array]:
        """Count the rows of higher utility in the first range of each row, and those of lower utility in the second."""
        c = d = array_namespace(self._ranks).zeros_like(self._ranks)
        members = self._members
        for step, values in self._steps(windows, *([] if members is None else [members.upper, members.lower])):
            n, is_lower = step.decided() if members is None else step.add_up(*values), 1 - step.own
            c, d = c + n * is_lower, d + n * step.own
        return (c, d) if members is None else members.weigh(c, d)

    def add_up(self, windows: Windows, values: Array) -> Array:
        """Add up values over the pairs that `count` counts, of both ranges together."""
        xp, members = array_namespace(values), self._members
        found, own, by_side = xp.zeros_like(values), 1.0, [values, values]
        if members is not None:
            lower, upper = members.in_double()
            by_side = [upper * values, lower * values]
        for step, in_order in self._steps(windows, *by_side):
            if members is not None:
                own = xp.where(step.own == 1, upper, lower)
            found = found + own * step.add_up(*in_order)
        return found

    def of_rows(self, per_query: NDArray[Any]) -> Array:
        """Return for each row the value of its query."""
        return take(like(per_query, self._codes), self._codes)

    def _sort(self, *keys: Array) -> Array:
        """Return the rows by query and keys, the last of them first."""
        xp = array_namespace(*keys)
        order = xp.argsort(keys[0])
        for key in (*keys[1:], *([] if self.n_queries == 1 else [self._codes])):
            order = take(order, xp.argsort(take(key, order), stable=True))
        return order

    def _first(self, in_order: Array, keys: Array, *, beyond: bool) -> Array:
        """Return the first place of the query of each row with a value of at least the key, or `beyond` it."""
        xp = array_namespace(keys)
        if self.n_queries == 1:
            return xp.searchsorted(in_order, keys, side="right" if beyond else "left")
        low, high = self._begins, self._ends
        for _ in range(self._largest.bit_length()):
            middle = (low + high) // 2
            value = take(in_order, xp.clip(middle, max=self.n_rows - 1))
            is_before = ((value <= keys) if beyond else (value < keys)) & (middle < high)
            low, high = xp.where(is_before, middle + 1, low), xp.where(is_before, high, middle)
        return low

    def _steps(self, windows: Windows, *values: Array) -> Iterator[tuple[_Step, list[Array]]]:
        """Yield one bit of the ranks after the other, with values of rows in the order of their places."""
        xp, m = array_namespace(self._ranks), self.n_rows
        in_order = take(self._ranks, windows.order)
        placed = [take(each, windows.order) for each in values]
        edges = xp.concat([self._begins, windows.above, windows.below, self._ends])
        for bit, n_zeros in self._bits:
            ones, own = _bit(in_order, bit), _bit(self._ranks, bit)
            before = take(xp.cumulative_sum(ones, include_initial=True), edges)
            moved = xp.argsort(xp.astype(ones, xp.uint8), stable=True)
            yield _Step(m, ones, own, edges, before), placed
            in_order, placed = take(in_order, moved), [take(each, moved) for each in placed]
            edges = xp.where(xp.concat([own] * 4) == 1, n_zeros + before, edges - before)


def pairs_beside(x: Any, rows: CheckedRows, n_jobs: int | None = None) -> UtilityPairs | ArrayPairs:
    """Return the pairs of rows, counted by the library of an array, or else by the compiled core."""
    return ArrayPairs(rows, x) if is_foreign(x) else UtilityPairs.of_checked(rows, n_jobs)


class _Step(NamedTuple):
    """One bit of the ranks.

    The rows that are decided here are in the first range for a row whose own bit is 0, and have a 1; or in the second
    range, for a row whose own bit is 1, and have a 0.
    """

    m: int
    ones: Array  # the bit of each place
    own: Array  # and of each row
    edges: Array  # begins and ends of the ranges of each row: first, first, second, second
    before: Array  # number of ones before each edge

    def decided(self) -> Array:
        """Return how many rows are decided."""
        ones = self._length(self.before)
        return ones + self.own * (self._length(self.edges) - 2 * ones)

    def add_up(self, of_first: Array, of_second: Array) -> Array:
        """Return the sums of their values, which are given by place: those of the first range, or of the second."""
        xp = array_namespace(of_first)
        ones = xp.astype(self.ones, of_first.dtype)
        sums = [xp.cumulative_sum(each, include_initial=True) for each in (of_first * ones, of_second * (1 - ones))]
        begin, end = (each + self.own * (self.m + 1) for each in self._range(self.edges))
        both = xp.concat(sums)
        return take(both, end) - take(both, begin)

    def _length(self, edges: Array) -> Array:
        begin, end = self._range(edges)
        return end - begin

    def _range(self, edges: Array) -> tuple[Array, Array]:
        """Return begin and end of that of the two ranges of each row that is decided about."""
        xp, m, is_one = array_namespace(edges), self.m, self.own == 1
        return xp.where(is_one, edges[2 * m : 3 * m], edges[:m]), xp.where(is_one, edges[3 * m :], edges[m : 2 * m])


class ViolatedArrayPairs:
    """Pairs that a score vector violates, with the methods of ``ViolatedPairs``.

    What those return per query is returned per row here, and so are the factors: their inner product is the same.

    Parameters
    ----------
    pairs : ArrayPairs
        The pairs.
    """

    def __init__(self, pairs: ArrayPairs) -> None:
        self._pairs = pairs

    def factors(self, scale: NDArray[np.float64]) -> Array:
        """Return factors of queries as the other methods take them: one per row."""
        return self._pairs.of_rows(scale)

    def count(self, scores: Array, scale: Array, out: Array | None = None) -> tuple[Array, Array, Array]:
        """Count the violated pairs, and keep the windows."""
        xp = array_namespace(scores)
        self._windows = self._pairs.arrange(scores)
        c, d = self._pairs.count(self._windows)
        self._degrees, difference = xp.astype(c + d, xp.float64), xp.astype(c - d, xp.float64)
        centred = scores - take(scores, self._windows.centre)
        g = scale * difference
        if out is not None:
            out[:] = g
        return g if out is None else out, xp.astype(c, xp.float64), difference * centred

    def multiply(self, v: Array, scale: Array, add_to: Array | None = None) -> tuple[Array, Array]:
        """Multiply a vector with the Laplacian of the pairs counted last."""
        # A constant does not change the product, but costs precision in the sums.
        centred = v - take(v, self._windows.centre)
        product = self._degrees * centred - self._pairs.add_up(self._windows, centred)
        out = scale * product
        if add_to is not None:
            add_to += out
        return out if add_to is None else add_to, product * centred

    def degrees(self, scale: Array) -> Array:
        """Return the diagonal of the Laplacian, times the factors."""
        return scale * self._degrees


class _Members(NamedTuple):
    """Weights of each row as the lower row of a pair, and as the higher one: integers, in units of a power of two."""

    lower: Array
    upper: Array
    unit: float | None  # None without weights

    def weigh(self, c: Array, d: Array) -> tuple[Array, Array]:
        """Return counts times the weight of their row."""
        if self.unit is None:
            return self.lower * c, self.upper * d
        xp, (lower, upper) = array_namespace(c), self.in_double()
        return lower * (xp.astype(c, xp.float64) * self.unit), upper * (xp.astype(d, xp.float64) * self.unit)

    def in_double(self) -> tuple[Array, Array]:
        """Return both in float64."""
        xp, unit = array_namespace(self.lower), 1.0 if self.unit is None else self.unit
        return xp.astype(self.lower, xp.float64) * unit, xp.astype(self.upper, xp.float64) * unit


def _members(rows: CheckedRows, beside: Array) -> _Members | None:
    """Return what the rows count, or None if all count alike: the lower row of a pair must be observed."""
    if rows.weights is None and rows.observed is None:
        return None
    unit, upper = None, np.ones(len(rows.y), np.int64)
    if rows.weights is not None:
        # The sum of all is below 2^62.
        exponents = [int(np.frexp(number)[1]) for number in (rows.weights.max(), float(len(rows.y)))]
        unit = float(np.ldexp(1.0, sum(exponents) - 62))
        upper = np.rint(rows.weights / unit).astype(np.int64)
    lower = upper if rows.observed is None else np.where(rows.observed, upper, 0)
    return _Members(like(lower, beside), like(upper, beside), unit)


def _keys(rows: CheckedRows) -> list[NDArray[Any]]:
    """Return what rows are ranked by, the last first: of equal utilities, those that are not observed are higher."""
    return [rows.y] if rows.observed is None else [(~rows.observed).astype(np.uint8), rows.y]


def _bit(numbers: Array, bit: int) -> Array:
    return (numbers >> bit) & 1
