"""Rows as they are on the workers: chunks that are checked, divided among parts, and put together again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._arrays import canonical, refuse_mask
from kernelrank._columns import text_columns
from kernelrank._fields import refuse_two_fields
from kernelrank._query_ids import as_id_array, encode_queries
from kernelrank._validation import check_matrix, check_some_weights, check_vector, separate_qid
from kernelrank.estimators._ranker import check_outputs
from kernelrank.solvers import Block

Vector = NDArray[np.float64]

MOST_LEVELS = 64  # distinct utilities that are reported one by one
_QUANTILES = 1024  # of the utilities of a chunk, if they are more
_IDLE = 1 / 16  # of the rows of a chunk: so few that leave stay in its matrix, which takes longer to copy than to use


class Chunk(NamedTuple):
    """Rows of one chunk, checked.

    Attributes
    ----------
    X : {ndarray, sparse matrix} of shape (k, n)
    y : ndarray of shape (k, p)
        One column per output.
    codes : ndarray of shape (k,) or None
        Query of each row, as a number among the `ids` of its chunk, or among all once the rows were moved.
    weights : ndarray of shape (k,) or None
    rows : ndarray of shape (k,)
        Numbers of the rows among those of all chunks.
    kept : ndarray of shape (k,) or None
        If there are queries, X may have more rows than the chunk: these are the ones that the chunk has.
    """

    X: Any
    y: Vector
    codes: NDArray[np.int64] | None
    weights: Vector | None
    rows: NDArray[np.int64]
    kept: NDArray[np.intp] | None = None

    def take(self, rows: NDArray[np.intp]) -> Chunk:
        """Return some of the rows, in increasing order; the matrix is not copied for most of them."""
        codes = None if self.codes is None else self.codes[rows]
        weights = None if self.weights is None else self.weights[rows]
        kept = rows if self.kept is None else self.kept[rows]
        stay = codes is not None and len(kept) >= (1 - _IDLE) * self.X.shape[0]
        X = self.X if stay else self.X[_as_slice(kept)]
        return Chunk(X, self.y[rows], codes, weights, self.rows[rows], kept if stay else None)

    def features(self) -> Any:
        """Return the matrix of the rows."""
        return self.X if self.kept is None else self.X[self.kept]


class Facts(NamedTuple):
    """Facts about a chunk that decide where its rows go.

    Attributes
    ----------
    n_rows, n_columns : int
    storage : str
        "dense" or "sparse".
    names : tuple of str or None
        Names of the columns of a data frame.
    n_bytes : int
        Of the features.
    ids : ndarray or None
        The queries of the chunk, in the order of their first rows.
    counts : ndarray or None
        Rows of each.
    levels, of_levels : ndarray
        Distinct utilities and the weight of each, in units of the chunk; quantiles, if these are too many. Empty if
        there are queries.
    exact : bool
        Whether the levels are all there are.
    largest_weight : float
    n_weighted : int
        Rows with a positive weight.
    """

    n_rows: int
    n_columns: int
    storage: str
    names: tuple[str, ...] | None
    n_bytes: int
    ids: NDArray[Any] | None
    counts: NDArray[np.intp] | None
    levels: Vector
    of_levels: Vector
    exact: bool
    largest_weight: float
    n_weighted: int

    @property
    def unit(self) -> float:
        """Return a power of two near the largest weight, so that no sum of weights overflows."""
        return power_of_two(self.largest_weight)


class Checked(NamedTuple):
    """A chunk, and what is known of it."""

    chunk: Chunk
    facts: Facts


def join_ids(ids: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Stack query ids; numbers of different kinds would become floats, which do not tell large integers apart."""
    kinds = {each.dtype.kind for each in ids if len(each)}
    return np.concatenate(ids, dtype=object if len(kinds) > 1 else None)


def n_rows_of(part: Any) -> int:
    """Return the number of rows of a chunk."""
    return int(part.shape[0])


def check_chunk(X: Any, y: Any, qid: Any, weights: Any, number: int, several: bool, user: str) -> Checked:
    """Check the rows of a chunk for an estimator; errors name the chunk."""
    try:
        return _check_chunk(X, y, qid, weights, several, user)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"Chunk {number} of the data: {error}") from None


