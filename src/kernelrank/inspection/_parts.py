"""Contributions of the original columns to the score of each row, for linear models and pipelines."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from kernelrank._arrays import to_host
from kernelrank.inspection._explain import transform_rows, unwrap
from kernelrank.inspection._rows import column_names
from kernelrank.inspection._sources import trace

Array = NDArray[np.float64]


def parts_of_rows(model: Any, X: Any, feature_names: Any = None) -> tuple[list[str], Array]:
    """Return the names of the original columns, and what each contributes to the score of each row.

    The difference of two rows of the result is that of :func:`~kernelrank.inspection.explain`. TypeError or ValueError
    says why a model has no such contributions.
    """
    steps, last = unwrap(model)
    if getattr(last, "coef_", None) is None:
        raise TypeError(f"{type(last).__name__} has no coefficients: its scores are not sums over features")
    coef = np.atleast_2d(np.asarray(to_host(last.coef_), dtype=np.float64))
    if len(coef) != 1:
        raise ValueError("the model has several outputs")
    names = column_names(X, model, feature_names)
    Z = transform_rows(steps, X)
    n_made = coef.shape[1]
    sources = trace(Pipeline(steps), names, n_made) if steps else names
    labels = list(dict.fromkeys(sources))
    places = {label: number for number, label in enumerate(labels)}
    columns = np.array([places[label] for label in sources], dtype=np.intp)
    summing = sp.csr_array((coef[0], (np.arange(n_made), columns)), shape=(n_made, len(labels)))
    if sp.issparse(Z):
        return labels, np.asarray((sp.csr_array(Z) @ summing).toarray())
    return labels, np.asarray(np.asarray(to_host(Z), dtype=np.float64) @ summing)
