"""The same estimators on Dask collections, whose rows stay on the workers of a cluster."""

from kernelrank.dask._engine import Communication
from kernelrank.dask._rank_rls import RankRLS
from kernelrank.dask._rank_svm import RankSVM
from kernelrank.dask._rank_svm_cv import RankSVMCV
from kernelrank.dask._stores import read_store

__all__ = ["Communication", "RankRLS", "RankSVM", "RankSVMCV", "read_store"]
