"""The Nystrom map: explicit features that approximate a kernel."""

from kernelrank.features._nystrom import draw_order, lost_alone, lost_directions, whitening_of_rows
from kernelrank.features._nystrom_map import NystromMap

__all__ = ["NystromMap", "draw_order", "lost_alone", "lost_directions", "whitening_of_rows"]
