"""Fitted models and pipelines in the form that all exports start from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernelrank._arrays import like, to_host
from kernelrank._memory import require_memory
from kernelrank._rules import NAMES, show
from kernelrank.estimators import (
    RLS,
    RLSCV,
    GreedyRankRLS,
    GreedyRLS,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
)
from kernelrank.exceptions import InvalidParameterError
from kernelrank.export._form import Column, Expansion, Feature, Form, Linear, Matrix
from kernelrank.export._steps import encode, finish
from kernelrank.features import NystromMap
from kernelrank.kernels import Kernel

_SCORERS = (RLS, RLSCV, GreedyRankRLS, GreedyRLS, RankRLS, RankRLSCV, RankSVM, RankSVMCV)


def describe(model: Any, target: str, feature_names: Any = None) -> Form:
    """Return the form of a fitted model or pipeline.

    Parameters
    ----------
    model : estimator or Pipeline
    target : str
        Name of the format, for errors.
    feature_names : list of str, optional
        Names of the columns that the model was fitted to, by default those of the data frame.
    """
    steps = model.steps if isinstance(model, Pipeline) else [("model", model)]
    last = steps[-1][1]
    if not isinstance(last, _SCORERS):
        named = ", ".join(sorted(kind.__name__ for kind in _SCORERS))
        hint = " Pass its best_estimator_." if hasattr(last, "best_estimator_") else ""
        raise InvalidParameterError(
            f"model cannot be exported to {target}: it must be one of {named}, or a Pipeline that ends in one of them,"
            f" got {show(last) if not hasattr(last, 'fit') else type(last).__name__}.{hint}"
        )
    check_is_fitted(model)
    first = next(step for _, step in steps if hasattr(step, "n_features_in_"))  # the others pass their input on
    n_columns = int(first.n_features_in_)
    features: list[Feature] = [Column(column) for column in range(n_columns)]
    nystrom = None
    for name, step in steps[:-1]:
        if nystrom is not None:
            raise InvalidParameterError(
                f"The step {name!r} ({type(step).__name__}) cannot be exported after a NystromMap."
            )
        if isinstance(step, NystromMap):
            nystrom = step
        else:
            features = encode(step, name, features)
    scorer, single = _scorer(last, nystrom, target)
    encoded = finish(features)
    n_encoded = scorer.weights.shape[0] if isinstance(scorer, Linear) else scorer.basis.shape[1]
    assert len(encoded) == n_encoded, (len(encoded), n_encoded)
    fitted = [str(name) for name in first.feature_names_in_] if hasattr(first, "feature_names_in_") else None
    names = fitted if feature_names is None else _check_names(feature_names, n_columns)
    return Form(type(last).__name__, n_columns, names, fitted, encoded, scorer, single)


def _scorer(model: Any, nystrom: NystromMap | None, target: str) -> tuple[Linear | Expansion, bool]:
    """Return how encoded features become scores, and whether there is a single output."""
    is_linear = "dual_coef_" not in vars(model)
    found = np.asarray(to_host(model.coef_ if is_linear else model.dual_coef_), np.float64)
    single = found.ndim == 1
    weights = found[:, None] if single else found.T if is_linear else found
    offset = np.atleast_1d(np.asarray(to_host(getattr(model, "intercept_", 0.0)), np.float64))
    offset = np.broadcast_to(offset, weights.shape[1:])
    if not (np.isfinite(weights).all() and np.isfinite(offset).all()):
        raise ValueError(f"model cannot be exported to {target}: some of its coefficients are NaN or infinite.")
    if not is_linear:
        if nystrom is not None:
            raise InvalidParameterError(
                f"model cannot be exported to {target}: its kernel is one of the features of a NystromMap."
            )
        return Expansion(model.kernel_, _basis(model, target), weights, offset), single
    if nystrom is not None:
        combined = to_host(nystrom.coefficients(like(weights, nystrom.whitening_)))
        return Expansion(nystrom.kernel_, _basis(nystrom, target), np.asarray(combined), offset), single
    return Linear(weights, offset), single


def _basis(model: Any, target: str) -> Matrix:
    kernel: Kernel = model.kernel_
    if not hasattr(model, "basis_"):
        raise InvalidParameterError(
            f"The kernel {type(kernel).__name__} cannot be exported to {target}: the model has no basis rows, because"
            " its kernel matrix was given. Fit it with a kernel of kernelrank.kernels."
        )
    basis = to_host(model.basis_)
    if sp.issparse(basis):
        require_memory(8.0 * basis.shape[0] * basis.shape[1], "The basis as a dense matrix", "Use a smaller n_basis.")
        basis = basis.toarray()
    return np.asarray(basis, np.float64)


def _check_names(names: Any, n_columns: int) -> list[str]:
    """Return names of all columns, after checking that there is a different one for each."""
    NAMES("feature_names", names)
    found: Sequence[Any] = list(names)
    if not all(isinstance(name, str) and name for name in found):
        raise ValueError(f"feature_names must be non-empty strings, got {show(found)}.")
    if len(found) != n_columns:
        raise ValueError(f"feature_names has {len(found)} names, but the model was fitted to {n_columns} columns.")
    repeated = sorted({name for name in found if found.count(name) > 1}) if len(set(found)) < len(found) else []
    if repeated:
        raise ValueError(f"feature_names must be distinct, but {show(repeated[0])} is repeated.")
    return [str(name) for name in found]
