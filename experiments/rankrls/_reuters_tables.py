"""Tables of the report on Reuters-21578: AUC by topic, intervals, and gains of RankRLS."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, norm, spearmanr, wilcoxon

from benchmarks.harness import table
from experiments.rankrls._reuters_published import PUBLISHED

Array = NDArray[np.float64]
Found = Mapping[str, Array]  # method: (n_draws, rows of `judge`, n_topics)

CHOSEN, HINDSIGHT, LOW, HIGH = range(4)  # rows of what `judge` in ``reuters.py`` returns
SIZES = ((70, 150), (150, 400), (400, 4000))  # classes of topics, by their positives among all documents
COMPARED = {"RankRLS": "rank_rls", "RLS of ±1, no mean": "rls", "RankSVM": "rank_svm"}  # with P09
DEVIATIONS = 2.0  # within so many standard deviations the figures agree


def published(topics: list[str], name: str) -> Array:
    """Return AUC and ends of the interval of a method, one row per topic."""
    return np.array([getattr(PUBLISHED[topic], COMPARED[name]) for topic in topics])


def topics_table(topics: list[str], found: Found, positives: Array, names: list[str]) -> str:
    """Return a table of the AUC on the rest, mean ± standard deviation over the draws, after the published one."""
    n_draws = np.isfinite(found["RankRLS"][:, CHOSEN]).sum(axis=0)
    columns = {
        "topic": [*topics, "**mean**"],
        "positives": [f"{n:.1f}" for n in [*positives.mean(axis=0), positives.mean()]],
        "draws": [*(f"{n}" for n in n_draws), ""],
    }
    for name in names:
        if name in COMPARED:
            theirs = published(topics, name)[:, 0]
            columns[f"{name.partition(' of')[0]}, P09"] = [f"{value:.3f}" for value in [*theirs, theirs.mean()]]
        means, spreads = by_topic(found[name][:, CHOSEN])
        of_draws = np.nanmean(found[name][:, CHOSEN] - means, axis=1)
        pairs = zip([*means, means.mean()], [*spreads, np.std(of_draws, ddof=1)], strict=True)
        columns[name] = [f"{mean:.3f} ± {spread:.3f}" for mean, spread in pairs]
    return table(list(columns), zip(*columns.values(), strict=True))


def by_topic(areas: Array) -> tuple[Array, Array]:
    """Return the mean and the standard deviation over the draws, for each topic."""
    return np.nanmean(areas, axis=0), np.nanstd(areas, axis=0, ddof=1)


def deviations(areas: Array, theirs: Array) -> Array:
    """Return by how much one other draw differs from the mean of ours, in standard deviations of that difference."""
    means, spreads = by_topic(areas)
    return (theirs - means) / (spreads * np.sqrt(1 + 1 / np.isfinite(areas).sum(axis=0)))


def intervals_table(topics: list[str], found: Found, name: str) -> str:
    """Return a table of published and own intervals, and of where the published AUC is among our draws."""
    areas, theirs = found[name][:, CHOSEN], published(topics, name)
    low, high = np.nanmean(found[name][:, [LOW, HIGH]], axis=0)
    apart = deviations(areas, theirs[:, 0])
    lines = [
        [
            *(topic, f"{theirs[k, 0]:.3f}", f"{theirs[k, 1]:.3f}–{theirs[k, 2]:.3f}"),
            *(f"{np.nanmean(areas[:, k]):.3f}", f"{low[k]:.3f}–{high[k]:.3f}"),
            *(f"{np.nanmin(areas[:, k]):.3f}–{np.nanmax(areas[:, k]):.3f}", f"{apart[k]:+.1f}"),
        ]
        for k, topic in enumerate(topics)
    ]
    return table(["topic", "P09", "its interval", "ours", "our interval", "range of draws", "deviations"], lines)


def agreement_table(topics: list[str], found: Found) -> str:
    """Return a table that counts the topics in which the published figures agree with ours."""
    lines = []
    for name in COMPARED:
        areas, (theirs, low, high) = found[name][:, CHOSEN], published(topics, name).T
        means, spreads = by_topic(areas)
        lengths = found[name][:, HIGH] - found[name][:, LOW]
        errors = np.nanmean(lengths, axis=0) / (2 * norm.ppf(0.975))
        inside = (np.nanmin(areas, axis=0) <= theirs) & (theirs <= np.nanmax(areas, axis=0))
        ends = np.nanmean(found[name][:, [LOW, HIGH]], axis=0)
        overlap = (ends[0] <= high) & (low <= ends[1])
        apart = np.abs(deviations(areas, theirs))
        counts = (len(topics), inside.sum(), (apart <= DEVIATIONS).sum(), overlap.sum(), (theirs < means).sum())
        lines.append(
            [
                *(name, *(f"{count}" for count in counts)),
                *(f"{np.mean(high - low):.3f}", f"{np.nanmean(lengths):.3f}", f"{np.mean(errors):.4f}"),
                *(f"{np.mean(spreads):.4f}", f"{(spreads > errors).sum()}"),
            ]
        )
    heading = [
        *("method", "topics", "in the range", "within two", "intervals overlap", "P09 below our mean"),
        *("length, P09", "length, ours", "its standard error", "deviation of draws", "which is larger in"),
    ]
    return table(heading, lines)


def gains_table(topics: list[str], found: Found, totals: Array) -> str:
    """Return a table of the gains of RankRLS: a mean over draws for each topic, then over topics."""
    lines = []
    for name, ours in (("RLS", "RLS of ±1, no mean"), ("RankSVM", "RankSVM")):
        gains = published(topics, "RankRLS")[:, 0] - published(topics, ours)[:, 0]
        lines.append([f"{name}, P09", *describe(gains, totals), ""])
    for name in list(found)[1:]:
        both = found["RankRLS"][:, [CHOSEN, HINDSIGHT]] - found[name][:, [CHOSEN, HINDSIGHT]]
        gains, in_hindsight = np.nanmean(both, axis=0)
        lines.append([name, *describe(gains, totals), f"{in_hindsight.mean():+.4f}"])
    sizes = [f"{low}-{high - 1}" for low, high in SIZES]
    heading = ["over", "mean gain", *sizes, "won : lost", "sign test", "Wilcoxon", "rank correlation", "best lambda"]
    return table(heading, lines)


def describe(gains: Array, totals: Array) -> list[str]:
    won, lost = int((gains > 0).sum()), int((gains < 0).sum())
    correlation = spearmanr(gains, totals)
    by_size = [gains[(totals >= low) & (totals < high)] for low, high in SIZES]
    return [
        f"{gains.mean():+.4f}",
        *(f"{inside.mean():+.4f}" if len(inside) else "" for inside in by_size),
        f"{won} : {lost}",
        f"{binomtest(won, won + lost).pvalue:.2g}",
        f"{wilcoxon(gains).pvalue:.2g}",
        f"{correlation.statistic:+.2f} (p = {correlation.pvalue:.1g})",
    ]
