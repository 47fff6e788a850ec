"""Fits that replace an earlier one only when they have succeeded, and leave nothing of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Estimator = TypeVar("Estimator")


@contextmanager
def refit(estimator: Estimator, *private: str) -> Iterator[Estimator]:
    """Yield an unfitted copy of an estimator, whose state replaces the estimator's at the end of the block.

    If the block raises an error, or is interrupted, the estimator stays as it was.
    """
    fitted = unfitted_copy(estimator, *private)
    yield fitted
    adopt(estimator, fitted)


def unfitted_copy(estimator: Estimator, *private: str) -> Estimator:
    """Return a copy without what a fit has learnt: attributes that end with an underscore, and `private` ones."""
    copy: Any = object.__new__(type(estimator))
    state = vars(estimator).items()
    copy.__dict__.update({name: value for name, value in state if not name.endswith("_") and name not in private})
    found: Estimator = copy
    return found


def adopt(estimator: Estimator, fitted: Estimator) -> None:
    """Replace the state of an estimator by that of a fitted copy, in one step."""
    estimator.__dict__ = fitted.__dict__
