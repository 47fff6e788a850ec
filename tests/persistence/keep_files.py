"""Write model files of this version, to be kept for ever: ``python tests/persistence/keep_files.py``.

They go to ``data/<version>/``, those of relational data and of pipelines to folders ``relational`` and
``pipelines/scikit-learn-<version>`` there; files that are there are never changed, because later versions must read
them.
"""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
import sklearn
from pipelines_to_save import pipelines, targets_for

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
from kernelrank.relational import KroneckerRLS, KroneckerRLSCV, TwoStepRLS

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


def relational_models():
    """Return models of pairs of a row and a column, by name."""
    rng = np.random.default_rng(2013)
    U, V = np.round(rng.normal(size=(6, 3)), 3), np.round(rng.normal(size=(7, 2)), 3)
    Y = np.round(rng.normal(size=(6, 7)), 3)
    holes = np.where(np.arange(42).reshape(6, 7) % 5 == 0, np.nan, Y)
    positive = sp.csr_matrix(U * (U > 0))
    return {
        "complete": KroneckerRLS(0.1).fit(U, V, Y),
        "unknown_entries": KroneckerRLS(0.1, row_kernel="gaussian", ranking=True).fit(U, V, holes),
        "cross_validated": KroneckerRLSCV([1.0, 0.1], leave="both", column_kernel=Gaussian(0.5)).fit(U, V, Y),
        "two_steps": TwoStepRLS(row_kernel=0.5 * Gaussian(1.0), column_kernel="precomputed").fit(positive, V @ V.T, Y),
        "reduced": KroneckerRLS(row_kernel="precomputed", n_row_basis=3, column_kernel=Polynomial(2)).fit(
            U @ U.T, V, Y
        ),
    }


def relational_inputs(model):
    rng = np.random.default_rng(1)
    return [np.round(rng.normal(size=(3, n)), 3) for n in (model.n_row_features_in_, model.n_column_features_in_)]


PIPELINES = (
    *("columns", "rest", "frames inside", "queries", "missing, infrequent", "booleans", "a pipeline with a threshold"),
    *(
        "numbers 4 MinMaxScaler",
        "numbers 12 PolynomialFeatures",
        "numbers 17 SelectKBest",
        "numbers 20 SelectFromModel",
    ),
    *("categories 3 OneHotEncoder", "texts 4 TfidfVectorizer", "texts 6 Pipeline", "numbers 20 SelectFromModel"),
    "imputed by most_frequent",
)


def stem(name):
    """Return the name of a pipeline as that of a file."""
    return re.sub(r"\W+", "_", name)


def rows_to_json(X):
    """Return the rows of a pipeline as values that JSON has."""
    if isinstance(X, pd.DataFrame):
        return {name: X[name].tolist() for name in X}
    return X if isinstance(X, list) else X.tolist()


def rows_from_json(stored):
    if isinstance(stored, dict):
        text = {name for name, values in stored.items() if any(isinstance(each, str) for each in values)}
        return pd.DataFrame({name: pd.Series(stored[name], dtype=object if name in text else None) for name in stored})
    return stored if isinstance(stored[0], str) else np.array(stored)


def keep_pipelines(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, (model, X) in pipelines().items():
        path = folder / f"{stem(name)}.kernelrank"
        if name not in PIPELINES or path.exists():
            continue
        save_model(model.fit(X, targets_for(model)), path)
        stored = {"X": rows_to_json(X), "predictions": model.predict(X).tolist()}
        path.with_suffix(".json").write_text(json.dumps(stored) + "\n")


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
    (folder / "relational").mkdir(exist_ok=True)
    for name, model in relational_models().items():
        path = folder / "relational" / f"{name}.kernelrank"
        if path.exists():
            continue
        save_model(model, path)
        U, V = relational_inputs(model)
        stored = {"U": U.tolist(), "V": V.tolist(), "predictions": model.predict(U, V).tolist()}
        path.with_suffix(".json").write_text(json.dumps(stored) + "\n")
    keep_pipelines(folder / "pipelines" / f"scikit-learn-{'.'.join(sklearn.__version__.split('.')[:2])}")
