"""Fitting with progress, noting convergence, and saving."""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

from kernelrank import RankRLS, RankRLSCV, RankSVM, RankSVMCV
from kernelrank._progress import FitProgress
from kernelrank.cli._cluster import fit_on_cluster
from kernelrank.cli._data import Data
from kernelrank.exceptions import ConvergenceWarning, PathEndWarning
from kernelrank.io import RowStore
from kernelrank.persistence import save_model


def fit_with_progress(model: RankSVM | RankRLS, data: Data, shown: bool, client: Any = None) -> tuple[float, bool]:
    """Fit a model, on a cluster if there is a client; return the time in seconds and whether it converged."""
    began = time.perf_counter()
    with FitProgress(shown) as progress, Convergence() as convergence:
        if isinstance(model, RankSVM):
            model.set_params(verbose=progress)
        if client is not None:
            fit_on_cluster(model, data.X, client)
        elif isinstance(data.X, RowStore) and isinstance(model, RankSVM):
            model.fit(data.X)
        else:
            given = {"sample_weight": data.weight, "observed": data.observed}
            model.fit(data.X, data.utilities(), qid=data.qid, **given)
        if isinstance(model, RankSVM):
            model.set_params(verbose=0)
    return time.perf_counter() - began, convergence.reached


def save(model: RankSVM | RankRLS | RankSVMCV | RankRLSCV, data: Data, args: argparse.Namespace) -> None:
    """Save a model to the output file of a command."""
    if not hasattr(model, "feature_names_in_"):
        # How to count the features of other files.
        model.zero_based_ = bool(data.X.zero_based) if isinstance(data.X, RowStore) else args.zero_based
    save_model(model, args.output)


def certificate(model: Any) -> dict[str, float | None]:
    """Return the objective and its absolute and relative gap; None for a closed form."""
    objective, gap = getattr(model, "objective_", None), getattr(model, "gap_", None)
    relative = None if objective is None or gap is None else gap / objective if objective > 0 else 0.0
    return {"objective": objective, "gap": gap, "relative_gap": relative}


class Convergence:
    """Context that records warnings about missing convergence, or a best alpha at an end of the path.

    The warnings are shown as well.
    """

    reached, at_end = True, False

    def __enter__(self) -> Convergence:
        self._catch = warnings.catch_warnings()
        self._catch.__enter__()
        show = warnings.showwarning

        def notice(message: Any, category: Any, *where: Any, **more: Any) -> None:
            self.reached = self.reached and not issubclass(category, ConvergenceWarning)
            self.at_end = self.at_end or issubclass(category, PathEndWarning)
            show(message, category, *where, **more)

        warnings.showwarning = notice
        return self

    def __exit__(self, *error: Any) -> None:
        self._catch.__exit__(*error)
