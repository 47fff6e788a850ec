"""Plots as Display objects in the style of scikit-learn; they require matplotlib."""

from kernelrank.plots._convergence import ConvergenceDisplay
from kernelrank.plots._explanation import ExplanationDisplay
from kernelrank.plots._learning_curve import LearningCurveDisplay
from kernelrank.plots._path import PathDisplay
from kernelrank.plots._time_dependent import TimeDependentAUCDisplay

__all__ = [
    "ConvergenceDisplay",
    "ExplanationDisplay",
    "LearningCurveDisplay",
    "PathDisplay",
    "TimeDependentAUCDisplay",
]
