"""Plots as Display objects in the style of scikit-learn; they require matplotlib."""

from kernelrank.plots._convergence import ConvergenceDisplay
from kernelrank.plots._path import PathDisplay

__all__ = ["ConvergenceDisplay", "PathDisplay"]
