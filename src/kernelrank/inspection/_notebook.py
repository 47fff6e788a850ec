"""Explanations, audits and learning curves in notebooks: a table and a small picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kernelrank._charts import curve, share_bar, signed_bar
from kernelrank._html import Markup, number, percent, plural, share, shorten, table, tag

if TYPE_CHECKING:
    from kernelrank.inspection._audit import PairAudit
    from kernelrank.inspection._explanation import Explanation
    from kernelrank.inspection._learning_curve import LearningCurve

_MOST_SIZES, _LONGEST, _LONGEST_SENTENCE = 12, 60, 500
_HEADINGS = {"features": "feature", "basis": "basis row", "rows": "training row", "pairs": "training pair"}


def show_explanation(found: Explanation) -> list[Markup]:
    """Return the sentence, and the largest contributions."""
    columns, lines = found._lines()
    sentence = tag("p", shorten(found.sentence, _LONGEST_SENTENCE))
    if not lines:
        return [sentence]
    largest = max(abs(value) for _, value, _ in lines)
    rows = [
        (
            shorten(name, _LONGEST),
            f"{value:+.3g}",
            signed_bar(value, largest),
            *(shorten(each, _LONGEST) for each in rest),
        )
        for name, value, rest in lines
    ]
    heading = (_HEADINGS[found.by], "contribution", "for b, for a", *columns)
    return [sentence, table(heading, rows, "Contributions to the difference of scores", numeric=(1,))]


def show_audit(found: PairAudit) -> list[Markup]:
    """Return the paragraph, and the share of the weight that any scorer loses."""
    least, most = found.least_error, found.responsible_weight / found.total_weight
    shares = [
        (1.0 - most, "fill", f"{percent(1.0 - most)}: in order for some scorer"),
        (most - least, "rest", f"{percent(most - least)}: unknown"),
        (least, "minus", f"{percent(least)}: in the wrong order for any scorer"),
    ]
    left = f"{percent(1.0 - most)} can be put in order"
    right = f"at least {percent(least)} cannot" if least else ""
    about = f"Of the weight of all pairs, {left} by some scorer, and {right or 'none is lost'}"
    return [share_bar(shares, left, right, about), tag("p", str(found))]


def show_learning_curve(found: LearningCurve) -> list[Markup]:
    """Return the scores by the size of the training set."""
    mean, std = found.mean, found.std
    places = np.unique(np.linspace(0, len(mean) - 1, min(len(mean), _MOST_SIZES)).round().astype(np.intp))
    of_rows = found.unit == "rows"
    rows = [
        (
            f"{found.sizes[k]:,}",
            *([] if of_rows else [number(float(found.n_rows[k]))]),
            share(float(mean[k])),
            share(float(std[k])),
        )
        for k in places.tolist()
    ]
    metric = shorten(found.metric, _LONGEST)
    heading = (found.unit, *([] if of_rows else ["rows"]), f"mean {metric}", "standard deviation")
    caption = f"Learning curve, {plural(found.scores.shape[1], 'fold')}"
    parts = [table(heading, rows, caption, numeric=range(len(heading)))]
    if not np.isnan(mean).all():
        about = f"{metric} on held-out {found.unit} by the number of {found.unit} trained on"
        parts.append(curve(found.sizes, mean, std, f"{found.unit} trained on", metric, about))
    return parts
