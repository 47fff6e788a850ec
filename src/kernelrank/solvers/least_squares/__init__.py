"""Least squares over pairs in closed form, with exact held-out predictions.

All of it is ridge regression (``_problem.py``), decomposed once (``_spectrum.py``). Held-out predictions follow from
the residual operator (``_residual.py``): of folds and pairs of one ranking (``_ranking.py``, ``_pairs.py``), of queries
(``_queries.py``), and of pairs without ties (``_classes.py``). ``_basis.py`` corrects for basis rows that are held out,
``_ties.py`` bounds rounding errors and says which predictions are tied.
"""

from kernelrank.solvers.least_squares._basis import Basis
from kernelrank.solvers.least_squares._classes import ClassesHoldOut
from kernelrank.solvers.least_squares._hold_out import NO_CLOSED_FORM, HoldOut, Undecomposed, check_once
from kernelrank.solvers.least_squares._moments import HeldOutMoments, Moments, MomentsOfRows
from kernelrank.solvers.least_squares._problem import LeastSquares, bytes_of_matrices, require_matrices
from kernelrank.solvers.least_squares._queries import QueriesHoldOut
from kernelrank.solvers.least_squares._ranking import RankingHoldOut
from kernelrank.solvers.least_squares._residual import Residual
from kernelrank.solvers.least_squares._spectrum import decompose_kernel
from kernelrank.solvers.least_squares._ties import Predicted, merge_ties

__all__ = [
    "NO_CLOSED_FORM",
    "Basis",
    "ClassesHoldOut",
    "HeldOutMoments",
    "HoldOut",
    "LeastSquares",
    "Moments",
    "MomentsOfRows",
    "Predicted",
    "QueriesHoldOut",
    "RankingHoldOut",
    "Residual",
    "Undecomposed",
    "bytes_of_matrices",
    "check_once",
    "decompose_kernel",
    "merge_ties",
    "require_matrices",
]
