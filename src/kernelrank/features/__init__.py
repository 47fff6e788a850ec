"""Feature maps: Nystrom features of a kernel, and graphs of sentences."""

from kernelrank.features._nystrom import draw_order, lost_alone, lost_directions, whitening_of_rows
from kernelrank.features._nystrom_map import NystromMap
from kernelrank.features._sentence_graphs import SentenceGraphs, sentence_graph

__all__ = [
    "NystromMap",
    "SentenceGraphs",
    "draw_order",
    "lost_alone",
    "lost_directions",
    "sentence_graph",
    "whitening_of_rows",
]
