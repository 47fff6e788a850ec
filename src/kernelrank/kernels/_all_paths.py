"""All-paths graph kernel and its explicit features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from kernelrank._core import connect_labels
from kernelrank._memory import require_memory
from kernelrank._rules import FLAG, NONE, choice, whole
from kernelrank._threads import resolve_threads
from kernelrank.kernels._graphs import Graph

Array = NDArray[np.float64]

_LONGEST = 2**31 - 1  # upper limit of max_length
_CLOSE = 1e-6  # distance of a spectral radius from 1 below which it is reported as the cause of divergence
_MUCH = 1 << 28  # bytes, above which the available memory is checked


class LabelPairs(NamedTuple):
    """Connected pairs of labels, by label number; the pairs of a graph are sorted."""

    offsets: NDArray[np.int64]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    values: Array

    def keys(self, n_labels: int) -> NDArray[np.int64]:
        """Return each pair of labels as a single number."""
        return self.first.astype(np.int64) * max(n_labels, 1) + self.second


class AllPaths(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""All-paths graph kernel: compares which labels are connected in two graphs, and how strongly.

    A graph is represented by a value for each ordered pair of labels. With A the matrix of edge weights,

    .. math:: W = A + A^2 + A^3 + \cdots = (I - A)^{-1} - I

    holds the total weight of all walks from one vertex to another; the weight of a walk is the product of the weights
    of its edges. The value of a pair of labels is the sum, or the maximum, of W over all vertices with the first label
    and all vertices with the second. The kernel is the inner product of these values [1]_.

    As a transformer it returns the values as sparse features for any linear method; called as a kernel it returns a
    matrix for ``kernel="precomputed"``.

    Parameters
    ----------
    combine : {"sum", "max"}, default="sum"
        Value of two labels that are connected more than once: the sum, as described in [1]_, or the maximum, which
        according to its errata was used for the published results.
    max_length : int, default=None
        Maximum number of edges of a walk. None allows walks of any length, whose sum is finite if the spectral radius
        of A is below 1.
    normalized : bool, default=True
        Whether to normalise graphs to length one, ``k(g, g) = 1``, except those without connected labels. Without it,
        large graphs dominate, as they have many more pairs than small ones.
    n_jobs : int, default=None
        Number of threads; -1 means all cores.

    Attributes
    ----------
    labels_ : ndarray of str, of shape (n_labels,)
        Labels of the training graphs.
    pairs_ : ndarray of shape (n_features, 2)
        The two labels of each feature, as indices into `labels_`.

    Notes
    -----
    The running time is O(n^3) for n connected vertices, in compiled code without the GIL. Each thread needs memory for
    the squares of the numbers of vertices and of labels of a graph. Weights are non-negative, so accuracy is lost only
    as the spectral radius approaches 1; a distance below 1e-10 raises an error.

    The kernel takes graphs and cannot be the ``kernel=`` of an estimator, whose rows are numbers: use its features, or
    its matrix with ``kernel="precomputed"``. Features that no training graph has are left out of new graphs, but count
    in their norm.

    References
    ----------
    .. [1] Airola, Pyysalo, Björne, Pahikkala, Ginter, Salakoski: All-paths graph kernel for protein-protein interaction
       extraction with evaluation of cross-corpus learning. BMC Bioinformatics 9 (2008), and its errata (2009).

    Examples
    --------
    >>> from kernelrank.kernels import AllPaths, Graph
    >>> binds = Graph([["A"], ["binds"], ["B"]], edges=[[0, 1], [1, 2]], weights=[0.5, 0.5])
    >>> ignores = Graph([["A"], ["ignores"], ["B"]], edges=[[0, 1], [1, 2]], weights=[0.5, 0.5])
    >>> kernel = AllPaths(normalized=False)
    >>> features = kernel.fit_transform([binds, ignores])
    >>> kernel.get_feature_names_out()
    array(['A -> B', 'A -> binds', 'A -> ignores', 'binds -> B', 'ignores -> B'],
          dtype=object)
    >>> features.toarray()
    array([[0.25, 0.5 , 0.  , 0.5 , 0.  ],
           [0.25, 0.  , 0.5 , 0.  , 0.5 ]])
    >>> AllPaths()([binds, ignores]).round(2)
    array([[1.  , 0.11],
           [0.11, 1.  ]])
    """

    def __init__(
        self,
        combine: Literal["sum", "max"] = "sum",
        *,
        max_length: int | None = None,
        normalized: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.combine = combine
        self.max_length = max_length
        self.normalized = normalized
        self.n_jobs = n_jobs

    def fit(self, graphs: Iterable[Graph], y: Any = None) -> Self:
        """Find the connected pairs of labels of the graphs.

        Parameters
        ----------
        graphs : iterable of Graph
            Training graphs.
        y : object
            Ignored.

        Returns
        -------
        self
            The fitted kernel.
        """
        self.fit_transform(graphs)
        return self

    def fit_transform(self, graphs: Iterable[Graph], y: Any = None) -> sp.csr_array:
        """Find the connected pairs of labels of the graphs, and return their values.

        Parameters
        ----------
        graphs : iterable of Graph
            Training graphs.
        y : object
            Ignored.

        Returns
        -------
        CSR array of shape (n_graphs, n_features)
            Features, whose inner products are the kernel.
        """
        graphs = _check_graphs(graphs)
        labels = sorted({label for graph in graphs for label in chain.from_iterable(graph.labels)})
        found = self._connect(graphs, labels)
        keys, columns = np.unique(found.keys(len(labels)), return_inverse=True)
        self.labels_ = np.array(labels, dtype=object)
        self.pairs_ = np.stack(np.divmod(keys, max(len(labels), 1)), axis=1)
        return self._features(found, columns, np.ones(len(columns), dtype=bool))

    def transform(self, graphs: Iterable[Graph]) -> sp.csr_array:
        """Return the values of the pairs of labels found in `fit`.

        Parameters
        ----------
        graphs : iterable of Graph
            Graphs to describe.

        Returns
        -------
        CSR array of shape (n_graphs, n_features)
            Features, whose inner products with those of the training graphs are the kernel.
        """
        check_is_fitted(self)
        graphs, known = _check_graphs(graphs), len(self.labels_)
        new = {label for graph in graphs for label in chain.from_iterable(graph.labels)}.difference(self.labels_)
        found = self._connect(graphs, [*self.labels_, *sorted(new)])
        ours = self.pairs_ @ np.array([max(known, 1), 1])
        keys = found.keys(known)
        columns = np.minimum(np.searchsorted(ours, keys), max(len(ours) - 1, 0))
        kept = (found.first < known) & (found.second < known) & (len(ours) > 0)
        kept[kept] = ours[columns[kept]] == keys[kept]
        return self._features(found, columns, kept)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return a name for each feature, ``first -> second``.

        Parameters
        ----------
        input_features : object
            Ignored.

        Returns
        -------
        ndarray of str of shape (n_features,)
            Names of the features.
        """
        check_is_fitted(self)
        return np.array([f"{self.labels_[a]} -> {self.labels_[b]}" for a, b in self.pairs_], dtype=object)

    def __call__(self, graphs: Iterable[Graph], others: Iterable[Graph] | None = None) -> Array:
        """Compute the kernel of all graphs with all others.

        Parameters
        ----------
        graphs : iterable of Graph
            Graphs of the rows of the matrix.
        others : iterable of Graph, optional
            Graphs of its columns. By default `graphs`; the matrix is then exactly symmetric.

        Returns
        -------
        ndarray of shape (n_graphs, n_others)
            Kernel matrix.
        """
        model = clone(self)
        features = model.fit_transform(graphs)
        return np.asarray((features @ (features if others is None else model.transform(others)).T).toarray())

    def diagonal(self, graphs: Iterable[Graph]) -> Array:
        """Compute the kernel of each graph with itself.

        Parameters
        ----------
        graphs : iterable of Graph
            Graphs.

        Returns
        -------
        ndarray of shape (n_graphs,)
            Diagonal of the kernel matrix.
        """
        return np.asarray(clone(self).fit_transform(graphs).power(2).sum(axis=1))

    def _connect(self, graphs: Sequence[Graph], labels: Sequence[str]) -> LabelPairs:
        choice("sum", "max")("combine", self.combine)
        (whole(1, np.inf) | NONE)("max_length", self.max_length)
        FLAG("normalized", self.normalized)
        n_threads = resolve_threads(self.n_jobs)
        _require_memory(graphs, n_threads)
        numbers = {label: number for number, label in enumerate(labels)}
        vertices = list(chain.from_iterable(graph.labels for graph in graphs))
        edges = np.concatenate([graph.edges for graph in graphs]).astype(np.int32)
        offsets, first, second, values, diverging = connect_labels(
            vertices=_offsets(len(graph) for graph in graphs),
            labels=_offsets(map(len, vertices)),
            label=np.fromiter((numbers[label] for label in chain.from_iterable(vertices)), np.int32),
            edges=_offsets(len(graph.edges) for graph in graphs),
            from_=np.ascontiguousarray(edges[:, 0]),
            to=np.ascontiguousarray(edges[:, 1]),
            weight=np.concatenate([graph.weights for graph in graphs]),
            strongest=self.combine == "max",
            max_length=0 if self.max_length is None else min(int(self.max_length), _LONGEST),
            n_threads=n_threads,
        )
        if len(diverging):
            graph = int(diverging[0])
            radius = graphs[graph].spectral_radius()
            if self.max_length is not None or radius < 1 - _CLOSE:
                raise ValueError(
                    f"The walks of {len(diverging)} graphs, the first being graph {graph}, have sums that"
                    " overflow float64; divide the weights by a larger number."
                )
            raise ValueError(
                f"The walks of {len(diverging)} graphs have no finite sum: the weights of graph {graph} have the"
                f" spectral radius {radius:.4g}, which must be below 1. Divide the weights by a larger number, or"
                " set max_length."
            )
        return LabelPairs(offsets, first, second, values)

    def _features(self, found: LabelPairs, columns: NDArray[np.intp], kept: NDArray[np.bool_]) -> sp.csr_array:
        """Return the values of the kept pairs, normalised if requested."""
        values, sizes = found.values, np.diff(found.offsets)
        if self.normalized:
            rows = np.repeat(np.arange(len(sizes)), sizes)
            largest = np.zeros(len(sizes))
            np.maximum.at(largest, rows, values)
            values = values / largest[rows]  # so that no square overflows or underflows
            values /= np.sqrt(np.bincount(rows, weights=values**2, minlength=len(sizes)))[rows]
        offsets = np.append(0, np.cumsum(kept))[found.offsets]
        shape = (len(sizes), len(self.pairs_))
        return sp.csr_array((values[kept], columns[kept], offsets), shape=shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


def _check_graphs(graphs: Iterable[Graph]) -> list[Graph]:
    if isinstance(graphs, Graph):
        raise TypeError("Expected a list of graphs, got a single graph; pass [graph].")
    graphs = list(graphs)
    for number, graph in enumerate(graphs):
        if not isinstance(graph, Graph):
            raise TypeError(
                f"Graph {number} is of type {type(graph).__module__}.{type(graph).__name__}, expected a"
                " kernelrank.kernels.Graph; convert it with from_adjacency or from_networkx."
            )
    if not graphs:
        raise ValueError("graphs is empty; at least one graph is required.")
    return graphs


def _offsets(sizes: Iterable[int]) -> NDArray[np.int64]:
    return np.append(0, np.cumsum(np.fromiter(sizes, np.int64)))


def _require_memory(graphs: Sequence[Graph], n_threads: int) -> None:
    """Check that each thread has memory for the matrices of the largest graph: of its vertices, and of its labels."""
    sizes = [(len(graph), sum(map(len, graph.labels))) for graph in graphs]
    if 8 * n_threads * max(2 * n * n + k * k for n, k in sizes) < _MUCH:
        return
    n_bytes = 0
    for graph in graphs:
        connected = set(graph.edges.ravel().tolist())
        k = len({label for vertex in connected for label in graph.labels[vertex]})
        n_bytes = max(n_bytes, 8 * n_threads * (2 * len(connected) ** 2 + k * k))
    require_memory(
        n_bytes,
        "The walks between all vertices and labels of the largest graph",
        "Use fewer n_jobs, or split the graph.",
    )
