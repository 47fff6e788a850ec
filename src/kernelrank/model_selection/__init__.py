"""Estimates of the performance of a model on new rows, tests of their significance, and comparisons of models."""

from kernelrank.model_selection._coefficients import CoefIntervals, coef_intervals
from kernelrank.model_selection._compare import compare
from kernelrank.model_selection._entry_splitters import LeaveBothOut, LeaveColumnsOut, LeaveEntriesOut, LeaveRowsOut
from kernelrank.model_selection._estimates import Estimate, estimate_auc, estimate_concordance
from kernelrank.model_selection._f_score_classifier import FScoreClassifier
from kernelrank.model_selection._permutation_test import PermutationTest, permutation_test
from kernelrank.model_selection._permutations import permuted_outputs
from kernelrank.model_selection._propensities import Propensities, estimate_propensities
from kernelrank.model_selection._splitters import LeavePairOut, LeaveQueryOut
from kernelrank.model_selection._tournament import TournamentROC, tournament_roc

__all__ = [
    "CoefIntervals",
    "Estimate",
    "FScoreClassifier",
    "LeaveBothOut",
    "LeaveColumnsOut",
    "LeaveEntriesOut",
    "LeavePairOut",
    "LeaveQueryOut",
    "LeaveRowsOut",
    "PermutationTest",
    "Propensities",
    "TournamentROC",
    "coef_intervals",
    "compare",
    "estimate_auc",
    "estimate_concordance",
    "estimate_propensities",
    "permutation_test",
    "permuted_outputs",
    "tournament_roc",
]
