"""Models of survival times behind one face: train, and return scores that are high for late events.

The models of ``SAME`` minimise ``J(w) = mean squared hinge of the known pairs + alpha ||w||^2``. scikit-survival's
``FastSurvivalSVM`` states it as ``1/2 ||w||^2 + a/2 sum of squared hinges``, with ``a = 1 / (alpha N)`` for N pairs.
Packages are imported when they are used, so that a missing one can be left out.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.survival_data import Patients
from kernelrank import RankSVM

Floats = NDArray[np.float64]

TIGHT = 1e-6  # at which objectives agree with those of scikit-survival in ten digits


@dataclass
class Fitted:
    """Function from rows to scores, and the weights if the model has the common objective."""

    scores: Callable[[Floats], Any]
    w: Floats | None = None


Fit = Callable[[Patients, float], Fitted]


@dataclass(frozen=True)
class Model:
    """Method to fit rows with alpha, and the most rows it takes part with."""

    package: str
    fit: Fit
    most_rows: int = sys.maxsize

    def is_installed(self) -> bool:
        """Return whether the package is there."""
        try:
            importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return False
        return True


def kernelrank(loss: Literal["hinge", "squared_hinge"], tol: float = 1e-3) -> Fit:
    def fit(rows: Patients, alpha: float) -> Fitted:
        model = RankSVM(alpha, loss=loss, tol=tol).fit(rows.X, rows.y, observed=rows.observed)
        return Fitted(model.predict, model.coef_ if loss == "squared_hinge" else None)

    return fit


def of_scikit_survival(module: str, name: str, **settings: Any) -> Fit:
    def fit(rows: Patients, alpha: float) -> Fitted:
        from sksurv.util import Surv

        same = name == "FastSurvivalSVM"
        weight = {"alpha": 1 / (alpha * rows.pairs.n_pairs)} if same else {}
        model = getattr(importlib.import_module(f"sksurv.{module}"), name)(**weight, **settings)
        model.fit(rows.X, Surv.from_arrays(rows.observed, rows.ranks))
        return Fitted(lambda X: -model.predict(X), model.coef_ if same else None)

    return fit


def fast_svm(optimizer: str, **settings: Any) -> Fit:
    return of_scikit_survival("svm", "FastSurvivalSVM", optimizer=optimizer, random_state=0, **settings)


def of_xgboost(rows: Patients, _: float) -> Fitted:
    from xgboost import XGBRegressor

    model = XGBRegressor(objective="survival:cox", n_jobs=1)
    model.fit(rows.X, np.where(rows.observed, rows.ranks, -rows.ranks))  # the sign tells who is censored
    return Fitted(lambda X: -model.predict(X, output_margin=True))  # otherwise exp of it, which can be infinite


OURS, OURS_TIGHT, OURS_HINGE = "squared hinge", f"tol {TIGHT:g}", "hinge"
SURVIVAL = "scikit-survival"

# The trees are linearithmic. "simple" and "PRSVM" form the pairs; "direct-count" goes through them row by row.
SAME: dict[str, Model] = {
    OURS: Model("kernelrank", kernelrank("squared_hinge")),
    OURS_TIGHT: Model("kernelrank", kernelrank("squared_hinge", TIGHT)),
    "avltree": Model(SURVIVAL, fast_svm("avltree")),
    "rbtree": Model(SURVIVAL, fast_svm("rbtree")),
    "direct-count": Model(SURVIVAL, fast_svm("direct-count"), 400),
    "PRSVM": Model(SURVIVAL, fast_svm("PRSVM"), 1_000),
    "simple": Model(SURVIVAL, fast_svm("simple"), 1_000),
}
OTHERS: dict[str, Model] = {
    OURS_HINGE: Model("kernelrank", kernelrank("hinge")),
    "Cox": Model(SURVIVAL, of_scikit_survival("linear_model", "CoxPHSurvivalAnalysis")),
    "Coxnet": Model(SURVIVAL, of_scikit_survival("linear_model", "CoxnetSurvivalAnalysis")),
    "forest": Model(SURVIVAL, of_scikit_survival("ensemble", "RandomSurvivalForest", random_state=0), 1_000),
    "XGBoost": Model("xgboost", of_xgboost),
}
MODELS = SAME | OTHERS
TREES = ("avltree", "rbtree")
