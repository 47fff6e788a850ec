r"""Greedy forward selection of features for ridge regression, by the error on rows that are held out.

One step adds the feature after which the held-out error is the smallest. It costs O(m n) for all n candidates and
all held-out blocks of the m rows together, however large the blocks are (Pahikkala, Airola, Salakoski 2010, for
single rows; Pahikkala, Airola, Naula, Salakoski 2010, for queries).

========= =================================================================== ======================
symbol    meaning                                                             here
========= =================================================================== ======================
z, u      a candidate and a target, centred; q is a block of rows             ``features``
D         residual operator of ridge regression on the selected features      never formed
c, a      D z and D u, residuals of the rows that are fitted                  ``image``, ``_dual``
E_q, e_q  D_qq^-1 c_q and D_qq^-1 a_q, residuals of q when it is held out     ``solved``, ``residuals``
r_q       alpha + z'c - c_q'E_q, the pivot of z in the model without q        ``pivots``
========= =================================================================== ======================

A further feature takes cc'/s off D, where s = alpha + z'c. By the formula of Sherman and Morrison,

    e_q  becomes  e_q - E_q (z'a - E_q'a_q) / r_q.

E and r of another candidate z* change in the same way, with z* for u: the numerator is p = z'c* - c_q'E*_q, and
E*_q loses E_q p / r_q, r*_q loses p^2 / r_q. Neither D nor its blocks are needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]

_PANEL_ELEMENTS = 1 << 17  # of some candidates and all rows, which are handled at once
_NARROWEST = 32
_EPS = float(np.finfo(np.float64).eps)
_SAME = 1e-12  # share of the error, by which two may differ and be called equal


def panel_width(m: int) -> int:
    """Return the number of candidates to handle at once, for m rows.

    Parameters
    ----------
    m : int
        Number of rows.

    Returns
    -------
    int
        Number of candidates.
    """
    return max(_NARROWEST, _PANEL_ELEMENTS // m)


@dataclass
class _Panel:
    """State of some of the candidates."""

    features: Array
    solved: Array
    pivots: Array
    penalties: Array
    noise: Array  # pivots up to this size may be rounding


class GreedySelection:
    """Features selected so far, and the held-out error after each possible further one.

    Parameters
    ----------
    features : iterable of ndarray of shape (m, w)
        All candidates, some at a time (:func:`~kernelrank.solvers.panel_width`), with a column each, of mean zero;
        overwritten.
    targets : ndarray of shape (m, p)
        Of mean zero.
    sizes : ndarray of int
        Of the blocks: the first sizes[0] rows are held out together, and so on.
    alpha : float
        Weight of the squared norm against the sum of squares, the same whatever is held out.
    weights : ndarray of shape (n_blocks,)
        Of each block's sum of squares in the error.
    level : bool
        Whether a level is fitted as well. Otherwise features and targets have mean zero in each block.
    centre : bool, default=False
        Whether the error of a block is that of residuals less their mean.

    Attributes
    ----------
    selected : list of int
        Features, in the order of selection.
    error : float
        Held-out error of the model of these features, summed over the targets.
    residuals : ndarray of shape (m, p)
        Held-out residuals.
    """

    def __init__(
        self,
        features: Iterable[Array],
        targets: Array,
        sizes: NDArray[np.integer],
        alpha: float,
        weights: Array,
        *,
        level: bool,
        centre: bool = False,
    ) -> None:
        m = len(targets)
        self._blocks, self._ends = np.repeat(np.arange(len(sizes)), sizes), np.append(0, np.cumsum(sizes))
        self._sizes, self._weights, self._centre = sizes[:, None], weights, centre
        self._outside = 1.0 / (m - self._sizes) if level else np.zeros((len(sizes), 1))
        self._totals, self._copies = self._sums(np.ones(m)), self._spread(np.ones(m))
        self.residuals = targets + self._copies @ (self._outside * (self._totals @ targets))
        self._dual = targets.copy()
        self._panels = [self._prepare(panel, alpha) for panel in features]
        self._starts = np.cumsum([0, *(panel.features.shape[1] for panel in self._panels)])
        self._projections: list[tuple[Array, Array]] = []  # of each selection: c, and z'c / s of all features
        self.selected: list[int] = []
        self._measure()

    def best(self) -> tuple[int, bool]:
        """Return the feature to select next; of equals, the first one.

        Returns
        -------
        feature : int
            The feature.
        improves : bool
            Whether the held-out error becomes smaller.
        """
        errors = self._errors.copy()
        errors[self.selected] = np.inf
        smallest, rounding = np.min(errors), _SAME * self.error
        return int(np.argmax(errors <= smallest + rounding)), bool(smallest + rounding < self.error)

    def select(self, feature: int) -> None:
        """Add a feature, and find the errors that each of the others would lead to after it.

        Parameters
        ----------
        feature : int
            Feature to add.
        """
        number = int(np.searchsorted(self._starts, feature, side="right")) - 1
        own, column = self._panels[number], feature - int(self._starts[number])
        image = own.features[:, column] - sum(c * factors[feature] for c, factors in self._projections)
        solved, rest = own.solved[:, column].copy(), own.pivots[:, column, None].copy()
        pivot = own.penalties[column] + own.features[:, column] @ image
        if pivot <= own.noise[column]:  # in the span of others, it has nothing to add
            pivot = np.inf
        reached = own.features[:, column] @ self._dual
        self.residuals -= self._spread(solved) @ ((reached - self._sums(solved) @ self._dual) / rest)
        self._dual -= image[:, None] * (reached / pivot)
        inside, changes = self._sums(image), self._spread(solved)
        products = [_update(panel, image, inside, changes, rest) for panel in self._panels]
        self._projections.append((image, np.concatenate(products) / pivot))
        self.selected.append(feature)
        self._measure()

    def _prepare(self, features: Array, alpha: float) -> _Panel:
        # Features of any size are brought to about 1, which only changes what alpha means for each of them.
        units = np.maximum(features.max(axis=0), -features.min(axis=0))
        units[units == 0] = 1.0
        features /= units
        with np.errstate(over="ignore"):  # a feature that small has no influence
            penalties = alpha / units / units
        sums, squares = self._totals @ features, self._totals @ features**2
        total, means = squares.sum(axis=0), self._outside * sums
        pivots = penalties + (total - squares - means * sums)
        panel = _Panel(features, features + self._copies @ means, pivots, penalties, noise=len(features) * _EPS * total)
        _drop_noise(panel)
        return panel

    def _measure(self) -> None:
        """Compute the error, and the error after each possible further feature."""
        residuals = self.residuals
        if self._centre:
            residuals = residuals - self._copies @ (self._totals @ residuals / self._sizes)
        self.error = float(self._weights @ (self._totals @ residuals**2).sum(axis=1))
        outputs = [
            (dual, self._sums(dual), self._sums(2 * errors))
            for dual, errors in zip(self._dual.T, residuals.T, strict=True)
        ]
        gains = [self._gains(panel, outputs) for panel in self._panels]
        self._errors = np.maximum(self.error - np.concatenate(gains), 0.0)

    def _gains(self, panel: _Panel, outputs: list[tuple[Array, sp.csr_array, sp.csr_array]]) -> Array:
        """Return the decrease of the error for each candidate of a panel."""
        squares = self._totals @ panel.solved**2
        if self._centre:
            squares -= (self._totals @ panel.solved) ** 2 / self._sizes
        gains = np.zeros(panel.features.shape[1])
        for dual, inside, errors in outputs:
            steps = dual @ panel.features - inside @ panel.solved
            steps /= panel.pivots
            gain = errors @ panel.solved
            gain -= steps * squares
            gain *= steps
            gains += self._weights @ gain
        return gains

    def _sums(self, factors: Array) -> sp.csr_array:
        """Return the matrix that sums columns, multiplied by factors, over each block."""
        shape = (len(self._sizes), len(factors))
        return sp.csr_array((factors, np.arange(len(factors)), self._ends), shape)

    def _spread(self, factors: Array) -> sp.csr_array:
        """Return the matrix that repeats the value of a block for each of its rows, multiplied by factors."""
        rows = np.arange(len(factors) + 1)
        return sp.csr_array((factors, self._blocks, rows), (len(factors), len(self._sizes)))


def _update(panel: _Panel, image: Array, inside: sp.csr_array, changes: sp.csr_array, rest: Array) -> Array:
    """Update the state of some candidates after a feature was selected; return their products with its c."""
    products = image @ panel.features
    across = products - inside @ panel.solved
    steps = across / rest
    panel.solved -= changes @ steps
    across *= steps
    panel.pivots -= across
    _drop_noise(panel)
    return np.asarray(products)


def _drop_noise(panel: _Panel) -> None:
    """Make the pivots of features in the span of others infinite, so that these change nothing."""
    small = panel.pivots <= panel.noise
    if small.any():
        panel.pivots[small] = np.inf
