"""Corpora of sentences with candidate pairs of proteins that may interact."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelrank.kernels import Graph
from kernelrank.relations._sentence_graphs import SentenceGraphs


class Token(NamedTuple):
    """A token of a sentence; its characters are ``sentence.text[start:end]``."""

    text: str
    pos: str
    start: int
    end: int


class Dependency(NamedTuple):
    """A typed dependency between two tokens, by their numbers in the sentence."""

    governor: int
    dependent: int
    type: str


class Entity(NamedTuple):
    """A mention of a protein.

    Its characters are those of one or several ``spans`` (start, end) of the sentence, ends excluded; its
    ``tokens`` all those that have some of them.
    """

    id: str
    text: str
    spans: tuple[tuple[int, int], ...]
    tokens: tuple[int, ...]


class Sentence(NamedTuple):
    """A sentence with its parse and its entities; ``document`` is the id of its document."""

    id: str
    document: str
    text: str
    tokens: tuple[Token, ...]
    dependencies: tuple[Dependency, ...]
    entities: tuple[Entity, ...]


@dataclass(frozen=True, eq=False, repr=False)
class PPICorpus:
    """Sentences and the candidate pairs of proteins in them, as :func:`load_ppi` reads them.

    Attributes
    ----------
    name : str
        Of the corpus.
    sentences : tuple of Sentence
        All sentences, also those without a pair.
    pairs : ndarray of shape (n_pairs, 3)
        Of each pair, the number of its sentence in ``sentences``, and the numbers of its two entities in the
        ``entities`` of the sentence. Pairs of the same sentence follow each other.
    y : ndarray of shape (n_pairs,)
        1 for pairs that are said to interact, 0 for the others.
    sentence, document : ndarray of shape (n_pairs,)
        Id of the sentence and of the document of each pair. Pairs of a document resemble each other: use
        ``document`` as the groups of cross-validation, never split it.
    n_self_pairs : int
        Pairs of an entity with itself in the file, which are left out.

    Notes
    -----
    ``len(corpus)`` is the number of pairs.
    """

    name: str
    sentences: tuple[Sentence, ...]
    pairs: NDArray[np.intp]
    y: NDArray[np.int64]
    sentence: NDArray[np.str_]
    document: NDArray[np.str_]
    n_self_pairs: int

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return (
            f"<PPICorpus {self.name}: {len(self.sentences)} sentences, "
            f"{len(self)} pairs of which {int(self.y.sum())} interact>"
        )

    def graphs(self, *, order: Literal["text", "file"] = "text", **parameters: Any) -> list[Graph]:
        """Represent each pair by a graph.

        Parameters
        ----------
        order : {"text", "file"}, default="text"
            Which entity of a pair is the first: the one that begins, else ends, earlier in the sentence, or the one
            that the file names first. That order can give the answer away: LLL lists agents before their targets.
        **parameters
            Of :func:`sentence_graph`: weights, tags, labels of entities and so on.

        Returns
        -------
        list of Graph
            In the order of ``pairs``.
        """
        if order not in ("text", "file"):
            raise ValueError(f'order must be "text" or "file", got {order!r}.')
        graphs: list[Graph] = []
        for number, pairs in groupby(self.pairs.tolist(), key=lambda pair: pair[0]):
            _, _, _, tokens, dependencies, entities = self.sentences[number]
            encode = SentenceGraphs([(token.text, token.pos) for token in tokens], dependencies, **parameters).of_pair
            mentions = {token for entity in entities for token in entity.tokens}
            for _, *pair in pairs:
                first, second = (entities[k] for k in pair)
                if order == "text" and _reach(second) < _reach(first):
                    first, second = second, first
                graphs.append(encode(first.tokens, second.tokens, mentions))
        return graphs


def _reach(entity: Entity) -> tuple[int, int]:
    return min(start for start, _ in entity.spans), max(end for _, end in entity.spans)
