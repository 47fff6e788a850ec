"""Plots, as scikit-learn's Display objects; they need matplotlib."""

from kernelrank.plots._convergence import ConvergenceDisplay

__all__ = ["ConvergenceDisplay"]
