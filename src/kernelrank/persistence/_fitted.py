"""Attributes of fitted models of each class: names, types and shapes, checked before a model is written or used."""

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
    MaxMarginClustering,
    OrdinalSVM,
    RankingClassifier,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
)
from kernelrank.exceptions import ModelFormatError
from kernelrank.kernels import Kernel, Linear, Precomputed
from kernelrank.model_selection import FScoreClassifier
from kernelrank.persistence._kinds import ArrayOf, require
from kernelrank.relational import KroneckerRLS, KroneckerRLSCV, TwoStepRLS

# Classes that can be saved, and the attributes that are required to predict or score, besides the weights, which depend
# on the kernel. A file cannot name another class.
_COMMON = ("n_features_in_", "_fitted_with_queries")
_LEAST_SQUARES = ("kernel_", "intercept_", "_single", *_COMMON)
_GREEDY = ("selected_", "support_", "intercept_", "_single", *_COMMON)
_SIDES = ("row", "column")
_RELATIONAL = (
    *(f"{side}_{name}_" for side in _SIDES for name in ("coef", "kernel")),
    *("n_row_features_in_", "n_column_features_in_", "coef_", "intercept_"),
)
ESTIMATORS: dict[type, tuple[str, ...]] = {
    RankSVM: _COMMON,
    RankSVMCV: _COMMON,
    RLS: _LEAST_SQUARES,
    RLSCV: _LEAST_SQUARES,
    RankRLS: _LEAST_SQUARES,
    RankRLSCV: _LEAST_SQUARES,
    GreedyRLS: _GREEDY,
    GreedyRankRLS: _GREEDY,
    MaxMarginClustering: ("labels_", *_LEAST_SQUARES),
    OrdinalSVM: ("classes_", "thresholds_", "n_features_in_"),
    RankingClassifier: ("classes_", "thresholds_", "ranker_"),
    FScoreClassifier: ("classes_", "threshold_", "f_score_", "estimator_"),
    KroneckerRLS: _RELATIONAL,
    KroneckerRLSCV: _RELATIONAL,
    TwoStepRLS: _RELATIONAL,
}
# Nested models: an unfitted parameter and a fitted attribute.
INNER: dict[type, tuple[str, str]] = {
    RankingClassifier: ("ranker", "ranker_"),
    FScoreClassifier: ("estimator", "estimator_"),
}

# Attributes of a fit whose names do not end in an underscore. The training data are not included.
PRIVATE = ("_fitted_with_queries", "_fitted_with_censored", "_single")

