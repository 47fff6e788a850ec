"""Work of estimates that refit a model: the number of its fits and their time, known before they begin."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import joblib
from sklearn.base import clone

from kernelrank._progress import duration
from kernelrank._warnings import record
from kernelrank.model_selection._cross_validation import CrossValidation
from kernelrank.model_selection._held_out import has_closed_forms
from kernelrank.model_selection._sample import Sample

_FEW = 20  # fits, of which one more would be a considerable part
_TIMED, _ENOUGH = 3, 0.1  # fits, and seconds of one, after which no more are timed


@dataclass(frozen=True)
class Work:
    """Fits of several estimates.

    Attributes
    ----------
    n_estimates : int
        Number of estimates.
    n_fits : int
        Number of fits of each estimate.
    name : str
        Class of the estimator.
    seconds : float
        Expected time of one estimate on one core.
    """

    n_estimates: int
    n_fits: int
    name: str
    seconds: float

    def total_seconds(self, n_jobs: int | None) -> float:
        """Return the expected time of all estimates."""
        return self.n_estimates * self.seconds / int(joblib.effective_n_jobs(n_jobs))

    def describe(self, n_jobs: int | None) -> str:
        """Return the number of fits, and the expected time."""
        fits = f"{self.n_fits:,} fits of {self.name}"
        if self.n_estimates > 1:
            total = self.n_estimates * self.n_fits
            fits = f"{self.n_estimates:,} estimates of {fits} each, {total:,} in total"
        return f"{fits}, about {duration(self.total_seconds(n_jobs))}"


def expect_work(validation: CrossValidation, estimator: Any, sample: Sample, n_estimates: int) -> Work | None:
    """Count the fits of estimates, and time one of them; None if there are few, or if their number is not known."""
    if not validation.nested or has_closed_forms(estimator):
        return None
    n_fits = validation.count_fits(sample)
    if n_fits * n_estimates < _FEW:
        return None
    prepared, fastest = validation.prepare(estimator, sample), float("inf")
    for _ in range(_TIMED):
        model, began = clone(prepared), time.perf_counter()
        record(_fit, model, sample)  # warnings are those of the fits that follow
        fastest = min(fastest, time.perf_counter() - began)
        if fastest > _ENOUGH:
            break
    return Work(n_estimates, n_fits, type(estimator).__name__, n_fits * fastest)


def _fit(model: Any, sample: Sample) -> None:
    model.fit(sample.X, sample.y, **sample.params)
