"""Write model files of this version, to be kept for ever: ``python tests/persistence/keep_files.py``.

They go to ``data/<version>/``; files that are there are never changed, because later versions must read them.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

import kernelrank
from kernelrank import (
    RLS,
    RLSCV,
    GreedyRankRLS,
    MaxMarginClustering,
    OrdinalSVM,
    RankingClassifier,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
)
from kernelrank.kernels import Gaussian, Linear, Polynomial
from kernelrank.persistence import save_model

DATA = Path(__file__).parent / "data"


def models():
    """Return models with every kind of value that a file can hold, by name."""
    rng = np.random.default_rng(2011)
    X = rng.normal(size=(80, 4))
    y = np.round(X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=80))
    qid = np.arange(80) // 8
    named = pd.DataFrame(X, columns=["age", "größe", "price in €", "x 4"])
    folds = [(np.arange(40), np.arange(40, 80)), (np.arange(40, 80), np.arange(40))]
    grades = np.digitize(y, [-1.0, 2.0])
    return {
        "hinge": RankSVM(1e-2).fit(named, y, qid=qid),
        "squared_hinge": RankSVM(np.float64(0.1), loss="squared_hinge", warm_start=True).fit(X, y),
        "cross_validated": RankSVMCV([1.0, 0.1, 0.01], cv=folds, tol=1e-4).fit(X, y, qid=qid),
        "least_squares_ranking": RankRLS(1e-2, ties="drop").fit(named, y, qid=qid),
        "least_squares_of_pairs": RankRLS(kernel=Polynomial(3, gamma=0.1)).fit_pairs(X[:9], [[0, 1], [2, 5], [8, 7]]),
        "sparse_basis": RLS(0.1, kernel=0.5 * Linear() * Linear() + Gaussian(np.float64(0.3))).fit(
            sp.csr_matrix(np.where(np.abs(X) > 1, X, 0.0)), np.stack([y, X[:, 0] ** 2], axis=1)
        ),
        "leave_pair_out": RankRLSCV([1.0, 0.1, 0.01], kernel="gaussian").fit(named[:20], y[:20]),
        "reduced_set": RankRLS(0.1, kernel="gaussian", n_basis=7, cost="unit").fit(X, y, qid=qid),
        "kernel_svm": RankSVM(0.1, kernel="gaussian", n_basis=9).fit(named, y, qid=qid),
        "greedy": GreedyRankRLS(2).fit(named, y, qid=qid),
        "clusters": MaxMarginClustering(kernel="gaussian", n_basis=9).fit(named),
        "ordinal": OrdinalSVM(1e-2, kernel="gaussian", n_basis=9).fit(named, grades),
        "categories": RankingClassifier(RankRLS(), classes=np.array(["2", "10", "0"])).fit(
            named, np.array(["2", "10", "0"])[grades]
        ),
        "precomputed": RLSCV(3, cv=4, kernel="precomputed").fit(X[:10] @ X[:10].T, y[:10]),
    }


def inputs(n_features):
    return np.random.default_rng(1).normal(size=(6, n_features))


def read_scores(path, n_features):
    """Return rows that were stored with a file, and their scores."""
    columns = np.loadtxt(path.with_suffix(".txt"))
    scores = columns[:, n_features:]
    return columns[:, :n_features], scores if scores.shape[1] > 1 else scores[:, 0]


if __name__ == "__main__":
    folder = DATA / kernelrank.__version__
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in models().items():
        path = folder / f"{name}.kernelrank"
        if path.exists():
            continue
        save_model(model, path)
        X = inputs(model.n_features_in_)
        columns = np.column_stack([X, model.predict(X).astype(float)])
        np.savetxt(path.with_suffix(".txt"), columns, fmt="%.17g", header="features of each row, then its scores")
