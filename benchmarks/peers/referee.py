"""The referee: one objective and one test error for all competitors, computed from weights and scores alone.

A competitor's own report is not used, with one exception: the certified gap of kernelrank's tightest
fit gives the lower bound of the optimum that all gaps are measured from. The fast evaluation is
kernelrank's own; it is compared with the definition, pair by pair, on the first rows of every workload.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.competitors import Fitted, Loss, comparable_pairs
from benchmarks.peers.workloads import Rows
from kernelrank import losses
from kernelrank.metrics import pairwise_error
from kernelrank.pairs import UtilityPairs

_CHECKED_ROWS = 1_000
_AGREEMENT = 1e-10  # relative: both sum up to a million numbers in another order


class Referee:
    """Judge of one problem: ``J(w) = mean of the pairwise losses + alpha ||w||^2``.

    Parameters
    ----------
    train, test : Rows
    alpha : float
    loss : {"hinge", "squared_hinge"}
    """

    def __init__(self, train: Rows, test: Rows, alpha: float, loss: Loss) -> None:
        self.train, self.test, self.alpha, self.loss = train, test, alpha, loss
        self._risk = fast_loss(train, loss)

    def objective(self, w: NDArray[np.float64]) -> float:
        """Return J(w)."""
        self._check(w)
        return self._risk(self.train.X @ w).value + self.alpha * float(w @ w)

    def relative_gradient(self, w: NDArray[np.float64]) -> float | None:
        """Return the norm of the gradient of J at w, divided by that at zero; None if there is no gradient."""
        if self.loss == "hinge":
            return None
        X = self.train.X
        here = X.T @ self._risk(X @ w).g + 2 * self.alpha * w
        start = X.T @ self._risk(np.zeros(len(self.train.y))).g
        return float(np.linalg.norm(here) / np.linalg.norm(start))

    def test_error(self, fitted: Fitted) -> float:
        """Return the share of the test set's pairs in the wrong order, averaged over its queries."""
        return pairwise_error(self.test.y, fitted.scores(self.test.X), qid=self.test.qid)

    def _check(self, w: NDArray[np.float64]) -> None:
        """Compare the fast evaluation with the definition."""
        first = Rows(*(None if part is None else part[:_CHECKED_ROWS] for part in self.train))
        scores = first.X @ w
        fast, slow = fast_loss(first, self.loss)(scores).value, average_loss(first, scores, self.loss)
        if abs(fast - slow) > _AGREEMENT * max(slow, 1.0):
            raise AssertionError(f"the {self.loss} loss is {slow!r} by definition, but was evaluated as {fast!r}")


def fast_loss(rows: Rows, loss: Loss) -> losses.Loss:
    """Return a function from scores to the average loss and its gradient, in O(m log m)."""
    evaluate = {"hinge": losses.PairwiseHinge, "squared_hinge": losses.PairwiseSquaredHinge}[loss]
    return evaluate(UtilityPairs(rows.y, qid=rows.qid), "pair")


def average_loss(rows: Rows, scores: NDArray[np.float64], loss: Loss) -> float:
    """Evaluate the definition in O(m^2)."""
    low, high = comparable_pairs(rows.y, rows.qid)
    hinge = np.maximum(0.0, 1.0 + scores[low] - scores[high])
    return float(np.mean(hinge if loss == "hinge" else hinge**2))
