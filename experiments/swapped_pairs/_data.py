"""The twelve sets with their published results, and the preparation of their columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.harness import data_file

QUICK_ROWS = 60
CODED = "Servo"  # the set for which other codings of nominal columns are tried


class Published(NamedTuple):
    mean: float
    deviation: float
    mark: str = ""


class DataSet(NamedTuple):
    """Name and size as in the table, the columns that it counts as nominal by their number, and its three results."""

    name: str
    file: str
    nominal: tuple[int, ...]
    n_train: int
    published: tuple[Published, Published, Published]


def _set(name: str, file: str, nominal: tuple[int, ...], n_train: int, *published: tuple) -> DataSet:
    return DataSet(name, file, nominal, n_train, tuple(Published(*each) for each in published))


SETS = (  # table 1
    _set("Diabetes", "diabetes", (), 30, (31.50, 7.79), (30.74, 8.58), (30.82, 7.07)),
    _set("Pyrimidines", "pyrimidines", (), 50, (22.37, 5.12, "††"), (20.42, 3.31, "††"), (18.86, 3.43)),
    _set("Servo", "servo", (0, 1, 2, 3), 100, (20.61, 3.07, "††"), (18.18, 2.21, "††"), (16.51, 2.75)),
    _set("Triazines", "triazines", (), 100, (34.33, 2.87), (36.64, 2.96, "††"), (34.84, 2.93)),
    _set("Wpbc", "wpbc", (), 130, (36.17, 3.73), (36.73, 3.89), (36.17, 3.93)),
    _set("MachineCPU", "machine_cpu", (), 150, (14.76, 2.04, "††"), (13.82, 1.82), (13.96, 2.24)),
    _set("AutoMPG", "auto_mpg", (0, 5, 6), 200, (9.44, 0.63, "†"), (9.37, 0.73, "†"), (9.22, 0.61)),
    _set("Boston", "boston", (3,), 200, (13.15, 0.74, "††"), (12.42, 0.85), (12.37, 1.08)),
    _set("Stock", "stock", (), 200, (10.25, 0.69, "††"), (6.12, 0.59, "††"), (5.36, 0.64)),
    _set("Abalone", "abalone", (0,), 200, (19.50, 0.52), (19.41, 0.60), (19.55, 0.69)),
    _set("Bank8", "bank8FM", (), 200, (6.92, 0.25), (7.04, 0.24), (7.00, 0.51)),
    _set("Bank32", "bank32nh", (), 200, (23.48, 0.96, "††"), (23.63, 1.36, "†"), (23.07, 0.84)),
)


def load(of: DataSet, quick: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return numeric columns, nominal ones as the numbers of their sorted values, and the target."""
    rows = generate(of) if quick else pd.read_csv(data_file(f"regression/{of.file}.csv.gz"))
    features, target = rows.iloc[:, :-1], rows.iloc[:, -1]
    nominal = features.iloc[:, list(of.nominal)]
    numeric = features.drop(columns=nominal.columns)
    numbers = [np.unique(column, return_inverse=True)[1] for column in nominal.to_numpy(str).T]
    return numeric.to_numpy(float), np.array(numbers, dtype=float).reshape(-1, len(rows)).T, target.to_numpy(float)


def generate(of: DataSet) -> pd.DataFrame:
    """Return a small set with five columns, the nominal ones of integers."""
    rng = np.random.default_rng(len(of.name))
    X = rng.normal(size=(QUICK_ROWS, 5))
    nominal = [column for column in of.nominal if column < 5]
    X[:, nominal] = np.round(X[:, nominal])
    return pd.DataFrame({**{f"x{k}": X[:, k] for k in range(5)}, "y": X.sum(axis=1) + rng.normal(size=QUICK_ROWS)})


def standardise(X: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Return columns with mean 0 and standard deviation 1 in the training rows."""
    scale = X[train].std(axis=0)
    return (X - X[train].mean(axis=0)) / np.where(scale > 0, scale, 1.0)


def to_unit(X: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Return columns from 0 to 1 in the training rows."""
    low, width = X[train].min(axis=0), np.ptp(X[train], axis=0)
    return (X - low) / np.where(width > 0, width, 1.0)


def indicators(numbers: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Return one 0/1 column per value of each nominal column."""
    found = [np.equal.outer(column, np.unique(column)) for column in numbers.T]
    return np.hstack([np.empty((len(numbers), 0)), *found])


# Codings of nominal columns, given as numbers; the first is that of the study.
CODINGS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "0/1 columns": indicators,
    "0/1 columns, standardised": lambda numbers, train: standardise(indicators(numbers, train), train),
    "numbers": lambda numbers, train: numbers,
    "numbers, standardised": standardise,
    "numbers, scaled to [0, 1]": to_unit,
}
FIRST, *OTHERS = CODINGS
