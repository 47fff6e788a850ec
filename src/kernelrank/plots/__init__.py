"""Plots, as scikit-learn's Display objects; they need matplotlib."""

from kernelrank.plots._convergence import ConvergenceDisplay
from kernelrank.plots._path import PathDisplay

__all__ = ["ConvergenceDisplay", "PathDisplay"]