# Known optional attributes: the type of a value, or the type and axes of an array. The axis n_outputs is absent in a
# model with one output.
_TYPES: dict[str, type] = {
    "n_features_in_": Integral,
    "n_row_features_in_": Integral,
    "n_column_features_in_": Integral,
    "n_iter_": Integral,
    "n_pairs_": Real,
    "objective_": Real,
    "gap_": Real,
    "residual_": Real,
    "alpha_": Real,
    "f_score_": Real,
    "threshold_": Real,
    "kernel_": Kernel,
    "row_kernel_": Kernel,
    "column_kernel_": Kernel,
    "_fitted_with_queries": bool,
    "_fitted_with_censored": bool,
    "_single": bool,
}
_ARRAYS: dict[str, tuple[type, tuple[str, ...]]] = {
    "coef_": (np.float64, ("n_outputs", "n_features_in_")),
    "intercept_": (np.float64, ("n_outputs",)),
    "dual_coef_": (np.float64, ("n_basis", "n_outputs")),
    "basis_": (np.floating, ("n_basis", "n_features_in_")),
    "basis_indices_": (np.integer, ("n_drawn",)),
    "selected_": (np.integer, ("n_selected",)),
    "labels_": (np.integer, ("n_samples",)),
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
# Those of models of relational data, whose functions are features, or kernels with a basis.
_ARRAYS_OF_SIDES: dict[str, tuple[type, tuple[str, ...]]] = {
    "coef_": (np.float64, ("n_row_functions", "n_column_functions")),
    "row_coef_": (np.float64, ("n_row_functions",)),
    "column_coef_": (np.float64, ("n_column_functions",)),
    "row_basis_": (np.floating, ("n_row_functions", "n_row_features_in_")),
    "column_basis_": (np.floating, ("n_column_functions", "n_column_features_in_")),
    "row_feature_names_in_": (np.object_, ("n_row_features_in_",)),
    "column_feature_names_in_": (np.object_, ("n_column_features_in_",)),
    "held_out_": (np.float64, ("n_rows", "n_columns")),
}
_SPARSE = ("basis_", "row_basis_", "column_basis_")  # attributes that may be sparse matrices
_WEIGHTS = ("coef_", "dual_coef_", "row_coef_", "column_coef_", "intercept_")


def check_fitted(kind: type, fitted: dict[str, Any]) -> None:
    """Raise an error unless all required attributes are present and all known attributes are consistent."""
    for name in _required_attributes(kind, fitted):
        if name not in fitted:
            raise ModelFormatError(f"the attribute {name} is missing")
    for name, of in _TYPES.items():
        value = fitted.get(name)
        if name in fitted and (not isinstance(value, of) or isinstance(value, bool) != (of is bool)):
            raise ModelFormatError(f"{name} is of type {type(value).__name__}, expected {of.__name__}")
    lengths: dict[str, int] = {name: fitted[name] for name, of in _TYPES.items() if name in fitted and of is Integral}
    same = {"n_weights": "n_features_in_" if "coef_" in fitted else "n_basis"}
    for side in _SIDES:
        if f"{side}_basis_" not in fitted:  # features, or given kernels, are the functions
            same[f"n_{side}_functions"] = f"n_{side}_features_in_"
    if isinstance(fitted.get("kernel_"), Precomputed):  # the columns of its matrix are the basis
        same["n_basis"] = same["n_weights"] = "n_features_in_"
    for name, (number, axes) in (_ARRAYS | (_ARRAYS_OF_SIDES if _is_relational(kind) else {})).items():
        if name in fitted:
            present = [axis for axis in axes if axis != "n_outputs" or not fitted.get("_single", True)]
            _check_array(name, fitted[name], number, [same.get(axis, axis) for axis in present], lengths)
    if "classes_" in ESTIMATORS[kind]:
        thresholds = fitted["thresholds_"] if "thresholds_" in fitted else np.array([fitted["threshold_"]], dtype=float)
        _check_thresholds(thresholds, len(fitted["classes_"]))
        if len(np.unique(fitted["classes_"])) != len(fitted["classes_"]):
            raise ModelFormatError("classes_ has duplicates")
    if kind in INNER:
        _, attribute = INNER[kind]
        require(_gives_scores(fitted[attribute]), f"{attribute} is not a model with one output")


def _gives_scores(model: Any) -> bool:
    """Return whether a model, or the last step of a pipeline, gives one score per row."""
    while hasattr(model, "steps"):
        model = model.steps[-1][1]
    return type(model) in ESTIMATORS and not _is_relational(type(model)) and getattr(model, "_single", True)


def _check_thresholds(thresholds: NDArray[np.float64], n_classes: int) -> None:
    if len(thresholds) != n_classes - 1:
        raise ModelFormatError(f"{n_classes} classes require {n_classes - 1} thresholds, got {len(thresholds)}")
    if np.isnan(thresholds).any() or (thresholds[1:] < thresholds[:-1]).any():
        raise ModelFormatError("thresholds_ must be non-decreasing numbers")


def _is_relational(kind: type) -> bool:
    return ESTIMATORS[kind] is _RELATIONAL


def _required_attributes(kind: type, fitted: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of the attributes required to predict: weights of features or of a basis."""
    names = ESTIMATORS[kind]
    if _is_relational(kind):
        kernels = {f"{side}_basis_": fitted.get(f"{side}_kernel_", Linear()) for side in _SIDES}
        return (*names, *(name for name, kernel in kernels.items() if not isinstance(kernel, Linear | Precomputed)))
    if kind in INNER:  # the weights belong to the nested model
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
            raise ModelFormatError(f"{name} is of type {type(value).__name__}, expected Real")
        return
    ArrayOf(number, tuple(axes), sparse=name in _SPARSE, finite=name in _WEIGHTS)(name, value, lengths)


def check_kernel(model: Any, fitted: dict[str, Any]) -> None:
    """Raise an error unless a model can compute its kernels."""
    required = _required_attributes(type(model), fitted)
    for name in _SPARSE:
        if name in required:
            check_kernel_of(fitted[name.replace("basis", "kernel")], fitted[name])


def check_kernel_of(kernel: Kernel, basis: Any) -> None:
    """Raise an error unless a kernel can be computed, for one row against the basis and in little memory."""
    if sp.issparse(basis):  # scikit-learn's kernels allocate memory for empty columns as well
        (basis,) = without_empty_columns(basis.tocsr())
    try:
        with np.errstate(all="ignore"):
            kernel(basis[:1, :], basis)
    except (ArithmeticError, TypeError, ValueError) as reason:
        raise ModelFormatError(f"the kernel {kernel!r} cannot be computed ({reason})") from reason
