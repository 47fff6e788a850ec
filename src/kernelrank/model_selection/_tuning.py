"""Parameters that an estimator chooses: anew for whatever is held out, or once."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from kernelrank.estimators import RLS, RLSCV, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.model_selection._sample import Sample

_PLAIN = {RankRLSCV: RankRLS, RLSCV: RLS, RankSVMCV: RankSVM}
_ROWS_IN_INNER_PAIRS = 150  # at most: all pairs are held out inside of all pairs
_INNER_FOLDS = 10


def prepare_estimator(estimator: Any, sample: Sample, *, nested: bool, pairs: bool) -> Any:
    """Return the estimator to be held out with: one that still chooses if `nested`, one that has chosen if not."""
    if not nested:
        return _chosen(clone(estimator).fit(sample.X, sample.y, **sample.params))
    last = estimator
    while hasattr(last, "steps"):
        last = last.steps[-1][1]
    if pairs and isinstance(last, RankRLSCV) and last.cv is None and sample.n_rows > _ROWS_IN_INNER_PAIRS:
        return _replace_last(estimator, clone(last).set_params(cv=_INNER_FOLDS))
    return estimator


def _chosen(model: Any) -> Any:
    """Return an estimator that has what a fitted one has chosen, and chooses no more."""
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
        f"nested=False is for what chooses parameters: {known}, a search of scikit-learn, or a pipeline that ends with"
        f" one. {type(model).__name__} is none of these."
    )


def _replace_last(estimator: Any, last: Any) -> Any:
    """Return an unfitted copy with another last step, if it is a pipeline; that step, if not."""
    if not hasattr(estimator, "steps"):
        return last
    name, step = estimator.steps[-1]
    return clone(estimator).set_params(**{name: _replace_last(step, last)})
