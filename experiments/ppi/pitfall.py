"""The pitfall: folds of pairs against folds of documents, on AIMed."""

from __future__ import annotations

import numpy as np

from benchmarks._timing import table
from experiments.ppi._corpora import MAX
from experiments.ppi._measure import N_FOLDS, Measures, measure
from experiments.ppi._shared import Run
from experiments.ppi.single_corpus import by_f, standard_error

N_SPLITS = 3  # at most, of the pairs


def run(task: Run) -> None:
    """Measure folds of pairs, and write the table."""
    corpus = task.corpora["AIMed"]
    rows = np.arange(len(corpus))
    n_splits = min(N_SPLITS, task.n_splits)
    splits = [np.random.default_rng(seed).permutation(len(corpus)) % N_FOLDS for seed in range(n_splits)]
    of_pairs = by_f(measure(task.kernel_matrix("AIMed", MAX), corpus.y, rows, splits))
    of_documents = by_f(task.measures("AIMed", MAX)[0])
    lines = [line("documents", of_documents), line("pairs", of_pairs)]
    gains = [100 * (np.nanmean(a) - np.nanmean(b)) for a, b in zip(of_pairs[2:], of_documents[2:], strict=True)]
    lines.append(["pairs flatter by", "", *(f"{gain:+.1f}" for gain in gains)])
    task.report("pitfall", ["# The pitfall: folds of pairs", SETTING, table(HEADING, lines)])


HEADING = ["folds of", "splits", "P", "R", "F", "AUC"]


def line(name: str, found: Measures) -> list[str]:
    cells = []
    for each in found[2:]:
        of_splits = 100 * np.nanmean(each, axis=1)
        cells.append(f"{of_splits.mean():.1f} ± {standard_error(of_splits):.1f}")
    return [name, f"{len(found.f)}", *cells]


SETTING = """
AIMed, `combine="max"`, ten folds; lambda and threshold by holding out what folds are made of: each document, or each
pair alone. Pairs of a sentence share most of their graph: folds of pairs train on the neighbours of what they test on.
The literature names up to 18 points of F-score for it (Sætre et al., as cited in the paper). Means over splits ± their
standard error, in percent.
"""
