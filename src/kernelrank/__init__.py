"""Exact pairwise ranking for Python."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelrank.estimators import RLS as RLS
    from kernelrank.estimators import RLSCV as RLSCV
    from kernelrank.estimators import GreedyRankRLS as GreedyRankRLS
    from kernelrank.estimators import GreedyRLS as GreedyRLS
    from kernelrank.estimators import MaxMarginClustering as MaxMarginClustering
    from kernelrank.estimators import OrdinalSVM as OrdinalSVM
    from kernelrank.estimators import RankingClassifier as RankingClassifier
    from kernelrank.estimators import RankRLS as RankRLS
    from kernelrank.estimators import RankRLSCV as RankRLSCV
    from kernelrank.estimators import RankSVM as RankSVM
    from kernelrank.estimators import RankSVMCV as RankSVMCV
    from kernelrank.features import NystromMap as NystromMap

__all__ = [
    *("RLS", "RLSCV", "GreedyRLS", "GreedyRankRLS", "MaxMarginClustering", "NystromMap", "OrdinalSVM"),
    *("RankRLS", "RankRLSCV", "RankSVM", "RankSVMCV", "RankingClassifier"),
]
_ROOMS = (
    *("cli", "dask", "datasets", "estimators", "exceptions", "export", "features", "inspection", "io", "kernels"),
    *("losses", "metrics", "model_selection", "pairs", "persistence", "pipelines", "plots", "relational", "relations"),
    *("report", "solvers"),
)


def __getattr__(name: str) -> Any:
    """Import submodules and estimators on first access, so that the command line shows its help without SciPy."""
    if name in __all__:
        return getattr(import_module("kernelrank.features" if name == "NystromMap" else "kernelrank.estimators"), name)
    if name in _ROOMS:
        return import_module(f"kernelrank.{name}")
    if name == "__version__":
        return import_module("importlib.metadata").version("kernelrank")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, *_ROOMS, "__version__"])
