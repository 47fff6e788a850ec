"""The pitfall: folds of pairs against folds of documents, on AIMed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import table
from experiments.ppi._corpora import MAX
from experiments.ppi._measure import Measures
from experiments.ppi._shared import FoldsOf, measure_all, standard_error
from experiments.ppi._table_1 import by_f
from experiments.study import READING, Run, Tables


def measure(run: Run) -> dict[str, Measures]:
    """Return the measures with folds of documents and of pairs."""
    kinds: tuple[FoldsOf, ...] = ("documents", "pairs")
    return {each: by_f(measure_all(run, [MAX], ["AIMed"], each)[MAX.name]["AIMed"].measures) for each in kinds}


def report(found: dict[str, Measures], run: Run) -> list[str]:
    lines = [line(name, each) for name, each in found.items()]
    gains = [
        100 * (np.nanmean(a) - np.nanmean(b)) for a, b in zip(found["pairs"][2:], found["documents"][2:], strict=True)
    ]
    lines.append(["difference", "", *(f"{gain:+.1f}" for gain in gains)])
    return [f"# {TITLE}", SETTING, table(HEADING, lines), READING]


TITLE = "The pitfall: folds of pairs"
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


def readings(tables: Tables) -> Iterator[str]:
    [found] = tables[TITLE]
    gain = found.row("difference")
    yield f"""
        Folds of pairs overestimate the F-score by {float(gain["F"]):.1f} points and the AUC by
        {float(gain["AUC"]):.1f}."""
