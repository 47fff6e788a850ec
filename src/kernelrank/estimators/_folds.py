"""Folds of a cross-validation, which split no query unless that is what they are for."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupKFold, KFold

from kernelrank._query_ids import as_id_array, encode_queries
from kernelrank._rules import FOLDS, show
from kernelrank.exceptions import InvalidParameterError, NoComparablePairsError
from kernelrank.features import KroneckerRows


class Fold(NamedTuple):
    """Training rows, as a mask, and test rows, as numbers."""

    train: NDArray[np.bool_]
    test: NDArray[np.intp]


def make_folds(
    cv: Any,
    y: NDArray[np.float64],
    queries: NDArray[np.int32] | None,
    groups: ArrayLike | None,
    random_state: Any,
) -> list[Fold]:
    """Return the folds of `cv`: a number of folds, a splitter of scikit-learn, or an iterable of (train, test).

    A number means ``GroupKFold`` over `groups`, or a shuffled ``KFold`` without groups. A splitter of entries takes
    `groups` of two columns; see :class:`kernelrank.model_selection.LeaveColumnsOut`.

    Raises
    ------
    ValueError
        If rows of a query are both in the training set and in the test set of a fold, so that the test would say
        nothing about new queries. A splitter of entries may do that: it tests new columns, say, of known queries. Of a
        split query, the held-out rows are compared with each other.
    """
    FOLDS("cv", cv)
    together = groups if splits_queries(cv) else _check_groups(groups, len(y))
    cv = 5 if cv is None else cv
    if isinstance(cv, Integral):
        what = "rows" if together is None else "queries or groups"
        n_units = len(y) if together is None else len(np.unique(together))
        _check_number(cv, n_units, f"{what} (n_samples = {len(y)})")
        cv = KFold(cv, shuffle=True, random_state=random_state) if together is None else GroupKFold(cv)
    rows = np.zeros((len(y), 1))  # splitters use the number of rows only
    with warnings.catch_warnings():
        # Splits that happen not to split a query are accepted; others raise an error below.
        warnings.filterwarnings("ignore", "The groups parameter is ignored by", UserWarning)
        splits = cv.split(rows, y, together) if hasattr(cv, "split") else cv
        folds = list(_as_folds(splits, len(y)))
    if not folds:
        raise ValueError("cv yields no fold.")
    if queries is not None and not splits_queries(cv):
        for number, fold in enumerate(folds):
            torn = np.intersect1d(queries[fold.train], queries[fold.test])
            if len(torn):
                row = int(np.flatnonzero(queries == torn[0])[0])
                raise ValueError(
                    f"Fold {number} of cv splits a query or group, that of row {row}, into training and test rows. Use"
                    " sklearn.model_selection.GroupKFold, or a number of folds."
                )
    return folds


def splits_queries(cv: Any) -> bool:
    """Return whether cv is a splitter of entries, by their rows and columns, whatever the queries."""
    return bool(getattr(cv, "splits_queries", False))


def groups_for(cv: Any, X: Any, groups: ArrayLike | None, queries: ArrayLike | None) -> ArrayLike | None:
    """Return the groups that a splitter gets: rows and columns of entries, the given groups, or else the queries."""
    if splits_queries(cv):
        return X.entries if isinstance(X, KroneckerRows) else groups
    return queries if groups is None else groups


def _check_groups(groups: ArrayLike | None, n_rows: int) -> NDArray[Any] | None:
    """Return one id per row that can be sorted."""
    codes, _ = encode_queries(groups, n_rows, "groups")
    if groups is None:
        return None
    together = as_id_array(groups)
    return codes if together.dtype.kind == "O" else together


def mean_scores(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each row of scores over folds; folds with an undefined score are left out."""
    known = ~np.isnan(scores).any(axis=0)
    if not known.any():
        raise NoComparablePairsError("The score is undefined for every fold: use fewer, larger folds.")
    return np.asarray(scores[:, known].mean(axis=1))


def make_pair_folds(
    cv: Any,
    pairs: NDArray[np.integer],
    n_rows: int,
    queries: NDArray[np.int32] | None,
    groups: ArrayLike | None,
    random_state: Any,
) -> list[Fold]:
    """Return folds of pairs of rows: `train` and `test` of a fold select pairs.

    With `groups`, or if `cv` is a splitter of entries, it splits the rows. A pair is in the training set if both of its
    rows are, in the test set if both of its rows are, and otherwise left out. Without `groups`, `cv` splits the pairs;
    a number of folds keeps pairs of the same two rows together.
    """
    if groups is not None or splits_queries(cv):
        rows = make_folds(cv, np.zeros(n_rows), queries, groups, random_state)
        tested = (np.isin(np.arange(n_rows), fold.test) for fold in rows)
        return [
            Fold(fold.train[pairs].all(axis=1), np.flatnonzero(test[pairs].all(axis=1)))
            for fold, test in zip(rows, tested, strict=True)
        ]
    low, high = pairs.min(axis=1).astype(np.int64), pairs.max(axis=1)
    two_rows = low * n_rows + high
    cv = 5 if cv is None else cv
    if isinstance(cv, Integral):
        _check_number(cv, len(np.unique(two_rows)), "different pairs")
        cv = GroupKFold(cv, shuffle=True, random_state=random_state)
    return make_folds(cv, np.zeros(len(pairs)), None, two_rows, random_state)


def _check_number(n_folds: Integral, n_units: int, what: str) -> None:
    if int(n_folds) > n_units:
        raise ValueError(f"cv asks for {n_folds} folds of {n_units} {what}: use fewer folds.")


def locate(scoring: Any, kernel: Any, alpha: float, fold: int) -> None:
    """Call the method `locate` of a scoring that has one, to say what it is called for next."""
    if hasattr(scoring, "locate"):
        scoring.locate(kernel, alpha, fold)


def _as_folds(splits: Any, n_rows: int) -> Iterator[Fold]:
    for split in splits:
        mask = np.zeros(n_rows, dtype=bool)
        try:
            train, test = split
            mask[train] = True
            test = np.arange(n_rows)[test]  # or a mask
        except (IndexError, TypeError, ValueError) as reason:
            raise InvalidParameterError(
                f"cv must yield rows to train on and rows to test on, as numbers below {n_rows} or masks, got"
                f" {show(split)} ({reason})."
            ) from None
        if mask.sum() != len(np.arange(n_rows)[train]):
            raise ValueError("cv trains on some rows twice; use sample_weight to give rows more weight.")
        if mask[test].any():
            raise ValueError("cv tests on rows that it trains on.")
        yield Fold(mask, test)
