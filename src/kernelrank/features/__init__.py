"""Features that stand for a kernel."""

from kernelrank.features._nystrom import orthonormal, whitening
from kernelrank.features._nystrom_map import NystromMap

__all__ = ["NystromMap", "orthonormal", "whitening"]
