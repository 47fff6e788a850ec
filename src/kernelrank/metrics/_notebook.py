"""Comparisons of scorers in notebooks: tables whose intervals are drawn as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kernelrank._charts import interval_bar
from kernelrank._html import Markup, number, plural, shorten, table, tag

if TYPE_CHECKING:
    from kernelrank.metrics._comparison import Comparison

_MOST_LINES, _LONGEST, _LONGEST_NOTES = 12, 60, 1000


def show_comparison(found: Comparison) -> list[Markup]:
    """Return the estimate of each scorer, the differences, and how they were tested."""
    level = f"{100 * found.confidence:g} % interval"
    scorers = [
        (shorten(str(name), _LONGEST), f"{estimate:.4f}", f"{low:.4f} to {high:.4f}", interval_bar(estimate, low, high))
        for name, estimate, (low, high) in zip(
            found.names[:_MOST_LINES], found.estimates, found.intervals, strict=False
        )
    ]
    shown = found.differences[:_MOST_LINES]
    ends = [abs(end) for each in shown for end in (each.low, each.high, each.difference) if not np.isnan(end)]
    largest = max(ends, default=0.0) or 1.0
    differences = [
        (
            f"{shorten(str(each.first), _LONGEST)} − {shorten(str(each.second), _LONGEST)}",
            f"{each.difference:.4f}",
            f"{each.low:.4f} to {each.high:.4f}",
            interval_bar(each.difference, each.low, each.high, ends=(-largest, largest), chance=0.0),
            number(each.pvalue, 3),
            number(each.corrected_pvalue, 3),
        )
        for each in shown
    ]
    range_ = f"−{number(largest, 2)} to {number(largest, 2)}"
    heading = ("scorers", "difference", level, range_, "p", "corrected p")
    parts = [
        table(("scorer", "concordance", level, "0 to 1"), scorers, "Concordance", numeric=(1, 2)),
        table(heading, differences, "Differences", numeric=(1, 2, 4, 5)),
    ]
    left_out = [
        f"{plural(len(all_) - _MOST_LINES, what)} more"
        for all_, what in ((found.names, "scorer"), (found.differences, "difference"))
        if len(all_) > _MOST_LINES
    ]
    notes = [shorten(" ".join([f"Test: {found.method}. Correction: Holm.", *found.notes]), _LONGEST_NOTES)]
    notes += [f"Not shown: {' and '.join(left_out)}."] if left_out else []
    return [*parts, tag("p", " ".join(notes))]
