"""Sample that an estimate is made from: its rows, which of them are compared, and which are held out together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.validation import has_fit_parameter

from kernelrank._arrays import to_host
from kernelrank._fields import separate_observed
from kernelrank._query_ids import encode_queries
from kernelrank._rules import ESTIMATOR, FLAG, show
from kernelrank._validation import as_array, check_observed, check_vector, count_rows, separate_qid
from kernelrank._warnings import warn
from kernelrank.exceptions import IdenticalRowsWarning, NoComparablePairsError
from kernelrank.features import KroneckerRows
from kernelrank.metrics._influence import RowCounts
from kernelrank.model_selection._entry_splitters import encode_entries
from kernelrank.model_selection._subsets import take_features, take_params
from kernelrank.pairs import members

Codes = NDArray[np.int32]
Rows = NDArray[np.intp]


class Split(NamedTuple):
    """Rows that a fold tests, and all rows that it does not train on: those that are tested come first."""

    test: Rows
    held_out: Rows


@dataclass(frozen=True)
class Sample:
    """Rows with their targets, queries and groups.

    Attributes
    ----------
    X
        Features, as the estimator takes them.
    y : ndarray
        Targets of the estimator: classes of any kind, or numbers.
    utilities : ndarray of float
        The targets as numbers; higher is better.
    queries : ndarray of int or None
        Query of each row; only rows of the same query are compared.
    groups : ndarray of int or None
        Group of each row; rows of a group are held out together.
    units : ndarray of int or None
        Independent unit of each row: its group, also if groups may be split.
    params : dict
        Further arguments of `fit`.
    entries : ndarray of int of shape (n_rows, 2) or None
        Row and column of each entry, if they are given for a splitter of entries.
    observed : ndarray of bool or None
        False where the utility is censored; None if none is. `y` is then a structured array of both.
    """

    X: Any
    y: NDArray[Any]
    utilities: NDArray[np.float64]
    queries: Codes | None
    groups: Codes | None
    units: Codes | None
    params: dict[str, Any]
    entries: Codes | None = None
    observed: NDArray[np.bool_] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.utilities)

    @property
    def strata(self) -> NDArray[np.intp] | None:
        """Class of each row as 0 or 1, if there are two classes."""
        if self.observed is not None:
            return None
        levels, classes = np.unique(self.utilities, return_inverse=True)
        return classes if len(levels) == 2 else None

    def take(self, estimator: Any, rows: Rows) -> Sample:
        """Return some of the rows."""
        queries, groups, units = (
            None if codes is None else np.unique(codes[rows], return_inverse=True)[1].astype(np.int32)
            for codes in (self.queries, self.groups, self.units)
        )
        X, params = take_features(estimator, self.X, rows), take_params(self.params, rows)
        entries = None if self.entries is None else self.entries[rows]
        observed = None if self.observed is None else self.observed[rows]
        return Sample(X, self.y[rows], self.utilities[rows], queries, groups, units, params, entries, observed)

    @property
    def levels(self) -> NDArray[np.float64]:
        """Number of each row that is the same for rows with equal targets."""
        if self.observed is None:
            return self.utilities
        return np.unique(self.y, return_inverse=True)[1].astype(np.float64)

    def with_targets_of(self, rows: Rows) -> Sample:
        """Return the rows with the targets of others."""
        observed = None if self.observed is None else self.observed[rows]
        return replace(self, y=self.y[rows], utilities=self.utilities[rows], observed=observed)

    def counts(self, rows: Rows | slice = slice(None)) -> RowCounts:
        """Return the comparable pairs of some rows, whatever their queries."""
        return RowCounts(self.utilities[rows], None if self.observed is None else self.observed[rows])

    def order(self, rows: Rows | slice, columns: Rows | slice) -> NDArray[np.int8]:
        """Return 1 where the first row is known to be better than the second, -1 where it is worse, otherwise 0."""
        first, second = self.utilities[rows, None], self.utilities[columns]
        above, below = first > second, first < second
        if self.observed is not None:
            equal, first_seen, second_seen = first == second, self.observed[rows, None], self.observed[columns]
            above, below = (above | equal & ~first_seen) & second_seen, (below | equal & ~second_seen) & first_seen
        return np.asarray(above.astype(np.int8) - below)

    def comparable(self, rows: Rows, columns: Rows | slice, every: bool = False) -> NDArray[np.bool_]:
        """Return which rows are compared with which; with `every`, also those of equal utilities."""
        found: NDArray[np.bool_] = rows[:, None] != np.arange(self.n_rows)[columns]
        if not every:
            found &= self.order(rows, columns) != 0
        if self.queries is not None:
            found &= self.queries[rows, None] == self.queries[columns]
        return found

    def pairs_of_groups(self, every: bool) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows of each two groups that have a pair to compare; for pairs inside a group, its rows twice."""
        groups = np.arange(self.n_rows, dtype=np.int32) if self.groups is None else self.groups
        rows = members(groups, int(groups.max()) + 1)
        for a, mine in enumerate(rows):
            for b in np.unique(groups[self.comparable(mine, slice(None), every).any(axis=0)]):
                if b >= a:
                    yield mine, rows[b]


