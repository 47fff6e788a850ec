"""Censored survival times: scikit-survival's data sets, and rows made from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank.losses import Loss, PairwiseSquaredHinge
from kernelrank.pairs import UtilityPairs

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

ALPHA = 0.01
N_FEATURES = 20
SHARES = (0.0, 0.5, 0.9)  # of censored rows
# Without the cause of death of flchain: it is missing for those who live.
_SETS = {
    "breast cancer": ("load_breast_cancer", ()),
    "GBSG2": ("load_gbsg2", ()),
    "WHAS500": ("load_whas500", ()),
    "veterans": ("load_veterans_lung_cancer", ()),
    "flchain": ("load_flchain", ("chapter",)),
}
NAMES = tuple(_SETS)


@dataclass(frozen=True)
class Patients:
    """Features, times, and whether the time is that of an event; if not, it is one of censoring."""

    X: Floats
    y: Floats
    observed: Flags

    @cached_property
    def pairs(self) -> UtilityPairs:
        """Return the pairs of rows whose order is known."""
        return UtilityPairs(self.y, observed=self.observed)

    @cached_property
    def ranks(self) -> Floats:
        """Return positive times of the same order, which is all that the models use."""
        return 1.0 + np.unique(self.y, return_inverse=True)[1]

    @cached_property
    def risk(self) -> Loss:
        """Return a function from scores to the average squared hinge of the pairs."""
        return PairwiseSquaredHinge(self.pairs, "pair")

    def first(self, n_rows: int) -> Patients:
        """Return the first rows."""
        return Patients(self.X[:n_rows], self.y[:n_rows], self.observed[:n_rows])


class Split(NamedTuple):
    """Rows to train on, and rows to test on."""

    train: Patients
    test: Patients


def generated(n_train: int, censored: float) -> Split:
    """Make rows whose times fall with a linear risk, up to noise, and a share of which is censored.

    Times are made on a logarithmic scale, on which they may be negative.
    """
    n_rows = n_train + n_train // 2
    X, _, true, until = latent(n_rows)
    y, observed = censor(true, until, censored)
    return Split(*(Patients(X[rows], y[rows], observed[rows]) for rows in (slice(n_train), slice(n_train, None))))


def latent(n_rows: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Return features, true scores, times, and times of censoring that are still to be shifted."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(n_rows, N_FEATURES)), rng.normal(size=N_FEATURES) / np.sqrt(N_FEATURES)
    scores = X @ w
    return X, scores, scores + rng.normal(size=n_rows), 1.4 * rng.normal(size=n_rows)


def censor(true: Floats, until: Floats, share: float) -> tuple[Floats, Flags]:
    """Return the times that are seen, and which are observed, if a share of the rows is censored."""
    if share == 0:
        return true, np.ones(len(true), np.bool_)
    until = until + np.quantile(true - until, 1 - share)
    return np.minimum(true, until), true <= until


def real(name: str) -> Split:
    """Read a data set of scikit-survival, of which a third is held out.

    Categories become indicators, missing numbers the median of the training rows, and all features are standardised by
    the training rows.
    """
    import pandas as pd
    from sksurv import datasets

    loader, left_out = _SETS[name]
    load: Callable[[], tuple[Any, Any]] = getattr(datasets, loader)
    frame, labels = load()
    event, time = labels.dtype.names
    X = pd.get_dummies(frame.drop(columns=list(left_out)), drop_first=True).to_numpy(np.float64)
    y, observed = labels[time].astype(np.float64), labels[event].astype(np.bool_)
    order = np.random.default_rng(0).permutation(len(y))
    test, train = np.split(order, [len(y) // 3])
    X = np.where(np.isnan(X), np.nanmedian(X[train], axis=0), X)
    deviation = X[train].std(axis=0)
    varied = deviation > 0
    X = (X[:, varied] - X[train][:, varied].mean(axis=0)) / deviation[varied]
    return Split(*(Patients(X[rows], y[rows], observed[rows]) for rows in (train, test)))
