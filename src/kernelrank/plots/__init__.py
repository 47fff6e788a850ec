"""Plots as Display objects in the style of scikit-learn; they require matplotlib."""

from kernelrank.plots._coefficients import CoefficientDisplay
from kernelrank.plots._convergence import ConvergenceDisplay
from kernelrank.plots._explanation import ExplanationDisplay
from kernelrank.plots._learning_curve import LearningCurveDisplay
from kernelrank.plots._path import PathDisplay
from kernelrank.plots._permutation import PermutationDisplay
from kernelrank.plots._query_breakdown import QueryBreakdownDisplay
from kernelrank.plots._threshold import CalibrationOfThresholdDisplay
from kernelrank.plots._time_dependent import TimeDependentAUCDisplay
from kernelrank.plots._tournament import TournamentROCDisplay

__all__ = [
    "CalibrationOfThresholdDisplay",
    "CoefficientDisplay",
    "ConvergenceDisplay",
    "ExplanationDisplay",
    "LearningCurveDisplay",
    "PathDisplay",
    "PermutationDisplay",
    "QueryBreakdownDisplay",
    "TimeDependentAUCDisplay",
    "TournamentROCDisplay",
]
