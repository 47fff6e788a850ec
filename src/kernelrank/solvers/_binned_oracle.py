"""The risk of one ranking whose rows are in several parts, from histograms of their scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kernelrank.losses import Pooled
from kernelrank.solvers._oracle import finite
from kernelrank.solvers._part import Request, Share
from kernelrank.solvers._parted import Engine, PartedOracle, RowVector

_FIRST_RESOLUTION = 256  # bins per unit
_MOST_BINS = 1 << 17  # of a group
_MOST_COUNTS, _MOST_POOLED = 1 << 20, 1 << 24  # bins of all groups of a part, and of all parts
_SHARE_OF_TOL = 0.01  # error due to bins


class ScoresTooFarApartError(ValueError):
    """Scores are so far apart that bins of width 1 would be too many."""


class BinnedOracle(PartedOracle):
    """The hinge of one ranking, whose rows are in parts, from histograms of scores.

    See `kernelrank.losses.BinnedHinge`.

    An evaluation takes two rounds: histograms come in, then what each part has to know of the others goes out. Their
    size depends on the range of the scores and on the accuracy, not on the number of rows.

    Parameters
    ----------
    engine : Engine
        Access to the parts.
    groups : sequence of ndarray
        Numbers of the groups of each part, from the lowest utilities to the highest.
    total : float
        Number of pairs, or their weight.
    tol : float
        Tolerance of the solver. The error that is due to bins is kept far below.
    """

    def __init__(self, engine: Engine, groups: Sequence[NDArray[np.intp]], total: float, tol: float) -> None:
        super().__init__(engine)
        self._groups, self._total, self._accuracy = groups, total, _SHARE_OF_TOL * tol
        self._resolution, self._error = _FIRST_RESOLUTION, 0.0
        self._used: dict[int, int] = {}  # resolutions of the planes that are kept
        sizes = [len(each) for each in groups]
        self._most = min(_MOST_BINS, _MOST_COUNTS // max(sizes), _MOST_POOLED // sum(sizes))

    def _error_of_value(self) -> float:
        return self._error

    def _evaluate(self, key: int, scores: RowVector, against: Sequence[int]) -> list[Share]:
        def requests() -> list[Request]:
            # Asked again after a loss, with the resolution of the first time: the offset of the plane is known already.
            before, again = self._resolution, key in self._used
            self._resolution = self._used.get(key, before)
            pooled = self._pool(scores)
            self._used = {each: used for each, used in self._used.items() if each in self._kept}
            self._used[key] = self._resolution
            self._resolution = before if again else self._resolution
            return [("count_binned", key, scores.keys, pooled.outside(k), against) for k in range(len(self._groups))]

        return self._ask_each(requests)

    def _pool(self, scores: RowVector) -> Pooled:
        """Return histograms that are fine enough, or as fine as possible."""
        while True:
            found = self._ask("histogram", lambda: (scores.keys, self._resolution, self._most))
            spread = finite(max(each.greatest for each in found) - min(each.least for each in found))
            finest = _power_of_two((self._most - 2) / max(spread, 1e-300))
            if finest < 1:
                raise ScoresTooFarApartError(
                    f"The scores are {spread:.3g} apart, too far for bins of width 1. Standardise the features,"
                    ' increase alpha, or count with counting="gather".'
                )
            if any(each.counts is None for each in found) or self._resolution > finest:
                self._resolution = int(min(finest, self._resolution // 2))
                continue
            pooled = Pooled(found, self._groups, self._resolution)
            self._error = pooled.ambiguous() / (self._resolution * self._total)
            if self._error <= self._accuracy or 2 * self._resolution > finest:
                return pooled
            # The error falls with the square of the resolution.
            finer = self._resolution * np.sqrt(self._error / self._accuracy)
            self._resolution = int(min(finest, 2 * _power_of_two(finer)))


def _power_of_two(x: float) -> float:
    """Return the largest power of two that is not greater."""
    return float(2.0 ** np.floor(np.log2(min(x, 2.0**40))))
