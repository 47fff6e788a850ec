"""Check that parameters are converted correctly, on small problems that every peer solves accurately.

If they are, all find the same weights: J is strongly convex. Weights are more sensitive than objectives, in
which a wrong constant appears only squared. The utilities of the first problem are
distinct, so that there is no tie to break; the second has three levels in three queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers.competitors import COMPETITORS, Loss, Problem
from benchmarks.peers.referee import Referee
from benchmarks.peers.workloads import Rows

TOL = 1e-8
_ALPHA = 0.05
_M = 150

_SAME_PROBLEM: tuple[tuple[str, Loss, tuple[str, ...]], ...] = (
    ("distinct", "hinge", ("LinearSVC on pairs",)),
    ("distinct", "squared_hinge", ("LinearSVC on pairs", "scikit-survival rbtree", "scikit-survival avltree")),
    ("queries", "hinge", ("LinearSVC on pairs", "dlib")),
    ("queries", "squared_hinge", ("LinearSVC on pairs",)),
)


def check_conversions(chosen: Sequence[str]) -> list[dict[str, Any]]:
    """Return the distance of each peer's solution from kernelrank's."""
    found = []
    for name, loss, peers in _SAME_PROBLEM:
        rows = small_rows(name)
        problem = Problem(rows, _ALPHA, loss, tol=TOL)
        referee = Referee(rows, rows, _ALPHA, loss)
        ours = _solve("kernelrank", problem)
        for peer in peers:
            if peer not in chosen:
                continue
            w = _solve(peer, problem)
            excess = referee.objective(w) - referee.objective(ours)
            distance = float(np.linalg.norm(w - ours) / np.linalg.norm(ours))
            found.append({"competitor": peer, "data": name, "loss": loss, "excess": excess, "distance": distance})
    return found


def small_rows(name: str) -> Rows:
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(_M, 5)), rng.normal(size=_M)
    y = X @ np.arange(5) + 2 * noise
    if name == "distinct":
        return Rows(X, y)
    return Rows(X, np.digitize(y, [0.0, 3.0]).astype(float), np.arange(_M) * 3 // _M)


def _solve(who: str, problem: Problem) -> Any:
    competitor = COMPETITORS[who]
    return competitor.fit(competitor.convert(problem), problem).w
