"""What a solver returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# One record an iteration.
HISTORY = np.dtype(
    [
        ("upper_bound", np.float64),  # objective of the best solution so far
        ("lower_bound", np.float64),  # of the optimum, proven
        ("seconds", np.float64),  # since the start
        ("n_products", np.int64),  # with X or its transpose, so far
        ("n_evaluations", np.int64),  # of the loss, so far
    ]
)


@dataclass(frozen=True)
class Result:
    """A solution and what is proven about it.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
        The best solution found.
    objective : float
        Its objective, an upper bound of the optimum.
    lower_bound : float
        No solution has a smaller objective.
    converged : bool
        Whether ``gap <= tol``.
    history : structured ndarray
        Fields ``upper_bound, lower_bound, seconds, n_products, n_evaluations``, one record an iteration.
    """

    w: NDArray[np.float64]
    objective: float
    lower_bound: float
    converged: bool
    history: NDArray[Any]

    @property
    def gap(self) -> float:
        """The certificate: how far the objective can at most be from the optimum."""
        return self.objective - self.lower_bound

    @property
    def n_iter(self) -> int:
        """Iterations made."""
        return len(self.history)
