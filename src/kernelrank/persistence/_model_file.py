"""kernelrank's own model files; docs/model-format.md specifies the format for readers in other languages."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import version
from typing import IO, Any

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kernelrank._arrays import to_host
from kernelrank._rules import PATH
from kernelrank.exceptions import ModelFormatError
from kernelrank.io._files import replace_file
from kernelrank.persistence._archive import Archive, write_archive
from kernelrank.persistence._fitted import (
    ESTIMATORS,
    INNER,
    check_fitted,
    check_kernel,
    is_fitted_attribute,
    saveable_classes,
)
from kernelrank.persistence._values import decode, encode

_FORMAT = "kernelrank model"
_VERSION = 1  # version of the format

_REMEDIES = {
    "parameter": "Set it to such a value before saving, for example {owner}.set_params({name}=None).",
    "attribute": "Delete it (del {owner}.{name}), or use a name that does not end in an underscore.",
    "kernel": 'Fit with a kernel of kernelrank.kernels, or with kernel="precomputed"; or pickle the model.',
    "basis": "Remove empty columns, or hash features to fewer columns; or pickle the model.",
    "ranker": "Fit with an estimator of kernelrank, other than RankingClassifier; or pickle the model.",
}


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted model to a file.

    The file holds the model's class, its parameters and its fitted attributes as data: a ZIP archive of a JSON document
    and NumPy arrays, described in ``docs/model-format.md``. Equal models give equal bytes. An existing file is replaced
    only once the new one is complete.

    Parameters
    ----------
    model : estimator
        A fitted RankSVM, RLS, RankRLS, their ``...CV``, GreedyRLS, GreedyRankRLS, MaxMarginClustering, OrdinalSVM,
        RankingClassifier, KroneckerRLS, KroneckerRLSCV or TwoStepRLS; arrays of other libraries are converted to NumPy.
        Only attributes whose names end in an underscore are saved. Metadata requests (``set_fit_request``) are not
        saved.
    path : str or path-like
        Path of the file. No suffix is added; ``.kernelrank`` is recommended.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model is of another class, or if a parameter is not data: a splitter as `cv`, a RandomState as
        `random_state`, a function as `kernel`, an estimator of another library as `ranker`. Such a parameter is not
        replaced silently, because a refit would then differ; set it to None or a number before saving.

    Warnings
    --------
    A model with a nonlinear kernel predicts by comparing rows with training rows, which are its ``basis_`` (of
    relational data, ``row_basis_`` and ``column_basis_``): these rows are stored in the file and can be read by anyone
    who gets it. Targets and queries are never stored, nor are training rows of models with ``coef_``.

    See Also
    --------
    load_model : Load a model.
    save_svmlight_model : Save a model in the format of SVM^rank.

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
    if kind not in ESTIMATORS:
        remedy = ""
        if isinstance(model, str | os.PathLike):
            remedy = " The arguments are save_model(model, path)."
        elif hasattr(model, "steps"):
            remedy = " Save its last step, pipeline[-1], and the other steps with skops or joblib."
        elif hasattr(model, "to_local"):
            remedy = " It is for Dask: save model.to_local()."
        raise TypeError(f"model must be one of {', '.join(saveable_classes())}, got a {kind.__name__}.{remedy}")
    PATH("path", path)
    check_is_fitted(model)
    arrays: dict[str, NDArray[Any]] = {}
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "kernelrank": version("kernelrank"),
        **_encode_model(model, arrays),
    }
    with replace_file(path, compress=False) as handle:
        write_archive(handle, document, arrays)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Load a model that was saved with `save_model`.

    Nothing in the file is executed: it holds data, and names one of a fixed set of classes. Untrusted files are safe to
    load. Files of older versions can be loaded. The memory required is a small multiple of the size of the file: sizes
    that the file states are checked before anything is allocated.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    estimator
        Of the class that was saved, fitted, with its parameters and attributes: its predictions are equal to the last
        bit, and it can be cloned, refitted or, with ``warm_start``, trained further. Methods that need the training
        data, such as paths and held-out predictions of least squares, require another fit.

    Raises
    ------
    ModelFormatError
        If the file is not a model file, is damaged, or was written in a newer format than this version of kernelrank
        supports; the message states which.
    OSError
        If the file cannot be opened.

    See Also
    --------
    save_model : Save a model.
    load_svmlight_model : Load a model of SVM^light or SVM^rank.

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
    PATH("path", path)
    with open(path, "rb") as handle:
        try:
            return _read(handle)
        except ModelFormatError as reason:
            raise ModelFormatError(f"{os.fspath(path)}: {reason}") from reason


def _read(handle: IO[bytes]) -> Any:
    archive = Archive(handle)
    document = archive.read_document()
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ModelFormatError("not a model of kernelrank")
    writer = _entry(document, "kernelrank", str)
    found = _entry(document, "version", int)
    if found != _VERSION:
        raise ModelFormatError(
            f"written by kernelrank {writer!r} in format {found}; this is kernelrank {version('kernelrank')},"
            f" which reads format {_VERSION}" + (": upgrade kernelrank" if found > _VERSION else "")
        )
    try:
        return _decode_model(document, archive)
    except ModelFormatError as reason:
        raise ModelFormatError(f"{reason}; the file was written by kernelrank {writer!r}") from reason


def _encode_model(model: Any, arrays: dict[str, NDArray[Any]], owner: str = "model", under: str = "") -> dict[str, Any]:
    """Encode a fitted model; `owner` is its name in messages, and names of its arrays start with `under`."""
    kind = type(model)
    fitted = {name: to_host(value) for name, value in vars(model).items() if is_fitted_attribute(name)}
    encoded = {
        **_encode_unfitted(model, arrays, owner, under),
        "attributes": {
            name: _encode_model(value, arrays, f"{owner}.{name}", f"{under}attributes/{name}/")
            if _is_inner(kind, name, value)
            else _encode_value(value, "attribute", name, arrays, owner, under)
            for name, value in fitted.items()
        },
    }
    try:
        check_fitted(kind, fitted)
        check_kernel(model)
    except ModelFormatError as reason:
        raise ValueError(f"The {kind.__name__} was changed after it was fitted: {reason}.") from None
    return encoded


def _encode_unfitted(model: Any, arrays: dict[str, NDArray[Any]], owner: str, under: str) -> dict[str, Any]:
    """Encode the class and the parameters of a model."""
    parameters = {
        name: _encode_unfitted(value, arrays, f"{owner}.{name}", f"{under}parameters/{name}/")
        if _is_inner(type(model), name, value)
        else _encode_value(value, "parameter", name, arrays, owner, under)
        for name, value in model.get_params(deep=False).items()
    }
    return {"class": type(model).__name__, "parameters": parameters}


def _is_inner(kind: type, name: str, value: Any) -> bool:
    return name in INNER.get(kind, ()) and type(value) in ESTIMATORS.keys() - INNER.keys()


def _encode_value(value: Any, what: str, name: str, arrays: dict[str, NDArray[Any]], owner: str, under: str) -> Any:
    try:
        return encode(value, f"{under}{what}s/{name}", arrays)
    except TypeError as reason:
        remedy = _REMEDIES.get(name.removesuffix("_"), _REMEDIES[what]).format(owner=owner, name=name)
        raise TypeError(
            f"The {what} {name} cannot be saved: it is {reason}, but a model file holds only numbers,"
            f" strings, None, arrays, known kernels and lists of these. {remedy}"
        ) from None


def _decode_model(document: dict[str, Any], archive: Archive) -> Any:
    """Return the fitted model described by a document or a part of it."""
    model = _decode_unfitted(document, archive)
    kind = type(model)
    fitted = _decode_all(kind, _entry(document, "attributes", dict), archive, _decode_model)
    for unknown in (each for each in fitted if not is_fitted_attribute(each)):
        raise ModelFormatError(f"{unknown!r} is not an attribute of a fitted {kind.__name__}")
    check_fitted(kind, fitted)
    vars(model).update(fitted)
    check_kernel(model)
    return model


def _decode_unfitted(document: dict[str, Any], archive: Archive) -> Any:
    name = _entry(document, "class", str)
    kind = saveable_classes().get(name)
    if kind is None:
        raise ModelFormatError(f"unknown class {name!r}")
    parameters = _decode_all(kind, _entry(document, "parameters", dict), archive, _decode_unfitted)
    for unknown in sorted(parameters.keys() - kind().get_params(deep=False).keys()):
        raise ModelFormatError(f"{name} has no parameter {unknown!r}")
    if not (parameters.get("ranker") is None or type(parameters["ranker"]) in ESTIMATORS):
        raise ModelFormatError("the parameter ranker is not a model")
    return kind(**parameters)


def _decode_all(
    kind: type, values: dict[str, Any], archive: Archive, decode_inner: Callable[[dict[str, Any], Archive], Any]
) -> dict[str, Any]:
    """Decode parameters or attributes; nested models cannot contain models, which bounds the depth."""
    decoded = {}
    for name, value in values.items():
        if name in INNER.get(kind, ()) and isinstance(value, dict):
            if saveable_classes().get(_entry(value, "class", str)) in INNER:
                raise ModelFormatError(f"{name} is a {value['class']}, which cannot be nested in another model")
            decoded[name] = decode_inner(value, archive)
        else:
            decoded[name] = decode(value, archive)
    return decoded


def _entry(document: dict[str, Any], name: str, kind: type) -> Any:
    if type(document.get(name)) is not kind:
        raise ModelFormatError(f"entry {name!r} is missing, or not of type {kind.__name__}")
    return document[name]
