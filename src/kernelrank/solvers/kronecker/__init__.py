"""Least squares of relational data with Kronecker kernels."""

from kernelrank.solvers.kronecker._complete import KroneckerProblem
from kernelrank.solvers.kronecker._side import Side, decompose_features, decompose_matrix
from kernelrank.solvers.kronecker._two_step import TwoStepProblem

__all__ = ["KroneckerProblem", "Side", "TwoStepProblem", "decompose_features", "decompose_matrix"]
