"""The Nystrom map, whose features approximate a kernel, and features that are Kronecker products."""

from kernelrank.features._kronecker_rows import KroneckerRows
from kernelrank.features._nystrom import draw_order, lost_alone, lost_directions, whitening_of_rows
from kernelrank.features._nystrom_map import NystromMap

__all__ = ["KroneckerRows", "NystromMap", "draw_order", "lost_alone", "lost_directions", "whitening_of_rows"]
