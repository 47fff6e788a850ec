"""Graphs of sentences in which two entities may be related, as in Airola et al. (2008).

A graph has two parts that are not connected. The syntax has a vertex for each token and for each dependency, and edges
governor -> dependency -> dependent, with larger weights on the shortest paths between the two entities. The word order
has a second vertex for each token, and an edge to the next one. For relations other than protein interactions, only the
entity labels need to change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import product
from operator import index
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kernelrank._rules import FLAG, NOT_NEGATIVE, TEXT, choice
from kernelrank.kernels import Graph

PathEnds = Literal["every", "nearest"]


def sentence_graph(
    tokens: Sequence[tuple[str, str]],
    dependencies: Sequence[tuple[int, int, str]],
    first: Collection[int],
    second: Collection[int],
    others: Collection[int] = (),
    *,
    path_weight: float = 0.9,
    other_weight: float = 0.3,
    linear_weight: float = 0.9,
    path_tag: str = "IP",
    position_tags: tuple[str, str, str] = ("B", "M", "A"),
    entity_labels: tuple[str, str, str] = ("PROT1", "PROT2", "PROT"),
    path_ends: PathEnds = "every",
    lowercase: bool = False,
) -> Graph:
    """Represent a sentence with a candidate pair of entities by a graph, for the all-paths graph kernel.

    Parameters
    ----------
    tokens : sequence of (text, part of speech)
        Tokens in the order of the sentence.
    dependencies : sequence of (governor, dependent, type)
        Governor and dependent are numbers of tokens, from 0.
    first, second : collections of int
        Tokens of the two entities, at least one per entity. The entities may share tokens.
    others : collection of int
        Tokens of all other entities of the sentence.
    path_weight, other_weight : float, default=0.9, 0.3
        Weights of the edges to and from dependencies: on the shortest paths between the entities, and elsewhere.
    linear_weight : float, default=0.9
        Weight of the edge from a token to the next.
    path_tag : str, default="IP"
        Tag of the labels on the shortest paths: ``binds`` becomes ``binds_IP``. Empty for no tag.
    position_tags : tuple of three str, default=("B", "M", "A")
        Tags of the labels of the word order: tokens before, between, and after the entities.
    entity_labels : tuple of three str, default=("PROT1", "PROT2", "PROT")
        Labels that replace the texts of tokens of the first, the second and other entities.
    path_ends : {"every", "nearest"}, default="every"
        For entities of several tokens: whether the shortest paths from every token of one to every token of the other
        are used, or only the shortest of these.
    lowercase : bool, default=False
        Whether texts are converted to lower case.

    Returns
    -------
    Graph
        Its vertices are the tokens, the dependencies, and the tokens again, each in the order given. Its edges are the
        two of each dependency, followed by those of the word order.

    See Also
    --------
    kernelrank.relations.SentenceGraphs : Graphs of many pairs of a sentence.
    kernelrank.relations.PPICorpus.graphs : Graphs of all pairs of a corpus.

    Notes
    -----
    Details that [1]_ does not specify follow the software of the authors where possible:

    - A vertex of a token has two labels, its text and its part of speech. For entities, only the text is replaced.
      A text that equals its part of speech, as punctuation does, is one label.
    - Each token of an entity is a separate vertex. A token of several entities belongs to the first if it is part of
      it, otherwise to the second, otherwise to the others.
    - A dependency is on a path, and its two tokens with it, if it is on a shortest undirected path from some token
      of one entity to some other token of the other; all shortest paths are used. A token that both entities
      share does not count as a path. If the entities are not connected, all edges of dependencies have `other_weight`.
    - "Between" includes the entities themselves: it extends from the first to the last of their tokens.
    - Duplicate dependencies are removed. Several dependencies between the same tokens, of different types or
      directions, and those from a token to itself are kept. They form cycles, whose weights may be too large for the
      kernel's sum over walks of any length: then use a smaller `path_weight`, or walks of limited length.
    - Texts, parts of speech and types of dependencies share one set of labels.

    References
    ----------
    .. [1] A. Airola, S. Pyysalo, J. Björne, T. Pahikkala, F. Ginter, T. Salakoski (2008), "All-paths graph kernel
       for protein-protein interaction extraction with evaluation of cross-corpus learning", BMC Bioinformatics
       9(Suppl 11):S2.

    Examples
    --------
    >>> from kernelrank.relations import sentence_graph
    >>> tokens = [("Actin", "NN"), ("binds", "VBZ"), ("profilin", "NN"), (".", ".")]
    >>> graph = sentence_graph(tokens, [(1, 0, "nsubj"), (1, 2, "dobj")], first=[0], second=[2])
    >>> for labels in graph.labels:
    ...     print(*labels)
    PROT1_IP NN_IP
    binds_IP VBZ_IP
    PROT2_IP NN_IP
    .
    nsubj_IP
    dobj_IP
    PROT1_M NN_M
    binds_M VBZ_M
    PROT2_M NN_M
    ._A
    >>> graph.edges.tolist()
    [[1, 4], [4, 0], [1, 5], [5, 2], [6, 7], [7, 8], [8, 9]]
    """
    graphs = SentenceGraphs(
        tokens,
        dependencies,
        path_weight=path_weight,
        other_weight=other_weight,
        linear_weight=linear_weight,
        path_tag=path_tag,
        position_tags=position_tags,
        entity_labels=entity_labels,
        path_ends=path_ends,
        lowercase=lowercase,
    )
    return graphs.of_pair(first, second, others)


class SentenceGraphs:
    """Graphs of all candidate pairs of a sentence; what the graphs share is computed once.

    Parameters
    ----------
    tokens : sequence of (text, part of speech)
        Tokens in the order of the sentence.
    dependencies : sequence of (governor, dependent, type)
        Governor and dependent are numbers of tokens, from 0.
    path_weight, other_weight : float, default=0.9, 0.3
        Weights of the edges to and from dependencies: on the shortest paths between the entities, and elsewhere.
    linear_weight : float, default=0.9
        Weight of the edge from a token to the next.
    path_tag : str, default="IP"
        Tag of the labels on the shortest paths; empty for no tag.
    position_tags : tuple of three str, default=("B", "M", "A")
        Tags of the labels of the word order: tokens before, between, and after the entities.
    entity_labels : tuple of three str, default=("PROT1", "PROT2", "PROT")
        Labels that replace the texts of tokens of the first, the second and other entities.
    path_ends : {"every", "nearest"}, default="every"
        Which shortest paths between entities of several tokens are used; see
        :func:`~kernelrank.relations.sentence_graph`.
    lowercase : bool, default=False
        Whether texts are converted to lower case.

    Examples
    --------
    >>> from kernelrank.relations import SentenceGraphs
    >>> tokens = [("Actin", "NN"), ("binds", "VBZ"), ("profilin", "NN"), ("and", "CC"), ("talin", "NN")]
    >>> dependencies = [(1, 0, "nsubj"), (1, 2, "dobj"), (1, 4, "dobj"), (2, 4, "conj_and")]
    >>> graphs = SentenceGraphs(tokens, dependencies)
    >>> graphs.of_pair([0], [2], others=[4]).weights[:8]
    array([0.9, 0.9, 0.9, 0.9, 0.3, 0.3, 0.3, 0.3])
    >>> graphs.of_pair([2], [4], others=[0]).weights[:8]
    array([0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.9, 0.9])
    """

    def __init__(
        self,
        tokens: Sequence[tuple[str, str]],
        dependencies: Sequence[tuple[int, int, str]],
        *,
        path_weight: float = 0.9,
        other_weight: float = 0.3,
        linear_weight: float = 0.9,
        path_tag: str = "IP",
        position_tags: tuple[str, str, str] = ("B", "M", "A"),
        entity_labels: tuple[str, str, str] = ("PROT1", "PROT2", "PROT"),
        path_ends: PathEnds = "every",
        lowercase: bool = False,
    ) -> None:
        weights = {"path_weight": path_weight, "other_weight": other_weight, "linear_weight": linear_weight}
        for name, weight in weights.items():
            NOT_NEGATIVE(name, weight)
        choice("every", "nearest")("path_ends", path_ends)
        FLAG("lowercase", lowercase)
        TEXT("path_tag", path_tag)
        self._n_tokens = len(tokens)
        dependencies = list(dict.fromkeys((governor, dependent, kind) for governor, dependent, kind in dependencies))
        ends = [
            self._check((governor, dependent), f"dependency {kind!r}") for governor, dependent, kind in dependencies
        ]
        self._ends = np.array(ends, dtype=np.intp).reshape(-1, 2)
        self._paths = _Paths(self._ends, self._n_tokens, path_ends)
        self._edges = self._join()
        self._path_weight, self._other_weight, self._linear_weight = path_weight, other_weight, linear_weight

        names = [(text.lower() if lowercase else text, pos) for text, pos in tokens]
        types = [(kind,) for _, _, kind in dependencies]
        self._pos = [pos for _, pos in names]
        self._entity_labels, self._path_tag, self._position_tags = entity_labels, path_tag, position_tags
        self._off_path = [_tagged(labels, "") for labels in [*names, *types]]
        self._on_path = [_tagged(labels, path_tag) for labels in [*names, *types]]
        self._in_order = [[_tagged(labels, tag) for labels in names] for tag in position_tags]

    def of_pair(self, first: Collection[int], second: Collection[int], others: Collection[int] = ()) -> Graph:
        """Return the graph of one pair of entities.

        Parameters
        ----------
        first, second : collections of int
            Tokens of the two entities, at least one per entity.
        others : collection of int
            Tokens of all other entities of the sentence.

        Returns
        -------
        Graph
            The graph, as :func:`~kernelrank.relations.sentence_graph` returns it.
        """
        first, second, others = (
            self._check(first, "first"),
            self._check(second, "second"),
            self._check(others, "others"),
        )
        if not first or not second:
            raise ValueError(f"{'second' if first else 'first'} has no token, but an entity needs one.")
        blinded = self._blind(first, second, others)
        on_path = self._paths.between(first, second)
        in_order = self._label_order(min(first + second), max(first + second) + 1, blinded)
        weights = np.full(len(self._edges), float(self._linear_weight))
        weights[: 2 * len(on_path)] = np.repeat(np.where(on_path, self._path_weight, self._other_weight), 2)
        return Graph((*self._label_syntax(on_path, blinded), *in_order), self._edges, weights)

    def _blind(self, first: Iterable[int], second: Iterable[int], others: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return the labels of entity tokens; the first entity takes precedence over the second, then the others."""
        in_first, in_second, in_other = self._entity_labels
        names = dict.fromkeys(others, in_other) | dict.fromkeys(second, in_second) | dict.fromkeys(first, in_first)
        return {token: (name, self._pos[token]) for token, name in names.items()}

    def _label_syntax(self, on_path: NDArray[np.bool_], blinded: dict[int, tuple[str, str]]) -> list[tuple[str, ...]]:
        tokens_on_path = set(self._ends[on_path].ravel().tolist())
        labels = self._off_path.copy()
        for vertex in (*tokens_on_path, *(self._n_tokens + np.flatnonzero(on_path)).tolist()):
            labels[vertex] = self._on_path[vertex]
        for token, names in blinded.items():
            labels[token] = _tagged(names, self._path_tag if token in tokens_on_path else "")
        return labels

    def _label_order(self, start: int, end: int, blinded: dict[int, tuple[str, str]]) -> list[tuple[str, ...]]:
        before, middle, after = self._in_order
        labels = before[:start] + middle[start:end] + after[end:]
        for token, names in blinded.items():
            labels[token] = _tagged(names, self._position_tags[(token >= start) + (token >= end)])
        return labels

    def _join(self) -> NDArray[np.intp]:
        """Return the edges, read-only because all pairs share them."""
        n_dependencies = len(self._ends)
        dependencies = self._n_tokens + np.arange(n_dependencies)
        words = self._n_tokens + n_dependencies + np.arange(self._n_tokens)
        edges = np.empty((2 * n_dependencies + max(self._n_tokens - 1, 0), 2), dtype=np.intp)
        edges[: 2 * n_dependencies : 2] = np.column_stack([self._ends[:, 0], dependencies])
        edges[1 : 2 * n_dependencies : 2] = np.column_stack([dependencies, self._ends[:, 1]])
        edges[2 * n_dependencies :] = np.column_stack([words[:-1], words[1:]])
        edges.setflags(write=False)
        return edges

    def _check(self, tokens: Iterable[int], name: str) -> tuple[int, ...]:
        numbers = tuple(map(index, tokens))
        for number in numbers:
            if not 0 <= number < self._n_tokens:
                raise ValueError(f"{name} refers to token {number}, but there are {self._n_tokens}, numbered from 0.")
        return numbers


