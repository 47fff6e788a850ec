"""Kernel matrices of drugs and of targets."""

from __future__ import annotations

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer


def cosine(K: np.ndarray) -> np.ndarray:
    """Return a kernel matrix with ones on the diagonal."""
    lengths = np.sqrt(np.diag(K))
    return np.asarray(K / lengths[:, None] / lengths)


def grams(smiles: np.ndarray, shortest: int, longest: int) -> np.ndarray:
    """Return the cosine kernel of the counts of substrings of SMILES."""
    counts = CountVectorizer(analyzer="char", lowercase=False, ngram_range=(shortest, longest))
    X = counts.fit_transform(smiles).astype(float)
    return cosine((X @ X.T).toarray())


def levels(n: int, own: float) -> np.ndarray:
    """Return the kernel of a constant that all share, and one that each has of its own."""
    return np.ones((n, n)) + own * np.eye(n)


def profiles(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Gaussian kernels of the known entries of rows, and of columns; unknown ones count as the mean.

    The idea of interaction profiles is that of van Laarhoven, Nabuurs, Marchiori (2011). The width is the mean squared
    length of a profile.
    """
    centred = np.nan_to_num(Y - np.nanmean(Y), nan=0.0)
    return _gaussian(centred), _gaussian(centred.T)


def _gaussian(X: np.ndarray) -> np.ndarray:
    squares = np.einsum("ij,ij->i", X, X)
    distances = (squares[:, None] + squares - 2.0 * (X @ X.T)).clip(min=0.0)
    return np.asarray(np.exp(-distances / squares.mean()))


def with_unit_trace(K: np.ndarray) -> np.ndarray:
    """Return the nearest kernel matrix, with a mean of 1 on its diagonal, so that alphas can be compared."""
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    K = (vectors * values.clip(min=0.0)) @ vectors.T
    return np.asarray(K * (len(K) / np.trace(K)))


def features(K: np.ndarray) -> np.ndarray:
    """Return features whose inner products are a kernel matrix."""
    values, vectors = np.linalg.eigh(K)
    return np.asarray(vectors * np.sqrt(values.clip(min=0.0)))
