"""Description of an object by its class, parameters and attributes, which may contain other objects."""

from __future__ import annotations

import re
from typing import Any

import sklearn
from numpy.typing import NDArray

from kernelrank._arrays import to_host
from kernelrank.exceptions import ModelFormatError
from kernelrank.persistence._archive import Archive
from kernelrank.persistence._kinds import OUTPUT, Kind, is_fitted, kinds_by_name
from kernelrank.persistence._registry import KINDS
from kernelrank.persistence._values import NotDataError, decode, encode

_DEEPEST = 10  # objects in objects

_OUTPUTS = ("default", "pandas", "polars")

_REMEDIES = {
    "parameter": "Set it to such a value before saving, for example {owner}.set_params({name}=None).",
    "attribute": "Delete it (del {owner}.{name}), or use a name that does not end in an underscore.",
    "kernel": 'Fit with a kernel of kernelrank.kernels, or with kernel="precomputed"; or pickle the model.',
    "basis": "Remove empty columns, or hash features to fewer columns; or pickle the model.",
    "ranker": "Fit with an estimator of kernelrank; or pickle the model.",
    "estimator": "Fit with an estimator of kernelrank; or pickle the model.",
    "transformers": "Give names or numbers of columns, which {owner}.transformers_ shows, instead of a function.",
}


def list_classes() -> str:
    """Return the names of the classes that can be saved, in two groups."""
    ours = [name for name, kind in kinds_by_name().items() if not _is_of_library(kind)]
    others = [name for name in kinds_by_name() if name not in ours]
    return f"{', '.join(ours)}; of scikit-learn, {', '.join(others)}"


