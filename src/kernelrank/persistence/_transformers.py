"""Transformers of numbers that can be saved, with the conditions on what their ``transform`` reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectFromModel, SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from kernelrank._rules import COUNT, FLAG, NONE, NUMBER, Rule, choice, number, whole
from kernelrank.exceptions import ModelFormatError
from kernelrank.kernels import Kernel
from kernelrank.persistence._kinds import KINDS, SIZE, ArrayOf, Kind, is_fitted, register, require

_MOST_COLUMNS = 1 << 31  # of polynomials: more are not meant, and their number takes long to compute

PER_COLUMN = ArrayOf(np.floating, ("n_features_in_",))
MAYBE_PER_COLUMN = ArrayOf(np.floating, ("n_features_in_",), optional=True)
NAMES_IN = Rule(
    "an array of strings",
    lambda value: isinstance(value, np.ndarray) and value.ndim == 1 and all(type(each) is str for each in value),
)
SEEN = number("a number", lambda value: value >= 0) | Rule(
    "an array of numbers", lambda value: isinstance(value, np.ndarray) and value.dtype.kind in "iuf"
)
_INPUT: dict[str, ArrayOf | Rule] = {"n_features_in_": SIZE, "feature_names_in_": NAMES_IN}
MODEL = Rule("a model", lambda value: type(value) in KINDS)
KERNEL = Rule("a kernel", lambda value: isinstance(value, Kernel))
_PAIR = Rule(
    "two numbers",
    lambda value: type(value) in (tuple, list) and len(value) == 2 and all(NUMBER.accepts(each) for each in value),
)


def names_fit(model: Any, fitted: dict[str, Any]) -> None:
    """Raise an error unless there is a name for each feature, if there are names."""
    names = fitted.get("feature_names_in_")
    if names is not None and len(names) != fitted["n_features_in_"]:
        raise ModelFormatError(f"{len(names)} names of features, but n_features_in_ is {fitted['n_features_in_']}")


def as_many_as_in(model: Any) -> int:
    """Return the number of columns of a transformer that has one for each feature."""
    return int(model.n_features_in_)


def _check_standard(model: Any, fitted: dict[str, Any]) -> None:
    names_fit(model, fitted)
    require(not model.with_mean or fitted["mean_"] is not None, "with_mean is True, but mean_ is None")
    require(not model.with_std or fitted["scale_"] is not None, "with_std is True, but scale_ is None")


def _check_robust(model: Any, fitted: dict[str, Any]) -> None:
    names_fit(model, fitted)
    require(not model.with_centering or fitted["center_"] is not None, "with_centering is True, but center_ is None")
    require(not model.with_scaling or fitted["scale_"] is not None, "with_scaling is True, but scale_ is None")


def _degrees(degree: Any) -> tuple[int, int]:
    lowest, highest = (0, degree) if whole(0).accepts(degree) else degree
    return int(lowest), int(highest)


def _n_terms(n: int, highest: int, interaction_only: bool) -> int:
    """Return the number of products of 1 to `highest` out of n features, at most `_MOST_COLUMNS`."""
    total, term = 0, 1
    for degree in range(1, highest + 1):
        # binomial coefficients of n over degree, or of n + degree - 1 over degree
        term = term * (n - degree + 1 if interaction_only else n + degree - 1) // degree
        total += term
        if term == 0 or total >= _MOST_COLUMNS:
            break
    return min(total, _MOST_COLUMNS)


def _check_polynomial(model: Any, fitted: dict[str, Any]) -> None:
    names_fit(model, fitted)
    lowest, highest = _degrees(model.degree)
    require(
        (fitted["_min_degree"], fitted["_max_degree"]) == (lowest, highest) and lowest <= highest,
        f"the degrees of PolynomialFeatures are not {model.degree}",
    )
    n, only = fitted["n_features_in_"], bool(model.interaction_only)
    full, below = _n_terms(n, highest, only), _n_terms(n, max(lowest - 1, 0), only)
    require(full < _MOST_COLUMNS, f"PolynomialFeatures of {n} features would have {full} columns or more")
    bias = int(model.include_bias)
    require(
        (fitted["_n_out_full"], fitted["n_output_features_"]) == (full + bias, full - below + bias),
        "the number of columns of PolynomialFeatures is wrong",
    )


def _selected(model: Any) -> int:
    return int(model.get_support().sum())


def _check_selector(model: Any, fitted: dict[str, Any]) -> None:
    names_fit(model, fitted)
    with np.errstate(all="ignore"):
        model.get_support()


def _check_from_model(model: Any, fitted: dict[str, Any]) -> None:
    estimator = fitted["estimator_"]
    require(type(estimator) in KINDS and is_fitted(estimator), "estimator_ is not a fitted model")
    require(hasattr(estimator, "coef_"), "estimator_ has no weights of features")
    names = fitted.get("feature_names_in_")
    require(names is None or len(names) == estimator.n_features_in_, "feature_names_in_ is not a name per feature")
    try:
        with np.errstate(all="ignore"):
            model.get_support()
    except (TypeError, ValueError) as reason:
        raise ModelFormatError(f"SelectFromModel cannot select ({reason})") from reason


register(
    Kind(
        StandardScaler,
        parameters={"copy": FLAG, "with_mean": FLAG, "with_std": FLAG},
        attributes={
            **_INPUT,
            "mean_": MAYBE_PER_COLUMN,
            "var_": MAYBE_PER_COLUMN,
            "scale_": MAYBE_PER_COLUMN,
            "n_samples_seen_": SEEN,
        },
        optional=("feature_names_in_",),
        check=_check_standard,
        n_out=as_many_as_in,
    )
)
register(
    Kind(
        MinMaxScaler,
        parameters={"copy": FLAG, "clip": FLAG, "feature_range": _PAIR},
        attributes={
            **_INPUT,
            **dict.fromkeys(("scale_", "min_", "data_min_", "data_max_", "data_range_"), PER_COLUMN),
            "n_samples_seen_": SEEN,
        },
        optional=("feature_names_in_",),
        check=names_fit,
        n_out=as_many_as_in,
    )
)
register(
    Kind(
        MaxAbsScaler,
        parameters={"copy": FLAG},
        of_other_versions={"clip": (False,)},
        attributes={**_INPUT, "scale_": PER_COLUMN, "max_abs_": PER_COLUMN, "n_samples_seen_": SEEN},
        optional=("feature_names_in_",),
        check=names_fit,
        n_out=as_many_as_in,
    )
)
register(
    Kind(
        RobustScaler,
        parameters={"copy": FLAG, "with_centering": FLAG, "with_scaling": FLAG},
        attributes={**_INPUT, "center_": MAYBE_PER_COLUMN, "scale_": MAYBE_PER_COLUMN},
        optional=("feature_names_in_",),
        check=_check_robust,
        n_out=as_many_as_in,
    )
)
register(
    Kind(
        PolynomialFeatures,
        parameters={
            "degree": whole(0)
            | Rule(
                "two integers",
                lambda value: (
                    type(value) in (tuple, list) and len(value) == 2 and all(whole(0).accepts(each) for each in value)
                ),
            ),
            "interaction_only": FLAG,
            "include_bias": FLAG,
            "order": choice("C", "F"),
        },
        attributes={
            **_INPUT,
            **{name: whole(0) for name in ("_min_degree", "_max_degree", "_n_out_full", "n_output_features_")},
        },
        optional=("feature_names_in_",),
        check=_check_polynomial,
        n_out=lambda model: int(model.n_output_features_),
    )
)
register(
    Kind(
        TruncatedSVD,
        attributes={
            **_INPUT,
            "components_": ArrayOf(np.floating, ("n_components", "n_features_in_"), finite=True),
            "explained_variance_": ArrayOf(np.floating, ("n_components",)),
            "explained_variance_ratio_": ArrayOf(np.floating, ("n_components",)),
            "singular_values_": ArrayOf(np.floating, ("n_components",)),
        },
        optional=("feature_names_in_",),
        check=names_fit,
        n_out=lambda model: len(model.components_),
    )
)
register(
    Kind(
        TfidfTransformer,
        parameters={
            "norm": choice("l1", "l2") | NONE,
            "use_idf": FLAG,
            "smooth_idf": FLAG,
            "sublinear_tf": FLAG,
        },
        attributes={**_INPUT, "idf_": PER_COLUMN},
        optional=("feature_names_in_", "idf_"),
        check=names_fit,
        n_out=as_many_as_in,
    )
)
register(
    Kind(
        FunctionTransformer,  # the identity, which a ColumnTransformer makes of "passthrough"
        parameters={
            **dict.fromkeys(("func", "inverse_func", "kw_args", "inv_kw_args"), NONE),
            **dict.fromkeys(("validate", "accept_sparse", "check_inverse"), FLAG),
            "feature_names_out": choice("one-to-one") | NONE,
        },
        attributes=_INPUT,
        optional=("n_features_in_", "feature_names_in_"),
        check=lambda model, fitted: names_fit(model, fitted) if "n_features_in_" in fitted else None,
        n_out=as_many_as_in,
    )
)
_SCORES: dict[str, ArrayOf | Rule] = {
    **_INPUT,
    "scores_": PER_COLUMN,
    "pvalues_": MAYBE_PER_COLUMN,
}
register(
    Kind(
        SelectKBest,
        parameters={"k": choice("all") | whole(0)},
        attributes=_SCORES,
        optional=("feature_names_in_",),
        check=_check_selector,
        n_out=_selected,
    )
)
register(
    Kind(
        SelectPercentile,
        parameters={"percentile": number("a number from 0 to 100", lambda value: 0 <= value <= 100)},
        attributes=_SCORES,
        optional=("feature_names_in_",),
        check=_check_selector,
        n_out=_selected,
    )
)
register(
    Kind(
        VarianceThreshold,
        parameters={"threshold": NUMBER},
        attributes={**_INPUT, "variances_": PER_COLUMN},
        optional=("feature_names_in_",),
        check=_check_selector,
        n_out=_selected,
    )
)
register(
    Kind(
        SelectFromModel,
        parameters={
            "prefit": Rule("False", lambda value: value is False),
            "importance_getter": choice("auto"),
            "max_features": NONE | whole(0),
            "threshold": NONE | NUMBER | Rule("a string", lambda value: isinstance(value, str)),
            "norm_order": COUNT | number("infinity", lambda value: value == np.inf),
        },
        attributes={
            "estimator_": MODEL,
            "max_features_": whole(0),
            "feature_names_in_": NAMES_IN,
        },
        optional=("max_features_", "feature_names_in_"),
        check=_check_from_model,
        n_out=_selected,
        inner=("estimator",),
        inner_fitted=("estimator_",),
    )
)
