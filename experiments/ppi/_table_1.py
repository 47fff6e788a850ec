"""The paper's table 1, and rows of the same form from our measures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import table
from experiments.ppi._measure import N_FOLDS, Measures, draw_folds
from experiments.ppi._shared import standard_error
from kernelrank.relations import PPICorpus

AGAINST_HEADING = [
    "corpus",
    *("AUC: ours - paper", "error of AUC", "AUC in errors"),
    *("F: ours - paper", "error of F", "F in errors"),
]


class Row(NamedTuple):
    """Row of table 1, in percent."""

    precision: float
    recall: float
    f: float
    sd_f: float
    auc: float
    sd_auc: float
    f_of_all: float  # if all pairs are said to interact


PAPER = {
    "AIMed": Row(52.9, 61.8, 56.4, 5.0, 84.8, 2.3, 30.1),
    "BioInfer": Row(56.7, 67.2, 61.3, 5.2, 81.9, 4.9, 41.7),
    "HPRD50": Row(64.3, 65.8, 63.4, 11.4, 79.7, 6.3, 55.4),
    "IEPA": Row(69.6, 82.7, 75.1, 7.0, 85.1, 5.1, 57.6),
    "LLL": Row(72.5, 87.2, 76.8, 17.8, 83.4, 12.2, 70.3),
}


class Summary(NamedTuple):
    """A row, and standard errors of its F-score and AUC."""

    row: Row
    error_f: float
    error_auc: float


def by_f(found: Measures) -> Measures:
    """Choose lambda, with the threshold, by the F-score of documents held out inside the other folds."""
    return found.at(found.inner_f.argmax(axis=0))


def summarise(corpus: PPICorpus, found: Measures) -> Summary:
    """Average over folds, then over splits, whose errors are returned; undefined values of folds are left out."""
    of_splits = Measures(*(100 * np.nanmean(each, axis=1) for each in found))
    baseline = [f_of_all(corpus.y, draw_folds(corpus.document, seed)) for seed in range(len(found.f))]
    row = Row(
        of_splits.precision.mean(),
        of_splits.recall.mean(),
        of_splits.f.mean(),
        100 * np.nanstd(found.f, axis=1, ddof=1).mean(),
        of_splits.auc.mean(),
        100 * np.nanstd(found.auc, axis=1, ddof=1).mean(),
        100 * float(np.mean(baseline)),
    )
    return Summary(row, standard_error(of_splits.f), standard_error(of_splits.auc))


def f_of_all(y: NDArray[np.int64], folds: NDArray[np.intp]) -> float:
    """Return the F-score of calling all pairs positive, mean over the folds."""
    positive, size = np.bincount(folds, y, N_FOLDS), np.bincount(folds, minlength=N_FOLDS)
    return float(np.mean((2 * positive / (positive + size))[positive > 0]))


def against_paper(found: Iterable[tuple[str, Summary]]) -> str:
    """Return a table of the differences to the paper in standard errors; the paper's own error is σ / sqrt(10)."""
    rows = []
    for name, ours in found:
        row, paper = [name], PAPER[name]
        for value, theirs, sd, error in (
            (ours.row.auc, paper.auc, paper.sd_auc, ours.error_auc),
            (ours.row.f, paper.f, paper.sd_f, ours.error_f),
        ):
            both = float(np.hypot(sd / np.sqrt(N_FOLDS), error))
            row += [f"{value - theirs:+.1f}", f"{both:.1f}", f"{(value - theirs) / both:+.1f}"]
        rows.append(row)
    return table(AGAINST_HEADING, rows)


def paired(found: NDArray[np.float64], others: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean difference of two measures of the same folds, and its standard error over the folds of a split.

    Splits have the same documents, so that more of them would not make this error smaller.
    """
    apart = 100 * (found - others)
    return float(np.nanmean(apart)), float(np.sqrt(np.mean(np.square(standard_error(apart, axis=1)))))


def signed(apart: float, error: float) -> str:
    return f"{apart:+.1f} ± {error:.1f}"
