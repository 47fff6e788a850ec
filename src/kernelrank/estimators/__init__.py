"""What a user fits: fit = validate, compose a loss with a solver, store."""

from kernelrank.estimators._rank_svm import RankSVM
from kernelrank.estimators._rank_svm_cv import RankSVMCV

__all__ = ["RankSVM", "RankSVMCV"]
