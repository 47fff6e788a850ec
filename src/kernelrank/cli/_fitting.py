"""Fitting with progress, noting convergence, and saving."""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any, NamedTuple

import numpy as np

from kernelrank import RankSVM
from kernelrank._progress import FoldProgress
from kernelrank.cli._cluster import fit_on_cluster
from kernelrank.cli._data import Data
from kernelrank.cli._methods import taken_by
from kernelrank.cli._pairs import Preferences
from kernelrank.cli._targets import names_of_targets
from kernelrank.cli._working import progress_of
from kernelrank.exceptions import ConvergenceWarning, PathEndWarning
from kernelrank.io import RowStore
from kernelrank.persistence import save_model


class Fitted(NamedTuple):
    """Facts about a fit: time, convergence, whether the best alpha is at an end of the path, and number of fits."""

    seconds: float
    converged: bool
    at_end: bool
    n_fits: int


def fit_with_progress(
    model: Any, data: Data, shown: bool, client: Any = None, preferences: Preferences | None = None
) -> Fitted:
    """Fit a model to utilities or preferences, on a cluster if there is a client."""
    began = time.perf_counter()
    reports = "verbose" in model.get_params(deep=False)
    with progress_of(model, shown) as progress, Convergence() as convergence:
        if reports:
            model.set_params(verbose=progress)
        if client is not None:
            fit_on_cluster(model, data.X, client)
        elif isinstance(data.X, RowStore) and isinstance(model, RankSVM):
            model.fit(data.X)
        elif preferences is not None:
            _fit_pairs(model, data, preferences)
        else:
            model.fit(data.X, data.utilities(), **arguments_of_fit(model, data))
        if reports:
            model.set_params(verbose=0)
    n_fits = progress.done if isinstance(progress, FoldProgress) and hasattr(model, "alphas") else 1
    return Fitted(time.perf_counter() - began, convergence.reached, convergence.at_end, n_fits)


def arguments_of_fit(model: Any, data: Data) -> dict[str, Any]:
    """Return the data that the fit of an estimator takes besides X and y; rows of a query are a group."""
    given = {"qid": data.qid, "groups": data.qid, "sample_weight": data.weight, "observed": data.observed}
    return {name: values for name, values in given.items() if values is not None and name in taken_by(model)}


def _fit_pairs(model: Any, data: Data, preferences: Preferences) -> None:
    given = {"weight": preferences.weight, "magnitude": preferences.magnitude}
    if preferences.magnitude is not None and "magnitude" not in taken_by(model):
        raise ValueError("magnitudes of pairs are for --method rankrls with a given alpha; leave out their column.")
    known = {name: values for name, values in given.items() if values is not None}
    model.fit_pairs(data.X, preferences.pairs, qid=data.qid, **known)


def save(model: Any, data: Data, args: argparse.Namespace) -> None:
    """Save a model to the output file of a command, with the preprocessing of its features."""
    queries = data.qid is not None and "qid" in taken_by(model)
    whole = model if data.preparation is None else data.preparation.pipeline(model, queries=queries)
    if not hasattr(whole, "feature_names_in_"):
        # How to count the features of other files.
        model.zero_based_ = bool(data.X.zero_based) if isinstance(data.X, RowStore) else args.zero_based
    if names := names_of_targets(args):
        model.target_names_ = np.array(names, dtype=object)
    save_model(whole, args.output)


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
