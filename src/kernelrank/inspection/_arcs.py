"""Arcs of a directed graph, its strongly connected components and its order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

Array = NDArray[np.float64]
Codes = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Arcs:
    """Arcs of a directed graph, distinct and without loops.

    Attributes
    ----------
    tails, heads : ndarray of shape (k,)
    weights : ndarray of shape (k,)
        Positive.
    n_nodes : int
    """

    tails: Codes
    heads: Codes
    weights: Array
    n_nodes: int

    def __len__(self) -> int:
        return len(self.tails)

    def take(self, some: NDArray[np.intp] | Mask) -> Arcs:
        """Return some of the arcs, between the same nodes."""
        return Arcs(self.tails[some], self.heads[some], self.weights[some], self.n_nodes)

    def renumbered(self) -> Arcs:
        """Return the same arcs, with numbers 0, 1, ... for the nodes that they join."""
        nodes, numbers = np.unique(np.concatenate([self.tails, self.heads]), return_inverse=True)
        return Arcs(numbers[: len(self)], numbers[len(self) :], self.weights, len(nodes))

    def components(self) -> tuple[Codes, Codes]:
        """Return the strongly connected component of each node, and the sizes of the components: O(nodes + arcs)."""
        n, labels = connected_components(self._matrix, directed=True, connection="strong")
        return labels.astype(np.intp), np.bincount(labels, minlength=n)

    def inside(self) -> Mask:
        """Return which arcs lie on a cycle: those between nodes of the same strongly connected component."""
        labels, _ = self.components()
        return np.asarray(labels[self.tails] == labels[self.heads])

    @property
    def _matrix(self) -> sp.csr_array:
        return sp.csr_array((np.ones(len(self)), (self.tails, self.heads)), shape=(self.n_nodes, self.n_nodes))


def topological_positions(arcs: Arcs) -> Codes:
    """Return positions of the nodes of an acyclic graph such that all arcs go forwards: O(nodes + arcs)."""
    order = np.argsort(arcs.tails, kind="stable")
    heads = arcs.heads[order].tolist()
    starts = np.searchsorted(arcs.tails[order], np.arange(arcs.n_nodes + 1)).tolist()
    waiting = np.bincount(arcs.heads, minlength=arcs.n_nodes).tolist()
    found = [node for node, count in enumerate(waiting) if count == 0]
    for node in found:  # which grows
        for head in heads[starts[node] : starts[node + 1]]:
            waiting[head] -= 1
            if waiting[head] == 0:
                found.append(head)
    positions = np.empty(arcs.n_nodes, dtype=np.intp)
    positions[found] = np.arange(arcs.n_nodes)
    return positions
