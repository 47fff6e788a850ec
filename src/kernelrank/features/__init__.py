"""Features that stand for a kernel."""

from kernelrank.features._nystrom import BasisSpan, draw_order, map_rows, whitening, whitening_of_rows
from kernelrank.features._nystrom_map import NystromMap

__all__ = ["BasisSpan", "NystromMap", "draw_order", "map_rows", "whitening", "whitening_of_rows"]
