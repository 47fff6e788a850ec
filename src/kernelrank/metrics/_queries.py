"""Summary of the values per query: their mean, or the values themselves."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernelrank._rules import FLAG, choice, number
from kernelrank._warnings import warn
from kernelrank.exceptions import UndefinedMetricError, UndefinedQueryWarning

# A float, or an array with per_query=True. Overloads could tell the two apart but would triple every signature.
Summary = Any
Undefined = Literal["skip", 0, 1]
UNDEFINED = choice("skip") | number("0 or 1", lambda value: value in (0, 1))
COUNT_AS_ZERO = " Pass undefined=0 to count them as 0, as trec_eval and LETOR do."


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """Divide elementwise; 0 / 0 is NaN."""
    with np.errstate(invalid="ignore"):
        return np.asarray(part / whole, dtype=np.float64)


def comparable_pair(*, censored: bool) -> str:
    """Return what a query lacks without comparable pairs."""
    return f"pair of rows {'whose order is known' if censored else 'with different values of y_true'}"


def summarise(
    values: NDArray[np.float64],
    per_query: bool,
    undefined: Undefined,
    lacking: str,
    error: type[UndefinedMetricError] = UndefinedMetricError,
    remedy: str = "",
) -> Summary:
    """Return the mean over queries, or the values per query; NaN marks a query where the metric is undefined.

    `lacking` names what an undefined query lacks, for the error and the warning; `remedy` is appended to the warning.
    """
    FLAG("per_query", per_query)
    missing = np.isnan(values)
    if undefined != "skip":
        values, missing = np.where(missing, float(undefined), values), np.zeros(len(values), dtype=bool)
    if per_query:
        return values
    if missing.all():
        where = " in any query" if len(values) > 1 else ""
        raise error(f"The metric is not defined: there is no {lacking}{where}.")
    if missing.any():
        warn(
            f"{missing.sum()} of {len(values)} queries have no {lacking} and are left out of the mean.{remedy}",
            UndefinedQueryWarning,
            in_search=" In a search or cross-validation, use GroupKFold, so that queries are not split.",
        )
    return float(np.mean(values[~missing]))
