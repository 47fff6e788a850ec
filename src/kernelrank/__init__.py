"""Exact pairwise ranking for Python."""

from importlib.metadata import version

from kernelrank.estimators import RankSVM

__version__ = version("kernelrank")

__all__ = ["RankSVM"]
