"""Relation extraction from text: corpora of sentences, and graphs of sentences in which two entities may be related."""

from kernelrank.relations._corpus import Dependency, Entity, PPICorpus, Sentence, Token
from kernelrank.relations._reader import load_ppi
from kernelrank.relations._sentence_graphs import SentenceGraphs, sentence_graph

__all__ = [
    "Dependency",
    "Entity",
    "PPICorpus",
    "Sentence",
    "SentenceGraphs",
    "Token",
    "load_ppi",
    "sentence_graph",
]
