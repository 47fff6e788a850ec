"""Docstrings of public names: numpydoc's checks, descriptions of everything, and references that lead somewhere."""

import inspect
import pkgutil
import re
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
from numpydoc.docscrape import NumpyDocString, get_doc_object
from numpydoc.validate import Validator, get_validation_checks, validate

import kernelrank

ROOT = Path(__file__).parents[1]
ROOMS = [f"kernelrank.{info.name}" for info in pkgutil.iter_modules(kernelrank.__path__) if info.name[0] != "_"]
ROLE = re.compile(r":(\w+):`([^`]+)`")
# Packages that the documentation does not describe: references to them are shown as code.
OTHERS = ("sklearn.", "numpy.", "scipy.", "dask.", "matplotlib.", "pandas.")


@cache
def checks():
    """Return the codes of the checks that pyproject.toml asks for."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return get_validation_checks(set(configuration["tool"]["numpydoc_validation"]["checks"]))


def members(cls):
    """Yield the public methods and properties of a class, except those of other packages' classes."""
    for name, member in inspect.getmembers(cls):
        function = getattr(member, "fget", getattr(member, "func", member))
        if name[0] != "_" and not inspect.isclass(member) and is_ours(function):
            yield name, member


def is_ours(obj):
    return str(getattr(obj, "__module__", "")).startswith("kernelrank")


def public(room):
    """Yield the public names of a room that the package defines, with those of classes; objects; and their classes."""
    module = import_module(room)
    for name in module.__all__:
        obj = getattr(module, name)
        if is_ours(obj) and (inspect.isclass(obj) or inspect.isfunction(obj)):
            yield f"{room}.{name}", obj, obj if inspect.isclass(obj) else None
            if inspect.isclass(obj):
                for each, member in members(obj):
                    yield f"{room}.{name}.{each}", member, obj


@cache
def documented():
    """Return the names that have a place in the documentation: those of the rooms that its first page lists."""
    page = (ROOT / "docs/api/index.md").read_text()
    rooms = ["kernelrank", *re.findall(r"^ +(kernelrank\.\w+)$", page, re.MULTILINE)]
    return {*rooms, *(name for room in rooms for name, _, _ in public(room))}


class Docstring(Validator):
    """Docstring as numpydoc validates it, of records and protocols as well.

    The fields of a record, which is a dataclass or a named tuple, may be documented as attributes: users read records
    and seldom make them. A protocol is not called.
    """

    def __init__(self, obj_name):
        super().__init__(get_doc_object(obj_name))

    @property
    def signature_parameters(self):
        if getattr(self.obj, "_is_protocol", False):
            return ()
        return tuple(name for name in super().signature_parameters if name[0] != "_")

    @property
    def doc_all_parameters(self):
        found = super().doc_all_parameters
        if not found and (hasattr(self.obj, "_fields") or hasattr(self.obj, "__dataclass_fields__")):
            attributes = self._doc_parameters(["Attributes"])
            return {name: attributes[name] for name in self.signature_parameters if name in attributes}
        return found


def errors_of(obj, cls=None):
    """Return what is wrong with the docstring of an object, a method of a class perhaps, one line per error."""
    found = [f"{code} {message}" for code, message in validate(obj, Docstring)["errors"] if code in checks()]
    text = inspect.getdoc(obj) or ""
    sections = NumpyDocString(text)
    # numpydoc has no checks of attributes, nor of parameters with a type such as {array-like, sparse matrix}.
    for section in ("Parameters", "Attributes", "Returns", "Yields"):
        for name, kind, description in sections[section]:
            if section == "Attributes" and not kind:
                found.append(f"Attributes: {name!r} has no type")
            if not description:
                found.append(f"{section}: {name or kind!r} has no description")
    listed = [name for names, _ in sections["See Also"] for name, _ in names]
    return list(dict.fromkeys([*found, *broken_references(text, listed, cls)]))


def broken_references(text, listed=(), cls=None):
    """Yield the references of a text, and those listed, to names that the documentation does not have.

    Methods of the class that is documented have short names.
    """
    known = documented() | ({name for name, _ in members(cls)} if cls else set())
    in_text = [target.lstrip("~") for role, target in ROLE.findall(text) if role != "math"]
    for name in [*listed, *in_text]:
        if name not in known and not name.startswith(OTHERS):
            yield f"{name!r} is not the full name of anything public"


@pytest.mark.parametrize("room", ["kernelrank", *ROOMS])
def test_docstrings_are_complete(room):
    found = [f"{name}: {error}" for name, obj, cls in public(room) for error in errors_of(obj, cls)]
    found += [f"{room}: {error}" for error in broken_references(import_module(room).__doc__)]
    assert not found, "\n".join(found)


class Bad(NamedTuple):
    """Record.

    See :class:`RankSVM` and :meth:`kernelrank.RankSVM.fit`.

    Attributes
    ----------
    first : int
    """

    first: int
    second: int


def undescribed(X, y):
    """Return something.

    Parameters
    ----------
    X : {array-like, sparse matrix}

    See Also
    --------
    kernelrank.RankSVM : Ranker.
    kernelrank.estimators.RankSVM : The same, at a place that the documentation does not have.
    """
    return X


@pytest.mark.parametrize(
    ("obj", "errors"),
    [
        (Bad, ["PR01 Parameters {'second'} not documented", "Attributes: 'first' has no description", "'RankSVM' is"]),
        (
            undescribed,
            [
                "PR01 Parameters {'y'} not",
                "RT01 No Returns",
                "Parameters: 'X' has",
                "'kernelrank.estimators.RankSVM' is",
            ],
        ),
    ],
)
def test_the_checks_of_docstrings_can_fail(obj, errors):
    found = errors_of(obj)
    for error in errors:
        assert any(each.startswith(error) for each in found), found
    assert not any("kernelrank.RankSVM'" in each or "RankSVM.fit'" in each for each in found)
