"""The squared error of differences over pairs whose order is known, where some utilities are only bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kernelrank._validation import CheckedRows
from kernelrank.exceptions import NoComparablePairsError
from kernelrank.losses._pairwise import no_pairs
from kernelrank.losses._squares import PairwiseSquares, weigh
from kernelrank.pairs import UtilityPairs, all_pairs

Array = NDArray[np.float64]


class CensoredSquares:
    """The average of ``(t - (f[j] - f[i]))^2`` over comparable pairs, j being the better row, as a quadratic form.

    Its Laplacian has no known spectrum: it is multiplied with vectors only, in O(m log m).

    Parameters
    ----------
    rows : CheckedRows
        With one utility per row, of which some are not observed.
    ties : {"keep", "drop"}
        Whether pairs of observed rows with equal utilities count, with a target of zero.
    cost : {"magnitude", "unit"}
        Target t of a pair: the difference of the given utilities, or 1.
    query_weighting : {"query", "pair"}
        Whether every query or every pair counts the same.
    """

    closed_form = False

    def __init__(self, rows: CheckedRows, *, ties: str, cost: str, query_weighting: str) -> None:
        if cost == "relative":
            raise ValueError('cost="relative" forms all pairs, which is not for censored rows: use another cost.')
        pairs = UtilityPairs.of_checked(rows)
        self._violated = pairs.violated()
        # With equal scores, every pair violates the margin of 1.
        self._violated.count(np.zeros(pairs.n_rows), np.ones(pairs.n_queries))
        totals: Array = pairs.pairs_per_query.astype(np.float64)
        if totals.sum() == 0:
            raise NoComparablePairsError(no_pairs(pairs.n_rows, censored=True))
        if ties == "keep":
            weights, classes, queries = _tied_rows(rows)
            totals += np.bincount(queries, np.bincount(classes, weights) ** 2, len(totals)) / 2
        importance, scale = weigh(totals, query_weighting)
        self.total = float(importance.sum())
        self._scale = scale / self.total
        self._ties: PairwiseSquares | None = None
        if ties == "keep":
            laplacian = all_pairs(classes, weights)
            strengths = laplacian.strengths * self._scale[queries[laplacian.queries]]
            self._ties = PairwiseSquares(laplacian, strengths, np.zeros((len(strengths), 1)), np.ones(1))
        self.pulls = self._targets(rows.y, cost)[:, None]

    def _targets(self, y: Array, cost: str) -> Array:
        """Return minus half the gradient at f = 0; ties have no part in it."""
        if cost == "magnitude":
            product, _ = self._violated.multiply(y, self._scale)
            return product
        lower_less_upper, _, _ = self._violated.count(np.zeros(len(y)), self._scale)
        return -lower_less_upper

    def forget(self) -> None:
        """Release the compiled pairs, of some hundred bytes per row; there are no products afterwards."""
        del self._violated

    def multiply(self, v: Array, *, overwrite: bool = False) -> Array:
        """Multiply half the Hessian with a vector.

        Parameters
        ----------
        v : ndarray of shape (n_rows,)
            Vector to multiply.
        overwrite : bool, default=False
            Whether the memory of the vector may be used.

        Returns
        -------
        ndarray of shape (n_rows,)
            The product.
        """
        product, _ = self._violated.multiply(v, self._scale)
        if self._ties is not None:
            product += self._ties.multiply(v, overwrite=overwrite)
        return product

    def diagonal(self) -> Array:
        """Return the diagonal of half the Hessian.

        Returns
        -------
        ndarray of shape (n_rows,)
            The diagonal.
        """
        found = self._violated.degrees(self._scale)
        return found if self._ties is None else found + self._ties.diagonal()


def _tied_rows(rows: CheckedRows) -> tuple[Array, NDArray[np.int32], NDArray[np.integer]]:
    """Return weights that are zero for censored rows, the class of equal utilities of each row, and its query."""
    m = len(rows.y)
    queries = np.zeros(m, np.int32) if rows.queries is None else rows.queries
    weights = np.ones(m) if rows.weights is None else rows.weights
    if rows.observed is not None:
        weights = weights * rows.observed
    _, values = np.unique(rows.y, return_inverse=True)
    classes = queries.astype(np.int64) * (int(values.max(initial=0)) + 1) + values
    _, first, numbers = np.unique(classes, return_index=True, return_inverse=True)
    return weights, numbers.astype(np.int32), queries[first]
