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
    """Token of a sentence; its characters are ``sentence.text[start:end]``.

    Attributes
    ----------
    text : str
        Text of the token.
    pos : str
        Its part of speech.
    start : int
        First character in the sentence.
    end : int
        Character after the last one.
    """

    text: str
    pos: str
    start: int
    end: int


class Dependency(NamedTuple):
    """Typed dependency between two tokens of a sentence.

    Attributes
    ----------
    governor : int
        Number of the governing token.
    dependent : int
        Number of the dependent token.
    type : str
        Type of the dependency.
    """

    governor: int
    dependent: int
    type: str


class Entity(NamedTuple):
    """Mention of a protein.

    Attributes
    ----------
    id : str
        Id of the entity.
    text : str
        Its text.
    spans : tuple of (start, end)
        Parts of the text of the sentence that it consists of, ends excluded.
    tokens : tuple of int
        Numbers of all tokens that overlap a span.
    """

    id: str
    text: str
    spans: tuple[tuple[int, int], ...]
    tokens: tuple[int, ...]


class Sentence(NamedTuple):
    """Sentence with its parse and its entities.

    Attributes
    ----------
    id : str
        Id of the sentence.
    document : str
        Id of its document.
    text : str
        Its text.
    tokens : tuple of Token
        Tokens, in the order of the text.
    dependencies : tuple of Dependency
        Dependencies between tokens.
    entities : tuple of Entity
        Mentions of proteins.
    """

    id: str
    document: str
    text: str
    tokens: tuple[Token, ...]
    dependencies: tuple[Dependency, ...]
    entities: tuple[Entity, ...]


@dataclass(frozen=True, eq=False, repr=False)
class PPICorpus:
    """Corpus of sentences with candidate pairs of proteins, as :func:`~kernelrank.relations.load_ppi` reads it.

    Attributes
    ----------
    name : str
        Name of the corpus.
    sentences : tuple of Sentence
        All sentences, including those without a pair.
    pairs : ndarray of shape (n_pairs, 3)
        For each pair, the number of its sentence in ``sentences``, and the numbers of its two entities in the
        ``entities`` of the sentence. Pairs of a sentence are consecutive.
    y : ndarray of shape (n_pairs,)
        1 for pairs that interact according to the sentence, 0 for the others.
    sentence, document : ndarray of shape (n_pairs,)
        Id of the sentence and of the document of each pair. Pairs of a document are similar to each other: use
        ``document`` as the groups of a cross-validation.
    n_self_pairs : int
        Number of pairs of an entity with itself in the file; these are left out.

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
            Which entity of a pair is the first. "text": the one that begins earlier in the sentence, or ends earlier if
            both begin together. "file": the one that the file names first. The order of the file can reveal the label:
            LLL lists agents before their targets.
        **parameters
            Parameters of :func:`~kernelrank.relations.sentence_graph`: weights, tags, labels of entities and so on.

        Returns
        -------
        list of Graph
            One graph per pair, in the order of ``pairs``.
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
