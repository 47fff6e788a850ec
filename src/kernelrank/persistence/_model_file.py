"""kernelrank's own model files; docs/model-format.md describes them for readers in other languages."""

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
from kernelrank.persistence._fitted import ESTIMATORS, INNER, by_name, check_fitted, check_kernel, is_fitted_attribute
from kernelrank.persistence._values import decode, encode

_FORMAT = "kernelrank model"
_VERSION = 1  # of the format

_REMEDIES = {
    "parameter": "Set it to one of these before saving, such as {owner}.set_params({name}=None).",
    "attribute": "Delete it (del {owner}.{name}), or give it a name that does not end in an underscore.",
    "kernel": 'Fit with a kernel of kernelrank.kernels, or with kernel="precomputed"; or pickle the model.',
    "basis": "Leave out columns that are empty, or hash features to fewer; or pickle the model.",
    "ranker": "Fit with an estimator of kernelrank, other than RankingClassifier; or pickle the model.",
}


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file.

    The file holds the model's class, its parameters and what `fit` has found, as data: a ZIP archive
    of a JSON document and NumPy arrays, described in ``docs/model-format.md``. Equal models give equal
    bytes. An existing file is replaced only once the new one is complete.

    Parameters
    ----------
    model : RankSVM, RLS, RankRLS, their ``...CV``, GreedyRLS, GreedyRankRLS, OrdinalSVM or RankingClassifier
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
        `random_state`, a function as `kernel`, an estimator of another library as `ranker`. Nothing is replaced
        silently, because a refit would then differ; set it to None or a number before saving.

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
    if kind not in ESTIMATORS:
        order = " The order is save_model(model, path)." if isinstance(model, str | os.PathLike) else ""
        raise TypeError(f"model must be one of {', '.join(by_name())}, got a {kind.__name__}.{order}")
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
    """Read a model that `save_model` has written.

    Nothing in the file is run: it holds data, and names one of the classes that are known here. Files of
    strangers are safe to load, and files of older versions can be. The memory it takes is a small multiple of the
    size of the file: sizes that the file states are checked before anything is allocated.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    RankSVM, RLS, RankRLS, their ``...CV``, GreedyRLS, GreedyRankRLS, OrdinalSVM or RankingClassifier
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
        raise ModelFormatError("it is no model of kernelrank")
    writer = _entry(document, "kernelrank", str)
    found = _entry(document, "version", int)
    if found != _VERSION:
        raise ModelFormatError(
            f"it was written by kernelrank {writer!r} in format {found}; this is kernelrank {version('kernelrank')},"
            f" which reads format {_VERSION}" + (": upgrade kernelrank" if found > _VERSION else "")
        )
    try:
        return _decode_model(document, archive)
    except ModelFormatError as reason:
        raise ModelFormatError(f"{reason}; kernelrank {writer!r} wrote it") from reason


def _encode_model(model: Any, arrays: dict[str, NDArray[Any]], owner: str = "model", under: str = "") -> dict[str, Any]:
    """Express a fitted model; `owner` is what a user calls it, and names of its arrays begin with `under`."""
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
        raise ValueError(f"The {kind.__name__} has been changed since it was fitted: {reason}.") from None
    return encoded


def _encode_unfitted(model: Any, arrays: dict[str, NDArray[Any]], owner: str, under: str) -> dict[str, Any]:
    """Express the class and the parameters of a model."""
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
            f"The {what} {name} cannot be saved: it is {reason}, and a model file holds only numbers,"
            f" strings, None, arrays, known kernels and lists of these. {remedy}"
        ) from None


def _decode_model(document: dict[str, Any], archive: Archive) -> Any:
    """Return the fitted model that a document, or a part of it, describes."""
    model = _decode_unfitted(document, archive)
    kind = type(model)
    fitted = _decode_all(kind, _entry(document, "attributes", dict), archive, _decode_model)
    for unknown in (each for each in fitted if not is_fitted_attribute(each)):
        raise ModelFormatError(f"{unknown!r} is no attribute of a fitted {kind.__name__}")
    check_fitted(kind, fitted)
    vars(model).update(fitted)
    check_kernel(model)
    return model


def _decode_unfitted(document: dict[str, Any], archive: Archive) -> Any:
    name = _entry(document, "class", str)
    kind = by_name().get(name)
    if kind is None:
        raise ModelFormatError(f"it holds a {name!r}, a class that is not known here")
    parameters = _decode_all(kind, _entry(document, "parameters", dict), archive, _decode_unfitted)
    for unknown in sorted(parameters.keys() - kind().get_params(deep=False).keys()):
        raise ModelFormatError(f"{name} has no parameter {unknown!r} here")
    if not (parameters.get("ranker") is None or type(parameters["ranker"]) in ESTIMATORS):
        raise ModelFormatError("its parameter ranker is no model")
    return kind(**parameters)


def _decode_all(
    kind: type, values: dict[str, Any], archive: Archive, decode_inner: Callable[[dict[str, Any], Archive], Any]
) -> dict[str, Any]:
    """Decode parameters or attributes; a model that is one of them has none inside it, so nothing is ever deep."""
    decoded = {}
    for name, value in values.items():
        if name in INNER.get(kind, ()) and isinstance(value, dict):
            if by_name().get(_entry(value, "class", str)) in INNER:
                raise ModelFormatError(f"its {name} is a {value['class']}, which cannot be inside another model")
            decoded[name] = decode_inner(value, archive)
        else:
            decoded[name] = decode(value, archive)
    return decoded


def _entry(document: dict[str, Any], name: str, kind: type) -> Any:
    if type(document.get(name)) is not kind:
        raise ModelFormatError(f"its entry {name!r} is missing, or not of type {kind.__name__}")
    return document[name]
