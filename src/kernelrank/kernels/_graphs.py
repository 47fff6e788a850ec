"""Graphs with labels at their vertices and weights at their edges."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from kernelrank._validation import as_array, check_vector


@dataclass(frozen=True, eq=False)
class Graph:
    """A directed graph, with any number of labels at each vertex and a weight at each edge.

    Attributes
    ----------
    labels : tuple of tuple of str
        Those of each vertex; vertices are numbered in this order.
    edges : ndarray of shape (n_edges, 2)
        Vertices that each edge comes from, and leads to. Weights of parallel edges add up.
    weights : ndarray of shape (n_edges,)
        Both are read-only; graphs may share one that was read-only before.

    Examples
    --------
    A binds B, and B may bind A:

    >>> from kernelrank.kernels import Graph
    >>> graph = Graph([["A", "protein"], ["B", "protein"]], edges=[[0, 1], [1, 0]], weights=[0.9, 0.3])
    >>> len(graph)
    2
    """

    labels: tuple[tuple[str, ...], ...]
    edges: NDArray[np.intp]
    weights: NDArray[np.float64]

    def __post_init__(self) -> None:
        labels = _check_labels(self.labels)
        edges = as_array(self.edges, "edges")
        edges = edges.reshape(-1, 2).astype(np.intp) if edges.size == 0 else edges
        weights = check_vector(self.weights, "weights")
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise ValueError(
                f"edges must be whole numbers of vertices, in two columns, got {edges.dtype} of shape {edges.shape}."
            )
        if edges.size and not (edges.min() >= 0 and edges.max() < len(labels)):
            raise ValueError(f"edges must be numbers of the {len(labels)} vertices that have labels, from 0.")
        if weights.shape != (len(edges),):
            raise ValueError(f"There are {len(edges)} edges, but weights have the shape {weights.shape}.")
        if (weights < 0).any():
            raise ValueError("weights must not be negative.")
        found = {"labels": labels, "edges": _read_only(edges, np.intp), "weights": _read_only(weights, np.float64)}
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        """Compare vertices, edges and weights, in their order."""
        if not isinstance(other, Graph):
            return NotImplemented
        same_edges = np.array_equal(self.edges, other.edges) and np.array_equal(self.weights, other.weights)
        return self.labels == other.labels and same_edges

    def __hash__(self) -> int:
        return hash((self.labels, self.edges.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Make it again, read-only, where it is sent."""
        return type(self), (self.labels, self.edges, self.weights)

    def __len__(self) -> int:
        """Count the vertices."""
        return len(self.labels)

    def spectral_radius(self) -> float:
        """Return the largest absolute value of an eigenvalue of the weights; walks have a finite sum if it is below 1.

        Returns
        -------
        float
        """
        matrix = np.zeros((len(self), len(self)))
        np.add.at(matrix, tuple(self.edges.T), self.weights)
        return float(np.max(np.abs(np.linalg.eigvals(matrix)), initial=0.0))

    @classmethod
    def from_adjacency(cls, adjacency: ArrayLike | Any, labels: Iterable[Iterable[str]]) -> Self:
        """Make a graph of a matrix of weights, dense or sparse, with an edge from row to column where it is not zero.

        Parameters
        ----------
        adjacency : {array-like, sparse matrix} of shape (n_vertices, n_vertices)
        labels : iterable of iterable of str
            Those of each vertex.

        Returns
        -------
        Graph
        """
        matrix = sp.coo_array(adjacency)
        found = tuple(labels)
        if matrix.shape != (len(found), len(found)):
            raise ValueError(f"adjacency has the shape {matrix.shape}, but {len(found)} vertices have labels.")
        return cls(_check_labels(found), np.stack([matrix.row, matrix.col], axis=1), matrix.data)

    @classmethod
    def from_networkx(cls, graph: Any, *, labels: str = "labels", weight: str = "weight") -> Self:
        """Make a graph of one of NetworkX; an undirected edge leads both ways.

        Parameters
        ----------
        graph : networkx.Graph, networkx.DiGraph, or one of the two with parallel edges
        labels : str, default="labels"
            Attribute of the vertices that has their labels: a string, or several.
        weight : str, default="weight"
            Attribute of the edges that has their weight; one that is missing is 1, with which walks of any length have
            a finite sum only where there are no circles.

        Returns
        -------
        Graph
        """
        numbers: dict[Hashable, int] = {node: k for k, node in enumerate(graph.nodes)}
        found = [data.get(labels, ()) for _, data in graph.nodes(data=True)]
        if found and not any(labels in data for _, data in graph.nodes(data=True)):
            raise ValueError(f"No vertex has the attribute {labels!r}: say by labels=... which one has the labels.")
        edges = [(numbers[a], numbers[b], float(data.get(weight, 1.0))) for a, b, data in graph.edges(data=True)]
        if not graph.is_directed():
            edges += [(b, a, w) for a, b, w in edges if a != b]
        return cls(
            tuple((each,) if isinstance(each, str) else each for each in found),
            np.array([edge[:2] for edge in edges], dtype=np.intp).reshape(-1, 2),
            np.array([edge[2] for edge in edges], dtype=np.float64),
        )


def _check_labels(labels: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the labels of each vertex, each once."""
    given = tuple(labels)
    for vertex, each in enumerate(given):
        if isinstance(each, str) or not isinstance(each, Iterable):
            raise ValueError(f"Each vertex has a list of labels, but vertex {vertex} has {each!r}.")
    found = tuple(tuple(dict.fromkeys(each)) for each in given)
    for vertex, each in enumerate(found):
        if not all(isinstance(label, str) for label in each):
            raise ValueError(f"Labels are strings, but vertex {vertex} has {each!r}.")
    return found


def _read_only(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    """Return a copy that nobody can change; an array that is like that already is shared."""
    if array.dtype == dtype and not array.flags.writeable:
        return array
    array = array.astype(dtype)
    array.setflags(write=False)
    return array
