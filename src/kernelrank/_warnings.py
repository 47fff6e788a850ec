"""Warnings that point to the user's line of code and are shown once per call."""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import joblib

Found = TypeVar("Found")

_LIBRARIES = ("kernelrank", "sklearn", "joblib")  # frames that are not the user's
_PARALLEL = joblib.Parallel.__call__.__code__
_SHOWN_ONCE = ("default", "module", "once")  # actions of a filter

_shown: WeakKeyDictionary[Any, set[type[Warning]]] = WeakKeyDictionary()


def warn(message: str, category: type[Warning], in_search: str = "") -> None:
    """Warn at the innermost line of code outside of kernelrank, scikit-learn and joblib.

    Python shows a warning once per line of code, but forgets which were shown whenever filters change, and
    scikit-learn changes them in every fit of a search or a cross-validation. Therefore a category is shown once per
    call of ``joblib.Parallel`` on the way to the user's line, unless the filters ask for more ("always", "error").
    `in_search` is a remedy that is added if there is such a call.
    """
    frame, level, search = _find_caller(sys._getframe(1))
    message = message if search is None else f"{message}{in_search}"
    if search is not None and _is_shown_once(message, category, frame):
        shown = _shown.setdefault(search, set())
        if category in shown:
            return
        shown.add(category)
        message = f"{message} (This warning is shown once for all fits of a search or cross-validation.)"
    warnings.warn(message, category, stacklevel=level + 1)


def _find_caller(frame: FrameType) -> tuple[FrameType, int, Any]:
    """Return the user's frame, its distance in frames, and the outermost ``joblib.Parallel`` in between."""
    level, search = 1, None
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES:
        if frame.f_code is _PARALLEL:
            search = frame.f_locals["self"]
        frame, level = frame.f_back, level + 1
    return frame, level, search


def _is_shown_once(text: str, category: type[Warning], frame: FrameType) -> bool:
    """Return whether the applicable filter does not repeat a warning."""
    module, line = frame.f_globals.get("__name__", ""), frame.f_lineno
    for action, message, kind, where, number in warnings.filters:
        if (
            issubclass(category, kind)
            and (message is None or re.match(message, text))
            and (where is None or re.match(where, module))
            and number in (0, line)
        ):
            return action in _SHOWN_ONCE
    return True


class Recorded(NamedTuple):
    """Text and category of a warning; unlike the warning itself it can be pickled."""

    text: str
    category: type[Warning]

    @property
    def kind(self) -> tuple[type[Warning], str]:
        """Category and text up to the first digit: warnings that differ only in numbers are of one kind."""
        return self.category, re.split(r"\d", self.text, maxsplit=1)[0]


def record(function: Callable[..., Found], *arguments: Any) -> tuple[Found, list[Recorded]]:
    """Call a function; return its result and the warnings that it would have shown."""
    with warnings.catch_warnings(record=True) as caught:
        found = function(*arguments)
    return found, [Recorded(str(each.message), each.category) for each in caught]


def warn_once(recorded: list[Recorded], among: str) -> None:
    """Show the first warning of each kind and the number of such warnings; `among` names the tasks."""
    counts = Counter(each.kind for each in recorded)
    for first in {each.kind: each for each in reversed(recorded)}.values():
        count = counts[first.kind]
        warn(f"{first.text} ({count} such warnings among {among}.)" if count > 1 else first.text, first.category)
