"""kernelrank's own model files; docs/model-format.md describes them for readers in other languages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.metadata import version
from numbers import Integral, Real
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kernelrank._arrays import to_host
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
from kernelrank.exceptions import ModelFormatError
from kernelrank.io._files import replace_file
from kernelrank.kernels import Kernel, Linear, Precomputed
from kernelrank.persistence._archive import Archive, write_archive
from kernelrank.persistence._values import decode, encode

_FORMAT = "kernelrank model"
_VERSION = 1  # of the format

# Classes that can be saved, and the attributes without which they cannot predict or score, besides the weights, which
# depend on the kernel. A file can name no other class.
_COMMON = ("n_features_in_", "_fitted_with_queries")
_LEAST_SQUARES = ("kernel_", "intercept_", "_single", *_COMMON)
_GREEDY = ("selected_", "support_", "intercept_", "_single", *_COMMON)
_ESTIMATORS: dict[type, tuple[str, ...]] = {
    RankSVM: _COMMON,
    RankSVMCV: _COMMON,
    RLS: _LEAST_SQUARES,
    RLSCV: _LEAST_SQUARES,
    RankRLS: _LEAST_SQUARES,
    RankRLSCV: _LEAST_SQUARES,
    GreedyRLS: _GREEDY,
    GreedyRankRLS: _GREEDY,
}

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
    "history_": (np.void, ("n_iter_",)),
    "alphas_": (np.float64, ("n_alphas",)),
    "gaps_": (np.float64, ("n_alphas",)),
    "scores_": (np.float64, ("n_alphas", "n_folds")),
    "coef_path_": (np.float64, ("n_alphas", "n_weights")),
}
_SPARSE = ("basis_",)  # what may be a sparse matrix as well

_REMEDIES = {
    "parameter": "Set it to one of these before saving, such as model.set_params({}=None).",
    "attribute": "Delete it (del model.{}), or give it a name that does not end in an underscore.",
    "kernel": 'Fit with a kernel of kernelrank.kernels, or with kernel="precomputed"; or pickle the model.',
}


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file.

    The file holds the model's class, its parameters and what `fit` has found, as data: a ZIP archive
    of a JSON document and NumPy arrays, described in ``docs/model-format.md``. Equal models give equal
    bytes. An existing file is replaced only once the new one is complete.

    Parameters
    ----------
    model : RankSVM, RLS, RankRLS, their ``...CV``, GreedyRLS or GreedyRankRLS
        It must be fitted; arrays of other libraries become NumPy's. Attributes whose names end in an
        underscore are saved, no others; neither are requests for metadata (``set_fit_request``).
    path : str or path-like
        Where to write. No ending is added; ``.kernelrank`` is a good one.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If it is of another class, or if a parameter is not data: a splitter as `cv`, a RandomState as
        `random_state`, a function as `kernel`. Nothing is replaced silently, because a refit would then
        differ; set it to None or a number before saving.

    Warnings
    --------
    A model with a kernel other than the linear one predicts by comparing rows with those it was fitted to: they are
    its ``basis_``, and so they are in the file. Whoever gets the file gets these rows. Targets and queries are never
    in it, and rows of models with ``coef_`` neither.

    See Also
    --------
    load_model : Reads the file.
    save_svmlight_model : Writes a file for SVM^rank.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kernelrank import RankSVM
    >>> from kernelrank.persistence import load_model, save_model
    >>> X = [[1, 0], [2, 1], [3, 1], [4, 0]]
    >>> model = RankSVM().fit(X, y=[0, 1, 2, 3])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "model.kernelrank")
    ...     loaded = load_model(Path(folder) / "model.kernelrank")
    >>> loaded.rank(X)
    array([4, 3, 2, 1])
    """
    kind = type(model)
    if kind not in _ESTIMATORS:
        raise TypeError(f"save_model saves models of {', '.join(_by_name())}; got a {kind.__name__}.")
    check_is_fitted(model)
    fitted = {name: to_host(value) for name, value in vars(model).items() if _is_fitted_attribute(name)}
    arrays: dict[str, NDArray[Any]] = {}
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "kernelrank": version("kernelrank"),
        "class": kind.__name__,
        "parameters": _encode_all(model.get_params(deep=False), "parameter", arrays),
        "attributes": _encode_all(fitted, "attribute", arrays),
    }
    try:
        _check_fitted(kind, fitted)
        _check_kernel(model)
    except ModelFormatError as reason:
        raise ValueError(f"The {kind.__name__} has been changed since it was fitted: {reason}.") from None
    with replace_file(path, compress=False) as handle:
        write_archive(handle, document, arrays)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save_model` has written.

    Nothing in the file is run: it holds data, and names one of the classes that are known here. Files of
    strangers are safe to load, and files of older versions can be.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    RankSVM, RLS, RankRLS, their ``...CV``, GreedyRLS or GreedyRankRLS
        Fitted, with the parameters and attributes of the model that was saved: it predicts the same to
        the last bit, and can be cloned, fitted again or, with ``warm_start``, trained on. What takes the training
        data, as paths and held-out predictions of least squares do, takes another fit.

    Raises
    ------
    ModelFormatError
        If the file is of another kind, is damaged, or was written in a format newer than this version
        of kernelrank; it says which.
    OSError
        If the file cannot be opened.

    See Also
    --------
    save_model : Writes the file.
    load_svmlight_model : Reads a file of SVM^light or SVM^rank.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kernelrank import RankSVM
    >>> from kernelrank.persistence import load_model, save_model
    >>> model = RankSVM(alpha=0.1).fit([[1.0], [2.0], [3.0]], y=[3, 2, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder) / "model.kernelrank")
    ...     loaded = load_model(Path(folder) / "model.kernelrank")
    >>> loaded
    RankSVM(alpha=0.1)
    >>> bool(loaded.coef_ == model.coef_)
    True
    """
    with open(path, "rb") as handle:
        try:
            return _read(handle)
        except ModelFormatError as reason:
            raise ModelFormatError(f"{os.fspath(path)}: {reason}") from reason


def _read(handle: IO[bytes]) -> Any:
    archive = Archive(handle)
    document = archive.read_document()
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ModelFormatError("it is no model of kernelrank")
    writer = _entry(document, "kernelrank", str)
    found = _entry(document, "version", int)
    if found != _VERSION:
        raise ModelFormatError(
            f"it was written by kernelrank {writer!r} in format {found}; this is kernelrank {version('kernelrank')},"
            f" which reads format {_VERSION}" + (": upgrade kernelrank" if found > _VERSION else "")
        )
    name = _entry(document, "class", str)
    kind = _by_name().get(name)
    if kind is None:
        raise ModelFormatError(f"it holds a {name!r}, a class that is not known here; kernelrank {writer!r} wrote it")
    try:
        parameters = _decode_all(_entry(document, "parameters", dict), archive)
        fitted = _decode_all(_entry(document, "attributes", dict), archive)
    except ModelFormatError as reason:
        raise ModelFormatError(f"{reason}; kernelrank {writer!r} wrote it") from reason
    for unknown in sorted(parameters.keys() - kind().get_params(deep=False).keys()):
        raise ModelFormatError(f"{name} has no parameter {unknown!r} here; kernelrank {writer!r} wrote it")
    for unknown in (each for each in fitted if not _is_fitted_attribute(each)):
        raise ModelFormatError(f"{unknown!r} is no attribute of a fitted {name}")
    _check_fitted(kind, fitted)
    model = kind(**parameters)
    vars(model).update(fitted)
    _check_kernel(model)
    return model


def _by_name() -> dict[str, type]:
    return {kind.__name__: kind for kind in _ESTIMATORS}


def _is_fitted_attribute(name: str) -> bool:
    return name in _PRIVATE or (name.endswith("_") and not name.startswith("_"))


def _encode_all(values: dict[str, Any], what: str, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    encoded = {}
    for name, value in values.items():
        try:
            encoded[name] = encode(value, f"{what}s/{name}", arrays)
        except TypeError as reason:
            remedy = _REMEDIES["kernel" if name in ("kernel", "kernel_") else what].format(name)
            raise TypeError(
                f"The {what} {name} cannot be saved: it is {reason}, and a model file holds only numbers,"
                f" strings, None, arrays, known kernels and lists of these. {remedy}"
            ) from None
    return encoded


def _decode_all(values: dict[str, Any], archive: Archive) -> dict[str, Any]:
    return {name: decode(value, archive) for name, value in values.items()}


def _entry(document: dict[str, Any], name: str, kind: type) -> Any:
    if type(document.get(name)) is not kind:
        raise ModelFormatError(f"its entry {name!r} is missing, or not of type {kind.__name__}")
    return document[name]


def _check_fitted(kind: type, fitted: dict[str, Any]) -> None:
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


def _needed(kind: type, fitted: dict[str, Any]) -> tuple[str, ...]:
    """Name what a model cannot predict without: weights of features, or of a basis."""
    names = _ESTIMATORS[kind]
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
    for axis, length in zip(axes, value.shape, strict=True):
        # The first array with an axis says how long it is, unless a number does.
        if length != lengths.setdefault(axis, length):
            raise ModelFormatError(f"{name} has shape {value.shape}, but {axis} is {lengths[axis]}")


def _check_kernel(model: Any) -> None:
    """Raise unless a model can compute its kernel: of one row with its basis."""
    if "basis_" not in _needed(type(model), vars(model)):
        return
    try:
        with np.errstate(all="ignore"):
            model._evaluate(model.basis_[:1, :])
    except (ArithmeticError, TypeError, ValueError) as reason:
        raise ModelFormatError(f"its kernel {model.kernel_!r} cannot be computed ({reason})") from reason
