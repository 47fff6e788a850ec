"""Models to fit again to parts of the rows."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from kernelrank.estimators import RLS, RLSCV, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank.kernels import Linear
from kernelrank.persistence._fitted import INNER

_SINGLE: dict[type, type] = {RankSVMCV: RankSVM, RankRLSCV: RankRLS, RLSCV: RLS}


def without_search(model: Any) -> Any:
    """Return an unfitted model with the parameters that the cross-validation of a fitted one chose.

    Small training sets may have fewer queries than that cross-validation has folds, and its fits take long.
    """
    if hasattr(model, "best_estimator_"):
        return without_search(model.best_estimator_)
    if hasattr(model, "steps"):
        name, last = model.steps[-1]
        return clone(model).set_params(**{name: without_search(last)})
    if type(model) in INNER:
        parameter, attribute = INNER[type(model)]
        return clone(model).set_params(**{parameter: without_search(getattr(model, attribute))})
    single = _SINGLE.get(type(model))
    if single is None:
        return clone(model)
    found = single(alpha=model.alpha_)
    given = {**model.get_params(deep=False), "kernel": getattr(model, "kernel_", "linear"), "verbose": 0}
    if isinstance(given["kernel"], Linear):  # perhaps one of several kernels, of which others have a basis
        given["n_basis"] = None
    return found.set_params(**{name: given[name] for name in found.get_params(deep=False) if name in given})
