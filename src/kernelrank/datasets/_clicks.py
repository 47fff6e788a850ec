"""Simulated clicks on rankings, with position bias."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from kernelrank._query_ids import encode_queries
from kernelrank._rules import COUNT, NOT_NEGATIVE, RANDOM_STATE, SHARE
from kernelrank._validation import check_vector


class Clicks(NamedTuple):
    """Rows that were shown, and clicks on them; one element per row and impression.

    Attributes
    ----------
    clicked : ndarray of bool
        Whether the row was clicked.
    row : ndarray of int
        Index of the row in the data.
    impression : ndarray of int
        Number of the impression: one ranking of one query, shown once.
    position : ndarray of int
        Rank at which the row was shown, 1 at the top.
    propensity : ndarray of float
        Probability that the row was examined.
    """

    clicked: NDArray[np.bool_]
    row: NDArray[np.intp]
    impression: NDArray[np.intp]
    position: NDArray[np.intp]
    propensity: NDArray[np.float64]


def simulate_clicks(
    y: ArrayLike,
    qid: ArrayLike | None,
    scores: ArrayLike,
    eta: float = 1.0,
    noise: float = 0.1,
    random_state: int | np.random.RandomState | None = 0,
    *,
    n_impressions: int = 1,
) -> Clicks:
    r"""Simulate clicks of users who examine the top of a ranking more often than the rest.

    The rows of each query are shown in descending order of `scores`; ties are in the order of the rows. The row at
    rank k is examined with probability

    .. math:: p_k = (1 / k)^\eta,

    its propensity, and an examined row is clicked with probability

    .. math:: noise + (1 - noise) \frac{2^y - 1}{2^{y_{max}} - 1},

    where :math:`y_{max}` is the largest element of `y`. With y of 0 and 1, an examined row is thus clicked always if it
    is relevant, and with probability `noise` if it is not: the position-based model of [1]_. All these events are
    independent.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Relevance grades, 0 or more; 0 is not relevant.
    qid : array-like of shape (n_samples,) or None
        Query of each row, in any order; None means a single query.
    scores : array-like of shape (n_samples,)
        Scores of the ranker whose ranking is shown.
    eta : float, default=1.0
        Strength of the position bias. With 0, all rows are examined.
    noise : float, default=0.1
        Probability of a click on an examined row of grade 0.
    random_state : int, RandomState instance or None, default=0
        Random number generator; pass an int for reproducible results.
    n_impressions : int, default=1
        How often each query is shown.

    Returns
    -------
    Clicks
        Named tuple of arrays ``clicked``, ``row``, ``impression``, ``position`` and ``propensity``. The first n_samples
        elements are the first impression of each query, in the order of the rows, and so on.

    See Also
    --------
    kernelrank.pairs.weigh_clicks : Rows and weights for training on clicks.
    kernelrank.model_selection.estimate_propensities : Estimates propensities from clicks.

    Notes
    -----
    The running time is O(m log m + m n_impressions) for m rows, and memory is O(m n_impressions). For more clicks than
    fit into memory, call the function several times with the same RandomState. If no row is relevant, examined rows are
    clicked with probability `noise`.

    References
    ----------
    .. [1] Joachims, Swaminathan, Schnabel: Unbiased learning-to-rank with biased feedback. WSDM (2017).

    Examples
    --------
    >>> from kernelrank.datasets import simulate_clicks
    >>> clicks = simulate_clicks([0, 1, 0, 1], qid=[1, 1, 2, 2], scores=[0.3, 0.2, 0.8, 0.9], noise=0.0)
    >>> clicks.position
    array([1, 2, 2, 1])
    >>> clicks.propensity
    array([1. , 0.5, 0.5, 1. ])
    >>> clicks.clicked[[0, 2, 3]]  # the relevant row at rank 1 is clicked, and those of grade 0 are not
    array([False, False,  True])
    """
    grades = check_vector(y, "y")
    m = len(grades)
    if m == 0:
        raise ValueError("y is empty; at least one row is required.")
    if (grades < 0).any():
        raise ValueError(f"y must hold grades of 0 or more, got {grades.min():g}.")
    codes, _ = encode_queries(qid, m)
    codes = np.zeros(m, np.int32) if codes is None else codes
    scores = check_vector(scores, "scores", m)
    NOT_NEGATIVE("eta", eta)
    SHARE("noise", noise)
    RANDOM_STATE("random_state", random_state)
    COUNT("n_impressions", n_impressions)
    position = _positions(codes, scores)
    propensity = (1.0 / position) ** eta
    drawn = check_random_state(random_state).random_sample((n_impressions, m))
    return Clicks(
        clicked=(drawn < propensity * _attraction(grades, noise)).ravel(),
        row=np.tile(np.arange(m), n_impressions),
        impression=(np.arange(n_impressions)[:, None] * (int(codes.max()) + 1) + codes).ravel(),
        position=np.tile(position, n_impressions),
        propensity=np.tile(propensity, n_impressions),
    )


def _positions(codes: NDArray[np.int32], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rank of each row in its query, 1 at the top; ties are in the order of the rows."""
    order = np.lexsort((-scores, codes))  # stable
    starts = np.cumsum(np.append(0, np.bincount(codes)[:-1]))
    position = np.empty(len(order), np.intp)
    position[order] = np.arange(1, len(order) + 1) - starts[codes[order]]
    return position


def _attraction(grades: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    """Return the probability of a click on each row if it is examined."""
    largest = grades.max()
    if largest == 0:
        return np.full(len(grades), float(noise))
    # (2^y - 1) / (2^ymax - 1), for large and small grades
    gain = np.exp2(grades - largest) * np.expm1(-grades * np.log(2)) / np.expm1(-largest * np.log(2))
    return np.asarray(noise + (1 - noise) * gain)
