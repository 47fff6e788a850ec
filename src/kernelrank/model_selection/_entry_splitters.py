"""Splitters for entries of a matrix: held-out entries, rows, columns, or both.

What a model is tested on decides what its score says. With drugs as rows and targets as columns: a new pair of a known
drug and a known target, a new drug, a new target, or both new. Scores mostly fall in this order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from kernelrank._query_ids import as_id_array, encode_queries
from kernelrank._rules import FLAG, RANDOM_STATE, whole
from kernelrank._validation import as_array, count_rows
from kernelrank.features import KroneckerRows

Rows = NDArray[np.intp]
Codes = NDArray[np.int32]

_AT_LEAST_TWO = whole(2)


class _EntrySplitter(BaseCrossValidator):  # type: ignore[misc]
    """Base class for splitters of entries; a subclass provides ``_test_and_train``."""

    __metadata_request__split = {"groups": True}  # noqa: RUF012 - read by scikit-learn, never changed

    # Whether entries of a query may be on both sides. A query that is a row is split when columns are held out: it is
    # known, and the columns to be ranked for it are new.
    splits_queries = True

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = True, random_state: int | np.random.RandomState | None = 0
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : object
            Not used.

        Returns
        -------
        int
            Number of splits.
        """
        return self.n_splits

    def split(self, X: Any, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the training entries and the test entries of each split.

        Parameters
        ----------
        X : KroneckerRows or object
            Its rows and columns are used if it is a :class:`kernelrank.relational.KroneckerRows`.
        y : object
            Not used.
        groups : array-like of shape (n_samples, 2)
            Row and column of each entry, as any hashable ids; not used with KroneckerRows.

        Yields
        ------
        train : ndarray
            Indices of the training entries.
        test : ndarray
            Indices of the test entries.
        """
        _AT_LEAST_TWO("n_splits", self.n_splits)
        FLAG("shuffle", self.shuffle)
        RANDOM_STATE("random_state", self.random_state)
        rows, columns = self._codes(X, groups)
        for train, test in self._masks(rows, columns, check_random_state(self.random_state)):
            yield np.flatnonzero(train), np.flatnonzero(test)

    def _masks(self, rows: Codes, columns: Codes, rng: Any) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """Yield the masks of training and test entries; each test set is a fold."""
        folds = self._cut(*self._units(rows, columns), rng)
        for fold in range(self.n_splits):
            yield folds != fold, folds == fold

    def _units(self, rows: Codes, columns: Codes) -> tuple[Codes, str]:
        """Return the unit of each entry, 0, 1, ..., and the plural of what units are."""
        raise NotImplementedError

    def _cut(self, units: Codes, what: str, rng: Any) -> Rows:
        """Cut the units into folds whose numbers of units differ by at most one; return the fold of each entry."""
        n = int(units.max()) + 1
        if n < self.n_splits:
            raise ValueError(f"n_splits={self.n_splits} asks for more folds than there are {what}, which are {n}.")
        folds = np.arange(n) * self.n_splits // n
        return np.asarray((rng.permutation(folds) if self.shuffle else folds)[units])

    def _codes(self, X: Any, groups: Any) -> tuple[Codes, Codes]:
        """Return row and column of each entry as numbers 0, 1, ... in the order of their first entries."""
        name = type(self).__name__
        if isinstance(X, KroneckerRows):
            groups = X.entries
        if groups is None:
            raise ValueError(
                f"{name} needs groups, an array of shape (n_samples, 2) with the row and the column of each entry,"
                " unless X is a KroneckerRows, which has them."
            )
        rows, columns = encode_entries(groups)
        if X is not None and count_rows(X) != len(rows):
            raise ValueError(f"groups must have one row per entry: it has {len(rows)}, but X has {count_rows(X)}.")
        if len(rows) == 0:
            raise ValueError(f"{name} needs at least one entry, got none.")
        return rows, columns


class LeaveEntriesOut(_EntrySplitter):
    """Splitter that holds out folds of entries, for pairs of a known row and a known column.

    A test entry has other entries of its row and of its column in the training set, unless these have no others.
    Entries of the same row and column stay together. Scores answer how well a partly known matrix is completed; for new
    rows or columns they are too good.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=True
        Whether folds are drawn at random. Otherwise they are cut in the order of rows and columns.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.

    See Also
    --------
    kernelrank.model_selection.LeaveRowsOut : Splitter for new rows.
    kernelrank.model_selection.LeaveColumnsOut : Splitter for new columns.
    kernelrank.model_selection.LeaveBothOut : Splitter for new rows and new columns.

    Examples
    --------
    >>> from kernelrank.model_selection import LeaveEntriesOut
    >>> entries = [["a", 1], ["a", 2], ["b", 1], ["b", 2]]
    >>> for train, test in LeaveEntriesOut(2, shuffle=False).split(None, groups=entries):
    ...     print(train, test)
    [2 3] [0 1]
    [0 1] [2 3]
    """

    def _units(self, rows: Codes, columns: Codes) -> tuple[Codes, str]:
        numbers = rows.astype(np.int64) * (int(columns.max()) + 1) + columns
        return np.unique(numbers, return_inverse=True)[1].astype(np.int32), "different entries"


class LeaveRowsOut(_EntrySplitter):
    """Splitter that holds out all entries of folds of rows, for new rows.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds. They have about the same number of rows, not of entries.
    shuffle : bool, default=True
        Whether folds are drawn at random. Otherwise they are cut in the order of first entries.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.

    See Also
    --------
    kernelrank.model_selection.LeaveColumnsOut : Splitter for new columns.
    kernelrank.model_selection.LeaveBothOut : Splitter for new rows and new columns.
    kernelrank.model_selection.LeaveEntriesOut : Splitter for entries of known rows and columns.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from kernelrank import RankSVM
    >>> from kernelrank.model_selection import LeaveEntriesOut, LeaveRowsOut
    >>> from kernelrank.relational import KroneckerRows
    >>> rng = np.random.default_rng(0)
    >>> U, V = np.eye(20), rng.normal(size=(30, 4))  # nothing is known about a row but its number
    >>> rows, columns = np.divmod(np.arange(600), 30)
    >>> X, y = KroneckerRows(U, V, rows, columns), (rng.normal(size=(20, 4)) @ V.T).ravel()
    >>> known, new = (cross_val_score(RankSVM(), X, y, cv=cv()).mean() for cv in (LeaveEntriesOut, LeaveRowsOut))
    >>> bool(known > 0.9 > 0.6 > new)
    True
    """

    def _units(self, rows: Codes, columns: Codes) -> tuple[Codes, str]:
        return rows, "rows"


class LeaveColumnsOut(_EntrySplitter):
    """Splitter that holds out all entries of folds of columns, for new columns.

    With the rows as queries, ``qid=rows``, every query has training entries, and those that are compared belong to new
    columns.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds. They have about the same number of columns, not of entries.
    shuffle : bool, default=True
        Whether folds are drawn at random. Otherwise they are cut in the order of first entries.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.

    See Also
    --------
    kernelrank.model_selection.LeaveRowsOut : Splitter for new rows.
    kernelrank.model_selection.LeaveBothOut : Splitter for new rows and new columns.
    kernelrank.model_selection.LeaveEntriesOut : Splitter for entries of known rows and columns.

    Examples
    --------
    >>> from kernelrank.model_selection import LeaveColumnsOut
    >>> entries = [["a", 1], ["a", 2], ["b", 1], ["b", 2]]
    >>> for train, test in LeaveColumnsOut(2, shuffle=False).split(None, groups=entries):
    ...     print(train, test)
    [1 3] [0 2]
    [0 2] [1 3]
    """

    def _units(self, rows: Codes, columns: Codes) -> tuple[Codes, str]:
        return columns, "columns"


class LeaveBothOut(_EntrySplitter):
    """Splitter that holds out a fold of rows and a fold of columns at a time, for new rows with new columns.

    Rows and columns are cut into `n_splits` folds each, which makes ``n_splits ** 2`` splits. The test set has the
    entries whose row is in the one fold and whose column is in the other; the training set has the entries with
    neither. Entries with one of them are left out of both. Rows and columns are cut independently, also if they stand
    for things of the same kind: a held-out row may then be known as a column.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds of rows, and of columns.
    shuffle : bool, default=True
        Whether folds are drawn at random. Otherwise they are cut in the order of first entries.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.

    Raises
    ------
    ValueError
        By :meth:`split`, if a fold of rows and a fold of columns have no entry in common, or no entry is left to train
        on, as may be if few entries are known.

    See Also
    --------
    kernelrank.model_selection.LeaveRowsOut : Splitter for new rows.
    kernelrank.model_selection.LeaveColumnsOut : Splitter for new columns.
    kernelrank.model_selection.LeaveEntriesOut : Splitter for entries of known rows and columns.

    Examples
    --------
    >>> from kernelrank.model_selection import LeaveBothOut
    >>> entries = [["a", 1], ["a", 2], ["b", 1], ["b", 2]]
    >>> splitter = LeaveBothOut(2, shuffle=False)
    >>> splitter.get_n_splits()
    4
    >>> for train, test in splitter.split(None, groups=entries):
    ...     print(train, test)
    [3] [0]
    [2] [1]
    [1] [2]
    [0] [3]
    """

    def get_n_splits(self, X: Any = None, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> int:
        """Return the number of splits, ``n_splits ** 2``.

        Parameters
        ----------
        X, y, groups : object
            Not used.

        Returns
        -------
        int
            Number of splits.
        """
        return self.n_splits**2

    def _masks(self, rows: Codes, columns: Codes, rng: Any) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        of_rows, of_columns = self._cut(rows, "rows", rng), self._cut(columns, "columns", rng)
        for a, b in np.ndindex(self.n_splits, self.n_splits):
            test, train = (of_rows == a) & (of_columns == b), (of_rows != a) & (of_columns != b)
            if not (test.any() and train.any()):
                what = "test" if train.any() else "train"
                raise ValueError(
                    f"LeaveBothOut has no entry to {what} on with fold {a} of rows and fold {b} of columns held out:"
                    f" use a smaller n_splits than {self.n_splits}."
                )
            yield train, test


def encode_entries(groups: Any) -> tuple[Codes, Codes]:
    """Return row and column of each entry as numbers 0, 1, ... in the order of their first entries."""
    rows, columns = (encode_queries(each, len(each), "groups")[0] for each in _two_columns(groups))
    assert rows is not None
    assert columns is not None
    return rows, columns


def _two_columns(groups: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the ids of rows and of columns, which may be of different types."""
    if isinstance(groups, list | tuple):  # an array would convert numbers beside text
        pairs = [tuple(each) if isinstance(each, list | tuple | np.ndarray) else (each,) for each in groups]
        if all(len(pair) == 2 for pair in pairs):
            return as_id_array([row for row, _ in pairs]), as_id_array([column for _, column in pairs])
    table = as_array(groups, "groups")
    if table.ndim != 2 or table.shape[1] != 2:
        raise ValueError(
            f"groups must have two columns, the row and the column of each entry, got an array of shape {table.shape}."
        )
    return table[:, 0], table[:, 1]
