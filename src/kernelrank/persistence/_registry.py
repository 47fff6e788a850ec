"""Closed list of the classes that a model file may name: importing this module completes it."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from kernelrank._rules import FLAG, NONE, choice, whole
from kernelrank.exceptions import ModelFormatError
from kernelrank.features import NystromMap
from kernelrank.kernels import AllPaths, Precomputed
from kernelrank.persistence import _compositions, _encoders, _transformers  # each adds its classes
from kernelrank.persistence._fitted import ESTIMATORS, INNER, PRIVATE, check_fitted, check_kernel, check_kernel_of
from kernelrank.persistence._kinds import KINDS, SIZE, ArrayOf, Kind, register, require
from kernelrank.persistence._transformers import NAMES_IN, as_many_as_in, names_fit
from kernelrank.pipelines import QueryScaler

__all__ = ["KINDS", "_compositions", "_encoders"]


# Rankers and classifiers of kernelrank


def _check_estimator(kind: type, model: BaseEstimator, fitted: dict[str, Any]) -> None:
    check_fitted(kind, fitted)
    check_kernel(model, fitted)


def _n_selected(model: Any) -> int:
    return int(model.support_.sum())


for _kind in ESTIMATORS:
    _parameter, _attribute = INNER.get(_kind, (None, None))
    register(
        Kind(
            _kind,
            parameters={} if _parameter is None else {_parameter: NONE | _transformers.MODEL},
            check=partial(_check_estimator, _kind),
            n_out=_n_selected if "support_" in ESTIMATORS[_kind] else None,
            inner=() if _parameter is None else (_parameter,),
            inner_fitted=() if _attribute is None else (_attribute,),
            private=PRIVATE,
            strict=False,
        )
    )


# Features of kernelrank


def _check_nystrom(model: Any, fitted: dict[str, Any]) -> None:
    names_fit(model, fitted)
    require(np.isfinite(fitted["_removed"]).all(), "_removed has elements that are not finite")
    indices, n_rows = fitted["basis_indices_"], fitted["_n_rows"]
    require(bool(((indices >= 0) & (indices < n_rows)).all()), f"basis_indices_ are not indices of {n_rows} rows")
    if isinstance(fitted["kernel_"], Precomputed):
        require(n_rows == fitted["n_features_in_"], "a given kernel must have a column for each row of the fit")
    elif "basis_" not in fitted:
        raise ModelFormatError("the attribute basis_ of NystromMap is missing")
    else:
        check_kernel_of(fitted["kernel_"], fitted["basis_"])


register(
    Kind(
        NystromMap,
        attributes={
            "n_features_in_": SIZE,
            "feature_names_in_": NAMES_IN,
            "kernel_": _transformers.KERNEL,
            "basis_": ArrayOf(np.floating, ("n_basis", "n_features_in_"), sparse=True),
            "basis_indices_": ArrayOf(np.integer, ("n_basis",)),
            "whitening_": ArrayOf(np.floating, ("n_basis", "n_components"), finite=True),
            "_n_rows": SIZE,
            "_gone": ArrayOf(np.bool_, ("n_basis",)),
            "_removed": ArrayOf(np.floating, ("n_components", "n_removed")),
        },
        optional=("feature_names_in_", "basis_"),
        check=_check_nystrom,
        n_out=lambda model: int(model.n_components_),
    )
)


register(
    Kind(
        QueryScaler,
        attributes={"n_features_in_": SIZE, "feature_names_in_": NAMES_IN},
        optional=("feature_names_in_",),
        check=names_fit,
        n_out=as_many_as_in,
    )
)


def _check_paths(model: Any, fitted: dict[str, Any]) -> None:
    labels, pairs = fitted["labels_"].tolist(), fitted["pairs_"]
    require(all(a < b for a, b in itertools.pairwise(labels)), "labels_ is not sorted")
    require(bool(((pairs >= 0) & (pairs < len(labels))).all()), "pairs_ are not indices of labels_")
    keys = pairs @ np.array([max(len(labels), 1), 1])
    require(bool((keys[1:] > keys[:-1]).all()), "pairs_ is not sorted")


register(
    Kind(
        AllPaths,
        parameters={
            "combine": choice("sum", "max"),
            "max_length": NONE | whole(1, np.inf),
            "normalized": FLAG,
        },
        attributes={
            "labels_": ArrayOf(np.object_, ("n_labels",)),
            "pairs_": ArrayOf(np.integer, ("n_pairs", "two")),
        },
        check=_check_paths,
        n_out=lambda model: len(model.pairs_),
    )
)
