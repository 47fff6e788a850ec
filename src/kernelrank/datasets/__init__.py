"""Data sets of the papers, read from the files in which they are published."""

from kernelrank.datasets._ppi import Dependency, Entity, PPICorpus, Sentence, Token
from kernelrank.datasets._ppi_reader import load_ppi

__all__ = ["Dependency", "Entity", "PPICorpus", "Sentence", "Token", "load_ppi"]