def check_sample(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None,
    groups: ArrayLike | None,
    params: dict[str, Any] | None,
    *,
    split_groups: bool,
    classes: bool | None,
    observed: ArrayLike | None = None,
) -> Sample:
    """Check the rows, and return them as a sample.

    With `classes`, y must have two distinct values, of any kind. None stands for True unless y has numbers.
    """
    ESTIMATOR("estimator", estimator)
    FLAG("split_groups", split_groups)
    m = count_rows(X)
    X, qid = separate_qid(X, qid)
    if sp.issparse(X):
        X = X.tocsr()  # rows are taken from it
    y, observed = separate_observed(y, observed)
    targets = as_array(y, "y")
    classes = targets.dtype.kind not in "fiu" if classes is None else classes
    if classes and targets.ndim == 1 and targets.dtype.kind not in "fiu":
        utilities = as_utilities(targets)
        levels = np.unique(utilities)
        targets = targets if is_classifier(estimator) else utilities
    else:
        targets = utilities = check_vector(y, "y")
        levels = np.unique(utilities)
    if len(utilities) != m:
        raise ValueError(f"y has {len(utilities)} elements, but X has {m} rows.")
    if classes and len(levels) > 2:
        raise ValueError("y has more than two distinct values; use estimate_concordance.")
    seen = check_observed(observed, m)
    if classes and seen is not None:
        raise ValueError("Censored utilities have no classes; use estimate_concordance.")
    if seen is not None:
        RowCounts(utilities, seen)  # an error if there is no pair
        targets = np.empty(m, dtype=[("observed", np.bool_), ("y", np.float64)])
        targets["observed"], targets["y"] = seen, utilities
    elif len(levels) < 2:
        raise NoComparablePairsError("All values of y are equal: there is no pair to compare.")
    queries, _ = encode_queries(qid, m)
    entries, groups = _separate_entries(groups)
    together = rows_that_stay_together(groups, queries, m)
    if params is not None and not isinstance(params, Mapping):
        raise TypeError(f"params must be a dict of names and values for fit, got {show(params)}.")
    given = dict(params or {})
    for name, values in given.items():
        if np.ndim(values) == 0 or len(values) != m:
            raise ValueError(f"params must have one element per row: {name!r} has not {m} of them.")
    argument = None if qid is None else fit_argument(estimator, "qid")
    if argument is not None:
        given.setdefault(argument, qid)
    return Sample(X, targets, utilities, queries, None if split_groups else together, together, given, entries, seen)


def _separate_entries(groups: Any) -> tuple[Codes | None, Any]:
    """Return the row and the column of each entry, if these are the groups, and other groups."""
    if groups is None or np.ndim(groups) != 2 or np.shape(groups)[1] != 2:
        return None, groups
    return np.column_stack(encode_entries(groups)), None


