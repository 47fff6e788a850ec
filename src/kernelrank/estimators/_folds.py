"""Folds of cross-validation that never split a query."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupKFold, KFold

from kernelrank._rules import FOLDS, show
from kernelrank._validation import as_id_array, encode_queries
from kernelrank.exceptions import InvalidParameterError, NoComparablePairsError


class Fold(NamedTuple):
    """Rows to train on, as a mask, and rows to test on, as numbers."""

    train: NDArray[np.bool_]
    test: NDArray[np.intp]


def make_folds(
    cv: Any,
    y: NDArray[np.float64],
    queries: NDArray[np.int32] | None,
    groups: ArrayLike | None,
    random_state: Any,
) -> list[Fold]:
    """Split the rows as `cv` says: a number of folds, a splitter of scikit-learn, or splits.

    A number stands for ``GroupKFold`` over `groups`, or for a shuffled ``KFold`` if there are none.

    Raises
    ------
    ValueError
        If rows of one query are both trained and tested on.
    """
    encode_queries(groups, len(y), "groups")  # raises an error for what are no groups
    together = None if groups is None else as_id_array(groups)
    if together is not None and together.dtype.kind == "O":
        together, _ = encode_queries(groups, len(y))  # ids that cannot be sorted
    FOLDS("cv", cv)
    cv = 5 if cv is None else cv
    if isinstance(cv, Integral):
        n_units = len(y) if together is None else len(np.unique(together))
        if int(cv) > n_units:
            what = "rows" if together is None else "queries or groups"
            raise ValueError(f"cv asks for {cv} folds of {n_units} {what} (n_samples = {len(y)}): use fewer folds.")
        cv = KFold(cv, shuffle=True, random_state=random_state) if together is None else GroupKFold(cv)
    rows = np.zeros((len(y), 1))  # splitters only look at the number of rows
    with warnings.catch_warnings():
        # Splits that happen to respect the queries are fine; others are refused below.
        warnings.filterwarnings("ignore", "The groups parameter is ignored by", UserWarning)
        splits = cv.split(rows, y, together) if hasattr(cv, "split") else cv
        folds = list(_as_folds(splits, len(y)))
    if not folds:
        raise ValueError("cv yields no fold.")
    if queries is not None:
        for number, fold in enumerate(folds):
            torn = np.intersect1d(queries[fold.train], queries[fold.test])
            if len(torn):
                row = int(np.flatnonzero(queries == torn[0])[0])
                raise ValueError(
                    f"Fold {number} trains and tests on rows of the same query or group, that of row {row}. Use"
                    " sklearn.model_selection.GroupKFold, or a number of folds."
                )
    return folds


def mean_scores(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the folds, of each row; folds for which some score is not defined are left out."""
    known = ~np.isnan(scores).any(axis=0)
    if not known.any():
        raise NoComparablePairsError("The score is defined for no fold: use fewer folds, or larger ones.")
    return np.asarray(scores[:, known].mean(axis=1))


def make_pair_folds(
    cv: Any,
    pairs: NDArray[np.integer],
    n_rows: int,
    queries: NDArray[np.int32] | None,
    groups: ArrayLike | None,
    random_state: Any,
) -> list[Fold]:
    """Split pairs of rows: `train` and `test` of a fold are pairs.

    With `groups`, `cv` splits the rows. A pair is trained on if both of its rows are, tested if both are, and else
    left out. Without, `cv` splits the pairs; a number keeps pairs of the same two rows together.
    """
    if groups is not None:
        rows = make_folds(cv, np.zeros(n_rows), queries, groups, random_state)
        tested = (np.isin(np.arange(n_rows), fold.test) for fold in rows)
        return [
            Fold(fold.train[pairs].all(axis=1), np.flatnonzero(test[pairs].all(axis=1)))
            for fold, test in zip(rows, tested, strict=True)
        ]
    cv = 5 if cv is None else cv
    if isinstance(cv, Integral):
        cv = GroupKFold(cv, shuffle=True, random_state=random_state)
    low, high = pairs.min(axis=1).astype(np.int64), pairs.max(axis=1)
    return make_folds(cv, np.zeros(len(pairs)), None, low * n_rows + high, random_state)


def locate(scoring: Any, kernel: Any, alpha: float, fold: int) -> None:
    """Tell a scoring that wants to know what it is called for next: it has a method of this name."""
    if hasattr(scoring, "locate"):
        scoring.locate(kernel, alpha, fold)


def _as_folds(splits: Any, n_rows: int) -> Iterator[Fold]:
    for split in splits:
        mask = np.zeros(n_rows, dtype=bool)
        try:
            train, test = split
            mask[train] = True
            test = np.arange(n_rows)[test]  # a mask will do as well
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
