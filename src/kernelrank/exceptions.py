"""Errors and warnings of kernelrank."""

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "ConvergenceWarning",
    "DataFormatError",
    "FewPermutationsWarning",
    "IdenticalRowsWarning",
    "InvalidParameterError",
    "MissingObservedWarning",
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
    """Error for a parameter of a wrong type or out of range; the message names the parameter."""


class UndefinedMetricError(ValueError):
    """Error for a metric that is undefined for all queries."""


class NoComparablePairsError(UndefinedMetricError):
    """Error if no two rows of the same query have different utilities."""


class DataFormatError(ValueError):
    """Error for an invalid or damaged data file; the message starts with the file and, if known, the line."""


class ModelFormatError(ValueError):
    """Error for a file that is not a model file, is damaged, or was written by a newer version."""


class FewPermutationsWarning(UserWarning):
    """Warning that there are too few permutations for a permutation test to be significant."""


class IdenticalRowsWarning(UserWarning):
    """Warning that some test rows are identical to training rows."""


class MissingObservedWarning(UserWarning):
    """Warning that a model fitted to censored utilities is scored as if all utilities were observed."""


class MissingQueryWarning(UserWarning):
    """Warning that a model fitted with queries is scored without them, as if all rows were one query."""


class PathEndWarning(UserWarning):
    """Warning that the best alpha is at an end of the path, so that values beyond it may be better."""


class QueryColumnWarning(MissingQueryWarning):
    """Warning that a ranker is fitted without queries, but a feature is named like query ids."""


class PooledEstimateWarning(UserWarning):
    """Warning that scores of different models are compared, which makes an estimate pessimistic."""


class UndefinedQueryWarning(UserWarning):
    """Warning that a metric is undefined for some queries, which are left out of its mean."""