class _Paths:
    """Shortest undirected paths between tokens, along dependencies (governor, dependent)."""

    def __init__(self, ends: NDArray[np.intp], n_tokens: int, path_ends: PathEnds) -> None:
        self._governors, self._dependents = ends.T
        self._only_nearest = path_ends == "nearest"
        self._neighbours: list[set[int]] = [set() for _ in range(n_tokens)]
        for governor, dependent in ends.tolist():
            self._neighbours[governor].add(dependent)
            self._neighbours[dependent].add(governor)
        self._distances: dict[int, NDArray[np.intp]] = {}  # computed when needed

    def between(self, first: Iterable[int], second: Iterable[int]) -> NDArray[np.bool_]:
        """Return which dependencies are on a shortest path between two entities, as a mask."""
        out_of_reach = len(self._neighbours)
        lengths = {(a, b): self._measure(a)[b] for a, b in product(first, second) if a != b}
        longest = min(lengths.values(), default=0) if self._only_nearest else out_of_reach
        found = np.zeros(len(self._governors), dtype=bool)
        for (a, b), length in lengths.items():
            if length <= longest and length < out_of_reach:
                from_a, from_b = self._measure(a), self._measure(b)
                # A path through the dependency, in either direction, is as short as the shortest one.
                found |= from_a[self._governors] + 1 + from_b[self._dependents] == length
                found |= from_a[self._dependents] + 1 + from_b[self._governors] == length
        return found

    def _measure(self, start: int) -> NDArray[np.intp]:
        """Return the distance from a token to each token, breadth first; the number of tokens if unreachable."""
        if start not in self._distances:
            distances = [len(self._neighbours)] * len(self._neighbours)
            distances[start] = 0
            queue = [start]
            for token in queue:
                for neighbour in self._neighbours[token]:
                    if distances[neighbour] == len(self._neighbours):
                        distances[neighbour] = distances[token] + 1
                        queue.append(neighbour)
            self._distances[start] = np.array(distances, dtype=np.intp)
        return self._distances[start]


def _tagged(labels: Iterable[str], tag: str) -> tuple[str, ...]:
    """Append a tag to labels, and drop duplicates."""
    return tuple(dict.fromkeys(f"{label}_{tag}" if tag else label for label in labels))
