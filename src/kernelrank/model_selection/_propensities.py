"""Propensities of positions, estimated from clicks on rows that were shown at several positions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components

from kernelrank._query_ids import encode_queries
from kernelrank._validation import check_vector, check_weights
from kernelrank._warnings import warn
from kernelrank.exceptions import ConvergenceWarning
from kernelrank.pairs._clicks import check_clicked

_MAX_STEPS = 100
_LONGEST = 4.0  # step, in logarithms of propensities
_SMALL = 1e-10  # squared Newton decrement: the solution is within 1e-5 standard errors
_ROUNDED = 1e-4  # the same, which is good enough where rounding errors prevent a better one


class Propensities(NamedTuple):
    """Estimated propensities of positions, relative to the first.

    Attributes
    ----------
    position : ndarray of shape (n_positions,)
        Positions in ascending order.
    propensity : ndarray of shape (n_positions,)
        Probability of being examined, divided by that of the first position.
    standard_error : ndarray of shape (n_positions,)
        Standard errors of `propensity`.
    """

    position: NDArray[np.float64]
    propensity: NDArray[np.float64]
    standard_error: NDArray[np.float64]

    def at(self, position: ArrayLike) -> NDArray[np.float64]:
        """Return the propensities of given positions.

        Parameters
        ----------
        position : array-like of shape (n_shown,)
            Positions of which a propensity was estimated.

        Returns
        -------
        ndarray of shape (n_shown,)
            Their propensities.
        """
        wanted = check_vector(position, "position")
        place = np.minimum(np.searchsorted(self.position, wanted), len(self.position) - 1)
        unknown = self.position[place] != wanted
        if unknown.any():
            raise ValueError(f"position has {wanted[unknown][0]:g}, of which no propensity was estimated.")
        return self.propensity[place]


def estimate_propensities(
    clicked: ArrayLike, position: ArrayLike, row: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> Propensities:
    r"""Estimate how often each position is examined, from rows that were shown at several positions.

    A row that is shown at two positions is equally relevant at both, so that the ratio of its click rates is the ratio
    of their propensities. Rows move between positions where rankers differ, as in an A/B test, where a ranker is
    updated, or where results are swapped on purpose [1]_.

    The estimate maximises

    .. math:: \sum_i \sum_k c_{ik} \log \frac{n_{ik} p_k}{\sum_l n_{il} p_l},

    where row i was shown :math:`n_{ik}` times at position k and clicked :math:`c_{ik}` times there: the likelihood of
    the positions of the clicks of each row, given their number. The relevance of the rows cancels.

    Parameters
    ----------
    clicked : array-like of shape (n_shown,)
        Whether each row that was shown was clicked: True and False, or 1 and 0.
    position : array-like of shape (n_shown,)
        Rank at which it was shown, 1 at the top. Equal numbers share a propensity: to join positions that have few
        clicks, pass the first position of a bin for all that are in it.
    row : array-like of shape (n_shown,)
        What was shown: any hashable id, the same for the same document of the same query, such as its index in X.
    sample_weight : array-like of shape (n_shown,), optional
        How often each element was observed, for clicks that have been counted.

    Returns
    -------
    Propensities
        Named tuple of arrays ``position``, ``propensity`` (1.0 at the first position) and ``standard_error``; its
        method ``at`` returns the propensity for each element of an array of positions.

    Raises
    ------
    ValueError
        If positions are not connected by rows that were shown at both, or there are too few clicks.

    Warns
    -----
    ConvergenceWarning
        If rounding errors kept the estimate from its maximum.

    See Also
    --------
    kernelrank.pairs.weigh_clicks : Weights for training on clicks.
    kernelrank.datasets.simulate_clicks : Clicks with known propensities.

    Notes
    -----
    **Assumption.** The probability of a click is a product :math:`p_k r_i` of one factor for the position and one for
    the row. The estimate is biased if users trust the top positions, so that they click there what they would not
    click elsewhere, or if the click rate of a row depends on the rows beside it or on the time.

    This is Poisson regression with an effect for each row, conditional on the number of its clicks [2]_. Only the
    means of the clicks need to be right: the clicks need not be Poisson variables, and those on a row need not be
    independent. Rankers need not be chosen at random for each query. The all-pairs estimator of [1]_ learns from the
    same rows, and has a parameter for the relevance at each pair of positions. Rows that were shown at one position
    only have no influence.

    Standard errors treat the rows as independent (a sandwich estimate with the rows as clusters), and are too small for
    a few rows.

    The running time is O(n_shown log n_shown). Each step of Newton's method, of which there are about ten, takes O(K^3)
    for K positions, and the sum over the rows of the squared number of their positions.

    References
    ----------
    .. [1] Agarwal, Zaitsev, Wang, Li, Najork, Joachims: Estimating position bias without intrusive interventions.
       WSDM (2019).
    .. [2] Wooldridge: Distribution-free estimation of some nonlinear panel data models. Journal of Econometrics 90
       (1999).

    Examples
    --------
    Two rankers show two rows in opposite orders, 100 times each. At the top the rows are clicked 40 and 20 times, below
    20 and 10 times. The counts are given as weights:

    >>> from kernelrank.model_selection import estimate_propensities
    >>> clicked, position, row = [1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 2, 2, 1, 1, 2, 2], ["a", "b"] * 4
    >>> found = estimate_propensities(clicked, position, row, sample_weight=[40, 20, 20, 10, 60, 80, 80, 90])
    >>> found.propensity.round(6)
    array([1. , 0.5])
    """
    clicks = check_clicked(clicked)
    places = check_vector(position, "position", len(clicks))
    codes, n_rows = encode_queries(row, len(clicks), "row")
    if codes is None:
        raise ValueError("row must have one element per row that was shown, got None.")
    weights = check_weights(sample_weight, len(clicks))
    weights = np.ones(len(clicks)) if weights is None else weights
    positions, of = np.unique(places, return_inverse=True)
    if len(positions) == 1:
        raise ValueError(f"position is {positions[0]:g} everywhere; at least two positions are required.")
    shown, hits = (
        sp.csr_array((values, (codes, of)), (n_rows, len(positions))) for values in (weights, weights * clicks)
    )
    _check_connected(shown, hits, positions)
    logarithm, error = _maximise(shown, hits)
    propensity = np.exp(logarithm)
    return Propensities(positions, propensity, propensity * error)


def _check_connected(shown: sp.csr_array, hits: sp.csr_array, positions: NDArray[np.float64]) -> None:
    """Raise an error unless the likelihood has a maximum with positive propensities, and one only."""
    presence, clicked = (sp.csr_array(each > 0, dtype=np.float64) for each in (shown, hits))
    n_parts, part = connected_components(presence.T @ presence, directed=False)
    if n_parts > 1:
        raise ValueError(
            f"No row was shown both at {_name(positions[part == part[0]])} and at {_name(positions[part != part[0]])},"
            " so that their propensities cannot be compared. Show rows at positions of both, or estimate them apart."
        )
    # From a position to another, if a row shown at the first was clicked at the second: a lower bound of the ratio.
    n_parts, part = connected_components(presence.T @ clicked, directed=True, connection="strong")
    if n_parts > 1:
        sizes = np.bincount(part)
        few = part == sizes.argmin()
        raise ValueError(
            f"There are too few clicks on rows that were shown at {_name(positions[few])} and elsewhere. Add clicks,"
            " or let positions share a propensity: pass the first position of a bin for all positions in it."
        )


def _name(positions: NDArray[np.float64]) -> str:
    """Return positions in words."""
    numbers = [f"{each:g}" for each in positions[:6]] + ["..."] * (len(positions) > 6)
    return f"position{'s' * (len(positions) > 1)} {', '.join(numbers)}"


def _maximise(shown: sp.csr_array, hits: sp.csr_array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the logarithms of the propensities, 0 at the first, and their standard errors, by Newton's method."""
    theta, clicks = np.zeros(shown.shape[1]), hits.sum(axis=0)
    of_row = hits.sum(axis=1)
    with_clicks = of_row > 0
    shown, hits, of_row = shown[with_clicks], hits[with_clicks], of_row[with_clicks]

    def likelihood(theta: NDArray[np.float64]) -> float:
        return float(clicks @ theta - of_row @ np.log(shown @ np.exp(theta)))

    for _ in range(_MAX_STEPS):
        p = np.exp(theta)
        expected = sp.diags_array(of_row / (shown @ p)) @ shown @ sp.diags_array(p)  # clicks, given those of the row
        rest = (hits - expected)[:, 1:]
        gradient = rest.sum(axis=0)
        moments = (expected.T @ sp.diags_array(1.0 / of_row) @ expected).toarray()
        factor = cho_factor((np.diag(expected.sum(axis=0)) - moments)[1:, 1:])
        step = np.append(0.0, cho_solve(factor, gradient))
        decrement = float(gradient @ step[1:])
        if decrement <= _SMALL:
            break
        # Few clicks make far too long steps, whose exponentials overflow.
        size, before = min(1.0, _LONGEST / float(np.abs(step).max())), likelihood(theta)
        while likelihood(theta + size * step) <= before and size > _SMALL:
            size /= 2
        if size <= _SMALL:
            break
        theta = theta + size * step
    if decrement > _ROUNDED:
        warn(f"The propensities are {decrement**0.5:.1e} standard errors from their maximum.", ConvergenceWarning)
    half = cho_solve(factor, (rest.T @ rest).toarray())
    variance = np.diag(cho_solve(factor, half.T))
    return theta, np.sqrt(np.append(0.0, np.maximum(variance, 0.0)))
