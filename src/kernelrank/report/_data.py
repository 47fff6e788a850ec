"""Facts about the data: columns, ties, duplicates."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._arrays import to_host
from kernelrank._columns import as_frame
from kernelrank._html import shorten
from kernelrank.model_selection._sample import number_identical
from kernelrank.report._subject import LONGEST_NAME, Subject

Floats = NDArray[np.float64]


class Columns(NamedTuple):
    """Summary of each column; NaN where a number does not apply, as for text."""

    names: list[str]
    missing: NDArray[np.intp]
    constant: NDArray[np.bool_]
    low: Floats
    mean: Floats
    high: Floats
    deviation: Floats


class Facts:
    """Facts about the rows of a report."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self.columns = _describe_columns(subject.X, [shorten(name, LONGEST_NAME) for name in subject.names])

    @property
    def n_pairs_inside(self) -> int:
        """Number of pairs of rows of the same query."""
        sizes = self._subject.sizes.astype(object)  # Python's integers do not overflow
        return int((sizes * (sizes - 1) // 2).sum())

    @property
    def n_tied(self) -> int:
        """Number of these pairs with equal utilities."""
        return self.n_pairs_inside - int(self._subject.pairs.n_pairs)

    @property
    def n_idle_queries(self) -> int:
        """Number of queries without a comparable pair."""
        return int((self._subject.pairs.pairs_per_query == 0).sum())

    @cached_property
    def _identical(self) -> NDArray[np.intp] | None:
        frame = as_frame(self._subject.X)
        X = self._subject.X if frame is None else frame.to_numpy()
        return number_identical(X)

    @property
    def n_duplicates(self) -> int | None:
        """Number of rows with the same features as an earlier row; None if rows cannot be compared."""
        return None if self._identical is None else len(self._identical) - len(np.unique(self._identical))

    @property
    def n_contradicting(self) -> int:
        """Number of rows with the same features and query as another row, but a different utility."""
        if not self.n_duplicates or self._identical is None:
            return 0
        keys = np.stack([self._identical, self._subject.codes.astype(np.intp)])
        _, groups = np.unique(keys, axis=1, return_inverse=True)
        groups, y = groups.reshape(-1), self._subject.y
        low = np.full(groups.max() + 1, np.inf)
        high = -low
        np.minimum.at(low, groups, y)
        np.maximum.at(high, groups, y)
        return int((low < high)[groups].sum())


def _describe_columns(X: Any, names: list[str]) -> Columns:
    frame = as_frame(X)
    if frame is not None:
        return _of_frame(frame, names)
    if sp.issparse(X):
        return _of_sparse(X, names)
    dense = np.asarray(to_host(X))
    if dense.ndim != 2:  # documents
        nothing = np.empty(0)
        return Columns([], np.empty(0, np.intp), np.empty(0, bool), *[nothing] * 4)
    if dense.dtype.kind not in "biuf":
        return _stack([_of_column(column) for column in dense.T], names)
    return _of_numbers(dense.astype(np.float64, copy=False), names)


def _of_numbers(X: Floats, names: list[str]) -> Columns:
    missing = np.isnan(X).sum(axis=0) if np.isnan(X.sum()) else np.zeros(X.shape[1], np.intp)
    if missing.any():
        return _stack([_of_column(column) for column in X.T], names)
    low, high = X.min(axis=0), X.max(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        return Columns(names, missing, low == high, low, X.mean(axis=0), high, X.std(axis=0))


def _of_sparse(X: Any, names: list[str]) -> Columns:
    matrix = sp.csc_array(X, dtype=np.float64)
    low, high = (np.asarray(each.toarray(), dtype=np.float64).reshape(-1) for each in (matrix.min(0), matrix.max(0)))
    with np.errstate(over="ignore", invalid="ignore"):
        mean, square = np.asarray(matrix.mean(axis=0)), np.asarray(matrix.multiply(matrix).mean(axis=0))
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    missing = np.bincount(matrix.nonzero()[1][np.isnan(matrix.data)] if np.isnan(matrix.data).any() else [],
                          minlength=len(names)).astype(np.intp)  # fmt: skip
    return Columns(names, missing, low == high, low, mean, high, deviation)


def _of_frame(frame: Any, names: list[str]) -> Columns:
    return _stack([_of_column(column.to_numpy()) for column in frame.iter_columns()], names)


def _of_column(values: NDArray[Any]) -> tuple[Any, ...]:
    """Return the summary of one column of any type."""
    if values.dtype.kind in "biuf":
        numbers = values.astype(np.float64)
        known = numbers[~np.isnan(numbers)]
        ends = (known.min(), known.mean(), known.max(), known.std()) if len(known) else (np.nan,) * 4
        return len(values) - len(known), len(known) == 0 or ends[0] == ends[2], *ends
    objects = values.astype(object)
    empty = np.array([each is None or each != each for each in objects], dtype=bool)
    return int(empty.sum()), len(set(objects[~empty].tolist())) <= 1, *(np.nan,) * 4


def _stack(rows: list[tuple[Any, ...]], names: list[str]) -> Columns:
    missing, constant, low, mean, high, deviation = zip(*rows, strict=True)
    numbers = (np.array(each, dtype=np.float64) for each in (low, mean, high, deviation))
    return Columns(names, np.array(missing, dtype=np.intp), np.array(constant, dtype=bool), *numbers)
