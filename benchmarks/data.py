"""Data of the training benchmarks: public sets from files, and two generated ones.

Files are looked for in the folder that the environment variable KERNELRANK_DATA names:

regression/california_housing.csv.gz
    20,640 districts, "cadata" in the LIBSVM collection, also ``cal.housing.arff`` in the
    repository renatopp/arff-datasets: a line of names, then 8 features and last the target,
    the median house value.
text/news20_counts.npz
    The "bydate" version of 20 newsgroups, 18,846 documents: subject and body as counts of
    lower-case alphabetic words that occur in two or more documents. A CSR matrix as the arrays
    ``data``, ``indices``, ``indptr`` and ``shape``.
text/reuters21578_counts.npz
    The same of Reuters-21578, title and body of 21,578 documents.

RCV1 is read from scikit-learn's data folder, where ``fetch_rcv1`` puts it; nothing is downloaded here.
"""

from __future__ import annotations

import gzip
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.harness import MissingDataError, data_file

Vector = NDArray[np.float64]

_TARGET_WORDS = 50  # distinct ones: few words would make most utilities zero


class Dataset(NamedTuple):
    """Rows to train on, and rows to test on."""

    X: Any
    y: Vector
    X_test: Any
    y_test: Vector


def california_housing(n_train: int) -> Dataset:
    """Return standardised features, with house values as utilities."""
    with gzip.open(data_file("regression/california_housing.csv.gz"), "rt") as lines:
        numbers = np.loadtxt(lines, delimiter=",", skiprows=1)
    X, y = numbers[:, :-1], numbers[:, -1]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return _split(X, y, n_train, np.random.default_rng(1))


def news20(n_train: int) -> Dataset:
    """Return documents of 20 newsgroups, and their similarity to one of them that is removed."""
    return _documents(tf_idf(word_counts("text/news20_counts.npz")), n_train)


def reuters(n_train: int) -> Dataset:
    """Return documents of Reuters-21578 in the same way."""
    return _documents(tf_idf(word_counts("text/reuters21578_counts.npz")), n_train)


def rcv1(n_train: int) -> Dataset:
    """Return the 804,414 documents of RCV1 in the same way, with their tf-idf weights (Airola et al. 2011)."""
    from sklearn.datasets import fetch_rcv1

    try:
        X = fetch_rcv1(download_if_missing=False).data
    except OSError:
        raise MissingDataError(
            "needs RCV1 in scikit-learn's data folder, where sklearn.datasets.fetch_rcv1() puts it (656 MB)"
        ) from None
    return _documents(X, n_train)


def word_counts(name: str) -> Any:
    """Read counts of words, one row per document."""
    with np.load(data_file(name)) as parts:
        data, indices = parts["data"].astype(np.float64), parts["indices"].astype(np.int32)
        return sp.csr_matrix((data, indices, parts["indptr"]), shape=tuple(parts["shape"]))


def _documents(X: Any, n_train: int) -> Dataset:
    rng = np.random.default_rng(1)
    return _split(*_similarity_to_one(X, rng), n_train, rng)


def dense(n_train: int, n_features: int = 50) -> Dataset:
    """Return normal features, and linear utilities with as much noise as signal."""
    rng = np.random.default_rng(1)
    m = n_train + max(1_000, n_train // 10)
    X, w = rng.normal(size=(m, n_features)), rng.normal(size=n_features)
    return _split(X, X @ w + np.linalg.norm(w) * rng.normal(size=m), n_train, rng)


def text_like(n_train: int, n_features: int = 20_000) -> Dataset:
    """Return words with Zipf's frequencies, about 50 different ones per row; utilities as for `news20`."""
    rng = np.random.default_rng(1)
    m = n_train + max(1_000, n_train // 10)
    lengths = np.maximum(10, rng.poisson(68, m))
    shares = np.cumsum(1 / np.arange(1, n_features + 1) ** 1.05)
    words = np.searchsorted(shares, shares[-1] * rng.random(lengths.sum())).astype(np.int32)
    counts = sp.csr_matrix((np.ones(len(words)), words, np.r_[0, np.cumsum(lengths)]), shape=(m, n_features))
    counts.sum_duplicates()
    return _split(*_similarity_to_one(tf_idf(counts), rng), n_train, rng)


def tf_idf(counts: Any) -> Any:
    """Return the weights (1 + log tf) * log(m / df), in rows of unit length."""
    m, n = counts.shape
    frequency = np.bincount(counts.indices, minlength=n)
    X = counts.copy()
    X.data = (1 + np.log(X.data)) * np.log(m / frequency[X.indices])
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(np.where(norms > 0, norms, 1.0), np.diff(X.indptr))
    return X


def _similarity_to_one(X: Any, rng: np.random.Generator) -> tuple[Any, Vector]:
    """Remove one row; its dot products with the others are their utilities (Airola et al. 2011, section 5.1)."""
    target = rng.choice(np.flatnonzero(np.diff(X.indptr) >= _TARGET_WORDS))
    others = X[np.delete(np.arange(X.shape[0]), target)]
    return others, (others @ X[target].T).toarray().ravel()


def _split(X: Any, y: Vector, n_train: int, rng: np.random.Generator) -> Dataset:
    order = rng.permutation(len(y))
    train, test = order[:n_train], order[n_train:]
    return Dataset(X[train], y[train], X[test], y[test])
