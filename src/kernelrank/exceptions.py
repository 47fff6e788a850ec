"""Errors and warnings of kernelrank."""

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "ConvergenceWarning",
    "DataFormatError",
    "FewPermutationsWarning",
    "IdenticalRowsWarning",
    "InvalidParameterError",
    "MissingQueryWarning",
    "ModelFormatError",
    "NoComparablePairsError",
    "PathEndWarning",
    "PooledEstimateWarning",
    "QueryColumnWarning",
    "UndefinedMetricError",
    "UndefinedQueryWarning",
]


class InvalidParameterError(ValueError, TypeError):
    """A parameter has a value of a wrong type or out of its range; the message names the parameter."""


class UndefinedMetricError(ValueError):
    """A metric is defined for none of the queries."""


class NoComparablePairsError(UndefinedMetricError):
    """No two rows of a common query have different utilities, so there is nothing to rank."""


class DataFormatError(ValueError):
    """A data file does not follow its format, or is damaged; the message starts with the file and, if any, the line."""


class ModelFormatError(ValueError):
    """A file holds no model that can be read: it is of another kind, damaged, or newer than this version."""


class FewPermutationsWarning(UserWarning):
    """Utilities can be exchanged in so few ways that no permutation test finds anything."""


class IdenticalRowsWarning(UserWarning):
    """Rows that are tested on have identical ones among those that are trained on."""


class MissingQueryWarning(UserWarning):
    """A model fitted with queries is scored as if all rows belonged to a single one."""


class PathEndWarning(UserWarning):
    """The best alpha is the first or the last of those that were tried, and others may be better."""


class QueryColumnWarning(MissingQueryWarning):
    """A ranker is fitted without queries, but one of its features has the name of a column of query ids."""


class PooledEstimateWarning(UserWarning):
    """Scores of different models are compared with each other, which makes an estimate pessimistic."""


class UndefinedQueryWarning(UserWarning):
    """A metric is not defined for some of the queries, and its mean is over the others."""
