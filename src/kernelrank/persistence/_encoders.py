"""Transformers of categories, missing values and texts that can be saved."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from kernelrank._rules import FLAG, NONE, TEXT, Rule, choice, whole
from kernelrank.exceptions import ModelFormatError
from kernelrank.persistence._kinds import SIZE, ArrayOf, Kind, is_fitted, register, require
from kernelrank.persistence._transformers import NAMES_IN, names_fit

_Indices = NDArray[np.integer[Any]]

_ANY = Rule("a value", lambda value: True)
_LIST = Rule("a list", lambda value: type(value) is list)
_NUMERIC = Rule("a type of numbers", lambda value: np.dtype(value).kind in "biuf")
_SCALAR = Rule(
    "a number, a string or None",
    lambda value: value is None or isinstance(value, str | int | float | bool | np.generic),
)
_VALUES = Rule(
    "an array of values",
    lambda value: (
        isinstance(value, np.ndarray) and value.ndim == 1 and (value.dtype.kind != "O" or all(map(_is_value, value)))
    ),
)
_DTYPE = Rule("a type of numbers or object", lambda value: isinstance(value, np.dtype) and value.kind in "iufO")


def _is_value(value: Any) -> bool:
    return _SCALAR.accepts(value)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


# Encoders of categories


def _check_categories(model: Any, fitted: dict[str, Any]) -> None:
    """Raise an error unless each column has different categories, in the order that ``transform`` relies on."""
    names_fit(model, fitted)
    found = fitted["categories_"]
    require(len(found) == fitted["n_features_in_"], "categories_ must have an array for each feature")
    for column, categories in enumerate(found):
        require(_VALUES.accepts(categories) and len(categories) > 0, f"categories_[{column}] is not an array of values")
        known = categories[:-1] if _is_nan(categories[-1]) else categories
        if categories.dtype.kind == "O":
            different = len(set(known.tolist())) == len(known) and not any(map(_is_nan, known))
        else:  # searched by bisection
            different = bool((known[1:] > known[:-1]).all())
        require(different, f"categories_[{column}] has duplicates, or is not sorted")


def _groups(fitted: dict[str, Any], sizes: list[int]) -> list[int]:
    """Check how infrequent categories are grouped; return how many categories and groups there are in each column."""
    if not fitted["_infrequent_enabled"]:
        return sizes
    found, mappings = fitted.get("_infrequent_indices"), fitted.get("_default_to_infrequent_mappings")
    if not (type(found) is type(mappings) is list and len(found) == len(mappings) == len(sizes)):
        raise ModelFormatError("infrequent categories must be a list with an element for each feature")
    counts = []
    for size, rare, mapping in zip(sizes, found, mappings, strict=True):
        require((rare is None) == (mapping is None), "infrequent categories are not mapped")
        counts.append(size)
        if rare is not None:
            require(_are_indices(rare, size) and len(rare) > 0, "infrequent categories are not indices of categories")
            expected = np.full(size, size - len(rare))
            expected[np.setdiff1d(np.arange(size), rare)] = np.arange(size - len(rare))
            require(
                isinstance(mapping, np.ndarray) and mapping.dtype.kind == "i" and np.array_equal(mapping, expected),
                "infrequent categories are mapped to other numbers",
            )
            counts[-1] = size - len(rare) + 1
    return counts


def _are_indices(value: Any, size: int) -> bool:
    """Return whether a value is an array of increasing indices below `size`."""
    if not (isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "i"):
        return False
    return bool((value >= 0).all() and (value < size).all() and (value[1:] > value[:-1]).all())


def _check_one_hot(model: Any, fitted: dict[str, Any]) -> None:
    _check_categories(model, fitted)
    sizes = [len(each) for each in fitted["categories_"]]
    counts = _groups(fitted, sizes)
    dropped, original = fitted["_drop_idx_after_grouping"], fitted["drop_idx_"]
    require((dropped is None) == (original is None), "drop_idx_ does not agree with the categories that are dropped")
    widths = counts
    if dropped is not None:
        for indices, limits in ((dropped, counts), (original, sizes)):
            require(_are_optional_indices(indices, limits), "a category that is dropped does not exist")
        widths = [count - (index is not None) for count, index in zip(counts, dropped, strict=True)]
    require(fitted["_n_features_outs"] == widths, "the number of columns of OneHotEncoder is wrong")


def _are_optional_indices(value: Any, limits: list[int]) -> bool:
    if not (isinstance(value, np.ndarray) and value.shape == (len(limits),) and value.dtype.kind in "Oi"):
        return False
    return all(
        index is None or (whole(0).accepts(index) and index < limit) for index, limit in zip(value, limits, strict=True)
    )


def _check_ordinal(model: Any, fitted: dict[str, Any]) -> None:
    _check_categories(model, fitted)
    sizes = [len(each) for each in fitted["categories_"]]
    missing = {k: size - 1 for k, size in enumerate(sizes) if _is_nan(fitted["categories_"][k][-1])}
    require(fitted["_missing_indices"] == missing, "the categories of missing values are wrong")
    _groups(fitted, [size - (k in missing) for k, size in enumerate(sizes)])
    used = [model.encoded_missing_value] if missing else []
    if model.handle_unknown == "use_encoded_value":
        used.append(model.unknown_value)
    for code in used:
        try:
            with np.errstate(all="ignore"):
                np.zeros(1, dtype=model.dtype)[0] = code
        except (OverflowError, TypeError, ValueError) as reason:
            raise ModelFormatError(f"{code!r} is not a number of type {model.dtype}") from reason


_CATEGORIES: dict[str, ArrayOf | Rule] = {
    "n_features_in_": SIZE,
    "feature_names_in_": NAMES_IN,
    "categories_": _LIST,
    "_infrequent_enabled": FLAG,
    "_infrequent_indices": _LIST,
    "_default_to_infrequent_mappings": _LIST,
}
_MAY_BE_ABSENT = ("feature_names_in_", "_infrequent_indices", "_default_to_infrequent_mappings")

register(
    Kind(
        OneHotEncoder,
        parameters={
            "dtype": _NUMERIC,
            "sparse_output": FLAG,
            "handle_unknown": choice("error", "ignore", "infrequent_if_exist", "warn"),
            "feature_name_combiner": choice("concat"),
        },
        attributes={
            **_CATEGORIES,
            "drop_idx_": _ANY,
            "_drop_idx_after_grouping": _ANY,
            "_n_features_outs": Rule(
                "a list of integers", lambda value: type(value) is list and all(map(whole(0).accepts, value))
            ),
        },
        optional=_MAY_BE_ABSENT,
        check=_check_one_hot,
        n_out=lambda model: int(sum(len(each) for each in _columns_of(model))),
    )
)


def _columns_of(model: Any) -> list[range]:
    return [range(int(width)) for width in vars(model)["_n_features_outs"]]


register(
    Kind(
        OrdinalEncoder,
        parameters={"dtype": _NUMERIC, "handle_unknown": choice("error", "use_encoded_value")},
        attributes={**_CATEGORIES, "_missing_indices": Rule("a dictionary", lambda value: type(value) is dict)},
        optional=_MAY_BE_ABSENT,
        check=_check_ordinal,
        n_out=lambda model: int(model.n_features_in_),
    )
)


# Missing values


def _check_indicator(model: Any, fitted: dict[str, Any]) -> None:
    names_fit(model, fitted)
    n = fitted["n_features_in_"]
    require(fitted["_n_features"] == n, f"_n_features must be {n}")
    require(_are_indices(fitted["features_"], n), "features_ are not indices of features")


def _n_indicators(model: Any) -> int:
    return int(model.n_features_in_) if model.features == "all" else len(model.features_)


def _check_imputer(model: Any, fitted: dict[str, Any]) -> None:
    names_fit(model, fitted)
    statistics, indicator = fitted["statistics_"], fitted["indicator_"]
    n = fitted["n_features_in_"]
    require(
        _VALUES.accepts(statistics) and len(statistics) == n and statistics.dtype.kind in "fiuO",
        "statistics_ must be a value for each feature",
    )
    require(
        isinstance(indicator, MissingIndicator) if model.add_indicator else indicator is None,
        "indicator_ must be a MissingIndicator exactly if add_indicator is True",
    )
    if indicator is not None:
        require(is_fitted(indicator) and indicator.n_features_in_ == n, f"indicator_ is not of {n} columns")
        chosen = (indicator.features, indicator.sparse, indicator.error_on_new)
        require(chosen == ("missing-only", "auto", False), "indicator_ is not that of a SimpleImputer")
    kept = statistics if model.keep_empty_features else statistics[~_are_nan(statistics)]
    dtype = fitted.get("_fill_dtype", fitted["_fit_dtype"])
    try:
        kept.astype(dtype)
    except (TypeError, ValueError) as reason:
        raise ModelFormatError(f"statistics_ are not of type {dtype} ({reason})") from reason


def _set_fill_dtype(model: Any) -> None:
    """Set the type of imputed values, which scikit-learn 1.6 did not store."""
    vars(model).setdefault("_fill_dtype", vars(model)["_fit_dtype"])


def _are_nan(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.array([_is_nan(value) for value in values], dtype=bool)


def _n_imputed(model: Any) -> int:
    kept = len(model.statistics_) if model.keep_empty_features else int((~_are_nan(model.statistics_)).sum())
    return kept + (_n_indicators(model.indicator_) if model.add_indicator else 0)


register(
    Kind(
        MissingIndicator,
        parameters={
            "missing_values": _SCALAR,
            "features": choice("missing-only", "all"),
            "sparse": FLAG | choice("auto"),
            "error_on_new": FLAG,
        },
        attributes={
            "n_features_in_": SIZE,
            "feature_names_in_": NAMES_IN,
            "features_": ArrayOf(np.integer, ("n_indicators",)),
            "_n_features": SIZE,
            "_precomputed": FLAG,
        },
        optional=("feature_names_in_",),
        check=_check_indicator,
        n_out=_n_indicators,
    )
)
register(
    Kind(
        SimpleImputer,
        parameters={
            "missing_values": _SCALAR,
            "strategy": choice("mean", "median", "most_frequent", "constant"),
            "fill_value": _SCALAR,
            "copy": FLAG,
            "add_indicator": FLAG,
            "keep_empty_features": FLAG,
        },
        attributes={
            "n_features_in_": SIZE,
            "feature_names_in_": NAMES_IN,
            "statistics_": _VALUES,
            "indicator_": _ANY,
            "_fit_dtype": _DTYPE,
            "_fill_dtype": _DTYPE,
        },
        optional=("feature_names_in_", "_fill_dtype"),
        check=_check_imputer,
        restore=_set_fill_dtype,
        n_out=_n_imputed,
        inner_fitted=("indicator_",),
    )
)


# Texts


def _is_pattern(value: Any) -> bool:
    try:
        return isinstance(value, str) and re.compile(value).groups <= 1
    except (re.error, OverflowError, RecursionError):
        return False


def _are_words(value: Any) -> bool:
    return type(value) is list and all(type(word) is str for word in value)


def _is_vocabulary(value: Any) -> bool:
    return type(value) is dict and all(type(word) is str and whole(0).accepts(index) for word, index in value.items())


def _is_range(value: Any) -> bool:
    pair = type(value) in (tuple, list) and len(value) == 2 and all(whole(1).accepts(each) for each in value)
    return pair and bool(value[0] <= value[1])


_TEXTS: dict[str, Rule] = {
    "input": choice("content"),  # otherwise a prediction would open files that the texts name
    "encoding": TEXT,
    "decode_error": choice("strict", "ignore", "replace"),
    "strip_accents": choice("ascii", "unicode") | NONE,
    "lowercase": FLAG,
    "preprocessor": NONE,
    "tokenizer": NONE,
    "analyzer": choice("word", "char", "char_wb"),
    "stop_words": choice("english") | NONE | Rule("a list of strings", _are_words),
    "token_pattern": Rule("a regular expression", _is_pattern),
    "ngram_range": Rule("two positive integers, the lower first", _is_range),
    "binary": FLAG,
    "dtype": _NUMERIC,
}


def _check_texts(model: Any, fitted: dict[str, Any]) -> None:
    words = fitted["vocabulary_"]
    require(
        len(words) > 0 and sorted(words.values()) == list(range(len(words))),
        "vocabulary_ must number the words from 0",
    )


def _remember_stop_words(model: Any) -> None:
    """Record that stop words were compared with the tokens in the fit, so that no warning is repeated."""
    vars(model)["_stop_words_id"] = id(model.stop_words)


def _check_tfidf(model: Any, fitted: dict[str, Any]) -> None:
    _check_texts(model, fitted)
    inner = fitted["_tfidf"]
    require(type(inner) is TfidfTransformer and is_fitted(inner), "_tfidf is not a fitted TfidfTransformer")
    require(inner.n_features_in_ == len(fitted["vocabulary_"]), "the words and their weights differ in number")


_WORDS: dict[str, ArrayOf | Rule] = {
    "vocabulary_": Rule("a dictionary of words and their numbers", _is_vocabulary),
    "fixed_vocabulary_": FLAG,
}

register(
    Kind(
        CountVectorizer,
        parameters=_TEXTS,
        attributes=_WORDS,
        check=_check_texts,
        restore=_remember_stop_words,
        n_out=lambda model: len(model.vocabulary_),
    )
)
register(
    Kind(
        TfidfVectorizer,
        parameters=_TEXTS,
        attributes={**_WORDS, "_tfidf": _ANY},
        check=_check_tfidf,
        restore=_remember_stop_words,
        n_out=lambda model: len(model.vocabulary_),
        inner_fitted=("_tfidf",),
    )
)
