"""Graphs with labelled vertices and weighted edges."""

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
    """Directed graph with any number of labels per vertex and one weight per edge.

    Parameters
    ----------
    labels : iterable of iterable of str
        Labels of each vertex; vertices are numbered in this order.
    edges : array-like of int of shape (n_edges, 2)
        Source and target vertex of each edge. Weights of parallel edges are summed.
    weights : array-like of shape (n_edges,)
        Weights of the edges, not negative.

    Attributes
    ----------
    labels : tuple of tuple of str
        Labels of each vertex.
    edges : ndarray of shape (n_edges, 2)
        Source and target vertex of each edge.
    weights : ndarray of shape (n_edges,)
        Weights of the edges. Both arrays are read-only; an array that was read-only before is shared.

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
                f"edges must be integer vertex indices in two columns, got {edges.dtype} of shape {edges.shape}."
            )
        if edges.size and not (edges.min() >= 0 and edges.max() < len(labels)):
            raise ValueError(f"edges must be indices, from 0, of the {len(labels)} vertices with labels.")
        if weights.shape != (len(edges),):
            raise ValueError(
                f"weights must have one element for each of the {len(edges)} edges, got shape {weights.shape}."
            )
        if (weights < 0).any():
            raise ValueError("weights must not be negative.")
        found = {"labels": labels, "edges": _read_only(edges, np.intp), "weights": _read_only(weights, np.float64)}
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        """Return whether vertices, edges and weights are equal, in this order."""
        if not isinstance(other, Graph):
            return NotImplemented
        same_edges = np.array_equal(self.edges, other.edges) and np.array_equal(self.weights, other.weights)
        return self.labels == other.labels and same_edges

    def __hash__(self) -> int:
        return hash((self.labels, self.edges.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the constructor call, so that arrays are read-only after unpickling as well."""
        return type(self), (self.labels, self.edges, self.weights)

    def __len__(self) -> int:
        """Return the number of vertices."""
        return len(self.labels)

    def spectral_radius(self) -> float:
        """Return the spectral radius of the matrix of weights; walks have a finite sum if it is below 1.

        Returns
        -------
        float
            Largest absolute value of an eigenvalue.
        """
        matrix = np.zeros((len(self), len(self)))
        np.add.at(matrix, tuple(self.edges.T), self.weights)
        return float(np.max(np.abs(np.linalg.eigvals(matrix)), initial=0.0))

    @classmethod
    def from_adjacency(cls, adjacency: ArrayLike | Any, labels: Iterable[Iterable[str]]) -> Self:
        """Make a graph from a matrix of weights, dense or sparse; a nonzero element is an edge from row to column.

        Parameters
        ----------
        adjacency : {array-like, sparse matrix} of shape (n_vertices, n_vertices)
            Weight of the edge from each vertex to each other.
        labels : iterable of iterable of str
            Labels of each vertex.

        Returns
        -------
        Graph
            The graph.
        """
        matrix = sp.coo_array(adjacency)
        found = tuple(labels)
        if matrix.shape != (len(found), len(found)):
            raise ValueError(f"adjacency has the shape {matrix.shape}, but labels are given for {len(found)} vertices.")
        return cls(_check_labels(found), np.stack([matrix.row, matrix.col], axis=1), matrix.data)

    @classmethod
    def from_networkx(cls, graph: Any, *, labels: str = "labels", weight: str = "weight") -> Self:
        """Make a graph from a NetworkX graph; an undirected edge becomes two directed ones.

        Parameters
        ----------
        graph : networkx.Graph, networkx.DiGraph, or the corresponding multigraph
            Graph whose nodes have labels.
        labels : str, default="labels"
            Vertex attribute that holds the labels: a string, or several strings.
        weight : str, default="weight"
            Edge attribute that holds the weight; a missing weight counts as 1. With weights of 1, walks of any length
            have a finite sum only in graphs without cycles.

        Returns
        -------
        Graph
            The graph.
        """
        numbers: dict[Hashable, int] = {node: k for k, node in enumerate(graph.nodes)}
        found = [data.get(labels, ()) for _, data in graph.nodes(data=True)]
        if found and not any(labels in data for _, data in graph.nodes(data=True)):
            raise ValueError(
                f"No vertex has the attribute {labels!r}; set labels to the attribute that holds the labels."
            )
        edges = [(numbers[a], numbers[b], float(data.get(weight, 1.0))) for a, b, data in graph.edges(data=True)]
        if not graph.is_directed():
            edges += [(b, a, w) for a, b, w in edges if a != b]
        return cls(
            tuple((each,) if isinstance(each, str) else each for each in found),
            np.array([edge[:2] for edge in edges], dtype=np.intp).reshape(-1, 2),
            np.array([edge[2] for edge in edges], dtype=np.float64),
        )


def _check_labels(labels: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the distinct labels of each vertex."""
    given = tuple(labels)
    for vertex, each in enumerate(given):
        if isinstance(each, str) or not isinstance(each, Iterable):
            raise ValueError(f"labels of vertex {vertex} must be a list of strings, got {each!r}.")
    found = tuple(tuple(dict.fromkeys(each)) for each in given)
    for vertex, each in enumerate(found):
        if not all(isinstance(label, str) for label in each):
            raise ValueError(f"labels of vertex {vertex} must be strings, got {each!r}.")
    return found


def _read_only(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    """Return a read-only copy, or the array itself if it is read-only."""
    if array.dtype == dtype and not array.flags.writeable:
        return array
    array = array.astype(dtype)
    array.setflags(write=False)
    return array
