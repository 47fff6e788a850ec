"""Validation of all inputs: vectors, weights, query ids and feature matrices."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array, validation

from kernelrank._arrays import (
    Array,
    accepted_namespace,
    all_finite,
    canonical,
    in_double,
    is_foreign,
    place,
    refuse_mask,
    to_host,
)
from kernelrank._columns import as_frame, explain_dates, explain_missing, explain_text, query_columns
from kernelrank._fields import refuse_fields, refuse_two_columns, separate_observed
from kernelrank._query_ids import encode_queries
from kernelrank._warnings import warn
from kernelrank.exceptions import (
    MissingObservedWarning,
    MissingQueryWarning,
    NoComparablePairsError,
    QueryColumnWarning,
)

QID_COLUMN = "qid"
_LONG_MESSAGE = 600  # characters


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Return a NumPy array; raise an error if elements are masked."""
    refuse_mask(values, name)
    return np.asarray(to_host(values))


def as_numbers(values: Any, name: str) -> NDArray[Any]:
    """Return an array of real numbers, which may be NaN or infinite; integers stay integers."""
    array = as_array(values, name)
    refuse_fields(array, name)
    try:
        if array.dtype.kind == "O" and array.size:
            numbers = np.array(array.tolist())
            return numbers if numbers.dtype.kind in "iu" else array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as reason:
        raise ValueError(f"{name} must hold real numbers ({reason}).") from None
    if array.dtype.kind in "USmMcV":
        raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}.")
    return array


