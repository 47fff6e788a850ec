"""Random samples of pairs per row, for methods that cannot use all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from kernelrank._query_ids import encode_queries
from kernelrank._rules import COUNT, RANDOM_STATE
from kernelrank._validation import check_vector
from kernelrank.exceptions import NoComparablePairsError


def sample_pairs(
    y: ArrayLike,
    k: int,
    *,
    qid: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> NDArray[np.int64]:
    """Sample pairs of each row with other rows of its query.

    Each row is paired with `k` different rows of its query that have another utility, or with all of them if there are
    fewer: "Herbrich_k" of [1]_. The pairs are intended for :meth:`kernelrank.RankSVM.fit_pairs`; ``fit`` needs no
    sample, as it counts all pairs without enumerating them.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Utilities, any finite numbers; higher is better.
    k : int
        Number of pairs per row.
    qid : array-like of shape (n_samples,), optional
        Query of each row. Rows of different queries are not compared.
    random_state : int, RandomState instance or None, default=None
        Random number generator; pass an int for reproducible results.

    Returns
    -------
    ndarray of shape (n_pairs, 2)
        Row indices ``[winner, loser]``, k pairs per row, in the order of the rows. If two rows draw each other, the
        pair occurs twice.

    Raises
    ------
    NoComparablePairsError
        If no two rows of a query have different utilities.

    Notes
    -----
    The running time is O(m log m + m k^2), and memory is O(m k), independent of the number of possible pairs.

    References
    ----------
    .. [1] Díez, del Coz, Bahamonde: A support vector method for ranking minimizing the number of swapped pairs (2006),
       section 4.

    Examples
    --------
    >>> from kernelrank.pairs import sample_pairs
    >>> sample_pairs([1, 3, 3], k=2, random_state=0)
    array([[1, 0],
           [2, 0],
           [1, 0],
           [2, 0]])
    """
    y = check_vector(y, "y")
    COUNT("k", k)
    RANDOM_STATE("random_state", random_state)
    codes, _ = encode_queries(qid, len(y))
    codes = np.zeros(len(y), np.int32) if codes is None else codes
    order = np.lexsort((y, codes))
    query = _blocks(codes[order][None])
    level = _blocks(np.stack((codes[order], y[order])))
    drawn = _draw(np.diff(query)[:, 0] - np.diff(level)[:, 0], k, check_random_state(random_state))
    rows, _ = kept = np.nonzero(drawn >= 0)
    # Positions within the query of the row, excluding rows with the same utility.
    places = query[rows, 0] + drawn[kept]
    places += np.where(places >= level[rows, 0], level[rows, 1] - level[rows, 0], 0)
    first, second = order[rows], order[places]
    if len(first) == 0:
        raise NoComparablePairsError(
            f"There is no pair to sample (n_samples = {len(y)}): no query has two different utilities. Check y and qid."
        )
    in_order = np.argsort(first, kind="stable")
    first, second = first[in_order], second[in_order]
    wins = (y[first] > y[second])[:, None]
    return np.where(wins, np.stack((first, second), axis=1), np.stack((second, first), axis=1)).astype(np.int64)


def _blocks(keys: NDArray[Any]) -> NDArray[np.intp]:
    """Return the start and end of the run of equal columns that contains each column."""
    n = keys.shape[1]
    starts = np.flatnonzero(np.append(np.ones(min(n, 1), bool), (keys[:, 1:] != keys[:, :-1]).any(axis=0)))
    lengths = np.diff(np.append(starts, n))
    return np.repeat(np.stack((starts, starts + lengths), axis=1), lengths, axis=0)


def _draw(n: NDArray[np.intp], k: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw k different numbers below n[i] for each i, or all of them if there are fewer; -1 marks missing numbers.

    Floyd's method: numbers are drawn below n-k+1, ..., n in turn, and a number that was drawn before is replaced by
    the largest possible one.
    """
    k = min(k, int(np.max(n, initial=0)))  # no row has more candidates
    drawn = np.full((len(n), k), -1, dtype=np.intp)
    least = np.maximum(n - k, 0)
    for turn in range(k):
        largest = least + turn
        found = (rng.random_sample(len(n)) * (largest + 1)).astype(np.intp)
        again = (drawn[:, :turn] == found[:, None]).any(axis=1)
        drawn[:, turn] = np.where(largest < n, np.where(again, largest, found), -1)
    return drawn
