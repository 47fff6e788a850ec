"""OHSUMED: what rows of a query, in training and test at once, do to an estimate (T11, section 5.5)."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._timing import show_progress, table
from kernelrank import RankRLS
from kernelrank.exceptions import IdenticalRowsWarning
from kernelrank.io import load_svmlight
from kernelrank.kernels import Gaussian
from kernelrank.model_selection import estimate_concordance

FILES = "letor/OHSUMED_{kind}_S{number}.txt.xz"
KINDS = {"QueryLevelNorm": "scaled inside queries", "min": "raw features"}
N_FEATURES = 45
N_FOLDS = 5
N_BASIS = 300
MODELS: dict[str, RankRLS] = {
    "linear": RankRLS(1e-4),
    "gaussian, gamma 0.02": RankRLS(1e-3, kernel=Gaussian(0.02), n_basis=N_BASIS),
    "gaussian, gamma 0.5": RankRLS(1e-3, kernel=Gaussian(0.5), n_basis=N_BASIS),
}


def load(folder: Path, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, grades and queries of all five parts."""
    paths = [folder / FILES.format(kind=kind, number=number) for number in range(1, 6)]
    parts = [load_svmlight(path, n_features=N_FEATURES, zero_based=False) for path in paths]
    X = sp.vstack([part.X for part in parts]).toarray()
    return X, np.concatenate([part.y for part in parts]), np.concatenate([part.qid for part in parts])


def estimate(model: RankRLS, data: tuple[np.ndarray, ...], split: bool) -> Any:
    """Hold out whole queries, or rows of them."""
    X, y, qid = data
    pipeline = make_pipeline(StandardScaler(), model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdenticalRowsWarning)  # they have no feature at all, or a twin in their query
        return estimate_concordance(pipeline, X, y, qid=qid, cv=N_FOLDS, split_groups=split, verbose=0)


def run(scale: float) -> str:
    """Return the table; a line that says what is missing, without the data."""
    if "KERNELRANK_DATA" not in os.environ:
        return f"Left out: it needs {FILES.format(kind='*', number='*')} in the folder that KERNELRANK_DATA names."
    rows = []
    for kind, features in list(KINDS.items())[: 1 if scale < 1 else None]:
        data = load(Path(os.environ["KERNELRANK_DATA"]), kind)
        for name, model in MODELS.items():
            show_progress(f"OHSUMED, {features}: {name}")
            whole, torn = (estimate(model, data, split) for split in (False, True))
            more = torn.values - whole.values
            more = more[~np.isnan(more)]
            error = more.std(ddof=1) / np.sqrt(len(more))
            cells = [
                f"{each.estimate:.4f} ({each.interval[0]:.3f} to {each.interval[1]:.3f})" for each in (whole, torn)
            ]
            rows.append([f"{features}, {name}", *cells, f"{more.mean():+.4f} ± {error:.4f}"])
    show_progress("")
    return table(["model", "folds of queries", "folds of rows", "flattery"], rows)
