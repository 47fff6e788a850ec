"""Type stubs of the compiled module."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

class Ranking:
    """Utilities ranked once and counted against many score vectors."""

    def __init__(
        self,
        utilities: _Floats,
        codes: NDArray[np.int32] | None,
        n_queries: int,
        weights: _Floats | None,
        observed: NDArray[np.uint8] | None,
        n_threads: int,
    ) -> None: ...
    def order(self, out: NDArray[np.int64]) -> None:
        """Write the rows sorted by query and ascending utility, ties in the order of the rows."""
    # Results are int64 for a ranking without weights, float64 with weights.
    def pair_totals(self, out: NDArray[Any]) -> None:
        """Write the number of comparable pairs of each query, or their weight."""
    def count(
        self,
        scores: _Floats,
        c: NDArray[Any],
        d: NDArray[Any],
        violations: NDArray[Any],
        margin: float,
        method: str,
        n_threads: int,
    ) -> None:
        """Write c and d per row and the violations per query."""
    def count_totals(
        self, scores: _Floats, violations: NDArray[Any], margin: float, method: str, n_threads: int
    ) -> None:
        """Write the violations per query."""

class _Violated:
    # Scale, violations and inner have one element per query, the other arrays one per row.
    def count(
        self, scores: _Floats, scale: _Floats, g: _Floats, violations: _Floats, inner: _Floats, n_threads: int
    ) -> None:
        """Write g = scale * (c - d), and the violations and (c - d) . scores per query."""
    def multiply(self, v: _Floats, scale: _Floats, add: bool, out: _Floats, inner: _Floats, n_threads: int) -> None:
        """Write out = scale * L v, or add it to `out`, and write v . L v per query."""
    def degrees(self, scale: _Floats, out: _Floats) -> None:
        """Write scale * diagonal of L."""

class ViolatedPairs(_Violated):
    """Violated pairs of ranked utilities, counted and multiplied."""

    def __init__(self, ranking: Ranking) -> None: ...

class Preferences(_Violated):
    """Violated pairs of given preferences, counted and multiplied."""

    def __init__(
        self,
        winners: NDArray[np.int32],
        losers: NDArray[np.int32],
        queries: NDArray[np.int32] | None,
        weights: _Floats | None,
        n_rows: int,
        n_queries: int,
    ) -> None: ...

class HeldOutRows:
    """Rows of which two at a time are held out."""

    # Residuals and targets have a line per output; scales are those of the errors of each row.
    def __init__(self, diagonal: _Floats, residuals: _Floats, targets: _Floats, scales: _Floats) -> None: ...

# A block of I - A: `between` has rows from `first` on, and all columns from there.
def predict_held_out(
    rows: HeldOutRows,
    between: _Floats,
    out: _Floats,
    first: int,
    shift: float,
    n_threads: int,
    tolerances: _Floats,
    limits: _Floats,
) -> None:
    """Write the predictions of rows that are held out with a column."""

def order_held_out(
    rows: HeldOutRows,
    between: _Floats,
    out: NDArray[np.int8],
    first: int,
    shift: float,
    n_threads: int,
    tolerances: _Floats,
    limits: _Floats,
) -> None:
    """Write the signs of the differences of rows and columns that are held out together."""

def count_held_out(
    rows: HeldOutRows,
    between: _Floats,
    halves: NDArray[np.int64],
    pairs: NDArray[np.int64],
    first: int,
    shift: float,
    n_threads: int,
    tolerances: _Floats,
    limits: _Floats,
) -> None:
    """Add the pairs with different targets, and twice those in the right order, ties once."""

# Dense matrices may have any strides of whole elements, and hold float32 or float64.
def multiply_rows(
    matrix: NDArray[Any],
    w: _Floats,
    out: _Floats,
    n_threads: int,
    shift: _Floats | None = None,
    origins: NDArray[np.int32] | None = None,
    drifts: NDArray[np.uint8] | None = None,
) -> None:
    """Write out[i] = (row i - shift) . w; where a column drifts, the element of `origins[i]` is subtracted instead."""

def multiply_columns(
    matrix: NDArray[Any],
    g: _Floats,
    out: _Floats,
    n_threads: int,
    shift: _Floats | None = None,
    origins: NDArray[np.int32] | None = None,
    drifts: NDArray[np.uint8] | None = None,
    squared: bool = False,
) -> None:
    """Write out[k] = (column k - shift) . g, or with squared elements."""

def multiply_matrices(left: NDArray[Any], right: _Floats, out: _Floats, n_threads: int) -> None:
    """Write out = left times right."""

def inner_product(a: _Floats, b: _Floats) -> float:
    """Return a . b."""

def gather_product(
    starts: NDArray[Any],
    indices: NDArray[Any],
    numbers: NDArray[Any],
    v: _Floats,
    out: _Floats,
    n_threads: int,
    squared: bool = False,
) -> None:
    """Write out[line] = line . v for a compressed matrix."""

def scatter_product(
    starts: NDArray[Any],
    indices: NDArray[Any],
    numbers: NDArray[Any],
    v: _Floats,
    out: _Floats,
    n_threads: int,
    squared: bool = False,
) -> None:
    """Write out = sum of v[line] * line for a compressed matrix."""

# Entries are sorted by line: starts of the lines, the number of each entry, and its partner among the rows. These are a
# dense matrix in C order, or the starts, indices and numbers of a CSR matrix.
def sample_product(
    starts: NDArray[np.int64], numbers: NDArray[np.int64], partners: NDArray[np.int32], lines: _Floats, *others: Any
) -> None:
    """Write out[number] = lines[line] . rows[partner] for each entry; arguments end with rows, out and n_threads."""

def spread_product(
    starts: NDArray[np.int64], numbers: NDArray[np.int64], partners: NDArray[np.int32], g: _Floats, *others: Any
) -> None:
    """Write out[line] = sum of g[number] * rows[partner]; arguments end with rows, out and n_threads."""

class FormatError(ValueError):
    """Error in a line of an svmlight file; the arguments are its number, the problem, and the offending bytes."""

class _SvmlightReader:
    def __init__(self, zero_based: bool | None, n_features: int | None) -> None: ...
    def feed(self, block: bytes, n_threads: int) -> None:
        """Parse the lines of the next block; it may end inside a line."""
    def finish(
        self,
    ) -> tuple[
        tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
        int,
        _Floats,
        NDArray[np.int64] | None,
        list[str] | None,
        list[str] | None,
    ]:
        """Return the CSR arrays, n_features, targets, query ids (or indices into the list that follows), comments."""

class SvmlightReader32(_SvmlightReader):
    """Rows of an svmlight file, parsed block by block into float32."""

class SvmlightReader64(_SvmlightReader):
    """Rows of an svmlight file, parsed block by block into float64."""

def format_svmlight(
    starts: NDArray[np.int64],
    indices: NDArray[np.int64],
    values: NDArray[Any],
    targets: _Floats,
    queries: list[bytes] | None,
    comments: list[bytes] | None,
    first_index: int,
) -> bytes:
    """Return the lines of an svmlight file."""

def connect_labels(
    vertices: NDArray[np.int64],
    labels: NDArray[np.int64],
    label: NDArray[np.int32],
    edges: NDArray[np.int64],
    from_: NDArray[np.int32],
    to: NDArray[np.int32],
    weight: _Floats,
    strongest: bool,
    max_length: int,
    n_threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], _Floats, NDArray[np.int64]]:
    """Return offsets of graphs, labels and values of their connected pairs, and graphs whose sum is infinite."""
