"""Features that stand for a kernel."""

from kernelrank.features._nystrom import whitening

__all__ = ["whitening"]
