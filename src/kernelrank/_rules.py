"""Rules for the values of parameters, one for each kind of parameter.

A rule is called with the name of a parameter and its value. It returns None if it accepts the value; otherwise it
raises an error that names the parameter, the expected values and the value received. ``a | b`` accepts the
values that either of two rules accepts.

Estimators are checked by :func:`check_parameters`: a parameter has the same meaning and rule in all of them.
Functions call the rules of their arguments.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelrank.exceptions import InvalidParameterError

_LARGEST_COUNT = 2**63 - 1  # limit of compiled code
_MOST_THREADS = 2**31 - 1
_LARGEST_SEED = 2**32 - 1


@dataclass(frozen=True)
class Rule:
    """Condition on a value, and its description in an error."""

    expected: str
    accepts: Callable[[Any], bool]

    def __call__(self, name: str, value: Any) -> None:
        """Raise an error that names the parameter, unless the value is accepted."""
        if not self.accepts(value):
            raise InvalidParameterError(f"{name} must be {self.expected}, got {show(value)}.")

    def __or__(self, other: Rule) -> Rule:
        """Return a rule that accepts what either rule accepts."""
        return Rule(f"{self.expected} or {other.expected}", lambda value: self.accepts(value) or other.accepts(value))


def show(value: Any) -> str:
    """Return a short representation of any value, even if its own ``repr`` fails."""
    try:
        return " ".join(reprlib.repr(value).split())
    except Exception:  # such as an integer with too many digits
        return f"an object of type {type(value).__name__}"


def number(expected: str, accepts: Callable[[float], bool]) -> Rule:
    """Return the rule for a real number that satisfies a condition; a bool is not a number."""
    return Rule(expected, lambda value: _is_number(value) and bool(accepts(_as_float(value))))


def whole(least: int, most: float = _LARGEST_COUNT) -> Rule:
    """Return the rule for an integer in a range."""
    words = "a positive integer" if least == 1 else f"an integer of at least {least}"
    words = words if most >= _LARGEST_COUNT else f"an integer from {least} to {most}"
    return Rule(words, lambda value: _is_whole(value) and least <= value <= most)


def choice(*names: str) -> Rule:
    """Return the rule for one of several names."""
    words = [repr(name) for name in names]
    expected = " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    return Rule(expected, lambda value: isinstance(value, str) and value in names)


def _is_number(value: Any) -> bool:
    # Fractions and decimals are numbers as well, but neither NumPy nor compiled code supports them.
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer beyond float64; NaN satisfies no condition
        return np.nan


def _is_estimator(value: Any) -> bool:
    return callable(getattr(value, "fit", None)) and not isinstance(value, type)


def _is_splitter(value: Any) -> bool:
    return callable(getattr(value, "split", None)) and callable(getattr(value, "get_n_splits", None))


def _are_positive(values: Any) -> bool:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    return numbers.ndim == 1 and len(numbers) > 0 and bool(((numbers > 0) & (numbers < np.inf)).all())


def _is_seed(value: Any) -> bool:
    return _is_whole(value) and 0 <= value <= _LARGEST_SEED


def _are_names(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


NONE = Rule("None", lambda value: value is None)
FLAG = Rule("True or False", lambda value: isinstance(value, bool | np.bool_))
CALLABLE = Rule("a function", callable)
TEXT = Rule("a string", lambda value: isinstance(value, str))
NAMES = Rule("a list of strings", _are_names)
PATH = Rule("a path", lambda value: isinstance(value, str | os.PathLike))
NUMBER = number("a number", lambda value: not np.isnan(value))
POSITIVE = number("a positive number", lambda value: 0 < value < np.inf)
NOT_NEGATIVE = number("a non-negative finite number", lambda value: 0 <= value < np.inf)
SHARE = number("a number from 0 to 1", lambda value: 0 <= value <= 1)
POSITIVE_NUMBERS = Rule("a non-empty list of positive numbers", _are_positive)
PROBABILITY = number("a number between 0 and 1, both excluded", lambda value: 0 < value < 1)
COUNT = whole(1)
ESTIMATOR = Rule("an estimator instance with a method fit, not a class", _is_estimator)
N_JOBS = NONE | Rule(
    "an integer other than 0", lambda value: _is_whole(value) and value != 0 and abs(int(value)) <= _MOST_THREADS
)
VERBOSE = FLAG | whole(0)
RANDOM_STATE = NONE | Rule(
    "an integer from 0 to 2**32 - 1 or a numpy.random.RandomState",
    # scikit-learn interprets the module numpy.random as the global generator
    lambda value: isinstance(value, np.random.RandomState) or value is np.random or _is_seed(value),
)
SCORING = NONE | Rule(
    "the name of a metric, a scorer or a function", lambda value: isinstance(value, str) or callable(value)
)
FOLDS = NONE | Rule(
    "a number of folds of at least 2, a splitter of scikit-learn, or an iterable of (train, test)",
    lambda value: (
        (_is_whole(value) and 2 <= value <= _LARGEST_COUNT)
        or _is_splitter(value)
        or (isinstance(value, Iterable) and not isinstance(value, str | bytes))
    ),
)

# Rules of the estimators' parameters. Kernels, classes and other objects are checked where they are used.
PARAMETERS: dict[str, Rule] = {
    "alpha": POSITIVE,
    "alphas": COUNT | POSITIVE_NUMBERS,
    "beta": POSITIVE,
    "column_alpha": POSITIVE,
    "cost": choice("magnitude", "unit", "relative"),
    "cv": FOLDS,
    "estimator": NONE | ESTIMATOR,
    "fit_intercept": FLAG,
    "leave": choice("entry", "row", "column", "both"),
    "loss": choice("hinge", "squared_hinge"),
    "max_iter": COUNT,
    "min_share": number("a number above 0, up to 0.5", lambda value: 0 < value <= 0.5),
    "n_basis": COUNT | NONE,
    "n_column_basis": COUNT | NONE,
    "n_features": COUNT | NONE,
    "n_init": COUNT,
    "n_jobs": N_JOBS,
    "n_row_basis": COUNT | NONE,
    "positive": FLAG,
    "positive_rate": PROBABILITY | NONE,
    "query_weighting": choice("query", "pair"),
    "random_state": RANDOM_STATE,
    "ranker": NONE | ESTIMATOR,
    "ranking": FLAG,
    "row_alpha": POSITIVE,
    "scoring": SCORING,
    "solver": choice("auto", "direct", "cg"),
    "threshold": choice("cross-validation", "rate"),
    "ties": choice("keep", "drop"),
    "tol": POSITIVE,
    "verbose": VERBOSE | CALLABLE,
    "warm_start": FLAG,
}


def check_parameters(estimator: Any, **special: Rule) -> None:
    """Check all parameters of an estimator that have a rule; `special` rules override the common ones."""
    rules = PARAMETERS | special
    for name, value in estimator.get_params(deep=False).items():
        if name in rules:
            rules[name](name, value)