def flatten_column(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return a matrix of one column as a vector, with a warning at the user's line; other arrays as they are."""
    if values.ndim != 2 or values.shape[1] != 1:
        return values
    warn(
        f"A column-vector {name} was passed when a 1d array was expected. Change the shape of {name} to (n_samples,),"
        " for example with ravel().",
        DataConversionWarning,
    )
    return values[:, 0]


def check_vector(values: ArrayLike, name: str, n_rows: int | None = None, of: str = "rows") -> NDArray[np.float64]:
    """Return `values` as a finite, contiguous float64 vector, of length `n_rows` if given."""
    vector = flatten_column(as_numbers(values, name), name)
    if vector.ndim != 1:
        raise ValueError(f"{name} must have one element per row, got an array of shape {vector.shape}.")
    if vector.dtype.kind in "iu" and len(vector) and max(-int(vector.min()), int(vector.max())) > 2**53:
        raise ValueError(f"{name} has integers beyond 2**53, which float64 cannot represent; pass their ranks.")
    with _quiet():
        vector = check_array(
            vector, dtype=np.float64, order="C", ensure_2d=False, ensure_min_samples=0, input_name=name, copy=False
        )
    if n_rows is not None and len(vector) != n_rows:
        raise ValueError(f"{name} has {len(vector)} elements, but there are {n_rows} {of}.")
    return np.require(vector, requirements=["C_CONTIGUOUS", "ALIGNED"])


def check_vector_in_place(values: Any, name: str, n_rows: int) -> Array:
    """Return a vector as `check_vector` does, but leave floats of another library to it if scikit-learn does so."""
    xp = accepted_namespace(values)
    if xp is np or values.shape != (n_rows,) or not xp.isdtype(values.dtype, "real floating") or not all_finite(values):
        return check_vector(values, name, n_rows)
    return in_double(values)


def require_beside(values: Any, other: Any, names: str) -> None:
    """Raise an error if two arrays of other libraries than NumPy are of different ones, or on different devices."""
    if is_foreign(values) and is_foreign(other) and place(values) != place(other):
        raise ValueError(
            f"{names} must be in the same place: the first is of {place(values)}, and the second of {place(other)}."
            " Convert one of them."
        )


def refuse_arrays(X: Any, user: str) -> None:
    """Raise an error for rows of another library than NumPy and SciPy."""
    if is_foreign(X):
        raise ValueError(f"{user} takes NumPy arrays or sparse matrices, got {place(X)}: convert X to NumPy.")


def check_weights(
    weights: ArrayLike | None, n_rows: int, name: str = "sample_weight", of: str = "rows"
) -> NDArray[np.float64] | None:
    """Return weights as a finite, non-negative vector, or None."""
    if weights is None:
        return None
    vector = check_some_weights(weights, n_rows, name, of)
    if n_rows and not vector.any():
        raise NoComparablePairsError(f"{name} is zero everywhere, so no pair has a positive weight.")
    return vector


def check_some_weights(
    weights: ArrayLike, n_rows: int, name: str = "sample_weight", of: str = "rows"
) -> NDArray[np.float64]:
    """Return the weights of some of the rows, which may all be zero, as a finite, non-negative vector."""
    vector = as_array(weights, name)
    if vector.ndim > 1:
        raise ValueError(f"{name} must be a 1D array with one element for each of the {of}, got shape {vector.shape}.")
    vector = check_vector(np.full(n_rows, vector) if vector.ndim == 0 else vector, name, n_rows, of)
    if (vector < 0).any():
        raise ValueError(f"{name} must not be negative.")
    return vector


def scale_weights(
    weights: NDArray[np.float64] | None, queries: NDArray[np.integer[Any]] | None = None
) -> tuple[NDArray[np.float64] | None, Any]:
    """Divide weights by a power of two, which is exact, so that no product of two overflows; return it as well.

    With `queries`, the query of each weight, each query has its own power, and the powers are returned as an array:
    no query underflows relative to the others.
    """
    if weights is None or len(weights) == 0:
        return weights, 1.0
    if queries is None:
        common = float(np.exp2(np.floor(np.log2(weights.max()))))
        return weights / common, common
    largest = np.zeros(int(queries.max()) + 1)
    np.maximum.at(largest, queries, weights)
    unit = np.exp2(np.floor(np.log2(np.where(largest > 0, largest, 1.0))))
    return weights / unit[queries], unit


class CheckedRows(NamedTuple):
    """Utilities, queries and weights that have been checked: what passes from one function to the next.

    Attributes
    ----------
    y : ndarray of shape (n_rows,)
        Finite, contiguous float64.
    queries : ndarray of shape (n_rows,) or None
        Numbers 0, 1, ... of the queries; None for a single one.
    n_queries : int
    weights : ndarray of shape (n_rows,) or None
        Finite and not negative.
    observed : ndarray of shape (n_rows,) or None
        Whether y is the utility itself; where it is not, the utility is at least y. None if all are observed.
    """

    y: NDArray[np.float64]
    queries: NDArray[np.int32] | None
    n_queries: int
    weights: NDArray[np.float64] | None
    observed: NDArray[np.bool_] | None = None


def check_rows(
    y: Any,
    qid: ArrayLike | None,
    sample_weight: ArrayLike | None,
    n_rows: int | None,
    observed: ArrayLike | None = None,
    name: str = "y",
) -> CheckedRows:
    """Check utilities, queries, weights and censoring, once; without `n_rows`, y says how many rows there are."""
    y, observed = separate_observed(y, observed, name)
    if observed is None:
        refuse_two_columns(y, name)
    utilities = check_vector(y, name, n_rows)
    codes, n_queries = encode_queries(qid, len(utilities))
    weights = check_weights(sample_weight, len(utilities))
    return CheckedRows(utilities, codes, n_queries, weights, check_observed(observed, len(utilities)))


def check_observed(observed: ArrayLike | None, n_rows: int) -> NDArray[np.bool_] | None:
    """Return which utilities are observed as a mask; None if all are."""
    if observed is None:
        return None
    mask = flatten_column(as_numbers(observed, "observed"), "observed")
    if mask.ndim != 1 or len(mask) != n_rows:
        raise ValueError(f"observed must have one element for each of the {n_rows} rows, got shape {mask.shape}.")
    if mask.dtype.kind != "b" and not ((mask == 0) | (mask == 1)).all():
        raise ValueError("observed must hold True where y is observed and False where it is censored, or 1 and 0.")
    found = np.ascontiguousarray(mask, dtype=np.bool_)
    return None if found.all() else found


def separate_qid(X: Any, qid: ArrayLike | None) -> tuple[Any, ArrayLike | None]:
    """Split a data frame into features and query ids, if it has a column named "qid"."""
    frame = as_frame(X)
    if frame is None or QID_COLUMN not in frame.columns:
        return X, qid
    if qid is not None:
        raise ValueError("qid was given twice: as an argument and as a column of X. Drop one of them.")
    return frame.drop(QID_COLUMN).to_native(), frame[QID_COLUMN].to_numpy()


def warn_of_query_columns(estimator: Any, X: Any) -> None:
    """Warn if a ranker is fitted without queries to features that are named like query ids."""
    names = query_columns(X)
    if names:
        warn(
            f"{type(estimator).__name__} is fitted without queries, but the feature {names[0]!r} is named like a"
            " column of query ids. It is used as an ordinary feature, and all rows are compared with each"
            ' other. Pass the ids as qid=..., name the column of a data frame "qid", or put the ranker into'
            " kernelrank.pipelines.make_query_pipeline, which keeps that column away from the other steps. If it is a"
            " feature, rename it, or ignore kernelrank.exceptions.QueryColumnWarning.",
            QueryColumnWarning,
        )


def _innermost(estimator: Any) -> Any:
    """Return the model inside of searches and pipelines."""
    while hasattr(estimator, "best_estimator_") or hasattr(estimator, "steps"):
        estimator = estimator.best_estimator_ if hasattr(estimator, "best_estimator_") else estimator.steps[-1][1]
    return estimator


def warn_of_missing_observed(estimator: Any) -> None:
    """Warn if an estimator that was fitted to censored utilities is scored as if all were observed."""
    model = _innermost(estimator)
    if getattr(model, "_fitted_with_censored", False):
        warn(
            f"{type(model).__name__} was fitted with observed but is scored without: all utilities are taken for"
            " observed. Pass observed to score; True for all if that is so. If you did, scikit-learn has dropped it:"
            " searches and cross-validation only pass it on with metadata routing. Either pass y as a structured array"
            " or a data frame with a boolean and a numeric column, or enable routing with"
            " sklearn.set_config(enable_metadata_routing=True).",
            MissingObservedWarning,
        )


def warn_of_missing_queries(estimator: Any, method: Literal["score", "rank"] = "score") -> None:
    """Warn if an estimator that was fitted with queries scores or ranks without."""
    model = _innermost(estimator)
    if not getattr(model, "_fitted_with_queries", False):
        return
    name = type(model).__name__
    if method == "rank":
        warn(
            f"{name} was fitted with qid but ranks without: rows of different queries are ranked together. Pass qid to"
            ' rank, or a data-frame column named "qid". For rows of a single query, pass the same id for each.',
            MissingQueryWarning,
        )
        return
    warn(
        f"{name} was fitted with qid but is scored without: rows of different queries are compared."
        " Pass qid to score. If you did, scikit-learn has dropped it: Pipeline.score, and the scores inside of"
        " searches and cross-validation, only get it with metadata routing. Either put the steps"
        " into kernelrank.pipelines.make_query_pipeline instead of a Pipeline, with the ids in a data-frame column"
        ' named "qid"; or enable routing with sklearn.set_config(enable_metadata_routing=True).',
        MissingQueryWarning,
    )


def check_features(estimator: Any, X: Any, *, reset: bool, any_namespace: bool = False) -> Any:
    """Return X as a finite float32 or float64 matrix, dense or canonical CSR/CSC; record or check its columns.

    It is a NumPy array, unless scikit-learn's ``array_api_dispatch`` is set and `any_namespace` says that the estimator
    supports other libraries.
    """
    if "sparse" in str(getattr(X, "layout", "")):
        raise ValueError(
            f"X is a tensor of layout {X.layout}, but arrays of other libraries than NumPy and SciPy must be dense: use"
            " X.to_dense(), or convert X to a sparse matrix of SciPy."
        )
    X = X if any_namespace else to_host(X)
    xp = accepted_namespace(X)
    found = _check(
        partial(validation.validate_data, estimator, reset=reset),
        X,
        type(estimator).__name__,
        accept_sparse=("csr", "csc"),
        dtype=(xp.float64, xp.float32),
        order=None,
        accept_large_sparse=True,
    )
    return canonical(found) if sp.issparse(found) else found


def check_matrix(X: Any, user: str, *, name: str = "X", **options: Any) -> Any:
    """Validate a matrix with scikit-learn's ``check_array``, with the errors of :func:`check_features`."""
    try:
        return _check(check_array, X, user, input_name="X", **options)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(re.sub(r"\bX\b", name, str(error))) from None


def _check(check: Callable[..., Any], X: Any, user: str, **options: Any) -> Any:
    """Validate X with a function of scikit-learn; errors name X, the offending columns and the remedy."""
    X = refuse_what_is_no_number(X)
    try:
        with _quiet():
            return check(X, **options)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(_explain(error, X, user)) from None


def refuse_what_is_no_number(X: Any) -> Any:
    """Return X, with lists converted to an array; raise an error for masked elements and dates."""
    refuse_mask(X, "X")
    X = np.asarray(X) if isinstance(X, list | tuple) else X
    dates = explain_dates(X)
    if dates is not None:
        raise ValueError(dates)
    return X


def _explain(error: Exception, X: Any, user: str) -> str:
    """Extend an error message of scikit-learn by the cause, if it can be found in X."""
    words = str(error)
    words = words if len(words) < _LONG_MESSAGE else words.splitlines()[0]  # the rest may be all of X
    if hasattr(X, "shape") and not is_foreign(X):
        wrong = None if sp.issparse(X) else explain_text(X)
        if wrong is not None:
            return f"{wrong} ({words})"
        missing = explain_missing(X, user) if "NaN" in words else None
        if missing is not None:
            return missing
    return words if re.search(r"\bX\b", words) else f"X: {words}"


def count_rows(X: Any) -> int:
    """Return the number of rows of an input that another estimator will validate."""
    refuse_mask(X, "X")
    X = np.asarray(X) if hasattr(X, "__array__") and not hasattr(X, "shape") else X
    try:
        return int(X.shape[0]) if getattr(X, "shape", ()) else len(X)
    except TypeError as error:
        raise TypeError(f"X must be a matrix or a data frame ({error}).") from None


def as_rows(fold: Any, m: int) -> NDArray[np.intp]:
    """Return row indices, given as indices or as a mask."""
    try:
        numbers = as_array(fold, "a fold")
        numbers = numbers.astype(np.intp) if numbers.size == 0 else numbers
        if numbers.dtype.kind in "iu" and numbers.size and numbers.min() < 0:
            raise IndexError("a row index is negative")
        rows: NDArray[np.intp] = np.arange(m)[numbers]
    except (IndexError, ValueError) as reason:
        raise ValueError(
            f"A fold must be a list of held-out row indices below {m}, or a mask ({reason}). Of (train, test), pass the"
            " test rows."
        ) from None
    if rows.ndim != 1:
        raise ValueError("A fold must be a list of held-out row indices. Of (train, test), pass the test rows.")
    return rows


def require_place(estimator: Any, X: Any, fitted: Any, methods: Sequence[str]) -> None:
    """Check that X has the array library and device of the fitted model."""
    if place(X) != place(fitted):
        raise ValueError(
            f"Inputs passed to {' or '.join(f'{type(estimator).__name__}.{name}()' for name in methods)} must use the"
            f" same namespace and the same device as those passed to fit(): X is of {place(X)}, and the model of"
            f" {place(fitted)}. Convert X, and set array_api_dispatch of scikit-learn as for the fit."
        )


def _quiet() -> np.errstate:
    """Suppress warnings of scikit-learn's check for infinities, whose sums of finite numbers may overflow."""
    return np.errstate(over="ignore", invalid="ignore")
