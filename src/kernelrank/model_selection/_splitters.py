"""Splitters for scikit-learn that hold out pairs, and queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator

from kernelrank._validation import as_array, check_vector, encode_queries
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.model_selection._sample import as_utilities
from kernelrank.pairs import UtilityPairs

Rows = NDArray[np.intp]


class LeavePairOut(BaseCrossValidator):  # type: ignore[misc]
    """Holds out every pair of rows of different utilities, one after the other.

    The predictions of both rows come from the same model, which has seen neither: whether they are in the right order
    is an estimate of the concordance with next to no bias, and for two classes of the area under the ROC curve [1]_.
    Pairs with equal utilities tell nothing about the order, and are left out. `groups` are queries, whose rows are
    compared; rows that depend on each other are kept together by :func:`estimate_concordance`.

    Notes
    -----
    As many splits as there are pairs, up to m^2 / 2, each with a model of its own: for some hundred rows at most.
    :class:`kernelrank.RankRLS` and :class:`kernelrank.RLS` have :meth:`~kernelrank.RankRLS.leave_pair_out` in closed
    form, and :func:`estimate_auc` takes it. Splits are made one by one, and never are all in memory.

    References
    ----------
    .. [1] Airola, Pahikkala, Waegeman, De Baets, Salakoski: An experimental comparison of cross-validation techniques
       for estimating the area under the ROC curve. Computational Statistics & Data Analysis 55 (2011).

    Examples
    --------
    >>> from kernelrank.model_selection import LeavePairOut
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
    >>> LeavePairOut().get_n_splits(X, y)
    4
    >>> for train, test in LeavePairOut().split(X, y):
    ...     print(train, test)  # the better row comes first
    [2 3] [1 0]
    [0 3] [1 2]
    [1 2] [3 0]
    [0 1] [3 2]
    """

    def get_n_splits(self, X: Any = None, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> int:
        """Count the pairs, in O(m log m).

        Parameters
        ----------
        X : object
            Not used.
        y : array-like of shape (n_samples,)
            Utilities.
        groups : array-like of shape (n_samples,), optional
            Queries: only rows of the same are a pair.

        Returns
        -------
        int
        """
        utilities, queries = _check(y, groups)
        return int(UtilityPairs(utilities, qid=queries).n_pairs)

    def split(self, X: Any, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows to train on, and the two to test on.

        Parameters
        ----------
        X : object
            Not used.
        y : array-like of shape (n_samples,)
            Utilities.
        groups : array-like of shape (n_samples,), optional
            Queries: only rows of the same are a pair.

        Yields
        ------
        train : ndarray
        test : ndarray of shape (2,)
            The better row, and the other.
        """
        utilities, queries = _check(y, groups)
        rows, found = np.arange(len(utilities)), False
        for i in rows:
            worse = utilities < utilities[i]
            for j in np.flatnonzero(worse if queries is None else worse & (queries == queries[i])):
                found = True
                yield np.delete(rows, [i, j]), np.array([i, j])
        if not found:
            raise NoComparablePairsError("No two rows have different utilities: there is no pair to hold out.")


class LeaveQueryOut(BaseCrossValidator):  # type: ignore[misc]
    """Holds out all rows of a query, one query after the other.

    It is scikit-learn's ``LeaveOneGroupOut``, for ids of any kind and without the queries that have no pair to order:
    there is nothing to measure on them.

    Examples
    --------
    >>> from kernelrank.model_selection import LeaveQueryOut
    >>> X, y, qid = [[1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 2, 2, 3], ["a", "a", "b", "b", 7]
    >>> for train, test in LeaveQueryOut().split(X, y, groups=qid):
    ...     print(train, test)
    [2 3 4] [0 1]
    """

    def get_n_splits(self, X: Any = None, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> int:
        """Count the queries that have a pair to order.

        Parameters
        ----------
        X : object
            Not used.
        y : array-like of shape (n_samples,)
            Utilities.
        groups : array-like of shape (n_samples,)
            Query of each row.

        Returns
        -------
        int
        """
        return len(self._queries(y, groups)[1])

    def split(self, X: Any, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows of the other queries, and of one.

        Parameters
        ----------
        X : object
            Not used.
        y : array-like of shape (n_samples,)
            Utilities.
        groups : array-like of shape (n_samples,)
            Query of each row.

        Yields
        ------
        train, test : ndarray
        """
        queries, comparable = self._queries(y, groups)
        for query in comparable:
            test = queries == query
            yield np.flatnonzero(~test), np.flatnonzero(test)

    @staticmethod
    def _queries(y: ArrayLike | None, groups: ArrayLike | None) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the query of each row, and those that have two different utilities."""
        utilities, queries = _check(y, groups)
        if queries is None:
            raise ValueError("LeaveQueryOut needs groups: the query of each row.")
        order = np.lexsort((utilities, queries))
        differ = (np.diff(queries[order]) == 0) & (np.diff(utilities[order]) > 0)
        comparable = np.unique(queries[order][1:][differ])
        if len(comparable) == 0:
            raise NoComparablePairsError("No query has two different utilities: there is nothing to measure.")
        return queries, comparable


def _check(y: ArrayLike | None, groups: ArrayLike | None) -> tuple[NDArray[np.float64], NDArray[np.int32] | None]:
    if y is None:
        raise ValueError("The utilities y are needed: they tell which rows can be compared.")
    classes = as_array(y, "y")
    if classes.ndim == 1 and classes.dtype.kind in "OUSb" and len(np.unique(utilities := as_utilities(classes))) <= 2:
        classes = utilities
    utilities = check_vector(classes, "y")
    queries, _ = encode_queries(groups, len(utilities), "groups")
    return utilities, queries
