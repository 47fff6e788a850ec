"""Pairs of clicked rows and the rows shown with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelrank._query_ids import encode_queries
from kernelrank._validation import as_array, as_numbers, check_vector, check_weights, flatten_column
from kernelrank.exceptions import NoComparablePairsError


class WeighedClicks(NamedTuple):
    """Rows, labels, queries and weights that make a ranker compare clicked rows with all rows shown.

    Attributes
    ----------
    row : ndarray of int
        Index of each row in X.
    y : ndarray of float
        1 for rows that were clicked; 0 for the rows that they are compared with.
    qid : ndarray of int
        Number of the query.
    sample_weight : ndarray of float
        Sum of 1 / propensity over the clicks of the row where y is 1; 1 where y is 0.
    """

    row: NDArray[np.intp]
    y: NDArray[np.float64]
    qid: NDArray[np.int32]
    sample_weight: NDArray[np.float64]


def weigh_clicks(
    clicked: ArrayLike,
    propensity: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    row: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> WeighedClicks:
    r"""Weigh clicks by their propensities, for the propensity-weighted ranking SVM.

    Trained on the rows that are returned, :class:`~kernelrank.RankSVM` with ``query_weighting="pair"`` minimises the
    objective of the propensity-weighted ranking SVM [1]_: the average of

    .. math:: \frac{1}{p_i} \sum_j \ell(1 - w \cdot x_i + w \cdot x_j)

    over the clicks, where row i was clicked, :math:`p_i` is the probability that it had been examined, and j runs over
    all rows of the same query, clicked or not. The sum is an upper bound of the rank of row i.

    Parameters
    ----------
    clicked : array-like of shape (n_shown,)
        Whether each row that was shown was clicked: True and False, or 1 and 0.
    propensity : array-like of shape (n_shown,), or float
        Probability that the row was examined, positive; or any multiple of it, such as relative to the first position.
        1 for all gives the naive weights, which ignore the position bias.
    qid : array-like of shape (n_shown,), optional
        Query of each element. Clicks of several impressions of a query are added up, which is right if they all show
        the same rows. If they do not, pass a number for each impression, so that a click is compared with the rows of
        its own impression.
    row : array-like of shape (n_shown,), optional
        Index of the row of X that was shown, which may be there several times. By default, 0, 1, ...
    sample_weight : array-like of shape (n_shown,), optional
        How often each element was observed, for clicks that have been counted.

    Returns
    -------
    WeighedClicks
        Named tuple of arrays ``row``, ``y``, ``qid`` and ``sample_weight``. Every row that was clicked is there twice:
        with y = 1, and, as all the rows of its query, with y = 0.

    Raises
    ------
    ValueError
        If a propensity is not positive.
    NoComparablePairsError
        If there is no click, or no other row beside any of them.

    See Also
    --------
    kernelrank.model_selection.estimate_propensities : Propensities from clicks.
    kernelrank.datasets.simulate_clicks : Clicks with known propensities.

    Notes
    -----
    A row is clicked if it is examined, with probability :math:`p_i`, and found relevant, with probability
    :math:`r_i`. The expected value of ``clicked / propensity`` is therefore :math:`r_i`, wherever the row was shown,
    and the expected loss is :math:`\sum_i r_i \sum_j \ell(1 - w \cdot x_i + w \cdot x_j)`, that of judgements. The
    labels of the other rows do not occur in it. The pair of a row with itself adds a constant to the loss and does not
    change the solution.

    ``1/2 ||w||^2 + C / n_clicks * sum(loss)`` of [1]_ has ``alpha = n_clicks / (2 * C * N)``, where N, `n_pairs_` of
    the model, is the sum over the clicks of the number of rows divided by the propensity.

    The running time is O(n_shown log n_shown), and the fit depends on the number of distinct rows only.

    References
    ----------
    .. [1] Joachims, Swaminathan, Schnabel: Unbiased learning-to-rank with biased feedback. WSDM (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelrank import RankSVM
    >>> from kernelrank.pairs import weigh_clicks
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]])
    >>> clicked = [True, False, False, True, True, False]  # a query, shown twice
    >>> propensity = [1.0, 0.5, 0.1, 1.0, 0.5, 0.1]
    >>> found = weigh_clicks(clicked, propensity, row=[0, 1, 2, 0, 1, 2])
    >>> found.row, found.sample_weight
    (array([0, 1, 0, 1, 2]), array([2., 2., 1., 1., 1.]))
    >>> model = RankSVM(query_weighting="pair")
    >>> model = model.fit(X[found.row], found.y, qid=found.qid, sample_weight=found.sample_weight)
    >>> model.rank(X, qid=[0, 0, 0])
    array([1, 2, 3])
    """
    clicks = check_clicked(clicked)
    n = len(clicks)
    chances = check_propensity(propensity, n)
    codes, _ = encode_queries(qid, n)
    rows = np.arange(n) if row is None else _check_row_numbers(row, n)
    weights = check_weights(sample_weight, n)
    if weights is None:
        weights = np.ones(n)
    elif not weights.all():  # as if they were not there
        kept = weights > 0
        clicks, chances, rows, weights = clicks[kept], chances[kept], rows[kept], weights[kept]
        codes = None if codes is None else codes[kept]
    keys = rows if codes is None else codes.astype(np.int64) * (int(rows.max()) + 1) + rows
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    total = np.bincount(place, clicks * weights / chances, minlength=len(first))
    rows, queries = rows[first], np.zeros(len(first), np.int32) if codes is None else codes[first]
    hit = total > 0
    if not (np.bincount(queries)[queries[hit]] > 1).any():
        raise NoComparablePairsError("There is no pair to learn from: no row was clicked that was shown with others.")
    return WeighedClicks(
        row=np.append(rows[hit], rows),
        y=np.repeat([1.0, 0.0], [hit.sum(), len(rows)]),
        qid=np.append(queries[hit], queries),
        sample_weight=np.append(total[hit], np.ones(len(rows))),
    )


def check_clicked(clicked: ArrayLike) -> NDArray[np.bool_]:
    """Return which elements are clicked as a mask."""
    mask = flatten_column(as_numbers(clicked, "clicked"), "clicked")
    if mask.ndim != 1:
        raise ValueError(f"clicked must have one element per row, got an array of shape {mask.shape}.")
    if len(mask) == 0:
        raise ValueError("clicked is empty; at least one row is required.")
    wrong = (mask != 0) & (mask != 1)
    if wrong.any():
        raise ValueError(f"clicked must hold True and False, or 1 and 0, got {mask[wrong][0]}.")
    return mask.astype(np.bool_)


def check_propensity(propensity: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """Return propensities as a finite, positive vector; a number stands for all rows."""
    given = as_array(propensity, "propensity")
    vector = check_vector(np.full(n_rows, given) if given.ndim == 0 else given, "propensity", n_rows)
    too_small = vector < np.finfo(np.float64).tiny  # 1 / propensity would be infinite
    if too_small.any():
        k = int(too_small.argmax())
        raise ValueError(
            f"propensity must be positive, got {vector[k]:g} at index {k}. Leave out rows that are never examined."
        )
    return vector


def _check_row_numbers(row: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    """Return indices of rows of X."""
    rows = as_array(row, "row")
    if rows.ndim != 1 or len(rows) != n_rows:
        raise ValueError(f"row must have one element for each of the {n_rows} rows, got shape {rows.shape}.")
    if rows.dtype.kind not in "iu":
        raise ValueError(
            f"row must hold indices of rows of X, integers, got dtype {rows.dtype}. Convert ids"
            " by numpy.unique(ids, return_inverse=True)[1], and sort the rows of X by id."
        )
    if rows.min() < 0 or rows.max() >= 2**31:
        outside = rows.min() if rows.min() < 0 else rows.max()
        raise ValueError(f"row must hold indices from 0 to 2**31 - 1, got {outside}.")
    return rows.astype(np.int64)
