"""Report on a model and data, as one HTML file that needs no network."""

from kernelrank.report._write import write

__all__ = ["write"]
