"""Documents of Reuters-21578: words, topics, and random draws of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks.data import word_counts
from benchmarks.harness import data_file

# The grid of lambda in section 5 of the paper. The paper sums over pairs, and alpha is against the mean:
# alpha = lambda / n_pairs, or lambda / n_rows for a regressor.
LAMBDAS = 2.0 ** np.arange(15, -16, -1)
FILE = "text/reuters21578_counts.npz"
_QUICK_TOPICS = ("acq", "bop", "cocoa", "earn")
_QUICK_DOCUMENTS, _QUICK_WORDS = 300, 60


class Documents(NamedTuple):
    """The 12,902 documents of the ModApte split, its two parts together; or generated ones."""

    counts: sp.csr_matrix  # of words
    labels: NDArray[np.float64]  # one column per topic: 1 for documents about it, else 0
    topics: list[str]  # the 25 most frequent ones
    n_training: int


def load_documents(quick: bool) -> Documents:
    """Read the documents; in a quick run, generate some."""
    if quick:
        return _generate()
    with np.load(data_file(FILE)) as file:
        names, topics = list(file["topic_names"]), [str(name) for name in file["top25"]]
        labels = file["labels"][:, [names.index(topic) for topic in topics]].astype(float)
        rows = np.flatnonzero(file["modapte_train"] | file["modapte_test"])
    return Documents(word_counts(FILE)[rows], labels[rows], topics, 500)


def _generate() -> Documents:
    rng = np.random.default_rng(0)
    labels = rng.random((_QUICK_DOCUMENTS, len(_QUICK_TOPICS))) < np.linspace(0.4, 0.2, len(_QUICK_TOPICS))
    rates = 0.5 + labels @ rng.exponential(0.4, size=(len(_QUICK_TOPICS), _QUICK_WORDS))
    counts = sp.csr_matrix(rng.poisson(rates).astype(float))
    return Documents(counts, labels.astype(float), list(_QUICK_TOPICS), 60)


def split(documents: Documents, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw documents to train on; return them and the rest."""
    order = np.random.default_rng(seed).permutation(len(documents.labels))
    return order[: documents.n_training], order[documents.n_training :]


def weigh_words(train: sp.csr_matrix, rest: sp.csr_matrix) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Return tf-idf weights, rows of length one; words and their idf are those of the documents to train on."""
    words = np.unique(train.indices)
    weights = TfidfTransformer().fit(train[:, words])
    return weights.transform(train[:, words]), weights.transform(rest[:, words])
