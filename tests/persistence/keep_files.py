"""Write model files of this version, to be kept for ever: ``python tests/persistence/keep_files.py``.

They go to ``data/<version>/``; files that are there are never changed, because later versions must read them.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import kernelrank
from kernelrank import RankSVM, RankSVMCV
from kernelrank.persistence import save_model

DATA = Path(__file__).parent / "data"


def models():
    """Models with every kind of value that a file can hold, by name."""
    rng = np.random.default_rng(2011)
    X = rng.normal(size=(80, 4))
    y = np.round(X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=80))
    qid = np.arange(80) // 8
    named = pd.DataFrame(X, columns=["age", "größe", "price in €", "x 4"])
    folds = [(np.arange(40), np.arange(40, 80)), (np.arange(40, 80), np.arange(40))]
    return {
        "hinge": RankSVM(1e-2).fit(named, y, qid=qid),
        "squared_hinge": RankSVM(np.float64(0.1), loss="squared_hinge", warm_start=True).fit(X, y),
        "cross_validated": RankSVMCV([1.0, 0.1, 0.01], cv=folds, tol=1e-4).fit(X, y, qid=qid),
    }


def inputs(n_features):
    return np.random.default_rng(1).normal(size=(6, n_features))


if __name__ == "__main__":
    folder = DATA / kernelrank.__version__
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in models().items():
        path = folder / f"{name}.kernelrank"
        if path.exists():
            continue
        save_model(model, path)
        X = inputs(model.n_features_in_)
        columns = np.column_stack([X, X @ model.coef_])
        np.savetxt(path.with_suffix(".txt"), columns, fmt="%.17g", header="features of each row, then its score")