def as_utilities(classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return classes of any kind as the numbers 0, 1, ... of their sorted order."""
    try:
        codes = np.unique(classes, return_inverse=True)[1]
    except TypeError:
        raise ValueError("The classes of y must be of one kind that has an order, and none may be missing.") from None
    return codes.astype(np.float64)


def fit_argument(estimator: Any, name: str) -> str | None:
    """Return the name under which `fit` takes an argument, also through pipelines and searches; None if it does not."""
    if has_fit_parameter(estimator, name):
        return name
    if hasattr(estimator, "steps"):
        step, last = estimator.steps[-1]
        inner = fit_argument(last, name)
        return inner if inner is None or get_config()["enable_metadata_routing"] else f"{step}__{inner}"
    return fit_argument(estimator.estimator, name) if hasattr(estimator, "estimator") else None


def stratified_folds(
    n_folds: int, classes: NDArray[np.integer], groups: Codes | None, random_state: Any
) -> StratifiedKFold | StratifiedGroupKFold:
    """Return a stratified splitter with at most `n_folds` folds.

    There are fewer if a class has fewer rows, or if fewer groups have rows of it.
    """
    units = np.arange(len(classes)) if groups is None else groups
    rarest = min(len(np.unique(units[classes == k])) for k in (0, 1))
    if rarest < 2:
        what = "has only one row" if groups is None else "has rows in only one group"
        raise ValueError(f"A class {what}: when it is held out, no row of this class is left to train on.")
    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    return splitter(min(n_folds, rarest), shuffle=True, random_state=random_state)


def rows_that_stay_together(groups: ArrayLike | None, queries: Codes | None, n_rows: int) -> Codes | None:
    """Return the group of each row as a number; without groups, queries are the groups."""
    codes, _ = encode_queries(groups, n_rows, "groups")
    if queries is None or codes is None:
        return queries if codes is None else codes
    if np.unique(np.stack((queries, codes)), axis=1).shape[1] > queries.max() + 1:
        raise ValueError("A query has rows of several groups, but groups must contain whole queries.")
    return codes


def held_out_together(folds: list[Split], groups: Codes | None, n_rows: int) -> NDArray[np.integer]:
    """Return a number per row: rows with the same number are held out together."""
    if not folds:
        return np.arange(n_rows) if groups is None else groups
    numbers = np.full(n_rows, -1)
    for number, fold in enumerate(folds):
        numbers[fold.test] = number
    return numbers


def warn_of_identical_rows(X: Any, together: NDArray[np.integer]) -> None:
    """Warn if identical rows are not held out together."""
    codes = number_identical(X)
    if codes is None:
        return
    # A code with more than one distinct value of `together`.
    pairs = np.unique(np.stack([codes, together.astype(np.intp)]), axis=1)[0]
    torn = np.flatnonzero(np.bincount(pairs) > 1)
    if len(torn):
        count = int(np.isin(codes, torn).sum())
        warn(
            f"{count} rows have an identical row in the training set when they are held out: the estimate is then"
            " optimistic. Pass groups that keep identical rows together, or drop duplicates.",
            IdenticalRowsWarning,
        )


def number_identical(X: Any) -> NDArray[np.intp] | None:
    """Return a number per row, the same for identical rows; None if elements cannot be compared."""
    if isinstance(X, KroneckerRows):
        return _identical_entries(X)
    if sp.issparse(X):
        X = X.tocsr().sorted_indices()
        X.sum_duplicates()
        X.eliminate_zeros()
        ends = X.indptr
        keys = [hash(X.indices[a:b].tobytes() + X.data[a:b].tobytes()) for a, b in pairwise(ends)]
    else:
        X = np.asarray(to_host(X))
        X = X + X.dtype.type(0) if X.dtype.kind == "f" else X  # -0.0 is 0.0
        try:
            keys = [hash(row.tobytes() if X.dtype.kind != "O" else tuple(row)) for row in X.reshape(len(X), -1)]
        except TypeError:
            return None
    return np.unique(keys, return_inverse=True)[1]


def _identical_entries(X: KroneckerRows) -> NDArray[np.intp]:
    """Return a number per entry, the same for those with identical features on both sides."""
    sides = [number_identical(side) for side in (X.U, X.V)]
    rows, columns = (side[numbers] for side, numbers in zip(sides, (X.rows, X.columns), strict=True))  # type: ignore[index]
    if X.symmetry == "symmetric":
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    return np.unique(np.stack([rows, columns]), axis=1, return_inverse=True)[1]
