"""Estimators that choose their own parameters: again for each training set (nested), or once."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from kernelrank.estimators import RLS, RLSCV, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.model_selection._sample import Sample

_PLAIN = {RankRLSCV: RankRLS, RLSCV: RLS, RankSVMCV: RankSVM}
_ROWS_IN_INNER_PAIRS = 150  # at most: each held-out pair takes a leave-pair-out of its own
_INNER_FOLDS = 10


def prepare_estimator(estimator: Any, sample: Sample, *, nested: bool, pairs: bool) -> Any:
    """Return the estimator to fit to training sets.

    If `nested`, it chooses its parameters for each training set. If not, it has those chosen once from all rows.
    `pairs` says that pairs of rows are held out.
    """
    if not nested:
        return _chosen(clone(estimator).fit(sample.X, sample.y, **sample.params))
    last = estimator
    while hasattr(last, "steps"):
        last = last.steps[-1][1]
    if pairs and isinstance(last, RankRLSCV) and last.cv is None and sample.n_rows > _ROWS_IN_INNER_PAIRS:
        return _replace_last(estimator, clone(last).set_params(cv=_INNER_FOLDS))
    return estimator


def _chosen(model: Any) -> Any:
    """Return an unfitted estimator with fixed parameters, those that a fitted one has chosen."""
    if hasattr(model, "steps"):
        return _replace_last(model, _chosen(model.steps[-1][1]))
    if hasattr(model, "best_estimator_"):
        return clone(model.best_estimator_)
    for chooser, plain in _PLAIN.items():
        if isinstance(model, chooser):
            names, given = plain().get_params(deep=False), model.get_params(deep=False)
            chosen = {"alpha": model.alpha_, "kernel": getattr(model, "kernel_", model.kernel)}
            return plain(**{name: chosen.get(name, given.get(name, names[name])) for name in names})
    known = ", ".join(chooser.__name__ for chooser in _PLAIN)
    raise ValueError(
        f"nested=False takes an estimator that chooses its parameters: {known}, a search of scikit-learn, or a pipeline"
        f" that ends with one. Got {type(model).__name__}."
    )


def _replace_last(estimator: Any, last: Any) -> Any:
    """Return an unfitted copy of a pipeline with another last step; otherwise, that step."""
    if not hasattr(estimator, "steps"):
        return last
    name, step = estimator.steps[-1]
    return clone(estimator).set_params(**{name: _replace_last(step, last)})
