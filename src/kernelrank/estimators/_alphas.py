"""Grids of alpha: the values to try, when to extend them, and a warning if the best one lies at an end."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernelrank._validation import check_vector
from kernelrank._warnings import warn
from kernelrank.exceptions import PathEndWarning

Vector = NDArray[np.float64]

_MOST_DECADES = 12.0  # of a grid that goes on by itself
_FLAT = 1e-3  # an improvement of the score, relative to it, that is not worth more alphas


class AlphaGrid:
    """Alphas to try, from the largest to the smallest.

    A number of alphas means a geometric grid over some decades. It goes on downwards, one decade at a time, as long as
    the last decade has improved the score, or all scores are the same: features of very different scales begin to
    matter at very different alphas. Alphas that are given are tried as they are.

    Parameters
    ----------
    alphas : int or array-like
        Size of a grid, or the values themselves.
    largest : callable
        Returns the largest alpha of a grid.
    decades : float
        Length of a grid before it goes on.
    """

    def __init__(self, alphas: Any, largest: Callable[[], float], decades: float) -> None:
        self.goes_on = isinstance(alphas, Integral)
        if self.goes_on:
            if alphas < 1:
                raise ValueError(f"alphas must be at least 1, got {alphas}.")
            steps = max(1, int(alphas) - 1)
            self._decades, self._ratio = decades, 10.0 ** (-decades / steps)
            self._in_a_decade = max(1, round(steps / decades))
            self.first = largest() * np.geomspace(1.0, 10.0**-decades, int(alphas))
            return
        given = check_vector(alphas, "alphas") if np.ndim(alphas) == 1 else np.empty(0)
        if len(given) == 0 or (given <= 0).any():
            got = f"{given.min():.3g} among them" if len(given) else "none of these"
            raise ValueError(f"alphas must be the size of a grid, or a sequence of positive numbers; got {got}.")
        self.first = np.unique(given)[::-1]

    def further(self, alphas: Vector, means: Vector) -> Vector:
        """Return the alphas to try after `alphas`, which had mean scores `means`; none if these will do."""
        if not self.goes_on:
            return np.empty(0)
        last, before = means[-self._in_a_decade :], means[: -self._in_a_decade]
        if len(before) and last.max() - before.max() <= _FLAT * abs(last.max()) and np.ptp(means) > 0:
            return np.empty(0)
        further = alphas[-1] * self._ratio ** np.arange(1, self._in_a_decade + 1)
        # Half a step of tolerance, so that rounding does not decide about the last one.
        return np.asarray(further[further > alphas[0] * 10.0**-_MOST_DECADES * self._ratio**0.5])


def warn_at_end(alphas: Vector, means: Vector, *, goes_on: bool, limit: Callable[[], float]) -> None:
    """Warn if the best score is that of the smallest alpha, or of the largest one and a larger one may be better.

    Parameters
    ----------
    alphas, means : ndarray of shape (n_alphas,)
        From the largest alpha to the smallest, with their mean scores.
    goes_on : bool
        Whether the alphas are of a grid that goes on by itself.
    limit : callable
        Returns an alpha above which little changes.
    """
    which = find_end(alphas, means, limit)
    if which is None:
        return
    if which == "smallest":
        remedy = (
            "Standardise the features, for example with sklearn.preprocessing.StandardScaler, or pass smaller ones."
            if goes_on
            else "Pass smaller ones as well, or a number of alphas: such a grid goes on while the score improves."
        )
    else:
        remedy = "Pass larger ones as well."
    warn(
        f"The best alpha, {alphas[np.argmax(means)]:.3g}, is the {which} of the {len(alphas)} that were tried, and"
        f" others beyond it may be better. {remedy}",
        PathEndWarning,
    )


def find_end(alphas: Vector, means: Vector, limit: Callable[[], float]) -> Literal["smallest", "largest"] | None:
    """Return at which end of a path the best alpha lies, if others beyond it may be better; None if it does not.

    A score that is better than all others by 0.1 % or less may as well be so by chance, and is not worth a warning. The
    arguments are those of `warn_at_end`.
    """
    best = int(np.argmax(means))
    others = np.delete(means, best)
    if len(others) == 0 or means[best] - others.max() <= _FLAT * abs(means[best]):
        return None
    if best == len(alphas) - 1:
        return "smallest"
    return "largest" if best == 0 and alphas[0] < limit() else None