def _check_chunk(X: Any, y: Any, qid: Any, weights: Any, several: bool, user: str) -> Checked:
    X, qid = separate_qid(X, qid)
    m, names = n_rows_of(X), text_columns(X)
    storage = "sparse" if sp.issparse(X) else "dense"
    if m == 0:
        facts = Facts(0, X.shape[1], storage, names, 0, None, None, np.empty(0), np.empty(0), True, 0.0, 0)
        return Checked(Chunk(X, np.empty((0, 1)), None, None, np.empty(0, np.int64)), facts)
    features = check_matrix(X, user, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), order=None)
    features = canonical(features).tocsr() if sp.issparse(features) else features
    if y is None:
        y = np.zeros(m)
    refuse_two_fields(y)
    targets = check_outputs(y, m) if several and np.ndim(y) > 1 else check_vector(y, "y", m)[:, None]
    ids, codes, counts = None, None, None
    if qid is not None:
        refuse_mask(qid, "qid")
        ids_of_rows = as_id_array(qid)
        found, n_queries = encode_queries(ids_of_rows, m)
        codes = np.asarray(found, np.int64)
        first = np.empty(n_queries, np.intp)
        first[codes[::-1]] = np.arange(m - 1, -1, -1)  # of several rows, the last one stays
        counts, ids = np.bincount(codes, minlength=n_queries), ids_of_rows[first]
    checked = None if weights is None else check_some_weights(weights, m)
    levels = _levels(targets[:, 0], checked) if codes is None else (np.empty(0), np.empty(0), True)
    facts = Facts(
        *(m, features.shape[1], storage, names, _n_bytes(features), ids, counts),
        *levels,
        largest_weight=1.0 if checked is None else float(checked.max()),
        n_weighted=m if checked is None else int(np.count_nonzero(checked)),
    )
    return Checked(Chunk(features, targets, codes, checked, np.arange(m)), facts)


def _levels(y: Vector, weights: Vector | None) -> tuple[Vector, Vector, bool]:
    """Return the distinct utilities and the weight of each, or quantiles, and whether they are all there are."""
    levels, of_rows = np.unique(y, return_inverse=True)
    weights = None if weights is None else weights / power_of_two(float(weights.max()))
    if len(levels) <= MOST_LEVELS:
        return levels, np.bincount(of_rows, weights).astype(np.float64), True
    quantiles = np.sort(y)[np.linspace(0, len(y) - 1, min(_QUANTILES, len(y))).astype(np.intp)]
    total = len(y) if weights is None else float(weights.sum())
    return quantiles, np.full(len(quantiles), total / len(quantiles)), False


def power_of_two(weight: float) -> float:
    """Return the largest power of two that is not greater than a weight; 1 for 0."""
    return float(np.exp2(np.floor(np.log2(weight)))) if weight > 0 else 1.0


def _n_bytes(X: Any) -> int:
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes)


def split_chunk(
    checked: Checked, first_row: int, numbers: NDArray[np.int64] | None, parts: NDArray[np.intp], cuts: Vector | None
) -> dict[int, Chunk]:
    """Return the rows of a chunk by the part that they go to.

    Parameters
    ----------
    checked : Checked
    first_row : int
        Number of its first row.
    numbers : ndarray or None
        Number of each query of the chunk, among those of all chunks.
    parts : ndarray
        Part of each query of the chunk; of each range of utilities, with `cuts`; or of all rows.
    cuts : ndarray or None
        Where the ranges of utilities begin, but the first.
    """
    chunk = checked.chunk
    places = np.zeros(len(chunk.y), np.intp) if chunk.codes is None else chunk.codes
    if cuts is not None:
        places = np.searchsorted(cuts, chunk.y[:, 0], side="right")
    of_rows, chunk = parts[places], _number(chunk, first_row, numbers)
    return {part: chunk.take(np.flatnonzero(of_rows == part)) for part in np.unique(of_rows).tolist()}


def _number(chunk: Chunk, first_row: int, numbers: NDArray[np.int64] | None) -> Chunk:
    """Return a chunk with the numbers that its rows and queries have among those of all chunks."""
    codes = chunk.codes if numbers is None or chunk.codes is None else numbers[chunk.codes]
    return chunk._replace(rows=chunk.rows + first_row, codes=codes)


def pick(pieces: dict[int, Chunk], part: int) -> Chunk | None:
    """Return the piece of one part, if the chunk has rows of it."""
    return pieces.get(part)


def facts_of(checked: Checked) -> Facts:
    """Return what is known of a chunk."""
    return checked.facts


def _as_slice(rows: NDArray[np.intp]) -> Any:
    """Return consecutive rows as a slice, which needs no copy."""
    return slice(rows[0], rows[-1] + 1) if len(rows) == rows[-1] + 1 - rows[0] else rows


