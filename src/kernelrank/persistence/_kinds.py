"""Kinds of objects that a model file can hold: a closed list of classes, and conditions on their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from kernelrank._rules import Rule, show, whole
from kernelrank.exceptions import ModelFormatError

Check = Callable[[Any, dict[str, Any]], None]

# Private attributes that are not saved: requests of metadata, and the identity of an object in memory.
_NOT_SAVED = ("_metadata_request", "_stop_words_id")
OUTPUT = "_sklearn_output_config"


@dataclass(frozen=True)
class ArrayOf:
    """Condition on an attribute: an array of numbers with named axes, of which equal names have equal lengths."""

    number: type
    axes: tuple[str, ...]
    optional: bool = False  # may be None
    sparse: bool = False  # may be a sparse matrix
    finite: bool = False

    def __call__(self, name: str, value: Any, lengths: dict[str, int]) -> None:
        """Raise an error unless the attribute is such an array; lengths of new axes are added to `lengths`."""
        if value is None and self.optional:
            return
        known = isinstance(value, np.ndarray) or (self.sparse and sp.issparse(value))
        if not known or not issubclass(value.dtype.type, self.number) or value.ndim != len(self.axes):
            raise ModelFormatError(
                f"{name} must be an array of {self.number.__name__} with {len(self.axes)} dimensions"
            )
        if value.dtype.kind == "O" and not all(type(each) is str for each in value.flat):
            raise ModelFormatError(f"{name} must be an array of strings")
        if self.finite and not np.isfinite(value).all():
            raise ModelFormatError(f"{name} has elements that are not finite")
        for axis, length in zip(self.axes, value.shape, strict=True):
            # The length of an axis is given by an attribute, or by the first array that has it.
            if length != lengths.setdefault(axis, length):
                raise ModelFormatError(f"{name} has shape {value.shape}, but {axis} is {lengths[axis]}")


def no_check(model: Any, fitted: dict[str, Any]) -> None:
    """Check nothing."""


def number_of_inputs(model: Any) -> int | None:
    """Return the number of columns that a model takes; None if it does not take columns of numbers."""
    found = getattr(model, "n_features_in_", None)
    return None if found is None else int(found)


@dataclass(frozen=True)
class Kind:
    """Class that a file may name.

    Parameters
    ----------
    cls : type
    parameters : mapping of str to Rule
        Rules of parameters that fitted objects read; others are data without further conditions.
    attributes : mapping of str to ArrayOf or Rule
        Conditions on attributes, in this order. Names with a leading underscore are saved only if they are listed.
    optional : tuple of str
        Those of `attributes` that may be absent.
    check : callable
        Checks whatever concerns several values, given the complete object and its attributes.
    n_out : callable, optional
        Returns the number of columns of ``transform``.
    restore : callable, optional
        Called with a loaded object, for attributes that have a meaning in one process only.
    of_other_versions : mapping of str to tuple
        Parameters that only other versions of the class have, and the values that make no difference.
    inner, inner_fitted : tuple of str
        Parameters and attributes that may contain objects, unfitted or fitted ones.
    private : tuple of str
        Further private attributes that are saved.
    strict : bool
        Whether other private attributes are errors; otherwise they are not saved.
    """

    cls: type
    parameters: Mapping[str, Rule] = field(default_factory=dict)
    attributes: Mapping[str, ArrayOf | Rule] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    check: Check = no_check
    n_out: Callable[[Any], int] | None = None
    restore: Callable[[Any], None] | None = None
    of_other_versions: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    inner: tuple[str, ...] = ()
    inner_fitted: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    strict: bool = True

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the parameters."""
        return frozenset(signature(self.cls).parameters)

    def saves(self, name: str) -> bool:
        """Return whether an attribute of this name is saved."""
        return name in self.attributes or name in self.private or (name.endswith("_") and not name.startswith("_"))

    def fitted_attributes(self, model: Any) -> dict[str, Any]:
        """Return the attributes of a fit.

        Raises
        ------
        TypeError
            If a private attribute is not known, so that it may be necessary in predictions.
        """
        parameters = model.get_params(deep=False)
        found = {name: value for name, value in vars(model).items() if name not in parameters}
        for name in found:
            if self.strict and name.startswith("_") and name not in (*self.attributes, *_NOT_SAVED, OUTPUT):
                raise TypeError(
                    f"The {self.cls.__name__} has an attribute {name!r}, which this version of kernelrank does not"
                    " know. Upgrade kernelrank, or use an older version of scikit-learn; or pickle the model."
                )
        return {name: value for name, value in found.items() if self.saves(name)}

    def check_parameters(self, model: Any) -> None:
        """Raise an error if a parameter has a value that a fitted object cannot read."""
        values = model.get_params(deep=False)
        for name, rule in self.parameters.items():
            _apply(rule, name, values[name])

    def check_fitted(self, model: Any, fitted: dict[str, Any]) -> None:
        """Raise an error unless all attributes are present and consistent."""
        lengths: dict[str, int] = {}
        for name, condition in self.attributes.items():
            if name not in fitted:
                if name in self.optional:
                    continue
                raise ModelFormatError(f"the attribute {name} of {self.cls.__name__} is missing")
            if isinstance(condition, ArrayOf):
                condition(name, fitted[name], lengths)
                continue
            _apply(condition, name, fitted[name])
            if condition is SIZE:
                lengths[name] = int(fitted[name])
        self.check(model, fitted)


def _apply(rule: Rule, name: str, value: Any) -> None:
    """Apply a rule to a value of a file, whose truth and order may not even be defined."""
    try:
        accepted = rule.accepts(value)
    except (TypeError, ValueError, ArithmeticError):
        accepted = False
    if not accepted:
        raise ModelFormatError(f"{name} must be {rule.expected}, got {show(value)}")


SIZE = whole(0)

KINDS: dict[type, Kind] = {}


def register(kind: Kind) -> None:
    """Put a class on the list of those that a file may name."""
    KINDS[kind.cls] = kind


def kinds_by_name() -> dict[str, Kind]:
    """Return the classes that a file may name, by name."""
    return {kind.cls.__name__: kind for kind in KINDS.values()}


def require(condition: bool, message: str) -> None:
    """Raise an error if a condition on the contents of a file is not met."""
    if not condition:
        raise ModelFormatError(message)


def is_fitted(model: Any) -> bool:
    """Return whether an object has been fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True
