"""Relational data: learning from pairs of things, with features or kernels of both."""

from kernelrank.features import KroneckerRows
from kernelrank.relational._kronecker_rls import KroneckerRLS
from kernelrank.relational._kronecker_rls_cv import KroneckerRLSCV
from kernelrank.relational._two_step_rls import TwoStepRLS

__all__ = ["KroneckerRLS", "KroneckerRLSCV", "KroneckerRows", "TwoStepRLS"]
