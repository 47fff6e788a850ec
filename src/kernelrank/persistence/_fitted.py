"""What a fitted model of each class has: names, types and shapes, checked before anything is written or used."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._arrays import without_empty_columns
from kernelrank.estimators import (
    RLS,
    RLSCV,
    GreedyRankRLS,
    GreedyRLS,
    OrdinalSVM,
    RankingClassifier,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
)
from kernelrank.exceptions import ModelFormatError
from kernelrank.kernels import Kernel, Linear, Precomputed

# Classes that can be saved, and the attributes without which they cannot predict or score, besides the weights, which
# depend on the kernel. A file can name no other class.
_COMMON = ("n_features_in_", "_fitted_with_queries")
_LEAST_SQUARES = ("kernel_", "intercept_", "_single", *_COMMON)
_GREEDY = ("selected_", "support_", "intercept_", "_single", *_COMMON)
ESTIMATORS: dict[type, tuple[str, ...]] = {
    RankSVM: _COMMON,
    RankSVMCV: _COMMON,
    RLS: _LEAST_SQUARES,
    RLSCV: _LEAST_SQUARES,
    RankRLS: _LEAST_SQUARES,
    RankRLSCV: _LEAST_SQUARES,
    GreedyRLS: _GREEDY,
    GreedyRankRLS: _GREEDY,
    OrdinalSVM: ("classes_", "thresholds_", "n_features_in_"),
    RankingClassifier: ("classes_", "thresholds_", "ranker_"),
}
# What is a model itself: a parameter, which is not fitted, and an attribute, which is. It is of any other class.
INNER: dict[type, tuple[str, ...]] = {RankingClassifier: ("ranker", "ranker_")}

# Attributes that belong to a fit although they do not end in an underscore. The training data are not among them.
_PRIVATE = ("_fitted_with_queries", "_single")

# What is known about attributes, where they are there: the type of a value, or that of an array and its lengths. The
# axis n_outputs is missing in a model of one output.
_TYPES: dict[str, type] = {
    "n_features_in_": Integral,
    "n_iter_": Integral,
    "n_pairs_": Real,
    "objective_": Real,
    "gap_": Real,
    "alpha_": Real,
    "kernel_": Kernel,
    "_fitted_with_queries": bool,
    "_single": bool,
}
_ARRAYS: dict[str, tuple[type, tuple[str, ...]]] = {
    "coef_": (np.float64, ("n_outputs", "n_features_in_")),
    "intercept_": (np.float64, ("n_outputs",)),
    "dual_coef_": (np.float64, ("n_basis", "n_outputs")),
    "basis_": (np.floating, ("n_basis", "n_features_in_")),
    "basis_indices_": (np.integer, ("n_drawn",)),
    "selected_": (np.integer, ("n_selected",)),
    "errors_": (np.float64, ("n_selected",)),
    "support_": (np.bool_, ("n_features_in_",)),
    "feature_names_in_": (np.object_, ("n_features_in_",)),
    "thresholds_": (np.float64, ("n_thresholds",)),
    "classes_": (np.generic, ("n_classes",)),
    "history_": (np.void, ("n_iter_",)),
    "alphas_": (np.float64, ("n_alphas",)),
    "gaps_": (np.float64, ("n_alphas",)),
    "scores_": (np.float64, ("n_alphas", "n_folds")),
    "kernel_scores_": (np.float64, ("n_kernels",)),
    "coef_path_": (np.float64, ("n_alphas", "n_weights")),
}
_SPARSE = ("basis_",)  # what may be a sparse matrix as well
_WEIGHTS = ("coef_", "dual_coef_", "intercept_")


def by_name() -> dict[str, type]:
    """Return the classes by their names."""
    return {kind.__name__: kind for kind in ESTIMATORS}


def is_fitted_attribute(name: str) -> bool:
    """Whether an attribute of this name belongs to a fit."""
    return name in _PRIVATE or (name.endswith("_") and not name.startswith("_"))


def check_fitted(kind: type, fitted: dict[str, Any]) -> None:
    """Raise unless all attributes that a class needs are there, and all that are known agree with each other."""
    for name in _needed(kind, fitted):
        if name not in fitted:
            raise ModelFormatError(f"the attribute {name} is missing")
    for name, of in _TYPES.items():
        value = fitted.get(name)
        if name in fitted and (not isinstance(value, of) or isinstance(value, bool) != (of is bool)):
            raise ModelFormatError(f"{name} is of type {type(value).__name__}, which is no {of.__name__}")
    lengths: dict[str, int] = {name: fitted[name] for name in ("n_features_in_", "n_iter_") if name in fitted}
    same = {"n_weights": "n_features_in_" if "coef_" in fitted else "n_basis"}
    if isinstance(fitted.get("kernel_"), Precomputed):  # the columns of its matrix stand for the basis
        same["n_basis"] = same["n_weights"] = "n_features_in_"
    for name, (number, axes) in _ARRAYS.items():
        if name in fitted:
            present = [axis for axis in axes if axis != "n_outputs" or not fitted.get("_single", True)]
            _check_array(name, fitted[name], number, [same.get(axis, axis) for axis in present], lengths)
    if "thresholds_" in ESTIMATORS[kind]:
        _check_thresholds(fitted["thresholds_"], len(fitted["classes_"]))
        if len(np.unique(fitted["classes_"])) != len(fitted["classes_"]):
            raise ModelFormatError("classes_ has a class twice")
    if kind is RankingClassifier and not (
        type(fitted["ranker_"]) in ESTIMATORS and getattr(fitted["ranker_"], "_single", True)
    ):
        raise ModelFormatError("ranker_ is no model of one output")


def _check_thresholds(thresholds: NDArray[np.float64], n_classes: int) -> None:
    if len(thresholds) != n_classes - 1:
        raise ModelFormatError(f"{n_classes} classes have {n_classes - 1} thresholds, but there are {len(thresholds)}")
    if np.isnan(thresholds).any() or (thresholds[1:] < thresholds[:-1]).any():
        raise ModelFormatError("thresholds_ are no numbers that never fall")


def _needed(kind: type, fitted: dict[str, Any]) -> tuple[str, ...]:
    """Name what a model cannot predict without: weights of features, or of a basis."""
    names = ESTIMATORS[kind]
    if kind is RankingClassifier:  # its ranker has weights
        return names
    match fitted.get("kernel_", Linear()):
        case Linear():
            return (*names, "coef_")
        case Precomputed():
            return (*names, "dual_coef_")
    return (*names, "dual_coef_", "basis_")


def _check_array(name: str, value: Any, number: type, axes: Sequence[str], lengths: dict[str, int]) -> None:
    if not axes:
        if not isinstance(value, Real) or isinstance(value, bool):
            raise ModelFormatError(f"{name} is of type {type(value).__name__}, which is no Real")
        return
    known = isinstance(value, np.ndarray) or (name in _SPARSE and sp.issparse(value))
    if not known or not issubclass(value.dtype.type, number) or value.ndim != len(axes):
        raise ModelFormatError(f"{name} is no array of {number.__name__} with {len(axes)} dimensions")
    if name in _WEIGHTS and not np.isfinite(value).all():
        raise ModelFormatError(f"{name} has elements that are no finite numbers")
    for axis, length in zip(axes, value.shape, strict=True):
        # The first array with an axis says how long it is, unless a number does.
        if length != lengths.setdefault(axis, length):
            raise ModelFormatError(f"{name} has shape {value.shape}, but {axis} is {lengths[axis]}")


def check_kernel(model: Any) -> None:
    """Raise unless a model can compute its kernel: of one row with its basis, in little memory."""
    if "basis_" not in _needed(type(model), vars(model)):
        return
    basis = model.basis_
    if sp.issparse(basis):  # scikit-learn's kernels take memory for empty columns as well
        (basis,) = without_empty_columns(basis.tocsr())
    try:
        with np.errstate(all="ignore"):
            model.kernel_(basis[:1, :], basis)
    except (ArithmeticError, TypeError, ValueError) as reason:
        raise ModelFormatError(f"its kernel {model.kernel_!r} cannot be computed ({reason})") from reason
