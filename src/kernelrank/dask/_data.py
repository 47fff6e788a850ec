"""From collections to parts: rows are checked where they are, and only those that must move are moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._query_ids import encode_queries
from kernelrank._validation import check_weights
from kernelrank.dask._chunks import Given, chunks_of_column, chunks_of_rows, delayed_chunks, slices_of
from kernelrank.dask._engine import PartedRows
from kernelrank.dask._rows import (
    MOST_LEVELS,
    Facts,
    assemble,
    check_chunk,
    facts_of,
    join_ids,
    n_rows_of,
    n_rows_of_part,
    pick,
    power_of_two,
    rows_of,
    split_chunk,
)
from kernelrank.dask._workers import Workers

_MOST_OF_MEMORY = 0.5  # of a worker, for one query


@dataclass(frozen=True)
class Parts:
    """Rows in parts, on the workers.

    Attributes
    ----------
    handles : list
        Of the rows of each part, `PartRows`.
    n_rows_of_parts : list of int
    n_columns : int
    names : tuple of str or None
        Of the features.
    levels : ndarray or None
        Distinct utilities, if they are few.
    of_levels : ndarray
        The rows of each, or their weight in units, if there are levels.
    ids : ndarray or None
        Of the queries, by their numbers.
    n_weighted : int
        Rows with a positive weight.
    ranges : bool
        Whether each part has a range of the utilities.
    unit : float
        A power of two near the largest weight.
    moved : int
        Rows that went to another part than the rest of their chunk.
    """

    workers: Workers
    handles: list[Any]
    n_rows_of_parts: list[int]
    n_columns: int
    names: tuple[str, ...] | None
    ids: NDArray[Any] | None
    n_weighted: int
    levels: NDArray[np.float64] | None
    of_levels: NDArray[np.float64]
    ranges: bool
    unit: float
    moved: int

    @property
    def n_rows(self) -> int:
        """Number of rows of all parts."""
        return sum(self.n_rows_of_parts)

    @property
    def n_queries(self) -> int | None:
        """Number of queries; None if all rows are one ranking."""
        return None if self.ids is None else len(self.ids)

    def gather_rows(self) -> tuple[NDArray[np.float64], NDArray[Any] | None, NDArray[np.float64] | None]:
        """Return utilities, query ids and weights of all rows, in their order."""
        order = np.argsort(np.concatenate(self.rows))
        y, weights, queries = zip(*self.engine.ask_all("utilities"), strict=True)
        of_rows = None if self.ids is None else self.ids[np.concatenate(queries)[order]]
        return np.concatenate(y)[order], of_rows, None if weights[0] is None else np.concatenate(weights)[order]

    @cached_property
    def engine(self) -> PartedRows:
        """Access to the parts, for oracles."""
        return self.workers.engine(self.handles, self.n_rows_of_parts, self.n_columns)

    @property
    def rows(self) -> list[NDArray[np.int64]]:
        """Numbers of the rows of each part."""
        return self.workers.gather([self.workers.submit("rows", rows_of, each) for each in self.handles])


def load_parts(
    workers: Workers,
    X: Any,
    y: Any,
    qid: ArrayLike | Any | None,
    sample_weight: ArrayLike | Any | None,
    *,
    user: str,
    wants_ranges: Callable[[int], bool] = lambda n_rows: False,
    several: bool = False,
) -> Parts:
    """Check the rows of collections, and bring together those of a query.

    Parameters
    ----------
    workers : Workers
    X, y, qid, sample_weight
        As for `fit`.
    user : str
        The estimator.
    wants_ranges : callable
        Returns whether one ranking of so many rows goes to parts by ranges of y, if there are not just a few levels.
    several : bool
        Whether y may have several columns.
    """
    given = chunks_of_rows(X, user)
    columns = {name: chunks_of_column(value, name, given) for name, value in _named(y, qid, sample_weight)}
    groups = _balance([1] * given.n_chunks if given.sizes is None else given.sizes, len(workers.names()))
    checked = _check(workers, given, columns, groups, several, user)
    facts = workers.gather([workers.submit("facts", facts_of, each) for each in checked])
    _require_alike(facts)
    largest = max(each.largest_weight for each in facts)
    check_weights(np.array([largest]), 1)  # raises an error if all are zero
    plan = _plan(facts, groups, workers, wants_ranges)
    handles = _assemble(workers, checked, facts, plan)
    sizes = workers.gather([workers.submit("rows", n_rows_of_part, each) for each in handles])
    del checked
    workers.keep(handles)
    return Parts(
        workers,
        handles,
        sizes,
        next(each.n_columns for each in facts if each.n_rows),
        next(each.names for each in facts if each.n_rows),
        plan.ids,
        sum(each.n_weighted for each in facts),
        plan.levels,
        plan.of_levels,
        plan.cuts is not None,
        power_of_two(largest),
        plan.moved,
    )


def _named(y: Any, qid: Any, weights: Any) -> list[tuple[str, Any]]:
    return [("y", y), ("qid", qid), ("sample_weight", weights)]


def _check(
    workers: Workers, X: Given, columns: dict[str, Given | None], groups: Sequence[int], several: bool, user: str
) -> list[Any]:
    """Load all chunks, and check them where they are; return handles of the checked ones."""
    # Together, so that what they are made of is computed once.
    on_workers = delayed_chunks([each.values for each in (X, *columns.values()) if each is not None and each.n_chunks])
    all_loaded = workers.load([part for parts in on_workers for part in parts], [*groups] * len(on_workers))
    loaded, *others = (all_loaded[k : k + X.n_chunks] for k in range(0, len(all_loaded), X.n_chunks))
    of_columns, sizes = iter(others), X.sizes
    in_memory = [each for each in columns.values() if each is not None and not each.n_chunks]
    if in_memory and sizes is None:
        sizes = workers.gather([workers.submit("count", n_rows_of, each) for each in loaded])
    handles: list[list[Any]] = []
    for name, each in columns.items():
        if each is None:
            handles.append([None] * len(loaded))
        elif each.n_chunks:
            handles.append(next(of_columns))
        else:
            assert sizes is not None
            handles.append(slices_of(each, name, sizes))
    return [
        workers.submit("check", check_chunk, *chunk, number, several, user)
        for number, chunk in enumerate(zip(loaded, *handles, strict=True))
    ]


def _require_alike(facts: Sequence[Facts]) -> None:
    """Raise an error if chunks do not fit together."""
    numbers = [k for k, each in enumerate(facts) if each.n_rows]
    if not numbers:
        raise ValueError(f"There are no rows: all {len(facts)} chunks of X are empty.")
    first = numbers[0]
    for k in numbers[1:]:
        here, there = facts[k], facts[first]
        if here.n_columns != there.n_columns or here.names != there.names:
            raise ValueError(
                f"Chunk {k} of X has the columns {_show_columns(here)}, but chunk {first} has {_show_columns(there)}."
            )
        if here.storage != there.storage:
            raise ValueError(
                f"Chunk {k} of X is {here.storage}, but chunk {first} is {there.storage}: convert them, for example"
                " with X.map_blocks(scipy.sparse.csr_matrix)."
            )
        if (here.ids is None) != (there.ids is None):
            raise ValueError(f"Only one of the chunks {first} and {k} has a column of query ids.")


def _show_columns(facts: Facts) -> str:
    return f"{facts.n_columns}" if facts.names is None else ", ".join(facts.names)


@dataclass(frozen=True)
class _Plan:
    """Destinations of the rows."""

    groups: Sequence[int]  # part of each chunk
    numbers: list[NDArray[np.int64] | None]  # number of each query of a chunk
    parts: list[NDArray[np.intp]]  # part of each query, of each range, or of all rows
    cuts: NDArray[np.float64] | None
    ids: NDArray[Any] | None  # of the queries
    levels: NDArray[np.float64] | None
    of_levels: NDArray[np.float64]
    moved: int


def _plan(
    facts: Sequence[Facts], groups: Sequence[int], workers: Workers, wants_ranges: Callable[[int], bool]
) -> _Plan:
    known = [each for each in facts if each.n_rows]
    n_rows = sum(each.n_rows for each in known)
    if known[0].ids is not None:
        return _plan_queries(facts, groups, workers)
    levels, of_levels = _merge_levels(known)
    few = all(each.exact for each in known) and len(levels) <= MOST_LEVELS
    stay: list[NDArray[np.intp]] = [np.array([part]) for part in groups]
    numbers: list[NDArray[np.int64] | None] = [None] * len(facts)
    n_parts = len(set(groups))
    if few or n_parts < 2 or not wants_ranges(n_rows):
        return _Plan(groups, numbers, stay, None, None, levels if few else None, of_levels, 0)
    shares = np.cumsum(of_levels)
    cuts = np.unique(levels[np.searchsorted(shares, shares[-1] * np.arange(1, n_parts) / n_parts, side="right")])
    cuts = cuts[cuts > levels[0]]
    places = [np.arange(len(cuts) + 1)] * len(facts)
    return _Plan(groups, numbers, places, cuts, None, None, of_levels, n_rows)


def _merge_levels(facts: Sequence[Facts]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    found, of_rows = np.unique(np.concatenate([each.levels for each in facts]), return_inverse=True)
    unit = power_of_two(max(each.largest_weight for each in facts))
    of_levels = np.concatenate([each.of_levels * (each.unit / unit) for each in facts])
    return found, np.bincount(of_rows, of_levels).astype(np.float64)


def _plan_queries(facts: Sequence[Facts], groups: Sequence[int], workers: Workers) -> _Plan:
    """Bring each query to the part that has most of its rows."""
    known = [k for k, each in enumerate(facts) if each.n_rows]
    ids = [np.asarray(facts[k].ids) for k in known]
    together = join_ids(ids)
    try:
        codes, n_queries = encode_queries(together, len(together))
    except ValueError as error:
        raise ValueError(f"The query ids of the chunks do not fit together: {error}") from None
    assert codes is not None
    counts = np.concatenate([np.asarray(facts[k].counts) for k in known])
    of_part = np.repeat(np.array([groups[k] for k in known]), [len(each) for each in ids])
    n_parts = max(groups) + 1
    # Rows of each query in each part; only pairs that occur are there.
    pairs, of_entries = np.unique(codes.astype(np.int64) * n_parts + of_part, return_inverse=True)
    rows = np.bincount(of_entries, counts)
    order = np.lexsort((pairs % n_parts, -rows, pairs // n_parts))  # most rows first; of equals, the first part
    first = np.append(True, np.diff(pairs[order] // n_parts) != 0)
    home = np.empty(n_queries, np.intp)
    home[pairs[order][first] // n_parts] = pairs[order][first] % n_parts
    _require_room(facts, known, np.bincount(codes, counts.astype(np.float64)), together, codes, workers)
    numbers: list[NDArray[np.int64] | None] = [None] * len(facts)
    parts = [np.array([part]) for part in groups]
    for k, here in zip(known, np.split(codes, np.cumsum([len(each) for each in ids])[:-1]), strict=True):
        numbers[k], parts[k] = here.astype(np.int64), home[here]
    moved = int(counts[home[codes] != of_part].sum())
    distinct = np.empty(n_queries, together.dtype)
    distinct[codes[::-1]] = together[::-1]  # of several, the first one stays
    return _Plan(groups, numbers, parts, None, distinct, None, np.empty(0), moved)


def _require_room(
    facts: Sequence[Facts],
    known: Sequence[int],
    rows: NDArray[Any],
    ids: NDArray[Any],
    codes: NDArray[np.int32],
    workers: Workers,
) -> None:
    """Raise an error if a query does not fit into the memory of a worker."""
    memory = workers.memory()
    if memory is None:
        return
    bytes_per_row = sum(facts[k].n_bytes for k in known) / sum(facts[k].n_rows for k in known)
    largest = int(np.argmax(rows))
    if rows[largest] * bytes_per_row > _MOST_OF_MEMORY * memory:
        raise MemoryError(
            f"The query {ids[np.flatnonzero(codes == largest)[0]]} has {int(rows[largest]):,} rows, which take"
            f" {rows[largest] * bytes_per_row / 2**30:.2f} GiB; a query must fit into half the memory of a worker,"
            f" which has {memory / 2**30:.2f} GiB. Start workers with more memory, or divide the query."
        )


def _assemble(workers: Workers, checked: Sequence[Any], facts: Sequence[Facts], plan: _Plan) -> list[Any]:
    """Divide chunks whose rows go to several parts, and put parts together; return handles of `PartRows`."""
    firsts = np.append(0, np.cumsum([each.n_rows for each in facts]))
    pieces: dict[int, list[Any]] = {}
    for k, (chunk, fact) in enumerate(zip(checked, facts, strict=True)):
        if fact.n_rows == 0:
            continue
        numbering, places = (int(firsts[k]), plan.numbers[k]), np.unique(plan.parts[k]).tolist()
        if len(places) == 1:
            pieces.setdefault(places[0], []).append((chunk, *numbering))
            continue
        split = workers.submit("split", split_chunk, chunk, *numbering, plan.parts[k], plan.cuts)
        for part in places:
            pieces.setdefault(part, []).append((workers.submit("pick", pick, split, part), *numbering))
    return [
        workers.submit("part", assemble, *map(list, zip(*pieces[part], strict=True)), place=part)
        for part in sorted(pieces)
    ]


def _balance(sizes: Sequence[int], n_groups: int) -> list[int]:
    """Divide consecutive chunks into groups of about the same number of rows; return the group of each."""
    total = max(1, sum(sizes))
    ends = np.cumsum(sizes)
    found = np.minimum((ends - np.asarray(sizes) / 2) * min(n_groups, len(sizes)) / total, n_groups - 1).astype(int)
    return [int(group) for group in np.unique(found, return_inverse=True)[1]]


@contextmanager
def parts_of(workers: Workers, *arguments: Any, **options: Any) -> Iterator[Parts]:
    """Yield rows in parts; nothing of them is left on the workers afterwards, also after an error or Ctrl-C."""
    try:
        yield load_parts(workers, *arguments, **options)
    finally:
        workers.close()
