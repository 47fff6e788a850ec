"""Splitters for scikit-learn that hold out pairs or queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator

from kernelrank._query_ids import encode_queries
from kernelrank._validation import as_array, check_vector
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.model_selection._sample import as_utilities
from kernelrank.pairs import UtilityPairs

Rows = NDArray[np.intp]


class LeavePairOut(BaseCrossValidator):  # type: ignore[misc]
    """Leave-pair-out splitter: each pair of rows with different utilities is a test set.

    Both rows of a pair are predicted by the same model, which is trained on neither. The share of pairs in the right
    order is an almost unbiased estimate of the concordance, and with two classes of the area under the ROC curve [1]_.
    Pairs with equal utilities are left out, because they have no order. `groups` are queries: only rows of the same
    query are a pair. :func:`~kernelrank.model_selection.estimate_concordance` can also hold out groups of dependent
    rows together.

    Notes
    -----
    There is one split per pair, up to m^2 / 2, and each takes a fit: use it for a few hundred rows at most.
    :class:`~kernelrank.RankRLS` and :class:`~kernelrank.RLS` compute :meth:`~kernelrank.RankRLS.leave_pair_out` in
    closed form, which :func:`~kernelrank.model_selection.estimate_auc` uses. Splits are generated one at a time.

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
            Query of each row; only rows of the same query are a pair.

        Returns
        -------
        int
            Number of pairs.
        """
        utilities, queries = _check(y, groups)
        return int(UtilityPairs(utilities, qid=queries).n_pairs)

    def split(self, X: Any, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the training rows and the two test rows of each split.

        Parameters
        ----------
        X : object
            Not used.
        y : array-like of shape (n_samples,)
            Utilities.
        groups : array-like of shape (n_samples,), optional
            Query of each row; only rows of the same query are a pair.

        Yields
        ------
        train : ndarray
            Indices of all other rows.
        test : ndarray of shape (2,)
            Indices of the pair, the better row first.
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
    """Leave-query-out splitter: the rows of each query are a test set.

    It is scikit-learn's ``LeaveOneGroupOut`` for ids of any kind, without queries whose rows have all the same utility:
    they have no pair to score.

    Examples
    --------
    >>> from kernelrank.model_selection import LeaveQueryOut
    >>> X, y, qid = [[1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 2, 2, 3], ["a", "a", "b", "b", 7]
    >>> for train, test in LeaveQueryOut().split(X, y, groups=qid):
    ...     print(train, test)
    [2 3 4] [0 1]
    """

    def get_n_splits(self, X: Any = None, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> int:
        """Count the queries with at least two different utilities.

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
            Number of such queries.
        """
        return len(self._queries(y, groups)[1])

    def split(self, X: Any, y: ArrayLike | None = None, groups: ArrayLike | None = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the training rows and the test rows of each split.

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
        train : ndarray
            Indices of the rows of all other queries.
        test : ndarray
            Indices of the rows of the query.
        """
        queries, comparable = self._queries(y, groups)
        for query in comparable:
            test = queries == query
            yield np.flatnonzero(~test), np.flatnonzero(test)

    @staticmethod
    def _queries(y: ArrayLike | None, groups: ArrayLike | None) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the query of each row, and the queries with at least two different utilities."""
        utilities, queries = _check(y, groups)
        if queries is None:
            raise ValueError("LeaveQueryOut needs groups: the query of each row.")
        order = np.lexsort((utilities, queries))
        differ = (np.diff(queries[order]) == 0) & (np.diff(utilities[order]) > 0)
        comparable = np.unique(queries[order][1:][differ])
        if len(comparable) == 0:
            raise NoComparablePairsError("No query has two different utilities: there is no pair to score.")
        return queries, comparable


def _check(y: ArrayLike | None, groups: ArrayLike | None) -> tuple[NDArray[np.float64], NDArray[np.int32] | None]:
    if y is None:
        raise ValueError("y must be given: rows with different utilities are the pairs.")
    classes = as_array(y, "y")
    if classes.ndim == 1 and classes.dtype.kind in "OUSb" and len(np.unique(utilities := as_utilities(classes))) <= 2:
        classes = utilities
    utilities = check_vector(classes, "y")
    queries, _ = encode_queries(groups, len(utilities), "groups")
    return utilities, queries