class Writer:
    """Encodes objects, and collects their arrays."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}

    def encode(
        self, model: Any, owner: str = "model", under: str = "", depth: int = 0, level: int = 0, fitted: bool = True
    ) -> dict[str, Any]:
        """Encode an object; `owner` is its name in messages, and names of its arrays start with `under`."""
        kind = KINDS[type(model)]
        if level > _DEEPEST:
            raise TypeError(f"{owner} cannot be saved: objects are nested more than {_DEEPEST} deep.")
        place = _Place(self, kind, owner, under, depth, level, fitted)
        encoded: dict[str, Any] = {"class": kind.cls.__name__}
        encoded["parameters"] = {
            name: place.encode(value, "parameter", name) for name, value in model.get_params(deep=False).items()
        }
        attributes: dict[str, Any] = {}
        if fitted:
            attributes = {name: to_host(value) for name, value in kind.fitted_attributes(model).items()}
            encoded["attributes"] = {name: place.encode(value, "attribute", name) for name, value in attributes.items()}
        output = vars(model).get(OUTPUT, {}).get("transform")
        if output in _OUTPUTS:
            encoded["output"] = output
        try:
            kind.check_parameters(model)
        except ModelFormatError as reason:
            raise ValueError(
                f"{owner} ({kind.cls.__name__}) cannot be saved: {reason}. Set it with"
                " set_params before saving; or pickle the model."
            ) from None
        if fitted:
            try:
                kind.check_fitted(model, attributes)
            except ModelFormatError as reason:
                raise ValueError(f"The {kind.cls.__name__} was changed after it was fitted: {reason}.") from None
        return encoded


class _Place:
    """Encodes the values of one object."""

    def __init__(
        self, writer: Writer, kind: Kind, owner: str, under: str, depth: int, level: int, fitted: bool
    ) -> None:
        self.writer, self.kind, self.owner, self.under = writer, kind, owner, under
        self.depth, self.level, self.fitted = depth, level, fitted

    def encode(self, value: Any, what: str, name: str) -> Any:
        """Encode a parameter or an attribute."""

        def encode_object(found: Any, path: str, depth: int, label: str | None) -> dict[str, Any]:
            if type(found) not in KINDS:
                if label is None:
                    raise NotDataError(f"of type {type(found).__name__}")
                raise TypeError(
                    f"The step {label!r} of {self.owner} is a {type(found).__name__}, which cannot be saved. Classes"
                    f" that can: {list_classes()}. Replace the step, or pickle the model."
                )
            fitted = self.fitted and name in self.kind.inner_fitted and (label is None or is_fitted(found))
            owner = f"{self.owner}.{name}" if label is None else f"{self.owner}[{label!r}]"
            return self.writer.encode(found, owner, f"{path}/", depth, self.level + 1, fitted)

        has_objects = name in (*self.kind.inner, *self.kind.inner_fitted)
        try:
            return encode(
                value,
                f"{self.under}{what}s/{name}",
                self.writer.arrays,
                self.depth,
                encode_object if has_objects else None,
            )
        except NotDataError as reason:
            remedy = _REMEDIES.get(name.removesuffix("_"), _REMEDIES[what]).format(owner=self.owner, name=name)
            where = f"in {self.owner} ({self.kind.cls.__name__}) " if self.level else ""
            raise TypeError(
                f"The {what} {name} cannot be saved: {where}it is {reason}, but a model file holds only numbers,"
                f" strings, None, arrays, known kernels and lists of these. {remedy}"
            ) from None


class Reader:
    """Decodes objects from an archive."""

    def __init__(self, archive: Archive, library: Any) -> None:
        self.archive = archive
        self.library = library  # the version of scikit-learn that wrote the file

    def decode(self, document: dict[str, Any], depth: int = 0, level: int = 0, fitted: bool = True) -> Any:
        """Return the object described by a document or a part of it; one without attributes is not fitted."""
        if level > _DEEPEST:
            raise ModelFormatError(f"objects are nested more than {_DEEPEST} deep")
        name = entry(document, "class", str)
        kind = kinds_by_name().get(name)
        if kind is None:
            raise ModelFormatError(f"unknown class {name!r}")
        if _is_of_library(kind):
            self._check_library()
        parameters = self._decode_all(kind, document, "parameters", depth, level, fitted)
        model = _construct(kind, parameters)
        if "output" in document:
            if document["output"] not in _OUTPUTS:
                raise ModelFormatError(f"unknown output {document['output']!r}")
            vars(model)[OUTPUT] = {"transform": document["output"]}
        kind.check_parameters(model)
        if fitted and "attributes" in document:
            _set_attributes(kind, model, self._decode_all(kind, document, "attributes", depth, level, fitted))
        return model

    def _check_library(self) -> None:
        """Raise an error if a newer version of scikit-learn wrote the file: its objects may have other meanings."""
        found, ours = _version(self.library), _version(sklearn.__version__)
        if found is None or ours is None:
            raise ModelFormatError("entry 'scikit-learn' is missing, or not a version")
        if found > ours:
            raise ModelFormatError("it has transformers of a newer scikit-learn: upgrade scikit-learn")

    def _decode_all(
        self, kind: Kind, document: dict[str, Any], what: str, depth: int, level: int, fitted: bool
    ) -> dict[str, Any]:
        """Decode parameters or attributes."""
        decoded = {}
        for name, value in entry(document, what, dict).items():
            inside = fitted and name in kind.inner_fitted

            def decode_inner(found: dict[str, Any], depth: int, inside: bool = inside) -> Any:
                return self.decode(found, depth, level + 1, inside)

            if name not in (*kind.inner, *kind.inner_fitted):
                decoded[name] = decode(value, self.archive, depth)
                continue
            if isinstance(value, dict) and "tuple" not in value:
                entry(value, "class", str)
                if inside:
                    entry(value, "attributes", dict)
            decoded[name] = decode(value, self.archive, depth, decode_inner)
        return decoded


def _is_of_library(kind: Kind) -> bool:
    return kind.cls.__module__.startswith("sklearn.")


def _version(text: Any) -> tuple[int, int] | None:
    """Return the first two numbers of a version."""
    found = re.match(r"(\d{1,9})\.(\d{1,9})", text) if isinstance(text, str) else None
    return None if found is None else (int(found[1]), int(found[2]))


def _construct(kind: Kind, parameters: dict[str, Any]) -> Any:
    name = kind.cls.__name__
    for unknown in sorted(parameters.keys() - kind.names):
        value = parameters.pop(unknown)
        if not any(type(value) is type(each) and value == each for each in kind.of_other_versions.get(unknown, ())):
            raise ModelFormatError(f"{name} has no parameter {unknown!r}")
    try:
        return kind.cls(**parameters)
    except TypeError as reason:  # a parameter without a default is missing
        raise ModelFormatError(f"a {name} is invalid ({reason})") from reason


def _set_attributes(kind: Kind, model: Any, attributes: dict[str, Any]) -> None:
    """Set the attributes of a fit after checking them."""
    name = kind.cls.__name__
    for unknown in attributes:
        if not kind.saves(unknown) or unknown in kind.names:
            raise ModelFormatError(f"{unknown!r} is not an attribute of a fitted {name}")
    vars(model).update(attributes)
    try:
        kind.check_fitted(model, attributes)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as reason:
        if isinstance(reason, ModelFormatError):
            raise
        raise ModelFormatError(f"the values of a {name} do not belong together ({reason})") from reason
    if kind.restore is not None:
        kind.restore(model)


def entry(document: dict[str, Any], name: str, kind: type) -> Any:
    """Return an entry of a document of the given type."""
    if type(document.get(name)) is not kind:
        raise ModelFormatError(f"entry {name!r} is missing, or not of type {kind.__name__}")
    return document[name]
