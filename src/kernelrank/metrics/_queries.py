"""From values of queries to the result of a metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelrank._rules import FLAG
from kernelrank._warnings import warn
from kernelrank.exceptions import UndefinedMetricError, UndefinedQueryWarning

# A float, or an array for per_query=True. Overloads would say so at the price of every signature three times.
Summary = Any


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """Divide, with NaN where both are zero."""
    with np.errstate(invalid="ignore"):
        return np.asarray(part / whole, dtype=np.float64)


def summarise(
    values: NDArray[np.float64], per_query: bool, lacking: str, error: type[UndefinedMetricError] = UndefinedMetricError
) -> Summary:
    """Average over the queries whose value is not NaN; `lacking` says what the others have none of."""
    FLAG("per_query", per_query)
    if per_query:
        return values
    undefined = np.isnan(values)
    if undefined.all():
        where = " in any query" if len(values) > 1 else ""
        raise error(f"The metric is not defined: there is no {lacking}{where}.")
    if undefined.any():
        warn(
            f"{undefined.sum()} of {len(values)} queries have no {lacking} and are left out of the mean.",
            UndefinedQueryWarning,
        )
    return float(np.mean(values[~undefined]))
