"""Estimators: ``fit`` validates, composes a loss with a solver, and stores the solution."""

from kernelrank.estimators._greedy import GreedyRankRLS, GreedyRLS
from kernelrank.estimators._max_margin_clustering import MaxMarginClustering
from kernelrank.estimators._ordinal_svm import OrdinalSVM
from kernelrank.estimators._rank_rls import RankRLS
from kernelrank.estimators._rank_svm import RankSVM
from kernelrank.estimators._rank_svm_cv import RankSVMCV
from kernelrank.estimators._ranking_classifier import RankingClassifier
from kernelrank.estimators._rls import RLS
from kernelrank.estimators._rls_cv import RLSCV, RankRLSCV

__all__ = [
    "RLS",
    "RLSCV",
    "GreedyRLS",
    "GreedyRankRLS",
    "MaxMarginClustering",
    "OrdinalSVM",
    "RankRLS",
    "RankRLSCV",
    "RankSVM",
    "RankSVMCV",
    "RankingClassifier",
]
