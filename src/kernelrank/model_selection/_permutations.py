"""Utilities in an order that means nothing, to compare with."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state, check_scalar

from kernelrank._validation import check_vector, encode_queries

Array = NDArray[np.float64]


def permuted_outputs(
    y: ArrayLike,
    n_permutations: int,
    *,
    qid: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Array:
    """Put y and random permutations of it side by side, as outputs to be learnt together.

    A permutation test fits and cross-validates permuted utilities as it does the true ones. Closed forms share one
    decomposition between all outputs, so that hundreds of permutations cost little more than none: the outputs of
    :class:`kernelrank.RankRLS` and :class:`kernelrank.RLS`, whose ties are kept.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    n_permutations : int
    qid : array-like of shape (n_samples,), optional
        Query of each row: utilities are permuted inside queries, as rows of different queries are not compared.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    ndarray of shape (n_samples, 1 + n_permutations)
        The first column is y.

    Examples
    --------
    Is the leave-pair-out concordance of 40 rows more than chance? Of 999 permutations none has as large a one:

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
    check_scalar(n_permutations, "n_permutations", Integral, min_val=0)
    queries, _ = encode_queries(qid, len(y))
    rng: Any = check_random_state(random_state)
    columns = np.empty((len(y), 1 + int(n_permutations)))
    columns[:, 0] = y
    rows = np.arange(len(y)) if queries is None else np.argsort(queries, kind="stable")
    for column in columns[:, 1:].T:
        keys = rng.random_sample(len(y))
        column[rows] = y[np.argsort(keys) if queries is None else np.lexsort((keys, queries))]
    return columns
