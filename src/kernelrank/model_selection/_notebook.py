"""Estimates, tests and ROC curves in notebooks: a table and a small picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernelrank._charts import interval_axis, null_distribution, roc
from kernelrank._html import Markup, number, share
from kernelrank._notebook import facts
from kernelrank.model_selection._permutation_test import ROUNDING, PermutationTest

if TYPE_CHECKING:
    from kernelrank.model_selection._estimates import Estimate
    from kernelrank.model_selection._tournament import TournamentROC

Row = tuple[str, Any]

_CHANCE = 0.5
_MOST_SKIPPED = 3


def show_estimate(found: Estimate) -> list[Markup]:
    """Return an estimate with its interval."""
    low, high = found.interval
    level = f"{100 * found.confidence:g} % interval"
    source = "by the jackknife" if found.interval_from == "jackknife" else f"from {found.interval_from}"
    rows: list[Row] = [
        ("estimate", share(found.estimate)),
        (f"{level} {source}", f"{share(low)} to {share(high)}"),
        ("strategy", found.strategy),
        ("compared pairs", f"{found.n_pairs:,}"),
        ("fits", f"{found.n_fits:,}"),
        *_skipped(found.skipped),
    ]
    about = f"Estimate {share(found.estimate)}, {level} {share(low)} to {share(high)}; chance is {_CHANCE:g}"
    return [facts(rows, "Concordance on new rows"), interval_axis(found.estimate, low, high, _CHANCE, about)]


def show_permutation_test(found: PermutationTest) -> list[Markup]:
    """Return the result of a test with the null distribution."""
    error = "exact" if found.exact else f"standard error {number(found.std_error, 2)}"
    rows = [
        ("estimate", share(found.statistic)),
        ("p-value", f"{number(found.pvalue, 3)} ({error})"),
        ("permutations", f"{len(found.permuted):,}, of {found.exchanged}"),
        ("strategy", found.strategy),
        ("fits", f"{found.n_fits:,}"),
    ]
    about = (
        f"Estimates for {len(found.permuted):,} permutations; {share(found.statistic)} was observed, chance is"
        f" {_CHANCE:g}"
    )
    equal = np.abs(found.permuted - found.statistic) <= ROUNDING  # they count as reached
    permuted = np.where(equal, found.statistic, found.permuted)
    return [facts(rows, "Permutation test"), null_distribution(permuted, found.statistic, _CHANCE, about)]


def show_tournament(found: TournamentROC) -> list[Markup]:
    """Return the area under a ROC curve, and the curve."""
    low, high = found.interval
    rows: list[Row] = [
        ("area under the curve", share(found.auc)),
        (f"{100 * found.confidence:g} % interval", f"{share(low)} to {share(high)}"),
        ("fits", f"{found.n_fits:,}"),
        *_skipped(found.skipped),
    ]
    about = f"ROC curve of held-out pairs, with an area of {share(found.auc)}"
    return [facts(rows, "Tournament of held-out pairs"), roc(found.fpr, found.tpr, about)]


def _skipped(skipped: tuple[str, ...]) -> list[Row]:
    """Return what was left out; of many, the first."""
    more = len(skipped) - _MOST_SKIPPED
    return [
        *(("left out", each) for each in skipped[:_MOST_SKIPPED]),
        *([("left out", f"{more:,} more")] if more > 0 else []),
    ]
