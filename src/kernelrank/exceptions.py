"""Errors and warnings of kernelrank."""

from sklearn.exceptions import ConvergenceWarning

__all__ = ["ConvergenceWarning", "MissingQueryWarning", "NoComparablePairsError"]


class NoComparablePairsError(ValueError):
    """No two rows of a common query have different utilities, so there is nothing to rank."""


class MissingQueryWarning(UserWarning):
    """A model fitted with queries is scored as if all rows belonged to a single one."""
