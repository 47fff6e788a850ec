"""Ratings of items by users."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kernelrank._memory import require_memory


class Ratings(NamedTuple):
    """Ratings of items by users: rows that a ranker learns from, and what they are of.

    Attributes
    ----------
    X : CSR matrix of shape (n_ratings, n_item_features)
        Features of the item of each rating, ``item_features[entries[:, 1]]``.
    y : ndarray of shape (n_ratings,)
        Ratings.
    qid : ndarray of int of shape (n_ratings,)
        Id of the user of each rating: the items of a user are compared with each other.
    entries : ndarray of int of shape (n_ratings, 2)
        Index of the user in `user_ids` and of the item in `item_ids`.
    user_ids, item_ids : ndarray of int
        Ids of the users and of the items, as in the files. Items without a rating are included.
    item_features : CSR matrix of shape (n_items, n_item_features)
        Features of the items.
    item_feature_names : list of str
        Their names.
    user_features : CSR matrix of shape (n_users, n_user_features) or None
        Features of the users.
    user_feature_names : list of str or None
        Their names.
    titles : list of str or None
        Names of the items.
    timestamp : ndarray of int of shape (n_ratings,) or None
        Time of each rating, in seconds since 1970.
    """

    X: sp.csr_matrix
    y: NDArray[np.float64]
    qid: NDArray[np.int64]
    entries: NDArray[np.intp]
    user_ids: NDArray[np.int64]
    item_ids: NDArray[np.int64]
    item_features: sp.csr_matrix
    item_feature_names: list[str]
    user_features: sp.csr_matrix | None = None
    user_feature_names: list[str] | None = None
    titles: list[str] | None = None
    timestamp: NDArray[np.int64] | None = None

    def to_matrix(self) -> NDArray[np.float64]:
        """Return the matrix of ratings.

        Returns
        -------
        ndarray of shape (n_users, n_items)
            Rating of each item by each user; NaN where there is none.

        Raises
        ------
        MemoryError
            If the matrix would not fit into memory. The message states the required memory.
        """
        shape = (len(self.user_ids), len(self.item_ids))
        require_memory(8.0 * shape[0] * shape[1], f"A matrix of ratings of shape {shape}", "Use X, y and qid.")
        matrix = np.full(shape, np.nan)
        matrix[tuple(self.entries.T)] = self.y
        return matrix


def one_hot(labels: list[list[str]], names: list[str]) -> NDArray[np.float64]:
    """Return an array with a 1 for each label of each row."""
    column = {name: k for k, name in enumerate(names)}
    table = np.zeros((len(labels), len(names)))
    for row, each in enumerate(labels):
        table[row, [column[label] for label in each]] = 1
    return table


def find_ids(ids: NDArray[np.int64], known: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the index of each id among the known ones, and whether it is there."""
    order = np.argsort(known)
    places = order[np.minimum(np.searchsorted(known, ids, sorter=order), len(known) - 1)]
    return places, known[places] == ids
