"""The four workloads: one read from a public file, three made from fixed seeds.

housing
    California housing, standardised, 8 features; utility = median house value, with ties. Needs
    KERNELRANK_DATA; ``benchmarks/data.py`` says how to get the file.
text
    Text-like and sparse: word counts with Zipf's frequencies, tf-idf, rows of unit length, 50,000
    features, about 79 non-zeros per row; utility = dot product with one of the rows.
queries
    1,000 queries of about 60 rows, 46 features in [0, 1], levels 0, 1 and 2.
bipartite
    100 features, 10 % positive.

Sizes below the full one are the first rows of the training set, with the same test set. Rows are
made once and kept in a folder, as arrays that a fit can load its part of.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks import data


class Rows(NamedTuple):
    """Features, utilities, and queries if there are any."""

    X: Any
    y: NDArray[np.float64]
    qid: NDArray[np.intp] | None = None


Split = tuple[Rows, Rows]  # to train on, to test on


@dataclass(frozen=True)
class Workload:
    """A function that makes the rows, the numbers of training rows, and alpha.

    `quick` are arguments of `make` for a quick run.
    """

    name: str
    title: str
    make: Callable[..., Split]
    alpha: float
    sizes: tuple[int, ...]
    quick: Mapping[str, int] = field(default_factory=dict)
    quick_sizes: tuple[int, ...] = (1_000,)


def housing(n_train: int = 16_000, n_test: int = 4_000) -> Split:
    rows = data.california_housing(n_train)
    X, X_test = np.round(rows.X, 6), np.round(rows.X_test, 6)
    return Rows(X, rows.y), Rows(X_test[:n_test], rows.y_test[:n_test])


def text(n_train: int = 512_000, n_test: int = 20_000, n_features: int = 50_000) -> Split:
    rng = np.random.default_rng(2)
    m = n_train + n_test
    counts = _words(rng, m, n_features)
    frequency = np.maximum(np.bincount(counts.indices, minlength=n_features), 1)
    X = counts.astype(np.float64)
    # The logarithms of the counts stay in single precision: the values are rounded anyway, and fixed that way.
    X.data = ((1 + np.log(counts.data)) * np.log(m / frequency)[counts.indices]).astype(np.float64)
    X = (sp.diags(1 / np.sqrt(np.asarray(X.multiply(X).sum(1)).ravel())) @ X).tocsr()
    X.data = np.round(X.data, 6)
    X.eliminate_zeros()
    X.sort_indices()
    target = X[int(rng.integers(m))]
    y = np.round(np.asarray((X @ target.T).todense()).ravel(), 10)
    return Rows(X[:n_train], y[:n_train]), Rows(X[n_train:], y[n_train:])


def _words(rng: np.random.Generator, m: int, n_features: int, at_once: int = 10_000_000) -> Any:
    """Count words that are drawn with frequencies 1 / rank^1.05, about 110 per row."""
    length = np.maximum(10, rng.poisson(110, m))
    total = int(length.sum())
    shares = np.cumsum(1 / np.arange(1, n_features + 1) ** 1.05)
    shares /= shares[-1]
    words = np.empty(total, np.int32)
    for start in range(0, total, at_once):
        drawn = rng.random(min(at_once, total - start))
        words[start : start + at_once] = np.minimum(np.searchsorted(shares, drawn), n_features - 1)
    ends = np.r_[0, np.cumsum(length)]
    counts = sp.csr_matrix((np.ones(total, np.float32), words, ends), shape=(m, n_features))
    counts.sum_duplicates()
    return counts


def queries(n_train: int = 1_000, n_test: int = 300) -> Split:
    rng = np.random.default_rng(3)
    w = np.random.default_rng(33).normal(size=46) / np.sqrt(46)

    def query(number: int) -> Rows:
        m = max(10, int(rng.poisson(60)))
        centre = rng.random(46)
        X = np.clip(0.7 * rng.random((m, 46)) + 0.3 * centre, 0, 1)
        linear, curved = (X - X.mean(0)) @ w * 6, 0.8 * np.sin(5 * X[:, 0]) * X[:, 1]
        relevance = linear + curved + rng.normal(size=m)
        low, high = np.quantile(relevance, [0.80, 0.93])
        return Rows(X, (relevance > low).astype(float) + (relevance > high), np.full(m, number))

    def many(n: int) -> Rows:
        X, y, qid = zip(*(query(number + 1) for number in range(n)), strict=True)
        return Rows(np.round(np.vstack(X), 6), np.concatenate(y), np.concatenate(qid))

    return many(n_train), many(n_test)


def bipartite(n_train: int = 100_000, n_test: int = 20_000) -> Split:
    rng = np.random.default_rng(4)
    m = n_train + n_test
    y = (rng.random(m) < 0.1).astype(float)
    shift = rng.normal(size=100)
    shift *= 1.2 / np.linalg.norm(shift)
    X = np.round(rng.normal(size=(m, 100)) + np.outer(y, shift), 6)
    return Rows(X[:n_train], y[:n_train]), Rows(X[n_train:], y[n_train:])


WORKLOADS = {
    work.name: work
    for work in (
        Workload("housing", "California housing", housing, 0.1, (1_000, 2_000, 4_000, 8_000, 16_000)),
        Workload(
            *("text", "Text-like, sparse", text, 1e-5, (8_000, 32_000, 128_000, 512_000)),
            quick={"n_train": 1_000, "n_test": 500, "n_features": 500},
            quick_sizes=(250, 500, 1_000),
        ),
        Workload(
            *("queries", "Queries", queries, 1e-3, (60_002,)),
            quick={"n_train": 20, "n_test": 10},
        ),
        Workload(
            *("bipartite", "Bipartite", bipartite, 1e-3, (4_000, 100_000)),
            quick={"n_train": 1_000, "n_test": 500},
        ),
    )
}


def prepare(work: Workload, cache: Path, quick: bool = False) -> Path:
    """Make the rows if the folder does not have them yet, and return their folder."""
    folder = cache / (f"{work.name}-quick" if quick else work.name)
    if not folder.exists():
        unfinished = cache / f"{folder.name}.{os.getpid()}"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        for part, rows in zip(("train", "test"), work.make(**(work.quick if quick else {})), strict=True):
            _save(unfinished / part, rows)
        unfinished.rename(folder)  # so that an interrupted run leaves nothing that looks complete
    return folder


def load(folder: Path, n_rows: int | None = None) -> Split:
    """Read the first rows of the training set, and the whole test set."""
    return _load(folder / "train", n_rows), _load(folder / "test", None)


def _save(folder: Path, rows: Rows) -> None:
    folder.mkdir()
    if sp.issparse(rows.X):
        arrays = {"data": rows.X.data, "indices": rows.X.indices, "indptr": rows.X.indptr}
        arrays["shape"] = np.array(rows.X.shape)
    else:
        arrays = {"X": rows.X}
    arrays |= {"y": rows.y} if rows.qid is None else {"y": rows.y, "qid": rows.qid}
    for name, array in arrays.items():
        np.save(folder / name, array)


def _load(folder: Path, n_rows: int | None) -> Rows:
    # Mapped, then copied: no more than the rows asked for ever gets into the memory that is measured.
    arrays = {path.stem: np.load(path, mmap_mode="r") for path in folder.iterdir()}
    y = np.array(arrays["y"][:n_rows])
    qid = np.array(arrays["qid"][:n_rows]) if "qid" in arrays else None
    if "X" in arrays:
        return Rows(np.array(arrays["X"][:n_rows]), y, qid)
    indptr = np.array(arrays["indptr"][: len(y) + 1])
    parts = (np.array(arrays[name][: indptr[-1]]) for name in ("data", "indices"))
    return Rows(sp.csr_matrix((*parts, indptr), shape=(len(y), int(arrays["shape"][1]))), y, qid)
