"""Metrics on each fold of a cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank.kernels import Linear
from kernelrank.metrics._choice import Metric

Vector = NDArray[np.float64]


class FoldScores:
    """Scoring for a cross-validation that also records all other metrics on each fold.

    Parameters
    ----------
    select : Metric
        Metric to maximise.
    others : list of Metric
        Metrics to record.
    queries : list of ndarray, optional
        Queries of the held-out rows of each fold, if the estimator does not pass them.
    """

    def __init__(self, select: Metric, others: list[Metric], queries: list[NDArray[Any]] | None = None) -> None:
        self._select, self._others, self._queries = select, others, queries
        # For each kernel, alpha and fold, one dictionary per output, in the order of the calls.
        self._noted: dict[Any, list[dict[str, tuple[float, int]]]] = {}

    def locate(self, kernel: Any, alpha: float, fold: int) -> None:
        """Set the kernel, alpha and fold of the next scores."""
        self._place = None if isinstance(kernel, Linear) else kernel, alpha, fold
        self._noted[self._place] = []

    def __call__(
        self,
        y_true: Vector,
        y_score: Vector,
        *,
        qid: Any = None,
        sample_weight: Vector | None = None,
        observed: NDArray[np.bool_] | None = None,
    ) -> float:
        given = {"sample_weight": sample_weight, "observed": observed}
        qid = qid if self._queries is None else self._queries[self._place[-1]]
        found = {metric.name: metric.mean(y_true, y_score, qid, **given) for metric in self._others}
        self._noted[self._place].append(found)
        return self._select.mean(y_true, y_score, qid, **given)[0]

    def per_output(self, model: Any) -> list[dict[str, Vector]]:
        """Return, for each output, the mean and number of queries of each fold for the chosen kernel and alpha."""
        kernel = getattr(model, "kernel_", Linear())
        kernel = None if isinstance(kernel, Linear) else kernel
        folds = [self._noted[kernel, model.alpha_, fold] for fold in range(model.scores_.shape[1])]
        return [
            {name: np.array([each[name] for each in of_folds]) for name in of_folds[0]}
            for of_folds in zip(*folds, strict=True)
        ]
