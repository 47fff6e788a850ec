"""Documents of Reuters-21578: words, topics, and random draws of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer

from experiments.rankrls._shared import data_file

N_TRAINING = 500


class Documents(NamedTuple):
    """The 12,902 documents of the ModApte split, its two parts together."""

    counts: sp.csr_matrix  # of words
    labels: NDArray[np.float64]  # a column a topic: 1 for documents about it, else 0
    topics: list[str]  # the 25 most frequent ones


def load_documents() -> Documents:
    with np.load(data_file("text/reuters21578_counts.npz")) as file:
        counts = sp.csr_matrix(
            (file["data"].astype(float), file["indices"].astype(np.int32), file["indptr"]), file["shape"]
        )
        names, topics = list(file["topic_names"]), [str(name) for name in file["top25"]]
        labels = file["labels"][:, [names.index(topic) for topic in topics]].astype(float)
        rows = np.flatnonzero(file["modapte_train"] | file["modapte_test"])
    return Documents(counts[rows], labels[rows], topics)


def split(n_documents: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw documents to train on; return them and the rest."""
    order = np.random.default_rng(seed).permutation(n_documents)
    return order[:N_TRAINING], order[N_TRAINING:]


def weigh_words(train: sp.csr_matrix, rest: sp.csr_matrix) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Tf-idf, rows of length one; words and their idf are those of the documents to train on."""
    words = np.unique(train.indices)
    weights = TfidfTransformer().fit(train[:, words])
    return weights.transform(train[:, words]), weights.transform(rest[:, words])
