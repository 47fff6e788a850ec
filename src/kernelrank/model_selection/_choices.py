"""Parameters that an estimator chooses: anew for whatever is held out, or once."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from kernelrank.estimators import RLS, RLSCV, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.model_selection._rows import Sample

_PLAIN = {RankRLSCV: RankRLS, RLSCV: RLS, RankSVMCV: RankSVM}
_ROWS_IN_INNER_PAIRS = 150  # at most: all pairs are held out inside of all pairs
_INNER_FOLDS = 10


def settle(estimator: Any, sample: Sample, *, nested: bool, pairs: bool) -> Any:
    """Return the estimator to be held out with: one that still chooses if `nested`, one that has chosen if not."""
    if nested:
        if pairs and isinstance(estimator, RankRLSCV) and estimator.cv is None and sample.n_rows > _ROWS_IN_INNER_PAIRS:
            return clone(estimator).set_params(cv=_INNER_FOLDS)
        return estimator
    model = clone(estimator).fit(sample.X, sample.y, **sample.params)
    if hasattr(model, "best_estimator_"):
        return clone(model.best_estimator_)
    for chooser, plain in _PLAIN.items():
        if isinstance(model, chooser):
            names, given = plain().get_params(deep=False), model.get_params(deep=False)
            chosen = {"alpha": model.alpha_, "kernel": getattr(model, "kernel_", model.kernel)}
            return plain(**{name: chosen.get(name, given.get(name, names[name])) for name in names})
    return estimator
