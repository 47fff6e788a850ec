"""Exact pairwise ranking for Python."""

from importlib.metadata import version

from kernelrank.estimators import RankSVM, RankSVMCV

__version__ = version("kernelrank")

__all__ = ["RankSVM", "RankSVMCV"]
