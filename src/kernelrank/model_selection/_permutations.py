"""Permutations of utilities, for the null distribution of an estimate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from kernelrank._query_ids import encode_queries
from kernelrank._rules import RANDOM_STATE, whole
from kernelrank._validation import check_vector
from kernelrank.pairs import members

Array = NDArray[np.float64]
Rows = NDArray[np.intp]


class Exchanges:
    """Permutations of utilities that are equally likely if the utilities do not depend on X.

    Utilities are permuted inside queries, and inside groups. If all rows of each group have the same utility, they are
    permuted between whole groups instead. A permutation is given as the row that each row gets its utility from.

    Parameters
    ----------
    y : ndarray of shape (m,)
    queries, groups : ndarray of int, of shape (m,), optional
    """

    def __init__(
        self, y: Array, queries: NDArray[np.integer] | None = None, groups: NDArray[np.integer] | None = None
    ) -> None:
        first = self._unit = np.arange(len(y))
        blocks, self.what = queries, "rows" if queries is None else "rows inside queries"
        if groups is not None:
            _, of_group, unit = np.unique(groups, return_index=True, return_inverse=True)
            if (y[of_group][unit] == y).all():
                first, self._unit, self.what = of_group, unit, "whole groups"
            elif queries is None:
                blocks, self.what = groups, "rows inside groups"
        self._first, self._labels = first, np.unique(y, return_inverse=True)[1][first]
        codes = np.zeros(len(first), np.intp) if blocks is None else np.unique(blocks[first], return_inverse=True)[1]
        self._codes, self._blocks = codes, members(codes, int(codes.max(initial=-1)) + 1)

    @property
    def n_distinct(self) -> int:
        """Number of distinct permutations, including the identity."""
        counts = (np.unique(self._labels[block], return_counts=True)[1].tolist() for block in self._blocks)
        return math.prod(math.factorial(sum(each)) // math.prod(map(math.factorial, each)) for each in counts)

    def draw(self, rng: np.random.RandomState) -> Rows:
        """Draw a random permutation."""
        source = np.empty(len(self._first), np.intp)
        source[np.concatenate(self._blocks)] = np.lexsort((rng.random_sample(len(source)), self._codes))
        return self._first[source][self._unit]

    def every(self) -> Iterator[Rows]:
        """Yield all distinct permutations."""
        ways = ([block[each] for each in _arrangements(self._labels[block].tolist())] for block in self._blocks)
        order = np.concatenate(self._blocks)
        source = np.empty(len(self._first), np.intp)
        for choice in product(*ways):
            source[order] = np.fromiter(chain.from_iterable(choice), np.intp, len(order))
            yield self._first[source][self._unit]


def _arrangements(labels: list[int]) -> Iterator[Rows]:
    """Yield, for each distinct order of the labels, the positions that they come from."""
    rows = sorted(range(len(labels)), key=lambda row: labels[row])
    while True:
        yield np.array(rows, dtype=np.intp)
        # The next order in lexicographic order changes at the last rise.
        now = [labels[row] for row in rows]
        rises = [k for k in range(len(now) - 1) if now[k] < now[k + 1]]
        if not rises:
            return
        k = rises[-1]
        least = max(j for j in range(k + 1, len(now)) if now[j] > now[k])
        rows[k], rows[least] = rows[least], rows[k]
        rows[k + 1 :] = reversed(rows[k + 1 :])


def permuted_outputs(
    y: ArrayLike,
    n_permutations: int,
    *,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Array:
    """Return y and random permutations of it as columns, to be fitted together as outputs.

    :class:`~kernelrank.RankRLS` with ``ties="keep"`` and :class:`~kernelrank.RLS` share one decomposition between all
    outputs, so that hundreds of permutations take little more time than none.
    :func:`~kernelrank.model_selection.permutation_test` uses them.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Utilities.
    n_permutations : int
        Number of random permutations.
    qid : array-like of shape (n_samples,), optional
        Query of each row: utilities are permuted inside queries, because only rows of the same query are compared.
    groups : array-like of shape (n_samples,), optional
        Group of each row; rows of a group depend on each other. Utilities are permuted inside groups, or between whole
        groups if all rows of each group have the same utility.
    random_state : int, RandomState instance or None, default=None
        Random number generator of the permutations.

    Returns
    -------
    ndarray of shape (n_samples, 1 + n_permutations)
        The first column is y.

    Examples
    --------
    Is the leave-pair-out concordance of 40 rows significant? None of 999 permutations has one as large:

    >>> from sklearn.datasets import load_diabetes
    >>> from kernelrank import RankRLS
    >>> from kernelrank.model_selection import permuted_outputs
    >>> X, y = load_diabetes(return_X_y=True)
    >>> Y = permuted_outputs(y[:40], 999, random_state=0)
    >>> concordance = RankRLS(alpha=1e-4).fit(X[:40], Y).leave_pair_out_concordance()
    >>> concordance[0].round(3)
    np.float64(0.757)
    >>> (concordance[1:] >= concordance[0]).sum()
    np.int64(0)
    """
    y = check_vector(y, "y")
    whole(0)("n_permutations", n_permutations)
    RANDOM_STATE("random_state", random_state)
    (queries, _), (blocks, _) = encode_queries(qid, len(y)), encode_queries(groups, len(y), "groups")
    rng: Any = check_random_state(random_state)
    exchanges = Exchanges(y, queries, blocks)
    return np.column_stack([y, *(y[exchanges.draw(rng)] for _ in range(int(n_permutations)))])
