"""The protocol of held-out predictions, which refuses all that have no closed form.

A fit chooses one implementation: for one ranking (``_ranking.py``), for queries (``_queries.py``), for one ranking
without ties (``_classes.py``), or one that refuses. Predictions are those of a refit to the other rows with the same
alpha. Losses are averages, so in units of the whole problem the alpha of the refit is ``alpha * (what remains of the
normaliser) / (the whole)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from kernelrank._arrays import Array
from kernelrank.solvers.least_squares._ties import Predicted

Rows = NDArray[np.intp]

NO_CLOSED_FORM = "has no closed form for one ranking"


class HoldOut:
    """Held-out predictions, each of which is refused unless a subclass has a closed form.

    Parameters
    ----------
    reason : str
        What to say after the name of a method that is refused; not needed if only `queries` is.
    """

    shortcuts: frozenset[str] = frozenset()  # closed forms: of "pairs", of "folds"; of several "outputs" at once

    def __init__(self, reason: str = "") -> None:
        self._reason = reason

    def folds(self, folds: Sequence[Rows], alpha: float) -> list[Predicted]:
        """Predict the rows of each fold, held out together; arrays of shape (n_rows, p)."""
        self._refuse("hold_out")

    def pairs(self, pairs: Rows, alpha: float) -> Array:
        """Predict both rows of each pair; shape (n_pairs, 2, p)."""
        self._refuse("leave_pair_out")

    def all_pairs(self, alpha: float) -> Array:
        """Return F, ``F[i, j]`` the prediction of row i with i and j held out; shape (p, m, m), NaN on the diagonal."""
        self._refuse("leave_pair_out")

    def order(self, alpha: float) -> NDArray[np.int8]:
        """Return the signs of ``F[i, j] - F[j, i]``; shape (p, m, m)."""
        self._refuse("leave_pair_out_order")

    def concordances(self, alphas: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of pairs in the right order when they are held out; shape (n_alphas, p)."""
        self._refuse("leave_pair_out_concordance")

    def queries(self, alphas: NDArray[np.float64]) -> list[Predicted]:
        """Predict the rows of every query without it, for each alpha; arrays of shape (m, p)."""
        raise ValueError("leave_query_out needs queries: fit with qid, or use leave_pair_out for one ranking.")

    def _refuse(self, method: str) -> NoReturn:
        raise ValueError(f"{method} {self._reason}")


class Undecomposed(HoldOut):
    """Held-out predictions of a problem that is not decomposed: all are refused.

    Parameters
    ----------
    remedy : str
        What to do instead, as a sentence.
    """

    def __init__(self, remedy: str) -> None:
        super().__init__(f"needs a decomposition, which conjugate gradients do not make. {remedy}")
        self.remedy = remedy

    def queries(self, alphas: NDArray[np.float64]) -> list[Predicted]:
        """Raise the error of all other methods."""
        self._refuse("leave_query_out")


def require_four_rows(n_rows: int, method: str) -> None:
    """Raise unless two rows are left when a pair is held out."""
    if n_rows < 4:
        raise ValueError(f"{method} needs four rows at least: two to learn from, and two to predict.")


def check_once(rows: Rows) -> None:
    """Raise if a fold has a row twice."""
    if len(rows) > 1 and len(np.unique(rows)) != len(rows):
        raise ValueError("A fold has a row twice.")