class PartRows:
    """Rows of a part, in blocks; each query is in one of them.

    Parameters
    ----------
    chunks : sequence of Chunk or None

    Attributes
    ----------
    n_rows, n_columns : int
    y : ndarray of shape (n_rows, p)
    numbers : ndarray or None
        Queries of the part, among those of all parts, in increasing order.
    codes : ndarray of shape (n_rows,) or None
        Query of each row: its place in `numbers`.
    weights : ndarray of shape (n_rows,) or None
    rows : ndarray of shape (n_rows,)
        Numbers of the rows among those of all parts.
    """

    stay = True  # blocks are in memory

    def __init__(self, chunks: Sequence[Chunk | None]) -> None:
        whole = _whole_queries([chunk for chunk in chunks if chunk is not None])
        self._blocks = [(chunk.X, chunk.kept) for chunk in whole]
        self.y, codes, self.weights, self.rows = (_stack([chunk[k] for chunk in whole]) for k in range(1, 5))
        self.n_rows, self.n_columns = len(self.y), whole[0].X.shape[1]
        self.codes: NDArray[np.int32] | None = None
        self.numbers: NDArray[np.int64] | None = None
        self._codes_of_blocks: list[NDArray[np.int32] | None] = [None] * len(whole)
        if codes is not None:
            self.numbers, self.codes = _ranked(codes)
            cuts = np.cumsum([len(chunk.y) for chunk in whole])[:-1]
            self._codes_of_blocks = [_ranked(part)[1] for part in np.split(self.codes, cuts)]

    def __iter__(self) -> Iterator[Block]:
        start = 0
        for (X, kept), codes in zip(self._blocks, self._codes_of_blocks, strict=True):
            block = Block(start, X, codes, kept)
            yield block
            start = block.rows.stop

    def __sizeof__(self) -> int:
        matrices, kept = zip(*self._blocks, strict=True)
        vectors = (self.y, self.codes, self.weights, self.rows, *self._codes_of_blocks, *kept)
        return sum(map(_n_bytes, matrices)) + sum(int(each.nbytes) for each in vectors if each is not None)


def _ranked(codes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the distinct numbers in increasing order, and the place of each element among them."""
    low = codes.min()
    spread = int(codes.max()) - int(low) + 1
    if spread > 4 * len(codes):
        distinct, places = np.unique(codes, return_inverse=True)
        return distinct, places.astype(np.int32)
    occurs = np.zeros(spread, np.bool_)  # of a narrow range, without sorting
    occurs[codes - low] = True
    return np.flatnonzero(occurs) + low, (np.cumsum(occurs, dtype=np.int32) - np.int32(1))[codes - low]


def assemble(
    pieces: Sequence[Checked | Chunk | None],
    first_rows: Sequence[int],
    numbers: Sequence[NDArray[np.int64] | None],
) -> PartRows:
    """Put a part together: whole chunks, which get numbers as in `split_chunk`, and pieces, which have them."""
    return PartRows(
        [
            _number(piece.chunk, first, of_queries) if isinstance(piece, Checked) else piece
            for piece, first, of_queries in zip(pieces, first_rows, numbers, strict=True)
        ]
    )


def n_rows_of_part(rows: PartRows) -> int:
    """Return the number of rows of a part."""
    return int(rows.n_rows)


def rows_of(rows: PartRows) -> NDArray[np.int64]:
    """Return the numbers of the rows of a part."""
    return np.asarray(rows.rows)


def _whole_queries(chunks: list[Chunk]) -> list[Chunk]:
    """Put the rows of queries that are in several chunks together, in one more chunk; most others are not copied."""
    if len(chunks) < 2 or chunks[0].codes is None:
        return chunks
    found = np.concatenate([_ranked(np.asarray(chunk.codes))[0] for chunk in chunks])
    queries, in_chunks = np.unique(found, return_counts=True)
    torn = queries[in_chunks > 1]
    if len(torn) == 0:
        return chunks
    rest: list[Chunk] = []
    moved: list[Chunk] = []
    for chunk in chunks:
        moves = np.isin(np.asarray(chunk.codes), torn)
        for rows, into in ((np.flatnonzero(~moves), rest), (np.flatnonzero(moves), moved)):
            if len(rows):
                into.append(chunk.take(rows))
    X = _stack([chunk.features() for chunk in moved])
    return [*rest, Chunk(X, *(_stack([chunk[k] for chunk in moved]) for k in range(1, 5)))]


def _stack(parts: Sequence[Any]) -> Any:
    """Stack vectors or matrices; None stays None."""
    if len(parts) == 1 or parts[0] is None:
        return parts[0]
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
