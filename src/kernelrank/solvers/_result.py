"""Results of solvers: the solution, its certificate, and the history of both."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank.solvers._oracle import Oracle

# One record per iteration.
HISTORY = np.dtype(
    [
        ("upper_bound", np.float64),  # objective of the best solution so far
        ("lower_bound", np.float64),  # of the optimum, proven
        ("seconds", np.float64),  # so far
        ("n_products", np.int64),  # with X or its transpose, so far
        ("n_evaluations", np.int64),  # passes over the pairs, so far
        ("goal", np.float64),  # gap at which the solver stops
    ]
)

_LARGEST, _SMALLEST = 0.1, 0.01  # objectives, compared with that at zero, between which the goal falls with them


Report = Callable[[Any], None]


class Log:
    """History of a solver; time and work are counted from the creation of the solver."""

    def __init__(self, oracle: Oracle, began: float, report: Report | None) -> None:
        self._oracle, self._began, self._report = oracle, began, report
        self._records: list[tuple[float, float, float, int, int, float]] = []

    def add(self, upper_bound: float, lower_bound: float, goal: float) -> None:
        """Add a record, and report it."""
        seconds = time.perf_counter() - self._began
        record = (upper_bound, lower_bound, seconds, self._oracle.n_products, self._oracle.n_evaluations, goal)
        self._records.append(record)
        if self._report is not None:
            self._report(np.array(record, dtype=HISTORY)[()])

    def history(self) -> NDArray[Any]:
        """Return all records."""
        return np.array(self._records, dtype=HISTORY)


def gap_goal(tol: float, objective: float, at_zero: float) -> float:
    """Return the gap at which a solver stops.

    It is ``tol`` times the objective at zero. Such a gap says little about a solution whose objective is far smaller:
    where the objective is below a tenth of that at zero, the goal is ``10 * tol`` times the objective. Objectives
    below a hundredth count as a hundredth: data that can be ordered all but without error would otherwise cost many
    times as many iterations, for a solution that orders nothing else.
    """
    return tol / _LARGEST * min(max(objective, _SMALLEST * at_zero), _LARGEST * at_zero)


class Plane(NamedTuple):
    """A plane below a risk: ``R(w) >= slope @ w + offset`` for every w.

    Attributes
    ----------
    slope : ndarray of shape (n_features,)
        Slope of the plane.
    offset : float
        Its value at w = 0.
    """

    slope: NDArray[np.float64]
    offset: float


@dataclass(frozen=True)
class Result:
    """A solution and its certificate.

    Attributes
    ----------
    w : ndarray of shape (n_features,)
        The best solution found.
    scores : ndarray of shape (n_rows,)
        Its scores, up to a constant.
    objective : float
        Its objective, an upper bound of the optimum.
    lower_bound : float
        No solution has a smaller objective. At most `objective`.
    converged : bool
        Whether the tolerance was met.
    history : structured ndarray
        Fields ``upper_bound, lower_bound, seconds, n_products, n_evaluations, goal``, one record per iteration.
    exhausted : bool
        Whether the tolerance was missed because float64 can do no more; further iterations would not help.
    plane : Plane
        The plane below the risk that proves the lower bound: ``offset - ||slope||^2 / (4 alpha)``, up to rounding.
    """

    w: NDArray[np.float64]
    scores: NDArray[np.float64]
    objective: float
    lower_bound: float
    converged: bool
    history: NDArray[Any]
    exhausted: bool
    plane: Plane

    @property
    def gap(self) -> float:
        """Upper bound on the difference between the objective and the optimum: the certificate."""
        return self.objective - self.lower_bound

    @property
    def goal(self) -> float:
        """Gap at which the solver stops."""
        return float(self.history["goal"][-1])

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.history)
